package knowledge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// TestActError refuses the last of several acts, when they are prepared, planned, and read from
// a history that is longer than what is prepared at once.
func TestActError(t *testing.T) {
	act := func(n int) knowledge.Act {
		f, err := knowledge.NewFact("a", "p", fmt.Sprint(n), "user")
		if err != nil {
			t.Fatal(err)
		}
		return knowledge.Act{Kind: knowledge.Assert, Fact: f}
	}
	bad := knowledge.Act{Kind: "other"}
	unfounded := act(3)
	unfounded.Supersedes = []knowledge.ID{{1}}
	history := make([]knowledge.Recorded, knowledge.MaxBatch+2)
	for i := range history {
		history[i] = knowledge.Recorded{Seq: dag.Seq(i + 1), Act: act(i)}
		history[i].Leaf = history[i].Act.Leaf()
	}
	history[len(history)-1].Act = bad
	for what, tc := range map[string]struct {
		do    func() error
		index int
		of    int
		is    error
	}{
		"prepared": {func() error { _, err := knowledge.Prepare([]knowledge.Act{act(1), act(2), bad}); return err }, 2, 3, knowledge.ErrForm},
		"planned": {func() error {
			p, err := knowledge.Prepare([]knowledge.Act{act(1), act(2), unfounded})
			if err == nil {
				_, err = p.Plan(knowledge.Known{}, 1)
			}
			return err
		}, 2, 3, knowledge.ErrNotBelieved},
		"history": {func() error { _, err := knowledge.PrepareHistory(history); return err }, knowledge.MaxBatch + 1, knowledge.MaxBatch + 2, dag.ErrForm},
	} {
		err := tc.do()
		var which *knowledge.ActError
		if !errors.As(err, &which) || which.Index != tc.index || which.Of != tc.of || !errors.Is(err, tc.is) {
			t.Errorf("%s: %v", what, err)
		} else if text := fmt.Sprintf("act %d of %d: %v", tc.index+1, tc.of, which.Err); !strings.HasSuffix(err.Error(), text) || which.Where()+": "+which.Err.Error() != text {
			t.Errorf("%s: %q, want %q at the end", what, err, text)
		}
	}
}
