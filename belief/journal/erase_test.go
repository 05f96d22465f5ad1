package journal_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// A spoiled erasure reads revisions whose private halves were damaged.
type spoiled struct{ *journal.Erasure }

func (c spoiled) spoil(k *history.State) *history.State {
	for seq, e := range k.Entries {
		e.Private = e.Private[:len(e.Private)/2]
		k.Entries[seq] = e
	}
	return k
}

func (c spoiled) Needs(k *history.State) history.Needs         { return c.Erasure.Needs(c.spoil(k)) }
func (c spoiled) Plan(k *history.State) (*history.Plan, error) { return c.Erasure.Plan(c.spoil(k)) }

// TestErasureOfDamaged erases one of two turns on which a revision rests whose entry is damaged: its text may be of that turn, so it goes.
func TestErasureOfDamaged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, err := d.store.Append(t.Context(), tenant, []store.Batch{storetest.Chain(1, 2, 0)}); err != nil {
		t.Fatal(err)
	}
	r := d.request(journal.Revise, literal(0, 0, false))
	r.Turns = []dag.TurnID{storetest.TurnID(1), storetest.TurnID(2)}
	made := d.do(r) // the revision, and a fact that asserts it
	private := func() []byte {
		t.Helper()
		entries, err := d.store.Entries(t.Context(), tenant, history.Page{At: []dag.Seq{made.Seq - 1}})
		if err != nil || len(entries) != 1 || entries[0].Kind != journal.KindRevision {
			t.Fatalf("%+v, %v", entries, err)
		}
		return entries[0].Private
	}
	if len(private()) == 0 {
		t.Fatal("the revision has no private half to begin with")
	}
	if err := d.store.Write(t.Context(), tenant, spoiled{&journal.Erasure{Turn: storetest.TurnID(1), At: 9}}); err != nil {
		t.Fatal(err)
	}
	if left := private(); left != nil {
		t.Errorf("%d bytes are left of the private half", len(left))
	}
}
