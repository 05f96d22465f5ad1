package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// ErrLogBusy is wrapped when an erasure is recorded and the body is gone from the database, but the write-ahead log, which may
// still contain the text, could not be emptied because of a reader in another process. Erase again when that reader is done.
var ErrLogBusy = fmt.Errorf("%w: the write-ahead log is in use and could not be emptied", store.ErrBusy)

// admitted reads turns for a change.
func (t *tx) admitted(ids []dag.TurnID, k *history.State) error {
	for _, id := range ids {
		var turn int64
		var a history.Admitted
		switch err := t.find.QueryRowContext(t.ctx, t.tenant, id[:]).Scan(&turn, &a.Seq, &a.Body, &a.Withheld); {
		case err == nil:
			k.Turns[id] = a
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	return nil
}

// eraseTurns is a write step that deletes the bodies of stored turns.
func (t *tx) eraseTurns(ids []dag.TurnID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := t.begin("bodies"); err != nil {
		return err
	}
	for _, id := range ids {
		var turn int64
		var a history.Admitted
		if err := t.find.QueryRowContext(t.ctx, t.tenant, id[:]).Scan(&turn, &a.Seq, &a.Body, &a.Withheld); err != nil {
			return err
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

// emptyLog copies the log into the file and empties it. While another process has a snapshot, or copies the log itself,
// as it does when it opens or closes the file, emptyLog tries again, for as long as a write waits for another process.
func (s *Store) emptyLog(ctx context.Context) error {
	begun := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := s.tryEmptyLog(ctx)
		if !errors.Is(err, store.ErrBusy) || time.Since(begun) > s.busy {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// tryEmptyLog makes one attempt. It takes the writer again, since a checkpoint cannot run in a transaction.
func (s *Store) tryEmptyLog(ctx context.Context) error {
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
	return busy(unwritable(err))
}
