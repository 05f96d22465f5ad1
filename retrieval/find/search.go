package find

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// ErrNoWords is wrapped when the text of a search has no words. It wraps dag.ErrForm.
var ErrNoWords = fmt.Errorf("%w: a search needs words", dag.ErrForm)

// A Request asks for turns by words.
type Request struct {
	retrieval.Query
	Space    belief.Space    // only turns on which a belief of this space rests; "": any turn
	Standing dag.Standing    // only turns of this standing as of the number of the search; 0: any
	Policy   policy.ID       // "" is find@2
	Within   *token.Boundary // nil: all turns. The view is that of the evidence unless the query names another

	// Exchanges asks for the other halves of the exchanges that the hits belong to, and for the sessions of the hits. It changes no hit, order or score.
	Exchanges bool
}

// A Found is the result of a search.
type Found struct {
	AsOf   dag.Seq
	Policy policy.ID
	Hits   []FoundTurn // the best first

	Sessions []api.FoundSession // with Request.Exchanges: the conversations of the first api.MaxExchanged hits, in the order of their best hits

	// NotReranked is the reason why the policy's cross-encoder has not ordered the hits; nil if it has, or if the policy has none.
	NotReranked error

	// Approximate reports that the search walked a graph of vectors, which may miss turns: see Config.GraphOver.
	Approximate bool

	// NotIndexed is how many of the requested numbers lie above AsOf and were not searched, because the index of their texts is still being made; see
	// Config.IndexTexts. The hits are the same as those of a search as of AsOf.
	NotIndexed dag.Seq

	// Damaged counts the turns that were left out because the store does not have their texts as they were admitted. It counts the
	// turns read for the index, and the hits. An index that was opened from its segments has read no texts, so only hits count there.
	// Hits also count if the store does not have the turns of their conversation from which their standing follows.
	Damaged int
}

// A FoundTurn is a hit with the text that was found.
type FoundTurn struct {
	retrieval.Hit
	Content  string
	Standing dag.Standing // as of the number of the search

	// With Request.Exchanges, one of them may be set.
	Question *api.Counterpart // the last prompt before the turn
	Answer   *api.Counterpart // of a turn that is a prompt: the agent's last words before the next prompt
}

// Search finds turns by words, and changes no history. The result depends only on the query, the policy and the
// turns numbered up to AsOf (0 is all turns), without the texts that were erased since. The first search of a tenant
// reads the stored segments of the index, and the turns that no stored segment covers; later searches read only new turns. A search that fills a segment
// stores it. With Config.IndexTexts a search reads no more texts than that, stores no segments, and may be as of an earlier number: see Found.NotIndexed.
func (k Turns) Search(ctx context.Context, tenant dag.Tenant, r Request) (Found, error) {
	switch {
	case r.Limit < 1 || r.Limit > retrieval.LimitHits:
		return Found{}, fmt.Errorf("%w: %d hits, want 1 to %d", dag.ErrForm, r.Limit, retrieval.LimitHits)
	case !retrieval.AreLabelKeys(r.Attributes):
		return Found{}, fmt.Errorf("%w: attributes %q, and turns are filtered by those of %q", dag.ErrForm, slices.Sorted(maps.Keys(r.Attributes)), retrieval.LabelKeys)
	case len(analysis.None.Terms(nil, r.Text)) == 0:
		return Found{}, fmt.Errorf("%w, and %.80q has none", ErrNoWords, r.Text)
	}
	ctx, observed := k.kernel.Observe(ctx, "search")
	f, err := read(k.kernel, func(e epoch) (Found, error) { return e.search(ctx, tenant, r) })
	observed(err)
	return f, err
}

func (e epoch) search(ctx context.Context, tenant dag.Tenant, r Request) (f Found, err error) {
	r.Approximate = r.AsOf == 0 && r.Within == nil
	var head dag.Seq
	if r.AsOf, err = r.Within.Held(tenant, r.AsOf); err == nil {
		r.AsOf, head, err = e.AsOf(ctx, tenant, r.AsOf)
	}
	if err != nil {
		return f, err
	}
	if r.Space != "" {
		if r.Among, err = e.RestsOn(ctx, tenant, r.Space, r.AsOf); err != nil {
			return f, err
		}
	}
	f.AsOf, f.Policy = r.AsOf, cmp.Or(r.Policy, retrieval.FindPolicyID)
	p, err := e.Policy(ctx, tenant, f.Policy)
	if err != nil {
		return f, err
	}
	params, err := retrieval.PolicyOf(p)
	if err != nil {
		return f, err
	}
	reranker, err := e.rerankerOf(&params)
	if err != nil {
		return f, err
	}
	limit := r.Limit
	if reranker != nil {
		r.Limit = params.MaxHits // the cross-encoder chooses from these
	}
	candidates := func(most int) (hits []retrieval.Hit, err error) {
		r.Limit = most
		if r.Within != nil {
			return e.hitsWithin(ctx, r.Within, &params, &r.Query)
		}
		index, err := e.Words(tenant).Of(&params)
		if err != nil {
			return nil, err
		}
		results, err := index.Search(ctx, head, &params, &r.Query)
		f.Approximate, f.Damaged = results.Approximate, index.LeftOut(r.AsOf)
		return results.Hits, err
	}
	var hits []retrieval.Hit
	if r.Standing == 0 {
		hits, err = candidates(r.Limit)
	} else {
		hits, err = e.ofStanding(ctx, tenant, &r, params.MaxHits, candidates)
	}
	if err != nil {
		return f, err
	}
	f.AsOf, f.NotIndexed = r.AsOf, f.AsOf-r.AsOf // the index may answer as of an earlier number
	texts, damaged, err := e.Texts(tenant).OfHits(ctx, head, hits)
	if err != nil {
		return f, err
	}
	f.Hits = make([]FoundTurn, 0, len(hits))
	for i, t := range texts {
		if t != nil {
			f.Hits = append(f.Hits, FoundTurn{Hit: hits[i], Content: t.Body.Content})
		}
	}
	for _, err := range damaged {
		_, observed := e.Observe(ctx, "read text")
		observed(fmt.Errorf("tenant %s: %w; it is left out", tenant, err))
	}
	f.Damaged += len(damaged)
	if reranker != nil {
		err = e.judged(ctx, reranker, &params, r.Text, &f)
	}
	f.Hits = f.Hits[:min(len(f.Hits), limit)]
	if err != nil {
		return f, err
	}
	if err = e.count(ctx, tenant, &f); err == nil && r.Exchanges {
		err = e.exchange(ctx, tenant, head, &r, &f)
	}
	return f, err
}

// hitsWithin searches only the turns of a boundary, as if there were no other turns.
func (e epoch) hitsWithin(ctx context.Context, b *token.Boundary, p *retrieval.Policy, q *retrieval.Query) ([]retrieval.Hit, error) {
	records, err := e.Turns(ctx, b.Tenant(), b.Turns())
	if err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(x, y store.Record) int { return cmp.Compare(x.Seq, y.Seq) })
	turns := make([]retrieval.Turn, len(records))
	for i := range records {
		if turns[i], err = segments.TurnOf(&records[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
	}
	return e.SearchAmong(ctx, turns, p, q)
}
