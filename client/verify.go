package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
	"github.com/graphkernel/graphkernel/wire"
)

// ClaimOf gives what a bundle says of its token, to be judged.
func ClaimOf(b *slice.Bundle) wire.TokenClaim {
	p := &b.Provenance
	return wire.TokenClaim{
		SliceID: string(p.SliceID), AnchorTurnID: p.Anchor.String(), PolicyID: string(p.PolicyID), PolicyParamsHash: p.PolicyParamsHash.String(),
		GraphSnapshotHash: p.GraphSnapshotHash.String(), SchemaVersion: p.SchemaVersion, Token: b.Seal.Token, KeyID: b.Seal.KeyID,
	}
}

// VerifyToken has a token judged. It speaks for the six fields alone: whoever acts on
// the turns verifies the bundle.
func (c *Client) VerifyToken(ctx context.Context, claim wire.TokenClaim) (wire.TokenVerdict, error) {
	q := &request{method: http.MethodPost, path: "/api/verify_token", body: encode(claim)}
	v, err := get[wire.TokenVerdict](ctx, c, q)
	if err == nil && v.Admissible != (v.Outcome == string(token.Verified)) {
		return wire.TokenVerdict{}, fmt.Errorf("client: %s: %w: admissible is %t, and the outcome %.40q", q, ErrAnswer, v.Admissible, v.Outcome)
	}
	return v, err
}

// VerifyBundle has a bundle's bytes judged. There is evidence in the Verified if and
// only if the service says, of exactly these bytes, that a key of the caller's tenant
// signed them, and every check that needs no key was made here too and passed. A bundle
// that is not admissible is no error: the verdict says what is wrong with it.
//
// It trusts the service to know the keys, and the connection to be the service's. A
// program that has the keys uses token.Verifier.
func (c *Client) VerifyBundle(ctx context.Context, bundle []byte) (Verified, wire.BundleVerdict, error) {
	data := bytes.Clone(bundle)
	q := &request{method: http.MethodPost, path: "/api/verify_bundle", body: data}
	v, err := get[wire.BundleVerdict](ctx, c, q)
	if err != nil {
		return Verified{}, wire.BundleVerdict{}, err
	}
	b, err := judged(data, &v)
	if err != nil {
		return Verified{}, wire.BundleVerdict{}, fmt.Errorf("client: %s: %w: %w", q, ErrAnswer, err)
	}
	if b == nil {
		return Verified{}, v, nil
	}
	return Verified{&evidence{bundle: b, bytes: data}}, v, nil
}

// judged holds a verdict against the bytes. It gives a bundle if they are admissible.
func judged(data []byte, v *wire.BundleVerdict) (*slice.Bundle, error) {
	sum := dag.Digest(sha256.Sum256(data))
	if v.BundleSHA256 != sum.String() {
		return nil, fmt.Errorf("the verdict is of bytes with SHA-256 %.80q, and %s was sent", v.BundleSHA256, sum)
	}
	if v.Admissible != (v.Outcome == string(token.Verified)) {
		return nil, fmt.Errorf("admissible is %t, and the outcome %.40q", v.Admissible, v.Outcome)
	}
	if !v.Admissible {
		return nil, nil
	}
	b, err := consistent(data)
	if err != nil {
		return nil, fmt.Errorf("it is said to be admissible: %w", err)
	}
	if v.SliceID != string(b.Provenance.SliceID) || v.KeyID != b.Seal.KeyID {
		return nil, fmt.Errorf("the verdict is of slice %.80q under key %.80q, and %s under %s was sent", v.SliceID, v.KeyID, b.Provenance.SliceID, b.Seal.KeyID)
	}
	signed := false
	for _, check := range v.Checks {
		if check.Status != string(slice.StatusOK) {
			return nil, fmt.Errorf("it is said to be admissible, and check %.40q is %.40q", check.ID, check.Status)
		}
		signed = signed || check.ID == string(slice.CheckToken)
	}
	if !signed {
		return nil, fmt.Errorf("it is said to be admissible, and check %s was not made", slice.CheckToken)
	}
	return b, nil
}
