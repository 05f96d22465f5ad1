package client

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// A FactBundle is a slice of facts as the service returned it. It matches the request and is consistent in itself,
// but its signature has not been verified.
type FactBundle struct {
	Bytes  []byte        // to be passed on and verified exactly as they are
	SHA256 dag.Digest    // of Bytes
	Claim  *facts.Bundle // the parsed Bytes
}

// Slice asks for a slice of facts, cut and signed. The same request as of the same sequence number returns the same
// bytes.
func (c Facts) Slice(ctx context.Context, r api.FactSliceRequest) (FactBundle, error) {
	q, err := asking(&api.CutFacts.Spec, r)
	if err != nil {
		return FactBundle{}, err
	}
	return handed(ctx, c.conn, q, func(data []byte, digest, id string) (FactBundle, error) { return factBundle(&r, data, digest, id) })
}

func instant(t *dag.Time) string {
	if t == nil {
		return ""
	}
	return t.String()
}

// factBundle checks data against the request, the announced digest and the slice ID; the signature needs a key and is not checked.
func factBundle(r *api.FactSliceRequest, data []byte, digest, id string) (FactBundle, error) {
	b := FactBundle{Bytes: data, SHA256: sha256.Sum256(data)}
	if digest != b.SHA256.String() {
		return FactBundle{}, fmt.Errorf("the bundle was announced with SHA-256 %.80q, but its SHA-256 is %s", digest, b.SHA256)
	}
	var err error
	if b.Claim, err = consistent(facts.Parse, data); err != nil {
		return FactBundle{}, err
	}
	var start []string
	for _, written := range r.Start {
		name, err := normalize.Name(written)
		if err != nil {
			return FactBundle{}, err
		}
		if !slices.Contains(start, name) {
			start = append(start, name)
		}
	}
	want := r.Policy
	if want == "" {
		want = facts.PolicyID
	}
	p, asked := &b.Claim.Provenance, &b.Claim.Question
	switch {
	case id != string(p.SliceID):
		return FactBundle{}, fmt.Errorf("the bundle was announced as slice %.80q, but is slice %s", id, p.SliceID)
	case !slices.Equal(asked.Start, start):
		return FactBundle{}, fmt.Errorf("the bundle starts from %.200q, but %.200q was requested", asked.Start, start)
	case instant(asked.ValidAt) != instant(r.ValidAt):
		return FactBundle{}, fmt.Errorf("the bundle is of the time %q, but %q was requested", instant(asked.ValidAt), instant(r.ValidAt))
	case p.PolicyID != want:
		return FactBundle{}, fmt.Errorf("the policy of the bundle is %s, but %s was requested", p.PolicyID, want)
	case r.AsOf != 0 && b.Claim.AsOf != r.AsOf:
		return FactBundle{}, fmt.Errorf("the bundle is as of %d, but %d was requested", b.Claim.AsOf, r.AsOf)
	}
	return b, nil
}

// Verify is like [Slices.Verify], for a bundle of facts.
func (c Facts) Verify(ctx context.Context, bundle []byte) (VerifiedFacts, api.BundleVerdict, error) {
	return verified(ctx, c.conn, facts.Bundles, facts.Parse, bundle, func(b *facts.Bundle, data []byte) VerifiedFacts { return VerifiedFacts{facts.Seal(b, data)} })
}
