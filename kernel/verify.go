package kernel

import (
	"crypto/sha256"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// Verify makes every check on a bundle's bytes. See [token.Verifier.Verify].
func (k Slices) Verify(bundle []byte) (token.Admissible, token.Verdict) {
	return k.verifier.Verify(bundle)
}

// VerifyFor is Verify for one tenant: another tenant's bundle is of an unknown
// key, whatever its token.
func (k Slices) VerifyFor(tenant dag.Tenant, bundle []byte) (token.Admissible, token.Verdict) {
	return k.verifier.VerifyFor(tenant, bundle)
}

// Judge judges the bytes of a bundle of any kind for one tenant, as VerifyFor does.
func (k Slices) Judge(tenant dag.Tenant, bundle []byte) api.BundleVerdict {
	v := k.verifier.JudgeFor(tenant, bundle)
	return api.BundleVerdict{
		Admissible: v.Outcome == token.Verified, Outcome: string(v.Outcome), KeyID: v.Claim.Seal.KeyID, Reason: v.Reason,
		SliceID: string(v.Claim.Provenance.SliceID), BundleSHA256: dag.Digest(sha256.Sum256(bundle)),
		Redacted: listed(v.Redacted), Checks: listed(v.Checks),
	}
}

// VerifyToken judges a token alone. See [token.Verifier.VerifyToken].
func (k Slices) VerifyToken(tenant dag.Tenant, p *slice.Provenance, key, tok string) token.TokenVerdict {
	return k.verifier.VerifyToken(tenant, p, key, tok)
}

// Verify makes every check on the bytes of a bundle of facts. See
// [token.Verifier.VerifyFacts].
func (k Facts) Verify(bundle []byte) (token.AdmissibleFacts, token.Verdict) {
	return k.verifier.VerifyFacts(bundle)
}

// VerifyFor is VerifyFacts for one tenant, as VerifyFor is Verify.
func (k Facts) VerifyFor(tenant dag.Tenant, bundle []byte) (token.AdmissibleFacts, token.Verdict) {
	return k.verifier.VerifyFactsFor(tenant, bundle)
}
