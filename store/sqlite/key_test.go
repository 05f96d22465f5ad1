package sqlite_test

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestMaxKeys fills a tenant up with keys, all but the last after the store's
// back. Another tenant's do not count.
func TestMaxKeys(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	first, other := storetest.Key(0), storetest.Key(0)
	other.Tenant = "other"
	if err := errors.Join(apikeys.Base{History: s}.Put(ctx, first), apikeys.Base{History: s}.Put(ctx, other)); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	before := binary.BigEndian.AppendUint64(nil, apikeys.Max-1) // the number of the newest key
	rawExec(t, db, `UPDATE terms SET key = ? WHERE indx = 130 AND tenant = (SELECT tenant FROM tenants WHERE name = ?)`, before, string(storetest.Tenant))
	if err := (apikeys.Base{History: s}).Put(ctx, storetest.Key(1)); err != nil {
		t.Fatalf("the last key: %v", err)
	}
	if err := (apikeys.Base{History: s}).Put(ctx, storetest.Key(2)); !errors.Is(err, apikeys.ErrTooMany) || errors.Is(err, store.ErrBroken) {
		t.Errorf("one more: got %v, want ErrTooManyKeys", err)
	}
	if err := (apikeys.Base{History: s}).Put(ctx, storetest.Key(1)); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if list, err := (apikeys.Base{History: s}).All(ctx, storetest.Tenant); err != nil || len(list) != 2 {
		t.Errorf("%d keys, %v, want 2", len(list), err)
	}
	other = storetest.Key(5)
	other.Tenant = "other"
	if err := (apikeys.Base{History: s}).Put(ctx, other); err != nil {
		t.Errorf("another tenant: %v", err)
	}
}

// TestAskingMakesNoTenant asks for the keys of a tenant that has nothing.
func TestAskingMakesNoTenant(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	if _, err := (apikeys.Base{History: s}).Get(ctx, "nobody", storetest.Key(1).ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Key gave %v, want ErrNotFound", err)
	}
	if _, err := (apikeys.Base{History: s}).Revoke(ctx, "nobody", storetest.Key(1).ID, 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("RevokeKey gave %v, want ErrNotFound", err)
	}
	if list, err := (apikeys.Base{History: s}).All(ctx, "nobody"); err != nil || len(list) != 0 {
		t.Errorf("Keys gave %v, %v", list, err)
	}
	var tenants int
	if err := raw(t, path).QueryRow(`SELECT count(*) FROM tenants`).Scan(&tenants); err != nil || tenants != 0 {
		t.Errorf("there are %d tenants, %v", tenants, err)
	}
}

// TestKeysOfTwoStores revokes a key through one store; the other, which has read
// it, sees that at once.
func TestKeysOfTwoStores(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	one := create(t, path)
	two, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	for n := range 10 {
		want := storetest.Key(n)
		if err := (apikeys.Base{History: one}).Put(ctx, want); err != nil {
			t.Fatal(err)
		}
		if got, err := (apikeys.Base{History: two}).Get(ctx, want.Tenant, want.ID); err != nil || got != want {
			t.Errorf("the other store has %+v, %v, want %+v", got, err, want)
		}
		want.RevokedAt = storetest.RevokedAt(n)
		if _, err := (apikeys.Base{History: one}).Revoke(ctx, want.Tenant, want.ID, want.RevokedAt); err != nil {
			t.Fatal(err)
		}
		if got, err := (apikeys.Base{History: two}).Get(ctx, want.Tenant, want.ID); err != nil || got != want {
			t.Errorf("after the revocation the other store has %+v, %v, want %+v", got, err, want)
		}
	}
}
