package client

import (
	"errors"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// Verified is evidence that the service verified. Functions that act on evidence take
// this type, so that nothing unverified can reach them.
//
// It is to a program without keys what token.Admissible is to one with them. The zero
// value holds nothing. Only [Client.VerifyBundle] gives one with evidence in it: the
// fields are out of reach of other packages, every decoder is refused, and what the
// methods give are copies. Copying a Verified copies what it holds, evidence or nothing.
type Verified struct {
	evidence *evidence
}

// evidence never changes after verification.
type evidence struct {
	bundle *slice.Bundle
	bytes  []byte
}

// OK reports whether there is evidence in v.
func (v Verified) OK() bool { return v.evidence != nil }

// Provenance gives the six fields, or their zero value.
func (v Verified) Provenance() slice.Provenance {
	if !v.OK() {
		return slice.Provenance{}
	}
	return v.evidence.bundle.Provenance
}

// Tenant gives the tenant whose evidence it is, or "".
func (v Verified) Tenant() dag.Tenant {
	if !v.OK() {
		return ""
	}
	return v.evidence.bundle.Seal.Tenant
}

// KeyID gives the key whose token was verified, or "".
func (v Verified) KeyID() token.KeyID {
	if !v.OK() {
		return ""
	}
	return token.KeyID(v.evidence.bundle.Seal.KeyID)
}

// AsOf gives the sequence number of the view that the slice was cut from. It is the one
// thing here that the token does not cover.
func (v Verified) AsOf() dag.Seq {
	if !v.OK() {
		return 0
	}
	return v.evidence.bundle.AsOf
}

// Turns gives a copy of the turns in reading order, or nil.
func (v Verified) Turns() []slice.BundleTurn {
	if !v.OK() {
		return nil
	}
	return v.evidence.bundle.Reading()
}

// Edges gives a copy of the edges, or nil.
func (v Verified) Edges() []dag.Edge {
	if !v.OK() {
		return nil
	}
	return slices.Clone(v.evidence.bundle.Edges)
}

// Bytes gives a copy of the very bytes that were verified, or nil.
func (v Verified) Bytes() []byte {
	if !v.OK() {
		return nil
	}
	return slices.Clone(v.evidence.bytes)
}

// ErrDecode is returned by every decoder: evidence cannot be decoded, only verified.
var ErrDecode = errors.New("client: a Verified cannot be decoded or encoded; verify the bundle's bytes instead")

// UnmarshalJSON, UnmarshalText, UnmarshalBinary and GobDecode refuse. So do their
// opposites: a Verified that was sent elsewhere would arrive as a claim.
func (v *Verified) UnmarshalJSON([]byte) error    { return ErrDecode }
func (v *Verified) UnmarshalText([]byte) error    { return ErrDecode }
func (v *Verified) UnmarshalBinary([]byte) error  { return ErrDecode }
func (v *Verified) GobDecode([]byte) error        { return ErrDecode }
func (v Verified) MarshalJSON() ([]byte, error)   { return nil, ErrDecode }
func (v Verified) MarshalText() ([]byte, error)   { return nil, ErrDecode }
func (v Verified) MarshalBinary() ([]byte, error) { return nil, ErrDecode }
func (v Verified) GobEncode() ([]byte, error)     { return nil, ErrDecode }
