package kernel

import (
	"context"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// TestNamesAfterErasure lets another kernel on the same store erase the turn that a fact rests on: a context that is assembled next, as of a number before that, finds no name of that fact,
// though its kernel has the fact in its cache.
func TestNamesAfterErasure(t *testing.T) {
	ctx := t.Context()
	other, turn := markedByText(t)
	k, err := Open(other.engine.config)
	if err != nil {
		t.Fatal(err)
	}
	fact, err := knowledge.NewFact("ada", "knows", "babbage", "user")
	if err != nil {
		t.Fatal(err)
	}
	fact.Turn = turn
	if _, err := k.Facts().Learn(ctx, dag.DefaultTenant, []knowledge.Act{{Kind: knowledge.Assert, Fact: fact}}); err != nil {
		t.Fatal(err)
	}
	known, err := k.Turns().Head(ctx, dag.DefaultTenant)
	if err != nil {
		t.Fatal(err)
	}
	names := func(ctx context.Context) []string {
		e := assemblerEpoch{k.current()}
		at, _, err := e.AsOf(ctx, dag.DefaultTenant, known)
		if err != nil {
			t.Fatal(err)
		}
		list, err := e.Names(ctx, dag.DefaultTenant, "whom does ada know", at)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got := names(ctx); !slices.Equal(got, []string{"ada"}) {
		t.Fatalf("before the erasure the names are %q", got)
	}
	if _, err := other.Turns().Erase(ctx, dag.DefaultTenant, turn, "asked to"); err != nil {
		t.Fatal(err)
	}
	if got := names(ctx); len(got) > 0 {
		t.Errorf("after the erasure the names are %q", got)
	}
}
