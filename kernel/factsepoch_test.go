package kernel_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// TestFactsEpochEnds lets another server take over in the midst of each question that a
// listing, a retraction, the evidence and the history of a fact put. The answer is of the server that took
// over, and not of both.
func TestFactsEpochEnds(t *testing.T) {
	a := token.NewAuthority(ring(t, "k1"))
	surer := fact(t, "a", "p", "c")
	surer.Fact.Source = "another"
	for what, ask := range map[string]func(*kernel.Kernel) any{
		"facts": func(k *kernel.Kernel) any {
			return must(k.Facts().List(t.Context(), tenant, api.FactQuery{FactFilter: api.FactFilter{Subject: "a"}}))
		},
		"retract": func(k *kernel.Kernel) any {
			return must(k.Facts().Retract(t.Context(), tenant, api.Retracting{FactFilter: api.FactFilter{Subject: "a"}, DryRun: true}))
		},
		"evidence": func(k *kernel.Kernel) any { return must(k.Facts().Evidence(t.Context(), tenant, surer.Fact.ID(), 2)) },
		"history": func(k *kernel.Kernel) any {
			return must(k.Facts().History(t.Context(), tenant, api.HistoryOf{Statement: surer.Fact.ID()}))
		},
		"acts": func(k *kernel.Kernel) any { return must(k.Facts().Changes(t.Context(), tenant, api.Paging{Limit: 8})) },
	} {
		for question := 1; ; question++ {
			early, late := inmem.Open(&inmem.Disk{}, inmem.Options{}), inmem.Open(&inmem.Disk{}, inmem.Options{})
			must(over(t, late, a).Facts().Learn(t.Context(), tenant, []knowledge.Act{fact(t, "a", "p", "b"), fact(t, "a", "p", "c")}))
			must(over(t, early, a).Facts().Learn(t.Context(), tenant, []knowledge.Act{fact(t, "a", "p", "c"), surer}))
			s := &turningFacts{turning{swapped: swapped{Store: late}, next: early, at: question}}
			got, want := ask(over(t, s, a)), ask(over(t, early, a))
			if s.at > 0 {
				if question < 2 {
					t.Errorf("%s put no question", what)
				}
				break
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, question %d: got %+v, want %+v", what, question, got, want)
			}
		}
	}
}

// A turningFacts changes servers after a certain question about facts: the answer to that
// one is of the server that went.
type turningFacts struct{ turning }

func behind[T any](s *turningFacts, v T, err error) (T, error) {
	s.turn()
	return v, err
}

func (s *turningFacts) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	v, err := s.Store.Head(ctx, tenant)
	return behind(s, v, err)
}

func (s *turningFacts) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	v, err := s.Store.Terms(ctx, tenant, ranges)
	return behind(s, v, err)
}

func (s *turningFacts) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	v, err := s.Store.Entries(ctx, tenant, p)
	return behind(s, v, err)
}
