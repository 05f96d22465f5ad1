package space

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/embed/static"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// Bounds of the cache, in bytes.
const (
	revisionBytes = 64 << 20 // of revisions
	termBytes     = 32 << 20 // of the terms of revisions
	vectorBytes   = 16 << 20 // of the vectors of revisions
	itemBytes     = 32 << 20 // of items with all of their revisions
	linkBytes     = 64 << 20 // of links of all tenants together; the links of a tenant that exceeds this alone are read from the store
)

// Kept is a cache of records during one epoch of the store. A cached item is valid for every as-of number up to the last entry that the
// Items of its tenant have applied.
type Kept struct {
	store       history.History
	still       func() error
	revisions   *bytelru.Cache[revisionKey, *journal.Revision]
	terms       *bytelru.Cache[revisionKey, []string] // ascending
	vectors     *bytelru.Cache[revisionKey, []int8]   // of texts; nil: there is nothing to embed
	items       *bytelru.Cache[itemKey, *journal.ItemHistory]
	generations atomic.Uint64 // the last generation of Items
	links       *webs
}

// NewKept returns an empty cache for one epoch of a store. still must return an error once the epoch has ended.
func NewKept(s history.History, still func() error) *Kept {
	return &Kept{
		store: s, still: still,
		revisions: bytelru.New[revisionKey, *journal.Revision](revisionBytes), terms: bytelru.New[revisionKey, []string](termBytes), vectors: bytelru.New[revisionKey, []int8](vectorBytes),
		items: bytelru.New[itemKey, *journal.ItemHistory](itemBytes), links: newWebs(s, linkBytes),
	}
}

// Journal returns the records of beliefs in the epoch.
func (c *Kept) Journal() journal.Base { return journal.Of(c.store, c) }

type revisionKey struct {
	tenant dag.Tenant
	seq    dag.Seq
}

// Revision implements [journal.Kept].
func (c *Kept) Revision(tenant dag.Tenant, seq dag.Seq) *journal.Revision {
	if c.still() != nil {
		return nil
	}
	r, _ := c.revisions.Get(revisionKey{tenant, seq})
	return r
}

// Keep implements [journal.Kept].
func (c *Kept) Keep(tenant dag.Tenant, r *journal.Revision) {
	if c.still() == nil {
		c.revisions.Put(revisionKey{tenant, r.Seq}, r, r.Size())
	}
}

// Terms returns the search terms of a revision's text, keywords and topics, ascending.
func (c *Kept) Terms(tenant dag.Tenant, r *journal.Revision) []string {
	key := revisionKey{tenant, r.Seq}
	terms, ok := c.terms.Get(key)
	if !ok {
		text := strings.Join(slices.Concat([]string{contexts.BeliefText(r)}, r.Keywords, r.Topics), "\n")
		terms = slices.Compact(slices.Sorted(slices.Values(analysis.English.Terms(nil, text))))
		size := 64
		for _, t := range terms {
			size += 16 + len(t)
		}
		c.terms.Put(key, terms, size)
	}
	return terms
}

// Vector returns the vector of what a revision says, by the built-in table; nil if there is nothing to embed.
func (c *Kept) Vector(ctx context.Context, tenant dag.Tenant, r *journal.Revision) ([]int8, error) {
	key := revisionKey{tenant, r.Seq}
	if v, ok := c.vectors.Get(key); ok {
		return v, nil
	}
	made, err := static.Load().Embed(ctx, []string{textOf(r)})
	if err != nil {
		return nil, err
	}
	c.vectors.Put(key, made[0], 64+len(made[0]))
	return made[0], nil
}

// Forget drops all revisions, their terms and their vectors. It is called when a revision may have been erased.
func (c *Kept) Forget() {
	c.revisions.Purge()
	c.terms.Purge()
	c.vectors.Purge()
}

// An itemKey identifies a cached item. An erasure gives a tenant another generation, so its older items are no longer found and are
// evicted in time.
type itemKey struct {
	generation uint64
	item       belief.Item
}

// Items is the cache of one tenant's items. An entry that changes an item drops it.
type Items struct {
	kept     *Kept
	tenant   dag.Tenant
	followed *follow.Member

	mu         sync.Mutex // guards the fields below; released while the store is read
	applied    dag.Seq    // the number of the last entry applied
	generation uint64
}

// Follow returns the items of a tenant, and adds them to a follower of the tenant's entries.
func (c *Kept) Follow(tenant dag.Tenant, with *follow.Follower) *Items {
	k := &Items{kept: c, tenant: tenant}
	k.followed = with.Add(k)
	return k
}

// Begin drops all items of the tenant.
func (k *Items) Begin(_ context.Context, to dag.Seq) (dag.Seq, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.applied, k.generation = to, k.kept.generations.Add(1)
	return to, nil
}

// Apply drops the item that an entry changes.
func (k *Items) Apply(e *history.Entry) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.applied = e.Seq
	if e.Kind == erasures.Kind {
		k.generation = k.kept.generations.Add(1)
		return nil
	}
	item, err := journal.ItemOf(e)
	if err == nil && item != "" {
		k.kept.items.Remove(itemKey{k.generation, item})
	}
	return err
}

// History returns the records of an item, as of every number up to the head.
func (k *Items) History(ctx context.Context, item belief.Item, head dag.Seq) (*journal.ItemHistory, error) {
	if err := k.followed.Reach(ctx, head); err != nil { // because any revision may have been erased
		return nil, err
	}
	k.mu.Lock()
	key, applied := itemKey{k.generation, item}, k.applied
	k.mu.Unlock()
	if h, ok := k.kept.items.Get(key); ok {
		return h, nil
	}
	h, err := k.kept.Journal().ItemHistory(ctx, k.tenant, item)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation == key.generation && k.applied == applied { // otherwise the history may lack an entry that the follower saw meanwhile
		k.kept.items.Put(key, h, h.Size())
	}
	return h, nil
}

// webs is a cache of the links of beliefs of the tenants used last.
type webs struct {
	store history.History
	most  int // bytes
	kept  *bytelru.Cache[dag.Tenant, *tenantWeb]
}

func newWebs(s history.History, most int) *webs {
	return &webs{store: s, most: most, kept: bytelru.New[dag.Tenant, *tenantWeb](most)}
}

// tenantWeb contains the links of one tenant. It has a follower of its own, so nothing reads entries for it after it was evicted.
type tenantWeb struct {
	webs     *webs
	tenant   dag.Tenant
	followed *follow.Member

	mu  sync.RWMutex
	web *journal.Web // nil: there are too many links
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

// Begin reads all links of the tenant.
func (t *tenantWeb) Begin(ctx context.Context, to dag.Seq) (dag.Seq, error) {
	web := journal.NewWeb()
	err := journal.Of(t.webs.store, nil).EachLink(ctx, t.tenant, to, func(l *journal.Link) bool {
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

// besides is the size of a tenantWeb without its web, in bytes.
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

// dependents is like Dependents of journal.Base, but uses the cached links unless there are too many. asOf must not be above the head.
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
		return journal.Of(w.store, nil).Dependents(ctx, tenant, of, depth, asOf)
	}
	return list, nil
}
