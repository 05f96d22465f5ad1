package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// A cutting is a slice request, read.
type cutting struct {
	anchor string
	format string
	kernel.Request
}

// readCutting reads what the schema has let through.
func readCutting(v *canon.Value) (cutting, error) {
	text := func(key string) string {
		if m := v.Get(key); m != nil {
			return m.Text
		}
		return ""
	}
	q := cutting{anchor: text("anchor"), format: text("format")}
	q.Policy = policy.ID(text("policy"))
	if m := v.Get("as_of"); m != nil {
		n, err := strconv.ParseUint(m.Text, 10, 64)
		if err != nil {
			return cutting{}, &problem{code: api.CodeInvalid, place: "as_of", detail: fmt.Sprintf("as_of is %.30s, want an integer, written plainly", m.Text)}
		}
		q.AsOf = dag.Seq(n)
	}
	return q, nil
}

// cut resolves the anchor and cuts.
func cut(c *call, q *cutting) (*kernel.Issued, error) {
	k := c.server.config.Kernel
	var err error
	if q.Anchor, err = k.Turns().Resolve(c.ctx, c.tenant(), q.anchor); err != nil {
		return nil, at("anchor", err)
	}
	issued, err := k.Slices().Cut(c.ctx, c.tenant(), q.Request)
	if err != nil {
		return nil, err
	}
	m := c.server.metrics
	m.slices.Inc()
	m.selected.Observe(float64(len(issued.Slice.Turns)))
	return issued, nil
}

// at adds a place to a problem that names none.
func at(place string, err error) error {
	p := *problemOf(err)
	if p.place == "" {
		p.place = place
	}
	return &p
}

func cutSlice(c *call) error {
	q, err := readCutting(c.value)
	if err != nil {
		return err
	}
	issued, err := cut(c, &q)
	if err != nil {
		return err
	}
	c.slice, c.turns = string(issued.Slice.Provenance.SliceID), len(issued.Slice.Turns)
	header := c.echo.Response().Header()
	header["Slice-Id"] = []string{c.slice}
	tag := issued.Record.Bundle.String()
	media, data := jsonType, issued.Bundle
	switch q.format {
	case api.FormatMarkdown:
		media = markdownType
		data, err = rendered(issued, markdown)
		tag += "-" + q.format
	case api.FormatMessages:
		data, err = rendered(issued, render.Messages)
		tag += "-" + q.format
	}
	if err != nil {
		return err
	}
	header["Etag"] = []string{`"` + tag + `"`}
	return c.write(http.StatusOK, media, data)
}

func rendered(issued *kernel.Issued, as func(*slice.Bundle) ([]byte, error)) ([]byte, error) {
	b, err := slice.ParseBundle(issued.Bundle)
	if err != nil {
		return nil, fmt.Errorf("reading an own bundle: %v", err) // not %w: the fault is ours
	}
	return as(b)
}

func markdown(b *slice.Bundle) ([]byte, error) { return render.Markdown(b), nil }

func cutSlices(c *call) error {
	items := c.value.Get("requests").Items
	results := make([]api.BatchResult, len(items))
	left := atomic.Int64{}
	left.Store(int64(c.server.config.Limits.BatchBytes))
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(len(items), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range work {
				results[i] = cutOne(c, &items[i], &left)
			}
		})
	}
	for i := range items {
		work <- i
	}
	close(work)
	wg.Wait()
	return c.json(http.StatusOK, api.BatchResults{Results: results})
}

// cutOne cuts one slice of a batch. What fails is its own problem, and a panic
// nobody else's.
func cutOne(c *call, v *canon.Value, left *atomic.Int64) (w api.BatchResult) {
	defer func() {
		if p := recover(); p != nil {
			w = failed(c, fmt.Errorf("panic: %v", p))
		}
	}()
	q, err := readCutting(v)
	if err != nil {
		return failed(c, err)
	}
	full := &problem{code: api.CodeTooLarge, detail: fmt.Sprintf("the slices of this batch pass %d bytes; ask for this one alone", c.server.config.Limits.BatchBytes)}
	if left.Load() < 0 {
		return failed(c, full)
	}
	issued, err := cut(c, &q)
	if err != nil {
		return failed(c, err)
	}
	if left.Add(-int64(len(issued.Bundle))) < 0 {
		return failed(c, full)
	}
	w = api.BatchResult{Status: http.StatusOK, SliceID: string(issued.Slice.Provenance.SliceID), BundleSHA256: issued.Record.Bundle.String()}
	switch q.format {
	case api.FormatMarkdown:
		text, err := rendered(issued, markdown)
		if err != nil {
			return failed(c, err)
		}
		w.Markdown = string(text)
	case api.FormatMessages:
		text, err := rendered(issued, render.Messages)
		if err != nil {
			return failed(c, err)
		}
		var messages struct {
			Messages json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(text, &messages); err != nil {
			return failed(c, err)
		}
		w.Messages = messages.Messages
	default:
		w.Bundle = issued.Bundle
	}
	return w
}

func failed(c *call, err error) api.BatchResult {
	p := problemOf(err)
	if p.code == api.CodeInternal {
		c.server.config.Log.ErrorContext(c.ctx, "slice of a batch", "request_id", c.id, "error", p.cause)
	}
	w := p.wire(c.id)
	return api.BatchResult{Status: w.Status, Problem: w}
}

func listSlices(c *call, in api.Paging) (w api.Slices, err error) {
	after, err := view.PageAfter(in.After)
	if err != nil {
		return w, err
	}
	limit := view.PageOf(in.Limit)
	list, err := c.server.config.Kernel.Slices().After(c.ctx, c.tenant(), after, limit+1)
	if err != nil {
		return w, err
	}
	w.Slices = []api.Issued{}
	for i := range list[:min(limit, len(list))] {
		w.Slices = append(w.Slices, view.Issued(&list[i]))
	}
	if len(list) > limit {
		w.Next = strconv.FormatUint(list[limit-1].Number, 10)
	}
	return w, nil
}

func getSlice(c *call, in api.SliceByID) (w api.SliceRecord, err error) {
	list, err := records(c, &in)
	w = api.SliceRecord{SliceID: c.slice, Issued: make([]api.Issued, len(list))}
	for i := range list {
		w.Issued[i] = view.Issued(&list[i])
	}
	return w, err
}

// records returns the records of a slice.
func records(c *call, of *api.SliceByID) ([]issued.Record, error) {
	c.slice = of.SliceID
	return c.server.config.Kernel.Slices().Issued(c.ctx, c.tenant(), slice.SliceID(of.SliceID))
}

func replaySlice(c *call) error {
	id, err := slice.ParseSliceID(c.params["slice_id"])
	if err != nil {
		return err
	}
	c.slice = string(id)
	k := c.server.config.Kernel
	if len(c.body) == 0 {
		replay, err := k.Slices().ReplayIssued(c.ctx, c.tenant(), id)
		if err != nil {
			return err
		}
		return c.json(http.StatusOK, view.Replay(replay))
	}
	replay, err := k.Slices().Replay(c.ctx, c.tenant(), c.body)
	if err != nil {
		return err
	}
	if replay.Provenance.SliceID != id {
		return &problem{code: api.CodeInvalid, place: "body", detail: fmt.Sprintf("the bundle is of slice %s, and the path names %s", replay.Provenance.SliceID, id)}
	}
	return c.json(http.StatusOK, view.Replay(replay))
}

func explainTurn(c *call, in api.ExplainRequest) (w api.Explanation, err error) {
	list, err := records(c, &in.SliceByID)
	if err != nil {
		return w, err
	}
	newest := &list[len(list)-1]
	k := c.server.config.Kernel
	turn, err := k.Turns().Resolve(c.ctx, c.tenant(), in.Turn)
	if err != nil {
		return w, at("turn", err)
	}
	p := &newest.Provenance
	request := kernel.Request{Anchor: p.Anchor, Policy: p.PolicyID, AsOf: newest.AsOf}
	e, err := k.Slices().Explain(c.ctx, c.tenant(), request, turn)
	if err != nil {
		return w, err
	}
	w = view.Explanation(turn, &request, &e)
	w.SliceID = c.slice
	return w, nil
}
