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

// Sizes of an Authority's caches. Both are bounded, so that a stream of
// invented tenants or tokens costs no memory.
const (
	derivedKeys = 1_000
	goodTokens  = 10_000
)

// touchEvery is how many hits it takes to move a good token to the front of the cache.
// Looking is shared, moving is not: with every hit, verifiers would wait for each other.
const touchEvery = 16

// An Authority seals slices and checks tokens under a keyring, which can be
// replaced while it works. It is safe for use by many goroutines.
//
// It keeps derived keys, and the digests of tokens that were found good. What
// is kept goes with the keyring it was found under: once Replace returns, no
// call that begins later accepts a token of a key retired by it.
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

// NewAuthority returns an authority under a keyring.
func NewAuthority(r Keyring) *Authority {
	a := &Authority{}
	a.Replace(r)
	return a
}

// Replace puts another keyring in place, such as one with a key rotated in or
// retired.
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

// Replaced counts the keyrings that were put in place: anyone who remembers something of one
// sees by it that there is another.
func (a *Authority) Replaced() uint64 { return a.replaced.Load() }

// Keyring returns the keyring in place.
func (a *Authority) Keyring() Keyring { return a.now().ring }

// Looked returns how many good tokens were found among those kept, and how many had
// to be computed.
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

// SealProvenance is Seal for anyone who cut another kind of slice: it signs the six fields.
func (a *Authority) SealProvenance(tenant dag.Tenant, p *slice.Provenance) (slice.Seal, error) {
	state := a.now()
	id, err := state.ring.Signer()
	if err != nil {
		return slice.Seal{}, err
	}
	return state.seal(tenant, id, p)
}

// Salt returns the salt of something that a tenant was asked, for digests of it that only those who know the salt can try
// out. It follows from the key that signs and from what was asked, so that the same question has the same salt as
// long as that key signs. No text that a token is taken of begins as this does: theirs begin with a slice's id.
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

// Secret derives 32 bytes for a purpose from the key that signs: the same in every process with that keyring, until it rotates. They say nothing
// of the key, nor of what is derived for another purpose or a tenant.
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

// ErrToken is wrapped when a token is not the one that the key gives.
var ErrToken = errors.New("token does not match")

// Check reports why a seal does not make the six fields admissible, or nil if
// it does: ErrKeyUnknown, ErrKeyRetired, ErrToken, or an error of form.
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
	// Everything that decides goes into the name: no field holds a line feed.
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
		return fmt.Errorf("%w: key %q of tenant %q gives another one for these six fields", ErrToken, id, seal.Tenant)
	}
	state.good.Add(name, struct{}{})
	return nil
}
