package knowledge_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// TestPrepareMany prepares as many acts as make several portions, of all kinds and lengths. What
// it computes of each is what the act itself gives, and of several that are refused the first
// is told.
func TestPrepareMany(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 511, 512, 513, 3000} {
		acts := make([]knowledge.Act, n)
		for i := range acts {
			f, err := knowledge.NewFact(fmt.Sprint("s", i), "p", strings.Repeat("long ", r.IntN(60))+"object", "user")
			if err != nil {
				t.Fatal(err)
			}
			switch acts[i] = (knowledge.Act{Kind: knowledge.Assert, Fact: f}); r.IntN(4) {
			case 0:
				acts[i] = knowledge.Act{Kind: knowledge.Retract, Statement: f.ID(), Reason: strings.Repeat("because ", r.IntN(100))}
			case 1:
				acts[i] = knowledge.Act{Kind: knowledge.Alias, Alias: fmt.Sprint("a", i), Canonical: "s"}
			}
		}
		p, err := knowledge.Prepare(acts)
		if err != nil {
			t.Fatal(err)
		}
		asserted := map[knowledge.ID]dag.Digest{}
		p.Asserted(func(id knowledge.ID, leaf dag.Digest) bool { asserted[id] = leaf; return true })
		for i := range acts {
			id, about := acts[i].About()
			gotID, gotAbout := p.About(i)
			if !bytes.Equal(p.Text(i), acts[i].Append(nil)) || gotAbout != about || about && gotID != id {
				t.Fatalf("act %d of %d: %s about %v, want %s about %v", i, n, p.Text(i), gotID, acts[i].Append(nil), id)
			}
			if acts[i].Kind == knowledge.Assert && asserted[id] != acts[i].Leaf() {
				t.Fatalf("act %d of %d: another leaf", i, n)
			}
		}
		planned, err := p.Plan(knowledge.Known{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range planned.Recorded {
			r := &planned.Recorded[i]
			want, began := r.Version()
			if got, ok := p.Version(planned.Which[i], r); ok != began || got != want {
				t.Fatalf("the version of %d: %+v, %v, want %+v, %v", i, got, ok, want, began)
			}
			if r.Leaf != acts[planned.Which[i]].Leaf() {
				t.Fatalf("number %d is said to be act %d", r.Seq, planned.Which[i])
			}
		}
		first := r.IntN(n)
		for _, bad := range []int{n - 1, first + r.IntN(n-first), first} {
			acts[bad] = knowledge.Act{Kind: "other"}
		}
		var which *knowledge.ActError
		if _, err := knowledge.Prepare(acts); !errors.As(err, &which) || which.Index != first || which.Of != n {
			t.Errorf("of several that are refused %v is told, want act %d of %d", err, first, n)
		}
	}
}
