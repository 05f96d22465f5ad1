package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/atlas/survey"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// A cache holds everything that the kernel has read during one epoch of the store, except API keys,
// which expire after a second. When another server takes over, it may lack data that the old one had, so the
// kernel begins with a new cache.
type cache struct {
	k     *engine
	store projection.Store

	ends      *projection.Ends
	graphs    *projection.Graphs
	cuts      *projection.Cuts
	texts     *projection.Texts
	recorded  *bytelru.Cache[handout, issued.Record] // bundles that are in the store's record
	policies  *projection.Policies
	issuing   *issuing
	tenants   *projection.Tenants[*space.Items]
	embedders projection.Embedders
	atlases   *survey.Kept
	tasks     *assemble.Tasks

	beliefs    *space.Kept
	admissions *admission.Kept

	announced *notary.Announced
}

// newCache returns an empty cache for the store's present epoch.
func (k *engine) newCache() *cache {
	s := projection.NewStore(k.store)
	ends, beliefs := projection.NewEnds(s), space.NewKept(s, s.Still)
	graphs := projection.NewGraphs(s, ends, &k.heads, k.config.SkeletonBytes)
	texts := projection.NewTexts(s, k.turnstile, k.config.TextBytes)
	embedders := projection.NewEmbedders(k.config.Embedders)
	words := projection.NewWords(s, projection.IndexOptions{
		Bytes: k.config.WordBytes, GraphOver: k.config.GraphOver, Texts: k.config.IndexTexts, Embedders: embedders, Observe: k.observe, Wanted: k.indexing.Dropped,
	})
	policies, admissions := projection.NewPolicies(s), admission.NewKept(s, k.random.draw)
	c := &cache{
		k: k, store: s,
		ends:      ends,
		graphs:    graphs,
		texts:     texts,
		recorded:  bytelru.New[handout, issued.Record](keptRecorded),
		policies:  policies,
		issuing:   &issuing{store: s, lines: map[dag.Tenant]*issuingLine{}},
		tenants:   projection.NewTenants(s, projection.NewFacts(s, k.config.FactBytes), texts, words, projection.NewStandings(s, policies, admissions.Namer), beliefs.Follow),
		embedders: embedders,
		beliefs:   beliefs,
		tasks:     assemble.NewTasks(issued.Base{History: s}),

		admissions: admissions,

		announced: k.notary.NewAnnounced(s),
	}
	c.cuts = projection.NewCuts(graphs, texts, c.course, k.turnstile, k.config.CutBytes)
	c.atlases = survey.NewKept(surveyedEpoch{c})
	return c
}

// course is a [projection.Course].
func (c *cache) course(ctx context.Context, tenant dag.Tenant, atLeast dag.Seq) (standing.Course, dag.Seq, error) {
	return c.tenants.Of(tenant).Standings.Course(ctx, atLeast)
}

// current returns the cache of the store's present epoch.
func (k *engine) current() *cache {
	for {
		c := k.kept.Load()
		if c.store.Still() == nil {
			return c
		}
		k.kept.CompareAndSwap(c, k.newCache())
	}
}

// steady runs an operation on the current cache, and repeats it if the store's epoch ended
// meanwhile, since the operation may have read parts of two histories. It gives up after 5 tries.
func steady[T any](k *engine, operation func(*cache) (T, error)) (T, error) {
	const most = 5
	for tries := 1; ; tries++ {
		v, err := operation(k.current())
		if !projection.Ended(err) || tries == most {
			return v, err
		}
	}
}

// reading is steady for an operation without a result.
func (k *engine) reading(operation func(*cache) error) error {
	_, err := steady(k, func(c *cache) (struct{}, error) { return struct{}{}, operation(c) })
	return err
}

// Policy implements [assemble.Epoch] and [find.Epoch].
func (c *cache) Policy(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error) {
	return c.policies.Get(ctx, tenant, id)
}

// Turns implements [assemble.Epoch] and [find.Epoch].
func (c *cache) Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]store.Record, error) {
	return c.store.Turns(ctx, tenant, store.IDs(ids))
}

// AsOf implements [assemble.Epoch], [find.Epoch] and [query.Epoch]. It returns the number of the view for an as-of number, and the head; for 0 the view is that
// of the head. It brings the cached facts up to the head.
func (c *cache) AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (asOf, head dag.Seq, err error) {
	head, err = c.store.Head(ctx, tenant)
	if err != nil {
		return 0, 0, err
	}
	if err := c.tenants.Of(tenant).Facts.Reach(ctx, head); err != nil {
		return 0, 0, err
	}
	if asOf, err = c.ends.UpTo(ctx, tenant, given, head); err != nil {
		return 0, 0, err
	}
	return asOf, head, nil
}
