package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
)

// A position is a position in a stream of events.
type position struct {
	seq    dag.Seq // of turns, erasures and acts of knowledge
	issued uint64  // of slices
}

func (p position) String() string {
	return strconv.FormatUint(uint64(p.seq), 10) + "-" + strconv.FormatUint(p.issued, 10)
}

// eventsAtOnce limits the number of events of each kind that are read before they are sent.
const eventsAtOnce = 200

// Times of a stream. lookAgain is the maximum delay before changes by another process are seen, keepAlive is how long
// a stream may be silent, and sendWithin is how long a client may take to receive.
const (
	lookAgain  = time.Second
	keepAlive  = 15 * time.Second
	sendWithin = 30 * time.Second
	lastSend   = 100 * time.Millisecond // when the service stops
)

func streamEvents(c *call) error {
	if err := openStream(c); err != nil {
		return err
	}
	defer closeStream(c)
	at, err := startOfStream(c)
	if err != nil {
		return err
	}
	out := c.echo.Response()
	out.Header()["Content-Type"] = []string{"text/event-stream"}
	out.Header()["X-Accel-Buffering"] = []string{"no"}
	st := &stream{call: c, at: at, control: http.NewResponseController(out.Writer)}
	out.WriteHeader(http.StatusOK)
	ended, hurried := make(chan struct{}), make(chan struct{})
	go func() { st.hurry(ended); close(hurried) }()
	defer func() { close(ended); <-hurried }() // no deadline must be set after the answer has ended
	// An id without data is not an event. It tells the client where the stream begins, so a stream that is cut off
	// before its first event resumes without loss.
	if err := st.send([]byte("id: " + at.String() + "\nretry: 1000\n\n")); err != nil {
		return err
	}
	return st.follow()
}

// openStream counts an open stream of a key, or refuses it.
func openStream(c *call) error {
	l := &c.server.config.Limits
	if !c.server.streams.open(streamKey(c), l.Streams, l.StreamsTotal) {
		return &problem{code: api.CodeRate, retryAfter: 5, detail: fmt.Sprintf("at most %d streams may be open with this key, and %d in all", l.Streams, l.StreamsTotal)}
	}
	return nil
}

func closeStream(c *call) { c.server.streams.close(streamKey(c)) }

func streamKey(c *call) string { return string(c.tenant()) + "/" + c.who.Subject }

// startOfStream returns the position after which a stream begins.
func startOfStream(c *call) (position, error) {
	k := c.server.config.Kernel
	head, err := k.Turns().Head(c.ctx, c.tenant())
	if err != nil {
		return position{}, err
	}
	issued, err := k.Slices().Count(c.ctx, c.tenant())
	if err != nil {
		return position{}, err
	}
	last, ok := c.params["Last-Event-ID"]
	if !ok {
		last, ok = c.params["last_event_id"]
	}
	if ok {
		seq, number, _ := strings.Cut(last, "-")
		var at position
		n, err := strconv.ParseUint(seq, 10, 64)
		if err == nil && number != "" {
			at.issued, err = strconv.ParseUint(number, 10, 64)
		}
		at.seq = dag.Seq(n)
		if err != nil {
			return position{}, &problem{code: api.CodeInvalid, place: "Last-Event-ID", detail: fmt.Sprintf("Last-Event-ID %q is not an id that a stream sent", last)}
		}
		if at.seq > head || at.issued > issued {
			return position{}, &problem{code: api.CodeInvalid, place: "Last-Event-ID", detail: fmt.Sprintf("Last-Event-ID %q lies beyond the present, %s", last, position{head, issued})}
		}
		return at, nil
	}
	return position{head, issued}, nil
}

// A stream sends events of one tenant to one client.
type stream struct {
	call    *call
	at      position
	control *http.ResponseController
}

// follow sends events as they happen until the client leaves, its key is no longer valid, or the service stops.
func (st *stream) follow() error {
	c := st.call
	silent := time.Duration(0)
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		changed := c.server.config.Kernel.Turns().Changed(c.tenant()) // before reading, so no change is missed
		moved, err := st.catchUp()
		if err != nil {
			return st.unlessStopping(err)
		}
		if moved {
			silent = 0
			changed = atOnce // there may be more than was read
		}
		select { // if several are ready, one is chosen at random, so none waits for long
		case <-c.echo.Request().Context().Done():
			return nil
		case <-c.server.stopping:
			return nil
		case <-changed:
		case <-tick.C:
			if err := stillAdmitted(c); err != nil {
				return err
			}
			if silent += lookAgain; silent >= keepAlive {
				silent = 0
				if err := st.send([]byte(": still here\n\n")); err != nil {
					return st.unlessStopping(err)
				}
			}
		}
	}
}

// atOnce is a closed channel, for a change that has already happened.
var atOnce = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// hurry sets a short write deadline when the service stops, for a client that does not read.
func (st *stream) hurry(ended <-chan struct{}) {
	select {
	case <-ended:
	case <-st.call.server.stopping:
		_ = st.control.SetWriteDeadline(time.Now().Add(lastSend))
	}
}

// unlessStopping returns nil for an error while the service stops: it is then the end of the stream.
func (st *stream) unlessStopping(err error) error {
	if st.call.server.isStopping() {
		return nil
	}
	return err
}

// stillAdmitted checks again the key that the stream was opened with.
func stillAdmitted(c *call) error {
	bearer, err := bearerOf(c.echo.Request())
	if err != nil {
		return err
	}
	who, err := c.server.config.Authenticate(c.ctx, bearer)
	if err == nil && (who != c.who || !who.Role.May(c.op.May)) {
		err = &problem{code: api.CodeForbidden, detail: "the key does not permit this any more"}
	}
	return err
}

// catchUp sends the events since the position, in the order of their sequence numbers, then the slices. It reports
// whether the position moved.
func (st *stream) catchUp() (moved bool, err error) {
	c, k := st.call, st.call.server.config.Kernel
	var out bytes.Buffer
	numbered, err := st.numbered()
	if err != nil {
		return false, err
	}
	issued, err := k.Slices().After(c.ctx, c.tenant(), st.at.issued, eventsAtOnce)
	if err != nil {
		return false, err
	}
	next, told := st.at, 0
	for _, e := range numbered {
		if e.seq != next.seq+1 { // every number is used, so the entry before is still to come
			break
		}
		next.seq = e.seq
		if e.data == nil {
			continue
		}
		told++
		if err := next.write(&out, e.name, e.data); err != nil {
			return false, err
		}
	}
	for i := range issued {
		next.issued = issued[i].Number
		if err := next.write(&out, api.EventSlice, kernel.Handed(&issued[i])); err != nil {
			return false, err
		}
	}
	if out.Len() == 0 {
		moved := next.seq > st.at.seq
		st.at = next
		return moved, nil
	}
	if err := st.send(out.Bytes()); err != nil {
		return false, err
	}
	c.server.metrics.events.Add(float64(told) + float64(next.issued-st.at.issued))
	st.at = next
	return true, nil
}

// A numberedEvent is an event with a sequence number, or a sequence number without an event: then data is nil.
type numberedEvent struct {
	seq  dag.Seq
	name string
	data any
}

// numbered returns the next events that have sequence numbers, ascending. There may be gaps, because an entry
// appended between two reads is in one list and not in the other, and because each list ends at a different number.
func (st *stream) numbered() ([]numberedEvent, error) {
	c, k := st.call, st.call.server.config.Kernel
	turns, _, err := k.Turns().After(c.ctx, c.tenant(), st.at.seq, nil, eventsAtOnce, c.server.config.Limits.PageBytes)
	if err != nil {
		return nil, err
	}
	events, err := k.Turns().Events(c.ctx, c.tenant(), st.at.seq, eventsAtOnce)
	if err != nil {
		return nil, err
	}
	changes, err := k.Facts().Changes(c.ctx, c.tenant(), api.Paging{After: api.Next(uint64(st.at.seq)), Limit: eventsAtOnce})
	if err != nil {
		return nil, err
	}
	tasks, err := k.Contexts().TaskErasures(c.ctx, c.tenant(), st.at.seq, eventsAtOnce)
	if err != nil {
		return nil, err
	}
	beliefs, err := k.Beliefs().Changes(c.ctx, c.tenant(), st.at.seq, eventsAtOnce)
	if err != nil {
		return nil, err
	}
	entries, err := k.Turns().Numbered(c.ctx, c.tenant(), st.at.seq, eventsAtOnce)
	if err != nil {
		return nil, err
	}
	list := make([]numberedEvent, 0, len(turns)+len(events)+len(changes.Acts)+len(tasks)+len(beliefs))
	whole := make(map[dag.Seq]dag.Seq, len(entries))
	for _, e := range entries {
		if whole[e.Seq] = e.Whole; e.Quiet {
			list = append(list, numberedEvent{seq: e.Seq})
		}
	}
	told := func(seq dag.Seq, name string, data func(asOf uint64) any) {
		if asOf, ok := whole[seq]; ok { // otherwise it was appended after these entries were read, or there are more entries
			list = append(list, numberedEvent{seq, name, data(uint64(asOf))})
		}
	}
	for i := range beliefs {
		told(beliefs[i].Seq, api.EventBelief, func(asOf uint64) any {
			beliefs[i].AsOf = dag.Seq(asOf)
			return beliefs[i]
		})
	}
	for i := range turns { // each is a change of its own
		list = append(list, numberedEvent{turns[i].Seq, api.EventTurn, kernel.TurnEvent(&turns[i])})
	}
	for i := range events {
		told(events[i].Seq, api.EventErasure, func(asOf uint64) any {
			e := kernel.ErasureEvent(&events[i])
			e.AsOf = dag.Seq(asOf)
			return e
		})
	}
	for i := range tasks {
		told(tasks[i].Seq, api.EventTask, func(asOf uint64) any {
			e := kernel.TaskErased(&tasks[i])
			e.AsOf = dag.Seq(asOf)
			return e
		})
	}
	for i := range changes.Acts {
		told(changes.Acts[i].Seq, api.EventKnowledge, func(asOf uint64) any { return changes.Acts[i].Event(dag.Seq(asOf)) })
	}
	slices.SortFunc(list, func(a, b numberedEvent) int { return cmp.Compare(a.seq, b.seq) })
	return list, nil
}

// write appends one event. Encoded JSON contains no line feed.
func (p position) write(out *bytes.Buffer, name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "id: %s\nevent: %s\ndata: %s\n\n", p, name, text)
	return nil
}

func (st *stream) send(data []byte) error {
	within := sendWithin
	if st.call.server.isStopping() {
		within = lastSend
	}
	_ = st.control.SetWriteDeadline(time.Now().Add(within)) // if no deadline can be set, none expires
	_ = st.control.SetReadDeadline(time.Time{})
	if _, err := st.call.echo.Response().Write(data); err != nil {
		return &problem{code: api.CodeGone, detail: "the client went away", cause: err}
	}
	if err := st.control.Flush(); err != nil {
		return &problem{code: api.CodeGone, detail: "the client went away", cause: err}
	}
	return nil
}
