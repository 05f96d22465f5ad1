package ingest

import "github.com/graphkernel/graphkernel/dag"

// claudeCalls finds the calls of tools that a session made, and their results.
type claudeCalls struct {
	byID    map[string][]*claudeCall // by tool_use id, in their order: some providers number the calls of each message, so ids repeat
	prompts []*claudeCall            // calls that start a sub-agent
	results map[string][]*claudeNode // tool results, by the message with the call
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

// add stores the calls of a turn and the results that it has.
func (c *claudeCalls) add(node *claudeNode, t *claudeTurn) {
	node.calls = t.calls
	for _, call := range t.calls {
		call.node, call.message = node, node.message
		c.byID[call.id] = append(c.byID[call.id], call)
		if call.prompt != [32]byte{} {
			c.prompts = append(c.prompts, call)
		}
	}
	for _, id := range t.results {
		if call := c.before(id, node.chain); call != nil && call.message != "" {
			c.results[call.message] = append(c.results[call.message], node)
		}
	}
}

// maxChainSteps bounds the walk from a message to the one before it. Beyond it, an edge may be added that repeats the chain.
const maxChainSteps = 1000

// before returns the call that a result answers, or nil. If several calls have its id, it is the nearest one on the chain
// above the result, or else the last one in the file.
func (c *claudeCalls) before(id string, above *claudeNode) *claudeCall {
	list := c.byID[id]
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

// addJoin adds edges to the first turn of an API message, from the results of the previous message that are not on its chain:
// parallel calls fan out, and the model has all their results when it continues. A sub-agent's file is read at its result, so
// results after that time are excluded: the sub-agent has not seen them.
func (c *claudeCalls) addJoin(rec *claudeRecord, d *dag.Draft, node *claudeNode) {
	if node.message == "" || node.chain == nil {
		return
	}
	before := node.chain.assistant
	if before == nil || before.message == node.message {
		return
	}
	results := c.results[before.message]
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
