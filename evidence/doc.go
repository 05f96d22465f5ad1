// Package evidence owns the verdict of a third party: of anyone who has a bundle or a part of it, an attestation, a
// proof, a checkpoint, and a trust file that came by another channel. It needs no network, no store and, unless a token
// is to be checked too, no secret.
//
//	verdict := evidence.Judge{Trust: trust}.Judge(files)
//	if verdict.Outcome == evidence.Verified { … }
//
// A key that comes with the evidence decides nothing. A check that was not made is reported as skipped, and nothing is
// verified without a signature.
//
// Source: docs/evidence.md, section 8, which lists what every verifier must report.
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

// Files is the evidence, one file per role; nil is an absent file. JSON comes without the line feed that its file may
// end with.
type Files struct {
	Bundle, Disclosure        []byte // one or neither
	Attestation, Proof        []byte
	Checkpoint, OldCheckpoint []byte // only without a bundle or disclosure
	Consistency               []byte
}

// An Outcome is the result of judging. The names are stable.
type Outcome string

// The outcomes.
const (
	Verified        Outcome = "verified"
	WellFormed      Outcome = "well_formed"      // nothing failed, but no signature was checked
	Tampered        Outcome = "tampered"         // the evidence differs from what was signed
	KeyUnknown      Outcome = "key_unknown"      // no trusted key signed it
	KeyRetired      Outcome = "key_retired"      // signed outside a key's time
	NotInLog        Outcome = "not_in_log"       // no proof leads to a trusted checkpoint
	LogInconsistent Outcome = "log_inconsistent" // the log showed two histories
	QuorumNotMet    Outcome = "quorum_not_met"   // too few witnesses cosigned
	Redacted        Outcome = "redacted"         // text is missing, although the whole was required
	Malformed       Outcome = "malformed"
	UnknownVersion  Outcome = "unknown_version"
)

// The checks in addition to those of package slice, in the order in which they are made.
const (
	CheckTrust       slice.CheckID = "trust"         // in place of all checks below, if there is no trust file
	CheckAttestation slice.CheckID = "attestation"   // a trusted signer signed the envelope
	CheckStatement   slice.CheckID = "statement"     // the signed statement describes the bundle, or a bundle of which this is a disclosure
	CheckLog         slice.CheckID = "log"           // a trusted log signed the checkpoint
	CheckLogged      slice.CheckID = "log_inclusion" // the bundle's leaf is under the checkpoint
	CheckConsistency slice.CheckID = "consistency"   // the checkpoint continues the old one
	CheckWitnesses   slice.CheckID = "witnesses"     // a quorum of witnesses cosigned
	CheckCounts      slice.CheckID = "counts"        // a disclosure says how much was left out
	CheckSigner      slice.CheckID = "signer_time"   // the attestation's key was valid when the slice was issued
)

// A Verdict is the outcome of a judgement with the checks behind it.
type Verdict struct {
	Outcome Outcome
	Reason  string // one sentence; "" if verified
	Checks  []slice.Check

	Claim     Claim       // what the evidence says about itself; true only if verified
	Redacted  []Redaction // named turns without text, by ascending id
	Dropped   int         // turns that are not named at all, or leaves that are not shown; if counts was skipped, by the disclosure's own count
	Inclusion *Inclusion  // the place of the leaf; nil if it was not proved
}

// A Claim is what a bundle or a disclosure says about itself.
type Claim struct {
	Provenance slice.Provenance
	Tenant     dag.Tenant
	KeyID      string // the key of the token
	AsOf       dag.Seq
	Turns      int // the number of turns, if bundles of this kind count them
	Facts      int // the number of facts, if bundles of this kind count them
}

// A Redaction is a turn whose text is not shown.
type Redaction struct {
	Turn dag.TurnID
	Why  Why
}

// A Why says who removed a text.
type Why string

// The reasons. Without a verified attestation, the reason is unknown.
const (
	WhyErased    Why = "erased"    // deleted from the store; the ledger has the event
	WhyWithheld  Why = "withheld"  // the kernel never received it
	WhyDisclosed Why = "disclosed" // left out when the bundle was passed on
	WhyUnknown   Why = "unknown"
)

// An Inclusion is the place of a leaf in a log.
type Inclusion struct {
	Origin string
	Index  uint64
	Size   uint64
	Issued dag.Time // the time in the leaf; 0 from JudgeProof
}
