package assemble

import (
	"cmp"
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// A view is the part of a tenant's history from which a context is chosen, with the request for the context.
type view struct {
	issued.Vantage // AsOf is the number of the view, set by gatherer

	epoch     Epoch
	tenant    dag.Tenant
	policy    *contexts.Policy
	asked     *contexts.Request
	head      dag.Seq         // of the history when gathering began
	anchor    *store.Record   // nil: the request has none
	reference dag.Time        // of the anchor, or of the newest turn of the view
	course    standing.Course // under gkc/2: the settings of the standing policy at rulesAsOf
}

// rulesAsOf returns the sequence number at which beliefs and standings are read.
func (v *view) rulesAsOf() dag.Seq { return cmp.Or(v.asked.RulesAsOf, v.AsOf) }

// compares reports whether the policy compares turns with one another.
func (v *view) compares() bool { return v.policy.Novelty > 0 || v.policy.Overlap > 0 }

// A gatherer collects the candidates for a context from its sources.
type gatherer struct {
	view
	words   Words
	turns   turnSource
	beliefs beliefSource
	facts   factSource
}

// gatherer returns a gatherer with its anchor and the number of its view, and without candidates.
func (a *assembly) gatherer(ctx context.Context, p *contexts.Policy, r *contexts.Request) (*gatherer, error) {
	g := &gatherer{view: view{epoch: a.epoch, tenant: a.tenant, policy: p, asked: r, Vantage: a.from}}
	g.turns = turnSource{view: &g.view, given: a.statistics, without: map[dag.ConversationID]bool{}, found: map[dag.TurnID]*gatheredTurn{}, counted: map[dag.TurnID]counted{}, lasts: map[dag.ConversationID]dag.Seq{}}
	g.beliefs = beliefSource{
		view: &g.view, of: map[string]*journal.Revision{}, chains: map[knowledge.ID]string{}, always: map[string]bool{}, loads: map[belief.Space]journal.Load{},
		contested: map[belief.Item]bool{}, found: map[string]*contexts.Candidate{},
	}
	g.facts = factSource{view: &g.view, beliefs: &g.beliefs, acts: map[knowledge.ID]*knowledge.Recorded{}, found: map[knowledge.ID]*contexts.Candidate{}}
	for _, id := range a.from.Except.Unpack() {
		g.turns.without[id] = true
	}
	given := a.from.AsOf
	if r.Anchor != nil {
		records, err := a.epoch.Turns(ctx, a.tenant, []dag.TurnID{*r.Anchor})
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return nil, fmt.Errorf("turn %s of tenant %s: %w", r.Anchor, a.tenant, store.ErrNotFound)
		}
		g.anchor = &records[0]
		if given == 0 && !a.present {
			given = g.anchor.Seq
		}
	}
	var err error
	if g.AsOf, g.head, err = a.epoch.AsOf(ctx, a.tenant, given); err != nil {
		return nil, err
	}
	if g.AsOf == 0 {
		return nil, fmt.Errorf("tenant %s has no history yet: %w", a.tenant, store.ErrNotFound)
	}
	if a.fresh && a.from.Reading >= dag.ReadStandings {
		switch {
		case a.rules != 0:
			r.RulesAsOf = a.rules
		case a.from.AsOf != 0:
			r.RulesAsOf, r.Past = g.AsOf, true
		default:
			r.RulesAsOf = g.head
		}
		if r.RulesAsOf < g.AsOf || r.RulesAsOf > g.head {
			return nil, fmt.Errorf("%w: rules as of %d, want a number from that of the view, %d, to the present, %d", contexts.ErrRequest, r.RulesAsOf, g.AsOf, g.head)
		}
	}
	if g.anchor != nil && g.anchor.Seq > g.AsOf {
		return nil, fmt.Errorf("turn %s has number %d, but the view ends at %d: %w", g.anchor.Turn.ID, g.anchor.Seq, g.AsOf, slice.ErrAnchor)
	}
	return g, nil
}

// gather collects the candidates of every source that the policy uses. The turns are gathered concurrently with the beliefs and facts, since they share no data.
func (g *gatherer) gather(ctx context.Context) error {
	search, err := g.searchPolicy(ctx)
	if err != nil {
		return err
	}
	words, err := g.epoch.Words(g.tenant, search)
	if err != nil {
		return err
	}
	g.words = words
	if g.anchor != nil {
		g.reference = g.anchor.Turn.CreatedAt
	} else {
		err = words.Read(ctx, g.AsOf, g.head, func(x *retrieval.Index) {
			newest, _ := x.Newest(g.AsOf)
			g.reference = newest.CreatedAt
		})
	}
	if err == nil && g.asked.Counted() {
		g.course, err = g.epoch.Course(ctx, g.tenant, g.rulesAsOf())
	}
	if err == nil {
		err = g.turns.count(ctx, words)
	}
	if err != nil {
		return err
	}
	if err := turnstile.Both(func() error { return g.turns.gather(ctx, words, search) }, func() error { return g.gatherKnown(ctx) }); err != nil {
		return err
	}
	if n := words.LeftOut(g.AsOf); n > 0 { // without them it is unknown what the policy would choose
		return fmt.Errorf("%w: %d of the turns cannot be read", store.ErrDamaged, n)
	}
	if g.Folders == "" && g.Except == "" {
		return nil
	}
	return words.Read(ctx, g.AsOf, g.head, func(x *retrieval.Index) { g.facts.bound(x, g.turns.lets) })
}

// gatherKnown gathers the candidates that are beliefs or facts.
func (g *gatherer) gatherKnown(ctx context.Context) error {
	if err := g.beliefs.read(ctx); err != nil {
		return err
	}
	if err := g.facts.gather(ctx); err != nil {
		return err
	}
	return g.beliefs.gather()
}

// searchPolicy returns the policy of the search for turns. It refuses a policy whose search a replay could not repeat.
func (g *gatherer) searchPolicy(ctx context.Context) (*retrieval.Policy, error) {
	registered, err := g.epoch.Policy(ctx, g.tenant, g.policy.Search)
	if err != nil {
		return nil, err
	}
	p, err := retrieval.PolicyOf(registered)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Dense.Embedder != retrieval.NoEmbedder && p.Dense.Embedder != embed.StaticID:
		return nil, fmt.Errorf("%w: %s has vectors of %s, which cannot be computed again when a context is replayed; want %s", policy.ErrMismatch, g.policy.Search, p.Dense.Embedder, embed.StaticID)
	case p.Rerank.Method == retrieval.RerankCrossEncoder:
		return nil, fmt.Errorf("%w: %s is reranked by %s, which cannot be asked again when a context is replayed; want rerank %s", policy.ErrMismatch, g.policy.Search, p.Rerank.Model, retrieval.RerankNone)
	case !p.Sums():
		return nil, fmt.Errorf("%w: %s combines ranks, which change when turns are erased; a context needs fusion %s and rerank %s", policy.ErrMismatch, g.policy.Search, retrieval.FusionSum, retrieval.RerankNone)
	}
	return &p, nil
}
