package token

import (
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

// Admissible is evidence that was verified. Functions that act on evidence take this type, so that
// nothing unverified can reach them. The zero value holds nothing and is not admissible; only
// [Verifier.Verify] returns one with evidence in it.
//
// Its methods are those of [slice.SealedTurns]: OK, Provenance, Tenant, KeyID, AsOf, Turns, Edges
// and Bytes. They return copies.
type Admissible struct{ evidence }

// AdmissibleFacts is to a bundle of facts what [Admissible] is to one of turns. Only
// [Verifier.VerifyFacts] returns one with evidence in it.
//
// Its methods are those of [facts.Sealed]: OK, Provenance, Tenant, KeyID, AsOf, Facts, Reached,
// Evidence, Claim and Bytes. They return copies.
type AdmissibleFacts struct{ factEvidence }

// AdmissibleContext is to a context what [Admissible] is to a slice of turns. Only [Verifier.VerifyContext] returns one
// with evidence in it.
//
// Its methods are those of [contexts.Sealed]: OK, Provenance, Tenant, KeyID, AsOf, Turns, Prompt, Task and Bytes. They
// return copies.
type AdmissibleContext struct{ contextEvidence }

// AdmissibleBelief is to evidence of a belief what [Admissible] is to a slice of turns. Only [Verifier.VerifyBelief] returns one
// with evidence in it.
//
// Its methods are those of [beliefs.Sealed]: OK, Provenance, Tenant, KeyID, AsOf, Question, Revisions, Evidence and Bytes. They
// return copies.
type AdmissibleBelief struct{ beliefEvidence }

// ErrDecode is returned by every decoder and encoder of an Admissible.
var ErrDecode = slice.ErrDecode

// The decoders are refused here too, and not only by what is embedded: a nil pointer to one of these
// types has nothing embedded to ask.

func (a *Admissible) UnmarshalJSON([]byte) error   { return ErrDecode }
func (a *Admissible) UnmarshalText([]byte) error   { return ErrDecode }
func (a *Admissible) UnmarshalBinary([]byte) error { return ErrDecode }
func (a *Admissible) GobDecode([]byte) error       { return ErrDecode }

func (a *AdmissibleBelief) UnmarshalJSON([]byte) error   { return ErrDecode }
func (a *AdmissibleBelief) UnmarshalText([]byte) error   { return ErrDecode }
func (a *AdmissibleBelief) UnmarshalBinary([]byte) error { return ErrDecode }
func (a *AdmissibleBelief) GobDecode([]byte) error       { return ErrDecode }

func (a *AdmissibleContext) UnmarshalJSON([]byte) error   { return ErrDecode }
func (a *AdmissibleContext) UnmarshalText([]byte) error   { return ErrDecode }
func (a *AdmissibleContext) UnmarshalBinary([]byte) error { return ErrDecode }
func (a *AdmissibleContext) GobDecode([]byte) error       { return ErrDecode }

func (a *AdmissibleFacts) UnmarshalJSON([]byte) error   { return ErrDecode }
func (a *AdmissibleFacts) UnmarshalText([]byte) error   { return ErrDecode }
func (a *AdmissibleFacts) UnmarshalBinary([]byte) error { return ErrDecode }
func (a *AdmissibleFacts) GobDecode([]byte) error       { return ErrDecode }
