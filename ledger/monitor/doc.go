// Package monitor follows a log from the outside: it keeps the last checkpoint that it saw, and accepts a later one
// only with a proof that the log still begins with the same leaves. A log that shows two histories has signed both; a
// Split contains the two notes, which convince anyone.
//
// HTTP reads a log that is served as C2SP tlog-tiles, by this or any other program.
package monitor

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/ledger"
)

// A Source is a log to follow. It is not trusted.
type Source interface {
	Checkpoint(ctx context.Context) ([]byte, error) // a signed note
	ledger.Reader
}

// ErrStale is wrapped, together with ledger.ErrInconsistent, when a log shows an older state of itself: it was not
// rewritten, but someone is shown an outdated log. If several processes serve one log, one of them may lag for a
// moment.
var ErrStale = errors.New("the server shows an older state of the log")

// ErrBack is wrapped, together with ledger.ErrInconsistent, when a log has fewer leaves than it had signed and does not
// serve the others. A store that was put back from a backup looks like this. It is no proof of two histories: nothing
// shows whether the former state continues this one.
var ErrBack = errors.New("the log went back, and does not show the leaves that it had")

// A Split is the error for a log that does not continue its former state. It wraps ledger.ErrInconsistent. Two notes of
// the same size with different roots are a proof by themselves; notes of different sizes are one together with the
// log's tiles, and without them, under ErrBack, only show what the log has signed.
type Split struct {
	Old, New []byte // signed notes of the log
	Err      error
}

func (s *Split) Error() string { return s.Err.Error() }
func (s *Split) Unwrap() error { return s.Err }

// A Step is the result of one look at a log.
type Step struct {
	Old, New ledger.Root // Old has size 0 if no note was kept
	Origin   string
	Note     []byte // the note to keep from now on
	Proof    []ledger.Hash
}

// Follow reads the log's current checkpoint and compares it with kept, the note that was kept, or nil. Its errors are
// those of ledger.Trust.Open for the new note, ledger.ErrQuorum, *Split, and those of the source. The number of tiles
// that it reads is proportional to the logarithm of the size.
func Follow(ctx context.Context, s Source, trust *ledger.Trust, kept []byte) (*Step, error) {
	note, err := s.Checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	return Compare(ctx, s, trust, kept, note)
}

// Compare is Follow with a note from elsewhere.
func Compare(ctx context.Context, r ledger.Reader, trust *ledger.Trust, kept, note []byte) (*Step, error) {
	now, err := trust.Open(note)
	if err != nil {
		return nil, err
	}
	step := &Step{New: now.Root, Old: ledger.Root{Hash: ledger.EmptyRoot()}, Origin: now.Origin, Note: note}
	if kept != nil {
		old, err := trust.Open(kept)
		if err != nil {
			return nil, fmt.Errorf("the saved checkpoint: %w", err)
		}
		if old.Origin != now.Origin {
			return nil, fmt.Errorf("%w: the checkpoint is of %s, but the saved checkpoint is of %s", ledger.ErrOrigin, now.Origin, old.Origin)
		}
		step.Old = old.Root
	}
	if now.Size < step.Old.Size {
		return nil, behind(ctx, r, now.Root, step.Old, kept, note)
	}
	if step.Proof, err = now.ProveConsistency(ctx, step.Old.Size, r); err == nil {
		err = now.CheckConsistency(step.Old, step.Proof)
	}
	if err != nil && kept != nil && errors.Is(err, ErrAbsent) { // a missing tile does not prove two histories, but a log must serve its tiles
		return nil, fmt.Errorf("%w: it has signed %d leaves but does not serve the tiles that prove that it continues its old leaves: %w", ledger.ErrInconsistent, now.Size, err)
	}
	if errors.Is(err, ledger.ErrInconsistent) {
		return nil, &Split{Old: kept, New: note, Err: err}
	}
	if err != nil {
		return nil, err
	}
	return step, nil
}

// behind returns the error for a log that has fewer leaves than before: ErrStale if the kept checkpoint continues the
// new one; otherwise a *Split, with ErrBack if the tiles that would show it are not there.
func behind(ctx context.Context, r ledger.Reader, now, old ledger.Root, kept, note []byte) error {
	fewer := fmt.Errorf("%w: it had %d leaves before and has only %d now", ledger.ErrInconsistent, old.Size, now.Size)
	proof, err := old.ProveConsistency(ctx, now.Size, r)
	if err == nil {
		err = old.CheckConsistency(now, proof)
	}
	if errors.Is(err, ledger.ErrInconsistent) {
		return &Split{Old: kept, New: note, Err: fewer}
	}
	if err != nil {
		return &Split{Old: kept, New: note, Err: fmt.Errorf("%w: %w", ErrBack, fewer)}
	}
	return fmt.Errorf("%w: %w", ErrStale, fewer)
}
