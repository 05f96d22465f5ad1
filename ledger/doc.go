// Package ledger owns the record of what a kernel did: an append-only Merkle tree
// for each tenant, whose leaves are the slices that were issued, the policies that
// were registered, the keys that came and went, and the erasures. It knows the form of the
// last two kinds of leaves and reads others by a Form of the package that owns them. It knows
// the tree's right edge, checkpoints and who signed them, proofs, and the trust file that says
// whose signatures count. It is pure: hashes come from a Reader, signatures from a Signer.
//
//	default.kernel.example
//	70001
//	CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
//
//	— default.kernel.example Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+Z…
//
// A leaf holds hashes and names, no content, and is in a log at most once. So an act that
// is repeated changes nothing, and a log can be copied by appending its leaves in order.
//
// Sizes are capped at MaxSize before anything is computed with them: the arithmetic of
// golang.org/x/mod/sumdb/tlog does not end above 2^62.
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
	// MaxSize bounds the leaves of a log.
	MaxSize = 1 << 48
	// MaxLeaf bounds the bytes of a leaf: tlog-tiles writes their number in 16 bits.
	MaxLeaf = 1<<16 - 1
	// TileWidth is the number of hashes in a full tile.
	TileWidth = 256
)

// Errors that callers branch on.
var (
	ErrForm         = errors.New("malformed ledger data") // wrapped; the message says where
	ErrVersion      = errors.New("unknown version")
	ErrOrigin       = errors.New("no trusted log has this origin and a signature here")
	ErrSignature    = errors.New("signature does not verify")
	ErrNotIncluded  = errors.New("not in the log")
	ErrInconsistent = errors.New("the log is inconsistent")
	ErrEmptyRoot    = errors.New("a log of size 0 has one root") // with ErrForm
	ErrQuorum       = errors.New("too few witnesses cosigned")
)
