package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// TestBrief reads the brief as a resource and as a prompt: it has the rules of people and not what the agent proposes, and roles that may not recall have none.
func TestBrief(t *testing.T) {
	k := testKernel(t)
	s := New(k, Options{})
	c := over(t, s, identity(access.Agent))
	read := func() (text string) {
		t.Helper()
		r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "brief://project"})
		if err != nil || len(r.Contents) != 1 || r.Contents[0].MIMEType != "text/markdown" {
			t.Fatalf("%+v, %v", r, err)
		}
		p, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "brief"})
		if err != nil || len(p.Messages) != 1 || p.Messages[0].Role != "user" {
			t.Fatalf("%+v, %v", p, err)
		}
		if said := p.Messages[0].Content.(*sdk.TextContent).Text; said != r.Contents[0].Text {
			t.Errorf("the resource and the prompt differ:\n%s\n%s", r.Contents[0].Text, said)
		}
		return r.Contents[0].Text
	}
	if text := read(); text != unknown {
		t.Errorf("of nothing: %s", text)
	}
	if _, err := k.Beliefs().Remember(t.Context(), dag.DefaultTenant, api.NewMemory{Text: "Deploys happen on Tuesdays only.", Kind: "hard_rule"}); err != nil {
		t.Fatal(err)
	}
	must(t, c, "remember", map[string]any{"text": "The lamp is red."})
	if text := read(); !strings.Contains(text, "- owner: Deploys happen on Tuesdays only.\n") || strings.Contains(text, "lamp") {
		t.Errorf("%s", text)
	}
	list, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	verifier := over(t, s, identity(access.Verifier))
	if _, err := verifier.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "brief://project"}); err == nil {
		t.Error("a verifier reads the brief")
	}
	if _, err := verifier.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "brief"}); err == nil {
		t.Error("a verifier gets the brief")
	}
}
