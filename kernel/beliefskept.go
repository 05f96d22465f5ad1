package kernel

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/bytelru"
)

// itemBytes bounds the items of beliefs that are kept with all of their revisions.
const itemBytes = 32 << 20

// linkBytes bounds the links of beliefs that are kept, of all tenants together. A tenant that has more by itself is asked for in the store.
const linkBytes = 64 << 20

// itemCache keeps items of beliefs. What is kept of an item is good for every as-of number up to that of the entries that its tenant's items have.
type itemCache struct {
	store       steadyStore
	items       *bytelru.Cache[itemKey, *journal.ItemHistory]
	generations atomic.Uint64 // the last one that was given out
}

// An itemKey names an item. A tenant gets another generation when something was erased: all that was kept of it is left to be evicted.
type itemKey struct {
	generation uint64
	item       belief.Item
}

func newItemCache(s steadyStore) *itemCache {
	return &itemCache{store: s, items: bytelru.New[itemKey, *journal.ItemHistory](itemBytes)}
}

// tenantItems drops those items of a tenant that an entry changes.
type tenantItems struct {
	cache    *itemCache
	tenant   dag.Tenant
	followed *follow.Member

	mu         sync.Mutex // guards what is below, and is not held while the store is asked
	applied    dag.Seq    // the number of the last entry
	generation uint64
}

func (f *itemCache) of(tenant dag.Tenant, with *follow.Follower) *tenantItems {
	k := &tenantItems{cache: f, tenant: tenant}
	k.followed = with.Add(k)
	return k
}

// Begin drops everything.
func (k *tenantItems) Begin(_ context.Context, to dag.Seq) (dag.Seq, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.applied, k.generation = to, k.cache.generations.Add(1)
	return to, nil
}

// Apply drops the item that an entry changes.
func (k *tenantItems) Apply(e *history.Entry) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.applied = e.Seq
	if e.Kind == erasures.Kind {
		k.generation = k.cache.generations.Add(1)
		return nil
	}
	item, err := journal.ItemOf(e)
	if err == nil && item != "" {
		k.cache.items.Remove(itemKey{k.generation, item})
	}
	return err
}

// history returns what is recorded of an item. The caller has called Reach with the head, since the words of any revision may have been erased.
func (k *tenantItems) history(ctx context.Context, b journal.Base, item belief.Item) (*journal.ItemHistory, error) {
	k.mu.Lock()
	key, applied := itemKey{k.generation, item}, k.applied
	k.mu.Unlock()
	if h, ok := k.cache.items.Get(key); ok {
		return h, nil
	}
	h, err := b.ItemHistory(ctx, k.tenant, item)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation == key.generation && k.applied == applied { // else something was looked at meanwhile that may not be in what was read
		k.cache.items.Put(key, h, h.Size())
	}
	return h, nil
}

// journal returns the reader of beliefs.
func (c *cache) journal() journal.Base {
	return journal.Base{History: c.store, Kept: (*keptRevisions)(c)}
}

// beliefItem returns what is recorded of an item, as of every number.
func (c *cache) beliefItem(ctx context.Context, tenant dag.Tenant, item belief.Item, head dag.Seq) (*journal.ItemHistory, error) {
	items := c.tenants.of(tenant).items
	if err := items.followed.Reach(ctx, head); err != nil {
		return nil, err
	}
	return items.history(ctx, c.journal(), item)
}

// webs keep the links of beliefs of the tenants that were asked for last.
type webs struct {
	store steadyStore
	most  int // bytes
	kept  *bytelru.Cache[dag.Tenant, *tenantWeb]
}

func newWebs(s steadyStore, most int) *webs {
	return &webs{store: s, most: most, kept: bytelru.New[dag.Tenant, *tenantWeb](most)}
}

// tenantWeb is the links of one tenant, with a follower of their own: evicted they are gone, and nobody reads on for them.
type tenantWeb struct {
	webs     *webs
	tenant   dag.Tenant
	followed *follow.Member

	mu  sync.RWMutex
	web *journal.Web // nil: there are too many
}

func (w *webs) of(tenant dag.Tenant) *tenantWeb {
	return w.kept.GetOrPut(tenant, func() *tenantWeb {
		t := &tenantWeb{webs: w, tenant: tenant}
		t.followed = follow.New(func(ctx context.Context, after dag.Seq, limit int) ([]history.Entry, error) {
			return w.store.Entries(ctx, tenant, history.Page{After: after, Limit: limit})
		}).Add(t)
		return t
	})
}

// Begin reads all links.
func (t *tenantWeb) Begin(ctx context.Context, to dag.Seq) (dag.Seq, error) {
	web := journal.NewWeb()
	err := journal.Base{History: t.webs.store}.EachLink(ctx, t.tenant, to, func(l *journal.Link) bool {
		web.Add(l)
		return t.webs.fits(web)
	})
	if err != nil {
		return 0, err
	}
	web.Sort()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.web = web; !t.webs.fits(web) {
		t.web = nil
	}
	return to, nil
}

// besides is what a tenantWeb takes without its web, in bytes.
const besides = 1024

func (w *webs) fits(web *journal.Web) bool { return web.Size()+besides <= w.most }

// Apply adds a link.
func (t *tenantWeb) Apply(e *history.Entry) error {
	if e.Kind != journal.KindLink {
		return nil
	}
	l, err := journal.ReadLink(e)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.web != nil {
		if t.web.Add(l); !t.webs.fits(t.web) {
			t.web = nil
		}
	}
	return nil
}

// dependents is that of journal.Base, of the links that are kept if there are not too many. The head has reached the number.
func (w *webs) dependents(ctx context.Context, tenant dag.Tenant, of belief.Address, depth int, asOf dag.Seq) ([]journal.Dependent, error) {
	t := w.of(tenant)
	before := t.followed.UpTo()
	if err := t.followed.Reach(ctx, asOf); err != nil {
		return nil, err
	}
	t.mu.RLock()
	web, size := t.web, 0
	var list []journal.Dependent
	if web != nil {
		list, size = web.Dependents(of, depth, asOf), web.Size()
	}
	t.mu.RUnlock()
	if t.followed.UpTo() != before {
		w.kept.Put(tenant, t, size+besides)
	}
	if web == nil {
		return journal.Base{History: w.store}.Dependents(ctx, tenant, of, depth, asOf)
	}
	return list, nil
}
