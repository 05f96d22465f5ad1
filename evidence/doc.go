// Package evidence owns the verdict of a third party: anyone who has a bundle or a part of
// it, an attestation, a proof, a checkpoint, and a trust file that came by another way.
// It needs no network, no store and, unless a token is to be checked too, no secret.
//
//	verdict := evidence.Judge{Trust: trust}.Judge(files)
//	if verdict.Outcome == evidence.Verified { … }
//
// No key that comes with the evidence decides anything. A check that was not made is
// reported as skipped, and nothing is verified without a signature.
//
// Source: docs/evidence.md, section 8, which says what every verifier must answer.
package evidence

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// The names of the files in a folder of evidence.
const (
	FileBundle        = "bundle.json"
	FileDisclosure    = "disclosure.json"
	FileAttestation   = "attestation.json"
	FileProof         = "slice.tlog-proof"
	FileCheckpoint    = "checkpoint"
	FileOldCheckpoint = "checkpoint.old"
	FileConsistency   = "consistency"
)

// Files is evidence by its roles; nil is absent. JSON is without the line feed that its
// file may end with.
type Files struct {
	Bundle, Disclosure        []byte // one of them, or neither
	Attestation, Proof        []byte
	Checkpoint, OldCheckpoint []byte // without a bundle or disclosure
	Consistency               []byte
}

// An Outcome sums up a verdict. The names are stable.
type Outcome string

// The outcomes.
const (
	Verified        Outcome = "verified"
	WellFormed      Outcome = "well_formed"      // nothing failed, and no signature was checked
	Tampered        Outcome = "tampered"         // something does not match what was signed
	KeyUnknown      Outcome = "key_unknown"      // no trusted key signed it
	KeyRetired      Outcome = "key_retired"      // signed outside a key's time
	NotInLog        Outcome = "not_in_log"       // no proof leads to a trusted checkpoint
	LogInconsistent Outcome = "log_inconsistent" // the log showed two histories
	QuorumNotMet    Outcome = "quorum_not_met"   // too few witnesses cosigned
	Redacted        Outcome = "redacted"         // text is missing, and the whole was asked for
	Malformed       Outcome = "malformed"
	UnknownVersion  Outcome = "unknown_version"
)

// The checks beside those of package slice, in the order in which they are made.
const (
	CheckTrust       slice.CheckID = "trust"         // in the place of all below, if there is no trust file
	CheckAttestation slice.CheckID = "attestation"   // a trusted signer signed the envelope
	CheckStatement   slice.CheckID = "statement"     // what was signed is the bundle, or a disclosure of it
	CheckLog         slice.CheckID = "log"           // a trusted log signed the checkpoint
	CheckLogged      slice.CheckID = "log_inclusion" // the bundle's leaf is under the checkpoint
	CheckConsistency slice.CheckID = "consistency"   // the checkpoint continues the old one
	CheckWitnesses   slice.CheckID = "witnesses"     // a quorum of them cosigned
	CheckCounts      slice.CheckID = "counts"        // a disclosure tells how much was left out
	CheckSigner      slice.CheckID = "signer_time"   // the attestation's key was valid then
)

// A Verdict says what was checked and what came out.
type Verdict struct {
	Outcome Outcome
	Reason  string // in one sentence; "" if verified
	Checks  []slice.Check

	Claim     Claim       // what the evidence says of itself; true only if verified
	Redacted  []Redaction // turns that are named and have no text, by ascending id
	Dropped   int         // turns of the slice that are not named at all, and leaves of one of facts that are not shown, by its own count if counts was skipped
	Inclusion *Inclusion  // of the leaf; nil if it was not proved
}

// A Claim is what a bundle or a disclosure says of itself.
type Claim struct {
	Provenance slice.Provenance
	Tenant     dag.Tenant
	KeyID      string // of the token
	AsOf       dag.Seq
	Turns      int // of the slice
	Facts      int // of a slice of facts, which has no turns
}

// A Redaction is a turn whose text is not shown.
type Redaction struct {
	Turn dag.TurnID
	Why  Why
}

// A Why says who left a text out.
type Why string

// The reasons. Without a verified attestation it cannot be told.
const (
	WhyErased    Why = "erased"    // deleted in the store; the ledger has the event
	WhyWithheld  Why = "withheld"  // it never came to the kernel
	WhyDisclosed Why = "disclosed" // somebody left it out when handing the bundle on
	WhyUnknown   Why = "unknown"
)

// An Inclusion says where a leaf is.
type Inclusion struct {
	Origin string
	Index  uint64
	Size   uint64
	Issued dag.Time // as the leaf says; 0 if a proof was judged by itself
}
