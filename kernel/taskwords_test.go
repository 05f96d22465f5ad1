package kernel_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/token"
)

// TestTaskWords erases turns whose words are in tasks of contexts that did not show them: because the task was told before it was a turn, holds the turn or is a
// part of it, or was made of the turn's beginning. Other tasks stay. Afterwards no file of the store has the words, and each record replays as erased.
func TestTaskWords(t *testing.T) {
	for name, open := range readableStores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := open(t)
			k := over(t, s, token.NewAuthority(ring(t, "k1")))
			talk(t, k, "about orders")
			to := issued.Recipient{Agent: "a", Session: "s", Event: "UserPromptSubmit"}
			ask := func(task string, of ...dag.TurnID) *assemble.Issued {
				return must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: task, Recipient: &to, TaskOf: of}))
			}
			say := func(n int, text string) dag.TurnID {
				d := dag.Draft{ID: dag.ExternalTurnID("words", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("words", "c"), Role: dag.RoleUser, Author: "human:user", Content: text, CreatedAt: dag.Time(n)}
				must(k.Turns().Admit(ctx, tenant, []dag.Draft{d}))
				return d.ID
			}
			const long = "Rotate the quetzalcoatl credentials of the Orders table now"
			whole, around, part, other := ask("  rotate THE quetzalcoatl\ncredentials of the orders table now "), ask("first: "+long+", then rest"), ask("the quetzalcoatl credentials"), ask("why was the orders table deleted")
			short, shorter := ask("popocatepetl"), ask("popocatepetl and more")
			turn, brief := say(1, long), say(2, "Popocatepetl")
			began := ask("xylophones", turn)
			late := ask(long)

			gone := must(k.Turns().Erase(ctx, tenant, turn, "asked for"))
			want := []slice.SliceID{whole.Record.Provenance.SliceID, around.Record.Provenance.SliceID, part.Record.Provenance.SliceID, late.Record.Provenance.SliceID}
			slices.Sort(want)
			slices.Sort(gone.Tasks)
			if !slices.Equal(gone.Tasks, want) {
				t.Errorf("the tasks of %v went, want %v", gone.Tasks, want)
			}
			if gone := must(k.Turns().Erase(ctx, tenant, brief, "asked for")); !slices.Equal(gone.Tasks, []slice.SliceID{short.Record.Provenance.SliceID}) {
				t.Errorf("the tasks of %v went, want that of %s alone", gone.Tasks, short.Record.Provenance.SliceID)
			}
			for _, c := range []*assemble.Issued{whole, around, part, late, short, began, other, shorter} {
				kept := c == other || c == shorter
				r := must(k.Slices().Issued(ctx, tenant, c.Record.Provenance.SliceID))[0]
				if (r.Question != "") != kept {
					t.Errorf("task %q: on record %q", c.Context.Request.Task, r.Question)
				}
				replay := must(k.Slices().ReplayIssued(ctx, tenant, r.Provenance.SliceID))
				if replay.Outcome != kernel.Erased && !kept || kept && replay.Outcome != kernel.Identical && replay.Outcome != kernel.Erased {
					t.Errorf("task %q: replay %s, %s", c.Context.Request.Task, replay.Outcome, replay.Reason)
				}
			}
			files := s.Read()
			if !holds(files, "why was the orders table deleted") {
				t.Fatal("this test finds nothing")
			}
			for _, word := range []string{"quetzalcoatl", "xylophones"} {
				if holds(files, word) {
					t.Errorf("a file has %q", word)
				}
			}
		})
	}
}
