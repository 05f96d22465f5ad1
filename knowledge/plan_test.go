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
		for i := range acts {
			acts[i].Salt = dag.Salt{byte(r.IntN(256)), byte(i)}
		}
		p, err := knowledge.Prepare(acts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range acts {
			id, about := acts[i].About()
			gotID, gotAbout := p.About(i)
			if public, content := p.Digested(i); !bytes.Equal(public, acts[i].AppendPublic(nil)) || content != acts[i].Content() || gotAbout != about || about && gotID != id {
				t.Fatalf("act %d of %d: %s with the content %s about %v, want %s with %s about %v", i, n, public, content, gotID, acts[i].AppendPublic(nil), acts[i].Content(), id)
			}
		}
		planned, err := p.Plan(knowledge.Known{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range planned.Recorded {
			r := &planned.Recorded[i]
			if r.Act.Content() != acts[planned.Which[i]].Content() {
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
