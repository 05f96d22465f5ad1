package knowledge_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/knowledge"
)

// TestAsOfStays asks random graphs as of a number, lets more facts come and some end, and asks
// again: the answer is the same, or the newer ones are so many that there is none. So it is
// where the work is cut, and with everything that an answer tells.
func TestAsOfStays(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	r := rand.New(rand.NewPCG(7, 8))
	type answer struct {
		knowledge.Answer
		err error
	}
	same, cut, whole, refused := 0, 0, 0, 0
	for n := range 40 {
		entities, facts := 3+r.IntN(20), 1+r.IntN(300)
		if n%8 == 0 {
			entities, facts = 300, 2500 // hubs whose edges come in several pieces
		}
		before := world(r, entities, facts)
		asOf := before[len(before)-1].Since + dag.Seq(facts)
		aliases := aliased(t, r, entities)
		known := map[knowledge.ID]bool{}
		for _, v := range before {
			known[v.ID] = true
		}
		after := slices.Clone(before)
		for i := range after {
			if after[i].Until == dag.MaxSeq && r.IntN(4) == 0 {
				after[i].Until = asOf + dag.Seq(1+r.IntN(100))
			}
		}
		for _, v := range world(r, entities, 3*facts) {
			v.Since += asOf
			v.Confidence = dag.PPM(r.IntN(11)) * 100_000
			if v.Until != dag.MaxSeq {
				v.Until += asOf
			}
			if r.IntN(8) > 0 || known[v.ID] { // surer than before, or begun anew
				after = append(after, v)
			}
		}
		for range 30 {
			q := query(r, entities, facts)
			q.AsOf = asOf
			work, newer := knowledge.MaxWork, knowledge.MaxNewer
			if r.IntN(3) > 0 {
				work = 1 + r.IntN(2*len(before))
			}
			if r.IntN(8) == 0 {
				newer = r.IntN(50)
			}
			to := fmt.Sprintf("e%d", r.IntN(entities))
			path := len(q.Start) == 1 && aliases.Resolve(to) != aliases.Resolve(q.Start[0])
			q.MaxResults = min(q.MaxResults, knowledge.MaxPaths)
			ask := func(versions []knowledge.Version) (a answer) {
				g := graph(r, versions)
				if path {
					a.Answer, a.err = knowledge.PathsWithin(t.Context(), g, aliases, q, to, work, newer)
				} else {
					a.Answer, a.err = knowledge.TraverseWithin(t.Context(), g, aliases, q, work, newer)
				}
				return a
			}
			want, got := ask(before), ask(after)
			switch {
			case want.err != nil || want.Looked > work:
				t.Fatalf("%+v, work %d: looked at %d, %v", q, work, want.Looked, want.err)
			case errors.Is(got.err, knowledge.ErrQuery) && newer < knowledge.MaxNewer:
				refused++
			case !reflect.DeepEqual(got, want):
				t.Fatalf("%+v to %s, path %v, work %d of %d:\ngot  %+v\nwant %+v", q, to, path, work, len(before), got, want)
			case want.Cut == knowledge.CutWork:
				cut++
			case want.Cut == knowledge.Whole:
				whole++
			default:
				same++
			}
		}
	}
	if cut < 100 || whole < 100 || same < 100 || refused < 20 {
		t.Errorf("%d were cut for work, %d for results, %d whole, %d refused: this test shows less than it should", cut, same, whole, refused)
	}
}

// TestNewer has a hub all of whose edges are newer than what is asked for.
func TestNewer(t *testing.T) {
	const most = 10_000
	var versions []knowledge.Version
	for n := range most + 1 {
		s := knowledge.Statement{Subject: "hub", Predicate: "near", Object: "x", Until: knowledge.Forever}
		id := knowledge.ID{byte(n >> 16), byte(n >> 8), byte(n)}
		versions = append(versions, knowledge.Version{Statement: s, ID: id, Confidence: 500_000, Since: 2, Until: dag.MaxSeq})
	}
	q := knowledge.Query{Filter: knowledge.Filter{AsOf: 1}, Start: []string{"hub"}, Direction: knowledge.Outgoing, MaxHops: 2, MaxResults: 10}
	for _, newer := range []int{most, most + 1} {
		g := sorted(versions[:newer])
		for _, ask := range []func() (knowledge.Answer, error){
			func() (knowledge.Answer, error) { return knowledge.TraverseWithin(t.Context(), g, nil, q, 5, most) },
			func() (knowledge.Answer, error) { return knowledge.PathsWithin(t.Context(), g, nil, q, "x", 5, most) },
		} {
			got, err := ask()
			if refused := newer > most; errors.Is(err, knowledge.ErrQuery) != refused || (err != nil) != refused || len(got.Reached)+got.Looked > 0 || got.Cut != knowledge.Whole {
				t.Errorf("%d newer edges: %+v, %v", newer, got, err)
			}
		}
	}
}
