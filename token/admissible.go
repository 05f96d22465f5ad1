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

// Admissible is verified evidence. Functions that act on evidence take this type, so that nothing unverified can reach
// them. The zero value is empty and not admissible; only [Verifier.Verify] and [Verifier.VerifyFor] return a value with
// evidence in it.
//
// Its methods are those of [slice.SealedTurns]: OK, Provenance, Tenant, KeyID, AsOf, Turns, Edges
// and Bytes. They return copies.
type Admissible struct{ evidence }

// AdmissibleFacts is the counterpart of [Admissible] for a bundle of facts. Only [Verifier.VerifyFacts] and
// [Verifier.VerifyFactsFor] return a value with evidence in it.
//
// Its methods are those of [facts.Sealed]: OK, Provenance, Tenant, KeyID, AsOf, Facts, Reached,
// Evidence, Claim and Bytes. They return copies.
type AdmissibleFacts struct{ factEvidence }

// AdmissibleContext is the counterpart of [Admissible] for a context. Only [Verifier.VerifyContext] and
// [Verifier.VerifyContextFor] return a value with evidence in it.
//
// Its methods are those of [contexts.Sealed]: OK, Provenance, Tenant, KeyID, AsOf, Turns, Prompt, Task and Bytes. They
// return copies.
type AdmissibleContext struct{ contextEvidence }

// AdmissibleBelief is the counterpart of [Admissible] for evidence of a belief. Only [Verifier.VerifyBelief] and
// [Verifier.VerifyBeliefFor] return a value with evidence in it.
//
// Its methods are those of [beliefs.Sealed]: OK, Provenance, Tenant, KeyID, AsOf, Question, Revisions, Evidence and Bytes. They
// return copies.
type AdmissibleBelief struct{ beliefEvidence }

// ErrDecode is returned by every decoder and encoder of an Admissible.
var ErrDecode = slice.ErrDecode

// The outer types refuse decoding too, not only the embedded types: a nil pointer to an outer type has no embedded
// value to call.

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
