package projection

import (
	"context"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/bytelru"
)

// keptTenants is the maximum number of tenants whose histories are followed.
const keptTenants = 10_000

// Tenants caches the projections of the tenants that were requested last. Also is the type of the caller's own projections of a tenant.
type Tenants[Also any] struct {
	store     Store
	facts     *Facts
	texts     *Texts
	words     *Words
	standings *Standings
	also      func(dag.Tenant, *follow.Follower) Also

	mu   sync.Mutex
	kept *bytelru.Cache[dag.Tenant, *Tenant[Also]] // used under mu, so that each tenant has one Tenant
}

// A Tenant is the set of projections that follow one tenant's history.
type Tenant[Also any] struct {
	Facts     *TenantFacts
	Texts     *TenantTexts
	Words     *TenantWords
	Standings *TenantStandings
	Also      Also
}

// NewTenants returns an empty cache. The function also is called once for each new Tenant, and makes its Also.
func NewTenants[Also any](s Store, facts *Facts, texts *Texts, words *Words, standings *Standings, also func(dag.Tenant, *follow.Follower) Also) *Tenants[Also] {
	return &Tenants[Also]{store: s, facts: facts, texts: texts, words: words, standings: standings, also: also, kept: bytelru.New[dag.Tenant, *Tenant[Also]](keptTenants)}
}

// Of returns the projections of a tenant. It reads nothing yet.
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
	fresh := &Tenant[Also]{ts.facts.of(tenant, with), ts.texts.of(tenant, with), ts.words.of(tenant, source), ts.standings.of(tenant, with), ts.also(tenant, with)}
	ts.kept.Put(tenant, fresh, 1)
	return fresh
}
