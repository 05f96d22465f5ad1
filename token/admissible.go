package token

import (
	"errors"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// Admissible is evidence that was verified. Functions that act on evidence take
// this type, so that nothing unverified can reach them.
//
// The zero value holds nothing and is not admissible. Only [Verifier.Verify]
// gives one with evidence in it: the fields are out of reach of other packages,
// every decoder is refused, and what the methods give are copies. (An interface
// with an unexported method would be no seal: embedding it in a struct opens it.)
// Copying an Admissible copies what it holds, evidence or nothing.
type Admissible struct {
	evidence *evidence
}

// evidence never changes after verification.
type evidence struct {
	bundle *slice.Bundle
	bytes  []byte
}

// OK reports whether there is evidence in a.
func (a Admissible) OK() bool { return a.evidence != nil }

// Provenance returns the six fields, or their zero value.
func (a Admissible) Provenance() slice.Provenance {
	if !a.OK() {
		return slice.Provenance{}
	}
	return a.evidence.bundle.Provenance
}

// Tenant returns the tenant whose evidence it is, or "".
func (a Admissible) Tenant() dag.Tenant {
	if !a.OK() {
		return ""
	}
	return a.evidence.bundle.Seal.Tenant
}

// KeyID returns the key whose token was verified, or "".
func (a Admissible) KeyID() KeyID {
	if !a.OK() {
		return ""
	}
	return KeyID(a.evidence.bundle.Seal.KeyID)
}

// AsOf returns the sequence number of the view that the slice was cut from. It is
// the one thing here that the token does not cover.
func (a Admissible) AsOf() dag.Seq {
	if !a.OK() {
		return 0
	}
	return a.evidence.bundle.AsOf
}

// Turns returns a copy of the turns in reading order, or nil.
func (a Admissible) Turns() []slice.BundleTurn {
	if !a.OK() {
		return nil
	}
	return a.evidence.bundle.Reading()
}

// Edges returns a copy of the edges, or nil.
func (a Admissible) Edges() []dag.Edge {
	if !a.OK() {
		return nil
	}
	return slices.Clone(a.evidence.bundle.Edges)
}

// Bytes returns a copy of the very bytes that were verified, or nil.
func (a Admissible) Bytes() []byte {
	if !a.OK() {
		return nil
	}
	return slices.Clone(a.evidence.bytes)
}

// ErrDecode is returned by every decoder: evidence cannot be decoded, only
// verified.
var ErrDecode = errors.New("token: an Admissible cannot be decoded or encoded; verify the bundle's bytes instead")

// UnmarshalJSON, UnmarshalText, UnmarshalBinary and GobDecode refuse. So do
// their opposites: an Admissible that was sent elsewhere would arrive as a claim.
func (a *Admissible) UnmarshalJSON([]byte) error    { return ErrDecode }
func (a *Admissible) UnmarshalText([]byte) error    { return ErrDecode }
func (a *Admissible) UnmarshalBinary([]byte) error  { return ErrDecode }
func (a *Admissible) GobDecode([]byte) error        { return ErrDecode }
func (a Admissible) MarshalJSON() ([]byte, error)   { return nil, ErrDecode }
func (a Admissible) MarshalText() ([]byte, error)   { return nil, ErrDecode }
func (a Admissible) MarshalBinary() ([]byte, error) { return nil, ErrDecode }
func (a Admissible) GobEncode() ([]byte, error)     { return nil, ErrDecode }
