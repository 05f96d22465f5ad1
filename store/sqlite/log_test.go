package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestLogIndex makes sure that leaves of issued slices are found by their records, so that
// the index, each row of which has a page of its own to change, holds the others alone, and
// those that came before their records.
func TestLogIndex(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Create(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var list []store.Issued
	for n := range 70 {
		list = append(list, storetest.Issued(n, n%3))
	}
	issue := func(list ...store.Issued) error { _, err := s.PutIssued(ctx, storetest.Tenant, list); return err }
	copied := func(list ...store.Issued) error {
		var leaves [][]byte
		for i := range list {
			leaves = append(leaves, store.IssuedLeaf(storetest.Tenant, &list[i]))
		}
		_, err := s.PutLeaves(ctx, storetest.Tenant, leaves)
		return err
	}
	check := func(index, leaves string) {
		t.Helper()
		if err := storetest.Check(ctx, s, storetest.Tenant); err != nil {
			t.Error(err)
		}
		if got := strings.Join(lines(t, path, `SELECT n || '' FROM log_index ORDER BY n`), " "); got != index {
			t.Errorf("the index has the leaves %s, want %s", got, index)
		}
		if got := strings.Join(lines(t, path, `SELECT leaf || '' FROM issued WHERE number > 67 ORDER BY number`), " "); got != leaves {
			t.Errorf("the records have the leaves %s, want %s", got, leaves)
		}
	}
	if err := errors.Join(issue(list[:60]...), issue(list[50:68]...)); err != nil {
		t.Fatal(err)
	}
	check(``, `["67"]`)
	if err := errors.Join(registry.Base{History: s}.Put(ctx, storetest.Tenant, storetest.Policy("p@1", 1)), copied(list[69], list[3])); err != nil {
		t.Fatal(err)
	}
	check(`["69"]`, `["67"]`)
	if err := issue(list[68:]...); err != nil {
		t.Fatal(err)
	}
	check(`["69"]`, `["67"] ["70"] ["69"]`)
}
