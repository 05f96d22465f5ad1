package kernel_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/token"
)

// TestWordsBounded lets a kernel hold the index of one tenant at a time: tenants that are asked in turn get the answers that they get from a
// kernel that holds all.
func TestWordsBounded(t *testing.T) {
	ctx, r := t.Context(), seeded(t)
	s := open(t, "memory")
	a := token.NewAuthority(ring(t, "k1"))
	wide := over(t, s, a)
	narrow := must(kernel.Open(kernel.Config{Store: s, Authority: a, Clock: time.Now, WordBytes: 1}))
	var tenants []dag.Tenant
	for n := range 4 {
		tenants = append(tenants, dag.Tenant(fmt.Sprint("t", n)))
		for range 2 + n {
			must(wide.Turns().Admit(ctx, tenants[n], []dag.Draft{spoken(r, n)}))
		}
	}
	found := 0
	for i := range 60 {
		of, q := tenants[r.IntN(len(tenants))], question(r, 0)
		if i%10 == 5 { // an erasure meanwhile
			page := must(wide.Turns().Search(ctx, of, q))
			if len(page.Hits) > 0 {
				must(wide.Turns().Erase(ctx, of, page.Hits[0].Turn.ID, "asked to"))
			}
		}
		got, want := must(narrow.Turns().Search(ctx, of, q)), must(wide.Turns().Search(ctx, of, q))
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s, %q: got %+v, want %+v", of, q.Text, got, want)
		}
		found += len(want.Hits)
	}
	if found < 20 {
		t.Errorf("%d hits: too few to say anything", found)
	}
}
