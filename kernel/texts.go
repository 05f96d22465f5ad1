package kernel

import (
	"context"
	"fmt"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// texts keeps encoded turns, so that a turn that is handed out often is fetched
// and encoded once. Text can be erased, by other processes too: before the kept
// text is used, it is brought up to a head that was just read.
type texts struct {
	store store.Store
	kept  *byteLRU[turnKey, slice.EncodedTurn]

	mu     sync.Mutex
	synced map[dag.Tenant]dag.Seq // kept text knows every erasure up to here
}

// entryCost is what an entry of the cache takes beside its text.
const entryCost = 160

func newTexts(s store.Store, most int) *texts {
	return &texts{store: s, kept: newByteLRU[turnKey, slice.EncodedTurn](most), synced: map[dag.Tenant]dag.Seq{}}
}

// sync forgets the text of turns that were erased up to head. It gives the number
// up to which the kept text knows every erasure, which is at least that.
func (x *texts) sync(ctx context.Context, tenant dag.Tenant, head dag.Seq) (dag.Seq, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	const page = 1_000
	for x.synced[tenant] < head {
		events, err := x.store.Events(ctx, tenant, x.synced[tenant], page)
		if err != nil {
			return 0, err
		}
		for _, e := range events {
			x.kept.remove(turnKey{tenant, e.Turn})
		}
		if len(events) < page {
			x.synced[tenant] = head
			break
		}
		x.synced[tenant] = events[len(events)-1].Seq
	}
	return x.synced[tenant], nil
}

// keep keeps text that was fetched when every erasure up to synced was known. If
// more are known by now the text may be of a turn that was erased in between, and
// nobody would forget it any more: then it is not kept.
func (x *texts) keep(tenant dag.Tenant, synced dag.Seq, fetched map[dag.TurnID]slice.EncodedTurn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.synced[tenant] != synced {
		return
	}
	for id, e := range fetched {
		x.kept.put(turnKey{tenant, id}, e, len(e)+entryCost)
	}
}

// encoded gives the text of turns, as of head, in their order. One query for
// all that is not kept.
func (x *texts) encoded(ctx context.Context, tenant dag.Tenant, head dag.Seq, turns []slice.Selected) ([]slice.EncodedTurn, error) {
	synced, err := x.sync(ctx, tenant, head)
	if err != nil {
		return nil, err
	}
	encoded := make([]slice.EncodedTurn, len(turns))
	var lacking []dag.TurnID
	at := map[dag.TurnID]int{}
	for i := range turns {
		id := turns[i].ID
		if e, ok := x.kept.get(turnKey{tenant, id}); ok {
			encoded[i] = e
			continue
		}
		lacking = append(lacking, id)
		at[id] = i
	}
	if len(lacking) == 0 {
		return encoded, nil
	}
	records, err := x.store.Turns(ctx, tenant, lacking)
	if err != nil {
		return nil, err
	}
	fetched := make(map[dag.TurnID]slice.EncodedTurn, len(records))
	for i := range records {
		r := &records[i]
		e, err := slice.EncodeTurn(&r.Turn, r.Body, r.Salt)
		if err != nil {
			return nil, err
		}
		encoded[at[r.Turn.ID]] = e
		if r.Body != nil { // what is redacted is not worth keeping
			fetched[r.Turn.ID] = e
		}
	}
	x.keep(tenant, synced, fetched)
	for _, id := range lacking {
		if encoded[at[id]] == nil {
			return nil, fmt.Errorf("kernel: selected turn %s: %w", id, store.ErrNotFound)
		}
	}
	return encoded, nil
}
