package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/graphkernel/graphkernel/bench/plain"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// A stand is a graph in a bed, and the ways to a slice of it that are compared.
type stand struct {
	*bed
	*graph
	authority *token.Authority
	keeping   *kernel.Kernel // keeps text
	fetching  *kernel.Kernel // keeps none
	roaming   *kernel.Kernel // is asked for new anchors all the time
	picked    map[dag.TurnID][]dag.TurnID

	cached, fetched, bare, bareFresh, recorded *candidate
	perTurn, nearby                            *candidate
}

// The ways.
const (
	textCached  = "text cached"
	textFetched = "text from the store"
	noText      = "no text"
	noTextFresh = "no text, an anchor not seen before"
	newRecord   = "an anchor not seen before, its record durable"
	byTurn      = "a few queries for each turn"
	byRecursion = "one recursive query"
)

// newStand opens kernels and asks for each slice once, so that the skeletons are loaded
// and the bundles are in the store's record.
func newStand(ctx context.Context, b *bed, g *graph) (*stand, error) {
	s := &stand{bed: b, graph: g, picked: map[dag.TurnID][]dag.TurnID{}}
	var err error
	if s.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	if s.keeping, err = newKernel(b.store, s.authority, 0); err != nil {
		return nil, err
	}
	if s.fetching, err = newKernel(b.store, s.authority, 1); err != nil {
		return nil, err
	}
	if s.roaming, err = newKernel(b.store, s.authority, 0); err != nil {
		return nil, err
	}
	if err := s.keeping.Policies().Register(ctx, g.tenant, g.policy); err != nil {
		return nil, err
	}
	if len(g.anchors) == 0 {
		return nil, fmt.Errorf("%s: no anchors", g.name)
	}
	for _, anchor := range g.anchors {
		preview, err := s.keeping.Slices().Preview(ctx, g.tenant, s.request(anchor))
		if err != nil {
			return nil, err
		}
		s.picked[anchor] = order(preview)
	}
	s.compare()
	for _, k := range []*kernel.Kernel{s.keeping, s.fetching, s.roaming} {
		for _, primer := range g.primers {
			if _, err := k.Slices().Preview(ctx, g.tenant, s.request(primer)); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range []*candidate{s.cached, s.fetched, s.bare} {
		if err := c.warm(ctx, len(g.anchors)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *stand) request(anchor dag.TurnID) kernel.Request {
	return kernel.Request{Anchor: anchor, Policy: s.policy.ID()}
}

// order returns the turns of a slice in the order of selection.
func order(s *slice.Slice) []dag.TurnID {
	ids := make([]dag.TurnID, len(s.Picked))
	for i, at := range s.Picked {
		ids[i] = s.Turns[at].ID
	}
	return ids
}

// turns gives the mean number in the slices.
func (s *stand) meanTurns() int {
	sum := 0
	for _, ids := range s.picked {
		sum += len(ids)
	}
	return sum / len(s.picked)
}

// compare makes the candidates.
func (s *stand) compare() {
	cut := func(k *kernel.Kernel) func(context.Context, dag.TurnID) error {
		return func(ctx context.Context, anchor dag.TurnID) error {
			_, err := k.Slices().Cut(ctx, s.tenant, s.request(anchor))
			return err
		}
	}
	seal := func(k *kernel.Kernel) func(context.Context, dag.TurnID) error {
		return func(ctx context.Context, anchor dag.TurnID) error {
			preview, err := k.Slices().Preview(ctx, s.tenant, s.request(anchor))
			if err != nil {
				return err
			}
			_, err = s.authority.Seal(s.tenant, preview)
			return err
		}
	}
	again := func(slice func(context.Context, dag.TurnID) error) func(context.Context, int) error {
		return func(ctx context.Context, i int) error { return slice(ctx, s.anchors[i%len(s.anchors)]) }
	}
	once := func(from []dag.TurnID, slice func(context.Context, dag.TurnID) error) func(context.Context, int) error {
		return func(ctx context.Context, i int) error {
			if i >= len(from) {
				return fmt.Errorf("only %d anchors were not seen before; ask for fewer rounds", len(from))
			}
			return slice(ctx, from[i])
		}
	}
	s.cached = &candidate{name: s.kind + ", " + textCached, burst: 10, run: again(cut(s.keeping))}
	s.fetched = &candidate{name: s.kind + ", " + textFetched, burst: 10, run: again(cut(s.fetching))}
	s.bare = &candidate{name: s.kind + ", " + noText, burst: 10, run: again(seal(s.keeping))}
	if most := len(s.fresh) * 5 / 6; most > 0 { // what follows takes the others
		s.bareFresh = &candidate{name: s.kind + ", " + noTextFresh, burst: 10, run: once(s.fresh[:most], seal(s.roaming))}
		s.recorded = &candidate{name: s.kind + ", " + newRecord, burst: 2, run: once(s.fresh[most:], cut(s.roaming))}
	}
	s.perTurn = s.alternative(byTurn, plain.PerTurn)
	s.nearby = s.alternative(byRecursion, plain.Nearby)
}

// A picker selects in plain tables.
type picker func(context.Context, plain.Database, dag.TurnID, policy.SlicePolicyV1) ([]dag.TurnID, error)

// alternative is a candidate that must pick the same turns as the kernel, in the same
// order, and brings their text. Comparing is in its time, a thousandth of it.
func (s *stand) alternative(name string, pick picker) *candidate {
	db := s.plain.Tenant(s.tenant)
	return &candidate{name: s.kind + ", " + name, run: func(ctx context.Context, i int) error {
		params, err := policy.ParametersOf[policy.SlicePolicyV1](s.policy, policy.Type)
		if err != nil {
			return err
		}
		anchor := s.anchors[i%len(s.anchors)]
		ids, err := pick(ctx, db, anchor, params)
		if err != nil {
			return err
		}
		texts, err := db.Texts(ctx, ids)
		if err != nil {
			return err
		}
		if !slices.Equal(ids, s.picked[anchor]) || len(texts) != len(ids) {
			return fmt.Errorf("anchor %s: %d turns and %d texts, which are not the %d turns of the kernel", anchor, len(ids), len(texts), len(s.picked[anchor]))
		}
		return nil
	}}
}

// all returns the candidates in the order in which tables name them.
func (s *stand) all() []*candidate {
	return slices.DeleteFunc([]*candidate{s.cached, s.fetched, s.bare, s.bareFresh, s.recorded, s.nearby, s.perTurn},
		func(c *candidate) bool { return c == nil })
}

// proof says whether the caches did what the candidates' names promise.
func (s *stand) proof() error {
	keeping, fetching := s.keeping.Stats(), s.fetching.Stats()
	switch {
	case keeping.Texts.Evicted > 0 || keeping.Graphs.Evicted > 0 || keeping.Cuts.Evicted > 0:
		return fmt.Errorf("%s, %s: what should be cached was let go: %+v", s.kind, s.name, keeping)
	case fetching.Texts.Hits > 0 || fetching.Texts.Misses == 0:
		return fmt.Errorf("%s, %s: what should come from the store was cached: %+v", s.kind, s.name, fetching)
	}
	return nil
}

// Bounds of a slice of 256 turns.
const (
	boundCached     = 300 * time.Microsecond
	boundNoText     = 150 * time.Microsecond
	boundOfPerTurn  = 20 // one part in so many
	boundCold       = 5
	boundColdAsks   = 3
	boundGrowth     = 1.3
	boundSkeleton   = 160 // bytes a turn
	firstSliceBound = 50 * time.Millisecond
)

var boundFetched = map[string]time.Duration{inSQLite: time.Millisecond, inPostgres: 1500 * time.Microsecond}

// rows tells what was measured, held against the bounds if bounded.
func (s *stand) rows(bounded bool) []row {
	var rows []row
	for _, c := range s.all() {
		r := rowOf(c, s.perTurn)
		r.to = "queries for each turn"
		if bounded {
			r.bounds = s.bounds(c)
		}
		rows = append(rows, r)
	}
	return rows
}

func (s *stand) bounds(c *candidate) []bound {
	switch c {
	case s.cached:
		return []bound{atMost(c.sample.p50(), boundCached)}
	case s.fetched:
		return []bound{atMost(c.sample.p50(), boundFetched[s.kind]), faster(c.sample, s.perTurn.sample, boundOfPerTurn)}
	case s.bare, s.bareFresh:
		return []bound{atMost(c.sample.p50(), boundNoText)}
	}
	return nil
}
