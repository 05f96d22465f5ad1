package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const queryErased = `SELECT e.turn FROM json_each(?) j
	CROSS JOIN events e ON e.tenant = ? AND e.kind = ? AND e.turn = unhex(j.value)`

// Adopt takes over a stretch of history. A body that the stretch erases is never
// written. If it erases one that is stored already, the log is emptied as after an
// Erase, and also for a stretch that is here already: so repeating an Adopt that was
// cut short finishes it.
func (s *Store) Adopt(ctx context.Context, tenant dag.Tenant, stretch store.Stretch) error {
	prepared, err := store.PrepareStretch(stretch)
	if err != nil {
		return fmt.Errorf("sqlite: adopt: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("sqlite: adopt: %w", err)
	}
	defer s.gate.RUnlock()
	err = s.write(ctx, tenant, func(t *tx) error { return t.adopt(prepared) })
	if len(prepared.Erasing()) > 0 && (err == nil || errors.Is(err, store.ErrGap)) {
		err = errors.Join(err, s.emptyLog(ctx))
	}
	if err != nil {
		return fmt.Errorf("sqlite: adopt: %w", err)
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
	if err := t.own(); err != nil {
		return err
	}
	if err := t.admit(records); err != nil {
		return err
	}
	if err := t.eraseTurns(p.Erasing()); err != nil {
		return err
	}
	if err := t.record(events...); err != nil {
		return err
	}
	if c := p.Change(); c != nil {
		if _, err := t.change(c); err != nil {
			return err
		}
	}
	return t.exec("head", t.writer.head, int64(p.Last()), t.tenant)
}

// erased returns those of the turns that have an event of erasure.
func (t *tx) erased(ids []dag.TurnID) (map[dag.TurnID]bool, error) {
	erased := map[dag.TurnID]bool{}
	for ids := range slices.Chunk(ids, lookupIDs) {
		rows, err := t.erasures.QueryContext(t.ctx, idList(ids), t.tenant, string(store.Erasure))
		if err != nil {
			return nil, err
		}
		var id sql.RawBytes
		err = each(rows, func() error {
			var turn dag.TurnID
			if err := packed.Fill(turn[:], id, "a turn's id"); err != nil {
				return err
			}
			erased[turn] = true
			return nil
		}, &id)
		if err != nil {
			return nil, err
		}
	}
	return erased, nil
}

// eraseTurns is a step that deletes the bodies of stored turns.
func (t *tx) eraseTurns(ids []dag.TurnID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := t.begin("bodies"); err != nil {
		return err
	}
	for _, id := range ids {
		var turn int64
		var present, withheld bool
		if err := t.find.QueryRowContext(t.ctx, t.tenant, id[:]).Scan(&turn, &present, &withheld); err != nil {
			return err
		}
		if !present {
			continue
		}
		if _, err := t.erase.ExecContext(t.ctx, turn); err != nil {
			return err
		}
		if err := t.ended(); err != nil {
			return err
		}
	}
	return nil
}
