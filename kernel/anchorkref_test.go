package kernel_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// TestResolveAddress names turns by the address of what rests on them: on one, on several, on one of several that still has its text, and on none.
func TestResolveAddress(t *testing.T) {
	ctx := t.Context()
	k := over(t, open(t, "sqlite"), token.NewAuthority(ring(t, "k1")))
	turns := chain(t, k, 3)
	believing(t, k, "feeds")
	item := belief.Item("kref://acme/desk/pump.fact")
	for i, of := range [][]dag.TurnID{{turns[1]}, {turns[0], turns[2]}, nil} {
		r := asking(journal.Revise, "pump", "feeds", []string{"tank", "well", "sink"}[i])
		r.Item, r.Turns = item, of
		must(k.Beliefs().Operate(ctx, tenant, r))
	}
	resolve := func(name string) (dag.TurnID, error) { return k.Turns().Resolve(ctx, tenant, name) }
	if got, err := resolve(string(item) + "?r=1"); err != nil || got != turns[1] {
		t.Errorf("revision 1: %s, %v, want %s", got, err, turns[1])
	}
	var several *kernel.AmbiguousError
	if got, err := resolve(string(item) + "?r=2"); !errors.As(err, &several) || !several.Rests {
		t.Errorf("revision 2, which rests on two turns: %s, %v", got, err)
	} else if want := []dag.TurnID{turns[0], turns[2]}; len(several.Fits) != 2 || !slices.Contains(several.Fits, want[0]) || !slices.Contains(several.Fits, want[1]) {
		t.Errorf("revision 2 rests on %s, want %s", several.Fits, want)
	}
	for name, want := range map[string]error{
		string(item):                       store.ErrNotFound,
		string(item) + "?r=4":              journal.ErrNoItem,
		string(item) + "?t=published":      journal.ErrNoItem,
		"kref://acme/desk/other.fact":      journal.ErrNoItem,
		string(item) + "?r=01":             belief.ErrForm,
		"kref://":                          belief.ErrForm,
		string(item) + "?r=1&seq=99999999": projection.ErrBeyondHead,
	} {
		if got, err := resolve(name); !errors.Is(err, want) {
			t.Errorf("%s: %s, %v, want %v", name, got, err, want)
		}
	}
	must(k.Turns().Erase(ctx, tenant, turns[0], "gone"))
	if got, err := resolve(string(item) + "?r=2"); err != nil || got != turns[2] {
		t.Errorf("revision 2 after the erasure of a turn: %s, %v, want %s", got, err, turns[2])
	}
}
