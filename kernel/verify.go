package kernel

import (
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// Verify runs every check on the bytes of a bundle. See [token.Verifier.Verify].
func (k Slices) Verify(bundle []byte) (token.Admissible, token.Verdict) {
	return k.verifier.Verify(bundle)
}

// VerifyFor is Verify for one tenant: it treats the key of another tenant's bundle as
// unknown, whatever the token.
func (k Slices) VerifyFor(tenant dag.Tenant, bundle []byte) (token.Admissible, token.Verdict) {
	return k.verifier.VerifyFor(tenant, bundle)
}

// Judge returns the verdict on the bytes of a bundle of any kind for one tenant; see VerifyFor.
func (k Slices) Judge(tenant dag.Tenant, bundle []byte) api.BundleVerdict {
	v := k.verifier.JudgeFor(tenant, bundle)
	return api.BundleVerdict{
		Admissible: v.Outcome == token.Verified, Outcome: string(v.Outcome), KeyID: v.Claim.Seal.KeyID, Reason: v.Reason,
		SliceID: string(v.Claim.Provenance.SliceID), BundleSHA256: dag.Digest(sha256.Sum256(bundle)),
		Redacted: listed(v.Redacted), Checks: listed(v.Checks),
	}
}

// VerifyToken verifies a token without its bundle. See [token.Verifier.VerifyToken].
func (k Slices) VerifyToken(tenant dag.Tenant, p *slice.Provenance, key, tok string) token.TokenVerdict {
	return k.verifier.VerifyToken(tenant, p, key, tok)
}

// Verify runs every check on the bytes of a bundle of facts. See
// [token.Verifier.VerifyFacts].
func (k Facts) Verify(bundle []byte) (token.AdmissibleFacts, token.Verdict) {
	return k.verifier.VerifyFacts(bundle)
}

// VerifyFor is Verify for one tenant, like [Slices.VerifyFor].
func (k Facts) VerifyFor(tenant dag.Tenant, bundle []byte) (token.AdmissibleFacts, token.Verdict) {
	return k.verifier.VerifyFactsFor(tenant, bundle)
}

// Boundary verifies a bundle of any kind, and returns the boundary that limits a question to the bundle. A bundle that is not admissible for
// the tenant is token.ErrNotAdmissible.
func (k Slices) Boundary(tenant dag.Tenant, bundle []byte) (*token.Boundary, error) {
	b, verdict := k.verifier.BoundaryFor(tenant, bundle)
	if !b.OK() {
		return nil, fmt.Errorf("%w: %s, %s", token.ErrNotAdmissible, verdict.Outcome, verdict.Reason)
	}
	return &b, nil
}
