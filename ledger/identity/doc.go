// Package identity owns the identity of a kernel: its name, and the private keys whose signatures third parties verify.
// Each role has its own key, see docs/evidence.md, section 1: the log, attestations (one key signs, the others are
// history), Sigstore, and the witness.
//
// An Identity is a value that never changes; New, Rotate and Parse return new values. Like a keyring it is stored in a
// file that only its owner can read:
//
//	id, err := identity.Load("identity.json")
//	signer, key := id.Log(tenant)
//
// It does not say whom to trust; ledger.Trust does.
package identity

import "errors"

// Errors that callers branch on.
var (
	ErrNone = errors.New("the kernel has no identity") // nothing can be signed for third parties
	ErrFile = errors.New("unusable identity file")     // wrapped when a file is malformed or its permissions are unsafe
	ErrName = errors.New("not the same identity")      // a name and a log's key never change
)
