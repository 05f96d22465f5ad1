package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
)

const queryErased = `SELECT turn FROM events WHERE tenant = $1 AND kind = $2 AND turn = ANY($3)`

// Adopt takes over a stretch of another store's history; see store.Store.
func (s *Store) Adopt(ctx context.Context, tenant dag.Tenant, stretch store.Stretch) error {
	prepared, err := store.PrepareStretch(stretch)
	if err != nil {
		return fmt.Errorf("postgres: adopt: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("postgres: adopt: %w", err)
	}
	defer s.gate.RUnlock()
	err = s.write(ctx, tenant, func(t *tx) error {
		if t.mine { // all was adopted, only the answer was lost
			return nil
		}
		return t.adopt(prepared)
	})
	if err != nil {
		return fmt.Errorf("postgres: adopt: %w", err)
	}
	return nil
}

func (t *tx) adopt(p *store.PreparedStretch) error {
	known, err := t.known(p.Arriving(), p.Beyond())
	if err != nil {
		return err
	}
	if known.Erased, err = t.erased(p.Erasing()); err != nil {
		return err
	}
	records, events, err := p.Plan(known)
	if err != nil || p.Last() == 0 {
		return err
	}
	var plan *history.Plan
	var tree *ledger.Tree
	if c := p.Change(); c != nil {
		if plan, tree, err = t.plan(c); err != nil {
			return err
		}
	}
	if err := t.sweep(); err != nil {
		return err
	}
	if len(records) > 0 {
		if err := t.admit(records, p.Last()); err != nil {
			return err
		}
	}
	for _, id := range p.Erasing() {
		var conversation [16]byte
		var seq int64
		var present, withheld bool
		if err := t.QueryRow(t.ctx, queryFind, string(t.name), uuid(id)).Scan(&conversation, &seq, &present, &withheld); err != nil {
			return err
		}
		if err := t.exec("turns", queryErase, string(t.name), conversation, seq); err != nil {
			return err
		}
	}
	leaves := make([][]byte, len(events))
	for i := range events {
		if err := t.addEvent(&events[i]); err != nil {
			return err
		}
		leaves[i] = store.EventLeaf(t.name, &events[i])
	}
	if err := t.logActs(leaves...); err != nil {
		return err
	}
	if plan != nil {
		b := &pgx.Batch{}
		if err := t.queuePlan(b, plan, tree); err != nil {
			return err
		}
		if err := t.SendBatch(t.ctx, b).Close(); err != nil {
			return err
		}
	}
	return t.exec("head", queryMove, string(t.name), int64(p.Last()), t.writer)
}

// erased says which turns have an event of their erasure.
func (t *tx) erased(ids []dag.TurnID) (map[dag.TurnID]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := t.Query(t.ctx, queryErased, string(t.name), string(store.Erasure), uuids(ids))
	found, err := readIDs(rows, err)
	if err != nil {
		return nil, err
	}
	erased := make(map[dag.TurnID]bool, len(found))
	for _, id := range found {
		erased[id] = true
	}
	return erased, nil
}
