package query_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// TestTraverse walks a small graph on every store, with aliases that come and go.
func TestTraverse(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s, a := open(t, name), token.NewAuthority(ring(t, "k1"))
			k := over(t, s, a)
			learn := func(acts ...knowledge.Act) { must(k.Facts().Learn(ctx, tenant, acts)) }
			reach := func(asOf dag.Seq, start string) []string {
				k := k
				if asOf > 0 {
					k = over(t, s, a) // which has no answer of that time kept
				}
				return entities(must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{start}, AsOf: asOf})).Reached)
			}
			learn(fact(t, "Ada Lovelace", "wrote", "Note G"), fact(t, "Note G", "about", "Bernoulli numbers"), fact(t, "Countess of Lovelace", "lived in", "London"))
			if got := reach(0, "ADA lovelace"); !slices.Equal(got, []string{"bernoulli-numbers", "note-g"}) {
				t.Errorf("%q", got)
			}
			learn(alias("countess-of-lovelace", "ada-lovelace"))
			if got := reach(0, "Countess of Lovelace"); !slices.Equal(got, []string{"bernoulli-numbers", "london", "note-g"}) {
				t.Errorf("with the alias: %q", got)
			}
			if got := reach(3, "ada-lovelace"); !slices.Equal(got, []string{"bernoulli-numbers", "note-g"}) {
				t.Errorf("as of 3: %q", got)
			}
			learn(knowledge.Act{Kind: knowledge.Unalias, Alias: "countess-of-lovelace", Canonical: "ada-lovelace"}, fact(t, "London", "in", "England"))
			if got := reach(0, "Countess of Lovelace"); !slices.Equal(got, []string{"england", "london"}) {
				t.Errorf("without it: %q", got)
			}
			if got := reach(4, "Countess of Lovelace"); !slices.Equal(got, []string{"bernoulli-numbers", "london", "note-g"}) {
				t.Errorf("as of 4: %q", got)
			}
			note := fact(t, "Note G", "about", "Bernoulli numbers")
			learn(knowledge.Act{Kind: knowledge.Retract, Statement: note.Fact.ID()})
			if got := reach(0, "ada-lovelace"); !slices.Equal(got, []string{"note-g"}) {
				t.Errorf("after a retraction: %q", got)
			}
			if _, err := k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{"ada"}, AsOf: 99}); !errors.Is(err, projection.ErrBeyondHead) {
				t.Errorf("beyond the head: %v", err)
			}
			for _, bad := range []api.TraverseRequest{{}, {Start: []string{"???"}}, {Start: []string{"a"}, MaxHops: 99}, {Start: []string{"a"}, Direction: "up"}} {
				if _, err := k.Facts().Traverse(ctx, tenant, bad); !errors.Is(err, knowledge.ErrQuery) {
					t.Errorf("%+v: %v", bad, err)
				}
			}
		})
	}
}

// TestEvidenceOfFacts refuses evidence that is not here, and shows what counts.
func TestEvidenceOfFacts(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			k := over(t, open(t, name), token.NewAuthority(ring(t, "k1")))
			ids := chain(t, k, 3)
			with := fact(t, "a", "b", "c")
			with.Fact.Turn, with.Fact.Confidence = ids[1], 300_000
			issued := must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[2]}))
			of := fact(t, "a", "b", "c")
			of.Fact.Slice, of.Fact.Confidence = string(issued.Slice.Provenance.SliceID), 200_000
			must(k.Facts().Learn(ctx, tenant, []knowledge.Act{with, of}))
			unknown, cut := with, of
			unknown.Fact.Turn, cut.Fact.Slice = dag.TurnID{9}, "0123456789abcdef"
			for _, bad := range []knowledge.Act{unknown, cut} {
				if _, err := k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "x", "y", "z"), bad}); !errors.Is(err, knowledge.ErrNoEvidence) {
					t.Errorf("%+v: %v", bad.Fact, err)
				} else if which := (*knowledge.ActError)(nil); !errors.As(err, &which) || which.Index != 1 || which.Of != 2 {
					t.Errorf("%+v: %v does not say that it is the second of two", bad.Fact, err)
				}
			}
			page := must(k.Facts().List(ctx, tenant, api.FactQuery{}))
			if page.Total != 1 || len(page.Facts) != 1 || page.Facts[0].Confidence != 300_000 || page.Facts[0].Turn != ids[1] || len(page.Facts[0].Evidence) != 2 {
				t.Fatalf("%+v", page)
			}
			instead := fact(t, "a", "b", "d")
			instead.Supersedes = []knowledge.ID{with.Fact.ID()}
			must(k.Facts().Learn(ctx, tenant, []knowledge.Act{instead}))
			must(k.Facts().Learn(ctx, tenant, []knowledge.Act{with}))
			page = must(k.Facts().List(ctx, tenant, api.FactQuery{FactFilter: api.FactFilter{Object: "C"}}))
			if len(page.Facts) != 1 || len(page.Facts[0].Evidence) != 1 {
				t.Errorf("believed anew: %+v", page)
			}
			if acts := must(k.Facts().Evidence(ctx, tenant, with.Fact.ID(), 6)); len(acts) != 0 {
				t.Errorf("while it was superseded: %+v", acts)
			}
			if acts := must(k.Facts().History(ctx, tenant, api.HistoryOf{Statement: with.Fact.ID()})).Acts; len(acts) != 3 {
				t.Errorf("history: %+v", acts)
			}
			if _, err := k.Facts().History(ctx, tenant, api.HistoryOf{Statement: knowledge.ID{1}}); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("history of nothing: %v", err)
			}
		})
	}
}

// TestBeforeFirstChange asks as of a number inside of the first change: nothing is there yet, and no question is one about now.
func TestBeforeFirstChange(t *testing.T) {
	ctx := t.Context()
	k := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k1")))
	must(k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "a", "p", "b"), alias("x", "a"), fact(t, "b", "p", "c")}))
	at := api.View{AsOf: 1}
	if f := must(k.Facts().List(ctx, tenant, api.FactQuery{View: at})); f.Total != 0 || len(f.Facts) != 0 || f.AsOf != 0 {
		t.Errorf("facts: %+v", f)
	}
	if l := must(k.Facts().ListAliases(ctx, tenant, api.AliasesOf{View: at})); l.Total != 0 || len(l.Aliases) != 0 || l.AsOf != 0 {
		t.Errorf("aliases: %+v", l)
	}
	for _, brief := range []bool{false, true} {
		if n := must(k.Facts().Count(ctx, tenant, api.KnowledgeCount{View: at, Brief: brief})); n.Facts != 0 || n.Entities != 0 || n.Aliases != 0 || n.AsOf != 0 {
			t.Errorf("counts, brief %t: %+v", brief, n)
		}
	}
}

// TestRetract retracts by filters.
func TestRetract(t *testing.T) {
	ctx := t.Context()
	k := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k1")))
	for n := range 5 {
		must(k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "a", "p", fmt.Sprint(n)), fact(t, "b", "p", fmt.Sprint(n))}))
	}
	at := dag.Time(1)
	for _, q := range []api.FactFilter{{}, {MinConfidence: 1}, {ValidAt: &at}, {MinConfidence: 1, ValidAt: &at}} {
		if _, err := k.Facts().Retract(ctx, tenant, api.Retracting{FactFilter: q}); !errors.Is(err, query.ErrNoFilter) {
			t.Errorf("without a filter: %v", err)
		}
	}
	for _, dry := range []bool{true, false} {
		if list := must(k.Facts().Retract(ctx, tenant, api.Retracting{FactFilter: api.FactFilter{Subject: "A"}, Reason: "wrong", DryRun: dry})); list.Total != 5 || len(list.Acts) != 5 || list.DryRun != dry {
			t.Errorf("dry %v: %d", dry, list.Total)
		}
	}
	if list := must(k.Facts().Retract(ctx, tenant, api.Retracting{FactFilter: api.FactFilter{Subject: "A"}, Reason: "wrong"})); list.Total != 0 {
		t.Errorf("again: %d", list.Total)
	}
	if page := must(k.Facts().List(ctx, tenant, api.FactQuery{Paging: api.Paging{Limit: 3}})); page.Total != 5 || len(page.Facts) != 3 || page.Next == "" {
		t.Errorf("%+v", page)
	} else if rest := must(k.Facts().List(ctx, tenant, api.FactQuery{Paging: api.Paging{Limit: 3, After: page.Next}})); len(rest.Facts) != 2 || rest.Next != "" || rest.Total != 5 {
		t.Errorf("%+v", rest)
	}
	if full := must(k.Facts().List(ctx, tenant, api.FactQuery{Paging: api.Paging{Limit: 5}})); len(full.Facts) != 5 || full.Next != "" {
		t.Errorf("a full page that nothing follows on: %d facts, next %q", len(full.Facts), full.Next)
	}
}

// TestFactEvidence compares the evidence that listings give, of all facts of a page at once, with
// that of each fact, as of every number.
func TestFactEvidence(t *testing.T) {
	rounds := 60
	if race.Enabled {
		rounds = 20 // one goroutine: little for the race detector
	}
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := open(t, name)
			k := over(t, s, token.NewAuthority(ring(t, "k1")))
			r := rand.New(rand.NewPCG(9, 2))
			for range rounds {
				var acts []knowledge.Act
				for range 1 + r.IntN(4) {
					a := storetest.RandomAct(r)
					a.Fact.Turn, a.Fact.Slice = dag.TurnID{}, ""
					if a.Kind == knowledge.Assert || a.Kind == knowledge.Retract {
						acts = append(acts, a)
					}
				}
				must(storetest.Facts(s).Learn(ctx, tenant, acts, 1))
			}
			several := 0
			for asOf := dag.Seq(1); asOf <= must(s.Head(ctx, tenant)); asOf++ {
				for _, f := range must(k.Facts().List(ctx, tenant, api.FactQuery{View: api.View{AsOf: asOf}, Paging: api.Paging{Limit: query.MaxFacts}})).Facts {
					want := must(k.Facts().Evidence(ctx, tenant, f.Statement, asOf))
					if len(want) == 0 || !reflect.DeepEqual(f.Evidence, evidenceOf(want)) {
						t.Fatalf("as of %d, %s: got %+v, want %+v", asOf, f.Statement, f.Evidence, want)
					}
					if len(want) > 1 {
						several++
					}
				}
			}
			if several < 100*rounds/60 {
				t.Errorf("only %d facts had several assertions: this test shows less than it should", several)
			}
		})
	}
}

// TestFactsStayFresh asks two kernels over one store for random traversals while both
// learn. What a kernel keeps gives what one gives that keeps nothing, as of every number.
func TestFactsStayFresh(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := open(t, name)
			a := token.NewAuthority(ring(t, "k1"))
			kernels := []*kernel.Kernel{over(t, s, a), over(t, s, a)}
			r := seeded(t)
			reached := 0
			rounds := 120
			if testing.Short() {
				rounds = 30
			}
			for range rounds {
				var acts []knowledge.Act
				for range 1 + r.IntN(4) {
					acts = append(acts, storetest.RandomAct(r))
				}
				for i := range acts {
					acts[i].Fact.Turn, acts[i].Fact.Slice = dag.TurnID{}, ""
				}
				if _, err := storetest.Facts(s).Learn(ctx, tenant, acts, 1); err != nil {
					continue // an alias that is another's
				}
				head := must(s.Head(ctx, tenant))
				if head == 0 {
					continue // they changed nothing
				}
				for range 4 {
					q := api.TraverseRequest{Start: []string{fmt.Sprintf("e%d", r.IntN(6))}, MaxHops: 1 + r.IntN(3), MaxResults: 1 + r.IntN(6)}
					if r.IntN(2) == 0 {
						q.AsOf = 1 + dag.Seq(r.IntN(int(head)))
					}
					if r.IntN(3) == 0 {
						q.MinConfidence = 300_000
					}
					k := kernels[r.IntN(2)]
					for range r.IntN(3) { // what is asked thrice comes from memory
						must(k.Facts().Traverse(ctx, tenant, q))
					}
					got, err := k.Facts().Traverse(ctx, tenant, q)
					want, wantErr := over(t, s, a).Facts().Traverse(ctx, tenant, q)
					if err != nil || wantErr != nil || got.AsOf != want.AsOf || got.Cut != want.Cut || len(got.Reached) != len(want.Reached) ||
						len(got.Reached) > 0 && !reflect.DeepEqual(got.Reached, want.Reached) {
						t.Fatalf("%+v\ngot  %+v, %v\nwant %+v, %v", q, got, err, want, wantErr)
					}
					reached += len(got.Reached)
				}
			}
			if reached < rounds {
				t.Errorf("only %d entities were reached", reached)
			}
		})
	}
}

// TestTies has 200 edges that are equal except for their ends, learned in 100 orders in each
// store: except for the numbers that they were learned under, every answer is the same, and every
// slice of facts has the same bytes, except for the seal, which is the tenant's.
func TestTies(t *testing.T) {
	orders := 100
	if race.Enabled {
		orders = 8 // one goroutine: little for the race detector
	}
	first, bundle := "", ""
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			k := over(t, open(t, name), token.NewAuthority(ring(t, "k1")))
			r := rand.New(rand.NewPCG(1, uint64(len(name))))
			var acts []knowledge.Act
			for n := range 100 {
				acts = append(acts, fact(t, "hub", "near", fmt.Sprintf("e%d", n)), fact(t, fmt.Sprintf("f%d", n), "near", "hub"))
			}
			for n := range acts {
				acts[n].Salt = dag.Salt{1, byte(n)}
			}
			for n := range orders {
				of := dag.Tenant(fmt.Sprintf("order-%d", n))
				r.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
				must(k.Facts().Learn(ctx, of, acts))
				got := must(k.Facts().Traverse(ctx, of, api.TraverseRequest{Start: []string{"hub"}}))
				var text strings.Builder
				for _, one := range got.Reached {
					e := one.Path[0]
					e.Since, one.Path = 0, one.Path[1:]
					fmt.Fprintf(&text, "%+v %+v\n", one, e)
				}
				switch text := text.String(); {
				case len(got.Reached) != 100 || got.Cut != string(knowledge.CutResults):
					t.Fatalf("%d entities, %q", len(got.Reached), got.Cut)
				case first == "":
					first = text
				case text != first:
					t.Fatalf("order %d gave another answer", n)
				}
				b := must(facts.Parse(must(k.Facts().Slice(ctx, of, api.FactSliceRequest{Start: []string{"hub"}})).Bundle))
				b.Seal = slice.Seal{}
				switch text := string(b.Append(nil)); {
				case len(b.Reached) != 100 || b.Cut != knowledge.CutResults:
					t.Fatalf("%d entities, %q", len(b.Reached), b.Cut)
				case bundle == "":
					bundle = text
				case text != bundle:
					t.Fatalf("order %d gave another bundle", n)
				}
			}
		})
	}
}

// TestFactsForgotten asks for so many tenants that one is forgotten, while another kernel
// learns something of it: what was kept of it from before is not what is answered with.
func TestFactsForgotten(t *testing.T) {
	ctx := t.Context()
	s := open(t, "memory")
	a := token.NewAuthority(ring(t, "k1"))
	k, other := over(t, s, a), over(t, s, a)
	reach := func(of dag.Tenant) []string {
		return entities(must(k.Facts().Traverse(ctx, of, api.TraverseRequest{Start: []string{"a"}})).Reached)
	}
	must(k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "a", "p", "b")}))
	reach(tenant)
	must(other.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "a", "p", "c")}))
	for n := range 10_000 {
		if got := reach(dag.Tenant(fmt.Sprintf("tenant-%d", n))); len(got) != 0 {
			t.Fatalf("%q", got)
		}
	}
	if got := reach(tenant); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("%q", got)
	}
}

// TestFactsFarBehind lets another kernel record more than is gone through one by one.
func TestFactsFarBehind(t *testing.T) {
	ctx := t.Context()
	s := open(t, "memory")
	a := token.NewAuthority(ring(t, "k1"))
	k, other := over(t, s, a), over(t, s, a)
	must(k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "a", "p", "b"), alias("other-a", "a")}))
	must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{"a"}}))
	var acts []knowledge.Act
	for n := range 5000 {
		acts = append(acts, fact(t, "x", "p", fmt.Sprint(n)))
	}
	must(other.Facts().Learn(ctx, tenant, append(acts, fact(t, "another a", "p", "c"), alias("another-a", "a"), fact(t, "a", "p", "d"))))
	if got := entities(must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{"other a"}})).Reached); !slices.Equal(got, []string{"b", "c", "d"}) {
		t.Errorf("%q", got)
	}
}

// TestFactsConcurrent learns and asks at once: anyone who has learned something sees it in the
// next answer, whichever kernel gives it.
func TestFactsConcurrent(t *testing.T) {
	ctx := context.Background()
	s := open(t, "memory")
	a := token.NewAuthority(ring(t, "k1"))
	kernels := []*kernel.Kernel{over(t, s, a), over(t, s, a)}
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for n := range 30 {
				object := fmt.Sprintf("o%d-%d", w, n)
				if _, err := kernels[w%2].Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, fmt.Sprintf("s%d", w%2), "p", object)}); err != nil {
					t.Error(err)
					return
				}
				got, err := kernels[(w+n)%2].Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{fmt.Sprintf("s%d", w%2)}, MaxHops: 1, MaxResults: 500})
				if err != nil || !slices.Contains(entities(got.Reached), object) {
					t.Errorf("%s is not there, %v", object, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// A talkativeStore lets something happen between the reading of edges and their return.
type talkativeStore struct {
	store.Store
	meanwhile func()
}

func (s *talkativeStore) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	lists, err := s.Store.Terms(ctx, tenant, ranges)
	if then := s.meanwhile; then != nil && ranges[0].Limit > 0 { // those for aliases have none
		s.meanwhile = nil
		then()
	}
	return lists, err
}

// TestFactsLearnedInMidRead learns or retracts a fact after the edges of its name were read and before they are
// kept. They must not stay.
func TestFactsLearnedInMidRead(t *testing.T) {
	gone := fact(t, "a", "p", "b")
	for what, c := range map[string]struct {
		act  knowledge.Act
		want []string
	}{
		"learned":   {fact(t, "a", "p", "c"), []string{"b", "c"}},
		"retracted": {knowledge.Act{Kind: knowledge.Retract, Statement: gone.Fact.ID()}, []string{}},
	} {
		ctx := t.Context()
		inner := open(t, "memory")
		s := &talkativeStore{Store: inner}
		a := token.NewAuthority(ring(t, "k1"))
		k, other := over(t, s, a), over(t, inner, a)
		must(other.Facts().Learn(ctx, tenant, []knowledge.Act{gone}))
		reach := func() []string {
			return append([]string{}, entities(must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{"a"}, MaxHops: 1})).Reached)...)
		}
		s.meanwhile = func() {
			must(other.Facts().Learn(ctx, tenant, []knowledge.Act{c.act}))
			if got := reach(); !slices.Equal(got, c.want) {
				t.Errorf("%s, asked meanwhile: %q, want %q", what, got, c.want)
			}
		}
		if got := reach(); !slices.Equal(got, []string{"b"}) || s.meanwhile != nil {
			t.Errorf("%s, asked before: %q", what, got)
		}
		if got := reach(); !slices.Equal(got, c.want) {
			t.Errorf("%s, asked after: %q, want %q", what, got, c.want)
		}
	}
}

// evidenceOf returns assertions in the form in which a list of facts shows them.
func evidenceOf(list []knowledge.Recorded) (w []api.FactEvidence) {
	for _, r := range list {
		f := r.Act.Fact
		w = append(w, api.FactEvidence{
			Seq: r.Seq, At: r.At, Source: f.Source, Confidence: f.Confidence, Turn: f.Turn, Slice: slice.SliceID(f.Slice), Written: f.Written,
		})
	}
	return w
}
