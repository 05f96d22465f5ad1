package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/wire"
)

// registration is schema PolicyRegistration.
type registration struct {
	PolicyID string          `json:"policy_id"`
	Policy   json.RawMessage `json:"policy"`
}

// registered reads a policy and holds its hash against its parameters.
func registered(w *wire.RegisteredPolicy) (policy.Registered, error) {
	p, err := standard.Forms().ParseRegistration(encode(registration{w.PolicyID, w.Policy}))
	if err == nil && p.Hash().String() != w.PolicyParamsHash {
		err = fmt.Errorf("policy %s was announced with hash %.80q, and its hash is %s", p.ID(), w.PolicyParamsHash, p.Hash())
	}
	return p, err
}

// Policies reads every policy of the tenant. default@1 is always among them.
func (c *Client) Policies(ctx context.Context) (policy.Registry, error) {
	q := &request{method: http.MethodGet, path: "/api/policies"}
	w, err := get[wire.Policies](ctx, c, q)
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
			return policy.Registry{}, fmt.Errorf("client: %s: %w: policies[%d]: %w", q, ErrAnswer, i, err)
		}
	}
	if got := r.Fingerprint(); got != w.RegistryFingerprint {
		return policy.Registry{}, fmt.Errorf("client: %s: %w: the registry was announced as %.80q, and is %s", q, ErrAnswer, w.RegistryFingerprint, got)
	}
	return r, nil
}

// Policy reads one policy.
func (c *Client) Policy(ctx context.Context, id policy.ID) (policy.Registered, error) {
	if _, err := policy.ParseID(string(id)); err != nil { // in another form it might lead elsewhere
		return policy.Registered{}, fmt.Errorf("client: %w", err)
	}
	return c.policy(ctx, id, &request{method: http.MethodGet, path: "/api/policies/" + string(id)})
}

func (c *Client) policy(ctx context.Context, id policy.ID, q *request) (policy.Registered, error) {
	w, err := get[wire.RegisteredPolicy](ctx, c, q)
	if err != nil {
		return policy.Registered{}, err
	}
	p, err := registered(&w)
	if err == nil && p.ID() != id {
		err = fmt.Errorf("it is policy %s, want %s", p.ID(), id)
	}
	if err != nil {
		return policy.Registered{}, fmt.Errorf("client: %s: %w: %w", q, ErrAnswer, err)
	}
	return p, nil
}

// RegisterPolicy binds an id to parameters for ever. The same again changes nothing;
// other parameters are CodePolicyConflict.
func (c *Client) RegisterPolicy(ctx context.Context, p policy.Registered) error {
	params := p.Params()
	w := canon.NewWriter(nil)
	params.AppendWire(w)
	q := &request{method: http.MethodPost, path: "/api/policies", body: encode(registration{string(p.ID()), w.Bytes})}
	got, err := c.policy(ctx, p.ID(), q)
	if err == nil && got.Hash() != p.Hash() {
		err = fmt.Errorf("client: %s: %w: the hash is %s, want %s", q, ErrAnswer, got.Hash(), p.Hash())
	}
	return err
}
