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

// KeyAge bounds how long a kernel goes on taking an API key that another process
// has revoked. One that was revoked through the kernel itself ends at once.
const KeyAge = time.Second

// keptKeys bounds the API keys that are kept.
const keptKeys = 10_000

// errNoKey is the one answer for a key that has its form and is not valid:
// whether its tenant, its id or its secret is wrong, or it was revoked, is not told.
var errNoKey = fmt.Errorf("kernel: %w: it is not known here, or it was revoked", access.ErrKey)

// A keyName names an API key of a tenant.
type keyName struct {
	tenant dag.Tenant
	id     string
}

// A keptKey is what the store said.
type keptKey struct {
	key access.Key
	at  time.Time // when it was asked
}

// keys keeps the API keys that were presented recently. Only a key that opened is
// kept, so that what is made up pushes nothing out.
type keys struct {
	kept *lru.Cache[keyName, keptKey]

	// mu lets nothing be kept that was read before a revocation and comes after it.
	mu          sync.Mutex
	revocations uint64 // guarded by mu; through this kernel
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

// keep keeps a key that was read when there had been so many revocations.
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

// Create makes an API key of a tenant. The text is to be shown once: only its
// hash is stored. If storing it is reported as failed, a key may be left over that
// nobody has the text of.
func (k Keys) Create(ctx context.Context, tenant dag.Tenant, role access.Role, note string) (text string, key access.Key, err error) {
	return k.keys().CreateScoped(ctx, tenant, role, access.Scope{}, note)
}

// CreateScoped is CreateKey for a key that admits other turns than its role does by
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

// List returns every API key of a tenant, revoked ones too, the oldest first.
func (k Keys) List(ctx context.Context, tenant dag.Tenant) ([]access.Key, error) {
	return k.apiKeys().All(ctx, tenant)
}

// Revoke ends an API key for good: here at once, in other processes within
// KeyAge. Revoking again gives the first record, an unknown key wraps
// store.ErrNotFound.
func (k Keys) Revoke(ctx context.Context, tenant dag.Tenant, id string) (access.Key, error) {
	now, err := k.now()
	if err != nil {
		return access.Key{}, err
	}
	key, err := k.apiKeys().Revoke(ctx, tenant, id, now)
	k.keyCache.forget(keyName{tenant, id}) // whatever came of it: it may be kept and reported as failed
	if err != nil {
		return access.Key{}, err
	}
	return key, nil
}

// Authenticate says who presents an API key. What is no key, or not a valid one,
// wraps access.ErrKey; of keys that have their form it does not tell why. An error
// of the store comes back as it is.
//
// A key that was taken less than KeyAge ago is taken again without asking the
// store. All others go the same way, whatever is wrong with them: one look-up,
// and one comparison, with the zero Key if there is none.
func (k Keys) Authenticate(ctx context.Context, text string) (access.Identity, error) {
	presented, err := access.Parse(text)
	if err != nil {
		return access.Identity{}, err
	}
	name := keyName{presented.Tenant, presented.ID}
	now := k.clock()
	// A look does not move the key to the front, for which callers would wait for each
	// other. A key in use gets there whenever it is asked for again.
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
