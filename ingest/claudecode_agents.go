package ingest

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// claudeAgents joins the sub-agents of a session to the calls that started them.
type claudeAgents struct {
	r        *reading
	chain    *claudeChain
	calls    *claudeCalls
	byID     map[string]*claudeAgent
	withFile []*claudeAgent    // sub-agents with their own files
	callers  map[string]string // agent id → tool_use id; the first one named counts
	runs     map[string]string // run of a workflow → tool_use id of its call
	starters map[string]bool   // all tool_use ids in callers and runs
}

// addFile adds a file of a sub-agent, and reads Claude Code's description of it.
func (g *claudeAgents) addFile(id, path string) error {
	agent := g.byID[id]
	if agent == nil {
		agent = &claudeAgent{id: id, run: workflowRun(path)}
		g.byID[id] = agent
		g.withFile = append(g.withFile, agent)
	}
	agent.paths = append(agent.paths, path)
	return g.describe(id, path)
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

// noteCaller stores which call started a sub-agent. Progress records name the call while the sub-agent runs, its result does
// when it is done; the first record counts.
func (g *claudeAgents) noteCaller(id, useID string) {
	if id == "" || useID == "" || g.callers[id] != "" {
		return
	}
	useID = strings.Clone(useID)
	g.callers[strings.Clone(id)], g.starters[useID] = useID, true
}

// agentOf returns the sub-agent of a record, or nil. In older transcripts the records of sub-agents are in the session's own
// file, some without an agent id: then all records below one root are one sub-agent.
func (g *claudeAgents) agentOf(rec *claudeRecord, uuid string, parent *claudeNode, t *claudeTurn) *claudeAgent {
	if rec.fileAgent != nil {
		return rec.fileAgent
	}
	if !isTrue(rec.v, "isSidechain") {
		return nil
	}
	id := text(rec.v, "agentId")
	if id == "" && parent != nil && parent.agent != nil {
		return parent.agent
	}
	if id == "" {
		id = uuid
	}
	agent := g.byID[id]
	if agent == nil {
		id = strings.Clone(id)
		agent = &claudeAgent{id: id}
		g.byID[id] = agent
	}
	if agent.caller == nil && len(agent.turns) == 0 {
		g.joinCaller(agent, t.prompt)
	}
	return agent
}

// callerOf returns the id of the call that started a sub-agent, as far as records, its description or its workflow name it,
// else "".
func (g *claudeAgents) callerOf(agent *claudeAgent) string {
	if id := g.callers[agent.id]; id != "" || agent.run == "" {
		return id
	}
	return g.runs[agent.run]
}

// describe reads Claude Code's description of a sub-agent with a file. The description counts as a record.
func (g *claudeAgents) describe(id, path string) error {
	v, err := g.r.files.agentMeta(path)
	if err != nil || v == nil {
		return err
	}
	before := g.r.beginFile(metaFile(path), ClaudeCode)
	defer g.r.returnTo(before)
	g.r.record()
	g.r.skip(skipAgentMeta)
	g.noteCaller(id, text(v, "toolUseId"))
	return nil
}

// workflowRun returns the workflow run of a sub-agent's file, SESSION/subagents/workflows/RUN/agent-ID.jsonl, or "".
func workflowRun(path string) string {
	run := filepath.Dir(path)
	if filepath.Base(filepath.Dir(run)) != "workflows" {
		return ""
	}
	return filepath.Base(run)
}

// copied reports whether the session has all records that a sub-agent's file repeats from it. The first record that the session
// lacks is then a question.
func (g *claudeAgents) copied(a *claudeAgent) (whole bool, err error) {
	looking := true
	for _, path := range a.paths {
		err := eachRecord(g.r.ctx, g.r.files, path, func(v *canon.Value) {
			if looking && !g.chain.replays(text(v, "uuid"), a) {
				rec := claudeRecord{v: v}
				whole, looking = rec.turn().voice == voiceUser, false
			}
		})
		if err != nil {
			return false, err
		}
	}
	return whole, nil
}

// joinCaller finds the call that started a sub-agent: the call that a record names with its id, else the first call with the
// same prompt that started no other sub-agent.
func (g *claudeAgents) joinCaller(agent *claudeAgent, prompt [32]byte) {
	named := g.calls.byID[g.callerOf(agent)]
	call := lastCall(named)
	for _, c := range named {
		if c.agent == nil {
			call = c
			break
		}
	}
	if call == nil && prompt != [32]byte{} {
		for _, c := range g.calls.prompts {
			if c.agent == nil && c.prompt == prompt {
				call = c
				break
			}
		}
	}
	if call == nil {
		return
	}
	agent.caller = call
	if call.agent == nil {
		call.agent = agent
	}
}

// maxNesting is the largest number of sub-agents' files that are open at a time, each at a result in the file before.
const maxNesting = 50

// begin reads the files of a sub-agent unless that has begun. A sub-agent that is nested too deep is read after the session.
func (s *claudeSession) begin(agent *claudeAgent) error {
	if len(agent.paths) == 0 || agent.begun || s.nesting >= maxNesting {
		return nil
	}
	s.nesting++
	defer func() { s.nesting-- }()
	return s.readAgent(agent)
}

// readAgent reads the files of a sub-agent: one file, or also a second one with the same name in the folder that older versions
// used.
func (s *claudeSession) readAgent(agent *claudeAgent) error {
	agent.begun = true
	if agent.caller == nil {
		s.agents.joinCaller(agent, [32]byte{})
	}
	for _, path := range agent.paths {
		if err := s.read(path, agent); err != nil {
			return err
		}
	}
	return nil
}

// last returns the sub-agent's last turn that was read, or nil.
func (a *claudeAgent) last() *claudeNode {
	if len(a.turns) == 0 {
		return nil
	}
	return a.turns[len(a.turns)-1]
}

// remaining reads the files of the sub-agents without a result: they are still running, were stopped, or belong to a compaction
// and attach to turns of the session. A sub-agent that cannot be joined to anything yet is left for a later import: if imported
// now, its first turn would be a root for ever.
func (s *claudeSession) remaining() error {
	agents := s.agents.withFile
	for again := true; again; {
		again = false
		for _, a := range agents {
			if a.begun {
				continue
			}
			ready, err := s.agents.joinable(a)
			if err != nil {
				return err
			}
			if !ready {
				continue
			}
			if err := s.readAgent(a); err != nil {
				return err
			}
			again = true
		}
	}
	for _, a := range agents {
		if a.begun {
			continue
		}
		for _, path := range a.paths {
			if err := s.r.skipLines(path, ClaudeCode, skipUnjoined); err != nil {
				return err
			}
		}
	}
	return nil
}

// joinable reports whether the place of a sub-agent is known, for one of these reasons: a record names its call; its file
// begins with a copy of the conversation, see copied; its first record names a parent, and all parents outside of its file are
// known or lost; exactly one earlier call has its prompt and started no other sub-agent; no call can have started it, see
// byTime.
func (g *claudeAgents) joinable(a *claudeAgent) (bool, error) {
	if len(g.calls.byID[g.callerOf(a)]) > 0 {
		return true, nil
	}
	if a.first == nil {
		if err := a.survey(g.r.ctx, g.r.files); err != nil || a.first == nil {
			return false, err
		}
	}
	if g.chain.replays(text(a.first, "uuid"), a) {
		return g.copied(a)
	}
	if text(a.first, "parentUuid") != "" {
		for _, o := range a.outside {
			// A missing parent is lost once the session has gone on. Before that it may only be late.
			if _, known := g.chain.places[o.name]; !known && g.chain.latest <= o.child {
				return false, nil
			}
		}
		return true, nil
	}
	rec := claudeRecord{v: a.first}
	began, err := dag.ReadTime(text(a.first, "timestamp"))
	if err != nil {
		return false, nil
	}
	prompt := rec.turn().prompt
	var call *claudeCall
	for _, c := range g.calls.prompts {
		if c.agent != nil || c.prompt != prompt || c.node.created > began {
			continue
		}
		if call != nil {
			return false, nil
		}
		call = c
	}
	if call == nil {
		return g.byTime(a, began), nil
	}
	a.caller, call.agent = call, a
	return true, nil
}

// byTime finds the turn after which a sub-agent without a call began. Claude Code itself starts some sub-agents, for a side
// question or a summary, and gives them an id of the form NAME-HEX. For any other sub-agent the call may still come while it
// works, so byTime returns false until the session has gone on after it.
func (g *claudeAgents) byTime(a *claudeAgent, began dag.Time) bool {
	own := strings.Contains(a.id, "-") && g.callerOf(a) == "" && a.run == ""
	if !own && g.chain.latest <= a.ended {
		return false
	}
	for _, node := range g.chain.own {
		if node.created <= began {
			a.spawn = node
		}
	}
	return a.spawn != nil
}

// An outsideParent is a parent that a sub-agent's file names but does not contain.
type outsideParent struct {
	name  string
	child dag.Time // the time of the record that names it
}

// survey reads from a sub-agent's files what joinable needs.
func (a *claudeAgent) survey(ctx context.Context, files *tree) error {
	inside := map[string]bool{}
	for _, path := range a.paths {
		if err := a.surveyFile(ctx, files, path, inside); err != nil {
			return err
		}
	}
	return nil
}

func (a *claudeAgent) surveyFile(ctx context.Context, files *tree, path string, inside map[string]bool) error {
	return eachRecord(ctx, files, path, func(v *canon.Value) {
		if a.first == nil {
			a.first = v
		}
		t, err := dag.ReadTime(text(v, "timestamp")) // without a time, it is the earliest
		if err == nil {
			a.ended = max(a.ended, t)
		}
		inside[strings.Clone(text(v, "uuid"))] = true
		if parent := text(v, "parentUuid"); parent != "" && !inside[parent] {
			a.outside = append(a.outside, outsideParent{strings.Clone(parent), t})
		}
	})
}

// eachRecord calls take with each record of a transcript that has a uuid.
func eachRecord(ctx context.Context, files *tree, path string, take func(*canon.Value)) error {
	in, err := openLines(ctx, files, path)
	if err != nil {
		return err
	}
	defer in.close()
	for {
		line, err := in.next()
		if err == io.EOF {
			return nil
		}
		if err == errLongLine {
			continue
		}
		if err != nil {
			return err
		}
		for _, r := range recordsOf(line) {
			if v := r.value; v != nil && v.Kind == canon.Object && text(v, "uuid") != "" {
				take(v)
			}
		}
	}
}

// beganAfter reports whether a sub-agent's file begins after a time.
func (g *claudeAgents) beganAfter(a *claudeAgent, at dag.Time) bool {
	v, err := g.r.files.firstRecord(a.paths[0], func(v *canon.Value) bool { return text(v, "uuid") != "" })
	if err != nil || v == nil {
		return false
	}
	began, err := dag.ReadTime(text(v, "timestamp"))
	return err == nil && began > at
}
