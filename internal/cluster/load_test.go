package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// The load: few conversations, so that clients meet; each below a length at which a slice
// of wide holds all of it, from whichever turn.
const (
	conversations = 4
	longest       = 150 // turns of a conversation
	deepest       = 30  // edges from the root; twice that is within the radius
	clients       = 4   // of each process
)

func conversationID(c int) dag.ConversationID {
	return dag.ExternalConversationID("cluster", strconv.Itoa(c))
}

func turnID(c, turn int) dag.TurnID {
	return dag.ExternalTurnID("cluster", fmt.Sprintf("%d/%d", c, turn))
}

// wide is a policy whose slices hold a whole conversation.
func wide(t *testing.T) policy.Registered {
	t.Helper()
	params := policy.DefaultV1()
	params.MaxNodes, params.MaxRadius, params.IncludeSiblings, params.MaxSiblings = 1024, policy.LimitRadius, false, 0
	p, err := policy.Bind("wide@1", params)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A talk is a conversation as the clients know it.
type talk struct {
	mu    sync.Mutex // guards everything below
	begun int        // turns that a client has taken upon itself to admit
	last  int        // the turn last acknowledged
	depth map[int]int
	seen  map[dag.TurnID]int // every turn's number in this conversation
}

// next takes a turn to admit, and its parent; false if the conversation is long enough.
func (k *talk) next(c int, r *rand.Rand) (turn, parent int, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.begun >= longest {
		return 0, 0, false
	}
	turn = k.begun
	k.begun++
	if r.IntN(3) > 0 && k.depth[k.last] < deepest {
		parent = k.last
	}
	k.depth[turn] = k.depth[parent] + 1
	k.seen[turnID(c, turn)] = turn
	return turn, parent, true
}

func (k *talk) acknowledged(turn int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = turn
}

func (k *talk) newest() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// A load drives clients, and records what they were told.
type load struct {
	t         *testing.T
	processes []*client.Client
	began     time.Time
	talks     [conversations]*talk

	mu      sync.Mutex // guards everything below
	history []porcupine.Operation
	bundles []client.Bundle

	failures atomic.Int64 // calls that were answered with an error, or not at all
	admitted atomic.Int64
	cut      atomic.Int64
}

// newLoad registers the policy and admits the root of each conversation.
func newLoad(t *testing.T, processes []*client.Client) *load {
	t.Helper()
	l := &load{t: t, processes: processes, began: time.Now()}
	if err := processes[0].Policies().Register(t.Context(), wide(t)); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for c := range conversations {
		l.talks[c] = &talk{depth: map[int]int{0: -1}, seen: map[dag.TurnID]int{}}
		l.admit(0, processes[c%len(processes)], c, r)
	}
	return l
}

func (l *load) now() int64 { return int64(time.Since(l.began)) }

func (l *load) record(client int, c call, a answer, from, to int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history = append(l.history, porcupine.Operation{ClientId: client, Input: c, Output: a, Call: from, Return: to})
}

// run lets the clients of each process work until there were so many operations, or done is closed.
func (l *load) run(operations int64, done <-chan struct{}) {
	seed := uint64(time.Now().UnixNano())
	l.t.Logf("seed %d", seed)
	var wg sync.WaitGroup
	for p, process := range l.processes {
		for n := range clients {
			wg.Go(func() {
				id := p*clients + n
				r := rand.New(rand.NewPCG(seed, uint64(id)))
				for l.admitted.Load()+l.cut.Load() < operations && !l.t.Failed() {
					select {
					case <-done:
						return
					default:
					}
					l.one(id, process, r)
				}
			})
		}
	}
	wg.Wait()
}

// one is one operation of a client.
func (l *load) one(id int, process *client.Client, r *rand.Rand) {
	c := r.IntN(conversations)
	if r.IntN(2) == 0 && l.admit(id, process, c, r) {
		return
	}
	l.slice(id, process, c, r)
}

// admit admits a turn; it reports false if the conversation is long enough. A turn is
// admitted again until it is acknowledged, and that is one operation: any
// of the attempts may have been the one that counts.
func (l *load) admit(id int, process *client.Client, c int, r *rand.Rand) bool {
	turn, parent, ok := l.talks[c].next(c, r)
	if !ok {
		return false
	}
	d := dag.Draft{
		ID: turnID(c, turn), Conversation: conversationID(c), Role: dag.RoleUser, CreatedAt: dag.Time(turn + 1),
		Author: "human:guest", Content: fmt.Sprintf("turn %d of conversation %d", turn, c),
	}
	if turn > 0 {
		d.Parents = []dag.Parent{{ID: turnID(c, parent), Kind: dag.Reply}}
	}
	from := l.now()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		receipt, err := process.Turns().Admit(l.t.Context(), []dag.Draft{d})
		if err == nil {
			to := l.now()
			a := answer{seq: dag.Seq(receipt.Head)}
			if receipt.Admitted == 0 { // by an earlier attempt
				a.seq = l.number(process, d.ID)
			}
			l.record(id, call{c, turn}, a, from, to)
			l.talks[c].acknowledged(turn)
			l.admitted.Add(1)
			return true
		}
		l.failures.Add(1)
		if !passes(err) || time.Now().After(deadline) {
			l.t.Errorf("admitting turn %d of conversation %d: %v", turn, c, err)
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// passes tells the errors of a database that is away from those that say something of
// the request.
func passes(err error) bool {
	var p *client.Problem
	return !errors.As(err, &p) || p.Status >= 500
}

// number asks for a turn's number, which never changes.
func (l *load) number(process *client.Client, id dag.TurnID) dag.Seq {
	for range 100 {
		if stored, err := process.Turns().Get(l.t.Context(), id); err == nil {
			return dag.Seq(stored.Seq)
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.t.Errorf("turn %s was acknowledged and cannot be read", id)
	return 0
}

// slice cuts a slice that shows a whole conversation, at its root or at the turn last
// acknowledged. What fails is left out: it tells nothing.
func (l *load) slice(id int, process *client.Client, c int, r *rand.Rand) {
	anchor := 0
	if r.IntN(2) == 0 {
		anchor = l.talks[c].newest()
	}
	from := l.now()
	bundle, err := process.Slices().Cut(l.t.Context(), client.Request{Anchor: turnID(c, anchor), Policy: "wide@1"})
	if err != nil {
		l.failures.Add(1)
		if !passes(err) {
			l.t.Errorf("cutting a slice of conversation %d: %v", c, err)
		}
		time.Sleep(20 * time.Millisecond)
		return
	}
	to := l.now()
	a := answer{seq: bundle.Claim.AsOf}
	for i := range bundle.Claim.Turns {
		turn, known := l.talks[c].number(bundle.Claim.Turns[i].ID)
		if !known {
			l.t.Errorf("a slice of conversation %d shows %s, which nobody admits", c, bundle.Claim.Turns[i].ID)
			return
		}
		a.shown = a.shown.with(turn)
	}
	l.record(id, call{c, noTurn}, a, from, to)
	l.mu.Lock()
	l.bundles = append(l.bundles, bundle)
	l.mu.Unlock()
	l.cut.Add(1)
}

func (k *talk) number(id dag.TurnID) (int, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	turn, known := k.seen[id]
	return turn, known
}

// check checks the history, and that there was enough of it.
func (l *load) check(operations int64) {
	l.t.Helper()
	l.t.Logf("%d turns admitted, %d slices cut, %d calls failed, in %v", l.admitted.Load(), l.cut.Load(), l.failures.Load(), time.Since(l.began).Round(time.Millisecond))
	if l.admitted.Load() < operations/10 || l.cut.Load() < operations/10 || l.admitted.Load()+l.cut.Load() < operations {
		l.t.Errorf("that is too little: want %d operations, and a tenth of them of each kind", operations)
	}
	if err := linearizable(l.history); err != nil {
		l.t.Error(err)
	}
}

// each calls fn with every element, four at a time.
func each[T any](ctx context.Context, list []T, fn func(context.Context, T)) {
	next := make(chan T)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for v := range next {
				fn(ctx, v)
			}
		})
	}
	for _, v := range list {
		next <- v
	}
	close(next)
	wg.Wait()
}
