package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
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
	known := store.Known{Head: t.head, Stored: map[dag.TurnID]*store.Record{}, Parents: map[dag.TurnID]dag.ConversationID{}}
	for _, id := range prepared.Arriving() {
		if r := t.byID[id]; r != nil {
			known.Stored[id] = r
		}
	}
	for _, id := range prepared.Beyond() {
		if r := t.byID[id]; r != nil {
			known.Parents[id] = r.Turn.Conversation
		}
	}
	records, receipt, err := prepared.Plan(known)
	if err != nil || len(records) == 0 {
		return receipt, err
	}
	err = s.commit(ctx, func() {
		for i := range records {
			r := clone(&records[i])
			t.records = append(t.records, &r)
			t.byID[r.Turn.ID] = &r
		}
		t.head = receipt.Head
		s.disk.keep(name, t)
	}, "turns", "bodies", "head")
	if err != nil {
		return store.Receipt{}, err
	}
	return receipt, nil
}

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
		return store.Event{}, fmt.Errorf("memory: erase %s: %w", e.Turn, store.ErrNotFound)
	}
	if r.Body == nil {
		at := slices.IndexFunc(t.events, func(old store.Event) bool { return old.Turn == e.Turn })
		if at < 0 {
			return store.Event{}, nil
		}
		return t.events[at], nil
	}
	e.Seq = t.head + 1
	err := s.commit(ctx, func() {
		r.Body, r.Salt, r.External = nil, dag.Salt{}, ""
		t.events = append(t.events, e)
		t.head = e.Seq
	}, "bodies", "events", "head")
	if err != nil {
		return store.Event{}, err
	}
	return e, nil
}

// PutPolicy registers a policy.
func (s *Store) PutPolicy(ctx context.Context, name dag.Tenant, p policy.Registered) error {
	if _, err := dag.ParseTenant(string(name)); err != nil {
		return err
	}
	if _, err := policy.ParseID(string(p.ID())); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	with, err := t.reg.With(p)
	if err != nil || len(with.All()) == len(t.reg.All()) {
		return err
	}
	return s.commit(ctx, func() {
		t.reg = with
		s.disk.keep(name, t)
	}, "policies")
}

// PutIssued records that a bundle was handed out.
func (s *Store) PutIssued(ctx context.Context, name dag.Tenant, i store.Issued) (store.Issued, error) {
	if _, err := dag.ParseTenant(string(name)); err != nil {
		return store.Issued{}, err
	}
	if err := store.CheckIssued(&i); err != nil {
		return store.Issued{}, err
	}
	if err := s.enter(ctx); err != nil {
		return store.Issued{}, err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	if at := slices.IndexFunc(t.issued, func(old store.Issued) bool { return old.Bundle == i.Bundle }); at >= 0 {
		return t.issued[at], nil
	}
	i.Number = uint64(len(t.issued)) + 1
	err := s.commit(ctx, func() {
		t.issued = append(t.issued, i)
		s.disk.keep(name, t)
	}, "number", "issued")
	if err != nil {
		return store.Issued{}, err
	}
	return i, nil
}
