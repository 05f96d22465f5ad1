package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// above returns the place from which a record continues. At a compaction the parent is null, and a logical parent is named
// instead.
func (s *claudeSession) above(v *canon.Value) (at claudePlace) {
	for _, key := range [...]string{"parentUuid", "logicalParentUuid"} {
		name := text(v, key)
		if name == "" {
			continue
		}
		if at, known := s.places[name]; known {
			return s.beside(at, v)
		}
		if at.missing == "" {
			at.missing = strings.Clone(name)
		}
	}
	return at
}

// beside returns the prompt that an attachment belongs to, if the record names the turn before that prompt as its parent: the
// record after the attachment answers the prompt.
func (s *claudeSession) beside(at claudePlace, v *canon.Value) claudePlace {
	prompt := s.newest
	if text(v, "type") == "attachment" && !isTrue(v, "isSidechain") && prompt != nil && prompt.prompt == prompt && at.node == prompt.chain {
		return claudePlace{node: prompt}
	}
	return at
}

// orNewest completes a place without a turn. If a named parent does not precede the record, or if only a program writes such
// records into the middle of a session, the record continues from the newest turn of the same file and chain: otherwise all
// later turns would be cut off from the beginning of the session.
func (s *claudeSession) orNewest(at claudePlace, v *canon.Value, agent *claudeAgent) claudePlace {
	inMiddle := text(v, "type") == queueOperation || text(v, "subtype") == compactBoundary || isTrue(v, "isCompactSummary")
	if at.node != nil || at.missing == "" && !inMiddle {
		return at
	}
	at.node = s.newest
	if agent != nil {
		at.node = agent.last()
	}
	at.byOrder = at.node != nil
	return at
}

// addChain adds the edge from the record's own parent. For the first turn of a sub-agent, the parent is the call that started
// it.
func (s *claudeSession) addChain(rec *claudeRecord, d *dag.Draft, node *claudeNode, at claudePlace) {
	kind, parent := dag.Reply, at.node
	if node.agent != nil {
		if parent == nil && node.agent.caller != nil {
			parent = node.agent.caller.node
		}
		if parent == nil && node.agent.spawn != nil && len(node.agent.turns) == 0 {
			parent, at.byOrder = node.agent.spawn, true
		}
		if parent != nil && parent.agent != node.agent {
			kind = dag.Spawn
		}
	}
	if at.missing != "" {
		rec.noted.add(noteParentMissing)
		setAttr(d, attrMissingParent, at.missing, &rec.noted)
	}
	if at.byOrder {
		rec.noted.add(noteParentByOrder)
		setAttr(d, attrParentBy, parentByOrder, &rec.noted)
	}
	if parent != nil {
		node.chain = parent
		addParent(d, parent.id, kind, &rec.noted)
	}
}

// addResults adds the edges of a tool's result: from the call that it answers, and from the last turn of the sub-agent whose
// result it is.
func (s *claudeSession) addResults(rec *claudeRecord, t *claudeTurn, node, above *claudeNode) error {
	d := &t.draft
	var call *claudeCall
	for _, id := range t.results {
		c := s.callBefore(id, above)
		if c == nil {
			rec.noted.add(noteCallMissing)
			continue
		}
		if call == nil {
			call = c
		}
		if c.node != node.chain {
			addParent(d, c.node.id, dag.Reply, &rec.noted)
		}
	}
	if len(t.results) == 0 {
		return nil
	}
	agents, finished, err := s.returningAgents(rec, t.results[0], call, d.CreatedAt)
	if err != nil || !finished {
		return err
	}
	for _, agent := range agents {
		if last := agent.lastBefore(d.CreatedAt); last != nil {
			addParent(d, last.id, dag.Merge, &rec.noted)
		}
	}
	return nil
}

// returningAgents returns the sub-agents whose result a record has, and reads their files if that was not done. finished is
// false for sub-agents that were only launched.
func (s *claudeSession) returningAgents(rec *claudeRecord, useID string, call *claudeCall, at dag.Time) ([]*claudeAgent, bool, error) {
	result := object(rec.v, "toolUseResult")
	status := text(result, "status")
	finished := status == "" || status == "completed"
	if run := text(result, "runId"); run != "" && s.runs[run] == "" {
		use := strings.Clone(useID)
		s.runs[strings.Clone(run)], s.starters[use] = use, true
	}
	id := text(result, "agentId")
	if id == "" {
		if call == nil {
			return nil, false, nil
		}
		return s.calledBy(call, finished, at)
	}
	s.noteCaller(result, useID)
	agent := s.agents[id]
	if agent == nil {
		if finished {
			rec.noted.add("subagent_missing")
		}
		return nil, false, nil
	}
	return []*claudeAgent{agent}, finished, s.begin(agent)
}

// calledBy returns the sub-agents that a call is known to have started, if its result came at the time at: the one with its
// prompt, or those whose descriptions or workflow name the call's id. A sub-agent with that id that another call started, or
// that began after at, belongs to another call with the same id.
func (s *claudeSession) calledBy(call *claudeCall, finished bool, at dag.Time) (agents []*claudeAgent, _ bool, err error) {
	if call.agent != nil && len(call.agent.paths) == 0 {
		return []*claudeAgent{call.agent}, finished, nil
	}
	if call.agent == nil && !s.starters[call.id] {
		return nil, finished, nil
	}
	named := func(a *claudeAgent) bool { return s.callerOf(a) != "" && s.callerOf(a) == call.id }
	several := 0
	for _, a := range s.withFile {
		if named(a) {
			several++
		}
	}
	for _, a := range s.withFile {
		switch {
		case a != call.agent && !named(a), a != call.agent && a.caller != nil && a.caller != call:
			continue
		case a != call.agent && a.caller == nil && several > 1 && s.beganAfter(a, at):
			continue
		}
		if agents = append(agents, a); finished {
			if err := s.begin(a); err != nil {
				return nil, false, err
			}
		}
	}
	return agents, finished, nil
}

// beganAfter reports whether a sub-agent's file begins after a time.
func (s *claudeSession) beganAfter(a *claudeAgent, at dag.Time) bool {
	v, err := s.r.files.firstRecord(a.paths[0], func(v *canon.Value) bool { return text(v, "uuid") != "" })
	if err != nil || v == nil {
		return false
	}
	began, err := dag.ReadTime(text(v, "timestamp"))
	return err == nil && began > at
}

// addJoin adds edges to the first turn of an API message, from the results of the previous message that are not on its chain:
// parallel calls fan out, and the model has all their results when it continues. A sub-agent's file is read at its result, so
// results after that time are excluded: the sub-agent has not seen them.
func (s *claudeSession) addJoin(rec *claudeRecord, d *dag.Draft, node *claudeNode) {
	if node.message == "" || node.chain == nil {
		return
	}
	before := node.chain.assistant
	if before == nil || before.message == node.message {
		return
	}
	results := s.results[before.message]
	if len(results) == 0 {
		return
	}
	onChain := map[*claudeNode]bool{}
	steps := 0
	for n := node.chain; n != nil && n != before && steps < maxChainSteps; n = n.chain {
		onChain[n] = true
		steps++
	}
	for _, result := range results {
		if later := before.agent != node.agent && result.created > node.created; !onChain[result] && !later {
			addParent(d, result.id, dag.Merge, &rec.noted)
		}
	}
}

// addPrompt adds a reference from the current prompt to the first turn of an API message. A prompt is often followed by
// hundreds of calls and results; without the reference it would soon be outside the radius of slices of its own work.
func (s *claudeSession) addPrompt(rec *claudeRecord, t *claudeTurn, node *claudeNode) {
	if node.chain != nil {
		node.prompt = node.chain.prompt
	}
	if node.prompt != nil && node.prompt != node.chain && (t.queued || node.beginsMessage()) {
		addParent(&t.draft, node.prompt.id, dag.Reference, &rec.noted)
	}
	if t.voice == voiceUser {
		node.prompt = node
	}
}

// beginsMessage reports whether a turn is the first of an API message.
func (n *claudeNode) beginsMessage() bool {
	if n.message == "" || n.chain == nil {
		return false
	}
	before := n.chain.assistant
	return before == nil || before.message != n.message
}

// addQueued adds a reply edge from a queued prompt to the first turn of the API message after its delivery, unless it already
// is the parent: the transcript continues from the tool's result, but the model had read both.
func (s *claudeSession) addQueued(rec *claudeRecord, d *dag.Draft, node *claudeNode) {
	prompt := s.queue.unanswered
	if prompt == nil || node.agent != nil || !node.beginsMessage() {
		return
	}
	addParent(d, prompt.id, dag.Reply, &rec.noted)
	if node.prompt == nil || node.prompt.order < prompt.order {
		node.prompt = prompt
	}
}

// maxChainSteps bounds the walk from a message to the one before it. Beyond it, an edge may be added that repeats the chain.
const maxChainSteps = 1000
