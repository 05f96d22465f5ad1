package kernel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// questionOf returns the question of a request, with normalized names, each once.
func questionOf(r *api.FactSliceRequest) (q facts.Question, err error) {
	names, err := query.Names(r.Start)
	if err != nil {
		return q, fmt.Errorf("start: %w", err)
	}
	for _, name := range names {
		if !slices.Contains(q.Start, name) {
			q.Start = append(q.Start, name)
		}
	}
	q.ValidAt = r.ValidAt
	return q, q.Check()
}

func named(in string, names []string) (texts []dag.Text) {
	for i, name := range names {
		texts = append(texts, dag.Text{In: fmt.Sprintf("%s[%d]", in, i), Text: name})
	}
	return texts
}

// IssuedFacts is the answer to a request for a slice of facts.
type IssuedFacts struct {
	Facts  *facts.Bundle
	Bundle []byte // canonical bytes, the evidence to hand on
	Record issued.Record
}

// Slice cuts, signs and records a slice of facts: the facts that a traversal from the start entities finds
// under a policy, with the turns that are their evidence. The same request as of the same number
// returns the same bytes unless the signing key changed or facts were erased in between.
func (k Facts) Slice(ctx context.Context, tenant dag.Tenant, r api.FactSliceRequest) (_ *IssuedFacts, err error) {
	ctx, observed := k.observe(ctx, "fact_slice")
	defer func() { observed(err) }()
	q, err := questionOf(&r)
	if err != nil {
		return nil, err
	}
	if err := (desk{k.engine}).Screen(ctx, tenant, func() []dag.Text { return named("start", r.Start) }); err != nil {
		return nil, err
	}
	return steady(k.engine, func(c *cache) (*IssuedFacts, error) {
		at, _, err := c.AsOf(ctx, tenant, r.AsOf)
		if err != nil {
			return nil, err
		}
		return again(ctx, func() (*IssuedFacts, error) { return c.issueFacts(ctx, tenant, q, r.Policy, at) })
	})
}

func (c *cache) issueFacts(ctx context.Context, tenant dag.Tenant, q facts.Question, id policy.ID, given dag.Seq) (*IssuedFacts, error) {
	if id == "" {
		id = facts.PolicyID
	}
	if err := c.k.notary.MayIssue(tenant); err != nil {
		return nil, err
	}
	p, err := c.policies.Get(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	b, numbers, head, err := c.cutFacts(ctx, tenant, q, p, given)
	if err != nil {
		return nil, err
	}
	bundle, err := c.k.sealed(ctx, tenant, &b.Provenance, &b.Seal, b.Append)
	if err != nil {
		return nil, err
	}
	if len(bundle) > slice.MaxBundle {
		return nil, fmt.Errorf("%w: the bundle would have %d bytes, at most %d; lower max_results", slice.ErrTooLarge, len(bundle), slice.MaxBundle)
	}
	handed := handout{keyID: b.Seal.KeyID, token: b.Seal.Token, asOf: b.AsOf}
	record, err := c.recordAs(ctx, tenant, handed, p, resting{turns: b.Turns(), as: head}, func(at dag.Time) issued.Record {
		return issued.Record{
			Provenance: b.Provenance, Question: q.Text(), Facts: numbers, AsOf: b.AsOf, KeyID: b.Seal.KeyID, Token: b.Seal.Token, Bundle: sha256.Sum256(bundle), At: at, Head: head,
		}
	})
	if err != nil {
		return nil, err
	}
	return &IssuedFacts{Facts: b, Bundle: bundle, Record: record}, nil
}

// cutFacts cuts a slice of facts without a seal. It also returns the numbers of the slice's assertions, and the head at its start.
func (c *cache) cutFacts(ctx context.Context, tenant dag.Tenant, q facts.Question, p policy.Registered, given dag.Seq) (*facts.Bundle, issued.Numbers, dag.Seq, error) {
	a, err := c.answerFacts(ctx, tenant, q, p, given)
	if err != nil {
		return nil, "", 0, err
	}
	b, err := a.cut(q, p)
	return b, issued.Pack(slices.Sorted(maps.Keys(a.known.Acts))), a.head, err
}

// A factAnswer is an answer from which a slice of facts is cut.
type factAnswer struct {
	at, head dag.Seq
	answer   knowledge.Answer
	known    facts.Known
}

func (a *factAnswer) cut(q facts.Question, p policy.Registered) (*facts.Bundle, error) {
	b, err := facts.Cut(q, p, a.at, &a.answer, a.known)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrDamaged, err) // an edge lacks its act, or a fact its evidence
	}
	return b, nil
}

// answerFacts answers the question of a slice of facts.
func (c *cache) answerFacts(ctx context.Context, tenant dag.Tenant, q facts.Question, p policy.Registered, given dag.Seq) (a factAnswer, err error) {
	params, err := facts.PolicyOf(p)
	if err != nil {
		return a, err
	}
	if a.at, a.head, err = c.AsOf(ctx, tenant, given); err != nil {
		return a, err
	}
	if a.at == 0 {
		return a, fmt.Errorf("tenant %s has no history yet: %w", tenant, store.ErrNotFound)
	}
	v, err := c.tenants.Of(tenant).Facts.View(ctx, a.at)
	if err != nil {
		return a, err
	}
	found, err := v.Answer(ctx, q.Query(&params, a.at))
	if err != nil {
		return a, err
	}
	a.answer = found.Answer
	if err := space.ScopeOf(ctx).CheckAnswer(&a.answer); err != nil {
		return a, err
	}
	a.known, err = facts.Gather(ctx, c.store.Knowledge(), c.leavesOf(tenant), tenant, v.Aliases, &a.answer)
	if errors.Is(err, knowledge.ErrErased) { // the cached facts are from before the erasure
		c.tenants.Of(tenant).Facts.Forget()
	}
	return a, err
}

// leavesOf returns the function that looks up the leaf hashes of turns.
func (c *cache) leavesOf(tenant dag.Tenant) facts.Leaves {
	return func(ctx context.Context, turns []dag.TurnID, leaf func(dag.TurnID, dag.Digest)) error {
		records, err := c.store.Turns(ctx, tenant, store.IDs(turns))
		for i := range records {
			leaf(records[i].Turn.ID, records[i].Leaf)
		}
		return err
	}
}

// replay is Replay for a bundle of facts. The outcome is Erased if the bytes differ, the bundle is on record, and erasures since explain the difference.
func (k Facts) replay(ctx context.Context, tenant dag.Tenant, bundle []byte) (*Replay, error) {
	b, err := facts.Parse(bundle)
	if err != nil {
		return nil, err
	}
	return k.slices().replayAsked(ctx, tenant, b, bundle, func(c *cache) ([]byte, error) {
		return c.cutFactsAgain(ctx, tenant, b.Question, b.Provenance.PolicyID, b.AsOf, b.Seal)
	})
}

// remake implements remaker.
func (k Facts) remake(ctx context.Context, c *cache, tenant dag.Tenant, i *issued.Record, seal slice.Seal) ([]byte, error) {
	q, err := facts.ParseQuestion(i.Question)
	if err != nil {
		return nil, damagedQuestion(i, err)
	}
	return c.cutFactsAgain(ctx, tenant, q, i.Provenance.PolicyID, i.AsOf, seal)
}

// account implements remaker. If assertions of the recorded slice were erased since, its bytes cannot be compared. If only
// facts beyond its cut were, the slice is compared without them.
func (k Facts) account(ctx context.Context, tenant dag.Tenant, r *Replay, i *issued.Record) error {
	gone, err := k.gone(ctx, tenant, i)
	if err != nil {
		return err
	}
	if !gone.any() {
		beyond, err := k.beforeErasures(ctx, tenant, i)
		if err != nil || beyond == nil {
			return err
		}
		r.judgeAnew()
		r.agree(Erased, "the same except for the cut: facts beyond it were erased since")
		return nil
	}
	r.Erased = gone.turns
	r.judgeAnew()
	reason := fmt.Sprintf("of its %d facts %d were erased since, so the bytes cannot be compared", gone.of, gone.facts)
	if gone.facts == 0 {
		reason = "a name that it starts from was erased since, and its question with it"
	}
	r.agree(Erased, reason)
	return nil
}

// beforeErasures makes the bytes of a recorded slice of facts again if facts beyond its cut were erased, so that cutting it again has another result.
// The entities of the slice are then the first ones of today's answer, with the former reason for the cut. It returns nil unless a fact of the view was
// erased after the slice was made and the bytes are those on record.
func (k Facts) beforeErasures(ctx context.Context, tenant dag.Tenant, i *issued.Record) ([]byte, error) {
	turns, err := k.records.erasedSince(ctx, tenant, i)
	if err != nil || len(turns) == 0 {
		return nil, err
	}
	bundle, err := steady(k.engine, func(c *cache) ([]byte, error) { return c.cutShort(ctx, tenant, i) })
	if r := (&Replay{}); err != nil && r.noCut(err) { // there is nothing to compare
		return nil, nil
	}
	if err != nil || bundle == nil {
		return nil, err
	}
	learned, err := k.learnedFrom(ctx, tenant, turns, i.AsOf)
	if err != nil || !learned {
		return nil, err
	}
	return bundle, nil
}

// learnedFrom reports whether an assertion with a number up to upTo was erased with one of the given turns. It reads all acts up to that number, since erased
// assertions are in no index.
func (k Facts) learnedFrom(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID, upTo dag.Seq) (bool, error) {
	for after := dag.Seq(0); ; {
		page, err := knowledge.Base{History: k.store}.Acts(ctx, tenant, after, 1000)
		if err != nil || len(page) == 0 {
			return false, err
		}
		for a := range page {
			switch r := &page[a]; {
			case r.Seq > upTo:
				return false, nil
			case r.Erased && slices.Contains(turns, r.Act.Fact.Turn):
				return true, nil
			}
		}
		after = page[len(page)-1].Seq
	}
}

// cutShort cuts a recorded slice of facts again after the facts that it contains, with each of the two reasons for a cut, and returns the bytes that are on
// record, or nil if neither result is.
func (c *cache) cutShort(ctx context.Context, tenant dag.Tenant, i *issued.Record) ([]byte, error) {
	q, err := facts.ParseQuestion(i.Question)
	if err != nil {
		return nil, fmt.Errorf("%w: the question of issued slice %d: %w", store.ErrDamaged, i.Number, err)
	}
	p, err := c.policies.Get(ctx, tenant, i.Provenance.PolicyID)
	if err != nil {
		return nil, err
	}
	a, err := c.answerFacts(ctx, tenant, q, p, i.AsOf)
	if err != nil {
		return nil, err
	}
	held, found := i.Facts.Unpack(), map[dag.Seq]bool{}
	n := 0
	for ; n < len(a.answer.Reached) && len(found) < len(held); n++ { // each entity adds a fact
		for _, e := range a.answer.Reached[n].Path {
			found[e.Since] = true
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(found)), held) {
		return nil, nil
	}
	a.answer.Reached = a.answer.Reached[:n:n]
	for _, cut := range [...]knowledge.Cut{knowledge.CutResults, knowledge.CutWork} {
		a.answer.Cut = cut
		b, err := a.cut(q, p)
		if err != nil {
			return nil, err
		}
		b.Seal = slice.Seal{Tenant: tenant, KeyID: i.KeyID, Token: i.Token}
		if bundle := b.Append(nil); dag.Digest(sha256.Sum256(bundle)) == i.Bundle {
			return bundle, nil
		}
	}
	return nil, nil
}

// factsGone describes the parts of a recorded slice of facts that were erased since.
type factsGone struct {
	of, facts int          // the number of its assertions, and of those that were erased
	turns     []dag.TurnID // the turns of the erased assertions, by ascending id
	question  bool         // whether its question was erased, with a name in it
}

func (g *factsGone) any() bool { return g.facts > 0 || g.question }

func (k Facts) gone(ctx context.Context, tenant dag.Tenant, i *issued.Record) (*factsGone, error) {
	numbers := i.Facts.Unpack()
	acts, err := knowledge.Base{History: k.store}.ActsAt(ctx, tenant, numbers)
	if err != nil {
		return nil, err
	}
	turns := map[dag.TurnID]bool{}
	g := &factsGone{of: len(numbers), question: i.Question == ""}
	for a := range acts {
		if acts[a].Erased {
			turns[acts[a].Act.Fact.Turn] = true
			g.facts++
		}
	}
	g.turns = slices.SortedFunc(maps.Keys(turns), dag.TurnID.Compare)
	return g, nil
}

// cutFactsAgain makes the bundle of a question again, with the given seal.
func (c *cache) cutFactsAgain(ctx context.Context, tenant dag.Tenant, q facts.Question, id policy.ID, asOf dag.Seq, seal slice.Seal) ([]byte, error) {
	if err := known(asOf); err != nil {
		return nil, err
	}
	p, err := c.policies.Get(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	b, _, _, err := c.cutFacts(ctx, tenant, q, p, asOf)
	if err != nil {
		return nil, err
	}
	b.Seal = seal
	return b.Append(nil), nil
}
