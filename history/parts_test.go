package history_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// fixed is a change that plans the same entries whatever is known.
type fixed []history.Entry

func (fixed) Needs(*history.State) history.Needs { return history.Needs{} }

func (f fixed) Plan(*history.State) (*history.Plan, error) {
	return &history.Plan{Entries: append([]history.Entry(nil), f...)}, nil
}

// TestDecide numbers the parts of changes of all small sizes, and says of each entry as of which number its change is whole and what there was before it. Those of
// another store keep their parts.
func TestDecide(t *testing.T) {
	for n := range 5 {
		var list fixed
		for i := range n {
			list = append(list, history.Entry{Seq: 10 + dag.Seq(i), Kind: "did/1", Public: []byte(fmt.Sprint(i))})
		}
		p, err := history.PlanOf(list, &history.State{Head: 9})
		if err != nil || len(p.Entries) != n || p.Check(9, 0) != nil {
			t.Fatalf("%d entries: %+v, %v", n, p, err)
		}
		for i := range p.Entries {
			e := &p.Entries[i]
			before := dag.Seq(9)
			if i == n-1 {
				before = e.Seq
			}
			if whole := dag.Seq(9 + n); e.Whole() != whole || e.AsOf() != before || (e.Parts == 0) != (n == 1) {
				t.Errorf("entry %d of %d: part %d of %d, whole as of %d, a view as of %d; want %d and %d", i+1, n, e.Part, e.Parts, e.Whole(), e.AsOf(), whole, before)
			}
			if i > 0 && !e.Continues(&p.Entries[i-1]) {
				t.Errorf("entry %d of %d does not continue the one before", i+1, n)
			}
		}
		if n < 2 {
			continue
		}
		there := append([]history.Entry(nil), p.Entries...)
		there[0].Part, there[0].Parts = 0, 0
		again, err := history.PlanOf(history.Exactly(list, history.Known, there), &history.State{Head: 9})
		if err != nil || again.Entries[0].Parts != 0 || !again.Entries[1].Same(&there[1]) {
			t.Errorf("adopted: %+v, %v, want %+v", again, err, there)
		}
		gap := append(fixed(nil), list...)
		gap[n-1].Seq++
		if p, err := history.PlanOf(gap, &history.State{Head: 9}); !errors.Is(err, dag.ErrForm) {
			t.Errorf("a change with a gap: %+v, %v", p, err)
		}
	}
	for _, of := range [][2]uint32{{1, 0}, {0, 2}, {1, 1}, {3, 2}, {9, 10}} {
		e := history.Entry{Seq: 4, Kind: "did/1", Public: []byte("x"), Part: of[0], Parts: of[1]}
		if err := e.Check(); !errors.Is(err, dag.ErrForm) {
			t.Errorf("part %d of %d of number 4: %v, want dag.ErrForm", of[0], of[1], err)
		}
	}
	record := &history.Plan{Records: []history.Entry{{Seq: 1, Kind: "did/1", Public: []byte("x"), Part: 1, Parts: 2}}}
	if err := record.Check(0, 0); !errors.Is(err, dag.ErrForm) {
		t.Errorf("a part of the record: %v", err)
	}
}
