package kernel

import (
	"context"
	"fmt"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/projection"
)

// keptFollowed bounds the tenants whose histories are followed.
const keptFollowed = 10_000

// followers follow the histories of the tenants that were asked for last.
type followers struct {
	store   projection.Store
	facts   *projection.Facts
	beliefs *space.Kept
	texts   *projection.Texts
	words   *projection.Words

	mu   sync.Mutex
	kept *lru.Cache[dag.Tenant, *followed] // under mu, so that there is one of each
}

// followed is what is derived from one tenant's history.
type followed struct {
	facts *projection.TenantFacts
	items *space.Items // of beliefs
	texts *projection.TenantTexts
	words *projection.TenantWords
}

func newFollowers(s projection.Store, facts *projection.Facts, beliefs *space.Kept, texts *projection.Texts, words *projection.Words) (*followers, error) {
	kept, err := lru.New[dag.Tenant, *followed](keptFollowed)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	return &followers{store: s, facts: facts, beliefs: beliefs, texts: texts, words: words, kept: kept}, nil
}

func (f *followers) of(tenant dag.Tenant) *followed {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.kept.Get(tenant); ok {
		return known
	}
	source := func(ctx context.Context, after dag.Seq, limit int) ([]history.Entry, error) {
		return f.store.Entries(ctx, tenant, history.Page{After: after, Limit: limit})
	}
	with := follow.New(source)
	fresh := &followed{facts: f.facts.Follow(tenant, with), items: f.beliefs.Follow(tenant, with), texts: f.texts.Follow(tenant, with), words: f.words.Follow(tenant, source)}
	f.kept.Add(tenant, fresh)
	return fresh
}
