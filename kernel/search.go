package kernel

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/token"
)

// ErrNoWords is wrapped when a search asks for nothing. It wraps dag.ErrForm.
var ErrNoWords = fmt.Errorf("%w: a search needs words", dag.ErrForm)

// A SearchRequest asks for turns by words.
type SearchRequest struct {
	retrieval.Query
	Space  belief.Space    // only turns on which something rests that is believed in this space; "": any
	Policy policy.ID       // "" is recall@1
	Within *token.Boundary // nil: all turns. The view is that of the evidence unless another is asked for
}

// A Found is what a search found.
type Found struct {
	AsOf   dag.Seq
	Policy policy.ID
	Hits   []FoundTurn // the best first

	// NotReranked is why the hits are not in the order of the policy's cross-encoder, but in that before it; nil if they are, or if it has none.
	NotReranked error

	// Approximate says that a graph of vectors was walked, which may miss turns: see Config.GraphOver.
	Approximate bool

	// NotIndexed is how many numbers above AsOf the search did not look at, though they were asked for, since the index of their texts is still being made; see
	// Config.IndexTexts. What was found is what a search as of AsOf finds.
	NotIndexed dag.Seq

	// Damaged counts the turns that were left out because the store does not have their texts as they were admitted. It is of all
	// turns that were read for the index, and of the hits; 0 for an index that was opened from its segments, until a hit shows one.
	Damaged int
}

// A FoundTurn is a hit with the text that was found.
type FoundTurn struct {
	retrieval.Hit
	Content string
}

// Search finds turns by words, and changes no history. What it finds follows from the query, from the policy and from the
// turns that are numbered up to AsOf, 0 for all, without the texts that were erased since. The first search of a tenant
// reads the segments of the index that the store keeps, and the turns of which it keeps none; later ones read the turns that are new. What fills a segment
// keeps it. With Config.IndexTexts a search reads no more texts than that, keeps nothing, and may end at an earlier number: see Found.NotIndexed.
func (k Turns) Search(ctx context.Context, tenant dag.Tenant, r SearchRequest) (Found, error) {
	switch {
	case r.Limit < 1 || r.Limit > retrieval.LimitHits:
		return Found{}, fmt.Errorf("%w: %d hits, want 1 to %d", dag.ErrForm, r.Limit, retrieval.LimitHits)
	case !retrieval.AreLabelKeys(r.Attributes):
		return Found{}, fmt.Errorf("%w: attributes %q, and turns are filtered by those of %q", dag.ErrForm, slices.Sorted(maps.Keys(r.Attributes)), retrieval.LabelKeys)
	case len(analysis.None.Terms(nil, r.Text)) == 0:
		return Found{}, fmt.Errorf("%w, and %.80q has none", ErrNoWords, r.Text)
	}
	ctx, observed := k.observe(ctx, "search")
	f, err := steady(k.engine, func(c *cache) (Found, error) { return c.search(ctx, tenant, r) })
	observed(err)
	return f, err
}

func (c *cache) search(ctx context.Context, tenant dag.Tenant, r SearchRequest) (f Found, err error) {
	r.Approximate = r.AsOf == 0 && r.Within == nil
	var head dag.Seq
	if r.AsOf, err = held(tenant, r.Within, r.AsOf); err == nil {
		r.AsOf, head, err = c.asOf(ctx, tenant, r.AsOf)
	}
	if err != nil {
		return f, err
	}
	if r.Space != "" {
		if r.Among, err = space.RestsOn(ctx, c.beliefs.Journal(), tenant, r.Space, r.AsOf); err != nil {
			return f, err
		}
	}
	f.AsOf, f.Policy = r.AsOf, cmp.Or(r.Policy, retrieval.PolicyID)
	p, err := c.policies.Get(ctx, tenant, f.Policy)
	if err != nil {
		return f, err
	}
	params, err := retrieval.PolicyOf(p)
	if err != nil {
		return f, err
	}
	reranker, err := c.rerankerOf(&params)
	if err != nil {
		return f, err
	}
	limit := r.Limit
	if reranker != nil {
		r.Limit = params.MaxHits // of which it chooses
	}
	var hits []retrieval.Hit
	if r.Within != nil {
		hits, err = c.hitsWithin(ctx, r.Within, &params, &r.Query)
	} else {
		index, wrong := c.tenants.Of(tenant).Words.Of(&params)
		if wrong != nil {
			return f, wrong
		}
		var results retrieval.Results
		results, err = index.Search(ctx, head, &params, &r.Query)
		hits, f.Approximate = results.Hits, results.Approximate
		f.AsOf, f.NotIndexed = r.AsOf, f.AsOf-r.AsOf // hits may go by an earlier view
		f.Damaged = index.LeftOut(r.AsOf)
	}
	if err != nil {
		return f, err
	}
	texts, damaged, err := c.tenants.Of(tenant).Texts.OfHits(ctx, head, hits)
	if err != nil {
		return f, err
	}
	f.Hits = make([]FoundTurn, 0, len(hits))
	for i, t := range texts {
		if t != nil {
			f.Hits = append(f.Hits, FoundTurn{hits[i], t.Body.Content})
		}
	}
	for _, err := range damaged {
		_, observed := c.k.observe(ctx, "read text")
		observed(fmt.Errorf("tenant %s: %w; it is left out", tenant, err))
	}
	f.Damaged += len(damaged)
	if reranker != nil {
		err = c.judged(ctx, reranker, &params, r.Text, &f)
	}
	f.Hits = f.Hits[:min(len(f.Hits), limit)]
	return f, err
}

// MakeIndex makes the segments that the store does not have yet of the index of a tenant's texts, and keeps them: of words,
// and of the vectors of the table that ships. It reads the texts of one segment after the other, and no request waits for it. What is made stays, whatever ends it:
// called again, it goes on. Several processes may do it at once.
func (k Turns) MakeIndex(ctx context.Context, tenant dag.Tenant, how projection.Indexing) (projection.Indexed, error) {
	ctx, observed := k.observe(ctx, "make index")
	out, err := steady(k.engine, func(c *cache) (projection.Indexed, error) { return c.tenants.Of(tenant).Words.Make(ctx, how) })
	observed(err)
	return out, err
}

// KeepIndex makes the segments of the index of texts beside whatever else is asked, on one processor, until ctx ends: of the tenants that are named, whose kept segments
// it looks at first if check, and then of each one that this kernel admits turns of, or erases some of, or whose index a search finds lacking. failed is called with
// each error; the segments are tried again when the tenant has grown. It is called once for a kernel.
func (k Turns) KeepIndex(ctx context.Context, tenants []dag.Tenant, check bool, failed func(dag.Tenant, error)) {
	k.indexing.Keep(ctx, tenants, check, func(tenant dag.Tenant, how projection.Indexing) (projection.Indexed, error) {
		return k.MakeIndex(ctx, tenant, how)
	}, failed)
}
