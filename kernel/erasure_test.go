package kernel_test

import (
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
)

// TestErasure reads the record of each turn's erasure, of a turn that keeps its text, and of none that is there.
func TestErasure(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 4)
		for i, reason := range []string{"first", "second"} {
			must(k.Turns().Erase(t.Context(), tenant, ids[2-i], reason))
		}
		for i, want := range []string{"", "second", "first", ""} {
			e, err := k.Turns().Erasure(t.Context(), tenant, ids[i])
			if err != nil || (e != nil) != (want != "") || e != nil && (e.Reason != want || e.Turn != ids[i]) {
				t.Errorf("turn %d: %+v, %v; want %q", i, e, err, want)
			}
		}
		if _, err := k.Turns().Erasure(t.Context(), tenant, dag.ExternalTurnID("erasure", "none")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of no turn: %v", err)
		}
	})
}
