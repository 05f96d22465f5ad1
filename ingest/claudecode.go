package ingest

import (
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// sourceClaude is the source of ids that Claude Code did not give as UUIDs.
const sourceClaude = "claude-code"

// A claudeSession reads a session's file and the files of its sub-agents into
// one batch. Records are taken in the order of the file, and a sub-agent's file
// is read where its result comes back, so that every parent is known before its
// child and what a record becomes never depends on what follows it.
type claudeSession struct {
	r     *reading
	batch *Batch
	name  string // of the session's file, for records that name no session

	// nodes has every record with a uuid that was read. The node is the turn to
	// which children of the record attach: its own, or, for a record that is no
	// turn, that of the nearest ancestor. It is nil if there is none.
	nodes map[string]*claudeNode

	calls   map[string]*claudeCall   // by tool_use id, the first of each
	prompts []*claudeCall            // calls that start a sub-agent
	results map[string][]*claudeNode // tool results by the message that called
	agents  map[string]*claudeAgent  // by agent id
	callers map[string]string        // agent id → tool_use id, the first that was named
	latest  dag.Time                 // of the records of the session's own file
}

// A claudeNode is a turn of the session.
type claudeNode struct {
	id        dag.TurnID
	chain     *claudeNode // the first parent
	message   string      // the API message, of an assistant's turn
	assistant *claudeNode // the nearest assistant's turn on the chain, itself included
	prompt    *claudeNode // what was asked last on the chain, itself included
	agent     *claudeAgent
	created   dag.Time
}

// A claudeCall is a tool_use block.
type claudeCall struct {
	id      string
	tool    string
	message string
	node    *claudeNode
	prompt  [32]byte     // SHA-256, of a call that starts a sub-agent
	agent   *claudeAgent // the one it started, once known
}

// A claudeAgent is a sub-agent of the session.
type claudeAgent struct {
	id     string
	path   string // empty: its records stand in the session's own file
	begun  bool   // reading the file
	caller *claudeCall
	turns  []*claudeNode

	first   *canon.Value // the first record of the file that has a uuid, once surveyed
	outside []outsideParent
}

// lastBefore gives the sub-agent's last turn up to a time. A sub-agent that is
// resumed later goes on after the result that it brought back first.
func (a *claudeAgent) lastBefore(t dag.Time) *claudeNode {
	for i := len(a.turns) - 1; i >= 0; i-- {
		if a.turns[i].created <= t {
			return a.turns[i]
		}
	}
	return nil
}

// claudeSession reads one session.
func (r *reading) claudeSession(path string, agentPaths []string) error {
	s := &claudeSession{
		r:       r,
		batch:   &Batch{Source: path, Repeats: true},
		name:    strings.TrimSuffix(filepath.Base(path), ".jsonl"),
		nodes:   map[string]*claudeNode{},
		calls:   map[string]*claudeCall{},
		results: map[string][]*claudeNode{},
		agents:  map[string]*claudeAgent{},
		callers: map[string]string{},
	}
	var withFile []*claudeAgent
	for _, p := range agentPaths {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "agent-"), ".jsonl")
		if s.agents[id] == nil {
			s.agents[id] = &claudeAgent{id: id, path: p}
			withFile = append(withFile, s.agents[id])
		}
	}
	if err := s.read(path, nil); err != nil {
		return err
	}
	if err := s.remaining(withFile); err != nil {
		return err
	}
	return r.hand(s.batch)
}

// read reads a file, which is the session's own or that of a sub-agent.
func (s *claudeSession) read(path string, agent *claudeAgent) error {
	before := s.r.beginFile(path, ClaudeCode)
	defer s.r.returnTo(before) // a sub-agent's file is read in the middle of another
	in, err := openLines(s.r.ctx, path)
	if err != nil {
		return err
	}
	defer in.close()
	now := dag.Time(0)
	for {
		line, err := in.next()
		s.r.advance(in.take())
		if err == io.EOF {
			return nil
		}
		long := errors.Is(err, errLongLine)
		if err != nil && !long {
			return err
		}
		s.r.record()
		switch {
		case long:
			s.r.skip(skipLongLine)
			continue
		case isBlank(line):
			s.r.skip(skipEmptyLine)
			continue
		}
		v, replaced, err := parseLenient(line)
		if err != nil || v.Kind != canon.Object {
			s.r.skip(skipBrokenLine)
			continue
		}
		rec := &claudeRecord{v: v, place: path + ":" + strconv.Itoa(in.number), fileAgent: agent, now: &now}
		for range replaced {
			rec.noted.add(noteLoneSurrogate)
		}
		if err := s.record(rec); err != nil {
			return err
		}
	}
}

// A claudeRecord is a line of a transcript.
type claudeRecord struct {
	v         *canon.Value
	place     string
	fileAgent *claudeAgent // whose file it stands in; nil: the session's own
	now       *dag.Time    // of the last record of the file that had a time
	noted     counts
}

// record takes one record. It is counted already.
func (s *claudeSession) record(rec *claudeRecord) error {
	v := rec.v
	kind, uuid := text(v, "type"), text(v, "uuid")
	if uuid == "" {
		s.r.skip(withoutUUID(kind))
		return nil
	}
	if t, err := dag.ReadTime(text(v, "timestamp")); err == nil && rec.fileAgent == nil {
		s.latest = max(s.latest, t)
	}
	if kind == "progress" {
		s.noteCaller(object(v, "data"), text(v, "parentToolUseID"))
	}
	t := rec.turn()
	if t.skip != "" {
		s.r.skip(t.skip)
		s.collapse(v, uuid)
		return nil
	}
	return s.turn(rec, t, uuid)
}

// withoutUUID names the reason for which a record without a uuid is no turn.
func withoutUUID(kind string) string {
	switch kind {
	case "file-history-snapshot":
		return "file_history_snapshot"
	case "queue-operation":
		return "queue_operation"
	case "summary":
		return "summary"
	}
	return "no_uuid"
}

// collapse lets the children of a record that is no turn attach to its nearest
// ancestor that is one.
func (s *claudeSession) collapse(v *canon.Value, uuid string) {
	if _, known := s.nodes[uuid]; known {
		return
	}
	node := s.nodes[text(v, "parentUuid")]
	if node == nil {
		node = s.nodes[text(v, "logicalParentUuid")]
	}
	s.nodes[uuid] = node
}

// turn makes a turn of a record.
func (s *claudeSession) turn(rec *claudeRecord, t claudeTurn, uuid string) error {
	v := rec.v
	d := &t.draft
	turnID(d, sourceClaude, uuid, &rec.noted)
	s.setTime(rec, d)
	parent, missing := s.parent(v)
	agent := s.agentOf(rec, uuid, parent, t)
	node := &claudeNode{id: d.ID, agent: agent, created: d.CreatedAt, message: t.message}

	session := text(v, "sessionId")
	if session == "" {
		session = s.name
	}
	d.Conversation = conversationID(sourceClaude, session)
	if agent != nil {
		d.Conversation = dag.ExternalConversationID(sourceClaude, session+"/"+agent.id)
		setAttr(d, "agent_id", agent.id, &rec.noted)
	}
	s.setAuthor(rec, &t, agent)

	s.addChain(rec, d, node, parent, missing)
	if err := s.addResults(rec, &t, node); err != nil {
		return err
	}
	s.addJoin(rec, d, node)
	s.addPrompt(rec, &t, node)

	noted := rec.noted
	for what, n := range t.content.lost {
		for range n {
			noted.add(what)
		}
	}
	if !s.r.admit(s.batch, d, rec.place, noted) {
		s.collapse(v, uuid)
		return nil
	}
	s.remember(node, &t, uuid)
	return nil
}

// remember keeps what later records need to know of a turn.
func (s *claudeSession) remember(node *claudeNode, t *claudeTurn, uuid string) {
	if _, known := s.nodes[uuid]; known {
		return
	}
	s.nodes[uuid] = node
	if node.message != "" {
		node.assistant = node
	} else if node.chain != nil {
		node.assistant = node.chain.assistant
	}
	if node.agent != nil {
		node.agent.turns = append(node.agent.turns, node)
	}
	for _, c := range t.calls {
		if s.calls[c.id] != nil {
			continue
		}
		c.node, c.message = node, node.message
		s.calls[c.id] = c
		if c.prompt != [32]byte{} {
			s.prompts = append(s.prompts, c)
		}
	}
	for _, id := range t.results {
		if c := s.calls[id]; c != nil && c.message != "" {
			s.results[c.message] = append(s.results[c.message], node)
		}
	}
}

// setTime reads the record's time. One without takes that of the record before.
func (s *claudeSession) setTime(rec *claudeRecord, d *dag.Draft) {
	t, err := dag.ReadTime(text(rec.v, "timestamp"))
	if err != nil {
		d.CreatedAt = *rec.now
		setAttr(d, attrTimeBy, timeByEarlierContext, &rec.noted)
		rec.noted.add(noteTimeInferred)
		return
	}
	d.CreatedAt, *rec.now = t, t
}

// setAuthor fills in who spoke where that depends on whose conversation it is.
func (s *claudeSession) setAuthor(rec *claudeRecord, t *claudeTurn, agent *claudeAgent) {
	d := &t.draft
	switch t.voice {
	case voiceModel:
		d.Author = agentAuthor(agent, &rec.noted)
	case voiceTool:
		name := "unknown"
		for _, id := range t.results {
			if c := s.calls[id]; c != nil {
				name = c.tool
				setAttr(d, attrTool, name, &rec.noted)
				break
			}
		}
		d.Author = authorName("tool", name, &rec.noted)
	case voiceHarness:
		d.Author = "system:claude-code"
	case voiceUser:
		d.Author = authorHuman
		if agent != nil { // a sub-agent is spoken to by whoever called it
			var above *claudeAgent
			if agent.caller != nil && agent.caller.node != nil {
				above = agent.caller.node.agent
			}
			d.Author = agentAuthor(above, &rec.noted)
		}
	}
}

func agentAuthor(agent *claudeAgent, noted *counts) string {
	if agent == nil {
		return "agent:claude"
	}
	return authorName("agent", agent.id, noted)
}

func promptSum(text string) [32]byte { return sha256.Sum256([]byte(text)) }
