package inmem_test

import (
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
)

func TestContract(t *testing.T) {
	for name, heals := range map[string]bool{"breaks": false, "heals": true} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(*testing.T) storetest.Harness {
				disk, opened := new(inmem.Disk), uint64(0)
				return storetest.Harness{Heals: heals, Open: func(step func(string) error) (store.Store, error) {
					opened++
					return inmem.Open(disk, inmem.Options{Seed: opened, Step: step, Heals: heals}), nil
				}}
			})
		})
	}
}

// TestMaxKeys fills a tenant up with keys.
func TestMaxKeys(t *testing.T) {
	s, ctx := inmem.Open(&inmem.Disk{}, inmem.Options{}), t.Context()
	for n := range store.MaxKeys {
		if err := s.PutKey(ctx, storetest.Key(n)); err != nil {
			t.Fatalf("key %d: %v", n, err)
		}
	}
	if _, err := s.RevokeKey(ctx, storetest.Tenant, storetest.Key(0).ID, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.PutKey(ctx, storetest.Key(store.MaxKeys)); !errors.Is(err, store.ErrTooManyKeys) {
		t.Errorf("one more: got %v, want ErrTooManyKeys", err)
	}
	if err := s.PutKey(ctx, storetest.Key(7)); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if list, err := s.Keys(ctx, storetest.Tenant); err != nil || len(list) != store.MaxKeys {
		t.Errorf("%d keys, %v", len(list), err)
	}
}
