package token

import (
	"bytes"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// VerifyFacts makes every check that it can on the bytes of a bundle of facts. The
// AdmissibleFacts holds evidence if and only if the outcome is Verified. The bytes are copied.
func (v *Verifier) VerifyFacts(data []byte) (AdmissibleFacts, Verdict) {
	return v.verifyFacts(data, anyTenant)
}

// VerifyFactsFor is VerifyFacts on behalf of a tenant, as VerifyFor is Verify.
func (v *Verifier) VerifyFactsFor(tenant dag.Tenant, data []byte) (AdmissibleFacts, Verdict) {
	return v.verifyFacts(data, only(tenant))
}

// VerifyContext makes every check that it can on the bytes of a context. The AdmissibleContext holds evidence if and only
// if the outcome is Verified. The bytes are copied.
func (v *Verifier) VerifyContext(data []byte) (AdmissibleContext, Verdict) {
	return v.verifyContext(data, anyTenant)
}

// VerifyContextFor is VerifyContext on behalf of a tenant, as VerifyFor is Verify.
func (v *Verifier) VerifyContextFor(tenant dag.Tenant, data []byte) (AdmissibleContext, Verdict) {
	return v.verifyContext(data, only(tenant))
}

func (v *Verifier) verifyContext(data []byte, mayCheck func(slice.Seal) error) (AdmissibleContext, Verdict) {
	data = bytes.Clone(data)
	bundle, err := contexts.Parse(data)
	if err != nil {
		return AdmissibleContext{}, unreadable(err, contexts.Checks[:])
	}
	claim := Claim{Provenance: bundle.Provenance, Seal: bundle.Seal, AsOf: bundle.AsOf, Turns: len(bundle.Turns), Facts: len(bundle.Facts)}
	verdict := v.judge(bundle.Check(), claim, mayCheck)
	if verdict.Outcome != Verified {
		return AdmissibleContext{}, verdict
	}
	return AdmissibleContext{contexts.Seal(bundle, data)}, verdict
}

// VerifyBelief makes every check that it can on the bytes of evidence of a belief. The AdmissibleBelief holds evidence if and only
// if the outcome is Verified. The bytes are copied.
func (v *Verifier) VerifyBelief(data []byte) (AdmissibleBelief, Verdict) {
	return v.verifyBelief(data, anyTenant)
}

// VerifyBeliefFor is VerifyBelief on behalf of a tenant, as VerifyFor is Verify.
func (v *Verifier) VerifyBeliefFor(tenant dag.Tenant, data []byte) (AdmissibleBelief, Verdict) {
	return v.verifyBelief(data, only(tenant))
}

func (v *Verifier) verifyBelief(data []byte, mayCheck func(slice.Seal) error) (AdmissibleBelief, Verdict) {
	data = bytes.Clone(data)
	bundle, err := beliefs.Parse(data)
	if err != nil {
		return AdmissibleBelief{}, unreadable(err, beliefs.Checks[:])
	}
	verdict := v.judge(bundle.Check(), Claim{Provenance: bundle.Provenance, Seal: bundle.Seal, AsOf: bundle.AsOf}, mayCheck)
	if verdict.Outcome != Verified {
		return AdmissibleBelief{}, verdict
	}
	return AdmissibleBelief{beliefs.Seal(bundle, data)}, verdict
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
	return AdmissibleFacts{facts.Seal(bundle, data)}, verdict
}
