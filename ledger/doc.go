// Package ledger owns the record of a kernel's acts: an append-only Merkle tree for each tenant, whose leaves are the
// slices that were issued, the policies that were registered, the keys that were created or retired, and the erasures.
// It defines the form of the last two kinds of leaves; it reads other kinds with a Form from the package that owns
// them. It also owns the tree's right edge, checkpoints and the verification of their signatures, proofs, and the trust
// file that lists the trusted keys. It is pure: hashes come from a Reader, signatures from a Signer.
//
//	default.kernel.example
//	70001
//	CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
//
//	— default.kernel.example Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+Z…
//
// A leaf contains hashes and names, but no content, and is in a log at most once. So repeating an act has no effect,
// and a log can be copied by appending its leaves in order.
//
// Sizes are limited to MaxSize before they are used in a computation: the functions of golang.org/x/mod/sumdb/tlog do
// not terminate above 2^62.
//
// Source: RFC 6962, section 2.1; C2SP signed-note v1.0.0, tlog-checkpoint v1.0.0,
// tlog-cosignature v1.0.1, tlog-witness v1.0.0, tlog-tiles v0.1.0, tlog-proof, tlog-policy;
// docs/evidence.md.
package ledger

import (
	"errors"

	"golang.org/x/mod/sumdb/tlog"
)

// A Hash is a node of the tree, or the root over it.
type Hash = tlog.Hash

const (
	// MaxSize is the maximum number of leaves of a log.
	MaxSize = 1 << 48
	// MaxLeaf is the maximum size of a leaf in bytes: tlog-tiles writes it in 16 bits.
	MaxLeaf = 1<<16 - 1
	// TileWidth is the number of hashes in a full tile.
	TileWidth = 256
)

// Errors that callers branch on.
var (
	ErrForm         = errors.New("malformed ledger data") // wrapped; the message names the place
	ErrVersion      = errors.New("unknown version")
	ErrOrigin       = errors.New("no trusted log with this origin has signed the checkpoint")
	ErrSignature    = errors.New("signature does not verify")
	ErrNotIncluded  = errors.New("not in the log")
	ErrInconsistent = errors.New("the log is inconsistent")
	ErrEmptyRoot    = errors.New("a log of size 0 can have only one root") // together with ErrForm
	ErrQuorum       = errors.New("too few witnesses cosigned")
)
