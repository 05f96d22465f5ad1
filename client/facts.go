package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// A FactBundle is a slice of facts as it was handed out. It is the one that was asked for and
// agrees with itself. It is no evidence yet: who signed it, only verification tells.
type FactBundle struct {
	Bytes  []byte        // to be passed on and verified exactly as they are
	SHA256 dag.Digest    // of Bytes
	Claim  *facts.Bundle // what Bytes say
}

// Slice has a slice of facts cut and signed. The same question as of the same number gives
// the same bytes.
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
		return FactBundle{}, fmt.Errorf("it was announced as %.80q, and its SHA-256 is %s", digest, b.SHA256)
	}
	var err error
	if b.Claim, err = consistentFacts(data); err != nil {
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
		return FactBundle{}, fmt.Errorf("it was announced as slice %.80q, and is slice %s", id, p.SliceID)
	case !slices.Equal(asked.Start, start):
		return FactBundle{}, fmt.Errorf("it starts from %.200q, and %.200q was asked for", asked.Start, start)
	case instant(asked.ValidAt) != instant(r.ValidAt):
		return FactBundle{}, fmt.Errorf("it is of the time %q, and %q was asked for", instant(asked.ValidAt), instant(r.ValidAt))
	case p.PolicyID != want:
		return FactBundle{}, fmt.Errorf("its policy is %s, and %s was asked for", p.PolicyID, want)
	case r.AsOf != 0 && b.Claim.AsOf != r.AsOf:
		return FactBundle{}, fmt.Errorf("it is as of %d, and %d was asked for", b.Claim.AsOf, r.AsOf)
	}
	return b, nil
}

// consistentFacts reads a bundle of facts and recomputes what its header claims of its body.
func consistentFacts(data []byte) (*facts.Bundle, error) {
	b, err := facts.Parse(data)
	if err != nil {
		return nil, err
	}
	return b, agree(b.Check())
}

// Verify is Slices.Verify for a bundle of facts.
func (c Facts) Verify(ctx context.Context, bundle []byte) (VerifiedFacts, api.BundleVerdict, error) {
	if !facts.Is(bundle) {
		return VerifiedFacts{}, api.BundleVerdict{}, fmt.Errorf("client: %w: these bytes are no bundle of facts; Slices().Verify is for those of turns", ErrKind)
	}
	data := bytes.Clone(bundle)
	v, err := call(ctx, c.conn, api.VerifyBundle, api.TheBundle{Bundle: data})
	if err != nil {
		return VerifiedFacts{}, api.BundleVerdict{}, err
	}
	var b *facts.Bundle
	admissible, err := judged(data, &v, func() (*slice.Provenance, *slice.Seal, error) {
		var err error
		if b, err = consistentFacts(data); err != nil {
			return nil, nil, err
		}
		return &b.Provenance, &b.Seal, nil
	})
	if err != nil {
		return VerifiedFacts{}, api.BundleVerdict{}, fmt.Errorf("client: %w: %w", ErrAnswer, err)
	}
	if !admissible {
		return VerifiedFacts{}, v, nil
	}
	return VerifiedFacts{facts.Seal(b, data)}, v, nil
}
