package ingest

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// noteCaller keeps which call started a sub-agent. Progress records say so while
// it runs, its result when it is done; the first to speak is believed.
func (s *claudeSession) noteCaller(v *canon.Value, useID string) {
	id := text(v, "agentId")
	if id == "" || useID == "" || s.callers[id] != "" {
		return
	}
	s.callers[strings.Clone(id)] = strings.Clone(useID)
}

// agentOf returns the sub-agent that a record belongs to, or nil. In older
// transcripts the records of sub-agents are in the session's own file, and
// some name no agent: then all that hangs on one root is one sub-agent.
func (s *claudeSession) agentOf(rec *claudeRecord, uuid string, parent *claudeNode, t *claudeTurn) *claudeAgent {
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
	agent := s.agents[id]
	if agent == nil {
		id = strings.Clone(id)
		agent = &claudeAgent{id: id}
		s.agents[id] = agent
	}
	if agent.caller == nil && len(agent.turns) == 0 {
		s.joinCaller(agent, t.prompt)
	}
	return agent
}

// joinCaller finds the call that started a sub-agent: the one that was named
// with its id, else the first call with that prompt that started no other.
func (s *claudeSession) joinCaller(agent *claudeAgent, prompt [32]byte) {
	named := s.calls[s.callers[agent.id]]
	call := lastCall(named)
	for _, c := range named {
		if c.agent == nil {
			call = c
			break
		}
	}
	if call == nil && prompt != [32]byte{} {
		for _, c := range s.prompts {
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

// readAgent reads the files of a sub-agent: one, or a second with the same name where
// older versions put it.
func (s *claudeSession) readAgent(agent *claudeAgent) error {
	agent.begun = true
	if agent.caller == nil {
		s.joinCaller(agent, [32]byte{})
	}
	for _, path := range agent.paths {
		if err := s.read(path, agent); err != nil {
			return err
		}
	}
	return nil
}

// last returns the sub-agent's turn that was read last, or nil.
func (a *claudeAgent) last() *claudeNode {
	if len(a.turns) == 0 {
		return nil
	}
	return a.turns[len(a.turns)-1]
}

// remaining reads the files of the sub-agents whose result has not come back:
// they are still running, were stopped, or belong to a compaction and hang on
// turns of the session. One that cannot be joined to anything yet is left for a
// later import: taken now it would become a root, and never find its call.
func (s *claudeSession) remaining(agents []*claudeAgent) error {
	for again := true; again; {
		again = false
		for _, a := range agents {
			if a.begun {
				continue
			}
			ready, err := s.joinable(a)
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

// joinable reports whether a sub-agent's place is known: its call was named; or
// its first record names a parent, and whatever its records hang on is there;
// or exactly one call made before it has its prompt and started no other.
func (s *claudeSession) joinable(a *claudeAgent) (bool, error) {
	if len(s.calls[s.callers[a.id]]) > 0 {
		return true, nil
	}
	if a.first == nil {
		if err := a.survey(s.r.ctx, s.r.files); err != nil || a.first == nil {
			return false, err
		}
	}
	if text(a.first, "parentUuid") != "" {
		for _, o := range a.outside {
			// A parent that is not there when the session has gone on is lost. Before
			// that it may only be late.
			if _, known := s.places[o.name]; !known && s.latest <= o.child {
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
	for _, c := range s.prompts {
		if c.agent != nil || c.prompt != prompt || c.node.created > began {
			continue
		}
		if call != nil {
			return false, nil
		}
		call = c
	}
	if call == nil {
		return false, nil
	}
	a.caller, call.agent = call, a
	return true, nil
}

// An outsideParent is one that a sub-agent's file names and does not hold.
type outsideParent struct {
	name  string
	child dag.Time // of the record that names it
}

// survey reads a sub-agent's files for what decides whether it can be joined.
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
			v := r.value
			if v == nil || v.Kind != canon.Object || text(v, "uuid") == "" {
				continue
			}
			if a.first == nil {
				a.first = v
			}
			inside[strings.Clone(text(v, "uuid"))] = true
			if parent := text(v, "parentUuid"); parent != "" && !inside[parent] {
				t, _ := dag.ReadTime(text(v, "timestamp")) // none: nothing is earlier
				a.outside = append(a.outside, outsideParent{strings.Clone(parent), t})
			}
		}
	}
}

// firstRecord returns the first record of a transcript that is wanted, looking at
// no more than its first lines.
func (t *tree) firstRecord(path string, wanted func(*canon.Value) bool) (*canon.Value, error) {
	head, err := t.beginning(path)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(head), "\n") {
		if i == lookLines {
			break
		}
		for _, r := range recordsOf([]byte(line)) {
			if r.value != nil && r.value.Kind == canon.Object && wanted(r.value) {
				return r.value, nil
			}
		}
	}
	return nil, nil
}

// agentFiles finds the files of a session's sub-agents: SESSION/subagents/agent-*.jsonl
// and, as older versions wrote them, agent-*.jsonl beside the session's
// file whose records name the same session.
func (t *tree) agentFiles(path string) ([]string, error) {
	if isAgentFile(path) {
		return nil, nil
	}
	var agents []string
	var err error
	if session, ok := strings.CutSuffix(path, ".jsonl"); ok {
		if agents, err = t.listAgents(filepath.Join(session, "subagents")); err != nil {
			return nil, err
		}
	}
	siblings, err := t.listAgents(filepath.Dir(path))
	if err != nil || len(siblings) == 0 {
		return agents, err
	}
	session, err := t.sessionOf(path)
	if err != nil || session == "" {
		return agents, err
	}
	for _, sibling := range siblings {
		other, err := t.sessionOf(sibling)
		if err != nil {
			return nil, err
		}
		if other == session {
			agents = append(agents, sibling)
		}
	}
	return agents, nil
}

// isSubagent reports whether a file holds the records of one sub-agent and
// nothing else. Taken without its session, the sub-agent's first turn would be a
// root for ever, so such a file waits until its session is imported with it.
func (t *tree) isSubagent(path string) (bool, error) {
	v, err := t.firstRecord(path, func(v *canon.Value) bool { return text(v, "uuid") != "" })
	return v != nil && isTrue(v, "isSidechain") && text(v, "agentId") != "", err
}

func isAgentFile(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, "agent-") && strings.HasSuffix(name, ".jsonl")
}

func (t *tree) listAgents(dir string) ([]string, error) {
	paths, err := t.list(dir)
	return slices.DeleteFunc(paths, func(path string) bool { return !isAgentFile(path) }), err
}

func (t *tree) sessionOf(path string) (string, error) {
	v, err := t.firstRecord(path, func(v *canon.Value) bool { return text(v, "sessionId") != "" })
	if err != nil || v == nil {
		return "", err
	}
	return text(v, "sessionId"), nil
}
