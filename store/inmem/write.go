package inmem

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// Append admits batches.
func (s *Store) Append(ctx context.Context, name dag.Tenant, batches []store.Batch) (store.Receipt, error) {
	if _, err := dag.ParseTenant(string(name)); err != nil {
		return store.Receipt{}, err
	}
	prepared, err := store.Prepare(batches)
	if err != nil {
		return store.Receipt{}, err
	}
	if err := s.enter(ctx); err != nil {
		return store.Receipt{}, err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	known := t.known(prepared.Arriving(), prepared.Beyond())
	records, receipt, err := prepared.Plan(known)
	if err != nil || len(records) == 0 {
		return receipt, err
	}
	err = s.commit(ctx, func() {
		t.add(records)
		t.head = receipt.Head
		s.disk.keep(name, t)
	}, "turns", "bodies", "head")
	if err != nil {
		return store.Receipt{}, err
	}
	return receipt, nil
}

// Adopt takes over a stretch of history.
func (s *Store) Adopt(ctx context.Context, name dag.Tenant, stretch store.Stretch) error {
	if _, err := dag.ParseTenant(string(name)); err != nil {
		return err
	}
	prepared, err := store.PrepareStretch(stretch)
	if err != nil {
		return fmt.Errorf("inmem: adopt: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	known := t.known(prepared.Arriving(), prepared.Beyond())
	known.Erased = map[dag.TurnID]bool{}
	for _, id := range prepared.Erasing() {
		if _, ok := t.event(id); ok {
			known.Erased[id] = true
		}
	}
	records, events, err := prepared.Plan(known)
	if err != nil {
		return fmt.Errorf("inmem: adopt: %w", err)
	}
	if prepared.Last() == 0 {
		return nil
	}
	plan := &history.Plan{}
	if c := prepared.Change(); c != nil {
		if plan, err = t.planned(c, name); err != nil {
			return fmt.Errorf("inmem: adopt: %w", err)
		}
	}
	leaves := make([][]byte, len(events))
	for i := range events {
		leaves[i] = store.EventLeaf(name, &events[i])
	}
	grown, err := t.plan(leaves...)
	if err != nil {
		return err
	}
	return s.commit(ctx, func() {
		t.add(records)
		for _, id := range prepared.Erasing() {
			erase(t.byID[id])
		}
		t.events = append(t.events, events...)
		t.past.change(plan)
		t.head = prepared.Last()
		t.grow(grown)
		s.disk.keep(name, t)
	}, grown.steps("turns", "bodies", "events", "head")...)
}

// known returns what planning a write asks for.
func (t *tenant) known(arriving, beyond []dag.TurnID) store.Known {
	k := store.Known{Head: t.head, Stored: map[dag.TurnID]*store.Record{}, Parents: map[dag.TurnID]dag.ConversationID{}}
	for _, id := range arriving {
		if r := t.byID[id]; r != nil {
			k.Stored[id] = r
		}
	}
	for _, id := range beyond {
		if r := t.byID[id]; r != nil {
			k.Parents[id] = r.Turn.Conversation
		}
	}
	return k
}

func (t *tenant) add(records []store.Record) {
	for i := range records {
		r := clone(&records[i])
		t.records = append(t.records, &r)
		t.byID[r.Turn.ID] = &r
	}
}

// event finds the erasure of a turn.
func (t *tenant) event(id dag.TurnID) (store.Event, bool) {
	at := slices.IndexFunc(t.events, func(e store.Event) bool { return e.Turn == id })
	if at < 0 {
		return store.Event{}, false
	}
	return t.events[at], true
}

func erase(r *store.Record) { r.Body, r.Salt, r.External, r.Withheld = nil, dag.Salt{}, "", false }

// Erase deletes a body.
func (s *Store) Erase(ctx context.Context, name dag.Tenant, e store.Event) (store.Event, error) {
	if err := store.CheckEvent(&e); err != nil {
		return store.Event{}, err
	}
	if err := s.enter(ctx); err != nil {
		return store.Event{}, err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	r := t.byID[e.Turn]
	if r == nil {
		return store.Event{}, fmt.Errorf("inmem: erase %s: %w", e.Turn, store.ErrNotFound)
	}
	if stands, erased := t.event(e.Turn); erased || r.Withheld {
		return stands, nil
	}
	e.Seq = t.head + 1
	grown, err := t.plan(store.EventLeaf(name, &e))
	if err != nil {
		return store.Event{}, err
	}
	err = s.commit(ctx, func() {
		erase(r)
		t.events = append(t.events, e)
		t.head = e.Seq
		t.grow(grown)
	}, grown.steps("bodies", "events", "head")...)
	if err != nil {
		return store.Event{}, err
	}
	return e, nil
}
