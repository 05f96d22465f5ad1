package server

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/store"
)

func admitTurns(c *call) error {
	if c.media == typeLines {
		return admitLines(c)
	}
	body := canon.Open(c.value)
	turns := body.Field("turns")
	body.CloseOf(func() []string { return []string{"turns"} })
	items := turns.Value().Items
	if !turns.Is(canon.Array) {
		turns.Failf("want an array, got %s", turns.Value().Kind)
	} else if len(items) == 0 {
		turns.Failf("0 items, want at least 1")
	}
	if body.Err() != nil {
		return misread(body.Err())
	}
	if most := c.server.config.Limits.BatchTurns; len(items) > most {
		return &problem{code: api.CodeTooLarge, place: "turns", detail: fmt.Sprintf("%d turns, at most %d at once; a stream of lines has no such bound", len(items), most)}
	}
	drafts := make([]dag.Draft, len(items))
	for i := range items {
		var err error
		if drafts[i], err = ingest.ReadValue(&items[i]); err != nil {
			return misreadTurn(&items[i], fmt.Sprintf("turns[%d]", i), err)
		}
		if err := mayAdmit(c, &drafts[i], fmt.Sprintf("turns[%d]", i)); err != nil {
			return err
		}
	}
	receipt, err := c.server.config.Kernel.Turns().AdmitWith(c.ctx, c.tenant(), c.who.Credential(), drafts)
	if err != nil {
		return inBatch(err, drafts)
	}
	countTurns(c, receipt)
	return c.json(http.StatusOK, receipt)
}

// misreadTurn returns the fault of a turn that package ingest refused. ingest does not report the place of the fault,
// so misreadTurn reads the turn again according to the description. If a turn has neither a text nor a digest of one,
// the whole turn is at fault.
func misreadTurn(v *canon.Value, place string, err error) error {
	if v.Get("content") != nil || v.Get("body_digest") != nil {
		at := canon.Open(v)
		api.Read[api.Turn](at)
		err = cmp.Or(at.Err(), err)
	}
	return misread(canon.FaultAt(place, err))
}

// inBatch adds the place of the turn at fault to an error of an admission.
func inBatch(err error, drafts []dag.Draft) error {
	var id dag.TurnID
	var conflict *store.ConflictError
	var parent *store.ParentError
	var cycle *store.CycleError
	switch {
	case errors.As(err, &conflict):
		id = conflict.ID
	case errors.As(err, &parent):
		id = parent.Child
	case errors.As(err, &cycle):
		id = cycle.ID
	default:
		return err
	}
	for i := range drafts {
		if drafts[i].ID == id {
			return at(fmt.Sprintf("turns[%d]", i), err)
		}
	}
	return err
}

// mayAdmit rejects a turn outside the key's scope, and a turn without text from a caller without the permission to
// erase: nobody can check what such a turn claims about itself, including phase and salience.
func mayAdmit(c *call, d *dag.Draft, place string) error {
	if d.Redacted && !c.who.Role.May(access.Erase) {
		return &problem{code: api.CodeForbidden, place: place, detail: fmt.Sprintf("%s: only an admin may admit a turn without its text", place)}
	}
	if err := c.who.MayAdmit(d); err != nil {
		return &problem{code: api.CodeForbidden, place: place, turn: d.ID, detail: place + ": " + err.Error(), cause: err}
	}
	return nil
}

func countTurns(c *call, r api.Receipt) {
	c.turns += r.Admitted
	c.server.metrics.admitted.Add(float64(r.Admitted))
	c.server.metrics.existing.Add(float64(r.Existing))
}

// linesAtOnce limits the turns of one batch of a stream, and bytesAtOnce the size of their text.
const (
	linesAtOnce = 1_000
	bytesAtOnce = 8 << 20
)

// admitLines admits a stream of lines, in batches. The client may be slow, but not silent: each line must arrive
// within the request timeout.
func admitLines(c *call) error {
	if err := openStream(c); err != nil {
		return err
	}
	defer closeStream(c)
	r := c.echo.Request()
	control := http.NewResponseController(c.echo.Response().Writer)
	limits := &c.server.config.Limits
	held := c.server.counted(r.Body, c.who)
	defer held.done()
	in := &whole{Reader: held}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, min(64<<10, limits.LineBytes)), limits.LineBytes)
	var sum api.Receipt
	var drafts []dag.Draft
	bytes, first, n := 0, 1, 0
	fail := func(err error) error {
		p := *problemOf(err)
		p.receipt = &sum
		return &p
	}
	flush := func() error {
		if len(drafts) == 0 {
			return nil
		}
		_ = control.SetReadDeadline(time.Time{}) // see readBody; the next line gets a new one
		var receipt api.Receipt
		err := c.atWork(func() (err error) {
			receipt, err = c.server.config.Kernel.Turns().AdmitInOrder(c.ctx, c.tenant(), c.who.Credential(), drafts)
			return err
		})
		if err != nil {
			p := *problemOf(err)
			if p.place == "" {
				p.place = fmt.Sprintf("lines %d to %d", first, n)
			}
			return &p
		}
		countTurns(c, receipt)
		sum.Add(receipt)
		clear(drafts)
		drafts, bytes, first = drafts[:0], 0, n+1
		held.done() // bytes of the next line that were already read are not counted
		return nil
	}
	extend := func() {
		// If no deadline can be set, as in tests, none expires.
		_ = control.SetReadDeadline(time.Now().Add(limits.Timeout))
		_ = control.SetWriteDeadline(time.Now().Add(2 * limits.Timeout))
	}
	for extend(); lines.Scan() && in.err == nil; extend() {
		n++
		line := lines.Bytes()
		if len(line) == 0 {
			continue
		}
		place := "line " + strconv.Itoa(n)
		read := func() error {
			v, err := readStrictly(line, place, lineValues)
			if err != nil {
				return err
			}
			d, err := ingest.ReadValue(v)
			if err != nil {
				return misreadTurn(v, place, err)
			}
			drafts = append(drafts, d)
			return mayAdmit(c, &d, place)
		}
		var err error
		if len(line) > largeBody {
			err = c.inPlace(len(line), read)
		} else {
			err = read()
		}
		if err != nil {
			return fail(err)
		}
		if bytes += len(line); len(drafts) == linesAtOnce || bytes >= bytesAtOnce {
			if err := flush(); err != nil {
				return fail(err)
			}
		}
	}
	if in.err != nil {
		return fail(lineError(in.err, n+1, limits.LineBytes))
	}
	if err := lines.Err(); err != nil {
		return fail(lineError(err, n+1, limits.LineBytes))
	}
	if err := flush(); err != nil {
		return fail(err)
	}
	if n == 0 {
		return &problem{code: api.CodeInvalid, place: "body", detail: "the stream holds no line"}
	}
	if sum.Head == 0 { // only empty lines
		head, err := c.server.config.Kernel.Turns().Head(c.ctx, c.tenant())
		if err != nil {
			return err
		}
		sum.Head = head
	}
	return c.json(http.StatusOK, sum)
}

// A whole is a reader that remembers an error other than io.EOF: after an error, a scanner returns the text before it
// as if it were the last line.
type whole struct {
	io.Reader
	err error
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // readers return it unwrapped
		w.err = err
	}
	return n, err
}

func lineError(err error, n, most int) error {
	place := "line " + strconv.Itoa(n)
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return &problem{code: api.CodeTooLarge, place: place, detail: fmt.Sprintf("%s has more than %d bytes", place, most)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &problem{code: api.CodeSlowClient, place: place, detail: place + " did not come in time", cause: err}
	}
	return bodyError(err)
}
