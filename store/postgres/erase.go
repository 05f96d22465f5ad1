package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

const (
	eventColumns = `seq, kind, turn, reason, at`

	queryEvents  = `SELECT ` + eventColumns + ` FROM events WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3`
	queryEventOf = `SELECT ` + eventColumns + ` FROM events WHERE tenant = $1 AND kind = $2 AND turn = $3`

	// See queryTurns.
	queryFind = `SELECT t.conversation, t.seq, t.body IS NOT NULL, t.body IS NULL AND coalesce(t.salt = '\x00', false) FROM ids i CROSS JOIN LATERAL
		(SELECT * FROM turns WHERE tenant = $1 AND conversation = i.conversation AND seq = i.seq OFFSET 0) t
		WHERE i.tenant = $1 AND i.id = $2`

	queryErase = `UPDATE turns SET name = NULL, salt = NULL, external = NULL, body = NULL WHERE tenant = $1 AND conversation = $2 AND seq = $3`

	queryAddEvent = `INSERT INTO events (tenant, ` + eventColumns + `) VALUES ($1, $2, $3, $4, $5, $6)`
)

// Erase deletes a body. What PostgreSQL keeps of it, and for how long, is in the
// package documentation.
func (s *Store) Erase(ctx context.Context, tenant dag.Tenant, e store.Event) (store.Event, error) {
	if err := s.enter(ctx); err != nil {
		return store.Event{}, fmt.Errorf("postgres: erase: %w", err)
	}
	defer s.gate.RUnlock()
	var stands store.Event
	err := s.write(ctx, tenant, func(t *tx) (err error) {
		stands, err = t.eraseTurn(e)
		return err
	})
	if err != nil {
		return store.Event{}, fmt.Errorf("postgres: erase %s: %w", e.Turn, err)
	}
	return stands, nil
}

func (t *tx) eraseTurn(e store.Event) (store.Event, error) {
	if err := store.CheckEvent(&e); err != nil {
		return store.Event{}, err
	}
	var conversation [16]byte
	var seq int64
	var present, withheld bool
	err := t.QueryRow(t.ctx, queryFind, string(t.name), uuid(e.Turn)).Scan(&conversation, &seq, &present, &withheld)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Event{}, store.ErrNotFound
	}
	if err != nil {
		return store.Event{}, err
	}
	if !present {
		rows, err := t.Query(t.ctx, queryEventOf, string(t.name), string(e.Kind), uuid(e.Turn))
		if err != nil {
			return store.Event{}, err
		}
		stands, err := collectEvents(rows)
		if err != nil || len(stands) > 0 || withheld {
			return first(stands), err
		}
		// The body went on another server, and the event was lost before this one
		// committed, see sweep: finish it.
	}
	if t.head >= dag.MaxSeq {
		return store.Event{}, fmt.Errorf("sequence number %d is the last possible one", t.head)
	}
	if err := t.sweep(); err != nil {
		return store.Event{}, err
	}
	e.Seq = t.head + 1
	if err := t.exec("turns", queryErase, string(t.name), conversation, seq); err != nil {
		return store.Event{}, err
	}
	if err := t.addEvent(&e); err != nil {
		return store.Event{}, err
	}
	if err := t.logActs(store.EventLeaf(t.name, &e)); err != nil {
		return store.Event{}, err
	}
	return e, t.exec("head", queryMove, string(t.name), int64(e.Seq), t.writer)
}

func (t *tx) addEvent(e *store.Event) error {
	return t.exec("events", queryAddEvent, string(t.name), int64(e.Seq), string(e.Kind), uuid(e.Turn), []byte(e.Reason), int64(e.At))
}

func first(events []store.Event) store.Event {
	if len(events) == 0 {
		return store.Event{}
	}
	return events[0]
}

// Events lists events by ascending number.
func (s *Store) Events(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) (events []store.Event, err error) {
	err = s.read(ctx, "events", func(ctx context.Context, db *pgxpool.Conn) error {
		rows, err := db.Query(ctx, queryEvents, string(tenant), int64(min(after, dag.MaxSeq)), max(limit, 0))
		if err != nil {
			return err
		}
		events, err = collectEvents(rows)
		return err
	})
	return events, err
}

func collectEvents(rows pgx.Rows) (events []store.Event, err error) {
	var e store.Event
	var reason pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{(*uint64)(&e.Seq), (*string)(&e.Kind), (*[16]byte)(&e.Turn), &reason, (*int64)(&e.At)}, func() error {
		e.Reason = string(reason)
		events = append(events, e)
		return nil
	})
	return events, err
}
