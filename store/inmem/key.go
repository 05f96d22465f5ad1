package inmem

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// PutKey stores a new API key.
func (s *Store) PutKey(ctx context.Context, key access.Key) error {
	if err := store.CheckKey(&key); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(key.Tenant)
	if stored, ok := t.keys[key.ID]; ok {
		return store.SameKey(stored, key)
	}
	if len(t.keys) >= store.MaxKeys {
		return fmt.Errorf("inmem: tenant %s: %w", key.Tenant, store.ErrTooManyKeys)
	}
	grown, err := t.plan(store.KeyLeaves(&key)...)
	if err != nil {
		return err
	}
	return s.commit(ctx, func() {
		t.keys[key.ID] = key
		t.grow(grown)
		s.disk.keep(key.Tenant, t)
	}, grown.steps("keys")...)
}

// Key gives one API key.
func (s *Store) Key(ctx context.Context, name dag.Tenant, id string) (access.Key, error) {
	if err := s.enter(ctx); err != nil {
		return access.Key{}, err
	}
	defer s.disk.mu.Unlock()
	key, ok := s.disk.tenant(name).keys[id]
	if !ok {
		return access.Key{}, fmt.Errorf("inmem: API key: %w", store.ErrNotFound)
	}
	return key, nil
}

// Keys lists API keys by age.
func (s *Store) Keys(ctx context.Context, name dag.Tenant) ([]access.Key, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	list := empty[access.Key](s)
	for _, key := range s.disk.tenant(name).keys {
		list = append(list, key)
	}
	slices.SortFunc(list, store.CompareKeys)
	return list, nil
}

// RevokeKey ends an API key.
func (s *Store) RevokeKey(ctx context.Context, name dag.Tenant, id string, at dag.Time) (access.Key, error) {
	if err := store.CheckRevocation(at); err != nil {
		return access.Key{}, err
	}
	if err := s.enter(ctx); err != nil {
		return access.Key{}, err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	key, ok := t.keys[id]
	if !ok {
		return access.Key{}, fmt.Errorf("inmem: API key: %w", store.ErrNotFound)
	}
	if key.RevokedAt != 0 {
		return key, nil
	}
	key.RevokedAt = at
	grown, err := t.plan(store.KeyLeaves(&key)[1:]...) // the first came with the key
	if err != nil {
		return access.Key{}, err
	}
	err = s.commit(ctx, func() {
		t.keys[id] = key
		t.grow(grown)
	}, grown.steps("keys")...)
	if err != nil {
		return access.Key{}, err
	}
	return key, nil
}
