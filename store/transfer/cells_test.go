package transfer_test

import (
	"context"
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/transfer"
)

// TestWitnessed copies a witness again and again, while it cosigns: the copy is where the
// source stood at the end of the copy.
func TestWitnessed(t *testing.T) {
	ctx := t.Context()
	from, to := filled(t, inFile(t)), inMemory(t)
	root := func(n uint64) ledger.Root { return ledger.Root{Size: n, Hash: ledger.Hash{byte(n), 5}} }
	put := func(s store.Store, origin string, next ledger.Root) {
		t.Helper()
		old, err := witness.Roots{Cells: s}.Last(ctx, "a", origin)
		if err == nil {
			err = witness.Roots{Cells: s}.Replace(ctx, "a", origin, old, next)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	copies := func(from store.Store, want transfer.Count) {
		t.Helper()
		reports, err := transfer.Copy(ctx, to, from, transfer.Options{Tenants: []dag.Tenant{"a"}})
		if err != nil || reports[0].Cells != want {
			t.Fatalf("%+v, %v, want %+v", reports, err, want)
		}
		sound(t, to)
	}
	is := func(origin string, want ledger.Root) {
		t.Helper()
		if got, err := (witness.Roots{Cells: to}).Last(ctx, "a", origin); err != nil || got != want {
			t.Errorf("the copy stands at %+v of %q, %v, want %+v", got, origin, err, want)
		}
	}
	copies(from, transfer.Count{Copied: 2})
	copies(from, transfer.Count{Existing: 2})
	put(from, "log1.example", root(20))
	put(from, "new.example", root(1))
	copies(from, transfer.Count{Copied: 2, Existing: 1})
	is("log1.example", root(20))
	is("new.example", root(1))

	// What it cosigns during the copy comes with it, what it did before the copy was ended.
	meanwhile := &cosigning{Store: from, act: func() { put(from, "log1.example", root(30)) }}
	copies(meanwhile, transfer.Count{Copied: 1, Existing: 2})
	is("log1.example", root(30))

	// Somebody lets the target cosign, before the copy or during it.
	overtaken := &cosigning{Store: from, act: func() { put(to, "log1.example", root(40)) }}
	for _, source := range []store.Store{overtaken, from} {
		if _, err := transfer.Copy(ctx, to, source, transfer.Options{Tenants: []dag.Tenant{"a"}}); !errors.Is(err, transfer.ErrDiffers) {
			t.Errorf("got %v, want ErrDiffers", err)
		}
		is("log1.example", root(40))
	}
}

// cosigning does something when its ledger is read to be written: amid a copy.
type cosigning struct {
	store.Store
	asked int
	act   func()
}

func (c *cosigning) Log(ctx context.Context, tenant dag.Tenant) (t ledger.Tree, err error) {
	t, err = c.Store.Log(ctx, tenant)
	if c.asked++; c.asked == 2 { // the first time to compare
		c.act()
	}
	return t, err
}
