package ingest

import (
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestAssignRules4 has questions of a person that ask for something to be done, and questions that ask for an answer.
func TestAssignRules4(t *testing.T) {
	for phase, prompts := range map[dag.Phase]string{
		dag.Planning: `can you sort the branches by date?
Could you please translate the README to French?
would you mind the gap and widen the margin?
ok, can you maybe also bump the version?
The list is long. Can you paginate it?
and will you deploy it to staging?
can you help me migrate the table?
can you rename it?
how can you rename it?`,
		dag.Exploration: `can you explain how the sorting works?
could you please tell me which branch is newest?
can you check whether it is sorted?
would you look at the branches?
how could you sort the branches?
what can you see?
can you?
which of them can you sort?
did the agent that could you sort it know that?
canyou sort it?
is it sorted by date?`,
	} {
		for prompt := range strings.Lines(prompts) {
			d := dag.Draft{Role: dag.RoleUser, Author: "human:user", Content: strings.TrimSpace(prompt)}
			if err := Assign(&d); err != nil {
				t.Fatal(err)
			}
			if d.Phase != phase || d.Salience != 720_000 || d.Attrs[AttrPhaseBy] != Rules4 || d.Attrs[AttrSalienceBy] != Rules4 {
				t.Errorf("%q: %s, %s, %v, want %s", d.Content, d.Phase, d.Salience, d.Attrs, phase)
			}
		}
	}
}

// TestRules4FollowRules3 holds that the two differ in nothing but a person's questions that ask for something to be done.
func TestRules4FollowRules3(t *testing.T) {
	same, other := 0, 0
	fixedCases3(func(d dag.Draft) {
		four, three := traitsOf(&d, (*traits).speaks, asksToAct), traitsOf(&d, (*traits).speaks, requests)
		if four.phase() == three.phase() && four.salience() == three.salience() {
			same++
			return
		}
		if other++; four.by != byPerson || four.phase() != dag.Planning || four.salience() != three.salience() || !asksToAct(four.said) || requests(four.said) {
			t.Fatalf("%+v: %s %s, by rules/3 %s %s", d, four.phase(), four.salience(), three.phase(), three.salience())
		}
	})
	if same < 300_000 {
		t.Errorf("only %d cases are the same, %d are not", same, other)
	}
}
