package assemble

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// A factSource finds the candidates that are facts, around the names in the task. For a fact that a belief asserts, the belief is the candidate.
type factSource struct {
	*view
	beliefs *beliefSource
	acts    map[knowledge.ID]*knowledge.Recorded
	found   map[knowledge.ID]*contexts.Candidate
}

// gather gathers the facts around the names in the task.
func (g *factSource) gather(ctx context.Context) error {
	if g.policy.Quotas[contexts.FromFacts] == 0 || g.asked.Task == "" {
		return nil
	}
	names, err := g.epoch.Names(ctx, g.tenant, g.asked.Task, g.AsOf)
	if err != nil || len(names) == 0 {
		return err
	}
	registered, err := g.epoch.Policy(ctx, g.tenant, g.policy.Facts)
	if err != nil {
		return err
	}
	params, err := facts.PolicyOf(registered)
	if err != nil {
		return err
	}
	for _, name := range names { // one by one, since a traversal leaves out the edges between its starts
		if err := g.around(ctx, name, &params); err != nil {
			return err
		}
	}
	return nil
}

// around gathers the facts around a name, up to the policy's quota.
func (g *factSource) around(ctx context.Context, name string, p *facts.Policy) error {
	q := facts.Question{Start: []string{name}}
	answer, acts, err := g.epoch.Around(ctx, g.tenant, q.Query(p, g.AsOf))
	if err != nil {
		return err
	}
	for i := range answer.Reached {
		for at, e := range answer.Reached[i].Path {
			if len(g.found)+g.beliefs.reached == g.policy.Quotas[contexts.FromFacts] {
				return nil
			}
			g.add(acts[e.Since], at+1)
		}
	}
	return nil
}

// add adds an assertion that was reached after a number of hops.
func (g *factSource) add(r *knowledge.Recorded, hops int) {
	f := &r.Act.Fact
	if g.found[f.ID()] != nil || g.beliefs.reach(f, hops) {
		return
	}
	c := &contexts.Candidate{
		Kind: contexts.KindFact, ID: f.ID().String(), Leaf: r.Act.Leaf(), Seq: r.Seq, Cost: contexts.Tokens(contexts.FactText(&r.Act)),
	}
	c.From[contexts.FromFacts] = true
	c.Features[contexts.FeatureConfidence] = f.Confidence
	c.Features[contexts.FeatureEvidence] = dag.One / 2
	if f.Turn != (dag.TurnID{}) {
		c.Features[contexts.FeatureEvidence] = dag.One
	}
	c.Features[contexts.FeatureTask] = dag.One / dag.PPM(hops)
	g.found[f.ID()], g.acts[f.ID()] = c, r
}

// bound removes the facts that were learned from turns of conversations outside the bounds.
func (g *factSource) bound(x *retrieval.Index, lets func(dag.ConversationID) bool) {
	for id, r := range g.acts {
		if r.Act.Fact.Turn == (dag.TurnID{}) {
			continue
		}
		if t, ok := x.Turn(r.Act.Fact.Turn); !ok || !lets(t.Conversation) {
			delete(g.acts, id)
			delete(g.found, id)
		}
	}
}
