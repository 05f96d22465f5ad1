package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// A factCache caches a tenant's knowledge: the edges of names that were walked, the alias tables,
// and answers. An edge never changes except for its end, so what is kept is good for
// every as-of number up to that of the acts it was brought up to.
type factCache struct {
	store   steadyStore
	edges   *byteLRU[edgeKey, knowledge.Run]
	answers *byteLRU[answerKey, *knowledge.Answer] // nil: it was asked once

	mu          sync.Mutex
	tenants     *lru.Cache[dag.Tenant, *tenantFacts] // under mu, so that there is one of each
	generations atomic.Uint64                        // the last one that was given out
}

// An edgeKey names the edges of a name in one direction. A tenant gets another generation
// when edges ended of which the names are not known: all that was kept of it is left to be
// forgotten. No generation is given out twice, so what is kept of a tenant that was forgotten
// meanwhile is not taken for news.
type edgeKey struct {
	tenant     dag.Tenant
	generation uint64
	name       string
	incoming   bool
}

// An answerKey names an answer: what was asked and as of which number, after how many erasures. So it
// can never be stale.
type answerKey struct {
	tenant   dag.Tenant
	erasures uint64
	asOf     dag.Seq
	query    string
}

// tenantFacts is the cached state of one tenant's facts.
type tenantFacts struct {
	mu         sync.Mutex // held while it is brought up to date
	upTo       dag.Seq    // acts up to this number are looked at
	head       dag.Seq    // that was seen last
	reached    dag.Seq    // a number that the head has reached
	stands     bool       // it was seen before that, too
	begun      bool
	generation uint64
	erasures   uint64 // the generation that the last erasure began
	aliasActs  []knowledge.Recorded
	aliases    *normalize.Table             // of all of them
	past       map[dag.Seq]*normalize.Table // by the number of the last act about an alias that counts
}

func newFactCache(s steadyStore, bytes int) (*factCache, error) {
	tenants, err := lru.New[dag.Tenant, *tenantFacts](keptAnnounced)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	return &factCache{store: s, edges: newByteLRU[edgeKey, knowledge.Run](bytes - bytes/4), answers: newByteLRU[answerKey, *knowledge.Answer](bytes / 4), tenants: tenants}, nil
}

func (f *factCache) of(tenant dag.Tenant) *tenantFacts {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.tenants.Get(tenant)
	if !ok {
		k = &tenantFacts{past: map[dag.Seq]*normalize.Table{}}
		f.renew(k)
		f.tenants.Add(tenant, k)
	}
	return k
}

// A view is a tenant's knowledge as of a number: a knowledge.Keeper and an alias table.
type view struct {
	f          *factCache
	tenant     dag.Tenant
	asOf       dag.Seq
	generation uint64 // of tenantFacts, as of upTo
	erasures   uint64 // of tenantFacts
	upTo       dag.Seq
	aliases    *normalize.Table
	early      bool // the store is not asked: what is not kept, or too much, is errNotKept
	taken      int  // edges that an early walk took
}

// earlyEdges bounds the edges that an early walk takes, for a connection waits for it.
const earlyEdges = 16 << 10

// errNotKept says that the store would have to be asked.
var errNotKept = errors.New("kernel: not kept")

// view returns a view as of a number that the head has reached.
func (f *factCache) view(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (*view, error) {
	k := f.of(tenant)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := f.catchUp(ctx, tenant, k, max(asOf, k.reached)); err != nil { // since the facts of any number may have been erased
		return nil, err
	}
	aliases, err := k.aliasesAsOf(asOf)
	if err != nil {
		return nil, err
	}
	return &view{f: f, tenant: tenant, asOf: asOf, generation: k.generation, erasures: k.erasures, upTo: k.upTo, aliases: aliases}, nil
}

// likely returns a view of what is kept as of the number that the head likely has: it had it
// when it was seen last, and before that. If there is none it is nil.
func (f *factCache) likely(tenant dag.Tenant) *view {
	k := f.of(tenant)
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.begun || !k.stands || k.head == 0 || k.head > k.upTo {
		return nil
	}
	aliases, err := k.aliasesAsOf(k.head)
	if err != nil {
		return nil
	}
	return &view{f: f, tenant: tenant, asOf: k.head, generation: k.generation, erasures: k.erasures, upTo: k.upTo, aliases: aliases, early: true}
}

// reach takes in that the head has come to a number.
func (f *factCache) reach(tenant dag.Tenant, head dag.Seq) {
	k := f.of(tenant)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reached = max(k.reached, head)
}

// erased drops everything that is cached of a tenant's facts, of any number.
func (f *factCache) erased(tenant dag.Tenant) {
	k := f.of(tenant)
	k.mu.Lock()
	defer k.mu.Unlock()
	f.renew(k)
}

func (f *factCache) renew(k *tenantFacts) {
	k.generation = f.generations.Add(1)
	k.erasures = k.generation
}

// saw takes in a head.
func (f *factCache) saw(tenant dag.Tenant, head dag.Seq) {
	k := f.of(tenant)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.head, k.stands = head, k.head == head
}

// catchUp looks at the acts that came since, up to a number, and releases the edges that
// they changed. Who begins has none, and reads those about aliases alone.
func (f *factCache) catchUp(ctx context.Context, tenant dag.Tenant, k *tenantFacts, to dag.Seq) error {
	if k.begun && to <= k.upTo {
		return nil
	}
	if !k.begun {
		acts, err := f.store.knowledge().Aliases(ctx, tenant, 0)
		if err != nil {
			return err
		}
		if k.aliases, err = knowledge.AliasesOf(nil, acts, dag.MaxSeq); err != nil {
			return err
		}
		k.aliasActs, k.begun, k.upTo = acts, true, to
		if n := len(acts); n > 0 {
			k.upTo = max(to, acts[n-1].Seq)
		}
		return nil
	}
	const page, most = 256, 4096
	if to-k.upTo > most { // reading them all would take longer than reading edges again
		acts, err := f.store.knowledge().Aliases(ctx, tenant, k.upTo)
		if err != nil {
			return err
		}
		aliases, err := knowledge.AliasesOf(k.aliases, acts, dag.MaxSeq)
		if err != nil {
			return err
		}
		k.aliases, k.aliasActs, k.upTo = aliases, append(k.aliasActs, acts...), to
		f.renew(k)
		if n := len(acts); n > 0 {
			k.upTo = max(to, acts[n-1].Seq)
		}
		return nil
	}
	for from := k.upTo; ; {
		entries, err := f.store.Entries(ctx, tenant, history.Page{After: from, Limit: page})
		if err != nil {
			return err
		}
		for i := range entries {
			if err := f.invalidate(tenant, k, &entries[i]); err != nil {
				return err
			}
			from = entries[i].Seq
		}
		k.upTo = max(k.upTo, from)
		if len(entries) < page {
			k.upTo = max(k.upTo, to)
			return nil
		}
	}
}

// invalidate removes the cached edges that an entry changes.
func (f *factCache) invalidate(tenant dag.Tenant, k *tenantFacts, e *history.Entry) error {
	if e.Kind == erasures.Kind {
		f.renew(k)
	}
	if !knowledge.IsKind(e.Kind) {
		return nil
	}
	r, err := knowledge.FromEntry(e)
	if err != nil {
		return err
	}
	a := &r.Act
	switch {
	case r.Erased:
		f.renew(k)
	case a.Kind == knowledge.Alias || a.Kind == knowledge.Unalias:
		k.aliasActs = append(k.aliasActs, r)
		k.aliases, err = knowledge.AliasesOf(k.aliases, k.aliasActs[len(k.aliasActs)-1:], dag.MaxSeq)
		return err
	case a.Kind == knowledge.Retract || len(a.Supersedes) > 0:
		k.generation = f.generations.Add(1)
	default:
		f.edges.remove(edgeKey{tenant, k.generation, a.Fact.Subject, false})
		f.edges.remove(edgeKey{tenant, k.generation, a.Fact.Object, true})
	}
	return nil
}

// aliasesAsOf returns the table that counted as of a number.
func (k *tenantFacts) aliasesAsOf(asOf dag.Seq) (*normalize.Table, error) {
	n := len(k.aliasActs)
	for n > 0 && k.aliasActs[n-1].Seq > asOf {
		n--
	}
	switch {
	case n == len(k.aliasActs):
		return k.aliases, nil
	case n == 0:
		return nil, nil
	}
	last := k.aliasActs[n-1].Seq
	if t, ok := k.past[last]; ok {
		return t, nil
	}
	t, err := knowledge.AliasesOf(nil, k.aliasActs[:n], dag.MaxSeq)
	if err == nil {
		const most = 64
		if len(k.past) == most {
			clear(k.past)
		}
		k.past[last] = t
	}
	return t, err
}

// bytesEach is what an edge takes with its names.
const bytesEach = 320

var _ knowledge.Keeper = (*view)(nil)

// keepAnswer keeps an answer, with edges of its own: those of the graph would keep all that
// are beside them. Paths go on sharing them.
func (f *factCache) keepAnswer(key answerKey, a knowledge.Answer) {
	size := len(key.query) + 256
	a.Reached = slices.Clone(a.Reached)
	own := make(map[*knowledge.Edge]*knowledge.Edge, len(a.Reached))
	for i := range a.Reached {
		path := slices.Clone(a.Reached[i].Path)
		for k, e := range path {
			if own[e] == nil {
				copied := *e
				own[e] = &copied
				size += bytesEach
			}
			path[k] = own[e]
		}
		a.Reached[i].Path = path
		size += 128 + 8*len(path)
	}
	f.answers.put(key, &a, size)
}

// Kept answers from what is kept.
func (v *view) Kept(a *knowledge.Ask) (knowledge.Run, bool) {
	if a.Earlier {
		return knowledge.Run{}, false // those of the newest rule between them would have to be told apart
	}
	first, ok := v.f.edges.glance(edgeKey{v.tenant, v.generation, a.Name, a.Incoming})
	if !ok {
		return knowledge.Run{}, false
	}
	run, ok := following(first, a)
	if v.taken += len(run.Edges); v.early && v.taken > earlyEdges {
		return knowledge.Run{}, false
	}
	return run, ok
}

// Edges answers from what is kept, and asks the store at once for what has nothing there.
func (v *view) Edges(ctx context.Context, asks []knowledge.Ask) ([]knowledge.Run, error) {
	runs := make([]knowledge.Run, len(asks))
	var missing []knowledge.Ask
	var of []int
	for i := range asks {
		if asks[i].Earlier && !v.early {
			run, err := v.edgesEarlier(ctx, asks[i])
			if err != nil {
				return nil, err
			}
			runs[i] = run
			continue
		}
		run, ok := v.Kept(&asks[i])
		if ok {
			runs[i] = run
			continue
		}
		missing, of = append(missing, asks[i]), append(of, i)
	}
	switch {
	case len(missing) == 0:
		return runs, nil
	case v.early:
		return nil, errNotKept
	}
	got, err := v.f.store.knowledge().Edges(ctx, v.tenant, missing)
	if err != nil {
		return nil, err
	}
	for n, run := range knowledge.Runs(missing, got) {
		runs[of[n]] = run
		v.keep(&missing[n], run)
	}
	return runs, nil
}

// edgesEarlier answers a question for edges of facts of earlier rules.
func (v *view) edgesEarlier(ctx context.Context, a knowledge.Ask) (knowledge.Run, error) {
	a.Earlier = false
	for {
		lists, err := v.f.store.knowledge().Edges(ctx, v.tenant, []knowledge.Ask{a})
		if err != nil {
			return knowledge.Run{}, err
		}
		edges := lists[0]
		run := knowledge.Run{Whole: len(edges) < a.Limit}
		for i := range edges {
			if edges[i].Rule != normalize.Newest {
				run.Edges = append(run.Edges, edges[i])
			}
		}
		if len(run.Edges) > 0 || run.Whole {
			return run, nil
		}
		a.After = edges[len(edges)-1].Mark()
	}
}

// following returns the edges of a name that are asked for out of its first ones, and false if
// those that follow are not among them.
func following(first knowledge.Run, a *knowledge.Ask) (knowledge.Run, bool) {
	from := 0
	if a.After.Since != 0 {
		from, _ = slices.BinarySearchFunc(first.Edges, a.After, func(e knowledge.Edge, m knowledge.Mark) int {
			if m.Before(&e) {
				return 1
			}
			return -1
		})
	}
	rest := first.Edges[from:]
	if n := a.Limit; len(rest) > n {
		return knowledge.Run{Edges: rest[:n:n]}, true
	}
	return knowledge.Run{Edges: rest, Whole: first.Whole}, len(rest) > 0 || first.Whole
}

// keep keeps the first edges of a name, or appends those that follow on what is kept. It is
// of the view's generation: if that ended meanwhile, nobody will look there.
func (v *view) keep(a *knowledge.Ask, run knowledge.Run) {
	key := edgeKey{v.tenant, v.generation, a.Name, a.Incoming}
	if a.After.Since != 0 {
		kept, ok := v.f.edges.get(key)
		if n := len(kept.Edges); !ok || n == 0 || kept.Edges[n-1].Mark() != a.After {
			return
		}
		run.Edges = slices.Concat(kept.Edges, run.Edges)
	}
	k := v.f.of(v.tenant)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation != v.generation || k.upTo != v.upTo {
		return // acts were looked at meanwhile, which may be of this name and not in what was read
	}
	v.f.edges.put(key, run, len(key.name)+128+bytesEach*len(run.Edges))
}
