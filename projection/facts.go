package projection

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// Facts caches knowledge: the edges of names that were walked, and answers. An edge never
// changes except for its end, so cached edges are valid for every as-of number up to the last entry
// that the tenant's TenantFacts has applied.
type Facts struct {
	store       Store
	edges       *bytelru.Cache[edgeKey, knowledge.Run]
	answers     *bytelru.Cache[answerKey, *Answer] // nil: the query was asked once
	generations atomic.Uint64                      // the last generation that was assigned
}

// An edgeKey names the edges of a name in one direction. A tenant gets a new generation
// when edges with unknown names have ended: its cached edges are not found any more, and are
// evicted in time. No generation is assigned twice, so each belongs to one tenant.
type edgeKey struct {
	generation uint64
	name       string
	incoming   bool
}

// An answerKey names an answer by its query, its as-of number and the generation of the last erasure, so an answer
// can never be stale.
type answerKey struct {
	erasures uint64 // a generation
	asOf     dag.Seq
	query    string
}

// NewFacts returns an empty cache of up to bytes bytes.
func NewFacts(s Store, bytes int) *Facts {
	return &Facts{store: s, edges: bytelru.New[edgeKey, knowledge.Run](bytes - bytes/4), answers: bytelru.New[answerKey, *Answer](bytes / 4)}
}

// TenantFacts is the cached state of one tenant's facts: a projection with the alias tables, and with
// the tenant's edges and answers in Facts. It drops the edges and answers that an entry changes.
type TenantFacts struct {
	cache    *Facts
	tenant   dag.Tenant
	followed *follow.Member

	mu         sync.Mutex // guards everything below, and is not held while the store is asked
	applied    dag.Seq    // the number of the last entry
	head       dag.Seq    // the head that was seen last
	settled    bool       // the last two heads seen were equal
	generation uint64
	erasures   uint64 // the generation that began with the last erasure
	aliasActs  []knowledge.Recorded
	aliases    *normalize.Table             // of all aliasActs
	past       map[dag.Seq]*normalize.Table // earlier tables, by the number of the last alias act in them
}

// of returns the facts of a tenant. They receive acts and erasures from a follower.
func (f *Facts) of(tenant dag.Tenant, with *follow.Follower) *TenantFacts {
	k := &TenantFacts{cache: f, tenant: tenant, past: map[dag.Seq]*normalize.Table{}}
	k.followed = with.Add(k)
	k.Forget()
	return k
}

// A View is a tenant's knowledge as of a number: a [knowledge.Keeper] with an alias table.
type View struct {
	AsOf    dag.Seq
	Aliases *normalize.Table // as of AsOf

	of         *TenantFacts
	generation uint64 // of TenantFacts, when applied was its last entry
	erasures   uint64 // of TenantFacts
	applied    dag.Seq
	early      bool // the store is not asked: edges that are not cached, or more than earlyEdges, are errNotKept
	taken      int  // the number of edges that were read from the cache
}

// earlyEdges is the maximum number of edges that an early walk reads, since a connection to the store waits for the walk.
const earlyEdges = 16 << 10

// errNotKept means that the cache does not have the edges and the store must not be asked.
var errNotKept = errors.New("projection: not kept")

// Reach applies every act and erasure up to a number that the head has reached.
func (k *TenantFacts) Reach(ctx context.Context, head dag.Seq) error {
	return k.followed.Reach(ctx, head)
}

// View returns a view as of a number that the head has reached. A caller that asks for a number below
// the head calls Reach with the head first, since facts of any number may have been erased.
func (k *TenantFacts) View(ctx context.Context, asOf dag.Seq) (*View, error) {
	if err := k.followed.Reach(ctx, asOf); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.viewHere(asOf)
}

// viewHere is like View, for a number up to which every entry has been applied. The caller holds mu.
func (k *TenantFacts) viewHere(asOf dag.Seq) (*View, error) {
	aliases, err := k.aliasesAsOf(asOf)
	if err != nil {
		return nil, err
	}
	return &View{AsOf: asOf, Aliases: aliases, of: k, generation: k.generation, erasures: k.erasures, applied: k.applied}, nil
}

// Head returns the tenant's head. If the head can be guessed, early is called with a view as of the guess while the store is asked. The view
// does not ask the store; an answer from it is valid only if the guess was right.
func (k *TenantFacts) Head(ctx context.Context, early func(likely *View)) (head dag.Seq, err error) {
	if likely := k.likely(); likely == nil {
		head, err = k.cache.store.Head(ctx, k.tenant)
	} else {
		head, err = k.cache.store.HeadWhile(ctx, k.tenant, func() { early(likely) })
	}
	if err != nil {
		return 0, err
	}
	k.saw(head)
	return head, nil
}

// likely returns an early view as of the head that was seen last, if the head seen before it was the same;
// otherwise it returns nil.
func (k *TenantFacts) likely() *View {
	upTo := k.followed.UpTo()
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.settled || k.head == 0 || k.head > upTo {
		return nil
	}
	v, err := k.viewHere(k.head)
	if err != nil {
		return nil
	}
	v.early = true
	return v
}

// saw records a head.
func (k *TenantFacts) saw(head dag.Seq) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.head, k.settled = head, k.head == head
}

// Forget drops all cached edges and answers of the tenant, after an erasure.
func (k *TenantFacts) Forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.renew(true)
}

// renew drops the edges, and also the answers if something was erased. The caller holds mu.
func (k *TenantFacts) renew(erased bool) {
	k.generation = k.cache.generations.Add(1)
	if erased {
		k.erasures = k.generation
	}
}

// Begin reads the alias acts that are not in aliasActs yet, and drops the edges and answers. Alias acts are never erased.
func (k *TenantFacts) Begin(ctx context.Context, to dag.Seq) (dag.Seq, error) {
	k.mu.Lock()
	after := k.lastAlias()
	k.mu.Unlock()
	acts, err := k.cache.store.Knowledge().Aliases(ctx, k.tenant, after)
	if err != nil {
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.renew(true)
	if err := k.learn(acts); err != nil {
		return 0, err
	}
	k.applied = max(to, k.lastAlias())
	return k.applied, nil
}

// lastAlias returns the number of the last alias act, or 0 if there is none. The caller holds mu.
func (k *TenantFacts) lastAlias() dag.Seq {
	if n := len(k.aliasActs); n > 0 {
		return k.aliasActs[n-1].Seq
	}
	return 0
}

// learn adds alias acts to the table. The caller holds mu.
func (k *TenantFacts) learn(acts []knowledge.Recorded) error {
	aliases, err := knowledge.AliasesOf(k.aliases, acts, dag.MaxSeq)
	if err == nil {
		k.aliases, k.aliasActs = aliases, append(k.aliasActs, acts...)
	}
	return err
}

// Apply removes the cached edges that an entry changes.
func (k *TenantFacts) Apply(e *history.Entry) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.applied = e.Seq
	if e.Kind == erasures.Kind {
		k.renew(true)
	}
	if !knowledge.IsKind(e.Kind) {
		return nil
	}
	r, err := knowledge.FromEntry(e)
	if err != nil {
		return err
	}
	switch a := &r.Act; {
	case r.Erased: // the edges that it began and ended are unknown
		k.renew(true)
	case a.Kind == knowledge.Alias || a.Kind == knowledge.Unalias:
		return k.learn([]knowledge.Recorded{r})
	case a.Kind == knowledge.Retract || len(a.Supersedes) > 0:
		k.renew(false)
	default:
		k.cache.edges.Remove(edgeKey{k.generation, a.Fact.Subject, false})
		k.cache.edges.Remove(edgeKey{k.generation, a.Fact.Object, true})
	}
	return nil
}

// aliasesAsOf returns the alias table as of a number. The caller holds mu.
func (k *TenantFacts) aliasesAsOf(asOf dag.Seq) (*normalize.Table, error) {
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

var _ knowledge.Keeper = (*View)(nil)

// Kept implements [knowledge.Keeper].
func (v *View) Kept(a *knowledge.Ask) (knowledge.Run, bool) {
	first, ok := v.of.cache.edges.Glance(edgeKey{v.generation, a.Name, a.Incoming})
	if !ok {
		return knowledge.Run{}, false
	}
	run, ok := following(first, a)
	if v.taken += len(run.Edges); v.early && v.taken > earlyEdges {
		return knowledge.Run{}, false
	}
	return run, ok
}

// Edges implements [knowledge.Graph]: it answers from the cache, and sends the store one query for the edges that are not cached.
func (v *View) Edges(ctx context.Context, asks []knowledge.Ask) ([]knowledge.Run, error) {
	runs := make([]knowledge.Run, len(asks))
	var missing []knowledge.Ask
	var of []int
	for i := range asks {
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
	got, err := v.of.cache.store.Knowledge().Edges(ctx, v.of.tenant, missing)
	if err != nil {
		return nil, err
	}
	for n, run := range knowledge.Runs(missing, got) {
		runs[of[n]] = run
		v.keep(&missing[n], run)
	}
	return runs, nil
}

// following returns the edges that an ask wants out of the first edges of its name. It returns false if
// first ends before them.
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

// keep caches the first edges of a name, or appends the following edges to the cached ones. It caches
// nothing if the tenant's facts have changed since the view was made.
func (v *View) keep(a *knowledge.Ask, run knowledge.Run) {
	key := edgeKey{v.generation, a.Name, a.Incoming}
	if a.After.Since != 0 {
		kept, ok := v.of.cache.edges.Get(key)
		if n := len(kept.Edges); !ok || n == 0 || kept.Edges[n-1].Mark() != a.After {
			return
		}
		run.Edges = slices.Concat(kept.Edges, run.Edges)
	}
	k := v.of
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation != v.generation || k.applied != v.applied {
		return // acts were applied meanwhile; they may concern this name and not be in run
	}
	v.of.cache.edges.Put(key, run, len(key.name)+128+bytesEach*len(run.Edges))
}
