package projection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// Graphs caches the skeletons of conversations: for each conversation that a
// slice was anchored in, a graph of it and of the conversations that its slices reached.
// (A graph of a whole tenant could not be evicted in parts, and with a graph for each
// single conversation, the selection would have to move between graphs.)
type Graphs struct {
	store  Store
	ends   *Ends
	places *bytelru.Cache[turnKey, dag.ConversationID] // a turn's conversation, which never changes
	kept   *bytelru.Cache[graphKey, *graph]
	heads  *Heads
}

// Heads records the greatest head of each tenant that a store has returned in any epoch. The zero value is empty.
type Heads struct {
	mu   sync.Mutex
	seen map[dag.Tenant]dag.Seq // guarded by mu
	back map[dag.Tenant]error   // guarded by mu: the error of each tenant whose head went back
}

// check records a head that was read when least was already the greatest head seen. Its error wraps ErrWentBack if the tenant's head ever went back.
func (h *Heads) check(tenant dag.Tenant, least, head dag.Seq) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen == nil {
		h.seen, h.back = map[dag.Tenant]dag.Seq{}, map[dag.Tenant]error{}
	}
	if h.back[tenant] == nil && head < least {
		h.back[tenant] = fmt.Errorf("projection: tenant %s: %w: its head was %d and is %d; open the kernel anew to work with what is there", tenant, ErrWentBack, least, head)
	}
	h.seen[tenant] = max(h.seen[tenant], head)
	return h.back[tenant]
}

func (h *Heads) least(tenant dag.Tenant) dag.Seq {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[tenant]
}

// ErrWentBack is wrapped when the store has lost entries that it had acknowledged. A kernel whose store was
// put back to an earlier state must be opened again: its caches belong to a history that
// no longer exists.
var ErrWentBack = errors.New("the store lacks what it had acknowledged")

// keptPlaces is the maximum number of turns whose conversation is cached.
const keptPlaces = 1 << 15

// A turnKey names a turn of a tenant.
type turnKey struct {
	tenant dag.Tenant
	turn   dag.TurnID
}

type graphKey struct {
	tenant       dag.Tenant
	conversation dag.ConversationID
}

// A graph is a cached part of a tenant's graph.
type graph struct {
	refresh turnstile.Turnstile // capacity 1: a goroutine holds it while it asks the store; taken before mu
	mu      sync.RWMutex
	dag     *dag.Graph                      // guarded by mu
	newest  dag.Seq                         // guarded by mu: the greatest number of a turn or link in dag
	parts   map[dag.ConversationID]struct{} // guarded by refresh: the conversations in dag
	head    dag.Seq                         // guarded by refresh: all parts are complete up to it
	broken  bool                            // guarded by refresh: an addition failed, and the graph must be loaded again

	// A caller that waited for refresh need not ask the store again if the last answered question
	// was put after the caller arrived.
	asked    atomic.Uint64 // questions put to the store
	answered uint64        // guarded by refresh: the number of the last answered question
}

// NewGraphs returns an empty cache of up to most bytes.
func NewGraphs(s Store, ends *Ends, h *Heads, most int) *Graphs {
	return &Graphs{store: s, ends: ends, places: bytelru.New[turnKey, dag.ConversationID](keptPlaces), heads: h, kept: bytelru.New[graphKey, *graph](most)}
}

// Stats counts the look-ups of graphs.
func (gs *Graphs) Stats() bytelru.Stats { return gs.kept.Stats() }

// Head returns the tenant's head. The error wraps ErrWentBack if a head of the tenant was ever below an earlier one.
func (gs *Graphs) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	least := gs.heads.least(tenant) // read before the store is asked, since other goroutines may raise it meanwhile
	head, err := gs.store.Head(ctx, tenant)
	if err == nil {
		err = gs.heads.check(tenant, least, head)
	}
	return head, err
}

// Conversation returns a turn's conversation, or an error that wraps store.ErrNotFound.
func (gs *Graphs) Conversation(ctx context.Context, tenant dag.Tenant, id dag.TurnID) (dag.ConversationID, error) {
	key := turnKey{tenant, id}
	if of, ok := gs.places.Get(key); ok {
		return of, nil
	}
	records, err := gs.store.Turns(ctx, tenant, store.IDs{id})
	if err != nil {
		return dag.ConversationID{}, err
	}
	if len(records) == 0 {
		return dag.ConversationID{}, fmt.Errorf("turn %s of tenant %s: %w", id, tenant, store.ErrNotFound)
	}
	of := records[0].Turn.Conversation
	gs.places.Put(key, of, 1)
	return of, nil
}

// View calls fn with the graph of a conversation, of the conversations that its slices reached, and of others, as of
// a sequence number; 0 is the present. settled is the number of the newest change of
// the graph: as of any later number the graph is the same. If fn returns a *slice.MissingError, View loads
// the missing conversations and calls fn again. fn must not keep the view. View returns the tenant's head
// at the time.
func (gs *Graphs) View(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, asOf dag.Seq, others []dag.ConversationID, fn func(v dag.View, settled dag.Seq) error) (dag.Seq, error) {
	key := graphKey{tenant, conversation}
	g := gs.kept.GetOrPut(key, func() *graph {
		return &graph{refresh: make(turnstile.Turnstile, 1), dag: dag.NewGraph(), parts: map[dag.ConversationID]struct{}{}}
	})
	missing := append([]dag.ConversationID{conversation}, others...)
	for {
		least := gs.heads.least(tenant) // read before the store is asked, since other goroutines may raise it meanwhile
		head, size, parts, err := g.update(ctx, gs, tenant, missing)
		if err == nil {
			err = gs.heads.check(tenant, least, head)
		}
		if err != nil {
			if errors.Is(err, errInconsistent) { // a cancelled request leaves the graph intact
				gs.kept.Remove(key)
			}
			return 0, err
		}
		gs.kept.Put(key, g, size)
		at, err := gs.ends.UpTo(ctx, tenant, asOf, head)
		if err != nil {
			return head, err
		}
		err = g.read(at, fn)
		var lacks *slice.MissingError
		if !errors.As(err, &lacks) {
			return head, err
		}
		missing = lacks.Conversations
		lacking, now, waited := g.lacks(ctx, missing)
		if waited != nil {
			return 0, waited
		}
		if !lacking && now == parts { // otherwise another goroutine may have added them meanwhile
			gs.kept.Remove(key)
			return 0, fmt.Errorf("projection: the store links to turns that it does not hold: %w", err)
		}
	}
}

// learn caches the conversations of turns, since any of the turns may be asked for next. It takes only the newest
// turns, so that a long conversation cannot evict all others.
func (gs *Graphs) learn(tenant dag.Tenant, turns []dag.Skeleton) {
	const most = keptPlaces / 16
	turns = turns[max(0, len(turns)-most):] // the newest
	for i := range turns {
		gs.places.Put(turnKey{tenant, turns[i].ID}, turns[i].Conversation, 1)
	}
}

func (g *graph) read(at dag.Seq, fn func(dag.View, dag.Seq) error) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return fn(g.dag.At(at), g.newest)
}

// lacks reports whether the graph lacks any of the conversations. parts is the number of conversations that it has.
func (g *graph) lacks(ctx context.Context, conversations []dag.ConversationID) (lacking bool, parts int, err error) {
	err = g.refresh.Pass(ctx, func() error {
		parts = len(g.parts)
		lacking = slices.ContainsFunc(conversations, func(c dag.ConversationID) bool { _, held := g.parts[c]; return !held })
		return nil
	})
	return lacking, parts, err
}

// errInconsistent is wrapped when a cached graph contradicts the store.
var errInconsistent = errors.New("projection: a kept graph is inconsistent with the store; ask again")

// update brings the graph up to the store's head, and adds conversations. It
// returns the head, the graph's size in bytes, and the number of its conversations.
func (g *graph) update(ctx context.Context, gs *Graphs, tenant dag.Tenant, add []dag.ConversationID) (head dag.Seq, size, parts int, err error) {
	came := g.asked.Load()
	err = g.refresh.Pass(ctx, func() error {
		head, err = g.ask(ctx, gs, tenant, add, came)
		size, parts = g.dag.Size(), len(g.parts)
		return err
	})
	return head, size, parts, err
}

// ask is update with refresh held. It sends one query for all conversations. A graph of
// several conversations asks for the head first, since the query names each conversation.
func (g *graph) ask(ctx context.Context, gs *Graphs, tenant dag.Tenant, add []dag.ConversationID, came uint64) (dag.Seq, error) {
	if g.broken {
		return 0, errInconsistent
	}
	var fresh []store.Part
	for _, c := range add {
		if _, held := g.parts[c]; !held {
			fresh = append(fresh, store.Part{Conversation: c})
		}
	}
	if len(fresh) == 0 && g.answered > came {
		return g.head, nil
	}
	question := g.asked.Add(1)
	if len(fresh) == 0 && len(g.parts) > 1 {
		head, err := gs.store.Head(ctx, tenant)
		if err != nil {
			return 0, err
		}
		if head < g.head {
			return head, nil // the caller decides what to do; other callers do not get this head
		}
		if head == g.head {
			g.answered = question
			return head, nil
		}
	}
	parts := make([]store.Part, 0, len(g.parts)+len(fresh))
	for c := range g.parts {
		parts = append(parts, store.Part{Conversation: c, After: g.head})
	}
	parts = append(parts, fresh...)
	news, err := gs.store.Segment(ctx, tenant, parts)
	if err != nil {
		return 0, err
	}
	if news.Head < g.head {
		return news.Head, nil // as above
	}
	if len(news.Turns) > 0 || len(news.Links) > 0 {
		if err := g.extend(&news); err != nil {
			g.broken = true
			return 0, fmt.Errorf("%w: %w", errInconsistent, err)
		}
	}
	gs.learn(tenant, news.Turns)
	for _, p := range fresh {
		g.parts[p.Conversation] = struct{}{}
	}
	g.head, g.answered = news.Head, question
	return g.head, nil
}

func (g *graph) extend(news *store.Segment) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	edges := len(news.Links)
	for i := range news.Turns {
		edges += len(news.Turns[i].Parents)
	}
	if len(news.Turns) > g.dag.Len() { // for few turns, dag grows as they are added
		g.dag.Grow(len(news.Turns), edges)
	}
	for i := range news.Turns {
		if err := g.dag.Add(&news.Turns[i]); err != nil {
			return err
		}
		g.newest = max(g.newest, news.Turns[i].Seq)
	}
	for _, l := range news.Links {
		if err := g.dag.AddLink(l); err != nil {
			return err
		}
		g.newest = max(g.newest, l.Seq)
	}
	return nil
}
