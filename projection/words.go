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

// Observe is called before an operation with its name, and what it returns is called after it with the error.
type Observe func(ctx context.Context, operation string) (context.Context, func(error))

// IndexOptions say how indexes are made.
type IndexOptions struct {
	Bytes     int // of all indexes; the one that was asked last stays, whatever its size
	GraphOver int // vectors that every search compares with its query; a graph is walked of more
	Texts     int // texts that one request reads at most for an index whose segments are made ahead; 0: all, and what they fill is kept
	Embedders Embedders
	Observe   Observe
	Wanted    func(tenant dag.Tenant, check bool) // called where the store lacks a segment that is made ahead, or with check has one that cannot be used
}

// Words keeps the indexes by which turns are found.
type Words struct {
	store   Store
	options IndexOptions
	kept    *bytelru.Cache[*Index, struct{}] // one that goes is filled again when it is asked
}

// NewWords returns no index yet.
func NewWords(s Store, o IndexOptions) *Words {
	return &Words{s, o, bytelru.NewLast(o.Bytes, func(x *Index, _ struct{}) { x.held.clear() })}
}

// TenantWords are the indexes of one tenant's texts. One is made when it is asked for.
type TenantWords struct {
	all    *Words
	tenant dag.Tenant
	source follow.Source

	mu   sync.Mutex
	made []*Index
}

// of returns the indexes of a tenant, which learn of erasures from a source.
func (w *Words) of(tenant dag.Tenant, source follow.Source) *TenantWords {
	return &TenantWords{all: w, tenant: tenant, source: source}
}

// Of returns the index that a policy needs; without an embedder for it, the error wraps ErrEmbedder. One with vectors of the table that ships serves searches by words as well, so beside it there
// is none without. One whose vectors come from elsewhere does not, since they may fail to come.
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
	x.followed = follow.New(w.source).Add(x) // of its own, since it may come when the others are read already
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
