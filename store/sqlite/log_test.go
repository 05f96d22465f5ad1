package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestLogIndex makes sure that leaves of a kind are found by their terms, so that the index, each
// row of which has a page of its own to change, holds the others alone.
func TestLogIndex(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Create(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, issued := storetest.PutIssued(ctx, s, storetest.Tenant, storetest.Issued(1, 1))
	_, put := s.PutLeaves(ctx, storetest.Tenant, storetest.Leaves(0, 2))
	if err := errors.Join(issued, registry.Base{History: s}.Put(ctx, storetest.Tenant, storetest.Policy("p@1", 1)), put, storetest.Check(ctx, s, storetest.Tenant)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lines(t, path, `SELECT n || '' FROM log_index ORDER BY n`), " "); got != `["1"] ["2"]` {
		t.Errorf("the index has the leaves %s", got)
	}
}
