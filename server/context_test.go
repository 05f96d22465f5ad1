package server_test

import (
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// TestContextPrompt names the format of the prompt, which a bundle has inside. Of an answer that is the prompt it would say
// nothing, and is refused.
func TestContextPrompt(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 3)
	key := s.keys[tenantA][access.Agent]
	ask := func(format, prompt string) question {
		return question{op: "assembleContext", key: key, body: api.ContextRequest{Task: "turn", Anchor: turnID(3), Format: format, Prompt: prompt}}
	}
	for _, format := range []string{"", "markdown", "xml", "json"} {
		p := s.refused(400, "invalid_request", ask(format, "xml"))
		if !strings.Contains(p.Detail, "prompt is xml, which is of the evidence") {
			t.Errorf("format %q: %s", format, p.Detail)
		}
	}
	s.refused(400, "invalid_request", ask("bundle", "html"))
	s.refused(400, "invalid_request", ask("bundle", "bundle"))
	for prompt, want := range map[string]contexts.Format{"": contexts.Markdown, "xml": contexts.XML} {
		b, err := contexts.Parse(s.expect(200, ask("bundle", prompt)).body)
		if err != nil {
			t.Fatal(err)
		}
		if b.Request.Format != want {
			t.Errorf("prompt %q: the evidence is of a prompt in %s", prompt, b.Request.Format)
		}
	}
	s.expect(200, ask("xml", ""))
}
