package issued_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestBefore lists every part of every small record from its end, and compares with the record from its beginning; and
// finds each id by each of its beginnings.
func TestBefore(t *testing.T) {
	const most = 6
	cases := 0
	for n := range most {
		b := issued.Base{History: inmem.Open(&inmem.Disk{}, inmem.Options{Seed: uint64(n)})}
		for i := range n {
			r := storetest.Issued(i+1, 1)
			if i%2 == 1 {
				r = storetest.IssuedFacts(i+1, 1)
			}
			if _, err := b.Put(t.Context(), tenant, []issued.Record{r}); err != nil {
				t.Fatal(err)
			}
		}
		all, err := b.After(t.Context(), tenant, 0, most)
		if err != nil || len(all) != n {
			t.Fatal(len(all), err)
		}
		for before := range uint64(n + 2) {
			for limit := range n + 2 {
				want := slices.Clone(all[:max(0, min(int(before)-1, n))])
				slices.Reverse(want)
				want = want[:min(len(want), limit)]
				if got, err := b.Before(t.Context(), tenant, before, limit); err != nil || !slices.Equal(got, want) {
					t.Errorf("%d records, %d below %d: got %v, %v, want %v", n, limit, before, got, err, want)
				}
				cases++
			}
		}
		for i := range all {
			id := string(all[i].Provenance.SliceID)
			for size := range len(id) + 1 {
				want := slices.DeleteFunc(slices.Clone(all), func(r issued.Record) bool { return !strings.HasPrefix(string(r.Provenance.SliceID), id[:size]) })
				got, err := b.Begin(t.Context(), tenant, id[:size], most)
				slices.SortFunc(got, func(x, y issued.Record) int { return int(x.Number) - int(y.Number) })
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("ids that begin with %q: got %v, %v, want %v", id[:size], got, err, want)
				}
				cases++
			}
		}
	}
	if cases < 300 {
		t.Errorf("%d cases", cases)
	}
}
