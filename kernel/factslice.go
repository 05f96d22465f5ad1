package kernel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// A FactRequest asks for a slice of facts. Names are as they are written.
type FactRequest struct {
	Start   []string  // entities; names that are written in two ways count once
	Policy  policy.ID // "" is facts@1
	AsOf    dag.Seq   // 0 is the present
	ValidAt *dag.Time // nil: whenever it held
}

// question returns what is asked in canonical names.
func (r *FactRequest) question() (q facts.Question, err error) {
	names, err := namesOf(r.Start)
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

// IssuedFacts is a slice of facts that a request is answered with.
type IssuedFacts struct {
	Facts  *facts.Bundle
	Bundle []byte // canonical bytes, the evidence to hand on
	Record issued.Record
}

// Slice cuts, signs and records a slice of facts: what a traversal from some entities finds
// under a policy, with the turns that are the evidence. The same request as of the same number
// gives the same bytes unless the signing key changed in between.
func (k Facts) Slice(ctx context.Context, tenant dag.Tenant, r FactRequest) (_ *IssuedFacts, err error) {
	ctx, observed := k.observe(ctx, "fact_slice")
	defer func() { observed(err) }()
	q, err := r.question()
	if err != nil {
		return nil, err
	}
	if err := k.screen(ctx, tenant, func() []Text { return named("start", r.Start) }); err != nil {
		return nil, err
	}
	return steady(k.engine, func(c *cache) (*IssuedFacts, error) {
		at, _, err := c.asOf(ctx, tenant, r.AsOf)
		if err != nil {
			return nil, err
		}
		asked := q
		if asked.Start, err = c.startsEarlier(ctx, tenant, &r, q.Start, at); err != nil {
			return nil, err
		}
		return again(ctx, func() (*IssuedFacts, error) { return c.issueFacts(ctx, tenant, asked, r.Policy, at) })
	})
}

// startsEarlier adds to the entities that a request names those which its names are under
// earlier rules, if a fact of these is recorded. In a bundle each is a start of its own: anyone who
// reads it sees under which name a fact was learned.
func (c *cache) startsEarlier(ctx context.Context, tenant dag.Tenant, r *FactRequest, starts []string, at dag.Seq) ([]string, error) {
	starts = slices.Clip(starts)
	for _, written := range r.Start {
		for _, name := range normalize.Earlier(written) {
			if slices.Contains(starts, name) {
				continue
			}
			v, err := c.tenants.of(tenant).facts.view(ctx, at)
			if err != nil {
				return nil, err
			}
			for _, incoming := range [...]bool{false, true} {
				run, err := v.edgesEarlier(ctx, knowledge.Ask{Name: name, Incoming: incoming, Limit: 256})
				if err != nil {
					return nil, err
				}
				if len(run.Edges) > 0 && !slices.Contains(starts, name) {
					starts = append(starts, name)
				}
			}
		}
	}
	return starts, nil
}

func (c *cache) issueFacts(ctx context.Context, tenant dag.Tenant, q facts.Question, id policy.ID, given dag.Seq) (*IssuedFacts, error) {
	if id == "" {
		id = facts.PolicyID
	}
	if err := c.k.mayIssue(tenant); err != nil {
		return nil, err
	}
	p, err := c.policies.get(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	b, numbers, head, err := c.cutFacts(ctx, tenant, q, p, given)
	if err != nil {
		return nil, err
	}
	var bundle []byte
	err = c.k.turnstile.pass(ctx, func() (err error) {
		if b.Seal, err = c.k.authority.SealProvenance(tenant, &b.Provenance); err == nil {
			bundle = b.Append(nil)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(bundle) > slice.MaxBundle {
		return nil, fmt.Errorf("%w: the bundle would have %d bytes, at most %d; lower max_results", ErrTooLarge, len(bundle), slice.MaxBundle)
	}
	handed := handout{keyID: b.Seal.KeyID, token: b.Seal.Token, asOf: b.AsOf}
	record, err := c.recordAs(ctx, tenant, handed, p, resting{turns: b.Turns(), as: head}, func(at dag.Time) issued.Record {
		return issued.Record{
			Provenance: b.Provenance, Question: q.Text(), Facts: numbers, AsOf: b.AsOf, KeyID: b.Seal.KeyID, Token: b.Seal.Token, Bundle: sha256.Sum256(bundle), At: at,
		}
	})
	if err != nil {
		return nil, err
	}
	return &IssuedFacts{Facts: b, Bundle: bundle, Record: record}, nil
}

// cutFacts cuts a slice of facts, without a seal, and returns the numbers of its assertions, and the head when it began.
func (c *cache) cutFacts(ctx context.Context, tenant dag.Tenant, q facts.Question, p policy.Registered, given dag.Seq) (*facts.Bundle, issued.Numbers, dag.Seq, error) {
	params, err := facts.PolicyOf(p)
	if err != nil {
		return nil, "", 0, err
	}
	at, head, err := c.asOf(ctx, tenant, given)
	if err != nil {
		return nil, "", 0, err
	}
	if at == 0 {
		return nil, "", 0, fmt.Errorf("tenant %s has no history yet: %w", tenant, store.ErrNotFound)
	}
	v, err := c.tenants.of(tenant).facts.view(ctx, at)
	if err != nil {
		return nil, "", 0, err
	}
	answer, err := v.answer(ctx, q.Query(&params, at))
	if err != nil {
		return nil, "", 0, err
	}
	if err := scopeOf(ctx).checkAnswer(&answer); err != nil {
		return nil, "", 0, err
	}
	known, err := facts.Gather(ctx, c.store.knowledge(), c.leavesOf(tenant), tenant, v.aliases, &answer)
	if errors.Is(err, knowledge.ErrErased) { // what is cached is of before
		v.of.erased()
	}
	if err != nil {
		return nil, "", 0, err
	}
	b, err := facts.Cut(q, p, at, &answer, known)
	if err != nil {
		return nil, "", 0, fmt.Errorf("%w: %w", store.ErrDamaged, err) // an edge without its act, a fact without its evidence
	}
	return b, issued.Pack(slices.Sorted(maps.Keys(known.Acts))), head, nil
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

// answerTo is answer with what a scope shows.
func (v *view) answerTo(ctx context.Context, s scope, q knowledge.Query) (knowledge.Answer, error) {
	if s.whole() {
		return v.answer(ctx, q)
	}
	return knowledge.Traverse(ctx, s.graph(v), v.aliases, q)
}

// answer answers from memory what was asked twice before, as of the same number: most
// questions come once, and to keep an answer costs a part of what it took.
func (v *view) answer(ctx context.Context, q knowledge.Query) (knowledge.Answer, error) {
	f := v.of.cache
	key := answerKey{v.erasures, v.asOf, queryText(&q)}
	kept, again := f.answers.get(key)
	if kept != nil {
		return *kept, nil
	}
	answer, err := knowledge.Traverse(ctx, v, v.aliases, q)
	switch {
	case err != nil:
	case again:
		f.keepAnswer(key, answer)
	default:
		f.answers.put(key, nil, len(key.query)+256)
	}
	return answer, err
}

// replay is Replay for a bundle of facts. It is erased if it is on record and an assertion that it holds was erased since.
func (k Facts) replay(ctx context.Context, tenant dag.Tenant, bundle []byte) (*Replay, error) {
	b, err := facts.Parse(bundle)
	if err != nil {
		return nil, err
	}
	return k.slices().replayAsked(ctx, tenant, b, bundle, func(c *cache) ([]byte, error) {
		return c.cutFactsAgain(ctx, tenant, b.Question, b.Provenance.PolicyID, b.AsOf, b.Seal)
	})
}

// account says of a recorded slice of facts that could not be made again whether assertions that
// it holds were erased since: then nothing more can be compared.
func (k Facts) account(ctx context.Context, tenant dag.Tenant, r *Replay, i *issued.Record) error {
	gone, err := k.gone(ctx, tenant, i)
	if err != nil || !gone.any() {
		return err
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

// factsGone says what of a recorded slice of facts was erased since.
type factsGone struct {
	of, facts int          // assertions that it holds, and those that were erased
	turns     []dag.TurnID // which these were taken from, by ascending id
	question  bool         // a name that it starts from was erased
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

// cutFactsAgain makes the bundle that a claim leads to.
func (c *cache) cutFactsAgain(ctx context.Context, tenant dag.Tenant, q facts.Question, id policy.ID, asOf dag.Seq, seal slice.Seal) ([]byte, error) {
	if asOf == 0 {
		return nil, fmt.Errorf("%w: as_of is 0, before anything was known", ErrBeyondHead)
	}
	p, err := c.policies.get(ctx, tenant, id)
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
