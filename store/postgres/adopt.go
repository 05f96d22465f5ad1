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

// Adopt adopts a stretch of another store's history; see store.Store.
func (s *Store) Adopt(ctx context.Context, tenant dag.Tenant, stretch store.Stretch) error {
	prepared, err := store.PrepareStretch(stretch)
	if err != nil {
		return fmt.Errorf("postgres: adopt: %w", err)
	}
	return s.write(ctx, "adopt", tenant, func(t *tx) error {
		if t.mine { // all was adopted, only the answer was lost
			return nil
		}
		for p := prepared; p != nil; p = p.Rest() {
			if err := t.adopt(p); err != nil {
				return err
			}
			if p.Last() != 0 {
				t.head, t.fresh = p.Last(), false
			}
		}
		return nil
	})
}

func (t *tx) adopt(p *store.PreparedStretch) error {
	known, err := t.known(p.Arriving(), p.Beyond(), nil)
	if err != nil {
		return err
	}
	if err := p.Follows(known.Head); err != nil {
		return err
	}
	plan, tree := &history.Plan{}, &ledger.Tree{}
	if c := p.Change(); c != nil {
		if plan, tree, err = t.plan(c); err != nil {
			return err
		}
	}
	records, stored, err := p.Plan(known, plan.Bodies)
	if err != nil || p.Last() == 0 {
		return err
	}
	if err := t.sweep(); err != nil {
		return err
	}
	if len(records) > 0 {
		if err := t.admit(records, p.Last()); err != nil {
			return err
		}
	}
	if err := t.eraseTurns(stored); err != nil {
		return err
	}
	b := &pgx.Batch{}
	if err := t.queuePlan(b, plan, tree); err != nil {
		return err
	}
	if err := t.begin("head"); err != nil {
		return err
	}
	b.Queue(queryMove, string(t.name), int64(p.Last()), t.writer)
	return t.SendBatch(t.ctx, b).Close()
}
