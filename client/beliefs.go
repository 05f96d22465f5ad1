package client

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/beliefs"
)

// A BeliefProof is evidence of a belief as the service returned it. It is consistent in itself, but its signature has
// not been verified.
type BeliefProof struct {
	Bytes  []byte          // to be passed on and verified exactly as they are
	SHA256 dag.Digest      // of Bytes
	Claim  *beliefs.Bundle // the parsed Bytes
}

// Prove asks the service for signed evidence of a belief. Asking the same question as of the same number returns the same bytes. If
// the statement is not believed, the error has the code not_found.
func (c Beliefs) Prove(ctx context.Context, r api.BeliefProofRequest) (BeliefProof, error) {
	q, err := asking(&api.ProveBelief.Spec, r)
	if err != nil {
		return BeliefProof{}, err
	}
	return handed(ctx, c.conn, q, func(data []byte, digest, id string) (BeliefProof, error) { return beliefProof(&r, data, digest, id) })
}

// beliefProof checks data against the request, the announced digest and the ID; the signature needs a key and is not
// checked. The names are not compared, because the statement may be believed under aliases.
func beliefProof(r *api.BeliefProofRequest, data []byte, digest, id string) (BeliefProof, error) {
	b := BeliefProof{Bytes: data, SHA256: sha256.Sum256(data)}
	if digest != b.SHA256.String() {
		return BeliefProof{}, fmt.Errorf("the bundle was announced with SHA-256 %.80q, but its SHA-256 is %s", digest, b.SHA256)
	}
	var err error
	if b.Claim, err = consistent(beliefs.Parse, data); err != nil {
		return BeliefProof{}, err
	}
	asked := &b.Claim.Question
	switch {
	case id != string(b.Claim.Provenance.SliceID):
		return BeliefProof{}, fmt.Errorf("the bundle was announced as slice %.80q, but is slice %s", id, b.Claim.Provenance.SliceID)
	case asked.Space != r.Space || asked.Literal.Not != r.BeliefStatement.Not || instant(asked.ValidAt) != instant(r.ValidAt):
		return BeliefProof{}, fmt.Errorf("the bundle is of another space, sign or time than was requested")
	case r.AsOf != 0 && b.Claim.AsOf != r.AsOf:
		return BeliefProof{}, fmt.Errorf("the bundle is as of %d, but %d was requested", b.Claim.AsOf, r.AsOf)
	}
	return b, nil
}

// Verify is like [Slices.Verify], for evidence of a belief.
func (c Beliefs) Verify(ctx context.Context, bundle []byte) (VerifiedBelief, api.BundleVerdict, error) {
	return verified(ctx, c.conn, beliefs.Bundles, beliefs.Parse, bundle, func(b *beliefs.Bundle, data []byte) VerifiedBelief { return VerifiedBelief{beliefs.Seal(b, data)} })
}
