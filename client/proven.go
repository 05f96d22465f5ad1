package client

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	judge "github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/slice"
)

// Proven is evidence that convinces whoever trusts what a Trusted was given, the service not
// among it. Functions that act on evidence take this type, or Verified, so that nothing
// else can reach them.
//
// The zero value holds nothing. Only [Trusted.Slice] and [Trusted.Verify] give one with
// evidence in it: the fields are out of reach of other packages, every decoder is refused,
// and what the methods give are copies.
type Proven struct {
	evidence *proven
}

// proven never changes after the proof.
type proven struct {
	evidence
	proof     Evidence
	inclusion judge.Inclusion
}

// OK reports whether there is evidence in p.
func (p Proven) OK() bool { return p.evidence != nil }

// Provenance gives the six fields, or their zero value.
func (p Proven) Provenance() slice.Provenance {
	if !p.OK() {
		return slice.Provenance{}
	}
	return p.evidence.bundle.Provenance
}

// Tenant gives the tenant whose evidence it is, or "".
func (p Proven) Tenant() dag.Tenant {
	if !p.OK() {
		return ""
	}
	return p.evidence.bundle.Seal.Tenant
}

// AsOf gives the sequence number of the view that the slice was cut from.
func (p Proven) AsOf() dag.Seq {
	if !p.OK() {
		return 0
	}
	return p.evidence.bundle.AsOf
}

// Turns gives a copy of the turns in reading order, or nil.
func (p Proven) Turns() []slice.BundleTurn {
	if !p.OK() {
		return nil
	}
	return p.evidence.bundle.Reading()
}

// Edges gives a copy of the edges, or nil.
func (p Proven) Edges() []dag.Edge {
	if !p.OK() {
		return nil
	}
	return slices.Clone(p.evidence.bundle.Edges)
}

// Bytes gives a copy of the very bytes that were proved, or nil.
func (p Proven) Bytes() []byte {
	if !p.OK() {
		return nil
	}
	return slices.Clone(p.evidence.bytes)
}

// Evidence gives what proved them, to be handed on with them, or its zero value.
func (p Proven) Evidence() Evidence {
	if !p.OK() {
		return Evidence{}
	}
	e := p.evidence.proof
	e.Attestation, e.Proof = slices.Clone(e.Attestation), slices.Clone(e.Proof)
	return e
}

// Inclusion says where in which ledger the leaf stands, or gives its zero value.
func (p Proven) Inclusion() judge.Inclusion {
	if !p.OK() {
		return judge.Inclusion{}
	}
	return p.evidence.inclusion
}

// UnmarshalJSON and its like refuse, as those of Verified do, and so do their opposites.
func (p *Proven) UnmarshalJSON([]byte) error    { return ErrDecode }
func (p *Proven) UnmarshalText([]byte) error    { return ErrDecode }
func (p *Proven) UnmarshalBinary([]byte) error  { return ErrDecode }
func (p *Proven) GobDecode([]byte) error        { return ErrDecode }
func (p Proven) MarshalJSON() ([]byte, error)   { return nil, ErrDecode }
func (p Proven) MarshalText() ([]byte, error)   { return nil, ErrDecode }
func (p Proven) MarshalBinary() ([]byte, error) { return nil, ErrDecode }
func (p Proven) GobEncode() ([]byte, error)     { return nil, ErrDecode }
