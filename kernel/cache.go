package kernel

import (
	"context"
	"errors"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/graphkernel/graphkernel/atlas/survey"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// A cache holds everything that the kernel has read during one epoch of the store, except API keys,
// which expire after a second. When another server takes over, which may lack what this one had, the
// kernel begins with a new cache.
type cache struct {
	k     *engine
	store steadyStore

	ends     *ends
	graphs   *graphs
	cuts     *cuts
	texts    *texts
	places   *lru.Cache[turnKey, dag.ConversationID] // a turn's conversation, which never changes
	recorded *lru.Cache[handout, issued.Record]      // bundles that are in the store's record
	policies *registries
	issuing  *issuing
	tenants  *followers // of facts and texts
	atlases  *survey.Kept
	tasks    *assemble.Tasks

	beliefs *space.Kept

	announced *lru.Cache[dag.Tenant, signers]   // tenants whose ledger knows the keys
	markKeys  *lru.Cache[dag.Tenant, marks.Key] // under which their turns are marked
}

func (k *engine) newCache(epoch uint64) (*cache, error) {
	places, err := lru.New[turnKey, dag.ConversationID](keptPlaces)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	recorded, err := lru.New[handout, issued.Record](keptRecorded)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	announced, err := lru.New[dag.Tenant, signers](keptAnnounced)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	markKeys, err := lru.New[dag.Tenant, marks.Key](keptAnnounced)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	s := steadyStore{k.store, epoch}
	beliefs := space.NewKept(s, s.still)
	texts := newTexts(s, k.turnstile, k.config.TextBytes)
	tenants, err := newFollowers(s, newFactCache(s, k.config.FactBytes), beliefs, texts, &k.config, k.observe, k.indexing.dropped)
	if err != nil {
		return nil, err
	}
	ends, err := newEnds(s)
	if err != nil {
		return nil, err
	}
	c := &cache{
		k: k, store: s,
		ends:     ends,
		graphs:   newGraphs(s, ends, places, &k.heads, k.config.SkeletonBytes),
		cuts:     newCuts(texts, k.config.CutBytes),
		texts:    texts,
		places:   places,
		recorded: recorded,
		policies: &registries{store: s, kept: map[dag.Tenant]policy.Registry{}, written: map[writtenPolicy]bool{}},
		issuing:  &issuing{store: s, lines: map[dag.Tenant]*issuingLine{}},
		tenants:  tenants,
		beliefs:  beliefs,
		tasks:    assemble.NewTasks(s.bundles()),

		announced: announced,
		markKeys:  markKeys,
	}
	c.atlases = survey.NewKept(surveyedEpoch{c})
	return c, nil
}

// current returns the cache of the store's present epoch.
func (k *engine) current() (*cache, error) {
	for {
		c := k.kept.Load()
		epoch := k.store.Epoch()
		if c.store.epoch == epoch {
			return c, nil
		}
		fresh, err := k.newCache(epoch)
		if err != nil {
			return nil, err
		}
		k.kept.CompareAndSwap(c, fresh)
	}
}

// steady runs an operation on what is kept, and again if the store's epoch ended
// meanwhile: half of what it read may be of another history then.
func steady[T any](k *engine, operation func(*cache) (T, error)) (T, error) {
	const most = 5
	for tries := 1; ; tries++ {
		c, err := k.current()
		if err != nil {
			var none T
			return none, err
		}
		v, err := operation(c)
		if !errors.Is(err, errEpoch) || tries == most {
			return v, err
		}
	}
}

// errEpoch is wrapped when the store's epoch has ended. Callers of the kernel see it only
// if servers change all the time.
var errEpoch = fmt.Errorf("kernel: %w: one server after the other took over", store.ErrBusy)

// A steadyStore answers with an error where an answer may be of another epoch. It has the methods
// that operations on a cache need.
type steadyStore struct {
	inner store.Store
	epoch uint64
}

func (s steadyStore) still() error {
	if s.inner.Epoch() != s.epoch {
		return errEpoch
	}
	return nil
}

// stillOf ends every question: it refuses an answer if the epoch has ended meanwhile.
func stillOf[T any](s steadyStore, v T, err error) (T, error) {
	if changed := s.still(); changed != nil {
		var none T
		return none, changed
	}
	return v, err
}

func (s steadyStore) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	v, err := s.inner.Head(ctx, tenant)
	return stillOf(s, v, err)
}

func (s steadyStore) HeadWhile(ctx context.Context, tenant dag.Tenant, work func()) (dag.Seq, error) {
	v, err := store.HeadWhile(ctx, s.inner, tenant, work)
	return stillOf(s, v, err)
}

func (s steadyStore) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	v, err := s.inner.Segment(ctx, tenant, parts)
	return stillOf(s, v, err)
}

func (s steadyStore) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	v, err := s.inner.Turns(ctx, tenant, of)
	return stillOf(s, v, err)
}

func (s steadyStore) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, fn func(*store.Record) error) error {
	err := s.inner.Scan(ctx, tenant, after, nil, func(r *store.Record) error {
		if err := s.still(); err != nil {
			return err
		}
		return fn(r)
	})
	_, err = stillOf(s, struct{}{}, err)
	return err
}

// registry returns the reader of policies.
func (s steadyStore) registry() registry.Base { return registry.Base{History: s} }

// erasures returns the record of erasures.
func (s steadyStore) erasures() erasures.Base { return erasures.Base{History: s} }

// bundles returns the record of issued bundles.
func (s steadyStore) bundles() issued.Base { return issued.Base{History: s} }

// knowledge returns the reader of facts.
func (s steadyStore) knowledge() knowledge.Base { return knowledge.Base{History: s} }

func (s steadyStore) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	v, err := s.inner.Entries(ctx, tenant, p)
	return stillOf(s, v, err)
}

func (s steadyStore) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	v, err := s.inner.Terms(ctx, tenant, ranges)
	return stillOf(s, v, err)
}

func (s steadyStore) Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) ([]history.Snapshot, error) {
	v, err := s.inner.Snapshots(ctx, tenant, p)
	return stillOf(s, v, err)
}

func (s steadyStore) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	if err := s.still(); err != nil {
		return err
	}
	err := s.inner.Write(ctx, tenant, c)
	_, err = stillOf(s, struct{}{}, err)
	return err
}
