package token

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// An Outcome is the result of a verification. The names are stable.
type Outcome string

// The outcomes.
const (
	Verified       Outcome = "verified"
	Tampered       Outcome = "tampered"        // the bundle differs from what was signed
	KeyUnknown     Outcome = "key_unknown"     // the body agrees with its header, but the authority does not know the signing key
	KeyRetired     Outcome = "key_retired"     // the same, but the signing key is retired
	Malformed      Outcome = "malformed"       // the bytes are not a bundle
	UnknownVersion Outcome = "unknown_version" // the bytes are a bundle of an unknown version
)

// Outcomes lists every outcome.
var Outcomes = [...]Outcome{Verified, Tampered, KeyUnknown, KeyRetired, Malformed, UnknownVersion}

// A Verdict is the outcome of a verification with the checks behind it.
type Verdict struct {
	Outcome  Outcome
	Reason   string        // one sentence; "" if verified
	Checks   []slice.Check // one for every slice.CheckID, in that order
	Redacted []dag.TurnID  // turns whose text is withheld or erased
	Claim    Claim         // what the bundle says; zero if it could not be read
}

// A Claim is what a bundle says about itself. It is true only if the outcome is Verified.
type Claim struct {
	Provenance slice.Provenance
	Seal       slice.Seal
	AsOf       dag.Seq
	Turns      int // the number of turns, if bundles of this kind count them
	Facts      int // the number of facts, if bundles of this kind count them
}

// A Verifier verifies bundles. It needs the keys and the bundle, but no store.
type Verifier struct {
	authority *Authority
}

// NewVerifier returns a verifier that uses the keys of an authority.
func NewVerifier(a *Authority) *Verifier { return &Verifier{a} }

// Verify makes every possible check on the bytes of a bundle of turns. The Admissible contains evidence if and only if
// the outcome is Verified. The bytes are copied.
func (v *Verifier) Verify(data []byte) (Admissible, Verdict) {
	return verified(v, slice.Bundles, data, anyTenant, func(b *slice.Bundle, data []byte) Admissible { return Admissible{slice.SealTurns(b, data)} })
}

// VerifyFor is Verify on behalf of a tenant. A bundle of any other tenant is not admissible, and its token does not
// change the outcome, KeyUnknown: a tenant learns nothing about what another tenant's keys have signed.
func (v *Verifier) VerifyFor(tenant dag.Tenant, data []byte) (Admissible, Verdict) {
	return verified(v, slice.Bundles, data, only(tenant), func(b *slice.Bundle, data []byte) Admissible { return Admissible{slice.SealTurns(b, data)} })
}

// VerifyFactsFor is VerifyFor for a slice of facts.
func (v *Verifier) VerifyFactsFor(tenant dag.Tenant, data []byte) (AdmissibleFacts, Verdict) {
	return verified(v, facts.Bundles, data, only(tenant), func(b *facts.Bundle, data []byte) AdmissibleFacts { return AdmissibleFacts{facts.Seal(b, data)} })
}

// VerifyFacts is Verify for a slice of facts.
func (v *Verifier) VerifyFacts(data []byte) (AdmissibleFacts, Verdict) {
	return verified(v, facts.Bundles, data, anyTenant, func(b *facts.Bundle, data []byte) AdmissibleFacts { return AdmissibleFacts{facts.Seal(b, data)} })
}

// VerifyContext is Verify for a context.
func (v *Verifier) VerifyContext(data []byte) (AdmissibleContext, Verdict) {
	return verified(v, contexts.Bundles, data, anyTenant, func(b *contexts.Bundle, data []byte) AdmissibleContext {
		return AdmissibleContext{contexts.Seal(b, data)}
	})
}

// VerifyContextFor is VerifyFor for a context.
func (v *Verifier) VerifyContextFor(tenant dag.Tenant, data []byte) (AdmissibleContext, Verdict) {
	return verified(v, contexts.Bundles, data, only(tenant), func(b *contexts.Bundle, data []byte) AdmissibleContext {
		return AdmissibleContext{contexts.Seal(b, data)}
	})
}

// VerifyBelief is Verify for evidence of a belief.
func (v *Verifier) VerifyBelief(data []byte) (AdmissibleBelief, Verdict) {
	return verified(v, beliefs.Bundles, data, anyTenant, func(b *beliefs.Bundle, data []byte) AdmissibleBelief { return AdmissibleBelief{beliefs.Seal(b, data)} })
}

// VerifyBeliefFor is VerifyFor for evidence of a belief.
func (v *Verifier) VerifyBeliefFor(tenant dag.Tenant, data []byte) (AdmissibleBelief, Verdict) {
	return verified(v, beliefs.Bundles, data, only(tenant), func(b *beliefs.Bundle, data []byte) AdmissibleBelief { return AdmissibleBelief{beliefs.Seal(b, data)} })
}

// JudgeFor verifies the bytes of a bundle of any kind on behalf of a tenant, as VerifyFor does.
func (v *Verifier) JudgeFor(tenant dag.Tenant, data []byte) Verdict {
	_, verdict := v.verify(kinds.Of(data), data, only(tenant))
	return verdict
}

// BoundaryFor verifies the bytes of a bundle of any kind on behalf of a tenant, and returns the boundary of its
// evidence. The boundary is not OK unless the outcome is Verified.
func (v *Verifier) BoundaryFor(tenant dag.Tenant, data []byte) (Boundary, Verdict) {
	body, verdict := v.verify(kinds.Of(data), data, only(tenant))
	if body == nil {
		return Boundary{}, verdict
	}
	return boundary(slice.NewSealed(body, nil)), verdict
}

// only permits the use of one tenant's keys.
func only(tenant dag.Tenant) func(slice.Seal) error {
	return func(seal slice.Seal) error {
		if seal.Tenant != tenant {
			return fmt.Errorf("%w: with the keys of tenant %q, no token of tenant %q can be checked", ErrKeyUnknown, tenant, seal.Tenant)
		}
		return nil
	}
}

// anyTenant permits the use of the keys of the tenant that a bundle names.
func anyTenant(slice.Seal) error { return nil }

// verified verifies a bundle and seals its body as the kind's admissible type; the zero value if the outcome is not
// Verified.
func verified[B slice.Body, A any](v *Verifier, k *slice.Kind, data []byte, mayCheck func(slice.Seal) error, seal func(B, []byte) A) (a A, _ Verdict) {
	data = bytes.Clone(data) // the copy that is checked is the copy that is kept, even if the caller changes data
	body, verdict := v.verify(k, data, mayCheck)
	if b, ok := body.(B); ok {
		a = seal(b, data)
	}
	return a, verdict
}

// verify makes every possible check on the bytes of a bundle of a kind. It returns a body if and only if the outcome is
// Verified.
func (v *Verifier) verify(k *slice.Kind, data []byte, mayCheck func(slice.Seal) error) (slice.Body, Verdict) {
	body, checks, err := k.Open(data)
	if err != nil {
		return nil, unreadable(err, k.Checks)
	}
	h := body.Head()
	verdict := v.judge(checks, Claim{Provenance: h.Provenance, Seal: h.Seal, AsOf: h.AsOf, Turns: int(h.Count("turns")), Facts: int(h.Count("facts"))}, mayCheck)
	verdict.Redacted = body.Redacted()
	if verdict.Outcome != Verified {
		return nil, verdict
	}
	return body, verdict
}

// judge sums up the checks of a body, and adds the checks of form, version and token.
func (v *Verifier) judge(checks []slice.Check, claim Claim, mayCheck func(slice.Seal) error) Verdict {
	verdict := Verdict{Outcome: Verified, Checks: make([]slice.Check, 0, 3+len(checks)), Claim: claim}
	verdict.Checks = append(verdict.Checks,
		slice.Check{ID: slice.CheckForm, Status: slice.StatusOK, Detail: "canonical JSON"},
		slice.Check{ID: slice.CheckVersion, Status: slice.StatusOK, Detail: claim.Provenance.SchemaVersion})
	verdict.Checks = append(verdict.Checks, checks...)
	for _, c := range verdict.Checks {
		if c.Status == slice.StatusFail {
			verdict.fail(Tampered, string(c.ID)+": "+c.Detail)
		}
	}
	err := mayCheck(claim.Seal)
	if err == nil {
		err = v.authority.Check(&claim.Provenance, claim.Seal)
	}
	verdict.checkToken(err, claim.Seal)
	return verdict
}

// fail sets the outcome unless an earlier check has set it.
func (v *Verdict) fail(o Outcome, reason string) {
	if v.Outcome == Verified {
		v.Outcome, v.Reason = o, reason
	}
}

func (v *Verdict) checkToken(err error, seal slice.Seal) {
	c := slice.Check{ID: slice.CheckToken, Status: slice.StatusOK, Detail: "key " + seal.KeyID + " of tenant " + string(seal.Tenant)}
	if err != nil {
		c.Status, c.Detail = slice.StatusFail, err.Error()
		switch {
		case errors.Is(err, ErrKeyUnknown):
			v.fail(KeyUnknown, c.Detail)
		case errors.Is(err, ErrKeyRetired):
			v.fail(KeyRetired, c.Detail)
		default:
			v.fail(Tampered, string(c.ID)+": "+c.Detail)
		}
	}
	v.Checks = append(v.Checks, c)
}

func unreadable(err error, checks []slice.CheckID) Verdict {
	v := Verdict{Outcome: Malformed, Reason: err.Error()}
	form := slice.Check{ID: slice.CheckForm, Status: slice.StatusFail, Detail: err.Error()}
	version := slice.Check{ID: slice.CheckVersion, Status: slice.StatusSkipped, Detail: "not reached"}
	if errors.Is(err, slice.ErrVersion) {
		v.Outcome = UnknownVersion
		form.Status, form.Detail = slice.StatusSkipped, "cannot be checked for this version"
		version.Status, version.Detail = slice.StatusFail, err.Error()
	}
	v.Checks = append(v.Checks, form, version)
	for _, id := range append(slices.Clone(checks), slice.CheckToken) {
		v.Checks = append(v.Checks, slice.Check{ID: id, Status: slice.StatusSkipped, Detail: "not reached"})
	}
	return v
}
