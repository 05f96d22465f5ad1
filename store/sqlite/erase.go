package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const queryEvents = `SELECT seq, kind, turn, reason, at FROM events WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?`

// ErrLogBusy is wrapped when an erasure is recorded and the body is gone from
// the database, but a reader in another process kept the write-ahead log from being
// emptied, which may still hold the text. Erase again when it is done.
var ErrLogBusy = fmt.Errorf("%w: the write-ahead log is in use and could not be emptied", store.ErrBusy)

// Erase deletes a body from the database and then from the log. The log is
// emptied for a turn that was erased already, too: so repeating an Erase that
// was cut short finishes it.
func (s *Store) Erase(ctx context.Context, tenant dag.Tenant, e store.Event) (store.Event, error) {
	if err := s.enter(ctx); err != nil {
		return store.Event{}, fmt.Errorf("sqlite: erase: %w", err)
	}
	defer s.gate.RUnlock()
	var stands store.Event
	err := s.write(ctx, tenant, func(t *tx) (err error) {
		stands, err = t.eraseTurn(e)
		return err
	})
	if err == nil {
		err = s.emptyLog(ctx)
	}
	if err != nil {
		return store.Event{}, fmt.Errorf("sqlite: erase %s: %w", e.Turn, err)
	}
	return stands, nil
}

func (t *tx) eraseTurn(e store.Event) (store.Event, error) {
	if err := store.CheckEvent(&e); err != nil {
		return store.Event{}, err
	}
	var turn int64
	var present, withheld bool
	err := t.find.QueryRowContext(t.ctx, t.tenant, e.Turn[:]).Scan(&turn, &present, &withheld)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Event{}, store.ErrNotFound
	}
	if err != nil {
		return store.Event{}, err
	}
	if !present {
		rows, err := t.event.QueryContext(t.ctx, t.tenant, string(e.Kind), e.Turn[:])
		if err != nil {
			return store.Event{}, err
		}
		var stands store.Event
		err = eachEvent(rows, func(e store.Event) { stands = e })
		if err != nil || stands.Seq != 0 || withheld {
			return stands, err
		}
		// The body was lost without an erasure; the erasure is recorded now.
	}
	if t.head >= dag.MaxSeq {
		return store.Event{}, fmt.Errorf("sequence number %d is the last possible one", t.head)
	}
	e.Seq = t.head + 1
	if err := t.exec("turns", t.erase, turn); err != nil {
		return store.Event{}, err
	}
	if err := t.record(e); err != nil {
		return store.Event{}, err
	}
	return e, t.exec("head", t.writer.head, int64(e.Seq), t.tenant)
}

// record inserts events, and appends their leaves.
func (t *tx) record(events ...store.Event) error {
	err := t.insert("events", &t.events, len(events), func(args []any, i int) []any {
		e := &events[i]
		return append(args, t.tenant, int64(e.Seq), string(e.Kind), e.Turn[:], []byte(e.Reason), int64(e.At))
	})
	if err != nil {
		return err
	}
	leaves := make([][]byte, len(events))
	for i := range events {
		leaves[i] = store.EventLeaf(t.name, &events[i])
	}
	_, err = t.appendLeaves(leaves)
	return err
}

// emptyLog takes the writer again: a checkpoint cannot run in a transaction.
func (s *Store) emptyLog(ctx context.Context) error {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.step("checkpoint"); err != nil {
		return fmt.Errorf("at step %q: %w", "checkpoint", err)
	}
	done, err := s.writer.checkpoint(context.WithoutCancel(ctx))
	if err == nil && !done {
		err = ErrLogBusy
	}
	return unwritable(err)
}

// Events lists events by ascending number.
func (s *Store) Events(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) (events []store.Event, err error) {
	err = s.read(ctx, "events", tenant, func(n int64) error {
		if limit <= 0 {
			return nil
		}
		rows, err := s.queries.events.QueryContext(ctx, n, int64(min(after, dag.MaxSeq)), limit)
		if err != nil {
			return err
		}
		return eachEvent(rows, func(e store.Event) { events = append(events, e) })
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}

func eachEvent(rows *sql.Rows, fn func(store.Event)) error {
	var e store.Event
	var turn, reason sql.RawBytes
	return each(rows, func() error {
		if err := packed.Fill(e.Turn[:], turn, "a turn's id"); err != nil {
			return err
		}
		e.Reason = string(reason)
		fn(e)
		return nil
	}, &e.Seq, &e.Kind, &turn, &reason, &e.At)
}
