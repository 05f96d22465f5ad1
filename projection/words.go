package projection

import (
	"context"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/embed"
)

// Observe is called with the name of an operation before it begins; the function it returns is called with the error after the operation.
type Observe func(ctx context.Context, operation string) (context.Context, func(error))

// IndexOptions say how indexes are made.
type IndexOptions struct {
	Bytes     int // of all indexes; the index used last stays, whatever its size
	GraphOver int // the number of vectors up to which a search compares all of them with its query; above it a search walks a graph
	Texts     int // the most texts that one request reads for an index whose segments are made in advance; 0: all, and requests store the segments that they fill
	Embedders Embedders
	Observe   Observe
	Wanted    func(tenant dag.Tenant, check bool) // called when the store lacks a segment that is made in advance; check: a stored segment is unusable
}

// Words caches the indexes that searches for turns use.
type Words struct {
	store   Store
	options IndexOptions
	kept    *bytelru.Cache[*Index, struct{}] // an evicted index is filled again when it is used
}

// NewWords returns an empty cache.
func NewWords(s Store, o IndexOptions) *Words {
	return &Words{s, o, bytelru.NewLast(o.Bytes, func(x *Index, _ struct{}) { x.held.clear() })}
}

// TenantWords are the indexes of one tenant's texts. An index is made when it is first requested.
type TenantWords struct {
	all    *Words
	tenant dag.Tenant
	source follow.Source

	mu   sync.Mutex
	made []*Index
}

// of returns the indexes of a tenant. They read erasures from a source.
func (w *Words) of(tenant dag.Tenant, source follow.Source) *TenantWords {
	return &TenantWords{all: w, tenant: tenant, source: source}
}

// Of returns the index that a policy needs. If the policy's embedder is missing, the error wraps ErrEmbedder. An index with the vectors of the table that
// ships also serves searches by words, so it replaces the index without vectors. An index with another model's vectors does not, since that model may fail.
func (w *TenantWords) Of(p *retrieval.Policy) (*Index, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, err := w.all.options.Embedders.formOf(p)
	if err != nil {
		return nil, err
	}
	const without, shipped = retrieval.NoEmbedder, embed.StaticID
	same := func(x *Index, model string) bool {
		return x.held.analyzer.String() == p.Analyzer && x.held.model == model
	}
	for _, x := range w.made {
		if same(x, f.model) || f.model == without && same(x, shipped) {
			return x, nil
		}
	}
	x := w.fresh(f)
	if f.filledAhead() {
		x.most, x.shelf.wanted = w.all.options.Texts, func(check bool) { w.all.options.Wanted(w.tenant, check) }
	}
	x.followed = follow.New(w.source).Add(x) // a follower of its own, since the index may be made after the tenant's other projections have begun
	if f.model == shipped {
		w.made = slices.DeleteFunc(w.made, func(o *Index) bool {
			beside := same(o, without)
			if beside {
				w.all.kept.Remove(o)
			}
			return beside
		})
	}
	w.made = append(w.made, x)
	return x, nil
}

// fresh returns an empty index.
func (w *TenantWords) fresh(f form) *Index {
	x := &Index{
		shelf: shelf{form: f, store: w.all.store, tenant: w.tenant, observe: w.all.options.Observe},
		held:  held{form: f, graphOver: w.all.options.GraphOver},
		words: w.all, filling: make(turnstile.Turnstile, 1),
	}
	x.held.clear()
	return x
}
