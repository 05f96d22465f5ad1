package storetest

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// testIssuedLists records many bundles at once.
func testIssuedLists(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	var r reference
	known := map[dag.Digest]issued.Record{}
	random := rand.New(rand.NewPCG(3, 4))
	next := 0
	for _, size := range []int{1, 2, 0, 7, 8, 9, 64, 65, 3, 300, 1} {
		var list, want []issued.Record
		first := len(r.leaves)
		for range size {
			i := []func(int, int) issued.Record{Issued, IssuedFacts}[next%2](next, next*7%4)
			if next > 0 && random.IntN(3) == 0 { // one that is recorded, or is earlier in the list
				n := random.IntN(next)
				i = []func(int, int) issued.Record{Issued, IssuedFacts}[n%2](n, n*7%4)
				i.At, i.KeyID, i.Token = i.At+5, "key-2", strings.Repeat("f", 32)
			} else {
				next++
			}
			i.Number, i.Leaf = 77, 88
			stands, ok := known[i.Bundle]
			if !ok {
				stands = i
				stands.Number, stands.Leaf = uint64(len(known)+1), uint64(len(r.leaves))
				known[i.Bundle] = stands
				r.add(t, issued.Leaf(Tenant, &stands))
			}
			list, want = append(list, i), append(want, stands)
		}
		given := slices.Clone(list)
		if got, err := Bundles(s).Put(ctx, Tenant, list); err != nil || !sameList(got, want) {
			t.Fatalf("a list of %d: got %+v, %v, want %+v", size, got, err, want)
		}
		if !sameList(given, list) {
			t.Errorf("PutIssued changed its argument")
		}
		r.same(t, s, first)
	}
	bad := []issued.Record{Issued(next, 1), Issued(next+1, 1), {}}
	if got, err := Bundles(s).Put(ctx, Tenant, bad); err == nil || len(got) > 0 {
		t.Errorf("a list with a malformed record: %v, %v", got, err)
	}
	if got, err := Bundles(s).After(ctx, Tenant, 0, 9999); err != nil || len(got) != len(known) {
		t.Errorf("%d records, %v, want %d", len(got), err, len(known))
	}
	r.same(t, s, 0)
}

// manyIssued returns the records of 73 bundles, the first of them twice.
func manyIssued() (list []issued.Record) {
	for n := range 73 {
		list = append(list, Issued(n, n%5))
	}
	return append(list, Issued(0, 0))
}
