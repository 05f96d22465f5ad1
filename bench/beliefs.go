package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/bench/plain"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
)

// Bounds of operations on beliefs.
const (
	boundResolve     = 50 * time.Microsecond
	boundRevise      = 2 * time.Millisecond // without the commit, among 100 000 statements
	boundBase        = 50 * time.Millisecond
	boundImpact      = 10 * time.Millisecond
	boundReviseGrows = 3.0 // as the base grows a hundredfold
)

const (
	baseItems    = 10_000
	impactItems  = 10_000
	impactDepth  = 10
	perOperation = journal.MaxStatements
)

func spaceOf(statements int) belief.Space {
	return belief.Space(fmt.Sprintf("bench/of-%d", statements))
}

// believing measures operations on beliefs beside a table that a user would write.
func believing(ctx context.Context, r *report, y *yard, sizes []int, items, many, rounds int) (err error) {
	s, a, err := y.keyed(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	k, err := newKernel(s, a, 0)
	if err != nil {
		return err
	}
	beside, err := plain.SQLiteBeliefs(ctx, filepath.Join(y.folder, fmt.Sprintf("beliefs%d.db", y.made)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, beside.Close()) }()
	b, err := newBeliever(ctx, k, benchTenant)
	if err != nil {
		return err
	}
	b.plain = beside
	if b.fresh, err = newKernel(s, a, 0); err != nil {
		return err
	}
	for _, n := range sizes {
		if err := b.load(ctx, n); err != nil {
			return err
		}
	}
	if err := b.items(ctx, items); err != nil {
		return err
	}
	if err := b.measure(ctx, r, sizes, items, rounds); err != nil || many == 0 {
		return err
	}
	if err := b.many(ctx, s, many); err != nil {
		return err
	}
	return b.measureMany(ctx, r, many, rounds)
}

// A believer revises what is believed in a tenant, and in a table beside it.
type believer struct {
	k      *kernel.Kernel
	fresh  *kernel.Kernel // on the same store, that has resolved nothing
	tenant dag.Tenant
	plain  *plain.Beliefs // nil: there is none
	refs   []belief.Address
	half   dag.Seq // the number up to which half of the items were there
	clock  int
}

func newBeliever(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant) (*believer, error) {
	p, err := policy.Bind("bench-kinds@1", kinds.New(belief.Constraints{Functional: []string{"is"}}, nil))
	if err != nil {
		return nil, err
	}
	return &believer{k: k, tenant: tenant}, k.Policies().Register(ctx, tenant, p)
}

func (b *believer) operate(ctx context.Context, space belief.Space, item belief.Item, dry bool, of ...belief.Literal) (api.BeliefOutcome, error) {
	return b.k.Beliefs().Revise(ctx, b.tenant, api.BeliefRequest{Space: space, Item: item, Statements: of, DryRun: dry})
}

func valued(i, value int) belief.Literal {
	return belief.Literal{Subject: fmt.Sprintf("thing-%d", i), Predicate: "is", Object: fmt.Sprintf("value-%d", value)}
}

// resolve asks a kernel for what is current of an item.
func (b *believer) resolve(ctx context.Context, k *kernel.Kernel, i int) error {
	kref, err := k.Beliefs().Kref(ctx, b.tenant, b.refs[i*7919%len(b.refs)])
	if err == nil && kref.Revision == nil {
		err = errors.New("nothing is current")
	}
	return err
}

// load makes a space with so many statements, and the same in the table.
func (b *believer) load(ctx context.Context, statements int) error {
	space := spaceOf(statements)
	if _, err := b.k.Beliefs().SetSpace(ctx, b.tenant, api.NewSpace{Space: space, Policy: "bench-kinds@1"}); err != nil {
		return err
	}
	for from := 0; from < statements; from += perOperation {
		var list []belief.Literal
		var triples []plain.Triple
		for i := from; i < min(from+perOperation, statements); i++ {
			l := valued(i, 0)
			list = append(list, l)
			triples = append(triples, plain.Triple{Subject: fmt.Sprint(space, l.Subject), Predicate: l.Predicate, Object: l.Object})
		}
		if _, err := b.operate(ctx, space, "", false, list...); err != nil {
			return err
		}
		if b.plain == nil {
			continue
		}
		if err := b.plain.Revise(ctx, 1, triples...); err != nil {
			return err
		}
	}
	return nil
}

// items makes a space with items of one statement each, all of which depend on the first, over ten steps.
func (b *believer) items(ctx context.Context, n int) error {
	if _, err := b.k.Beliefs().SetSpace(ctx, b.tenant, api.NewSpace{Space: "bench/items", Policy: "bench-kinds@1"}); err != nil {
		return err
	}
	layer := (n + impactDepth - 1) / impactDepth
	for i := range n {
		if i == n/2 {
			head, err := b.k.Turns().Head(ctx, b.tenant)
			if err != nil {
				return err
			}
			b.half = head
		}
		item, err := belief.NewItem("bench/items", fmt.Sprintf("item-%d.fact", i))
		if err != nil {
			return err
		}
		if _, err := b.operate(ctx, "bench/items", item, false, valued(i, 0)); err != nil {
			return err
		}
		b.refs = append(b.refs, belief.Address{Item: item})
		if i == 0 {
			continue
		}
		to := 0
		if i > layer {
			to = i - layer
		}
		l := api.NewLink{From: belief.Address{Item: item, Revision: 1}.String(), Type: "depends_on", To: belief.Address{Item: b.refs[to].Item, Revision: 1}.String()}
		if _, err := b.k.Beliefs().Link(ctx, b.tenant, l); err != nil {
			return err
		}
	}
	return nil
}

func (b *believer) measure(ctx context.Context, r *report, sizes []int, items, rounds int) error {
	decide := make([]*candidate, len(sizes))
	var all []*candidate
	for n, size := range sizes {
		decide[n] = &candidate{name: fmt.Sprintf("decide a revise of one of %d statements", size), burst: 4, run: func(ctx context.Context, i int) error {
			o, err := b.operate(ctx, spaceOf(size), "", true, valued(i*7919%size, 1))
			if err == nil && len(o.GaveWay) != 1 {
				err = fmt.Errorf("%d statements gave way, want 1", len(o.GaveWay))
			}
			return err
		}}
		all = append(all, decide[n])
	}
	largest := sizes[len(sizes)-1]
	revise := &candidate{name: fmt.Sprintf("revise and commit, of %d", largest), run: func(ctx context.Context, i int) error {
		_, err := b.operate(ctx, spaceOf(largest), "", false, valued(i*7907%largest, 2))
		return err
	}}
	table := &candidate{name: "update, insert and commit in a table", run: func(ctx context.Context, i int) error {
		b.clock++
		l := valued(i*7907%largest, 2)
		return b.plain.Revise(ctx, 2+b.clock, plain.Triple{Subject: fmt.Sprint(spaceOf(largest), l.Subject), Predicate: l.Predicate, Object: l.Object})
	}}
	resolve := &candidate{name: fmt.Sprintf("resolve an address that was resolved before, of %d items", items), burst: 20, run: func(ctx context.Context, i int) error {
		return b.resolve(ctx, b.k, i)
	}}
	first := &candidate{name: fmt.Sprintf("resolve an address for the first time, of %d items", items), run: func(ctx context.Context, i int) error {
		return b.resolve(ctx, b.fresh, i)
	}}
	base := &candidate{name: fmt.Sprintf("the base of %d items", items), run: func(ctx context.Context, _ int) error {
		got, err := b.k.Beliefs().Held(ctx, b.tenant, "bench/items", 0, nil)
		if err == nil && len(got.Held) != items {
			err = fmt.Errorf("%d statements, want %d", len(got.Held), items)
		}
		return err
	}}
	earlier := &candidate{name: fmt.Sprintf("the base of %d of them, as of an earlier number", items/2), run: func(ctx context.Context, _ int) error {
		got, err := b.k.Beliefs().Held(ctx, b.tenant, "bench/items", b.half, nil)
		if err == nil && len(got.Held) != items/2 {
			err = fmt.Errorf("%d statements, want %d", len(got.Held), items/2)
		}
		return err
	}}
	impact := &candidate{name: fmt.Sprintf("impact on %d dependents over %d steps", items-1, impactDepth), run: func(ctx context.Context, _ int) error {
		got, err := b.k.Beliefs().Impact(ctx, b.tenant, api.ImpactQuery{Ref: belief.Address{Item: b.refs[0].Item, Revision: 1}.String(), Depth: impactDepth})
		if err == nil && len(got.Links) != items-1 {
			err = fmt.Errorf("%d dependents, want %d", len(got.Links), items-1)
		}
		return err
	}}
	for i := range b.refs {
		if err := b.resolve(ctx, b.k, i); err != nil {
			return err
		}
	}
	all = append(all, revise, table, resolve, first, base, earlier, impact)
	for _, c := range all {
		if err := c.warm(ctx, 3); err != nil {
			return err
		}
	}
	if err := inTurn(ctx, rounds, all); err != nil {
		return err
	}
	var rows []row
	for n, c := range decide {
		bounds := []bound{atMost(c.sample.p50(), boundRevise)}
		if n > 0 {
			grown := c.sample.times(decide[0].sample)
			bounds = append(bounds, bound{fmt.Sprintf("≤ %.0f × that of %d", boundReviseGrows, sizes[0]), grown <= boundReviseGrows})
		}
		rows = append(rows, rowOf(c, nil, bounds...))
	}
	rows = append(rows, rowOf(revise, table), rowOf(table, nil),
		rowOf(resolve, nil, atMost(resolve.sample.p50(), boundResolve)), rowOf(first, nil),
		rowOf(base, nil, atMost(base.sample.p50(), boundBase)), rowOf(earlier, nil, atMost(earlier.sample.p50(), boundBase)),
		rowOf(impact, nil, atMost(impact.sample.p50(), boundImpact)))
	r.table("Beliefs", rows)
	return nil
}
