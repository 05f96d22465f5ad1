package kernel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/store"
)

// KeyAge is the maximum time for which a kernel accepts an API key after another process
// has revoked it. A key that the kernel itself revokes is refused at once.
const KeyAge = time.Second

// keptKeys is the maximum number of cached API keys.
const keptKeys = 10_000

// errNoKey is the error for every well-formed key that is not valid. It does not say
// whether the tenant, the id or the secret is wrong, or the key was revoked.
var errNoKey = fmt.Errorf("kernel: %w: it is not known here, or it was revoked", access.ErrKey)

// A keyName identifies an API key of a tenant.
type keyName struct {
	tenant dag.Tenant
	id     string
}

// A keptKey is a cached key, as the store returned it.
type keptKey struct {
	key access.Key
	at  time.Time // when the store was asked
}

// keys caches the API keys that were presented recently. Only valid keys are cached, so
// invented ones cannot evict them.
type keys struct {
	kept *lru.Cache[keyName, keptKey]

	// mu ensures that a key which was read before a revocation is not cached after it.
	mu          sync.Mutex
	revocations uint64 // guarded by mu; the number of revocations through this kernel
}

func newKeys() (*keys, error) {
	kept, err := lru.New[keyName, keptKey](keptKeys)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	return &keys{kept: kept}, nil
}

func (k *keys) revoked() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.revocations
}

// keep caches a key, unless a key was revoked since the caller read the number of revocations.
func (k *keys) keep(name keyName, key keptKey, revocations uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.revocations == revocations {
		k.kept.Add(name, key)
	}
}

func (k *keys) forget(name keyName) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revocations++
	k.kept.Remove(name)
}

// Keys are a kernel's API keys.
type Keys struct{ *engine }

func (k *engine) keys() Keys { return Keys{k} }

// Create makes an API key of a tenant. The text must be shown once: only its
// hash is stored. If Create returns an error of the store, the key may be stored although
// nobody has its text.
func (k Keys) Create(ctx context.Context, tenant dag.Tenant, role access.Role, note string) (text string, key access.Key, err error) {
	return k.keys().CreateScoped(ctx, tenant, role, access.Scope{}, note)
}

// CreateScoped is like Create, for a key that may admit other turns than its role may by
// default. The error for a caller who may not make the key is access.ErrMayNot: a caller with a scope makes none, since the new key could have more rights, and
// a key that says of an author that they are an owner or a member is made by a caller who may govern.
func (k Keys) CreateScoped(ctx context.Context, tenant dag.Tenant, role access.Role, admits access.Scope, note string) (text string, key access.Key, err error) {
	switch who := access.Asking(ctx); {
	case who.Admits != (access.Scope{}):
		return "", access.Key{}, fmt.Errorf("%w: a key that is limited to some turns or spaces, or that speaks for listed authors, may not make keys", access.ErrMayNot)
	case admits.GrantsStanding() && !who.Governs():
		return "", access.Key{}, fmt.Errorf("%w: only a person who may govern grants a standing, and no model for them", access.ErrMayNot)
	}
	now, err := k.now()
	if err != nil {
		return "", access.Key{}, err
	}
	text, key, err = access.Mint(&k.random, tenant, role, note, now)
	if err != nil {
		return "", access.Key{}, err
	}
	key.Admits = admits
	if err := key.Check(); err != nil {
		return "", access.Key{}, err
	}
	if err := k.apiKeys().Put(ctx, key); err != nil {
		return "", access.Key{}, err
	}
	return text, key, nil
}

// apiKeys returns the reader of API keys.
func (k *engine) apiKeys() apikeys.Base { return apikeys.Base{History: k.store} }

// List returns all API keys of a tenant, including revoked ones, the oldest first.
func (k Keys) List(ctx context.Context, tenant dag.Tenant) ([]access.Key, error) {
	return k.apiKeys().All(ctx, tenant)
}

// Revoke makes an API key invalid for ever: here at once, in other processes within
// KeyAge. Revoking it again returns the first record. The error for an unknown key wraps
// store.ErrNotFound.
func (k Keys) Revoke(ctx context.Context, tenant dag.Tenant, id string) (access.Key, error) {
	now, err := k.now()
	if err != nil {
		return access.Key{}, err
	}
	key, err := k.apiKeys().Revoke(ctx, tenant, id, now)
	k.keyCache.forget(keyName{tenant, id}) // even on error: the revocation may be stored all the same
	if err != nil {
		return access.Key{}, err
	}
	return key, nil
}

// Authenticate returns the identity of the caller who presents an API key. The error for a malformed
// or invalid key wraps access.ErrKey; for a well-formed key it does not say why the key is invalid. An
// error of the store is returned unchanged.
//
// A key that was accepted less than KeyAge ago is accepted again without asking the
// store. All other keys cost the same, valid or not: one look-up and one comparison, with the zero Key
// if the store has none.
func (k Keys) Authenticate(ctx context.Context, text string) (access.Identity, error) {
	presented, err := access.Parse(text)
	if err != nil {
		return access.Identity{}, err
	}
	name := keyName{presented.Tenant, presented.ID}
	now := k.clock()
	// Peek does not move the key to the front of the cache, since callers would wait for each
	// other. A key in use moves there whenever the store is asked for it again.
	if known, ok := k.keyCache.kept.Peek(name); ok {
		if age := now.Sub(known.at); 0 <= age && age < KeyAge && presented.Opens(&known.key) {
			return known.key.Identity(), nil
		}
	}
	revocations := k.keyCache.revoked()
	key, err := k.apiKeys().Get(ctx, name.tenant, name.id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return access.Identity{}, err
	}
	if !presented.Opens(&key) {
		return access.Identity{}, errNoKey
	}
	k.keyCache.keep(name, keptKey{key, now}, revocations)
	return key.Identity(), nil
}

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
