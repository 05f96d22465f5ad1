package token

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/mac"
	"github.com/graphkernel/graphkernel/slice"
)

// Sizes of an Authority's caches. Both are bounded, so that a stream of invented tenants or tokens does not use up
// memory.
const (
	derivedKeys = 1_000
	goodTokens  = 10_000
)

// touchEvery is the number of cache hits after which the good token that was hit moves to the front of the cache.
// Lookups run in parallel, moves do not: if every hit moved a token, verifiers would wait for each other.
const touchEvery = 16

// An Authority seals slices and checks tokens with a keyring, which can be replaced at any time. It is safe for
// concurrent use.
//
// It caches derived keys and the digests of good tokens. The caches are replaced with the keyring: once Replace
// returns, no call that begins later accepts a token of a key that the new keyring has retired.
type Authority struct {
	state        atomic.Pointer[authorityState] // replaced, never changed
	hits, misses atomic.Uint64
	replaced     atomic.Uint64
}

type authorityState struct {
	ring    Keyring
	derived *lru.Cache[derivedName, derivedKey]
	good    *lru.Cache[[sha256.Size]byte, struct{}]
}

type derivedName struct {
	tenant dag.Tenant
	id     KeyID
}

// NewAuthority returns an authority that uses a keyring.
func NewAuthority(r Keyring) *Authority {
	a := &Authority{}
	a.Replace(r)
	return a
}

// Replace replaces the keyring, for example by one with a rotated or retired key.
func (a *Authority) Replace(r Keyring) {
	derived, err := lru.New[derivedName, derivedKey](derivedKeys)
	if err != nil {
		panic("token: " + err.Error()) // a size below 1
	}
	good, err := lru.New[[sha256.Size]byte, struct{}](goodTokens)
	if err != nil {
		panic("token: " + err.Error())
	}
	a.state.Store(&authorityState{ring: r, derived: derived, good: good})
	a.replaced.Add(1)
}

// Replaced returns how many keyrings were put in place. A cache that depends on the keyring is stale once the number
// has changed.
func (a *Authority) Replaced() uint64 { return a.replaced.Load() }

// Keyring returns the current keyring.
func (a *Authority) Keyring() Keyring { return a.now().ring }

// Looked returns how many good tokens were found in the cache, and how many tokens were not.
func (a *Authority) Looked() (hits, misses uint64) { return a.hits.Load(), a.misses.Load() }

func (a *Authority) now() *authorityState { return a.state.Load() }

func (s *authorityState) key(tenant dag.Tenant, id KeyID) (derivedKey, error) {
	secret, err := s.ring.live(id)
	if err != nil {
		return derivedKey{}, err
	}
	name := derivedName{tenant, id}
	if k, ok := s.derived.Get(name); ok {
		return k, nil
	}
	k, err := derive(secret, tenant, id)
	if err == nil {
		s.derived.Add(name, k)
	}
	return k, err
}

// Seal signs a slice for a tenant with the key that signs.
func (a *Authority) Seal(tenant dag.Tenant, s *slice.Slice) (slice.Seal, error) {
	return a.SealProvenance(tenant, &s.Provenance)
}

// SealProvenance is Seal for slices of other kinds: it signs the six fields.
func (a *Authority) SealProvenance(tenant dag.Tenant, p *slice.Provenance) (slice.Seal, error) {
	state := a.now()
	id, err := state.ring.Signer()
	if err != nil {
		return slice.Seal{}, err
	}
	return state.seal(tenant, id, p)
}

// Salt returns the salt for digests of something that a tenant asked, so that only someone who knows the salt can try
// out guesses. It is derived from the key that signs and from asked: the same question has the same salt as long as
// that key signs. The text under the MAC cannot equal a token's text: it begins with "salt" and a NUL, a token's text
// with a slice's id.
func (a *Authority) Salt(tenant dag.Tenant, asked []byte) (salt dag.Salt, err error) {
	state := a.now()
	id, err := state.ring.Signer()
	if err != nil {
		return salt, err
	}
	k, err := state.key(tenant, id)
	if err != nil {
		return salt, err
	}
	return dag.Salt(mac.Sum(k[:], append([]byte("salt\x00"), asked...))), nil
}

// Secret derives 32 bytes for a purpose from the key that signs: the same in every process with that keyring, until it
// rotates. They reveal nothing about the key, or about secrets derived for another purpose or keys derived for a
// tenant.
func (a *Authority) Secret(purpose string) ([]byte, error) {
	state := a.now()
	id, err := state.ring.Signer()
	if err != nil {
		return nil, err
	}
	secret, err := state.ring.live(id)
	if err != nil {
		return nil, err
	}
	derived, err := hkdf.Key(sha256.New, secret.bytes(), nil, "graphkernel:secret:v1:"+purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("token: deriving a secret: %w", err)
	}
	return derived, nil
}

func (s *authorityState) seal(tenant dag.Tenant, id KeyID, p *slice.Provenance) (slice.Seal, error) {
	if _, err := dag.ParseTenant(string(tenant)); err != nil {
		return slice.Seal{}, err
	}
	k, err := s.key(tenant, id)
	if err != nil {
		return slice.Seal{}, err
	}
	t, err := k.sign(p)
	if err != nil {
		return slice.Seal{}, err
	}
	return slice.Seal{Tenant: tenant, KeyID: string(id), Token: t.String()}, nil
}

// ErrToken is wrapped if a token differs from the token that the key computes.
var ErrToken = errors.New("token does not match")

// Check returns nil if a seal makes the six fields admissible. Otherwise it returns ErrKeyUnknown, ErrKeyRetired,
// ErrToken, or an error of form.
func (a *Authority) Check(p *slice.Provenance, seal slice.Seal) error {
	state := a.now()
	if _, err := dag.ParseTenant(string(seal.Tenant)); err != nil {
		return err
	}
	id, err := ParseKeyID(seal.KeyID)
	if err != nil {
		return err
	}
	got, err := ParseToken(seal.Token)
	if err != nil {
		return err
	}
	text, err := textOf(p)
	if err != nil {
		return err
	}
	if _, err := state.ring.live(id); err != nil {
		return err
	}
	// The digest covers every value that decides the result: no field contains a line feed.
	name := sha256.Sum256([]byte(string(seal.Tenant) + "\n" + seal.KeyID + "\n" + seal.Token + "\n" + text))
	if state.good.Contains(name) {
		if a.hits.Add(1)%touchEvery == 0 {
			state.good.Get(name)
		}
		return nil
	}
	a.misses.Add(1)
	k, err := state.key(seal.Tenant, id)
	if err != nil {
		return err
	}
	want, err := k.sign(p)
	if err != nil {
		return err
	}
	if !want.equal(got) {
		return fmt.Errorf("%w: key %q of tenant %q makes a different token from these six fields", ErrToken, id, seal.Tenant)
	}
	state.good.Add(name, struct{}{})
	return nil
}
