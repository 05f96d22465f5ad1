package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
)

// believed fills a space of beliefs, and returns arguments for the tools that ask about it.
func believed(t *testing.T, k *kernel.Kernel) map[string]map[string]any {
	t.Helper()
	if _, err := k.Beliefs().SetSpace(t.Context(), dag.DefaultTenant, api.NewSpace{Space: "acme/s"}); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		said := belief.Literal{Subject: fmt.Sprint("thing ", i), Predicate: "is", Object: "there"}
		if _, err := k.Beliefs().Revise(t.Context(), dag.DefaultTenant, api.BeliefRequest{Space: "acme/s", Item: belief.Item(fmt.Sprintf("kref://acme/s/thing-%d.fact", i)), Statements: []belief.Literal{said}}); err != nil {
			t.Fatal(err)
		}
	}
	proposed, err := k.Beliefs().Remember(access.As(t.Context(), identity(access.Agent)), dag.DefaultTenant, api.NewMemory{Text: "The old pump is loud."})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]map[string]any{
		"propose_belief": {"space": "acme/s", "statements": []any{map[string]any{"subject": "a", "predicate": "is", "object": "b"}}},
		"keep_in_mind":   {"session": "run-1", "messages": []any{map[string]any{"role": "user", "author": "human:ada", "content": "a thing", "key": "k"}}},
		"in_mind":        {"session": "run-1"},
		"base":           {"space": "acme/s"}, "impact": {"ref": "kref://acme/s/thing-1.fact"},
		"explain_belief": {"space": "acme/s", "subject": "thing 1", "predicate": "is", "object": "there"},
		"remember":       {"text": "Deploys happen on Tuesdays only."}, "recall_memories": {}, "forget": {"id": proposed.ID, "reason": "over"}, "why": {"id": "thing-1"},
	}
}

// TestMemoryFaults tells an agent what was wrong with its arguments.
func TestMemoryFaults(t *testing.T) {
	t.Parallel()
	k := testKernel(t)
	c := over(t, New(k, Options{Project: "projects/p1"}), identity(access.Agent))
	for tool, in := range map[string]map[string]any{"why": {}, "forget": {"id": "zzz"}, "remember": {"text": " "}, "recall_memories": {"kind": "ruel"}} {
		if _, err := call(t, c, tool, in); err == nil || strings.Contains(err.Error(), "internal") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	must(t, c, "remember", map[string]any{"text": "The pump is loud."})
	if _, err := k.Beliefs().Remember(t.Context(), dag.DefaultTenant, api.NewMemory{Text: "The pump is elsewhere.", Project: "projects/p2"}); err != nil {
		t.Fatal(err)
	}
	if text, _ := must(t, c, "recall_memories", map[string]any{"words": "pump"}); !strings.Contains(text, `"project":"projects/p1"`) || strings.Contains(text, "elsewhere") {
		t.Error(text)
	}
}

// TestProposeBelief proposes, and asks what came of it.
func TestProposeBelief(t *testing.T) {
	t.Parallel()
	k := testKernel(t)
	c := over(t, New(k, Options{Tools: every(t)}), identity("agent"))
	arguments := believed(t, k)
	if _, r := must(t, c, "propose_belief", arguments["propose_belief"]); r["outcome"] != "changed" || r["revision"] != 1. {
		t.Errorf("%v", r)
	}
	arguments["propose_belief"]["statements"] = []any{map[string]any{"subject": "Thing 1", "predicate": "is", "object": "there", "not": true}}
	if _, r := must(t, c, "propose_belief", arguments["propose_belief"]); r["outcome"] != "refused" {
		t.Errorf("what a person said gave way to an agent: %v", r)
	}
	waits, _ := must(t, c, "propose_belief", arguments["propose_belief"])
	if again, r := must(t, c, "propose_belief", arguments["propose_belief"]); again != waits || r["repeated"] != true {
		t.Errorf("the same proposal once more: %v, %v", waits, again)
	}
	if _, r := must(t, c, "explain_belief", arguments["explain_belief"]); r["believed"] != true || len(r["support"].([]any)) != 1 {
		t.Errorf("%v", r)
	}
	if _, r := must(t, c, "base", map[string]any{"space": "acme/s", "subject": "thing 1"}); len(r["statements"].([]any)) != 1 {
		t.Errorf("%v", r)
	}
}
