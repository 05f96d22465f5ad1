package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A claudeChain says where the records of a session attach.
type claudeChain struct {
	places map[string]claudePlace // by the uuid of a record: where its children attach
	newest *claudeNode            // the last turn of the session's own chain that was read
	own    []*claudeNode          // all turns of that chain, in the order of the file, if there are sub-agents
	latest dag.Time               // the latest time in the session's own file
	turns  int                    // how many turns were read
}

// add appends a turn to the chain of its sub-agent, or else to the session's own, whose turns are kept if keep is set.
func (c *claudeChain) add(node *claudeNode, uuid string, keep bool) {
	c.setPlace(uuid, claudePlace{node: node})
	c.turns++
	node.order = c.turns
	if node.message != "" {
		node.assistant = node
	} else if node.chain != nil {
		node.assistant = node.chain.assistant
	}
	if node.agent != nil {
		node.agent.turns = append(node.agent.turns, node)
		return
	}
	c.newest = node
	if keep {
		c.own = append(c.own, node)
	}
}

// setPlace stores where the children of a record attach. If a uuid repeats, the first record counts.
func (c *claudeChain) setPlace(uuid string, at claudePlace) {
	if _, known := c.places[uuid]; !known {
		c.places[uuid] = at
	}
}

// replays reports whether a record in a sub-agent's file belongs to another chain: the file of a sub-agent that answers a side
// question begins with a copy of the conversation.
func (c *claudeChain) replays(uuid string, of *claudeAgent) bool {
	at, known := c.places[uuid]
	return of != nil && known && at.node != nil && at.node.agent != of
}

// above returns the place from which a record continues. At a compaction the parent is null, and a logical parent is named
// instead.
func (c *claudeChain) above(v *canon.Value) (at claudePlace) {
	for _, key := range [...]string{"parentUuid", "logicalParentUuid"} {
		name := text(v, key)
		if name == "" {
			continue
		}
		if at, known := c.places[name]; known {
			return c.beside(at, v)
		}
		if at.missing == "" {
			at.missing = strings.Clone(name)
		}
	}
	return at
}

// beside returns the prompt that an attachment belongs to, if the record names the turn before that prompt as its parent: the
// record after the attachment answers the prompt.
func (c *claudeChain) beside(at claudePlace, v *canon.Value) claudePlace {
	prompt := c.newest
	if text(v, "type") == "attachment" && !isTrue(v, "isSidechain") && prompt != nil && prompt.prompt == prompt && at.node == prompt.chain {
		return claudePlace{node: prompt}
	}
	return at
}

// orNewest completes a place without a turn. If a named parent does not precede the record, or if only a program writes such
// records into the middle of a session, the record continues from the newest turn of the same file and chain: otherwise all
// later turns would be cut off from the beginning of the session.
func (c *claudeChain) orNewest(at claudePlace, v *canon.Value, agent *claudeAgent) claudePlace {
	inMiddle := text(v, "type") == queueOperation || text(v, "subtype") == compactBoundary || isTrue(v, "isCompactSummary")
	if at.node != nil || at.missing == "" && !inMiddle {
		return at
	}
	at.node = c.newest
	if agent != nil {
		at.node = agent.last()
	}
	at.byOrder = at.node != nil
	return at
}

// addChain adds the edge from the record's own parent. For the first turn of a sub-agent, the parent is the call that started
// it.
func (n *claudeNode) addChain(rec *claudeRecord, d *dag.Draft, at claudePlace) {
	kind, parent := dag.Reply, at.node
	if n.agent != nil {
		if parent == nil && n.agent.caller != nil {
			parent = n.agent.caller.node
		}
		if parent == nil && n.agent.spawn != nil && len(n.agent.turns) == 0 {
			parent, at.byOrder = n.agent.spawn, true
		}
		if parent != nil && parent.agent != n.agent {
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
		n.chain = parent
		addParent(d, parent.id, kind, &rec.noted)
	}
}

// addResults adds the edges of a tool's result: from the call that it answers, and from the last turn of the sub-agent whose
// result it is.
func (s *claudeSession) addResults(rec *claudeRecord, t *claudeTurn, node, above *claudeNode) error {
	d := &t.draft
	var call *claudeCall
	for _, id := range t.results {
		c := s.calls.before(id, above)
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
	if run := text(result, "runId"); run != "" && s.agents.runs[run] == "" {
		use := strings.Clone(useID)
		s.agents.runs[strings.Clone(run)], s.agents.starters[use] = use, true
	}
	id := text(result, "agentId")
	if id == "" {
		if call == nil {
			return nil, false, nil
		}
		return s.calledBy(call, finished, at)
	}
	s.agents.noteCaller(id, useID)
	agent := s.agents.byID[id]
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
	if call.agent == nil && !s.agents.starters[call.id] {
		return nil, finished, nil
	}
	named := func(a *claudeAgent) bool { return s.agents.callerOf(a) != "" && s.agents.callerOf(a) == call.id }
	several := 0
	for _, a := range s.agents.withFile {
		if named(a) {
			several++
		}
	}
	for _, a := range s.agents.withFile {
		switch {
		case a != call.agent && !named(a), a != call.agent && a.caller != nil && a.caller != call:
			continue
		case a != call.agent && a.caller == nil && several > 1 && s.agents.beganAfter(a, at):
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

// addPrompt adds a reference from the current prompt to the first turn of an API message. A prompt is often followed by
// hundreds of calls and results; without the reference it would soon be outside the radius of slices of its own work.
func (n *claudeNode) addPrompt(rec *claudeRecord, t *claudeTurn) {
	if n.chain != nil {
		n.prompt = n.chain.prompt
	}
	if n.prompt != nil && n.prompt != n.chain && (t.queued || n.beginsMessage()) {
		addParent(&t.draft, n.prompt.id, dag.Reference, &rec.noted)
	}
	if t.voice == voiceUser {
		n.prompt = n
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
