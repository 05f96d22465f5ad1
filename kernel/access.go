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
	"github.com/graphkernel/graphkernel/dag"
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

// Create makes an API key of a tenant. The text must be shown once: only its
// hash is stored. If Create returns an error of the store, the key may be stored although
// nobody has its text.
func (k Keys) Create(ctx context.Context, tenant dag.Tenant, role access.Role, note string) (text string, key access.Key, err error) {
	return k.keys().CreateScoped(ctx, tenant, role, access.Scope{}, note)
}

// CreateScoped is like Create, for a key that may admit other turns than its role may by
// default.
func (k Keys) CreateScoped(ctx context.Context, tenant dag.Tenant, role access.Role, admits access.Scope, note string) (text string, key access.Key, err error) {
	now, err := k.now()
	if err != nil {
		return "", access.Key{}, err
	}
	k.random.Lock()
	text, key, err = access.Mint(k.salts, tenant, role, note, now)
	k.random.Unlock()
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
