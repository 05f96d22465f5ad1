package journal_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
)

// TestKeyOfRefused: a proposal that was not taken is answered from the record too, and does not become another conflict.
func TestKeyOfRefused(t *testing.T) {
	d := newDesk(t)
	d.do(d.request(journal.Revise, literal(0, 0, false)))
	r := d.request(journal.Propose, literal(0, 1, false))
	r.Rank.Class, r.Key = belief.Inferred, dag.Digest{7}
	first, head := d.do(r), d.head()
	if first.Result != journal.Refused || first.Again {
		t.Fatalf("%+v", first)
	}
	if second := d.do(r); !second.Again || second.Result != journal.Refused || second.Seq != first.Seq || d.head() != head {
		t.Errorf("%+v, then %+v", first, second)
	}
	if list, err := d.Conflicts(t.Context(), tenant, space, d.head()); err != nil || len(list) != 1 || list[0].Key != r.Key {
		t.Errorf("%+v, %v", list, err)
	}
	d.fsck()
}
