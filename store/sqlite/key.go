package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	keyColumns = `id, role, note, hash, created_at, revoked_at, roles, authors`

	queryKey = `SELECT ` + keyColumns + ` FROM api_keys WHERE tenant = ? AND id = ?`

	// A tenant has few enough keys to sort and to count.
	queryKeys     = `SELECT ` + keyColumns + ` FROM api_keys WHERE tenant = ? ORDER BY created_at, id`
	queryKeyCount = `SELECT count(*) FROM api_keys WHERE tenant = ?`
)

// PutKey stores a new API key.
func (s *Store) PutKey(ctx context.Context, key access.Key) error {
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("sqlite: put key: %w", err)
	}
	defer s.gate.RUnlock()
	if err := s.write(ctx, key.Tenant, func(t *tx) error { return t.putKey(key) }); err != nil {
		return fmt.Errorf("sqlite: put key: %w", err)
	}
	return nil
}

func (t *tx) putKey(key access.Key) error {
	if err := store.CheckKey(&key); err != nil {
		return err
	}
	stored, err := t.storedKey(key.ID)
	if err != nil {
		return err
	}
	if len(stored) > 0 {
		return store.SameKey(stored[0], key)
	}
	var count int
	if err := t.keyCount.QueryRowContext(t.ctx, t.tenant).Scan(&count); err != nil {
		return err
	}
	if count >= store.MaxKeys {
		return fmt.Errorf("tenant %s: %w", t.name, store.ErrTooManyKeys)
	}
	if err := t.own(); err != nil {
		return err
	}
	err = t.exec("keys", t.addKey, t.tenant, key.ID, string(key.Role), []byte(key.Note), key.Hash[:], int64(key.CreatedAt), int64(key.RevokedAt), key.Admits.Roles, []byte(key.Admits.Authors))
	if err != nil {
		return err
	}
	return t.log(store.KeyLeaves(&key)...)
}

// storedKey gives the key of this id, or none.
func (t *tx) storedKey(id string) ([]access.Key, error) {
	rows, err := t.key.QueryContext(t.ctx, t.tenant, id)
	return readKeys(t.name, rows, err)
}

// Key gives one API key.
func (s *Store) Key(ctx context.Context, tenant dag.Tenant, id string) (access.Key, error) {
	var found []access.Key
	err := s.read(ctx, "key", tenant, func(n int64) error {
		rows, err := s.queries.key.QueryContext(ctx, n, id)
		found, err = readKeys(tenant, rows, err)
		return err
	})
	if err != nil {
		return access.Key{}, err
	}
	if len(found) == 0 {
		return access.Key{}, fmt.Errorf("sqlite: key: %w", store.ErrNotFound)
	}
	return found[0], nil
}

// Keys lists API keys by age.
func (s *Store) Keys(ctx context.Context, tenant dag.Tenant) (list []access.Key, err error) {
	err = s.read(ctx, "keys", tenant, func(n int64) error {
		rows, err := s.queries.keys.QueryContext(ctx, n)
		list, err = readKeys(tenant, rows, err)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// RevokeKey ends an API key.
func (s *Store) RevokeKey(ctx context.Context, tenant dag.Tenant, id string, at dag.Time) (access.Key, error) {
	if err := s.enter(ctx); err != nil {
		return access.Key{}, fmt.Errorf("sqlite: revoke key: %w", err)
	}
	defer s.gate.RUnlock()
	var stands access.Key
	err := s.write(ctx, tenant, func(t *tx) (err error) {
		stands, err = t.revokeKey(id, at)
		return err
	})
	if err != nil {
		return access.Key{}, fmt.Errorf("sqlite: revoke key: %w", err)
	}
	return stands, nil
}

func (t *tx) revokeKey(id string, at dag.Time) (access.Key, error) {
	if err := store.CheckRevocation(at); err != nil {
		return access.Key{}, err
	}
	stored, err := t.storedKey(id)
	if err != nil {
		return access.Key{}, err
	}
	if len(stored) == 0 {
		return access.Key{}, store.ErrNotFound
	}
	key := stored[0]
	if key.RevokedAt != 0 {
		return key, nil
	}
	key.RevokedAt = at
	if err := t.exec("keys", t.endKey, int64(at), t.tenant, id); err != nil {
		return access.Key{}, err
	}
	return key, t.log(store.KeyLeaves(&key)[1:]...) // the first came with the key
}

// readKeys reads rows of keyColumns. A row that is no key is an error: what
// cannot be trusted must not open anything.
func readKeys(tenant dag.Tenant, rows *sql.Rows, err error) (list []access.Key, _ error) {
	if err != nil {
		return nil, err
	}
	k := access.Key{Tenant: tenant}
	var note, hash, authors sql.RawBytes
	err = each(rows, func() error {
		k.Note, k.Admits.Authors = string(note), string(authors)
		if err := packed.Fill(k.Hash[:], hash, "a key's hash"); err != nil {
			return err
		}
		if err := k.Check(); err != nil {
			return fmt.Errorf("the file is damaged: %w", err)
		}
		list = append(list, k)
		return nil
	}, &k.ID, &k.Role, &note, &hash, &k.CreatedAt, &k.RevokedAt, &k.Admits.Roles, &authors)
	return list, err
}
