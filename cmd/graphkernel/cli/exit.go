package cli

import (
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
)

// ErrTampered is wrapped when a bundle that should be worked with is not what was signed.
var ErrTampered = errors.New("tampered")

// The exit codes. They are stable; docs/cli.md lists them.
const (
	ExitOK             = 0
	ExitInternal       = 1  // something failed: I/O, a conflict, a turn that is not there
	ExitUsage          = 2  // the command line or an argument is wrong
	ExitTampered       = 10 // evidence does not match what was signed
	ExitKeyUnknown     = 11 // nobody here can say who signed it
	ExitKeyRetired     = 12 // the key verifies nothing any more
	ExitNotInLog       = 13 // no proof leads to a checkpoint of a trusted log
	ExitInconsistent   = 14 // a log showed two histories
	ExitQuorumNotMet   = 15 // too few witnesses cosigned
	ExitRedacted       = 16 // text is missing, and --require-full was given
	ExitReplayDiffers  = 17
	ExitDamaged        = 18 // a store is not in order
	ExitReplayLost     = 19 // a replay lacks text that was there, and no erasure is on record
	ExitMalformed      = 20 // the bytes are not what they should be
	ExitUnknownVersion = 21
)

// A finished ends the program with a code after its verdict has been printed.
type finished struct{ code int }

func (f *finished) Error() string { return fmt.Sprintf("exit code %d", f.code) }

// Finish ends the program with a code whose verdict has been printed; nil for ExitOK.
func Finish(code int) error {
	if code == ExitOK {
		return nil
	}
	return &finished{code}
}

// A usageError is a fault of the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Usage makes an error a fault of the command line.
func Usage(err error) error { return &usageError{err} }

// Usagef makes an error that is a fault of the command line.
func Usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// ExitCode is the one table from errors to exit codes.
func ExitCode(err error) int {
	var usage *usageError
	var ambiguous *kernel.AmbiguousError
	var field *canon.FieldError
	var line *ingest.LineError
	for _, row := range [...]struct {
		is   bool
		code int
	}{
		{errors.As(err, &usage) || errors.As(err, &ambiguous) || errors.Is(err, kernel.ErrBeyondHead), ExitUsage},
		{errors.Is(err, knowledge.ErrQuery) || errors.Is(err, kernel.ErrNoFilter) || errors.Is(err, kernel.ErrNoExport), ExitUsage},
		{errors.Is(err, ledger.ErrTrust), ExitUsage},                                         // it is the verifier's own
		{errors.Is(err, token.ErrKeyFile) || errors.Is(err, identity.ErrFile), ExitInternal}, // however malformed it is, the evidence is not
		{errors.Is(err, transfer.ErrDamaged), ExitDamaged},                                   // not evidence, either
		{errors.Is(err, ErrNoSecret), ExitKeyUnknown},
		{errors.Is(err, slice.ErrVersion) || errors.Is(err, ledger.ErrVersion) || errors.Is(err, attest.ErrVersion) || errors.Is(err, policy.ErrType), ExitUnknownVersion},
		{errors.Is(err, token.ErrKeyRetired), ExitKeyRetired},
		{errors.Is(err, token.ErrKeyUnknown) || errors.Is(err, attest.ErrKeyUnknown) || errors.Is(err, ledger.ErrOrigin), ExitKeyUnknown},
		{errors.Is(err, ledger.ErrSignature) || errors.Is(err, ErrTampered), ExitTampered},
		{errors.Is(err, ledger.ErrNotIncluded) || errors.Is(err, client.ErrNoEvidence), ExitNotInLog},
		{errors.Is(err, ledger.ErrInconsistent) || errors.Is(err, kernel.ErrForked), ExitInconsistent},
		{errors.Is(err, ledger.ErrQuorum), ExitQuorumNotMet},
		{errors.Is(err, client.ErrRedacted), ExitRedacted},
		{errors.Is(err, slice.ErrMalformed) || errors.Is(err, ledger.ErrForm) || errors.Is(err, attest.ErrForm) || errors.Is(err, dag.ErrForm) || errors.Is(err, policy.ErrRange) ||
			errors.Is(err, canon.ErrSyntax) || errors.As(err, &field) || errors.Is(err, ingest.ErrFormat) || errors.Is(err, normalize.ErrForm) || errors.As(err, &line), ExitMalformed},
	} {
		if row.is {
			return row.code
		}
	}
	return ExitInternal
}
