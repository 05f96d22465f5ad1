package ingest

import (
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// sourceCodex is the source of ids for Codex CLI's ids that are not UUIDs.
const sourceCodex = "codex"

const authorCodex = "agent:codex"

// A codexSession reads a rollout of Codex CLI, ~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl. Each line is
//
//	{"timestamp":RFC 3339,"type":TYPE,"payload":{…}}
//
// and lines are only appended. The forms are those of RolloutLine, RolloutItem, SessionMeta, TurnContextItem and CompactedItem
// in codex-rs/protocol/src/protocol.rs, and of ResponseItem, ContentItem and FunctionCallOutputPayload in
// codex-rs/protocol/src/models.rs of github.com/openai/codex; codex-rs/rollout/src/policy.rs decides which of them are written.
//
// A response_item is input or output of the model, so it is a turn. An event_msg repeats it for display, and is not a turn.
type codexSession struct {
	batches

	named   bool // the first session_meta was read
	session string
	about   counted // attributes of the session, set on every turn
	asker   codexAsker
	began   dag.Time    // when the first session_meta was written
	origin  *codexAsker // the asker of the session from which this one was forked; nil: unknown
	cwd     string
	model   string
	now     dag.Time

	newest  *dag.TurnID
	role    dag.Role // of newest
	prompt  *dag.TurnID
	prompts []*dag.TurnID // the turn before each prompt; nil: there was none
	calls   map[string]codexCall

	thread       *codexThread
	link         codexLink // to the session that this one continues
	followed     bool      // its own first turn was joined
	firstOrdinal int64     // the ordinal of the first line, if lines have none
}

// counted are attributes in a fixed order.
type counted []struct{ key, value string }

type codexCall struct {
	turn dag.TurnID
	tool string
}

// readCodex reads one rollout.
func readCodex(r *reading, path string) error {
	s := &codexSession{batches: newBatches(r, path, Codex), session: codexName(r.files.base(path)), calls: map[string]codexCall{}, thread: &codexThread{}}
	name := strings.ToLower(s.session)
	if _, known := r.threads[name]; !known {
		r.threads[name] = nil // while it is being read, no other session can continue it
	}
	if err := r.jsonRecords(path, s.record); err != nil {
		return err
	}
	for _, key := range [...]string{name, strings.ToLower(s.session)} {
		if r.threads[key] == nil {
			r.threads[key] = s.thread
		}
	}
	return s.hand()
}

// codexName returns the session id in the name of a rollout's file, or the name itself.
func codexName(base string) string {
	const uuid = 36
	base = strings.TrimSuffix(base, ".jsonl")
	if len(base) >= uuid {
		if _, err := dag.ParseConversationID(strings.ToLower(base[len(base)-uuid:])); err == nil {
			return base[len(base)-uuid:]
		}
	}
	return base
}

// record reads one line, which is already counted.
func (s *codexSession) record(rec jsonRecord) error {
	defer s.point(rec)
	payload := object(rec.value, "payload")
	if payload == nil {
		s.r.skip(skipMalformed)
		return nil
	}
	switch kind := text(rec.value, "type"); kind {
	case "response_item":
		return s.item(rec, payload)
	case "compacted":
		return s.compacted(rec, payload)
	case "inter_agent_communication": // the agent_message of older versions
		t := &codexTurn{draft: dag.Draft{Role: dag.RoleAssistant, Author: authorCodex}}
		t.agentMessage(payload)
		return s.said(rec, t, text(payload, "id"))
	case "session_meta":
		s.meta(rec, payload)
		s.r.skip("session_meta")
	case "turn_context":
		if cwd := text(payload, "cwd"); cwd != "" {
			s.cwd = strings.Clone(cwd)
		}
		if model := text(payload, "model"); model != "" {
			s.model = strings.Clone(model)
		}
		s.r.skip("turn_context")
	case "event_msg":
		if text(payload, "type") == "thread_rolled_back" {
			s.rollBack(scalar(payload, "num_turns"))
		}
		s.startedIn(payload)
		s.r.skip("event_msg")
	default:
		s.r.skip(skipUnknownType)
	}
	return nil
}

// meta reads the properties of a session from its first line. In a fork, the session_meta of earlier sessions follow.
func (s *codexSession) meta(rec jsonRecord, v *canon.Value) {
	if other := rec.behindDamage && text(v, "id") != s.session; s.named || other { // the session's own meta was lost; this one is of the session that it continues
		asker := codexAskerOf(v)
		s.origin = &asker
		return
	}
	s.named = true
	s.began, _ = dag.ReadTime(text(rec.value, "timestamp"))
	if id := text(v, "id"); id != "" {
		s.session = strings.Clone(id)
	}
	s.cwd = strings.Clone(text(v, "cwd"))
	s.asker = codexAskerOf(v)
	parent := text(v, "parent_thread_id")
	if spawn := object(object(object(v, "source"), "subagent"), "thread_spawn"); parent == "" && spawn != nil {
		parent = text(spawn, "parent_thread_id")
	}
	if s.link = codexLinkOf(v, parent); object(v, "history_base") != nil {
		s.firstOrdinal = max(s.link.end, 0)
	}
	for _, a := range [...]struct{ key, value string }{
		{attrGitBranch, text(object(v, "git"), "branch")},
		{attrAgentVersion, text(v, "cli_version")},
		{attrForkedFrom, text(v, "forked_from_id")},
		{attrParentSession, parent},
		{attrAgentID, text(v, "agent_nickname")},
	} {
		if a.value != "" {
			s.about = append(s.about, struct{ key, value string }{a.key, strings.Clone(a.value)})
		}
	}
}

// rollBack goes back to the turn before the last prompts: later turns replace them.
func (s *codexSession) rollBack(turns string) {
	n, err := strconv.Atoi(turns)
	if err != nil || n <= 0 || len(s.prompts) == 0 {
		return
	}
	at := max(len(s.prompts)-n, 0)
	s.newest, s.role, s.prompt = s.prompts[at], 0, nil
	s.prompts = s.prompts[:at]
}

// compacted makes a turn of the summary that a compaction left in place of earlier turns. There is none if the model encrypted
// it.
func (s *codexSession) compacted(rec jsonRecord, v *canon.Value) error {
	said := text(v, "message")
	if said == "" {
		s.r.skip("compaction_encrypted")
		return nil
	}
	t := codexTurn{draft: dag.Draft{Role: dag.RoleAssistant, Author: authorCodex}}
	t.content.plain(said)
	setAttr(&t.draft, attrCompact, "summary", &t.noted)
	return s.said(rec, &t, "")
}

// A codexTurn is the turn of a record, before it is joined to other turns.
type codexTurn struct {
	draft   dag.Draft
	content content
	noted   counts
	skip    string       // not empty: why the record is not a turn
	call    string       // the id of the call, if the record is a call
	answers string       // the id of the call that it answers
	given   *canon.Value // the output of that call
	tool    string       // the tool of the call
	prompt  bool         // a request to the agent

	injected *codexTurn // text that Codex CLI added to a prompt; nil if there is none
}

func (s *codexSession) item(rec jsonRecord, v *canon.Value) error {
	return s.said(rec, codexItem(v, s.askerOf(rec)), text(v, "id"))
}

func (s *codexSession) said(rec jsonRecord, t *codexTurn, id string) error {
	if t.skip != "" {
		s.r.skip(t.skip)
		return nil
	}
	name := id
	if len(id) < globalID {
		name = s.session + "/" + strconv.Itoa(rec.line)
		if rec.part > 0 {
			name += "." + strconv.Itoa(rec.part)
		}
	}
	if t.injected != nil {
		s.r.record()
		if err := s.turn(rec, t.injected, name+"/injected"); err != nil {
			return err
		}
	}
	return s.turn(rec, t, name)
}

// globalID is the length from which an id counts as globally unique. A fork keeps such ids, so a turn before the fork has one
// id in both sessions. Local models number their ids.
const globalID = 32

// turn makes a turn of a record or of a part of a record.
func (s *codexSession) turn(rec jsonRecord, t *codexTurn, name string) error {
	d := &t.draft
	rec.mended.note(&t.noted)
	turnID(d, sourceCodex, name, &t.noted)
	d.Conversation = conversationID(sourceCodex, s.session)
	d.Content = t.content.text.String()
	s.setTime(d, rec.value, &t.noted)
	if err := s.follow(rec, d, &t.noted); err != nil {
		return err
	}
	s.setEdges(d, t)
	s.setAttrs(d, t)
	for what, n := range t.content.lost {
		for range n {
			t.noted.add(what)
		}
	}
	before := s.newest
	if !s.admit(d, s.session, rec.place, t.noted) {
		return nil
	}
	if t.prompt {
		s.prompts, s.prompt = append(s.prompts, before), &d.ID
	}
	s.newest, s.role = &d.ID, d.Role
	if t.call != "" { // a result answers the nearest earlier call
		s.calls[strings.Clone(t.call)] = codexCall{turn: d.ID, tool: strings.Clone(t.tool)}
	}
	return s.handFull()
}

func (s *codexSession) setTime(d *dag.Draft, v *canon.Value, noted *counts) {
	t, err := dag.ReadTime(text(v, "timestamp"))
	if err != nil {
		d.CreatedAt = s.now
		setAttr(d, attrTimeBy, timeByEarlierContext, noted)
		noted.add(noteTimeInferred)
		return
	}
	d.CreatedAt, s.now = t, t
}

// setEdges joins a turn to the one before it, a result also to its call, and the model's first turn after a result also to the
// prompt that it works for.
func (s *codexSession) setEdges(d *dag.Draft, t *codexTurn) {
	if s.newest != nil {
		addParent(d, *s.newest, dag.Reply, &t.noted)
	}
	if t.answers != "" {
		call, known := s.calls[t.answers]
		if known {
			addParent(d, call.turn, dag.Reply, &t.noted)
			t.tool = call.tool
			s.startedBy(call, t.answers, t.given)
		} else {
			t.noted.add(noteCallMissing)
		}
	}
	if d.Role != dag.RoleUser && d.Author == authorCodex && s.role == dag.RoleTool && s.prompt != nil {
		addParent(d, *s.prompt, dag.Reference, &t.noted)
	}
}

func (s *codexSession) setAttrs(d *dag.Draft, t *codexTurn) {
	if d.Role == dag.RoleTool {
		if t.tool == "" {
			t.tool = "unknown"
		}
		d.Author = authorName("tool", t.tool, &t.noted)
	}
	setAttr(d, attrTool, t.tool, &t.noted)
	setAttr(d, attrToolUseID, t.call+t.answers, &t.noted)
	setAttr(d, attrBlocks, t.content.blocks(), &t.noted)
	setAttr(d, AttrFolder, s.cwd, &t.noted)
	if d.Role != dag.RoleUser && d.Author == authorCodex {
		setAttr(d, attrModel, s.model, &t.noted)
	}
	for _, a := range s.about {
		setAttr(d, a.key, a.value, &t.noted)
	}
}
