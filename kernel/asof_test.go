package kernel_test

import (
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/token"
)

// TestInsideOfAChange asks for what is believed as of each number of an operation that takes several: it is what was believed before it, until all of
// it is.
func TestInsideOfAChange(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			k := over(t, open(t, name), token.NewAuthority(ring(t, "k1")))
			believing(t, k, "port")
			var ends []dag.Seq
			revise := func(statements ...belief.Literal) {
				t.Helper()
				in := asking(journal.Revise, "", "", "")
				in.Statements = statements
				o := must(k.Beliefs().Operate(t.Context(), tenant, in))
				if head := must(k.Turns().Head(t.Context(), tenant)); o.Seq != head {
					t.Errorf("the answer says %d, and the head is %d", o.Seq, head)
				}
				ends = append(ends, o.Seq)
			}
			port := func(of, is string) belief.Literal {
				return belief.Literal{Subject: of, Predicate: "port", Object: is}
			}
			revise(port("api", "b"))
			revise(port("db", "b"))
			revise(port("api", "c"), port("db", "c"))
			if ends[2]-ends[1] < 4 {
				t.Fatalf("the changes end at %d: this test shows less than it should", ends)
			}
			for n := ends[1]; n <= ends[2]; n++ {
				want, at := []string{"api port b", "db port b"}, ends[1]
				if n == ends[2] {
					want, at = []string{"api port c", "db port c"}, ends[2]
				}
				if got := stated(t, k, n); !slices.Equal(got, want) {
					t.Errorf("as of %d: %q, want %q", n, got, want)
				}
				if b := must(k.Beliefs().Held(t.Context(), tenant, beliefSpace, n, nil)); b.AsOf != at {
					t.Errorf("as of %d: the answer is of %d, want %d", n, b.AsOf, at)
				}
			}
		})
	}
}
