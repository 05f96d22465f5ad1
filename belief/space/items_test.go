package space_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
)

// TestItemsNow compares the list of items, as of every number of a random history, with each item resolved by itself.
func TestItemsNow(t *testing.T) {
	k, s, _ := ruledBeliefs(t)
	ctx, r := t.Context(), rand.New(rand.NewPCG(34, 1))
	deprecated, none := 0, 0
	for n := range 60 {
		item := belief.Item(fmt.Sprintf("kref://acme/desk/i%d.fact", r.IntN(6)))
		in := asking(journal.Revise, "Pump", "is", fmt.Sprint("Loud ", r.IntN(9)))
		in.Item, in.Tags = item, []string{"currently"}
		switch act := (journal.Act{Item: item, Reason: fmt.Sprint(n)}); r.IntN(4) {
		case 0:
			act.Deprecates = true
			_, _ = k.Beliefs().Act(ctx, tenant, act)
		case 1:
			_, _ = k.Beliefs().Act(ctx, tenant, act)
		case 2:
			contract := asking(journal.Contract, "Pump", "is", fmt.Sprint("Loud ", r.IntN(9)))
			must(k.Beliefs().Operate(ctx, tenant, contract))
		default:
			_, _ = k.Beliefs().Operate(ctx, tenant, in) // refused while it is deprecated
		}
	}
	head := must(s.Head(ctx, tenant))
	for asOf := dag.Seq(2); asOf <= head; asOf++ {
		for _, now := range must(k.Beliefs().ItemsNow(ctx, tenant, beliefSpace, "", 1000, asOf)) {
			kref := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: now.Item, Seq: asOf}))
			if now.Deprecated != kref.Record.Deprecated || (now.Current == nil) != (kref.Revision == nil) || now.Current != nil && (now.Current.Number != kref.Revision.Number || len(now.Current.Wording) == 0) {
				t.Fatalf("as of %d: %+v, resolved %+v", asOf, now, kref)
			}
			if now.Deprecated {
				deprecated++
			}
			if now.Current == nil {
				none++
			}
		}
	}
	if deprecated == 0 || none == 0 {
		t.Fatalf("%d deprecated items, and %d of which nothing is believed", deprecated, none)
	}
}
