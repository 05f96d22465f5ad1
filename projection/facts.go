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
// changes except for its end, so what is kept is good for every as-of number up to that of the
// acts that its tenant's facts have.
type Facts struct {
	store       Store
	edges       *bytelru.Cache[edgeKey, knowledge.Run]
	answers     *bytelru.Cache[answerKey, *Answer] // nil: it was asked once
	generations atomic.Uint64                      // the last one that was given out
}

// An edgeKey names the edges of a name in one direction. A tenant gets another generation
// when edges ended whose names are not known: all that was kept of it is left to be
// evicted. No generation is given out twice, so each is of one tenant.
type edgeKey struct {
	generation uint64
	name       string
	incoming   bool
}

// An answerKey names an answer: what was asked and as of which number, after how many erasures. So it
// can never be stale.
type answerKey struct {
	erasures uint64 // a generation
	asOf     dag.Seq
	query    string
}

// NewFacts returns an empty cache of at most so many bytes.
func NewFacts(s Store, bytes int) *Facts {
	return &Facts{store: s, edges: bytelru.New[edgeKey, knowledge.Run](bytes - bytes/4), answers: bytelru.New[answerKey, *Answer](bytes / 4)}
}

// TenantFacts is the cached state of one tenant's facts: a projection of the alias tables, with
// the edges and answers of Facts. It drops those that an entry changes.
type TenantFacts struct {
	cache    *Facts
	tenant   dag.Tenant
	followed *follow.Member

	mu         sync.Mutex // guards everything below, and is not held while the store is asked
	applied    dag.Seq    // the number of the last entry
	head       dag.Seq    // that was seen last
	settled    bool       // it was seen before that, too
	generation uint64
	erasures   uint64 // the generation that the last erasure began
	aliasActs  []knowledge.Recorded
	aliases    *normalize.Table             // of all of them
	past       map[dag.Seq]*normalize.Table // by the number of the last act about an alias that counts
}

// of returns the facts of a tenant, which learn of acts and erasures from a follower.
func (f *Facts) of(tenant dag.Tenant, with *follow.Follower) *TenantFacts {
	k := &TenantFacts{cache: f, tenant: tenant, past: map[dag.Seq]*normalize.Table{}}
	k.followed = with.Add(k)
	k.Forget()
	return k
}

// A View is a tenant's knowledge as of a number: a knowledge.Keeper and an alias table.
type View struct {
	AsOf    dag.Seq
	Aliases *normalize.Table // that counted

	of         *TenantFacts
	generation uint64 // of TenantFacts, as of applied
	erasures   uint64 // of TenantFacts
	applied    dag.Seq
	early      bool // the store is not asked: what is not kept, or too much, is errNotKept
	taken      int  // edges that an early walk took
}

// earlyEdges bounds the edges that an early walk takes, for a connection waits for it.
const earlyEdges = 16 << 10

// errNotKept says that the store would have to be asked.
var errNotKept = errors.New("kernel: not kept")

// Reach learns of every act and erasure up to a number that the head has reached.
func (k *TenantFacts) Reach(ctx context.Context, head dag.Seq) error {
	return k.followed.Reach(ctx, head)
}

// View returns a view as of a number that the head has reached. Anyone who asks for an earlier one than
// the head calls Reach with the head first, since the facts of any number may have been erased.
func (k *TenantFacts) View(ctx context.Context, asOf dag.Seq) (*View, error) {
	if err := k.followed.Reach(ctx, asOf); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.viewHere(asOf)
}

// viewHere is View for a number up to which every entry is applied. The caller holds mu.
func (k *TenantFacts) viewHere(asOf dag.Seq) (*View, error) {
	aliases, err := k.aliasesAsOf(asOf)
	if err != nil {
		return nil, err
	}
	return &View{AsOf: asOf, Aliases: aliases, of: k, generation: k.generation, erasures: k.erasures, applied: k.applied}, nil
}

// Head returns the tenant's head. While the store is asked for it, early walks what is kept as of what the head likely is, if that can be told: its view does not
// ask the store, and an answer counts only if the head is what was likely.
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

// likely returns a view of what is kept as of the number that the head likely has: it had it
// when it was seen last, and before that. If there is none it is nil.
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

// saw takes in a head.
func (k *TenantFacts) saw(head dag.Seq) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.head, k.settled = head, k.head == head
}

// Forget drops everything that is cached of the tenant's facts, of any number: something was erased.
func (k *TenantFacts) Forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.renew(true)
}

// renew drops the edges, and the answers as well if something was erased. The caller holds mu.
func (k *TenantFacts) renew(erased bool) {
	k.generation = k.cache.generations.Add(1)
	if erased {
		k.erasures = k.generation
	}
}

// Begin reads the acts about aliases that are not known, which are never erased, and drops everything else.
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

// lastAlias returns the number of the last act about an alias, 0 if there is none. The caller holds mu.
func (k *TenantFacts) lastAlias() dag.Seq {
	if n := len(k.aliasActs); n > 0 {
		return k.aliasActs[n-1].Seq
	}
	return 0
}

// learn takes in acts about aliases. The caller holds mu.
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
	case r.Erased: // nobody knows which edges it began and ended
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

// aliasesAsOf returns the table that counted as of a number.
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

// Edges implements [knowledge.Graph]: it answers from what is kept, and asks the store at once for what has nothing there.
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
		return // acts were looked at meanwhile, which may be of this name and not in what was read
	}
	v.of.cache.edges.Put(key, run, len(key.name)+128+bytesEach*len(run.Edges))
}
