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

// sync forgets the text of turns that were erased up to head.
func (x *texts) sync(ctx context.Context, tenant dag.Tenant, head dag.Seq) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	const page = 1_000
	for x.synced[tenant] < head {
		events, err := x.store.Events(ctx, tenant, x.synced[tenant], page)
		if err != nil {
			return err
		}
		for _, e := range events {
			x.kept.remove(turnKey{tenant, e.Turn})
		}
		if len(events) < page {
			x.synced[tenant] = head
			return nil
		}
		x.synced[tenant] = events[len(events)-1].Seq
	}
	return nil
}

// encoded gives the text of turns, as of head, in their order. One query for
// all that is not kept.
func (x *texts) encoded(ctx context.Context, tenant dag.Tenant, head dag.Seq, turns []slice.Selected) ([]slice.EncodedTurn, error) {
	if err := x.sync(ctx, tenant, head); err != nil {
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
	for i := range records {
		r := &records[i]
		e, err := slice.EncodeTurn(&r.Turn, r.Body, r.Salt)
		if err != nil {
			return nil, err
		}
		encoded[at[r.Turn.ID]] = e
		if r.Body != nil { // what is redacted is not worth keeping
			x.kept.put(turnKey{tenant, r.Turn.ID}, e, len(e)+entryCost)
		}
	}
	for _, id := range lacking {
		if encoded[at[id]] == nil {
			return nil, fmt.Errorf("kernel: selected turn %s: %w", id, store.ErrNotFound)
		}
	}
	return encoded, nil
}
