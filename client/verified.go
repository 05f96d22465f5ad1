package client

import (
	"slices"

	judge "github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
)

type (
	evidence     = slice.SealedTurns
	factEvidence = facts.Sealed

	contextEvidence = contexts.Sealed
	beliefEvidence  = beliefs.Sealed
)

// Verified is evidence that the service verified. Functions that act on evidence take this type, so unverified
// evidence cannot reach them. It is the counterpart of token.Admissible for programs without keys. The zero value
// holds nothing; only [Slices.Verify] returns one with evidence in it.
//
// Its methods are those of [slice.SealedTurns]: OK, Provenance, Tenant, KeyID, AsOf, Turns, Edges
// and Bytes. They return copies.
type Verified struct{ evidence }

// VerifiedFacts is the counterpart of Verified for a bundle of facts. Only [Facts.Verify] returns one with evidence
// in it.
//
// Its methods are those of [facts.Sealed]: OK, Provenance, Tenant, KeyID, AsOf, Facts, Reached,
// Evidence, Claim and Bytes. They return copies.
type VerifiedFacts struct{ factEvidence }

// VerifiedContext is the counterpart of Verified for a context. Only [Contexts.Verify] returns one with evidence in
// it.
//
// Its methods are those of [contexts.Sealed]: OK, Provenance, Tenant, KeyID, AsOf, Turns, Prompt, Task and Bytes. They
// return copies.
type VerifiedContext struct{ contextEvidence }

// VerifiedBelief is the counterpart of Verified for evidence of a belief. Only [Beliefs.Verify] returns one with
// evidence in it.
//
// Its methods are those of [beliefs.Sealed]: OK, Provenance, Tenant, KeyID, AsOf, Question, Revisions, Evidence and Bytes. They
// return copies.
type VerifiedBelief struct{ beliefEvidence }

// Proven is evidence that convinces a program which trusts the Expect of a Trusted, and not the service. Functions
// that act on evidence take this type, or Verified, so that nothing else can reach them. The zero value holds
// nothing; only [Trusted.Slice] and [Trusted.Verify] return one with evidence in it.
//
// In addition to the methods here it has those of [slice.SealedTurns]: OK, Provenance, Tenant, KeyID, AsOf, Turns,
// Edges and Bytes. They return copies.
type Proven struct {
	evidence
	proof *proved
}

// proved is the evidence and its place in the ledger. It never changes after it was checked.
type proved struct {
	evidence  Evidence
	inclusion judge.Inclusion
}

// Evidence returns the evidence for the bundle, to be passed on with it, or the zero value.
func (p Proven) Evidence() Evidence {
	if !p.OK() {
		return Evidence{}
	}
	e := p.proof.evidence
	e.Attestation, e.Proof = slices.Clone(e.Attestation), slices.Clone(e.Proof)
	return e
}

// Inclusion returns the ledger and the place of the leaf in it, or the zero value.
func (p Proven) Inclusion() judge.Inclusion {
	if !p.OK() {
		return judge.Inclusion{}
	}
	return p.proof.inclusion
}

// ErrDecode is returned by every decoder and encoder of verified evidence.
var ErrDecode = slice.ErrDecode

// These types refuse decoding themselves, in addition to the types they embed: a nil pointer to one of them has no
// embedded value.

func (v *Verified) UnmarshalJSON([]byte) error   { return ErrDecode }
func (v *Verified) UnmarshalText([]byte) error   { return ErrDecode }
func (v *Verified) UnmarshalBinary([]byte) error { return ErrDecode }
func (v *Verified) GobDecode([]byte) error       { return ErrDecode }

func (v *VerifiedFacts) UnmarshalJSON([]byte) error   { return ErrDecode }
func (v *VerifiedFacts) UnmarshalText([]byte) error   { return ErrDecode }
func (v *VerifiedFacts) UnmarshalBinary([]byte) error { return ErrDecode }
func (v *VerifiedFacts) GobDecode([]byte) error       { return ErrDecode }

func (v *VerifiedBelief) UnmarshalJSON([]byte) error   { return ErrDecode }
func (v *VerifiedBelief) UnmarshalText([]byte) error   { return ErrDecode }
func (v *VerifiedBelief) UnmarshalBinary([]byte) error { return ErrDecode }
func (v *VerifiedBelief) GobDecode([]byte) error       { return ErrDecode }

func (v *VerifiedContext) UnmarshalJSON([]byte) error   { return ErrDecode }
func (v *VerifiedContext) UnmarshalText([]byte) error   { return ErrDecode }
func (v *VerifiedContext) UnmarshalBinary([]byte) error { return ErrDecode }
func (v *VerifiedContext) GobDecode([]byte) error       { return ErrDecode }

func (p *Proven) UnmarshalJSON([]byte) error   { return ErrDecode }
func (p *Proven) UnmarshalText([]byte) error   { return ErrDecode }
func (p *Proven) UnmarshalBinary([]byte) error { return ErrDecode }
func (p *Proven) GobDecode([]byte) error       { return ErrDecode }
