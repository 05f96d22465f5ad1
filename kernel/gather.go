package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/overlap"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/store"
)

// A gatherer collects what may come into a context.
type gatherer struct {
	c       *cache
	tenant  dag.Tenant
	policy  *contexts.Policy
	asked   *contexts.Request
	asOf    dag.Seq
	reading dag.Reading
	bounds
	within  map[dag.ConversationID]bool // the conversations that were held in the folder; nil: all
	without map[dag.ConversationID]bool
	head    dag.Seq               // when gathering began
	anchor  *store.Record         // nil: none
	given   *retrieval.Statistics // of the search, in place of those of now; nil: none
	took    *retrieval.Statistics // of the search; nil: there was none
	others  dag.PPM               // see shareOfOthers; of the anchor's conversation

	turns map[dag.TurnID]*gatheredTurn
	acts  map[knowledge.ID]*knowledge.Recorded
	facts map[knowledge.ID]*contexts.Candidate

	beliefs   believing
	reference dag.Time // of the anchor, or of the newest turn of the view
}

// A gatheredTurn is a candidate that is a turn, and where its text is.
type gatheredTurn struct {
	contexts.Candidate
	id           dag.TurnID
	conversation dag.ConversationID
	createdAt    dag.Time
	terms        []int32 // as the index has them, if turns are compared
}

// gathered are candidates in the order of bundles. The last are the turns.
type gathered struct {
	all   []contexts.Candidate
	turns []*gatheredTurn
}

// turn returns the turn of a candidate, nil if it is none.
func (g *gathered) turn(i int) *gatheredTurn {
	if i -= len(g.all) - len(g.turns); i >= 0 {
		return g.turns[i]
	}
	return nil
}

func (c *cache) gatherer(ctx context.Context, tenant dag.Tenant, p *contexts.Policy, r *contexts.Request, of vantage) (*gatherer, error) {
	given := of.asOf
	g := &gatherer{
		c: c, tenant: tenant, policy: p, asked: r, reading: of.reading, bounds: of.bounds, without: map[dag.ConversationID]bool{},
		turns: map[dag.TurnID]*gatheredTurn{}, acts: map[knowledge.ID]*knowledge.Recorded{}, facts: map[knowledge.ID]*contexts.Candidate{},
	}
	for _, id := range of.except.Unpack() {
		g.without[id] = true
	}
	if r.Anchor != nil {
		records, err := c.store.Turns(ctx, tenant, store.IDs{*r.Anchor})
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return nil, fmt.Errorf("turn %s of tenant %s: %w", r.Anchor, tenant, store.ErrNotFound)
		}
		g.anchor = &records[0]
		if given == 0 {
			given = g.anchor.Seq
		}
	}
	var err error
	if g.asOf, g.head, err = c.asOf(ctx, tenant, given); err != nil {
		return nil, err
	}
	if g.asOf == 0 {
		return nil, fmt.Errorf("tenant %s has no history yet: %w", tenant, store.ErrNotFound)
	}
	if g.anchor != nil && g.anchor.Seq > g.asOf {
		return nil, fmt.Errorf("turn %s has number %d, and the view ends at %d: %w", g.anchor.Turn.ID, g.anchor.Seq, g.asOf, slice.ErrAnchor)
	}
	return g, nil
}

// gather asks every source that is on: those of turns, and beside them those of beliefs and facts, which have nothing in common.
func (g *gatherer) gather(ctx context.Context) error {
	search, err := g.searchPolicy(ctx)
	if err != nil {
		return err
	}
	words, err := g.c.tenants.Of(g.tenant).Words.Of(search)
	if err != nil {
		return err
	}
	if g.anchor != nil {
		g.reference = g.anchor.Turn.CreatedAt
	} else {
		err = words.Read(ctx, g.asOf, g.head, func(x *retrieval.Index) {
			newest, _ := x.Newest(g.asOf)
			g.reference = newest.CreatedAt
		})
	}
	if err != nil {
		return err
	}
	if err := turnstile.Both(func() error { return g.fromTurns(ctx, words, search) }, func() error { return g.fromKnown(ctx) }); err != nil {
		return err
	}
	if n := words.LeftOut(g.asOf); n > 0 { // what the policy would choose is not known without them
		return fmt.Errorf("%w: %d of the turns cannot be read", store.ErrDamaged, n)
	}
	return g.boundFacts(ctx, words)
}

// lets reports whether the bounds let a conversation in.
func (g *gatherer) lets(c dag.ConversationID) bool {
	return (g.within == nil || g.within[c]) && !g.without[c]
}

// boundFacts takes away the facts that were learned from turns of conversations which the bounds do not let in.
func (g *gatherer) boundFacts(ctx context.Context, words *projection.Index) error {
	if g.bounds == (bounds{}) {
		return nil
	}
	return words.Read(ctx, g.asOf, g.head, func(x *retrieval.Index) {
		for id, r := range g.acts {
			if r.Act.Fact.Turn == (dag.TurnID{}) {
				continue
			}
			if t, ok := x.Turn(r.Act.Fact.Turn); !ok || !g.lets(t.Conversation) {
				delete(g.acts, id)
				delete(g.facts, id)
			}
		}
	})
}

// fromTurns takes the candidates that are turns.
func (g *gatherer) fromTurns(ctx context.Context, words *projection.Index, search *retrieval.Policy) error {
	var cut *slice.Slice
	if g.anchor != nil && g.policy.Quotas[contexts.FromSlice] > 0 {
		p, err := g.c.policies.Get(ctx, g.tenant, g.policy.Slice)
		if err != nil {
			return err
		}
		if _, cut, _, err = g.c.cuts.Select(ctx, g.tenant, g.anchor.Turn.ID, p, g.asOf, g.reading); err != nil {
			return err
		}
	}
	var wrong error
	err := words.Read(ctx, g.asOf, g.head, func(x *retrieval.Index) {
		if g.folders != "" {
			held := ingest.HeldIn(g.folders.Unpack()...)
			g.within = x.Conversations(func(l retrieval.Labels) bool { return held(l.Value) })
		}
		q := retrieval.Query{Text: g.asked.Task, AsOf: g.asOf, Within: g.within, Except: g.without}
		if search.Dense.Embedder != retrieval.NoEmbedder {
			q.Vector, wrong = words.Vector(ctx, x.Bare(&q))
		}
		if wrong == nil {
			g.fromIndex(x, search, &q, cut)
		}
	})
	return cmp.Or(err, wrong)
}

// fromKnown takes the candidates that are beliefs or facts.
func (g *gatherer) fromKnown(ctx context.Context) error {
	if err := g.believe(ctx); err != nil {
		return err
	}
	if err := g.fromFacts(ctx); err != nil {
		return err
	}
	return g.fromBeliefs(ctx)
}

func (g *gatherer) searchPolicy(ctx context.Context) (*retrieval.Policy, error) {
	registered, err := g.c.policies.Get(ctx, g.tenant, g.policy.Search)
	if err != nil {
		return nil, err
	}
	p, err := retrieval.PolicyOf(registered)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Dense.Embedder != retrieval.NoEmbedder && p.Dense.Embedder != embed.StaticID:
		return nil, fmt.Errorf("%w: %s has vectors of %s, which nobody could make again to replay a context; want %s", policy.ErrMismatch, g.policy.Search, p.Dense.Embedder, embed.StaticID)
	case p.Rerank.Method == retrieval.RerankCrossEncoder:
		return nil, fmt.Errorf("%w: %s is reranked by %s, which nobody could ask again to replay a context; want rerank %s", policy.ErrMismatch, g.policy.Search, p.Rerank.Model, retrieval.RerankNone)
	case !p.Sums():
		return nil, fmt.Errorf("%w: %s goes by ranks, which erasures change; a context needs fusion %s and rerank %s", policy.ErrMismatch, g.policy.Search, retrieval.FusionSum, retrieval.RerankNone)
	}
	return &p, nil
}

// fromIndex takes the candidates that are turns.
func (g *gatherer) fromIndex(x *retrieval.Index, search *retrieval.Policy, q *retrieval.Query, cut *slice.Slice) {
	if g.anchor != nil {
		g.fromConversation(x.Conversation(g.anchor.Turn.Conversation, g.asOf))
	}
	if cut != nil {
		g.fromSlice(x, cut)
	}
	g.fromSearch(x, search, q)
	compares := g.compares()
	for _, c := range g.turns {
		if compares {
			c.terms = slices.Clone(x.Terms(c.id)) // an erasure changes those of the index
		}
		c.Features[contexts.FeatureRecency] = retrieval.Halved(int64(g.reference)-int64(c.createdAt), g.policy.HalfLife)
	}
}

// turn returns the candidate of a turn, nil if it has no text, or none with words in it.
func (g *gatherer) turn(t *retrieval.Turn) *contexts.Candidate {
	if c, ok := g.turns[t.ID]; ok {
		return &c.Candidate
	}
	if t.Withheld || t.Silent || t.Seq > g.asOf || !g.lets(t.Conversation) {
		return nil
	}
	c := &gatheredTurn{
		Candidate: contexts.Candidate{Kind: contexts.KindTurn, ID: t.ID.String(), Leaf: t.Leaf, Seq: t.Seq, Cost: (t.Size + 3) / 4},
		id:        t.ID, conversation: t.Conversation, createdAt: t.CreatedAt,
	}
	c.Features[contexts.FeatureSalience] = t.Salience
	g.turns[t.ID] = c
	return &c.Candidate
}

// from adds a source to a candidate, with the feature that it gives.
func from(c *contexts.Candidate, s contexts.Source, f contexts.Feature, v dag.PPM) {
	if c != nil {
		c.From[s] = true
		c.Features[f] = v
	}
}

// prompts reports whether a turn is a person's prompt: of role user, and a person is its author. Before the structure of records was read, the role
// decided alone.
func (g *gatherer) prompts(t *retrieval.Turn) bool {
	return t.Role == dag.RoleUser && !t.Labels.Brought() && (g.reading == dag.ReadAsMarked || !ingest.ByProgram(t.Author))
}

// shareOfOthers is the share of a conversation's text that was not said by a person. In an agent's session people say little, and
// what they say decides what the rest is about; in talk among people it says nothing that one of them said it, and the last
// turns say as much as any others.
func (g *gatherer) shareOfOthers(turns iter.Seq[*retrieval.Turn]) dag.PPM {
	all, persons := 0, 0
	for t := range turns {
		all += t.Size
		if g.prompts(t) {
			persons += t.Size
		}
	}
	if all == 0 {
		return 0
	}
	return dag.PPM(uint64(dag.One) * uint64(all-persons) / uint64(all))
}

// fromConversation takes the last turns of the anchor's conversation, and what a person said in it. It gets them the newest first.
func (g *gatherer) fromConversation(turns iter.Seq[*retrieval.Turn]) {
	g.others = g.shareOfOthers(turns)
	weight := uint64(g.others)
	last, most := g.policy.Quotas[contexts.FromRecent], g.policy.Quotas[contexts.FromPrompts]
	for t := range turns {
		if last <= 0 && most <= 0 {
			break
		}
		if last > 0 {
			share := dag.PPM(weight * uint64(last) / uint64(g.policy.Quotas[contexts.FromRecent]))
			from(g.turn(t), contexts.FromRecent, contexts.FeatureRecent, share)
			last--
		}
		if most > 0 && g.prompts(t) {
			from(g.turn(t), contexts.FromPrompts, contexts.FeaturePrompt, dag.PPM(weight))
			most--
		}
	}
}

// fromSlice takes the turns of the slice around the anchor, the best first.
func (g *gatherer) fromSlice(x *retrieval.Index, cut *slice.Slice) {
	turns := slices.Clone(cut.Turns)
	slices.SortFunc(turns, func(a, b slice.Selected) int {
		return cmp.Or(cmp.Compare(b.Admission.Score, a.Admission.Score), a.ID.Compare(b.ID))
	})
	most := turns[0].Admission.Score
	for i := range turns[:min(len(turns), g.policy.Quotas[contexts.FromSlice])] {
		t, ok := x.Turn(turns[i].ID)
		if !ok {
			continue
		}
		share := g.others
		if most > 0 {
			share = dag.PPM(uint64(turns[i].Admission.Score) * uint64(g.others) / uint64(most))
		}
		from(g.turn(&t), contexts.FromSlice, contexts.FeatureSlice, share)
	}
}

// fromSearch takes the best hits. The score in the search counts for every candidate, whatever source it is of.
func (g *gatherer) fromSearch(x *retrieval.Index, p *retrieval.Policy, q *retrieval.Query) {
	if g.asked.Task == "" {
		return
	}
	quota := g.policy.Quotas[contexts.FromSearch]
	q.Limit, q.Also = max(quota, 1), slices.Collect(maps.Keys(g.turns))
	found := x.SearchWith(p, q, g.given)
	g.took = &found.Statistics
	most := max(found.Statistics.Best, 1)
	share := func(score int64) dag.PPM { return dag.PPM(uint64(min(score, most)) * uint64(dag.One) / uint64(most)) }
	for i, id := range q.Also {
		g.turns[id].Features[contexts.FeatureTask] = share(found.Also[i])
	}
	for i := range found.Hits[:min(len(found.Hits), quota)] {
		h := &found.Hits[i]
		from(g.turn(&h.Turn), contexts.FromSearch, contexts.FeatureTask, share(h.Score))
	}
}

// fromFacts takes what is known of the names in the task.
func (g *gatherer) fromFacts(ctx context.Context) error {
	if g.policy.Quotas[contexts.FromFacts] == 0 || g.asked.Task == "" {
		return nil
	}
	v, err := g.c.tenants.Of(g.tenant).Facts.View(ctx, g.asOf)
	if err != nil {
		return err
	}
	names, err := v.NamesIn(ctx, g.asked.Task)
	if err != nil || len(names) == 0 {
		return err
	}
	registered, err := g.c.policies.Get(ctx, g.tenant, g.policy.Facts)
	if err != nil {
		return err
	}
	params, err := facts.PolicyOf(registered)
	if err != nil {
		return err
	}
	for _, name := range names { // one by one, since a traversal leaves out what joins its starts
		if err := g.around(ctx, name, &params); err != nil {
			return err
		}
	}
	return nil
}

// around takes what is known around a name.
func (g *gatherer) around(ctx context.Context, name string, p *facts.Policy) error {
	v, err := g.c.tenants.Of(g.tenant).Facts.View(ctx, g.asOf)
	if err != nil {
		return err
	}
	q := facts.Question{Start: []string{name}}
	answer, err := v.Answer(ctx, q.Query(p, g.asOf))
	if err != nil {
		return err
	}
	known, err := facts.Gather(ctx, g.c.store.Knowledge(), g.c.leavesOf(g.tenant), g.tenant, v.Aliases, &answer.Answer)
	if errors.Is(err, knowledge.ErrErased) { // what is cached is of before
		g.c.tenants.Of(g.tenant).Facts.Forget()
	}
	if err != nil {
		return err
	}
	for i := range answer.Reached {
		for at, e := range answer.Reached[i].Path {
			if len(g.facts)+g.beliefs.reached == g.policy.Quotas[contexts.FromFacts] {
				return nil
			}
			g.fact(known.Acts[e.Since], at+1)
		}
	}
	return nil
}

// fact adds an assertion that was reached in so many steps.
func (g *gatherer) fact(r *knowledge.Recorded, hops int) {
	f := &r.Act.Fact
	if g.facts[f.ID()] != nil || g.reach(f, hops) {
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
	g.facts[f.ID()], g.acts[f.ID()] = c, r
}

// sorted returns the candidates.
func (g *gatherer) sorted() (in gathered) {
	in.all = make([]contexts.Candidate, 0, len(g.beliefs.chosen)+len(g.facts)+len(g.turns))
	for _, address := range slices.Sorted(maps.Keys(g.beliefs.chosen)) {
		in.all = append(in.all, *g.beliefs.chosen[address])
	}
	for _, id := range slices.SortedFunc(maps.Keys(g.facts), func(a, b knowledge.ID) int { return cmp.Compare(a.String(), b.String()) }) {
		in.all = append(in.all, *g.facts[id])
	}
	for _, t := range g.turns {
		if t.From != [contexts.Sources]bool{} {
			in.turns = append(in.turns, t)
		}
	}
	slices.SortFunc(in.turns, func(a, b *gatheredTurn) int { return a.id.Compare(b.id) })
	for _, t := range in.turns {
		in.all = append(in.all, t.Candidate)
	}
	return in
}

// choose chooses among the candidates, and reads what was chosen.
func (g *gatherer) choose(ctx context.Context) (c contexts.Choice, err error) {
	in := g.sorted()
	c.Candidates, c.Statistics = in.all, g.took
	if g.compares() {
		c.Overlaps = in.overlaps()
	}
	if err := g.owed(c.Candidates); err != nil {
		return c, err
	}
	var turns []dag.TurnID
	var places store.Places
	for _, i := range contexts.Select(g.policy, g.asked.Budget, c.Candidates, c.Overlaps) {
		switch chosen := &c.Candidates[i]; chosen.Kind {
		case contexts.KindTurn:
			t := in.turn(i)
			turns, places = append(turns, t.id), append(places, store.Place{Conversation: t.conversation, Seq: t.Seq})
		case contexts.KindFact:
			id, err := dag.ParseDigest(chosen.ID)
			if err != nil {
				return c, err
			}
			c.Facts = append(c.Facts, g.acts[id].Act)
		case contexts.KindBelief:
			c.Beliefs = append(c.Beliefs, *g.beliefs.of[chosen.ID])
		}
	}
	chosen, err := g.c.tenants.Of(g.tenant).Texts.Chosen(ctx, g.head, turns, places)
	if err != nil {
		return c, err
	}
	var gone []dag.TurnID
	for i, t := range chosen {
		if t == nil {
			gone = append(gone, turns[i])
		} else {
			c.Turns = append(c.Turns, *t)
		}
	}
	if len(gone) > 0 {
		return c, g.c.gone(ctx, g.tenant, gone)
	}
	return c, nil
}

// compares reports whether turns are compared with one another.
func (g *gatherer) compares() bool { return g.policy.Novelty > 0 || g.policy.Overlap > 0 }

// overlaps compares all turns among the candidates.
func (g *gathered) overlaps() []contexts.Overlap {
	terms := make([][]int32, len(g.all))
	for i := range terms {
		if t := g.turn(i); t != nil {
			terms[i] = t.terms
		}
	}
	return overlap.Compare(terms)
}
