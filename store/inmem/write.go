package inmem

import (
	"context"
	"fmt"
	"maps"
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
	for _, r := range prepared.Unless() {
		known.Unless = append(known.Unless, t.rangeOf(&r, nil))
	}
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

// Adopt adopts a stretch of history.
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
	if prepared.Rest() != nil {
		t = t.clone()
	}
	var steps []string
	for {
		apply, some, err := t.adopt(name, prepared)
		if err != nil {
			return err
		}
		if steps = append(steps, some...); prepared.Rest() != nil {
			apply()
			prepared = prepared.Rest()
			continue
		}
		if apply == nil {
			return nil
		}
		return s.commit(ctx, func() {
			apply()
			s.disk.keep(name, t)
		}, steps...)
	}
}

// adopt plans a stretch. It returns a function that carries out the plan, nil if there is nothing to do, and the steps of the plan.
func (t *tenant) adopt(name dag.Tenant, prepared *store.PreparedStretch) (apply func(), steps []string, err error) {
	known := t.known(prepared.Arriving(), prepared.Beyond())
	if err := prepared.Follows(t.head); err != nil {
		return nil, nil, fmt.Errorf("inmem: adopt: %w", err)
	}
	plan := &history.Plan{}
	if c := prepared.Change(); c != nil {
		if plan, err = t.planned(c, name); err != nil {
			return nil, nil, fmt.Errorf("inmem: adopt: %w", err)
		}
	}
	records, stored, err := prepared.Plan(known, plan.Bodies)
	if err != nil {
		return nil, nil, fmt.Errorf("inmem: adopt: %w", err)
	}
	if prepared.Last() == 0 {
		return nil, nil, nil
	}
	plan.Bodies = stored
	grown, err := t.plan(plan.Records)
	if err != nil {
		return nil, nil, err
	}
	return func() {
		t.add(records)
		t.change(plan)
		t.head = prepared.Last()
		t.grow(grown)
	}, grown.steps("turns", "bodies", "entries", "head"), nil
}

// clone returns a copy of a tenant. Changes of the copy do not affect the original.
func (t *tenant) clone() *tenant {
	c := &tenant{head: t.head, byID: make(map[dag.TurnID]*store.Record, len(t.byID)), cells: maps.Clone(t.cells), snapshots: maps.Clone(t.snapshots)}
	for _, r := range t.records {
		own := *r
		c.records = append(c.records, &own)
		c.byID[own.Turn.ID] = &own
	}
	c.log = log{tree: t.tree, leaves: slices.Clone(t.log.leaves)}
	for level := range t.hashes {
		c.hashes[level] = slices.Clone(t.hashes[level])
	}
	c.past.entries = slices.Clone(t.past.entries)
	for _, term := range t.sorted() {
		own := *term
		c.terms = append(c.terms, &own)
	}
	return c
}

// known returns the stored data that planning a write needs.
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

// change carries out a plan, except for the ledger and the head.
func (t *tenant) change(p *history.Plan) {
	t.past.change(p)
	forget(t.log.leaves, p.ForgetRecords)
	t.snap(p.Snapshots)
	for _, id := range p.Bodies {
		r := t.byID[id]
		r.Body, r.Salt, r.External, r.Withheld = nil, dag.Salt{}, "", false
	}
}
