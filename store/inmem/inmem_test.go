package inmem_test

import (
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// healing are the two ways of a store after a write with an unknown outcome.
var healing = map[string]bool{"breaks": false, "heals": true}

func TestContract(t *testing.T) {
	for name, heals := range healing {
		t.Run(name, func(t *testing.T) { storetest.Run(t, fresh(heals)) })
	}
}

func TestContractLarge(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	for name, heals := range healing {
		t.Run(name, func(t *testing.T) { storetest.RunLarge(t, fresh(heals)) })
	}
}

func fresh(heals bool) func(*testing.T) storetest.Harness {
	return func(*testing.T) storetest.Harness {
		disk, opened := new(inmem.Disk), uint64(0)
		return storetest.Harness{Heals: heals, Open: func(step func(string) error) (store.Store, error) {
			opened++
			return inmem.Open(disk, inmem.Options{Seed: opened, Step: step, Heals: heals}), nil
		}}
	}
}

// TestMaxKeys fills a tenant up with keys.
func TestMaxKeys(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	s, ctx := inmem.Open(&inmem.Disk{}, inmem.Options{}), t.Context()
	for n := range apikeys.Max {
		if err := (apikeys.Base{History: s}).Put(ctx, storetest.Key(n)); err != nil {
			t.Fatalf("key %d: %v", n, err)
		}
	}
	if _, err := (apikeys.Base{History: s}).Revoke(ctx, storetest.Tenant, storetest.Key(0).ID, 1); err != nil {
		t.Fatal(err)
	}
	if err := (apikeys.Base{History: s}).Put(ctx, storetest.Key(apikeys.Max)); !errors.Is(err, apikeys.ErrTooMany) {
		t.Errorf("one more: got %v, want ErrTooManyKeys", err)
	}
	if err := (apikeys.Base{History: s}).Put(ctx, storetest.Key(7)); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if list, err := (apikeys.Base{History: s}).All(ctx, storetest.Tenant); err != nil || len(list) != apikeys.Max {
		t.Errorf("%d keys, %v", len(list), err)
	}
}
