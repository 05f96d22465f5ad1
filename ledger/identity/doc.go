// Package identity owns who a kernel is: its name, and the private keys that sign what
// third parties verify. Each role has a key of its own, see docs/evidence.md, section 1:
// the log's, those of attestations (one signs, the others are history),
// Sigstore's, and a witness's.
//
// An Identity is a value that never changes; New, Rotate and Parse give new ones. Like a
// keyring it lives in a file that its owner alone can read:
//
//	id, err := identity.Load("identity.json")
//	signer, key := id.Log(tenant)
//
// It says nothing of whom to trust; ledger.Trust does.
package identity

import "errors"

// Errors that callers branch on.
var (
	ErrNone = errors.New("the kernel has no identity") // nothing can be signed for third parties
	ErrFile = errors.New("unusable identity file")     // wrapped when a file is not as it must be
	ErrName = errors.New("not the same identity")      // a name and a log's key are for ever
)
