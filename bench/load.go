package main

import (
	"context"
	"fmt"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// bulk is the rate that each store is held to.
var bulk = map[string]float64{inSQLite: 20_000, inPostgres: 40_000}

// load fills the beds with a graph, each kernel's store and the tables beside it in turn,
// some thousands of turns at a time.
func load(ctx context.Context, g *graph, beds []*bed) ([]row, error) {
	var drafts []dag.Draft
	var candidates []*candidate
	for _, b := range beds {
		beside := b.plain.Tenant(g.tenant)
		candidates = append(candidates,
			&candidate{name: b.kind + ", rows alone", run: func(ctx context.Context, _ int) error { return beside.Load(ctx, drafts) }},
			&candidate{name: b.kind + ", admitted in batches of 1000", run: func(ctx context.Context, _ int) error { return admit(ctx, b.store, g.tenant, drafts) }},
		)
	}
	turns := 0
	err := g.draw(func(some []dag.Draft) error {
		drafts = some
		turns += len(some)
		return inTurn(ctx, 1, candidates)
	})
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", g.name, err)
	}
	for _, b := range beds {
		if err := b.settle(ctx); err != nil {
			return nil, err
		}
	}
	rate := func(c *candidate) float64 {
		var took time.Duration
		for _, d := range c.sample {
			took += d
		}
		return float64(turns) / took.Seconds()
	}
	var rows []row
	for i, b := range beds {
		alone, admitted := candidates[2*i], candidates[2*i+1]
		rows = append(rows,
			row{name: alone.name, rate: rate(alone), unit: "turns"},
			row{name: admitted.name, rate: rate(admitted), unit: "turns", ratio: rate(admitted) / rate(alone), to: "rows alone",
				bounds: []bound{rateAtLeast(rate(admitted), bulk[b.kind])}})
	}
	return rows, nil
}

// admittedAtOnce is the turns that an import admits, durably, in one act.
const admittedAtOnce = 1000

// admit admits drafts as an import does: canonical bodies and digests are computed while the
// batch before is stored, leaves and the order by the store itself.
func admit(ctx context.Context, s store.Store, tenant dag.Tenant, drafts []dag.Draft) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ready := make(chan []store.Batch, 1)
	go func() {
		defer close(ready)
		for len(drafts) > 0 {
			n := min(admittedAtOnce, len(drafts))
			batches, err := batchesOf(drafts[:n])
			if err != nil {
				stop(err)
				return
			}
			select {
			case ready <- batches:
			case <-ctx.Done():
				return
			}
			drafts = drafts[n:]
		}
	}()
	admitted := 0
	for batches := range ready {
		receipt, err := s.Append(ctx, tenant, batches)
		if err != nil {
			return err
		}
		if admitted += receipt.Admitted; receipt.Admitted != len(batches) {
			return fmt.Errorf("%d of %d turns were admitted", receipt.Admitted, len(batches))
		}
	}
	return context.Cause(ctx)
}

// batchesOf makes each draft a batch of its own, so that their order is the order of
// admission.
func batchesOf(drafts []dag.Draft) ([]store.Batch, error) {
	arrivals := make([]store.Arrival, len(drafts))
	batches := make([]store.Batch, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		body := dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs}
		if err := body.Check(); err != nil {
			return nil, err
		}
		marked, _ := marks.Of(d)
		marked.Origin.Channel = dag.ChannelLines
		arrivals[i] = store.Arrival{
			Turn:    dag.Turn{ID: d.ID, Conversation: d.Conversation, Role: d.Role, Phase: d.Phase, Salience: d.Salience, CreatedAt: d.CreatedAt},
			Parents: d.Parents, Body: slice.AppendBody(nil, &body), Salt: *d.Salt, Marks: marked,
		}
		arrivals[i].Turn.BodyDigest = slice.DigestBody(arrivals[i].Body, *d.Salt)
		batches[i] = arrivals[i : i+1 : i+1]
	}
	return batches, nil
}
