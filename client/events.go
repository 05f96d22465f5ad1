package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
)

// An EventID is a position in a stream of events: SEQ-NUMBER, the last sequence number and the last number of an
// issued slice that were sent.
type EventID string

// Positions that are not the ID of an event.
const (
	Present   EventID = ""  // only events from now on
	Beginning EventID = "0" // every event from the first
)

// An Event is one event of the stream. One of Turn, Erasure, Task, Slice, Knowledge and Belief is set.
type Event struct {
	ID        EventID
	Turn      *api.TurnEvent
	Erasure   *api.Event
	Task      *api.TaskErased
	Slice     *api.Issued
	Knowledge *api.KnowledgeEvent
	Belief    *api.BeliefEvent
}

// Events returns the events after a position: each once, in order, until ctx ends. If the stream is cut, it continues
// after the last complete event. The first connection is tried Options.Attempts times; after that, Events reconnects
// as often as necessary, at intervals of at most 30 seconds. The last thing it returns is an error: that of ctx, a
// Problem such as a revoked key, or ErrAnswer. To continue later, keep the ID of the last event.
//
// A stream that began at Present also ends with an error if it is cut before the service sent its position, because
// events may have been missed.
func (c *Client) Events(ctx context.Context, after EventID) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := follower{client: c.conn, yield: yield}
		if after != Present {
			at, err := parsePosition(string(after))
			if err != nil {
				yield(Event{}, fmt.Errorf("client: %w", err))
				return
			}
			f.at = &at
		}
		if err := f.follow(ctx); !errors.Is(err, errEnough) {
			yield(Event{}, err)
		}
	}
}

// errEnough means that the consumer wants no more events.
var errEnough = errors.New("enough")

// A follower reads one stream over as many connections as necessary.
type follower struct {
	client   *conn
	yield    func(Event, error) bool
	at       *position // after the last event; nil: unknown
	stood    bool      // a connection was established
	failures int       // since the last event
	pause    time.Duration
}

func (f *follower) follow(ctx context.Context) error {
	for {
		err := f.connect(ctx)
		f.failures++
		switch {
		case errors.Is(err, errEnough):
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("client: the stream of events: %w", ctx.Err())
		case f.stood && f.at == nil:
			return fmt.Errorf("client: the stream was cut before its first event said where it began: %w", err)
		}
		wait, again := f.again(err)
		if !again {
			return err
		}
		if err := f.client.options.Sleep(ctx, wait); err != nil {
			return fmt.Errorf("client: the stream of events: %w", err)
		}
	}
}

func (f *follower) again(err error) (time.Duration, bool) {
	wait, again := f.client.again(err, f.failures)
	if !f.stood {
		return wait, again && f.failures < f.client.options.Attempts
	}
	// While a service restarts, a proxy may answer in its place.
	var p *Problem
	if errors.As(err, &p) && (p.Status >= 500 || p.Status == http.StatusTooManyRequests) {
		wait, again = min(longest, max(wait, f.client.backoff(f.failures))), true
	}
	return max(wait, f.pause), again
}

// connect opens the stream once and reads until it ends.
func (f *follower) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	header := http.Header{}
	if f.at != nil {
		header.Set("Last-Event-ID", f.at.String())
	}
	r := &request{method: http.MethodGet, path: "/api/events", header: header, want: typeEvents}
	resp, err := f.client.send(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	f.stood = true
	silence := f.client.options.Silence
	alarm := time.AfterFunc(silence, func() { cancel(fmt.Errorf("nothing came for %s", silence)) })
	defer alarm.Stop()
	err = f.read(bufio.NewReaderSize(watched{resp.Body, alarm, silence}, eventBytes), r)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, errEnough) {
		err = brokenError{cause}
	}
	return err
}

// watched fires an alarm if a read takes too long. The time that the consumer of the data takes does not count.
type watched struct {
	r       io.Reader
	alarm   *time.Timer
	silence time.Duration
}

func (w watched) Read(p []byte) (int, error) {
	w.alarm.Reset(w.silence)
	defer w.alarm.Stop()
	return w.r.Read(p)
}

// eventBytes limits a line of a stream, and the data of an event.
const eventBytes = 64 << 10

// read passes on the events of one connection. An event that is incomplete when the connection ends is dropped.
func (f *follower) read(lines *bufio.Reader, r *request) error {
	var id, name string
	var data []byte
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || len(data)+len(line) > eventBytes {
			return fmt.Errorf("client: %s: %w: an event of more than %d bytes", r, ErrAnswer, eventBytes)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // a stream never ends by itself
			}
			return brokenError{fmt.Errorf("client: %s: the stream was cut: %w", r, err)}
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) == 0 {
			if err := f.dispatch(id, name, data); err != nil {
				if errors.Is(err, errEnough) {
					return err
				}
				return fmt.Errorf("client: %s: %w: %w", r, ErrAnswer, err)
			}
			id, name, data = "", "", nil
			continue
		}
		field, value, _ := strings.Cut(string(line), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
		case "retry":
			if n, err := strconv.ParseUint(value, 10, 31); err == nil {
				f.pause = min(longest, time.Duration(n)*time.Millisecond)
			}
		}
	}
}

// dispatch passes on an event unless it came before. An event without a name, or with an unknown one, only advances
// the position of the stream.
func (f *follower) dispatch(id, name string, data []byte) error {
	if id == "" {
		if data != nil {
			return fmt.Errorf("an event %.40q has no id", name)
		}
		return nil // a comment, or a retry field
	}
	at, err := parsePosition(id)
	if err != nil {
		return err
	}
	if f.at != nil {
		if at.seq <= f.at.seq && at.issued <= f.at.issued {
			return nil
		}
		if at.seq < f.at.seq || at.issued < f.at.issued {
			return fmt.Errorf("event %s comes after event %s", at, *f.at)
		}
	}
	e := Event{ID: EventID(id)}
	var says, want uint64
	switch name {
	case api.EventTurn:
		e.Turn = new(api.TurnEvent)
		err = json.Unmarshal(data, e.Turn)
		says, want = e.Turn.Seq, at.seq
	case api.EventErasure:
		e.Erasure = new(api.Event)
		err = json.Unmarshal(data, e.Erasure)
		says, want = uint64(e.Erasure.Seq), at.seq
	case api.EventTask:
		e.Task = new(api.TaskErased)
		err = json.Unmarshal(data, e.Task)
		says, want = uint64(e.Task.Seq), at.seq
	case api.EventBelief:
		e.Belief = new(api.BeliefEvent)
		err = json.Unmarshal(data, e.Belief)
		says, want = uint64(e.Belief.Seq), at.seq
	case api.EventKnowledge:
		e.Knowledge = new(api.KnowledgeEvent)
		err = json.Unmarshal(data, e.Knowledge)
		says, want = uint64(e.Knowledge.Seq), at.seq
	case api.EventSlice:
		e.Slice = new(api.Issued)
		err = json.Unmarshal(data, e.Slice)
		says, want = e.Slice.Number, at.issued
	default:
		f.at = &at
		return nil
	}
	if err != nil {
		return fmt.Errorf("event %s: %w", id, err)
	}
	if says != want {
		return fmt.Errorf("event %s has the number %d in its data", id, says)
	}
	f.at, f.failures = &at, 0
	if !f.yield(e, nil) {
		return errEnough
	}
	return nil
}

// A position is a parsed EventID.
type position struct{ seq, issued uint64 }

func (p position) String() string {
	return strconv.FormatUint(p.seq, 10) + "-" + strconv.FormatUint(p.issued, 10)
}

func parsePosition(s string) (p position, err error) {
	seq, issued, both := strings.Cut(s, "-")
	if p.seq, err = strconv.ParseUint(seq, 10, 53); err == nil && both {
		p.issued, err = strconv.ParseUint(issued, 10, 53)
	}
	if err != nil {
		return position{}, fmt.Errorf("%.40q is no event's id, SEQ-NUMBER", s)
	}
	return p, nil
}
