package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A codexAsker says who asks in a session of Codex CLI, as its session_meta tells. The zero value is a person.
type codexAsker struct {
	author  string // the agent that does; "": a person, or the program
	program bool   // Codex CLI does, for a purpose of its own
}

// codexAskerOf reads the source of a session: {"subagent":{"thread_spawn":…}} if another agent started it, another
// sub-agent ("review", {"other":"guardian"} …) or {"internal":…} if the program did, "mcp" if an agent calls Codex CLI as a tool.
func codexAskerOf(meta *canon.Value) codexAsker {
	source := meta.Get("source")
	if source != nil && source.Kind == canon.Object {
		switch sub := source.Get("subagent"); {
		case sub != nil && object(sub, "thread_spawn") != nil:
			return codexAsker{author: authorCodex}
		case sub != nil || source.Get("internal") != nil:
			return codexAsker{program: true}
		}
	}
	switch {
	case text(meta, "source") == "mcp":
		return codexAsker{author: "agent:mcp"}
	case text(meta, "thread_source") == "subagent" && text(meta, "parent_thread_id") != "":
		return codexAsker{author: authorCodex}
	case text(meta, "thread_source") == "subagent" || text(meta, "thread_source") == "memory_consolidation":
		return codexAsker{program: true}
	}
	return codexAsker{}
}

// askerOf says who asks in a record. What a fork repeats of its origin is older than the fork, and was asked there.
func (s *codexSession) askerOf(rec jsonRecord) codexAsker {
	at, err := dag.ReadTime(text(rec.value, "timestamp"))
	if s.origin != nil && err == nil && at < s.began {
		return *s.origin
	}
	return s.asker
}

// codexHarness begins what Codex CLI itself writes into the messages of a user. Such a text takes a person's voice
// away, and none makes a person of anybody.
var codexHarness = []string{
	"<environment_context>", "<user_instructions>", "<permissions instructions>", "<collaboration_mode>", "<skills_instructions>",
	"<apps_instructions>", "<plugins_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<skill>", "<turn_aborted>", "<subagent_notification>",
	"<user_shell_command>", "<user_action>", "<hook_prompt",
}

// What the extension of an editor writes into a prompt: the files and the selection, and then what a person typed.
const (
	codexEditor  = "# Context from my IDE setup:"
	codexRequest = "## My request for Codex:"
)

// asked reads a user's message. What Codex CLI or an editor wrote into it is a turn of its own.
func (t *codexTurn) asked(body *canon.Value, asker codexAsker) {
	list := []canon.Value{*body}
	if body.Kind == canon.Array {
		list = body.Items
	}
	var program, said []canon.Value
	for _, p := range list {
		switch before, after := codexDivided(&p); {
		case before == "":
			said = append(said, p)
		case after == "":
			program = append(program, p)
		default:
			program, said = append(program, canon.Value{Kind: canon.String, Text: before}), append(said, canon.Value{Kind: canon.String, Text: after})
		}
	}
	t.draft.Role, t.draft.Author, t.prompt = dag.RoleUser, authorHuman, true
	switch {
	case asker.program || len(said) == 0 && len(program) > 0:
		t.partsOf(list)
		t.harness()
		return
	case asker.author != "":
		t.draft.Author = asker.author
	}
	t.partsOf(said)
	if len(program) > 0 {
		t.before = &codexTurn{}
		t.before.partsOf(program)
		t.before.harness()
	}
}

// codexDivided divides a part of a user's message into what the program wrote and what follows that. A selection may hold
// the heading of the request, so the last one counts.
func codexDivided(p *canon.Value) (program, said string) {
	whole := blockText(p)
	switch trimmed := strings.TrimSpace(whole); {
	case hasAnyPrefix(trimmed, codexHarness):
		return whole, ""
	case strings.HasPrefix(trimmed, codexEditor):
		i := strings.LastIndex(whole, "\n"+codexRequest)
		if i < 0 {
			return whole, ""
		}
		return strings.TrimSpace(whole[:i]), strings.TrimSpace(whole[i+1+len(codexRequest):])
	}
	return "", whole
}

// partsOf adds the parts of a message.
func (t *codexTurn) partsOf(list []canon.Value) {
	for i := range list {
		if p := &list[i]; p.Kind == canon.String {
			addPlain(&t.content, p.Text)
		} else {
			t.part(p)
		}
	}
}
