// Package witness owns both sides of C2SP tlog-witness. A Witness checks the checkpoints of other logs and cosigns
// those that continue what it cosigned before. An Asker asks witnesses to cosign this kernel's checkpoints, so that
// nobody can be shown another history.
//
// A Witness stores for each log the last size and root that it cosigned, and replaces them before it answers, in one
// step with the check. So it never cosigns two histories, however many requests race, and whenever the process dies.
//
// Source: C2SP tlog-witness and tlog-cosignature.
package witness

import (
	"errors"
	"fmt"
)

// Errors that have their own status in the protocol.
var (
	ErrUnknownLog = errors.New("this witness does not know the log")                                    // 404
	ErrUnsigned   = errors.New("the checkpoint is not signed by a key that this witness knows")         // 403
	ErrRequest    = errors.New("malformed request")                                                     // 400
	ErrProof      = errors.New("the log does not continue the checkpoint that this witness has signed") // 422
)

// Errors that are wrapped in an Asker's refusals.
var (
	// ErrFork: the witness has cosigned a history that the checkpoint does not continue.
	ErrFork = errors.New("the witness has cosigned a different history")
	// ErrAhead: the witness has cosigned more leaves than the checkpoint has. Another process of the kernel may be ahead,
	// or the store was set back.
	ErrAhead = errors.New("the witness has cosigned a larger checkpoint")
)

// A StaleError reports that a request does not begin at the size that the witness cosigned last (409).
type StaleError struct {
	Size uint64 // the size that it cosigned last
	Fork bool   // it cosigned another root at the same size: the log shows two histories
}

func (e *StaleError) Error() string {
	if e.Fork {
		return fmt.Sprintf("this witness has cosigned a different root for %d leaves", e.Size)
	}
	return fmt.Sprintf("the last checkpoint that this witness cosigned has %d leaves", e.Size)
}
