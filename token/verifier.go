package token

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// An Outcome sums up a verification. The names are stable.
type Outcome string

// The outcomes.
const (
	Verified       Outcome = "verified"
	Tampered       Outcome = "tampered"        // something does not match what was signed
	KeyUnknown     Outcome = "key_unknown"     // the body agrees with its header; nobody here can say who signed it
	KeyRetired     Outcome = "key_retired"     // the same, and the key verifies nothing any more
	Malformed      Outcome = "malformed"       // the bytes are no bundle
	UnknownVersion Outcome = "unknown_version" // the bytes are a bundle of a version that is not known here
)

// A Verdict says what was checked and what came out.
type Verdict struct {
	Outcome  Outcome
	Reason   string        // in one sentence; "" if verified
	Checks   []slice.Check // one for every slice.CheckID, in their order
	Redacted []dag.TurnID  // turns whose text is withheld or erased
	Claim    Claim         // what the bytes say; zero if they could not be read
}

// A Claim is what a bundle says of itself. It is true only if the outcome is
// Verified.
type Claim struct {
	Provenance slice.Provenance
	Seal       slice.Seal
	AsOf       dag.Seq
	Turns      int
}

// A Verifier judges bundles. It needs the keys and the bundle, no store.
type Verifier struct {
	authority *Authority
}

// NewVerifier gives a verifier that trusts the keys of an authority.
func NewVerifier(a *Authority) *Verifier { return &Verifier{a} }

var bodyChecks = [...]slice.CheckID{
	slice.CheckBodies, slice.CheckCanonicalOrder, slice.CheckEdges, slice.CheckAdmissions,
	slice.CheckOrder, slice.CheckPolicyHash, slice.CheckSnapshot, slice.CheckSliceID,
}

// Verify makes every check that it can on a bundle's bytes. The Admissible holds
// evidence if and only if the outcome is Verified. The bytes are copied.
func (v *Verifier) Verify(data []byte) (Admissible, Verdict) {
	return v.verify(data, func(slice.Seal) error { return nil })
}

// VerifyFor is Verify on behalf of a tenant. A bundle of any other tenant is not
// admissible, and the outcome, KeyUnknown, does not depend on its token: nobody
// learns from it what another tenant's keys have signed.
func (v *Verifier) VerifyFor(tenant dag.Tenant, data []byte) (Admissible, Verdict) {
	return v.verify(data, func(seal slice.Seal) error {
		if seal.Tenant != tenant {
			return fmt.Errorf("%w: tenant %q has no keys of tenant %q", ErrKeyUnknown, tenant, seal.Tenant)
		}
		return nil
	})
}

func (v *Verifier) verify(data []byte, mayCheck func(slice.Seal) error) (Admissible, Verdict) {
	data = bytes.Clone(data) // what is checked is what is kept, whatever the caller does with its own
	bundle, checks, err := slice.OpenBundle(data)
	if err != nil {
		return Admissible{}, unreadable(err)
	}
	verdict := Verdict{
		Outcome:  Verified,
		Checks:   make([]slice.Check, 0, 3+len(bodyChecks)),
		Redacted: bundle.Redacted(),
		Claim:    Claim{Provenance: bundle.Provenance, Seal: bundle.Seal, AsOf: bundle.AsOf, Turns: len(bundle.Turns)},
	}
	verdict.Checks = append(verdict.Checks,
		slice.Check{ID: slice.CheckForm, Status: slice.StatusOK, Detail: "canonical JSON"},
		slice.Check{ID: slice.CheckVersion, Status: slice.StatusOK, Detail: bundle.Provenance.SchemaVersion})
	verdict.Checks = append(verdict.Checks, checks...)
	for _, c := range verdict.Checks {
		if c.Status == slice.StatusFail {
			verdict.fail(Tampered, string(c.ID)+": "+c.Detail)
		}
	}
	err = mayCheck(bundle.Seal)
	if err == nil {
		err = v.authority.Check(&bundle.Provenance, bundle.Seal)
	}
	verdict.checkToken(err, bundle.Seal)
	if verdict.Outcome != Verified {
		return Admissible{}, verdict
	}
	return Admissible{&evidence{bundle: bundle, bytes: data}}, verdict
}

// fail sets the outcome, unless an earlier check has.
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

func unreadable(err error) Verdict {
	v := Verdict{Outcome: Malformed, Reason: err.Error()}
	form := slice.Check{ID: slice.CheckForm, Status: slice.StatusFail, Detail: err.Error()}
	version := slice.Check{ID: slice.CheckVersion, Status: slice.StatusSkipped, Detail: "not reached"}
	if errors.Is(err, slice.ErrVersion) {
		v.Outcome = UnknownVersion
		form.Status, form.Detail = slice.StatusSkipped, "not known for this version"
		version.Status, version.Detail = slice.StatusFail, err.Error()
	}
	v.Checks = append(v.Checks, form, version)
	for _, id := range append(bodyChecks[:], slice.CheckToken) {
		v.Checks = append(v.Checks, slice.Check{ID: id, Status: slice.StatusSkipped, Detail: "not reached"})
	}
	return v
}
