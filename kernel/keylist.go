package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/store"
)

// Operations lists the operations that the facet answers.
func (k Keys) Operations() []api.Answer {
	return []api.Answer{api.ListKeys.By(k.listKeys), api.CreateKey.By(k.createKey), api.RevokeKey.By(k.revokeKey)}
}

// listKeys lists the API keys of a tenant, revoked ones too, the oldest first.
func (k Keys) listKeys(ctx context.Context, tenant dag.Tenant, _ api.None) (api.APIKeys, error) {
	keys, err := k.List(ctx, tenant)
	if err != nil {
		return api.APIKeys{}, err
	}
	w := api.APIKeys{Tenant: string(tenant), Keys: make([]api.APIKey, len(keys))}
	for i := range keys {
		w.Keys[i] = apiKey(&keys[i])
	}
	return w, nil
}

// createKey makes an API key. An invalid field of the request is a *canon.FieldError.
func (k Keys) createKey(ctx context.Context, tenant dag.Tenant, in api.NewAPIKey) (api.MadeAPIKey, error) {
	role, err := access.ParseRole(in.Role)
	if err != nil {
		return api.MadeAPIKey{}, &canon.FieldError{Path: "role", Err: err}
	}
	if err := access.CheckNote(in.Note); err != nil {
		return api.MadeAPIKey{}, &canon.FieldError{Path: "note", Err: err}
	}
	for _, list := range [...]struct {
		path  string
		given access.Scope
	}{
		{"admits_roles", access.Scope{Roles: in.Roles}}, {"admits_authors", access.Scope{Authors: in.Authors}},
		{"speaks_for", access.Scope{SpeaksFor: in.SpeaksFor}}, {"spaces", access.Scope{Spaces: in.Spaces}},
	} {
		s, err := access.ParseScope(list.given)
		if err == nil {
			err = s.CheckFor(role)
		}
		if err != nil {
			return api.MadeAPIKey{}, &canon.FieldError{Path: list.path, Err: err}
		}
	}
	admits, err := access.ParseScope(access.Scope{Roles: in.Roles, Authors: in.Authors, SpeaksFor: in.SpeaksFor, Spaces: in.Spaces})
	if err != nil {
		return api.MadeAPIKey{}, err
	}
	text, key, err := k.CreateScoped(ctx, tenant, role, admits, in.Note)
	if errors.Is(err, apikeys.ErrTooMany) {
		err = fmt.Errorf("%w, %d, revoked ones included; give another tenant", err, apikeys.Max)
	}
	if err != nil {
		return api.MadeAPIKey{}, err
	}
	return api.MadeAPIKey{Key: text, ID: key.ID, Tenant: string(key.Tenant), Role: string(role), Roles: admits.For(role).Roles, Authors: authors(&key), SpeaksFor: admits.SpeaksFor, Spaces: admits.Spaces}, nil
}

// revokeKey revokes an API key permanently.
func (k Keys) revokeKey(ctx context.Context, tenant dag.Tenant, in api.APIKeyByID) (api.RevokedAPIKey, error) {
	keys, err := k.List(ctx, tenant)
	if err != nil {
		return api.RevokedAPIKey{}, err
	}
	for i := range keys {
		if keys[i].ID != in.ID {
			continue
		}
		key, err := k.Revoke(ctx, tenant, in.ID)
		if err != nil {
			return api.RevokedAPIKey{}, err
		}
		return api.RevokedAPIKey{APIKey: apiKey(&key), Tenant: string(tenant), Already: keys[i].RevokedAt != 0}, nil
	}
	return api.RevokedAPIKey{}, fmt.Errorf("API key %s of tenant %s: %w", in.ID, tenant, store.ErrNotFound)
}

func apiKey(k *access.Key) api.APIKey {
	w := api.APIKey{ID: k.ID, Role: string(k.Role), Roles: k.Admits.For(k.Role).Roles, Authors: authors(k), SpeaksFor: k.Admits.SpeaksFor, Spaces: k.Admits.Spaces, CreatedAt: k.CreatedAt, Note: k.Note}
	if k.RevokedAt != 0 {
		w.RevokedAt = k.RevokedAt
	}
	return w
}

// authors returns the patterns of the authors whose turns a key admits; "" if the key admits no turns.
func authors(k *access.Key) string {
	if k.Admits.Authors == "" && k.Role.May(access.Admit) {
		return "*"
	}
	return k.Admits.Authors
}
