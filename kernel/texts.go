package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// texts keeps encoded turns, so that a turn that is handed out often is fetched
// and encoded once. Text can be erased, by other processes too: before the kept
// text is used, it is brought up to a head that was just read.
type texts struct {
	store  steadyStore
	inside turnstile
	kept   *byteLRU[turnKey, text]

	mu       sync.Mutex               // guards everything below, and is not held while the store is asked
	erasures map[dag.Tenant]*erasures // that the kept text knows
	erased   uint64                   // erasures made through this kernel
}

// The erasures of a tenant, as far as they are known.
type erasures struct {
	asking turnstile // of one: inside it the store is asked
	synced dag.Seq   // guarded by texts.mu: all up to here
}

// A text is an encoded turn.
type text struct {
	encoded  slice.EncodedTurn
	withheld bool // it is erased, or never came
}

// A moment says which erasures are known.
type moment struct {
	synced dag.Seq
	erased uint64
}

// entryCost is what an entry of the cache takes beside its text.
const entryCost = 160

func newTexts(s steadyStore, inside turnstile, most int) *texts {
	return &texts{store: s, inside: inside, kept: newByteLRU[turnKey, text](most), erasures: map[dag.Tenant]*erasures{}}
}

// forget lets go of the text of a turn that is erased through this kernel.
func (x *texts) forget(tenant dag.Tenant, turn dag.TurnID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.erased++
	x.kept.remove(turnKey{tenant, turn})
}

// sync forgets the text of turns that were erased up to head. It gives the moment
// up to which the kept text knows every erasure.
func (x *texts) sync(ctx context.Context, tenant dag.Tenant, head dag.Seq) (moment, error) {
	e, now := x.known(tenant, head)
	if now.synced >= head {
		return now, nil
	}
	err := e.asking.pass(ctx, func() error {
		const page = 1_000
		for {
			if _, now = x.known(tenant, head); now.synced >= head {
				return nil
			}
			events, err := x.store.Events(ctx, tenant, now.synced, page)
			if err != nil {
				return err
			}
			x.learn(tenant, e, events, len(events) < page, head)
		}
	})
	return now, err
}

// known gives what is known of a tenant's erasures, and when. head was just read.
func (x *texts) known(tenant dag.Tenant, head dag.Seq) (*erasures, moment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.erasures[tenant]
	if e == nil { // no text of the tenant is kept: there is nothing to forget
		e = &erasures{asking: make(turnstile, 1), synced: head}
		x.erasures[tenant] = e
	}
	return e, moment{e.synced, x.erased}
}

// learn takes events in; if they are all there are, everything up to head is known.
func (x *texts) learn(tenant dag.Tenant, e *erasures, events []store.Event, all bool, head dag.Seq) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, event := range events {
		x.kept.remove(turnKey{tenant, event.Turn})
		e.synced = max(e.synced, event.Seq)
	}
	if all {
		e.synced = max(e.synced, head)
	}
}

// keep keeps text that was fetched after a moment. If more erasures are known by
// now the text may be of a turn that was erased in between, and nobody would
// forget it any more: then it is not kept.
func (x *texts) keep(tenant dag.Tenant, known moment, fetched map[dag.TurnID]text) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.erasures[tenant]; e == nil || (moment{e.synced, x.erased}) != known {
		return
	}
	for id, e := range fetched {
		x.kept.put(turnKey{tenant, id}, e, len(e.encoded)+entryCost)
	}
}

// fetchedAtOnce bounds the turns of one query for text.
const fetchedAtOnce = 512

// encoded gives the text of turns that stand at places, as of head, in their order. One
// query for up to 512 turns that are not kept. What is stored must match its digest:
// nothing is handed out that would not verify.
func (x *texts) encoded(ctx context.Context, tenant dag.Tenant, head dag.Seq, turns []slice.Selected, places []store.Place) ([]text, error) {
	known, err := x.sync(ctx, tenant, head)
	if err != nil {
		return nil, err
	}
	given := make([]text, len(turns))
	size := 0
	x.kept.getAll(len(turns), func(i int) turnKey { return turnKey{tenant, turns[i].ID} }, func(i int, t text) {
		given[i] = t
		size += len(t.encoded)
	})
	var lacking []int
	for i := range given {
		if given[i].encoded == nil {
			lacking = append(lacking, i)
		}
	}
	for some := range slices.Chunk(lacking, fetchedAtOnce) {
		fetched, err := x.fetch(ctx, tenant, places, some)
		if err != nil {
			return nil, err
		}
		for _, i := range some {
			t, found := fetched[turns[i].ID]
			if !found {
				return nil, fmt.Errorf("kernel: selected turn %s: %w", turns[i].ID, store.ErrNotFound)
			}
			given[i] = t
			if size += len(t.encoded); size > slice.MaxBundle {
				return nil, fmt.Errorf("%w: the text of %d turns has more than %d bytes; lower max_nodes", ErrTooLarge, len(turns), slice.MaxBundle)
			}
		}
		x.keep(tenant, known, fetched)
	}
	return given, nil
}

// ErrDamaged is wrapped when the store holds what cannot be: text that is not the one admitted,
// an edge without its act.
var ErrDamaged = errors.New("the store is damaged: run graphkernel fsck")

func (x *texts) fetch(ctx context.Context, tenant dag.Tenant, places []store.Place, some []int) (map[dag.TurnID]text, error) {
	wanted := make([]store.Place, len(some))
	for i, at := range some {
		wanted[i] = places[at]
	}
	records, err := x.store.Placed(ctx, tenant, wanted)
	if err != nil {
		return nil, err
	}
	encoded := make([]text, len(records))
	err = x.inside.each(ctx, len(records), func(i int) error {
		r := &records[i]
		if r.Body != nil && slice.DigestBody(r.Body, r.Salt) != r.Turn.BodyDigest {
			return fmt.Errorf("%w: the text of turn %s does not match its digest", ErrDamaged, r.Turn.ID)
		}
		e, err := slice.EncodeTurn(&r.Turn, r.Body, r.Salt)
		encoded[i] = text{e, r.Body == nil}
		return err
	})
	if err != nil {
		return nil, err
	}
	fetched := make(map[dag.TurnID]text, len(records))
	for i := range records {
		fetched[records[i].Turn.ID] = encoded[i]
	}
	return fetched, nil
}
