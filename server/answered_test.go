package server

import (
	"slices"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// TestEveryOperationIsAnswered compares what package api declares with the facets of a kernel and the routes of the service: each operation has an id of its own, one route, and either a handler of the
// service or the answer of one facet.
func TestEveryOperationIsAnswered(t *testing.T) {
	k, err := kernel.Open(kernel.Config{Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: token.NewAuthority(token.Keyring{}), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	answered := map[string]int{}
	for _, a := range k.Operations() {
		answered[a.ID]++
	}
	if len(answered) < 60 || len(api.Declared()) < 100 {
		t.Fatalf("%d operations are answered, %d declared", len(answered), len(api.Declared()))
	}
	seen := map[string]bool{}
	for _, spec := range api.Declared() {
		if seen[spec.ID] {
			t.Errorf("two operations are %s", spec.ID)
		}
		seen[spec.ID] = true
		own := slices.ContainsFunc(ownRoutes, func(r route) bool { return r.spec.ID == spec.ID })
		if n := answered[spec.ID]; n > 1 || n == 0 && !own {
			t.Errorf("%s has the answers of %d facets, and a handler of the service: %t", spec.ID, n, own)
		}
		delete(answered, spec.ID)
		if n := len(slices.DeleteFunc(slices.Clone(routes), func(r route) bool { return r.spec.ID != spec.ID })); n != 1 {
			t.Errorf("%s has %d routes", spec.ID, n)
		}
	}
	for id := range answered {
		t.Errorf("a facet answers %s, which is not declared", id)
	}
}
