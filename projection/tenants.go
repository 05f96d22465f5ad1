package projection

import (
	"context"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/bytelru"
)

// keptTenants bounds the tenants whose histories are followed.
const keptTenants = 10_000

// Tenants follow the histories of the tenants that were asked for last. An Also is what else follows each of them, beside what this package derives.
type Tenants[Also any] struct {
	store Store
	facts *Facts
	texts *Texts
	words *Words
	also  func(dag.Tenant, *follow.Follower) Also

	mu   sync.Mutex
	kept *bytelru.Cache[dag.Tenant, *Tenant[Also]] // under mu, so that there is one of each
}

// A Tenant is what is derived from one tenant's history.
type Tenant[Also any] struct {
	Facts *TenantFacts
	Texts *TenantTexts
	Words *TenantWords
	Also  Also
}

// NewTenants returns none yet. Each has what also returns for it.
func NewTenants[Also any](s Store, facts *Facts, texts *Texts, words *Words, also func(dag.Tenant, *follow.Follower) Also) *Tenants[Also] {
	return &Tenants[Also]{store: s, facts: facts, texts: texts, words: words, also: also, kept: bytelru.New[dag.Tenant, *Tenant[Also]](keptTenants)}
}

// Of returns what is derived from a tenant's history. Nothing is read yet.
func (ts *Tenants[Also]) Of(tenant dag.Tenant) *Tenant[Also] {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if known, ok := ts.kept.Get(tenant); ok {
		return known
	}
	source := func(ctx context.Context, after dag.Seq, limit int) ([]history.Entry, error) {
		return ts.store.Entries(ctx, tenant, history.Page{After: after, Limit: limit})
	}
	with := follow.New(source)
	fresh := &Tenant[Also]{ts.facts.of(tenant, with), ts.texts.of(tenant, with), ts.words.of(tenant, source), ts.also(tenant, with)}
	ts.kept.Put(tenant, fresh, 1)
	return fresh
}
