package ingest

import (
	"crypto/sha256"
	"path/filepath"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// sourceClaude is the source of ids for Claude Code's ids that are not UUIDs.
const sourceClaude = "claude-code"

// A claudeSession reads a session's file and the files of its sub-agents into one batch, or several if the session is long.
// Records are read in the order of the file, and a sub-agent's file is read at the record with its result. So every parent is
// known before its child, and a record's turn never depends on later records.
type claudeSession struct {
	*batches
	name    string // the name of the session's file, for records without a session
	chain   *claudeChain
	calls   *claudeCalls
	agents  *claudeAgents
	titles  *claudeTitles
	queue   claudeQueue // prompts typed while the agent worked
	saved   claudeSaved
	nesting int // how many files of sub-agents are open, each at a result in the file before it
}

// A claudePlace says where the children of a record attach: to its own turn, or, if the record is not a turn, to the turn of
// its nearest ancestor.
type claudePlace struct {
	node    *claudeNode // nil: no ancestor has a turn
	missing string      // the name of an ancestor that does not precede the record
	byOrder bool        // node was found by the order of the file, since no name led to a turn
}

// A claudeNode is a turn of the session.
type claudeNode struct {
	id        dag.TurnID
	chain     *claudeNode // the first parent
	message   string      // the API message of an assistant's turn
	assistant *claudeNode // the nearest assistant's turn on the chain, possibly itself
	prompt    *claudeNode // the last prompt on the chain, possibly itself
	calls     []*claudeCall
	agent     *claudeAgent
	created   dag.Time
	order     int // in which the turns were read
}

// readClaudeCode reads one session.
func readClaudeCode(r *reading, path string, agentPaths []string) error {
	turns := newBatches(r, path, ClaudeCode)
	chain := &claudeChain{places: map[string]claudePlace{}}
	calls := &claudeCalls{byID: map[string][]*claudeCall{}, results: map[string][]*claudeNode{}}
	s := &claudeSession{
		batches: &turns,
		name:    strings.TrimSuffix(r.files.base(path), ".jsonl"),
		chain:   chain,
		calls:   calls,
		agents: &claudeAgents{
			r: r, chain: chain, calls: calls,
			byID: map[string]*claudeAgent{}, callers: map[string]string{}, runs: map[string]string{}, starters: map[string]bool{},
		},
		titles: &claudeTitles{batches: &turns, path: path, chain: chain, kinds: map[TitleKind]*claudeTitle{}},
		saved:  claudeSaved{r: r, folder: ownFolder(path)},
	}
	for _, p := range agentPaths {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "agent-"), ".jsonl")
		if err := s.agents.addFile(id, p); err != nil {
			return err
		}
	}
	if err := s.read(path, nil); err != nil {
		return err
	}
	if err := s.titles.leave(); err != nil {
		return err
	}
	if err := s.remaining(); err != nil {
		return err
	}
	return s.hand()
}

// read reads the session's own file, or a file of a sub-agent.
func (s *claudeSession) read(path string, agent *claudeAgent) error {
	before := s.r.beginFile(path, ClaudeCode)
	defer s.r.returnTo(before) // a sub-agent's file is read in the middle of another
	now := dag.Time(0)
	if agent == nil {
		s.titles.now = &now
	}
	return s.r.jsonRecords(path, func(in jsonRecord) error {
		rec := &claudeRecord{v: in.value, place: in.place, line: in.line, fileAgent: agent, now: &now}
		in.mended.note(&rec.noted)
		return s.record(rec)
	})
}

// A claudeRecord is a line of a transcript.
type claudeRecord struct {
	v         *canon.Value
	place     string
	line      int          // line number in its file
	fileAgent *claudeAgent // the sub-agent of the file; nil: the session's own file
	now       *dag.Time    // the time of the last record with a time in the file
	noted     counts
}

// record reads one record, which is already counted.
func (s *claudeSession) record(rec *claudeRecord) error {
	v := rec.v
	kind, uuid := text(v, "type"), strings.Clone(text(v, "uuid")) // cloned, so that they do not keep the line in memory
	if uuid == "" && kind == queueOperation && rec.fileAgent == nil {
		if err := s.queueOperation(rec); err != nil {
			return err
		}
		return s.titles.readEarly()
	}
	if rec.fileAgent == nil && isTitle(v) {
		return s.titles.read(rec)
	}
	if uuid == "" {
		s.r.skip(withoutUUID(kind))
		return nil
	}
	if s.chain.replays(uuid, rec.fileAgent) {
		s.r.skip(skipRepeated)
		return nil
	}
	if t, err := dag.ReadTime(text(v, "timestamp")); err == nil && rec.fileAgent == nil {
		s.chain.latest = max(s.chain.latest, t)
	}
	if kind == "progress" {
		s.agents.noteCaller(text(object(v, "data"), "agentId"), text(v, "parentToolUseID"))
	}
	t := rec.turn()
	switch {
	case t.queued && t.skip != "":
		s.queue.disown(t.content.text.String())
	case t.queued && s.queue.attached(rec, &t):
		s.r.skip(kind)
		s.chain.setPlace(uuid, claudePlace{node: s.queue.delivered[t.draft.Content]})
		return nil
	}
	if t.skip != "" {
		s.r.skip(t.skip)
		s.collapse(rec, uuid)
		return nil
	}
	if err := s.turns(rec, &t, uuid); err != nil {
		return err
	}
	return s.titles.readEarly()
}

// turns makes the turns of a record: its own, and one for each part by another author.
func (s *claudeSession) turns(rec *claudeRecord, t *claudeTurn, uuid string) error {
	at := s.chain.above(rec.v)
	if t.injected != nil {
		injected, err := s.part(rec, t.injected, uuid+"/injected", at)
		if err != nil {
			return err
		}
		if injected != nil {
			at = claudePlace{node: injected}
		}
	}
	if err := s.saved.read(rec, t); err != nil {
		return err
	}
	_, known := s.chain.places[uuid]
	if err := s.turn(rec, t, uuid, at); err != nil {
		return err
	}
	if node := s.chain.places[uuid].node; !known && node != nil && node.id == t.draft.ID {
		for i := range t.saved {
			if err := s.savedTurn(rec, t, node, uuid, &t.saved[i]); err != nil {
				return err
			}
		}
	}
	if t.typed == nil {
		return nil
	}
	typed, err := s.part(rec, t.typed, uuid+"/typed", s.chain.places[uuid])
	if typed != nil && !known { // the model read both before it continued
		s.chain.places[uuid] = claudePlace{node: typed}
	}
	return err
}

// part makes a turn of a part, which counts as a record. It returns nil if there is no such turn.
func (s *claudeSession) part(rec *claudeRecord, t *claudeTurn, name string, at claudePlace) (*claudeNode, error) {
	s.r.record()
	own := *rec
	own.noted = nil
	err := s.turn(&own, t, name, at)
	if node := s.chain.places[name].node; node != nil && node.id == t.draft.ID {
		return node, err
	}
	return nil, err
}

// withoutUUID returns the reason why a record without a uuid is not a turn.
func withoutUUID(kind string) string {
	switch kind {
	case "file-history-snapshot":
		return "file_history_snapshot"
	case queueOperation:
		return skipQueueOperation
	}
	return "no_uuid"
}

// collapse attaches the children of a record that is not a turn to the turn of its nearest ancestor.
func (s *claudeSession) collapse(rec *claudeRecord, uuid string) {
	above := s.chain.above(rec.v)
	agent := rec.fileAgent
	if agent == nil && isTrue(rec.v, "isSidechain") {
		if agent = s.agents.byID[text(rec.v, "agentId")]; agent == nil {
			s.chain.setPlace(uuid, above) // the chain of this record is unknown
			return
		}
	}
	s.chain.setPlace(uuid, s.chain.orNewest(above, rec.v, agent))
}

// turn makes a turn of a record that continues from the place at.
func (s *claudeSession) turn(rec *claudeRecord, t *claudeTurn, uuid string, at claudePlace) error {
	v := rec.v
	d := &t.draft
	turnID(d, sourceClaude, uuid, &rec.noted)
	rec.setTime(d)
	agent := s.agents.agentOf(rec, uuid, at.node, t)
	at = s.chain.orNewest(at, v, agent)
	node := &claudeNode{id: d.ID, agent: agent, created: d.CreatedAt, message: t.message}

	session := s.sessionOf(v)
	d.Conversation = conversationID(sourceClaude, session)
	if agent != nil {
		d.Conversation = dag.ExternalConversationID(sourceClaude, session+"/"+agent.id)
		setAttr(d, attrAgentID, agent.id, &rec.noted)
	}
	s.setAuthor(rec, t, agent, at.node)

	node.addChain(rec, d, at)
	if err := s.addResults(rec, t, node, at.node); err != nil {
		return err
	}
	s.calls.addJoin(rec, d, node)
	node.addPrompt(rec, t)
	s.queue.addTo(rec, d, node)

	noted := rec.noted
	for what, n := range t.content.lost {
		for range n {
			noted.add(what)
		}
	}
	if !s.admit(d, session, rec.place, noted) {
		s.collapse(rec, uuid)
		return nil
	}
	if s.titles.session == "" {
		s.titles.session = strings.Clone(session)
	}
	s.remember(node, t, uuid)
	return s.handFull()
}

// sessionOf returns the session of a record.
func (s *claudeSession) sessionOf(v *canon.Value) string {
	if session := text(v, "sessionId"); session != "" {
		return session
	}
	return s.name
}

// remember stores what later records need to know about a turn.
func (s *claudeSession) remember(node *claudeNode, t *claudeTurn, uuid string) {
	if _, known := s.chain.places[uuid]; known {
		return
	}
	s.chain.add(node, uuid, len(s.agents.byID) > 0)
	if node.agent == nil {
		s.queue.passed(node, t)
	}
	s.calls.add(node, t)
}

// setTime sets the record's time. A record without a time gets the time of the record before.
func (rec *claudeRecord) setTime(d *dag.Draft) {
	t, err := dag.ReadTime(text(rec.v, "timestamp"))
	if err != nil {
		d.CreatedAt = *rec.now
		setAttr(d, attrTimeBy, timeByEarlierContext, &rec.noted)
		rec.noted.add(noteTimeInferred)
		return
	}
	d.CreatedAt, *rec.now = t, t
}

// setAuthor sets the author, as far as it depends on whose conversation the record is in. above is the turn to which the new
// turn attaches, or nil.
func (s *claudeSession) setAuthor(rec *claudeRecord, t *claudeTurn, agent *claudeAgent, above *claudeNode) {
	d := &t.draft
	switch t.voice {
	case voiceModel:
		d.Author = agentAuthor(agent, &rec.noted)
	case voiceTool:
		if t.author != "" {
			d.Author = t.author
			break
		}
		name := "unknown"
		for _, id := range t.results {
			if c := s.calls.before(id, above); c != nil {
				name = c.tool
				setAttr(d, attrTool, name, &rec.noted)
				break
			}
		}
		if d.Author = rec.answeredBy(d.Attrs[attrTool]); d.Author == "" {
			d.Author = authorName("tool", name, &rec.noted)
		}
		if said := rec.answers(d.Attrs[attrTool]); said != "" && t.typed == nil {
			t.typed = &claudeTurn{}
			rec.said(t.typed, []*canon.Value{{Kind: canon.String, Text: said}})
			rec.finish(t.typed)
			t.typed.author = authorHuman
		}
	case voiceHarness:
		d.Author = authorClaudeCode
	case voiceUser:
		d.Author = authorHuman
		if t.author != "" {
			if d.Author = t.author; authorKind(d) == "tool" { // pushed by a server, so not a prompt
				d.Role = dag.RoleTool
			}
		} else if agent != nil { // the caller of a sub-agent speaks to it
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
