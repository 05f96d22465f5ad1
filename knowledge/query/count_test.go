package query_test

import (
	"math/rand/v2"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// TestFactTotals compares totals, and lists that ask nothing of the facts, with the facts themselves as of every number.
func TestFactTotals(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := open(t, name)
			k := over(t, s, token.NewAuthority(ring(t, "k1")))
			r := rand.New(rand.NewPCG(5, 6))
			for n := range 120 {
				a := storetest.RandomAct(r)
				if n%30 == 29 { // names that are there become one
					list := must(k.Facts().List(ctx, tenant, api.FactQuery{})).Facts
					a = knowledge.Act{Kind: knowledge.Alias, Rule: normalize.Newest, Alias: list[0].Subject, Canonical: list[len(list)-1].Object}
				}
				a.Fact.Turn, a.Fact.Slice = dag.TurnID{}, ""
				_, _ = storetest.Facts(s).Learn(ctx, tenant, []knowledge.Act{a}, 1) // some are refused
			}
			most, joined := 0, 0
			head := must(s.Head(ctx, tenant))
			for asOf := dag.Seq(1); asOf <= head; asOf++ {
				total := must(k.Facts().Totals(ctx, tenant, asOf))
				names, stored := map[string]bool{}, map[string]bool{}
				page := must(k.Facts().List(ctx, tenant, api.FactQuery{View: api.View{AsOf: asOf}, Paging: api.Paging{Limit: query.MaxFacts}}))
				for _, f := range page.Facts {
					names[f.Subject], names[f.Object] = true, true
					stored[f.Stated().Subject], stored[f.Stated().Object] = true, true
				}
				if total.Facts != len(page.Facts) || page.Total != len(page.Facts) || total.Entities != len(names) {
					t.Fatalf("as of %d: %+v, and listed are %d facts about %d names", asOf, total, len(page.Facts), len(names))
				}
				if len(names) < len(stored) {
					joined++
				}
				for _, least := range []dag.PPM{1, dag.One / 2, dag.One} {
					sure := 0
					for _, f := range page.Facts {
						if f.Confidence >= least {
							sure++
						}
					}
					if got := must(k.Facts().List(ctx, tenant, api.FactQuery{FactFilter: api.FactFilter{MinConfidence: least}, View: api.View{AsOf: asOf}, Paging: api.Paging{Limit: 1}})).Total; got != sure {
						t.Fatalf("as of %d: %d facts with a confidence of %s, want %d", asOf, got, least, sure)
					}
				}
				most = max(most, total.Facts)
			}
			if most < 20 || joined == 0 {
				t.Errorf("at most %d facts, and aliases joined names %d times: too few to say anything", most, joined)
			}
		})
	}
}
