package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/bench/plain"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
)

// Bounds of traversals of 3 hops in both directions, 100 results, and of loading.
const (
	boundReachedWarm = 100 * time.Microsecond
	boundReachedCold = 2 * time.Millisecond
	boundLearned     = 30_000 // acts a second into SQLite
	boundReachGrowth = 2.0
)

const (
	hubEdges    = 100_000
	reachStarts = 200
	firstFacts  = 100_000
)

// triples draws facts whose names follow a power law, and one name with very many.
func triples(facts int) (acts []knowledge.Act, starts []string, err error) {
	r := rand.New(rand.NewPCG(11, 12))
	entities := max(50, facts/4)
	zipf := rand.NewZipf(r, 1.2, 20, uint64(entities-1))
	name := func() string { return fmt.Sprintf("entity-%d", (zipf.Uint64()*2654435761)%uint64(entities)) }
	hub := min(hubEdges, facts/10)
	seen := map[knowledge.ID]bool{}
	for len(acts) < facts {
		f := knowledge.Fact{Source: "bench", Confidence: dag.PPM(500_000 + r.IntN(500_001))}
		f.Subject, f.Predicate, f.Object, f.Until = name(), fmt.Sprintf("relation-%d", r.IntN(100)), name(), knowledge.Forever
		if len(acts) < hub {
			f.Subject = "the-hub"
		}
		if id := f.ID(); !seen[id] && f.Subject != f.Object {
			seen[id] = true
			acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
		}
	}
	for range reachStarts { // of any degree, as they come
		starts = append(starts, acts[r.IntN(len(acts))].Fact.Subject)
	}
	r.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
	return acts, starts, nil
}

// A web is one database with facts, and the same as plain triples beside it.
type web struct {
	kind   string
	store  store.Store
	kernel *kernel.Kernel
	plain  plain.Triples
	starts []string
}

func (w *web) close() error { return errors.Join(w.store.Close(), w.plain.Close()) }

func (y *yard) web(ctx context.Context, kind string, starts []string) (*web, error) {
	y.made++
	w := &web{kind: kind, starts: starts}
	var err error
	if w.store, err = y.storeOf(ctx, kind); err != nil {
		return nil, err
	}
	if kind == inSQLite {
		w.plain, err = plain.SQLiteTriples(ctx, filepath.Join(y.folder, fmt.Sprintf("triples%d.db", y.made)))
	} else {
		name := fmt.Sprintf("triples%d", y.made)
		if err = y.server.CreateDatabase(ctx, name, ""); err == nil {
			w.plain, err = plain.PostgresTriples(ctx, y.server.SocketURL(name))
		}
	}
	if err == nil {
		w.kernel, err = w.fresh()
	}
	if err != nil {
		return nil, errors.Join(err, w.store.Close())
	}
	return w, nil
}

// fresh returns a kernel that has kept nothing yet.
func (w *web) fresh() (*kernel.Kernel, error) {
	a, err := newAuthority()
	if err != nil {
		return nil, err
	}
	return kernel.Open(kernel.Config{Store: w.store, Authority: a, Clock: time.Now})
}

const benchTenant dag.Tenant = "bench"

// learn loads both sides, and times them: the first facts as requests bring them, and the rest
// as an import does, in batches that take some seconds.
func (w *web) learn(ctx context.Context, acts []knowledge.Act) ([]row, error) {
	rate := func(acts int, began time.Time) float64 { return float64(acts) / time.Since(began).Seconds() }
	batch := knowledge.MaxActs
	if w.kind == inSQLite {
		batch = knowledge.MaxBatch
	}
	load := func(acts []knowledge.Act, batch int) error {
		for some := range slices.Chunk(acts, batch) {
			if _, err := w.kernel.Facts().Learn(ctx, benchTenant, some); err != nil {
				return err
			}
		}
		return nil
	}
	first := min(len(acts), firstFacts)
	began := time.Now()
	if err := load(acts[:first], knowledge.MaxActs); err != nil {
		return nil, err
	}
	requests := row{name: fmt.Sprintf("%s, the first %d, %d at once", w.kind, first, knowledge.MaxActs), rate: rate(first, began), unit: "facts"}
	if err := load(acts[first:], batch); err != nil {
		return nil, err
	}
	own := row{name: fmt.Sprintf("%s, all, up to %d at once", w.kind, batch), rate: rate(len(acts), began), unit: "facts"}
	if w.kind == inSQLite {
		requests.bounds = []bound{rateAtLeast(requests.rate, boundLearned)}
		own.bounds = []bound{rateAtLeast(own.rate, boundLearned)}
	}
	list := make([]plain.Triple, len(acts))
	for i := range acts {
		f := &acts[i].Fact
		list[i] = plain.Triple{Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, Confidence: int64(f.Confidence)}
	}
	began = time.Now()
	for some := range slices.Chunk(list, batch) {
		if err := w.plain.Load(ctx, some); err != nil {
			return nil, err
		}
	}
	triples := row{name: fmt.Sprintf("%s, plain triples, %d at once", w.kind, batch), rate: rate(len(list), began), unit: "triples"}
	own.ratio, own.to = triples.rate/own.rate, "plain triples"
	return []row{requests, own, triples}, nil
}

// reach asks for 100 results in 3 hops, both directions. Each i asks for something else, so
// that no finished answer helps, and walks the same edges again.
func reach(k *kernel.Kernel, start string, i int) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := k.Facts().Traverse(ctx, benchTenant, api.TraverseRequest{Start: []string{start}, MinConfidence: dag.PPM(i % 400_000)})
		if err == nil && len(got.Reached) == 0 {
			err = fmt.Errorf("nothing is reached from %s", start)
		}
		return err
	}
}

// A walks is what is compared over one web.
type walks struct{ warm, again, cold, hub, hubCold, perHop, signed, verified *candidate }

// signed cuts a slice of facts of a question that nobody has asked, so that it is signed and
// recorded, durably; verified verifies the last one.
func (w *web) signed(at func(int) string) (signed, verified *candidate) {
	var bundle []byte
	signed = &candidate{name: w.kind + ", a slice of facts, signed and recorded", run: func(ctx context.Context, i int) error {
		when := dag.Time(1 + i)
		issued, err := w.kernel.Facts().Slice(ctx, benchTenant, api.FactSliceRequest{Start: []string{at(i)}, ValidAt: &when})
		if err == nil {
			bundle = issued.Bundle
		}
		return err
	}}
	verified = &candidate{name: w.kind + ", a slice of facts, verified", run: func(context.Context, int) error {
		if evidence, verdict := w.kernel.Facts().Verify(bundle); !evidence.OK() {
			return fmt.Errorf("a slice of facts is not admissible: %s", verdict.Reason)
		}
		return nil
	}}
	return signed, verified
}

func (w *web) candidates() (c walks) {
	at := func(i int) string { return w.starts[i%len(w.starts)] }
	c.warm = &candidate{name: w.kind + ", warm", burst: 20, run: func(ctx context.Context, i int) error { return reach(w.kernel, at(i), i)(ctx) }}
	c.again = &candidate{name: w.kind + ", warm, asked again", burst: 20, run: func(ctx context.Context, i int) error { return reach(w.kernel, at(i), 0)(ctx) }}
	c.hub = &candidate{name: w.kind + ", warm, from a hub", burst: 20, run: func(ctx context.Context, i int) error { return reach(w.kernel, "the-hub", i)(ctx) }}
	c.perHop = &candidate{name: w.kind + ", a query for each hop", burst: 2, run: func(ctx context.Context, i int) error {
		_, err := plain.Reach(ctx, w.plain, at(i), 3, 100)
		return err
	}}
	var k *kernel.Kernel
	prepare := func(ctx context.Context, _ int) (err error) {
		if k, err = w.fresh(); err == nil {
			_, err = k.Facts().Aliases(ctx, benchTenant, 0) // a process reads them once
		}
		return err
	}
	c.cold = &candidate{name: w.kind + ", cold", prepare: prepare, run: func(ctx context.Context, i int) error { return reach(k, at(i*7), i)(ctx) }}
	c.hubCold = &candidate{name: w.kind + ", cold, from a hub", prepare: prepare, run: func(ctx context.Context, i int) error { return reach(k, "the-hub", i)(ctx) }}
	c.signed, c.verified = w.signed(at)
	return c
}

// knowing measures traversals at two sizes, and the loading of the greater one.
func knowing(ctx context.Context, r *report, y *yard, sizes [2]int, rounds int) (err error) {
	var webs []*web
	defer func() {
		for _, w := range webs {
			err = errors.Join(err, w.close())
		}
	}()
	medians := map[string]time.Duration{} // warm, by kind, of the smaller size
	for n, facts := range sizes {
		acts, starts, err := triples(facts)
		if err != nil {
			return err
		}
		var loaded []row
		var own []*web
		for _, kind := range y.kinds() {
			w, err := y.web(ctx, kind, starts)
			if err != nil {
				return err
			}
			webs, own = append(webs, w), append(own, w)
			rows, err := w.learn(ctx, acts)
			if err != nil {
				return err
			}
			loaded = append(loaded, rows...)
		}
		if n == len(sizes)-1 {
			r.table(fmt.Sprintf("Learning %d facts", facts), loaded)
		}
		var all, writing []*candidate // apart: after a write the next reader reads pages anew
		var rows []func() row
		for _, w := range own {
			c := w.candidates()
			if err := errors.Join(c.warm.warm(ctx, 2*len(w.starts)), c.again.warm(ctx, len(w.starts)), c.hub.warm(ctx, 3), c.perHop.warm(ctx, len(w.starts)), c.signed.warm(ctx, 3)); err != nil {
				return err
			}
			all = append(all, c.warm, c.again, c.cold, c.hub, c.hubCold, c.perHop)
			writing = append(writing, c.signed, c.verified)
			line := func(of *candidate, bounds func(p50 time.Duration) []bound) {
				rows = append(rows, func() row {
					l := rowOf(of, c.perHop)
					l.to = "a query for each hop"
					l.bounds = bounds(of.sample.p50())
					return l
				})
			}
			big := n == len(sizes)-1
			most := func(d time.Duration) func(time.Duration) []bound {
				return func(p50 time.Duration) []bound {
					if !big {
						return nil
					}
					return []bound{atMost(p50, d)}
				}
			}
			line(c.warm, func(p50 time.Duration) []bound {
				if !big {
					medians[w.kind] = p50
					return nil
				}
				growth := float64(p50) / math.Max(1, float64(medians[w.kind]))
				return []bound{atMost(p50, boundReachedWarm), {fmt.Sprintf("%.2f × %d facts, ≤ %.0f", growth, sizes[0], boundReachGrowth), growth <= boundReachGrowth}}
			})
			line(c.again, most(boundReachedWarm))
			line(c.cold, most(boundReachedCold))
			line(c.hub, most(boundReachedWarm))
			line(c.hubCold, most(boundReachedCold))
			none := func(time.Duration) []bound { return nil }
			line(c.perHop, none)
			line(c.signed, none)
			line(c.verified, none)
		}
		if err := errors.Join(inTurn(ctx, rounds, all), inTurn(ctx, rounds, writing)); err != nil {
			return err
		}
		var table []row
		for _, of := range rows {
			table = append(table, of())
		}
		r.table(fmt.Sprintf("3 hops in both directions, 100 results, of %d facts", facts), table)
	}
	return nil
}
