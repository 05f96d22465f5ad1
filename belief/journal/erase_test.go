package journal_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/belief"
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

// A spoiledAt erasure reads one entry whose private half was damaged.
type spoiledAt struct {
	*journal.Erasure
	seq dag.Seq
}

func (c spoiledAt) spoil(k *history.State) *history.State {
	if e, ok := k.Entries[c.seq]; ok {
		e.Private = e.Private[:len(e.Private)/2]
		k.Entries[c.seq] = e
	}
	return k
}

func (c spoiledAt) Needs(k *history.State) history.Needs         { return c.Erasure.Needs(c.spoil(k)) }
func (c spoiledAt) Plan(k *history.State) (*history.Plan, error) { return c.Erasure.Plan(c.spoil(k)) }

// TestErasureBesideDamaged erases a turn on which an earlier revision of an item rests and whose current revision, of another turn, is damaged: the earlier
// text goes, and the current revision stays as it is.
func TestErasureBesideDamaged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, err := d.store.Append(t.Context(), tenant, []store.Batch{storetest.Chain(1, 2, 0)}); err != nil {
		t.Fatal(err)
	}
	var numbers []dag.Seq
	var item belief.Item
	for i := range 2 {
		r := d.request(journal.Revise, literal(0, 0, false), literal(1, i, false))
		r.Item, r.Turns = item, []dag.TurnID{storetest.TurnID(i + 1)}
		item = d.do(r).Item
		revisions := d.item(item).Revisions
		numbers = append(numbers, revisions[len(revisions)-1].Seq)
	}
	private := func(seq dag.Seq) int {
		t.Helper()
		entries, err := d.store.Entries(t.Context(), tenant, history.Page{At: []dag.Seq{seq}})
		if err != nil || len(entries) != 1 {
			t.Fatalf("%+v, %v", entries, err)
		}
		return len(entries[0].Private)
	}
	if numbers[0] == numbers[1] || private(numbers[0]) == 0 || private(numbers[1]) == 0 {
		t.Fatalf("the revisions are %v", numbers)
	}
	if err := d.store.Write(t.Context(), tenant, spoiledAt{&journal.Erasure{Turn: storetest.TurnID(1), At: 9}, numbers[1]}); err != nil {
		t.Fatal(err)
	}
	if left := private(numbers[0]); left != 0 {
		t.Errorf("%d bytes are left of the earlier revision", left)
	}
	if private(numbers[1]) == 0 {
		t.Error("the text of another turn is gone")
	}
}
