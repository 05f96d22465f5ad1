package mcp

import (
	"testing"

	"github.com/graphkernel/graphkernel/access"
)

// TestFind finds an answer with its question, and the question with its answer. An agent's key brings both, so the question is not in the name of a person for whom
// the key does not speak.
func TestFind(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{}), identity(access.Agent))
	question, reply := said(1, "Which port has the gateway?"), said(2, "The gateway listens on 8443.")
	question["author"], reply["author"], reply["role"] = "agent:caller", "agent:claude", "assistant"
	must(t, c, "admit_turns", map[string]any{"turns": []any{question, reply}})
	for query, want := range map[string][3]string{
		"which port": {"Which port has the gateway?", "answer", "The gateway listens on 8443."},
		"listens":    {"The gateway listens on 8443.", "question", "Which port has the gateway?"},
	} {
		_, found := must(t, c, "find", map[string]any{"query": query, "limit": 1})
		hit := found["hits"].([]any)[0].(map[string]any)
		other, _ := hit[want[1]].(map[string]any)
		if hit["content"] != want[0] || other["content"] != want[2] || other["standing"] != "agent" {
			t.Errorf("%s: the hit is %v, want one with the %s %q", query, hit, want[1], want[2])
		}
	}
}
