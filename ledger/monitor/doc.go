// Package monitor follows a log as an outsider does: it keeps the last checkpoint that it
// was shown, and believes a later one only with proof that the log still begins with
// what it was. A log that shows two histories has signed both; a Split holds the two
// notes, which convince anybody else.
//
// HTTP reads a log that is served as C2SP tlog-tiles, this kernel's or another's.
package monitor

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/ledger"
)

// A Source shows a log. It is not trusted.
type Source interface {
	Checkpoint(ctx context.Context) ([]byte, error) // a signed note
	ledger.Reader
}

// ErrStale is wrapped, with ledger.ErrInconsistent, when a log is shown as it was before: it
// was not rewritten, but somebody is held back in the past. Where several processes
// answer for one log, one may lag another for a moment.
var ErrStale = errors.New("the log is shown as it was before")

// A Split is the error of a log that is not what it was. It wraps ledger.ErrInconsistent. Two
// notes of one size with other roots convince anybody at once; of other sizes they do so
// together with the log's tiles.
type Split struct {
	Old, New []byte // both are signed notes of the log
	Err      error
}

func (s *Split) Error() string { return s.Err.Error() }
func (s *Split) Unwrap() error { return s.Err }

// A Step is what came of looking at a log once.
type Step struct {
	Old, New ledger.Root // Old is of size 0 if nothing was kept
	Origin   string
	Note     []byte // to be kept from now on
	Proof    []ledger.Hash
}

// Follow looks at a log. kept is the note that was kept, or nil. Errors are those of
// ledger.Trust.Open for the new note, ledger.ErrQuorum, *Split, and those of the source.
// It reads tiles in proportion to the logarithm of the size.
func Follow(ctx context.Context, s Source, trust *ledger.Trust, kept []byte) (*Step, error) {
	note, err := s.Checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	return Compare(ctx, s, trust, kept, note)
}

// Compare is Follow with a note that was got elsewhere.
func Compare(ctx context.Context, r ledger.Reader, trust *ledger.Trust, kept, note []byte) (*Step, error) {
	now, err := trust.Open(note)
	if err != nil {
		return nil, err
	}
	step := &Step{New: now.Root, Old: ledger.Root{Hash: ledger.EmptyRoot()}, Origin: now.Origin, Note: note}
	if kept != nil {
		old, err := trust.Open(kept)
		if err != nil {
			return nil, fmt.Errorf("the checkpoint that was kept: %w", err)
		}
		if old.Origin != now.Origin {
			return nil, fmt.Errorf("%w: it is of %s, and what was kept is of %s", ledger.ErrOrigin, now.Origin, old.Origin)
		}
		step.Old = old.Root
	}
	if now.Size < step.Old.Size {
		return nil, behind(ctx, r, now.Root, step.Old, kept, note)
	}
	if step.Proof, err = now.ProveConsistency(ctx, step.Old.Size, r); err == nil {
		err = now.CheckConsistency(step.Old, step.Proof)
	}
	if err != nil && kept != nil && errors.Is(err, ErrAbsent) { // which is no proof of two histories, and no way to serve a log
		return nil, fmt.Errorf("%w: it has signed %d leaves and does not show the tiles that prove what they begin with: %w", ledger.ErrInconsistent, now.Size, err)
	}
	if errors.Is(err, ledger.ErrInconsistent) {
		return nil, &Split{Old: kept, New: note, Err: err}
	}
	if err != nil {
		return nil, err
	}
	return step, nil
}

// behind looks at a log that has fewer leaves than it had: does what was kept at least begin
// with it?
func behind(ctx context.Context, r ledger.Reader, now, old ledger.Root, kept, note []byte) error {
	fewer := fmt.Errorf("%w: it had %d leaves and has %d", ledger.ErrInconsistent, old.Size, now.Size)
	proof, err := old.ProveConsistency(ctx, now.Size, r)
	if err == nil {
		err = old.CheckConsistency(now, proof)
	}
	if err != nil { // another history, or the log cannot show the leaves that it had
		return &Split{Old: kept, New: note, Err: fewer}
	}
	return fmt.Errorf("%w: %w", ErrStale, fewer)
}
