package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/kinds"
	"github.com/graphkernel/graphkernel/token"
)

// ClaimOf returns the token of a bundle and the fields that it covers, as the bundle claims them, for verification.
func ClaimOf(b *slice.Bundle) api.TokenClaim {
	p := &b.Provenance
	return api.TokenClaim{
		SliceID: string(p.SliceID), AnchorTurnID: p.Anchor.String(), PolicyID: string(p.PolicyID), PolicyParamsHash: p.PolicyParamsHash.String(),
		GraphSnapshotHash: p.GraphSnapshotHash.String(), SchemaVersion: p.SchemaVersion, Token: b.Seal.Token, KeyID: b.Seal.KeyID,
	}
}

// VerifyToken asks the service to verify a token. The verdict covers the six fields only: to act on the turns, verify
// the bundle.
func (c Slices) VerifyToken(ctx context.Context, claim api.TokenClaim) (api.TokenVerdict, error) {
	v, err := call(ctx, c.conn, api.VerifyToken, claim)
	if err == nil && v.Admissible != (v.Outcome == string(token.Verified)) {
		return api.TokenVerdict{}, fmt.Errorf("client: %w: admissible is %t, but the outcome is %.40q", ErrAnswer, v.Admissible, v.Outcome)
	}
	return v, err
}

// ErrKind is wrapped when a bundle of one kind is passed for verification as another kind. Nothing was sent to the
// service.
var ErrKind = errors.New("another kind of bundle")

// Verify asks the service to verify the bytes of a bundle, without the line feed with which a file may end. The
// Verified has evidence in it if and only if the service confirmed, for exactly these bytes, that a key of the caller's
// tenant signed them, and every check that needs no key was also made here and passed. For a bundle that is not
// admissible the error is nil; the verdict has the reason.
//
// Verify trusts the service to know the keys, and the connection to lead to the service. A program that has the keys
// uses token.Verifier. For a bundle of facts, use Facts.Verify.
func (c Slices) Verify(ctx context.Context, bundle []byte) (Verified, api.BundleVerdict, error) {
	return verified(ctx, c.conn, slice.Bundles, slice.ParseBundle, bundle, func(b *slice.Bundle, data []byte) Verified { return Verified{slice.SealTurns(b, data)} })
}

// verified asks the service to verify the bytes of a bundle of a kind. If they are admissible, it seals exactly the
// bytes that were judged.
func verified[B slice.Body, V any](ctx context.Context, c *conn, k *slice.Kind, parse func([]byte) (B, error), bundle []byte, seal func(B, []byte) V) (sealed V, v api.BundleVerdict, err error) {
	if other := kinds.Of(bundle); other != k {
		return sealed, v, fmt.Errorf("client: %w: these bytes are %s, and not %s; the facet of that kind verifies them", ErrKind, other.Noun, k.Noun)
	}
	data := bytes.Clone(bytes.TrimSuffix(bundle, []byte("\n"))) // the line feed at the end of a file is no part of it
	if v, err = call(ctx, c, api.VerifyBundle, api.TheBundle{Bundle: data}); err != nil {
		return sealed, api.BundleVerdict{}, err
	}
	var b B
	admissible, err := judged(data, &v, func() (*slice.Provenance, *slice.Seal, error) {
		var err error
		if b, err = consistent(parse, data); err != nil {
			return nil, nil, err
		}
		h := b.Head()
		return &h.Provenance, &h.Seal, nil
	})
	if err != nil {
		return sealed, api.BundleVerdict{}, fmt.Errorf("client: %w: %w", ErrAnswer, err)
	}
	if admissible {
		sealed = seal(b, data)
	}
	return sealed, v, nil
}

// consistent parses a bundle and recomputes what its header claims about its body.
func consistent[B slice.Body](parse func([]byte) (B, error), data []byte) (B, error) {
	b, err := parse(data)
	if err != nil {
		return b, err
	}
	return b, agree(b.Check())
}

// judged checks a verdict against the bytes, and reports whether they are admissible. If the verdict says that they
// are, open parses them and makes the checks that need no key.
func judged(data []byte, v *api.BundleVerdict, open func() (*slice.Provenance, *slice.Seal, error)) (bool, error) {
	sum := dag.Digest(sha256.Sum256(data))
	if v.BundleSHA256 != sum {
		return false, fmt.Errorf("the verdict is of bytes with SHA-256 %s, but %s was sent", v.BundleSHA256, sum)
	}
	if v.Admissible != (v.Outcome == string(token.Verified)) {
		return false, fmt.Errorf("admissible is %t, but the outcome is %.40q", v.Admissible, v.Outcome)
	}
	if !v.Admissible {
		return false, nil
	}
	p, seal, err := open()
	if err != nil {
		return false, fmt.Errorf("the verdict says admissible: %w", err)
	}
	if v.SliceID != string(p.SliceID) || v.KeyID != seal.KeyID {
		return false, fmt.Errorf("the verdict is of slice %.80q under key %.80q, but %s under %s was sent", v.SliceID, v.KeyID, p.SliceID, seal.KeyID)
	}
	signed := false
	for _, check := range v.Checks {
		if check.Status != slice.StatusOK {
			return false, fmt.Errorf("the verdict says admissible, but check %.40q is %.40q", check.ID, check.Status)
		}
		signed = signed || check.ID == slice.CheckToken
	}
	if !signed {
		return false, fmt.Errorf("the verdict says admissible, but check %s was not made", slice.CheckToken)
	}
	return true, nil
}
