// Package apikeys owns the record of API keys: their entries, and reading and writing them in a history. One entry
// records that a key was created, another that it was revoked. The detail of the first contains everything about the
// key that its leaf does not: role, note, scope, the hash of the key's text, and its number among the tenant's keys.
// The key itself is not stored anywhere.
package apikeys

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
)

// The kinds of entries.
const (
	Created history.Kind = "api-key/1"
	Revoked history.Kind = "api-key-revoked/1"
)

const (
	// indexID maps a key's id to its state since an entry: see appendState. The newest term is the current state.
	indexID history.Index = 129
	// indexNumber maps a key's number, eight bytes, big-endian, to the entry of its creation.
	indexNumber history.Index = 130
)

// Max is the maximum number of API keys of a tenant. Revoked keys count, because they are kept to show later who had
// which key.
const Max = 10_000

// Errors that callers branch on.
var (
	ErrExists  = errors.New("already exists with other content")
	ErrTooMany = errors.New("the tenant has the largest possible number of API keys")
)

// A Base is a history through which API keys are read and written.
type Base struct{ history.History }

// Put records a new API key of the tenant named in it. Recording the same key again has no effect, also if it has been
// revoked since. The error is ErrExists if the id belongs to another key, and ErrTooMany if the tenant already has Max
// keys. RevokedAt must be 0.
func (b Base) Put(ctx context.Context, key access.Key) error {
	if err := key.Check(); err != nil {
		return err
	}
	if key.RevokedAt != 0 {
		return fmt.Errorf("%w: the new API key %s has a time of revocation, %d", dag.ErrForm, key.ID, key.RevokedAt)
	}
	return b.Write(ctx, key.Tenant, history.Deciding(Codec{}, func(tx *history.Tx) error {
		tx.Fetch([]history.Key{newest(key.ID)}, lastNumber)
		there, err := stored(tx, key.ID)
		if err != nil {
			return err
		}
		if there != nil {
			if there.RevokedAt = 0; *there != key {
				return fmt.Errorf("API key %s of tenant %s: %w", key.ID, key.Tenant, ErrExists)
			}
			return nil
		}
		number, err := nextNumber(tx)
		if err == nil && number > Max {
			err = fmt.Errorf("tenant %s: %w", key.Tenant, ErrTooMany)
		}
		if err == nil {
			_, err = tx.Add(history.Entry{Kind: Created, Public: leaf(&key, ledger.KeyCreated), Detail: appendDetail(nil, &key, number)})
		}
		return err
	}))
}

func newest(id string) history.Key { return history.Key{Index: indexID, Key: id} }

// stored returns the current state of a key, nil if there is no such key.
func stored(tx *history.Tx, id string) (*access.Key, error) {
	t, there, err := tx.Newest(newest(id))
	if err != nil || !there {
		return nil, err
	}
	key, err := readState(tx.Tenant(), &t)
	return &key, err
}

// lastNumber selects the key that was created last.
var lastNumber = history.Range{Index: indexNumber, Last: true, Limit: 1}

func nextNumber(tx *history.Tx) (uint64, error) {
	last, err := tx.Terms(lastNumber)
	if err != nil || len(last) == 0 {
		return 1, err
	}
	if len(last[0].Key) != 8 {
		return 0, fmt.Errorf("%w: the number of an API key is stored as %x, want 8 bytes", history.ErrDamaged, last[0].Key)
	}
	return binary.BigEndian.Uint64(last[0].Key) + 1, nil
}

// Get returns one API key, revoked or not. The error for an unknown id or tenant is store.ErrNotFound.
func (b Base) Get(ctx context.Context, tenant dag.Tenant, id string) (access.Key, error) {
	if access.CheckID(id) != nil {
		return access.Key{}, fmt.Errorf("API key: %w", store.ErrNotFound)
	}
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexID, Prefix: []byte(id), Last: true, Limit: 1}})
	if err != nil {
		return access.Key{}, err
	}
	if len(lists) != 1 || len(lists[0]) == 0 {
		return access.Key{}, fmt.Errorf("API key: %w", store.ErrNotFound)
	}
	return readState(tenant, &lists[0][0])
}

// All returns every API key of a tenant, including revoked ones, in the order of Compare.
func (b Base) All(ctx context.Context, tenant dag.Tenant) ([]access.Key, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexID}})
	if err != nil {
		return nil, err
	}
	if len(lists) != 1 {
		return nil, fmt.Errorf("the store returned %d lists for one range of terms", len(lists))
	}
	var all []access.Key
	for i := range lists[0] {
		k, err := readState(tenant, &lists[0][i])
		if err != nil {
			return nil, err
		}
		if n := len(all); n > 0 && all[n-1].ID == k.ID {
			all = all[:n-1] // this term is newer
		}
		all = append(all, k)
	}
	slices.SortFunc(all, Compare)
	return all, nil
}

// Compare orders keys for listings: by time of creation, then by id.
func Compare(a, b access.Key) int {
	return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// Revoke revokes a key at the given time, which cannot be undone, and returns its record. Revoking it again has no
// effect and returns the existing record. The error for an unknown key is store.ErrNotFound. The time must be above 0.
func (b Base) Revoke(ctx context.Context, tenant dag.Tenant, id string, at dag.Time) (access.Key, error) {
	if at == 0 || !at.Valid() {
		return access.Key{}, fmt.Errorf("%w: an API key cannot be revoked at the time %d, want a time after 1970", dag.ErrForm, at)
	}
	if access.CheckID(id) != nil {
		return access.Key{}, fmt.Errorf("API key: %w", store.ErrNotFound)
	}
	var key access.Key
	err := b.Write(ctx, tenant, history.Deciding(Codec{}, func(tx *history.Tx) error {
		there, err := stored(tx, id)
		if err == nil && there == nil {
			err = fmt.Errorf("API key: %w", store.ErrNotFound)
		}
		if err != nil {
			return err
		}
		if key = *there; key.RevokedAt == 0 {
			key.RevokedAt = at
			_, err = tx.Add(history.Entry{Kind: Revoked, Public: leaf(&key, ledger.KeyRetired)})
		}
		return err
	}))
	if err != nil {
		return access.Key{}, err
	}
	return key, nil
}

// Leaves returns the leaves of an API key in the ledger: its creation and, if it was revoked, its revocation.
func Leaves(k *access.Key) [][]byte {
	leaves := [][]byte{leaf(k, ledger.KeyCreated)}
	if k.RevokedAt != 0 {
		leaves = append(leaves, leaf(k, ledger.KeyRetired))
	}
	return leaves
}

func leaf(k *access.Key, event ledger.KeyAct) []byte {
	l := ledger.KeyLeaf{Tenant: k.Tenant, Purpose: ledger.PurposeAPI, Event: event, KeyID: k.ID, At: k.CreatedAt}
	if event == ledger.KeyRetired {
		l.At = k.RevokedAt
	}
	return l.Append(nil)
}
