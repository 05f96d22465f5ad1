package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	keyColumns = `id, role, note, hash, created_at, revoked_at, roles, authors`

	queryKey = `SELECT ` + keyColumns + ` FROM api_keys WHERE tenant = $1 AND id = $2`

	// A tenant has few enough keys to sort and to count.
	queryKeys     = `SELECT ` + keyColumns + ` FROM api_keys WHERE tenant = $1 ORDER BY created_at, id`
	queryKeyCount = `SELECT count(*) FROM api_keys WHERE tenant = $1`

	queryAddKey = `INSERT INTO api_keys (tenant, ` + keyColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	queryEndKey = `UPDATE api_keys SET revoked_at = $3 WHERE tenant = $1 AND id = $2`
)

// PutKey stores a new API key.
func (s *Store) PutKey(ctx context.Context, key access.Key) error {
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("postgres: put key: %w", err)
	}
	defer s.gate.RUnlock()
	if err := s.write(ctx, key.Tenant, func(t *tx) error { return t.putKey(key) }); err != nil {
		return fmt.Errorf("postgres: put key: %w", err)
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
	if err := t.QueryRow(t.ctx, queryKeyCount, string(t.name)).Scan(&count); err != nil {
		return err
	}
	if count >= store.MaxKeys {
		return fmt.Errorf("tenant %s: %w", t.name, store.ErrTooManyKeys)
	}
	if err := t.exec("keys", queryAddKey, string(t.name), key.ID, string(key.Role), []byte(key.Note), key.Hash[:], int64(key.CreatedAt), int64(key.RevokedAt), key.Admits.Roles, []byte(key.Admits.Authors)); err != nil {
		return err
	}
	return t.logActs(store.KeyLeaves(&key)...)
}

// storedKey gives the key of this id, or none.
func (t *tx) storedKey(id string) ([]access.Key, error) {
	rows, err := t.Query(t.ctx, queryKey, string(t.name), id)
	list, err := readKeys(t.name, rows, err)
	if unstorable(err) {
		err = nil
	}
	return list, err
}

// Key gives one API key.
func (s *Store) Key(ctx context.Context, tenant dag.Tenant, id string) (access.Key, error) {
	var found []access.Key
	err := s.read(ctx, "key", func(ctx context.Context, db *pgxpool.Conn) error {
		rows, err := db.Query(ctx, queryKey, string(tenant), id)
		found, err = readKeys(tenant, rows, err)
		return err
	})
	if err != nil {
		return access.Key{}, err
	}
	if len(found) == 0 {
		return access.Key{}, fmt.Errorf("postgres: key: %w", store.ErrNotFound)
	}
	return found[0], nil
}

// Keys lists API keys by age.
func (s *Store) Keys(ctx context.Context, tenant dag.Tenant) (list []access.Key, err error) {
	err = s.read(ctx, "keys", func(ctx context.Context, db *pgxpool.Conn) error {
		rows, err := db.Query(ctx, queryKeys, string(tenant))
		list, err = readKeys(tenant, rows, err)
		return err
	})
	return list, err
}

// RevokeKey ends an API key.
func (s *Store) RevokeKey(ctx context.Context, tenant dag.Tenant, id string, at dag.Time) (access.Key, error) {
	if err := s.enter(ctx); err != nil {
		return access.Key{}, fmt.Errorf("postgres: revoke key: %w", err)
	}
	defer s.gate.RUnlock()
	var stands access.Key
	err := s.write(ctx, tenant, func(t *tx) (err error) {
		stands, err = t.revokeKey(id, at)
		return err
	})
	if err != nil {
		return access.Key{}, fmt.Errorf("postgres: revoke key: %w", err)
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
	if err := t.exec("keys", queryEndKey, string(t.name), id, int64(at)); err != nil {
		return access.Key{}, err
	}
	leaves := store.KeyLeaves(&key)
	return key, t.logActs(leaves[len(leaves)-1]) // that of the creation came with the key
}

// readKeys reads rows of keyColumns. A row that is no key is an error: what cannot be
// trusted must not open anything.
func readKeys(tenant dag.Tenant, rows pgx.Rows, err error) (list []access.Key, _ error) {
	if err != nil {
		return nil, err
	}
	k := access.Key{Tenant: tenant}
	var note, hash, authors pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{&k.ID, (*string)(&k.Role), &note, &hash, (*int64)(&k.CreatedAt), (*int64)(&k.RevokedAt), &k.Admits.Roles, &authors}, func() error {
		k.Note, k.Admits.Authors = string(note), string(authors)
		if err := packed.Fill(k.Hash[:], hash, "a key's hash"); err != nil {
			return err
		}
		if err := k.Check(); err != nil {
			return fmt.Errorf("the database is damaged: %w", err)
		}
		list = append(list, k)
		return nil
	})
	return list, err
}
