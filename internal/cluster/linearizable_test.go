package cluster

import (
	"testing"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/postgres"
)

const processes = 3

func scaled(operations int64) int64 {
	if testing.Short() {
		return operations / 4
	}
	return operations
}

// TestLinearizable lets clients of three processes on one database admit turns and cut
// slices. To each of them it must look as if there were one process that does one
// thing at a time.
func TestLinearizable(t *testing.T) {
	url := pgstore.URL(t)
	h := newHouse(t, url)
	var services []*client.Client
	for range processes {
		services = append(services, h.serve())
	}
	l := newLoad(t, services)
	operations := scaled(1200)
	l.run(operations, nil)
	l.check(operations)
	checkStore(t, url)
}

// checkStore lets fsck look at all that is stored.
func checkStore(t *testing.T, url string) {
	t.Helper()
	s := open(t, url)
	report, err := fsck.Tenant(t.Context(), s, dag.DefaultTenant, fsck.Options{})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		t.Errorf("fsck: %v", err)
	}
}

func open(t *testing.T, url string) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
