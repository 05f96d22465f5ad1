package witness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
)

// MaxRequest is the maximum size of a request, in bytes.
const MaxRequest = ledger.MaxCheckpoint + 8<<10

// A Witness cosigns the logs in its trust file. It is safe for concurrent use, and several processes may share its
// state.
type Witness struct {
	state    Roots
	tenant   dag.Tenant
	cosigner *ledger.Cosigner
	logs     *ledger.Trust
	clock    func() time.Time
	moved    error
}

// A Config contains the parts of a Witness. All fields are required.
type Config struct {
	State    history.Cells
	Moved    error      // the error that State.Swap wraps when the cell does not have the old value
	Tenant   dag.Tenant // the tenant whose witness it is and whose cells it uses
	Cosigner *ledger.Cosigner
	Logs     *ledger.Trust // only its log lines are used: the logs to cosign
	Clock    func() time.Time
}

// New returns a witness.
func New(c Config) (*Witness, error) {
	if c.State == nil || c.Moved == nil || c.Tenant == "" || c.Cosigner == nil || c.Logs == nil || c.Clock == nil {
		return nil, errors.New("witness: a field of Config is missing")
	}
	logs := &ledger.Trust{Logs: c.Logs.Logs}
	return &Witness{Roots{c.State}, c.Tenant, c.Cosigner, logs, c.Clock, c.Moved}, nil
}

// Add checks a request and returns signature lines.
func (w *Witness) Add(ctx context.Context, request []byte) ([]byte, error) {
	if len(request) > MaxRequest {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrRequest, len(request), MaxRequest)
	}
	a, err := ledger.ParseAddCheckpoint(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	c, text, err := w.open(a.Checkpoint)
	if err != nil {
		return nil, err
	}
	if a.Old > c.Size {
		return nil, fmt.Errorf("%w: the old size of %d leaves is larger than the new size of %d", ErrRequest, a.Old, c.Size)
	}
	const tries = 3 // another request may change the root between Last and Replace
	for range tries {
		last, err := w.state.Last(ctx, w.tenant, c.Origin)
		if err != nil {
			return nil, err
		}
		if err := continues(last, c.Root, a); err != nil {
			return nil, err
		}
		switch err := w.state.Replace(ctx, w.tenant, c.Origin, last, c.Root); {
		case errors.Is(err, w.moved):
			continue
		case err != nil:
			return nil, err
		}
		return w.cosigner.Cosign(c, text, w.clock())
	}
	return nil, fmt.Errorf("witness: %s: %w", c.Origin, w.moved)
}

// open returns the checkpoint of a known log, and its text. The protocol prescribes the order of its errors.
func (w *Witness) open(signed []byte) (c ledger.Checkpoint, text string, err error) {
	o, err := w.logs.Open(signed)
	switch {
	case errors.Is(err, ledger.ErrEmptyRoot):
		return c, "", fmt.Errorf("%w: %w", ErrProof, err)
	case errors.Is(err, ledger.ErrForm):
		return c, "", fmt.Errorf("%w: %w", ErrRequest, err)
	case errors.Is(err, ledger.ErrSignature):
		return c, "", fmt.Errorf("%w: %w", ErrUnsigned, err)
	case errors.Is(err, ledger.ErrOrigin):
		read, _ := ledger.ReadCheckpoint(signed) // its form is valid
		for _, l := range w.logs.Logs {
			if l.Name == read.Origin {
				return c, "", fmt.Errorf("%w: %w", ErrUnsigned, err)
			}
		}
		return c, "", fmt.Errorf("%w: %.200q", ErrUnknownLog, read.Origin)
	case err != nil:
		return c, "", err
	}
	text, err = ledger.CheckpointText(signed)
	return o.Checkpoint, text, err
}

// continues checks that a request continues the root that was cosigned last.
func continues(last, next ledger.Root, a *ledger.AddCheckpoint) error {
	if a.Old != last.Size {
		return &StaleError{Size: last.Size}
	}
	if last.Size == next.Size && last.Hash != next.Hash {
		return &StaleError{Size: last.Size, Fork: true}
	}
	if err := next.CheckConsistency(last, a.Proof); err != nil {
		return fmt.Errorf("%w: %w", ErrProof, err)
	}
	return nil
}
