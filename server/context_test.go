package server_test

import (
	"bytes"
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
		if !strings.Contains(p.Detail, "prompt is xml, which has a meaning only with format bundle") {
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

// TestContextExplained asks what became of turns in a context on record, and for its bytes, until a text that it showed is erased.
func TestContextExplained(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 3)
	made := s.expect(200, question{op: "assembleContext", key: s.admin(), body: api.ContextRequest{Task: "turn", Anchor: turnID(3), Format: "bundle"}})
	b, err := contexts.Parse(made.body)
	if err != nil || len(b.Turns) != 3 {
		t.Fatalf("%d turns, %v", len(b.Turns), err)
	}
	id := string(b.Provenance.SliceID)
	again := s.expect(200, question{op: "getBundle", key: s.keys[tenantA][access.Auditor], path: map[string]string{"slice_id": strings.ToUpper(id)}})
	if !bytes.Equal(again.body, made.body) || again.header.Get("ETag") != made.header.Get("ETag") || again.header.Get("Slice-Id") != id {
		t.Errorf("the bundle on record, announced as %s of %s, is not the one that was issued", again.header.Get("ETag"), again.header.Get("Slice-Id"))
	}
	explain := func(body map[string]string) question {
		return question{op: "explainContext", key: s.keys[tenantA][access.Auditor], path: map[string]string{"context_id": id}, body: body}
	}
	var why api.ContextExplanation
	s.expect(200, explain(map[string]string{"turn": turnID(1)})).decode(t, &why)
	if string(why.ContextID) != id || why.Turn != turnID(1) || why.Outcome != "chosen" || why.Rank == 0 || len(why.From) == 0 || len(why.Features) == 0 || !strings.Contains(why.Explanation, "was chosen as number") {
		t.Errorf("%+v", why)
	}
	why = api.ContextExplanation{}
	s.expect(200, explain(map[string]string{"fact": strings.Repeat("A", 64)})).decode(t, &why)
	if why.Outcome != "no_candidate" || why.Fact != strings.Repeat("a", 64) {
		t.Errorf("%+v", why)
	}
	s.refused(400, "invalid_request", explain(map[string]string{}))
	s.refused(400, "invalid_request", explain(map[string]string{"turn": turnID(1), "fact": strings.Repeat("a", 64)}))
	s.refused(404, "not_found", explain(map[string]string{"turn": turnID(40)}))
	cut := s.expect(200, question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(2)}})
	p := s.refused(404, "not_found", question{op: "explainContext", key: s.admin(), path: map[string]string{"context_id": cut.header.Get("Slice-Id")}, body: map[string]string{"turn": turnID(1)}})
	if !strings.Contains(p.Detail, "it is no context") {
		t.Errorf("a slice of turns: %s", p.Detail)
	}
	var other api.Context
	s.expect(200, question{op: "assembleContext", key: s.admin(), body: api.ContextRequest{Task: "a task to erase"}}).decode(t, &other)
	erase := question{op: "eraseTask", key: s.admin(), path: map[string]string{"slice_id": strings.ToUpper(string(other.ContextID))}, body: api.ErasureRequest{Reason: "asked to"}}
	var gone, anew api.TaskErased
	s.expect(200, erase).decode(t, &gone)
	s.expect(200, erase).decode(t, &anew)
	if gone.Context != other.ContextID || gone.Reason != "asked to" || gone.By == "" || anew != gone {
		t.Errorf("got %+v, and then %+v", gone, anew)
	}
	if p := s.refused(410, "erased", question{op: "getBundle", key: s.admin(), path: map[string]string{"slice_id": string(other.ContextID)}}); !strings.Contains(p.Detail, "its task was erased") {
		t.Errorf("made again: %s", p.Detail)
	}
	erase.body = nil
	s.refused(400, "invalid_request", erase)
	erase.body, erase.path = api.ErasureRequest{Reason: "x"}, map[string]string{"slice_id": cut.header.Get("Slice-Id")}
	s.refused(404, "not_found", erase)
	s.expect(200, question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(1)}, body: api.ErasureRequest{Reason: "asked to"}})
	s.refused(410, "erased", question{op: "getBundle", key: s.admin(), path: map[string]string{"slice_id": id}})
	s.refused(410, "erased", explain(map[string]string{"turn": turnID(2)}))
}
