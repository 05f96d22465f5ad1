package main

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

// The exit codes. They are stable; docs/cli.md lists them.
const (
	exitOK             = 0
	exitInternal       = 1  // something failed: I/O, a conflict, a turn that is not there
	exitUsage          = 2  // the command line or an argument is wrong
	exitTampered       = 10 // evidence does not match what was signed
	exitKeyUnknown     = 11 // nobody here can say who signed it
	exitKeyRetired     = 12 // the key verifies nothing any more
	exitNotInLog       = 13 // no proof leads to a checkpoint of a trusted log
	exitInconsistent   = 14 // a log showed two histories
	exitQuorumNotMet   = 15 // too few witnesses cosigned
	exitRedacted       = 16 // text is missing, and --require-full was given
	exitReplayDiffers  = 17
	exitDamaged        = 18 // a store is not in order
	exitReplayLost     = 19 // a replay lacks text that was there, and no erasure is on record
	exitMalformed      = 20 // the bytes are not what they should be
	exitUnknownVersion = 21
)

// A finished ends the program with a code after its verdict has been printed.
type finished struct{ code int }

func (f *finished) Error() string { return fmt.Sprintf("exit code %d", f.code) }

func finish(code int) error {
	if code == exitOK {
		return nil
	}
	return &finished{code}
}

// A usageError is a fault of the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// exitCode is the one table from errors to exit codes.
func exitCode(err error) int {
	var usage *usageError
	var ambiguous *kernel.AmbiguousError
	var field *canon.FieldError
	var line *ingest.LineError
	for _, row := range [...]struct {
		is   bool
		code int
	}{
		{errors.As(err, &usage) || errors.As(err, &ambiguous) || errors.Is(err, kernel.ErrBeyondHead), exitUsage},
		{errors.Is(err, knowledge.ErrQuery) || errors.Is(err, kernel.ErrNoFilter), exitUsage},
		{errors.Is(err, ledger.ErrTrust), exitUsage},                                         // it is the verifier's own
		{errors.Is(err, token.ErrKeyFile) || errors.Is(err, identity.ErrFile), exitInternal}, // however malformed it is, the evidence is not
		{errors.Is(err, transfer.ErrDamaged), exitDamaged},                                   // not evidence, either
		{errors.Is(err, errNoSecret), exitKeyUnknown},
		{errors.Is(err, slice.ErrVersion) || errors.Is(err, ledger.ErrVersion) || errors.Is(err, attest.ErrVersion) || errors.Is(err, policy.ErrType), exitUnknownVersion},
		{errors.Is(err, token.ErrKeyRetired), exitKeyRetired},
		{errors.Is(err, token.ErrKeyUnknown) || errors.Is(err, attest.ErrKeyUnknown) || errors.Is(err, ledger.ErrOrigin), exitKeyUnknown},
		{errors.Is(err, ledger.ErrSignature) || errors.Is(err, errTampered), exitTampered},
		{errors.Is(err, ledger.ErrNotIncluded) || errors.Is(err, client.ErrNoEvidence), exitNotInLog},
		{errors.Is(err, ledger.ErrInconsistent) || errors.Is(err, kernel.ErrForked), exitInconsistent},
		{errors.Is(err, ledger.ErrQuorum), exitQuorumNotMet},
		{errors.Is(err, client.ErrRedacted), exitRedacted},
		{errors.Is(err, slice.ErrMalformed) || errors.Is(err, ledger.ErrForm) || errors.Is(err, attest.ErrForm) || errors.Is(err, dag.ErrForm) || errors.Is(err, policy.ErrRange) ||
			errors.Is(err, canon.ErrSyntax) || errors.As(err, &field) || errors.Is(err, ingest.ErrFormat) || errors.Is(err, normalize.ErrForm) || errors.As(err, &line), exitMalformed},
	} {
		if row.is {
			return row.code
		}
	}
	return exitInternal
}
