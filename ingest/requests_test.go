package ingest

import (
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestRequests has questions of a person that ask for something to be done, and questions that ask for an answer.
func TestRequests(t *testing.T) {
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
			if d.Phase != phase || d.Salience != 720_000 || d.Attrs[AttrPhaseBy] != Rules || d.Attrs[AttrSalienceBy] != Rules {
				t.Errorf("%q: %s, %s, %v, want %s", d.Content, d.Phase, d.Salience, d.Attrs, phase)
			}
		}
	}
}
