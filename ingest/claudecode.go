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

// sourceClaude is the source of ids for Claude Code's ids that are not UUIDs.
const sourceClaude = "claude-code"

// A claudeSession reads a session's file and the files of its sub-agents into one batch, or several if the session is long.
// Records are read in the order of the file, and a sub-agent's file is read at the record with its result. So every parent is
// known before its child, and a record's turn never depends on later records.
type claudeSession struct {
	r       *reading
	batch   *Batch
	size    int       // bytes of contents read since the last batch was handed over
	name    string    // the name of the session's file, for records without a session
	session string    // the session of the first turn
	path    string    // the path of the session's file
	now     *dag.Time // the time of the last record with a time in the session's own file
	early   int       // number of titles before the first turn
	titles  map[TitleKind]*claudeTitle
	folder  string // the folder of the session; see ownFolder

	// places says where the children of each record with a uuid attach.
	places map[string]claudePlace
	newest *claudeNode   // the last turn of the session's own chain that was read
	own    []*claudeNode // all turns of that chain, in the order of the file, if there are sub-agents
	queue  claudeQueue   // prompts typed while the agent worked

	calls     map[string][]*claudeCall // by tool_use id, in their order: some providers number the calls of each message, so ids repeat
	prompts   []*claudeCall            // calls that start a sub-agent
	results   map[string][]*claudeNode // tool results, by the message with the call
	agents    map[string]*claudeAgent  // by agent id
	withFile  []*claudeAgent           // sub-agents with their own files
	callers   map[string]string        // agent id → tool_use id; the first one named counts
	runs      map[string]string        // run of a workflow → tool_use id of its call
	starters  map[string]bool          // all tool_use ids in callers and runs
	nesting   int                      // how many files of sub-agents are open, each at a result in the file before it
	latest    dag.Time                 // the latest time in the session's own file
	turnsRead int                      // how many turns were read
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

// A claudeCall is a tool_use block.
type claudeCall struct {
	id      string
	tool    string
	message string
	node    *claudeNode
	prompt  [32]byte     // SHA-256 of the prompt for a sub-agent
	agent   *claudeAgent // the sub-agent that it started, once known
}

// A claudeAgent is a sub-agent of the session.
type claudeAgent struct {
	id     string
	paths  []string // none: its records are in the session's own file
	run    string   // the workflow run of the sub-agent; "": none
	begun  bool     // reading its files has begun
	caller *claudeCall
	spawn  *claudeNode // the turn after which it began, if no call is known; see byTime
	turns  []*claudeNode

	first   *canon.Value // the first record of the file with a uuid, after survey
	ended   dag.Time     // the time of the last record of the file
	outside []outsideParent
}

// lastBefore returns the sub-agent's last turn up to a time. A sub-agent that is resumed has turns after its first result.
func (a *claudeAgent) lastBefore(t dag.Time) *claudeNode {
	for i := len(a.turns) - 1; i >= 0; i-- {
		if a.turns[i].created <= t {
			return a.turns[i]
		}
	}
	return nil
}

// readClaudeCode reads one session.
func readClaudeCode(r *reading, path string, agentPaths []string) error {
	s := &claudeSession{
		r:       r,
		batch:   &Batch{Source: path, Repeats: true},
		path:    path,
		name:    strings.TrimSuffix(r.files.base(path), ".jsonl"),
		folder:  ownFolder(path),
		titles:  map[TitleKind]*claudeTitle{},
		places:  map[string]claudePlace{},
		calls:   map[string][]*claudeCall{},
		results: map[string][]*claudeNode{},
		agents:  map[string]*claudeAgent{},
		callers: map[string]string{},
		runs:    map[string]string{},

		starters: map[string]bool{},
	}
	for _, p := range agentPaths {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "agent-"), ".jsonl")
		if s.agents[id] == nil {
			s.agents[id] = &claudeAgent{id: id, run: workflowRun(p)}
			s.withFile = append(s.withFile, s.agents[id])
		}
		s.agents[id].paths = append(s.agents[id].paths, p)
		if err := s.describe(id, p); err != nil {
			return err
		}
	}
	if err := s.read(path, nil); err != nil {
		return err
	}
	if err := s.leaveTitles(); err != nil {
		return err
	}
	if err := s.remaining(); err != nil {
		return err
	}
	return r.hand(s.batch)
}

// read reads the session's own file, or a file of a sub-agent.
func (s *claudeSession) read(path string, agent *claudeAgent) error {
	before := s.r.beginFile(path, ClaudeCode)
	defer s.r.returnTo(before) // a sub-agent's file is read in the middle of another
	in, err := s.r.openLines(path)
	if err != nil {
		return err
	}
	defer in.close()
	now := dag.Time(0)
	if agent == nil {
		s.now = &now
	}
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
		place := path + ":" + strconv.Itoa(in.number)
		for i, v := range recordsOf(line) {
			if i > 0 {
				s.r.record()
			}
			if v.value == nil || v.value.Kind != canon.Object {
				s.r.skip(skipBrokenLine)
				continue
			}
			rec := &claudeRecord{v: v.value, place: place, line: in.number, fileAgent: agent, now: &now}
			v.mended.note(&rec.noted)
			if err := s.record(rec); err != nil {
				return err
			}
		}
	}
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
		return s.earlyTitles()
	}
	if rec.fileAgent == nil && isTitle(v) {
		return s.title(rec)
	}
	if uuid == "" {
		s.r.skip(withoutUUID(kind))
		return nil
	}
	if s.replays(uuid, rec.fileAgent) {
		s.r.skip(skipRepeated)
		return nil
	}
	if t, err := dag.ReadTime(text(v, "timestamp")); err == nil && rec.fileAgent == nil {
		s.latest = max(s.latest, t)
	}
	if kind == "progress" {
		s.noteCaller(object(v, "data"), text(v, "parentToolUseID"))
	}
	t := rec.turn()
	switch {
	case t.queued && t.skip != "":
		s.queue.disown(t.content.text.String())
	case t.queued && s.queue.attached(rec, &t):
		s.r.skip(kind)
		s.setPlace(uuid, claudePlace{node: s.queue.delivered[t.draft.Content]})
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
	return s.earlyTitles()
}

// turns makes the turns of a record: its own, and one for each part by another author.
func (s *claudeSession) turns(rec *claudeRecord, t *claudeTurn, uuid string) error {
	at := s.above(rec.v)
	if t.injected != nil {
		injected, err := s.part(rec, t.injected, uuid+"/injected", at)
		if err != nil {
			return err
		}
		if injected != nil {
			at = claudePlace{node: injected}
		}
	}
	if err := s.readSaved(rec, t); err != nil {
		return err
	}
	_, known := s.places[uuid]
	if err := s.turn(rec, t, uuid, at); err != nil {
		return err
	}
	if node := s.places[uuid].node; !known && node != nil && node.id == t.draft.ID {
		for i := range t.saved {
			if err := s.savedTurn(rec, t, node, uuid, &t.saved[i]); err != nil {
				return err
			}
		}
	}
	if t.typed == nil {
		return nil
	}
	typed, err := s.part(rec, t.typed, uuid+"/typed", s.places[uuid])
	if typed != nil && !known { // the model read both before it continued
		s.places[uuid] = claudePlace{node: typed}
	}
	return err
}

// part makes a turn of a part, which counts as a record. It returns nil if there is no such turn.
func (s *claudeSession) part(rec *claudeRecord, t *claudeTurn, name string, at claudePlace) (*claudeNode, error) {
	s.r.record()
	own := *rec
	own.noted = nil
	err := s.turn(&own, t, name, at)
	if node := s.places[name].node; node != nil && node.id == t.draft.ID {
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
	above := s.above(rec.v)
	agent := rec.fileAgent
	if agent == nil && isTrue(rec.v, "isSidechain") {
		if agent = s.agents[text(rec.v, "agentId")]; agent == nil {
			s.setPlace(uuid, above) // the chain of this record is unknown
			return
		}
	}
	s.setPlace(uuid, s.orNewest(above, rec.v, agent))
}

// setPlace stores where the children of a record attach. If a uuid repeats, the first record counts.
func (s *claudeSession) setPlace(uuid string, at claudePlace) {
	if _, known := s.places[uuid]; !known {
		s.places[uuid] = at
	}
}

// turn makes a turn of a record that continues from the place at.
func (s *claudeSession) turn(rec *claudeRecord, t *claudeTurn, uuid string, at claudePlace) error {
	v := rec.v
	d := &t.draft
	turnID(d, sourceClaude, uuid, &rec.noted)
	s.setTime(rec, d)
	agent := s.agentOf(rec, uuid, at.node, t)
	at = s.orNewest(at, v, agent)
	node := &claudeNode{id: d.ID, agent: agent, created: d.CreatedAt, message: t.message}

	session := s.sessionOf(v)
	d.Conversation = conversationID(sourceClaude, session)
	if agent != nil {
		d.Conversation = dag.ExternalConversationID(sourceClaude, session+"/"+agent.id)
		setAttr(d, attrAgentID, agent.id, &rec.noted)
	}
	s.setAuthor(rec, t, agent, at.node)

	s.addChain(rec, d, node, at)
	if err := s.addResults(rec, t, node, at.node); err != nil {
		return err
	}
	s.addJoin(rec, d, node)
	s.addPrompt(rec, t, node)
	s.addQueued(rec, d, node)

	noted := rec.noted
	for what, n := range t.content.lost {
		for range n {
			noted.add(what)
		}
	}
	if !s.r.admit(s.batch, d, session, rec.place, noted) {
		s.collapse(rec, uuid)
		return nil
	}
	if s.session == "" {
		s.session = strings.Clone(session)
	}
	s.remember(node, t, uuid)
	s.size += len(d.Content)
	return s.handFull()
}

// handFull hands over the turns read so far of a long session, so that memory does not grow with its length. Every turn follows
// its parents, so a batch never depends on a later one.
func (s *claudeSession) handFull() error {
	if len(s.batch.Drafts) < batchLines && s.size < batchBytes {
		return nil
	}
	full := s.batch
	s.batch, s.size = &Batch{Source: full.Source, Repeats: true}, 0
	return s.r.hand(full)
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
	if _, known := s.places[uuid]; known {
		return
	}
	s.setPlace(uuid, claudePlace{node: node})
	s.turnsRead++
	node.order = s.turnsRead
	if node.message != "" {
		node.assistant = node
	} else if node.chain != nil {
		node.assistant = node.chain.assistant
	}
	if node.agent != nil {
		node.agent.turns = append(node.agent.turns, node)
	} else {
		s.newest = node
		if len(s.agents) > 0 {
			s.own = append(s.own, node)
		}
		s.queue.passed(node, t)
	}
	node.calls = t.calls
	for _, c := range t.calls {
		c.node, c.message = node, node.message
		s.calls[c.id] = append(s.calls[c.id], c)
		if c.prompt != [32]byte{} {
			s.prompts = append(s.prompts, c)
		}
	}
	for _, id := range t.results {
		if c := s.callBefore(id, node.chain); c != nil && c.message != "" {
			s.results[c.message] = append(s.results[c.message], node)
		}
	}
}

// setTime sets the record's time. A record without a time gets the time of the record before.
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

// callBefore returns the call that a result answers, or nil. If several calls have its id, it is the nearest one on the chain
// above the result, or else the last one in the file.
func (s *claudeSession) callBefore(id string, above *claudeNode) *claudeCall {
	list := s.calls[id]
	if len(list) <= 1 {
		return lastCall(list)
	}
	for at, steps := above, 0; at != nil && steps < maxChainSteps; at, steps = at.chain, steps+1 {
		for i := len(at.calls) - 1; i >= 0; i-- {
			if at.calls[i].id == id {
				return at.calls[i]
			}
		}
	}
	return lastCall(list)
}

func lastCall(list []*claudeCall) *claudeCall {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
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
			if c := s.callBefore(id, above); c != nil {
				name = c.tool
				setAttr(d, attrTool, name, &rec.noted)
				break
			}
		}
		if d.Author = rec.answeredBy(d.Attrs[attrTool]); d.Author == "" {
			d.Author = authorName("tool", name, &rec.noted)
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
