package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestBySession groups hits: sessions in the order of their best hits, ranks kept, and a question is told once for the hits in a row that follow it.
func TestBySession(t *testing.T) {
	a, b := dag.ConversationID{1}, dag.ConversationID{2}
	p, q := &Counterpart{Turn: dag.TurnID{101}}, &Counterpart{Turn: dag.TurnID{102}}
	found := Found{
		Sessions: []FoundSession{{Conversation: a, Title: "first"}, {Conversation: b, Begins: &Counterpart{Content: "second"}}},
		Hits: []Hit{
			{Turn: dag.TurnID{1}, Conversation: a, Role: "assistant", Question: p},
			{Turn: dag.TurnID{2}, Conversation: b, Role: "tool"},
			{Turn: dag.TurnID{3}, Conversation: a, Role: "tool", Question: p},
			{Turn: dag.TurnID{102}, Conversation: b, Role: "user", Answer: &Counterpart{}},
			{Turn: dag.TurnID{5}, Conversation: b, Role: "assistant", Question: q},
			{Turn: dag.TurnID{6}, Conversation: b, Role: "assistant"},
			{Turn: dag.TurnID{7}, Conversation: a, Role: "assistant", Question: q},
			{Turn: dag.TurnID{8}, Conversation: a, Role: "assistant", Question: p},
		},
	}
	told := func() string {
		var w strings.Builder
		for _, s := range found.BySession() {
			fmt.Fprintf(&w, "%s:", s.Name())
			for _, h := range s.Hits {
				fmt.Fprintf(&w, " %d=%d", h.Rank, h.Turn[0])
				if h.Asks {
					w.WriteString("?")
				}
			}
			w.WriteString("\n")
		}
		return w.String()
	}
	if got, want := told(), "first: 1=1? 3=3 7=7? 8=8?\nsecond: 2=2 4=102 5=5 6=6?\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	found.Sessions = nil
	if got, want := told(), ": 1=1 3=3 7=7 8=8\n: 2=2 4=102 5=5 6=6\n"; got != want {
		t.Errorf("without exchanges got\n%swant\n%s", got, want)
	}
}
