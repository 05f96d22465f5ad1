package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
)

// cut resolves the anchor and cuts the slice.
func cut(c *call, q *api.SliceRequest) (*kernel.Issued, error) {
	k := c.server.config.Kernel
	anchor, err := k.Turns().Resolve(c.ctx, c.tenant(), q.Anchor)
	if err != nil {
		return nil, at("anchor", err)
	}
	issued, err := k.Slices().Cut(c.ctx, c.tenant(), kernel.Request{Anchor: anchor, Policy: q.Policy, AsOf: q.AsOf})
	if err != nil {
		return nil, err
	}
	m := c.server.metrics
	m.slices.Inc()
	m.selected.Observe(float64(len(issued.Slice.Turns)))
	return issued, nil
}

// at adds a place to a problem without one.
func at(place string, err error) error {
	p := *problemOf(err)
	if p.place == "" {
		p.place = place
	}
	return &p
}

func cutSlice(c *call) error {
	q, err := readIn[api.SliceRequest](c)
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
	switch q.Format {
	case api.FormatMarkdown:
		media = markdownType
		data, err = rendered(issued, markdown)
		tag += "-" + q.Format
	case api.FormatMessages:
		data, err = rendered(issued, render.Messages)
		tag += "-" + q.Format
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
	in, err := readIn[api.SliceRequests](c)
	if err != nil {
		return err
	}
	results := make([]api.BatchResult, len(in.Requests))
	left := atomic.Int64{}
	left.Store(int64(c.server.config.Limits.BatchBytes))
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(len(in.Requests), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range work {
				results[i] = cutOne(c, &in.Requests[i], &left)
			}
		})
	}
	for i := range in.Requests {
		work <- i
	}
	close(work)
	wg.Wait()
	return c.json(http.StatusOK, api.BatchResults{Results: results})
}

// cutOne cuts one slice of a batch. An error or a panic affects only its own result.
func cutOne(c *call, q *api.SliceRequest, left *atomic.Int64) (w api.BatchResult) {
	defer func() {
		if p := recover(); p != nil {
			w = failed(c, fmt.Errorf("panic: %v", p))
		}
	}()
	full := &problem{code: api.CodeTooLarge, detail: fmt.Sprintf("the slices of this batch have more than %d bytes together; request this slice alone", c.server.config.Limits.BatchBytes)}
	if left.Load() < 0 {
		return failed(c, full)
	}
	issued, err := cut(c, q)
	if err != nil {
		return failed(c, err)
	}
	if left.Add(-int64(len(issued.Bundle))) < 0 {
		return failed(c, full)
	}
	w = api.BatchResult{Status: http.StatusOK, SliceID: issued.Slice.Provenance.SliceID, BundleSHA256: issued.Record.Bundle}
	switch q.Format {
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
	if p.code == api.CodeInternal || p.code == api.CodeDamaged {
		c.server.config.Log.ErrorContext(c.ctx, "slice of a batch", "request_id", c.id, "error", p.cause)
	}
	w := p.wire(c.id)
	return api.BatchResult{Status: w.Status, Problem: w}
}

func replaySlice(c *call) error {
	id, err := dag.AnyCase(slice.ParseSliceID)(c.params["slice_id"])
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
		return c.json(http.StatusOK, replay.Answer())
	}
	replay, err := k.Slices().Replay(c.ctx, c.tenant(), c.bundle())
	if err != nil {
		return err
	}
	if replay.Provenance.SliceID != id {
		return &problem{code: api.CodeInvalid, place: "body", detail: fmt.Sprintf("the bundle is of slice %s, but the path names %s", replay.Provenance.SliceID, id)}
	}
	return c.json(http.StatusOK, replay.Answer())
}
