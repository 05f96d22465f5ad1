package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/atlas/survey"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// Atlas returns the facet of the atlas, the graph of turns and of the slices and contexts that contained them.
func (k *Kernel) Atlas() survey.Atlas { return k.atlas() }

func (k *engine) atlas() survey.Atlas { return survey.Atlas{Kernel: surveyed{k}} }

// A surveyed engine implements [survey.Kernel].
type surveyed struct{ *engine }

// Surveying implements [survey.Kernel].
func (k surveyed) Surveying(fn func(*survey.Kept) error) error {
	return k.reading(func(c *cache) error { return fn(c.atlases) })
}

// Turn implements [survey.Kernel].
func (k surveyed) Turn(ctx context.Context, tenant dag.Tenant, id dag.TurnID) (store.Record, error) {
	return k.turns().Get(ctx, tenant, id)
}

// Handed implements [survey.Kernel]. It caches no records: the record of a context has the words of its task, which may be erased.
func (k surveyed) Handed(ctx context.Context, tenant dag.Tenant, number uint64) (api.Issued, error) {
	list, err := k.records.bundles.After(ctx, tenant, number-1, 1)
	if err == nil && (len(list) == 0 || list[0].Number != number) {
		err = fmt.Errorf("%w: record %d of what was handed out is gone", store.ErrDamaged, number)
	}
	if err != nil {
		return api.Issued{}, err
	}
	return records(list)[0], nil
}

// Parameters implements [survey.Kernel].
func (k surveyed) Parameters(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.SlicePolicy, error) {
	p, err := Policies(k).Get(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	return p.Slice()
}

// Choice implements [survey.Kernel].
func (k surveyed) Choice(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, id policy.ID, asOf dag.Seq) (*slice.Slice, error) {
	return k.slices().Preview(ctx, tenant, Request{Anchor: anchor, Policy: id, AsOf: asOf})
}

// Course implements [survey.Kernel].
func (k surveyed) Course(ctx context.Context, tenant dag.Tenant, atLeast dag.Seq) (standing.Course, error) {
	return steady(k.engine, func(c *cache) (standing.Course, error) {
		course, _, err := c.course(ctx, tenant, atLeast)
		return course, err
	})
}

// Segment implements [survey.Kernel].
func (k surveyed) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	return k.store.Segment(ctx, tenant, parts)
}

// Compute implements [survey.Kernel]. It calls fn inside the turnstile, which slices pass, too.
func (k surveyed) Compute(ctx context.Context, fn func() error) error {
	return k.turnstile.Pass(ctx, fn)
}

// Seal implements [survey.Kernel]. As with the statements of bundles, the ledger has the key and the identity is bound to the history before it signs.
func (k surveyed) Seal(ctx context.Context, tenant dag.Tenant, statement func(origin string) []byte) ([]byte, error) {
	origin, signer, err := k.notary.Signer(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return attest.Seal(statement(origin), signer)
}

// A surveyedEpoch implements [survey.Epoch] with a cache.
type surveyedEpoch struct{ *cache }

// Head implements [survey.Epoch].
func (c surveyedEpoch) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	return c.graphs.Head(ctx, tenant)
}

// UpTo implements [survey.Epoch].
func (c surveyedEpoch) UpTo(ctx context.Context, tenant dag.Tenant, asOf, head dag.Seq) (dag.Seq, error) {
	return c.ends.UpTo(ctx, tenant, asOf, head)
}

// Scan implements [survey.Epoch].
func (c surveyedEpoch) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, fn func(*store.Record) error) error {
	return c.store.Scan(ctx, tenant, after, fn)
}

// Erasures implements [survey.Epoch].
func (c surveyedEpoch) Erasures(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]erasures.Erasure, error) {
	return c.store.Erasures().After(ctx, tenant, after, limit)
}

// Record implements [survey.Epoch].
func (c surveyedEpoch) Record() issued.Base { return issued.Base{History: c.store} }

// Selected implements [survey.Epoch].
func (c surveyedEpoch) Selected(ctx context.Context, tenant dag.Tenant, r *issued.Record) (*slice.Slice, error) {
	p, err := c.policy(ctx, tenant, r.Provenance.PolicyID)
	if err != nil {
		return nil, err
	}
	_, s, _, err := c.cuts.Select(ctx, tenant, r.Provenance.Anchor, p, r.AsOf, r.Reading)
	return s, err
}

// Aliases implements [survey.Epoch].
func (c surveyedEpoch) Aliases(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (*normalize.Table, error) {
	return c.k.facts().Aliases(ctx, tenant, asOf)
}

// Acts implements [survey.Epoch].
func (c surveyedEpoch) Acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	return c.k.facts().Acts(ctx, tenant, after, limit)
}

// Each implements [survey.Epoch].
func (c surveyedEpoch) Each(ctx context.Context, n int, fn func(i int) error) error {
	var next atomic.Int64
	errs := make([]error, n)
	var wait sync.WaitGroup
	for range min(n, c.k.config.Parallel) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if errs[i] = fn(i); errs[i] != nil {
					next.Store(int64(n))
				}
			}
		})
	}
	wait.Wait()
	return cmp.Or(errors.Join(errs...), ctx.Err())
}
