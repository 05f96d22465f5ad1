package token

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// A State says what a key may do.
type State string

// The states of a key. A key moves from signing to live to retired, and never back.
const (
	Signing State = "signing" // signs and verifies; one key of a ring
	Live    State = "live"    // verifies
	Retired State = "retired" // does nothing; its secret is gone
)

// A Key is an entry of a keyring, without the secret.
type Key struct {
	ID        KeyID
	State     State
	CreatedAt dag.Time
	RetiredAt dag.Time // zero unless retired
}

type ringKey struct {
	Key
	secret Secret
}

// A Keyring is an immutable set of keys in the order of their creation. The zero Keyring is empty: it signs nothing and
// verifies nothing. An id is never used for a second key, not even after retirement.
type Keyring struct {
	keys []ringKey
}

// Errors that callers branch on.
var (
	ErrNoKey      = errors.New("the keyring has no key that signs")
	ErrKeyUnknown = errors.New("unknown key")
	ErrKeyRetired = errors.New("key is retired")
	ErrKeyExists  = errors.New("the key id or the secret is already in use")
)

// Keys lists the keys, the oldest first.
func (r Keyring) Keys() []Key {
	keys := make([]Key, len(r.keys))
	for i := range r.keys {
		keys[i] = r.keys[i].Key
	}
	return keys
}

// Signer returns the id of the key that signs, or ErrNoKey.
func (r Keyring) Signer() (KeyID, error) {
	for i := range r.keys {
		if r.keys[i].State == Signing {
			return r.keys[i].ID, nil
		}
	}
	return "", ErrNoKey
}

// Rotate adds a key that signs from now on; the key that signed before stays live.
func (r Keyring) Rotate(id KeyID, secret Secret, now dag.Time) (Keyring, error) {
	next, err := r.add(id, secret, Signing, now)
	if err != nil {
		return r, err
	}
	for i := range next.keys[:len(r.keys)] {
		if next.keys[i].State == Signing {
			next.keys[i].State = Live
		}
	}
	return next, nil
}

// Import adds a key that verifies and does not sign, such as another kernel's. If the ring has no key that signs, the
// imported key signs.
func (r Keyring) Import(id KeyID, secret Secret, now dag.Time) (Keyring, error) {
	if _, err := r.Signer(); err != nil {
		return r.add(id, secret, Signing, now)
	}
	return r.add(id, secret, Live, now)
}

func (r Keyring) add(id KeyID, secret Secret, state State, now dag.Time) (Keyring, error) {
	if _, err := ParseKeyID(string(id)); err != nil {
		return r, err
	}
	if len(secret.bytes()) < MinSecret {
		return r, fmt.Errorf("%w: %d bytes, want at least %d", ErrSecret, len(secret.bytes()), MinSecret)
	}
	if r.find(id) >= 0 {
		return r, fmt.Errorf("%w: %q (%s); key ids are never used twice", ErrKeyExists, id, r.keys[r.find(id)].State)
	}
	for i := range r.keys {
		if string(r.keys[i].secret.bytes()) == string(secret.bytes()) {
			return r, fmt.Errorf("%w: key %q already has this secret", ErrKeyExists, r.keys[i].ID)
		}
	}
	return Keyring{append(slices.Clone(r.keys), ringKey{Key{ID: id, State: state, CreatedAt: now}, secret})}, nil
}

// Retire ends a key permanently: its tokens no longer verify, and its secret is dropped. The key that signs cannot be
// retired; rotate first.
func (r Keyring) Retire(id KeyID, now dag.Time) (Keyring, error) {
	i := r.find(id)
	switch {
	case i < 0:
		return r, fmt.Errorf("%w: %.80q", ErrKeyUnknown, string(id))
	case r.keys[i].State == Retired:
		return r, fmt.Errorf("%w: %q, since %s", ErrKeyRetired, id, r.keys[i].RetiredAt)
	case r.keys[i].State == Signing:
		return r, fmt.Errorf("key %q is the signing key; rotate to a new key before retiring it", id)
	}
	next := Keyring{slices.Clone(r.keys)}
	next.keys[i].State, next.keys[i].RetiredAt, next.keys[i].secret = Retired, now, Secret{}
	return next, nil
}

// NextID proposes an id that was never used: k1, k2, …
func (r Keyring) NextID() KeyID {
	next := 1
	for i := range r.keys {
		digits := strings.TrimPrefix(string(r.keys[i].ID), "k")
		if n, err := strconv.Atoi(digits); err == nil && n < 1_000_000_000 { // other ids are not part of this series
			next = max(next, n+1)
		}
	}
	for {
		id := KeyID("k" + strconv.Itoa(next))
		if r.find(id) < 0 {
			return id
		}
		next++
	}
}

func (r Keyring) find(id KeyID) int {
	return slices.IndexFunc(r.keys, func(k ringKey) bool { return k.ID == id })
}

// live returns the secret of a key that may verify: ErrKeyUnknown or ErrKeyRetired otherwise.
func (r Keyring) live(id KeyID) (Secret, error) {
	i := r.find(id)
	switch {
	case i < 0:
		return Secret{}, fmt.Errorf("%w: %.80q", ErrKeyUnknown, string(id))
	case r.keys[i].State == Retired:
		return Secret{}, fmt.Errorf("%w: %q, since %s", ErrKeyRetired, id, r.keys[i].RetiredAt)
	}
	return r.keys[i].secret, nil
}
