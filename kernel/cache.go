package kernel

import (
	"errors"
	"fmt"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/graphkernel/graphkernel/atlas/survey"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// A cache holds everything that the kernel has read during one epoch of the store, except API keys,
// which expire after a second. When another server takes over, which may lack what this one had, the
// kernel begins with a new cache.
type cache struct {
	k     *engine
	store projection.Store

	ends      *projection.Ends
	graphs    *projection.Graphs
	cuts      *projection.Cuts
	texts     *projection.Texts
	recorded  *lru.Cache[handout, issued.Record] // bundles that are in the store's record
	policies  *projection.Policies
	issuing   *issuing
	tenants   *projection.Tenants[*space.Items]
	embedders projection.Embedders
	atlases   *survey.Kept
	tasks     sync.Map // of *taskWords, by tenant

	beliefs *space.Kept

	announced *lru.Cache[dag.Tenant, signers]   // tenants whose ledger knows the keys
	markKeys  *lru.Cache[dag.Tenant, marks.Key] // under which their turns are marked
}

func (k *engine) newCache() (*cache, error) {
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
	s := projection.NewStore(k.store)
	beliefs := space.NewKept(s, s.Still)
	texts := projection.NewTexts(s, k.turnstile, k.config.TextBytes)
	embedders := projection.NewEmbedders(k.config.Embedders)
	words := projection.NewWords(s, projection.IndexOptions{
		Bytes: k.config.WordBytes, GraphOver: k.config.GraphOver, Texts: k.config.IndexTexts, Embedders: embedders, Observe: k.observe, Wanted: k.indexing.Dropped,
	})
	tenants, err := projection.NewTenants(s, projection.NewFacts(s, k.config.FactBytes), texts, words, beliefs.Follow)
	if err != nil {
		return nil, err
	}
	ends, err := projection.NewEnds(s)
	if err != nil {
		return nil, err
	}
	graphs, err := projection.NewGraphs(s, ends, &k.heads, k.config.SkeletonBytes)
	if err != nil {
		return nil, err
	}
	c := &cache{
		k: k, store: s,
		ends:      ends,
		graphs:    graphs,
		cuts:      projection.NewCuts(graphs, texts, k.turnstile, k.config.CutBytes),
		texts:     texts,
		recorded:  recorded,
		policies:  projection.NewPolicies(s),
		issuing:   &issuing{store: s, lines: map[dag.Tenant]*issuingLine{}},
		tenants:   tenants,
		embedders: embedders,
		beliefs:   beliefs,

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
		if c.store.Still() == nil {
			return c, nil
		}
		fresh, err := k.newCache()
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
		if !errors.Is(err, projection.ErrEpoch) || tries == most {
			return v, err
		}
	}
}
