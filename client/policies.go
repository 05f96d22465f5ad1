package client

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
)

// registered parses a policy and compares its hash with its parameters.
func registered(w *api.RegisteredPolicy) (policy.Registered, error) {
	p, err := standard.Forms().ParseRegistration(encode(api.PolicyRegistration{PolicyID: w.PolicyID, Policy: w.Policy}))
	if err == nil && p.Hash().String() != w.PolicyParamsHash {
		err = fmt.Errorf("policy %s was announced with hash %.80q, but its hash is %s", p.ID(), w.PolicyParamsHash, p.Hash())
	}
	return p, err
}

// All reads every policy of the tenant, including the standard policies.
func (c Policies) All(ctx context.Context) (policy.Registry, error) {
	w, err := call(ctx, c.conn, api.ListPolicies, api.None{})
	if err != nil {
		return policy.Registry{}, err
	}
	var r policy.Registry
	for i := range w.Policies {
		p, err := registered(&w.Policies[i])
		if err == nil {
			r, err = r.With(p)
		}
		if err != nil {
			return policy.Registry{}, fmt.Errorf("client: %w: policies[%d]: %w", ErrAnswer, i, err)
		}
	}
	if got := r.Fingerprint(); got != w.RegistryFingerprint {
		return policy.Registry{}, fmt.Errorf("client: %w: the registry was announced with fingerprint %.80q, but its fingerprint is %s", ErrAnswer, w.RegistryFingerprint, got)
	}
	return r, nil
}

// Get reads one policy.
func (c Policies) Get(ctx context.Context, id policy.ID) (policy.Registered, error) {
	w, err := call(ctx, c.conn, api.GetPolicy, api.PolicyByID{PolicyID: id})
	return policyOf(&w, id, err)
}

// policyOf checks that a policy is the requested one.
func policyOf(w *api.RegisteredPolicy, id policy.ID, err error) (policy.Registered, error) {
	if err != nil {
		return policy.Registered{}, err
	}
	p, err := registered(w)
	if err == nil && p.ID() != id {
		err = fmt.Errorf("the answer is policy %s, want %s", p.ID(), id)
	}
	if err != nil {
		return policy.Registered{}, fmt.Errorf("client: %w: %w", ErrAnswer, err)
	}
	return p, nil
}

// Register binds an id to parameters for ever. Registering the same parameters again changes nothing; for other
// parameters the error is api.CodePolicyConflict.
func (c Policies) Register(ctx context.Context, p policy.Registered) error {
	params := p.Params()
	w := canon.NewWriter(nil)
	params.AppendWire(w)
	answer, err := call(ctx, c.conn, api.RegisterPolicy, api.PolicyRegistration{PolicyID: p.ID(), Policy: w.Bytes})
	got, err := policyOf(&answer, p.ID(), err)
	if err == nil && got.Hash() != p.Hash() {
		err = fmt.Errorf("client: %w: the hash is %s, want %s", ErrAnswer, got.Hash(), p.Hash())
	}
	return err
}
