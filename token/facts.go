package token

import (
	"bytes"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// AdmissibleFacts is to a bundle of facts what [Admissible] is to one of turns: evidence that
// was verified. The zero value holds nothing; only [Verifier.VerifyFacts] gives one with
// evidence in it.
type AdmissibleFacts struct {
	evidence *factEvidence
}

// factEvidence never changes after verification.
type factEvidence struct {
	bundle *facts.Bundle
	bytes  []byte
}

// OK reports whether there is evidence in a.
func (a AdmissibleFacts) OK() bool { return a.evidence != nil }

// Provenance returns the six fields, or their zero value.
func (a AdmissibleFacts) Provenance() slice.Provenance {
	if !a.OK() {
		return slice.Provenance{}
	}
	return a.evidence.bundle.Provenance
}

// Tenant returns the tenant whose evidence it is, or "".
func (a AdmissibleFacts) Tenant() dag.Tenant {
	if !a.OK() {
		return ""
	}
	return a.evidence.bundle.Seal.Tenant
}

// KeyID returns the key whose token was verified, or "".
func (a AdmissibleFacts) KeyID() KeyID {
	if !a.OK() {
		return ""
	}
	return KeyID(a.evidence.bundle.Seal.KeyID)
}

// AsOf returns the sequence number as of which the facts were believed. It is the one thing
// here that the token does not cover.
func (a AdmissibleFacts) AsOf() dag.Seq {
	if !a.OK() {
		return 0
	}
	return a.evidence.bundle.AsOf
}

// Facts returns a copy of the assertions, by ascending statement, or nil.
func (a AdmissibleFacts) Facts() []knowledge.Act {
	if !a.OK() {
		return nil
	}
	return a.evidence.bundle.OwnFacts()
}

// Reached returns a copy of the entities with their paths, or nil.
func (a AdmissibleFacts) Reached() []facts.Reached {
	if !a.OK() {
		return nil
	}
	return a.evidence.bundle.OwnReached()
}

// Evidence returns a copy of the turns that the facts name, with their leaf hashes, or nil.
func (a AdmissibleFacts) Evidence() []facts.Turn {
	if !a.OK() {
		return nil
	}
	return slices.Clone(a.evidence.bundle.Evidence)
}

// Claim returns a copy of all that the bundle says: the question, the policy and the aliases that
// counted, whether it was cut, and what the other methods give. Its zero value if there is no
// evidence.
func (a AdmissibleFacts) Claim() facts.Bundle {
	if !a.OK() {
		return facts.Bundle{}
	}
	return a.evidence.bundle.Own()
}

// Bytes returns a copy of the very bytes that were verified, or nil.
func (a AdmissibleFacts) Bytes() []byte {
	if !a.OK() {
		return nil
	}
	return slices.Clone(a.evidence.bytes)
}

// UnmarshalJSON, UnmarshalText, UnmarshalBinary and GobDecode refuse, and so do their
// opposites, as those of Admissible do.
func (a *AdmissibleFacts) UnmarshalJSON([]byte) error    { return ErrDecode }
func (a *AdmissibleFacts) UnmarshalText([]byte) error    { return ErrDecode }
func (a *AdmissibleFacts) UnmarshalBinary([]byte) error  { return ErrDecode }
func (a *AdmissibleFacts) GobDecode([]byte) error        { return ErrDecode }
func (a AdmissibleFacts) MarshalJSON() ([]byte, error)   { return nil, ErrDecode }
func (a AdmissibleFacts) MarshalText() ([]byte, error)   { return nil, ErrDecode }
func (a AdmissibleFacts) MarshalBinary() ([]byte, error) { return nil, ErrDecode }
func (a AdmissibleFacts) GobEncode() ([]byte, error)     { return nil, ErrDecode }

// VerifyFacts makes every check that it can on the bytes of a bundle of facts. The
// AdmissibleFacts holds evidence if and only if the outcome is Verified. The bytes are copied.
func (v *Verifier) VerifyFacts(data []byte) (AdmissibleFacts, Verdict) {
	return v.verifyFacts(data, anyTenant)
}

// VerifyFactsFor is VerifyFacts on behalf of a tenant, as VerifyFor is Verify.
func (v *Verifier) VerifyFactsFor(tenant dag.Tenant, data []byte) (AdmissibleFacts, Verdict) {
	return v.verifyFacts(data, only(tenant))
}

func (v *Verifier) verifyFacts(data []byte, mayCheck func(slice.Seal) error) (AdmissibleFacts, Verdict) {
	data = bytes.Clone(data)
	bundle, err := facts.Parse(data)
	if err != nil {
		return AdmissibleFacts{}, unreadable(err, facts.Checks[:])
	}
	verdict := v.judge(bundle.Check(), Claim{Provenance: bundle.Provenance, Seal: bundle.Seal, AsOf: bundle.AsOf, Facts: len(bundle.Facts)}, mayCheck)
	if verdict.Outcome != Verified {
		return AdmissibleFacts{}, verdict
	}
	return AdmissibleFacts{&factEvidence{bundle: bundle, bytes: data}}, verdict
}
