package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A codexAsker is the author of a session's user messages, according to its session_meta. The zero value is a person.
type codexAsker struct {
	author  string // the author if it is an agent; "": a person or Codex CLI
	program bool   // the author is Codex CLI
}

// codexAskerOf reads the source of a session. Another agent started {"subagent":{"thread_spawn":…}}; Codex CLI started the
// other sub-agents ("review", {"other":"guardian"} …) and {"internal":…}; an agent that calls Codex CLI as a tool started
// "mcp". A session with a parent, or with an agent's nickname or role, is a sub-agent's. A thread with an unknown source has an
// unknown asker.
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
	case text(meta, "thread_source") == "user":
		return codexAsker{}
	case text(meta, "parent_thread_id") != "" || text(meta, "agent_nickname") != "" || text(meta, "agent_role") != "":
		return codexAsker{author: authorCodex}
	case text(meta, "thread_source") == "subagent" || text(meta, "thread_source") == "memory_consolidation":
		return codexAsker{program: true}
	case text(meta, "thread_source") != "":
		return codexAsker{author: authorUnknown}
	}
	return codexAsker{}
}

// askerOf returns the asker of a record. A fork repeats records of its origin, which are older than the fork.
func (s *codexSession) askerOf(rec jsonRecord) codexAsker {
	at, err := dag.ReadTime(text(rec.value, "timestamp"))
	if s.origin != nil && err == nil && at < s.began {
		return *s.origin
	}
	if !s.named && rec.behindDamage {
		return codexAsker{author: authorUnknown}
	}
	return s.asker
}

// codexHarness begins the texts that Codex CLI itself writes into user messages. They exclude a person as author; no text makes
// a person the author.
var codexHarness = []string{
	"<environment_context>", "<user_instructions>", "<permissions instructions>", "<collaboration_mode>", "<skills_instructions>",
	"<apps_instructions>", "<plugins_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<skill>", "<turn_aborted>", "<subagent_notification>",
	"<user_shell_command>", "<user_action>", "<hook_prompt",
}

// An editor's extension adds its files and selection to a prompt, and ends them with a heading for the typed words.
const (
	codexEditor  = "# Context from my IDE setup:"
	codexRequest = "## My request for Codex:"
)

// asked reads a user's message. Text that Codex CLI or an editor added becomes a separate turn.
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
		t.injected = &codexTurn{}
		t.injected.partsOf(program)
		t.injected.harness()
	}
}

// codexDivided splits a part of a user's message into text of the program and words of the user. A selection may contain the
// heading of the request, so the last such heading counts.
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
