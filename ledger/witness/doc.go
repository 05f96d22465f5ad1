// Package witness owns both sides of C2SP tlog-witness: being one, which looks at the
// checkpoints of other logs and cosigns those that continue what it cosigned before, and
// asking some, which a log does so that nobody can be shown another history.
//
// A Witness keeps for each log the last size and root that it cosigned, and replaces them
// before it answers, in one step with the check. So however many requests race, and
// whenever the process dies, it never cosigns two histories.
//
// Source: C2SP tlog-witness and tlog-cosignature.
package witness

import (
	"errors"
	"fmt"
)

// Errors that have a status of their own in the protocol.
var (
	ErrUnknownLog = errors.New("this witness does not know the log")                     // 404
	ErrUnsigned   = errors.New("no key that this witness knows signed the checkpoint")   // 403
	ErrRequest    = errors.New("malformed request")                                      // 400
	ErrProof      = errors.New("the log does not continue what this witness has signed") // 422
)

// Errors that an Asker's refusals wrap.
var (
	// ErrFork: the witness has cosigned a history that the checkpoint does not continue.
	ErrFork = errors.New("the witness has cosigned another history")
	// ErrAhead: the witness has cosigned more leaves than the checkpoint has. Another process of
	// the kernel may be ahead, or the store went back.
	ErrAhead = errors.New("the witness is ahead")
)

// A StaleError says that a request does not begin where the witness is (409).
type StaleError struct {
	Size uint64 // what it cosigned last
	Fork bool   // at this very size it cosigned another root: the log shows two histories
}

func (e *StaleError) Error() string {
	if e.Fork {
		return fmt.Sprintf("at %d leaves this witness has cosigned another root", e.Size)
	}
	return fmt.Sprintf("this witness cosigned %d leaves last", e.Size)
}
