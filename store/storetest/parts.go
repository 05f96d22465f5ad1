package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// rawEntries returns n entries, numbered from first on.
func rawEntries(first dag.Seq, n int) []history.Entry {
	list := make([]history.Entry, n)
	for i := range list {
		list[i] = history.Entry{Seq: first + dag.Seq(i), Kind: "raw/1", At: 1, Public: fmt.Appendf(nil, "entry %d", first+dag.Seq(i))}
	}
	return list
}

// parted sets the parts of entries: of contains the numbers of entries of successive changes.
func parted(list []history.Entry, of ...int) []history.Entry {
	for i, at := 0, 0; i < len(of); i++ {
		for n := range of[i] {
			if of[i] > 1 {
				list[at].Part, list[at].Parts = uint32(n+1), uint32(of[i])
			}
			at++
		}
	}
	return list
}

// plain returns a change that plans the entries without their parts, which the store sets or keeps.
func plain(list []history.Entry) history.Change {
	return rawChange{
		needs: func(*history.State) history.Needs { return history.Needs{} },
		plan: func(*history.State) (*history.Plan, error) {
			p := &history.Plan{Entries: slices.Clone(list)}
			for i := range p.Entries {
				p.Entries[i].Part, p.Entries[i].Parts = 0, 0
			}
			return p, nil
		},
	}
}

// testParts writes and adopts changes of several entries. Each entry has its position in its change, and the head is always the end of a change.
func testParts(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	for at, n := dag.Seq(1), []int{1, 3, 1, 2}; len(n) > 0; at, n = at+dag.Seq(n[0]), n[1:] {
		if err := s.Write(ctx, rawTenant, plain(rawEntries(at, n[0]))); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(tenant dag.Tenant, want []history.Entry) {
		t.Helper()
		page, err := s.Entries(ctx, tenant, history.Page{Limit: 99})
		if err != nil || !sameEntries(page, want) {
			t.Errorf("%s: listed %+v, %v, want %+v", tenant, page, err, want)
		}
		for i := range want {
			at, err := s.Entries(ctx, tenant, history.Page{At: []dag.Seq{want[i].Seq}})
			if err != nil || !sameEntries(at, want[i:i+1]) {
				t.Errorf("%s: found %+v, %v, want %+v", tenant, at, err, want[i])
			}
		}
		if head, err := s.Head(ctx, tenant); err != nil || int(head) != len(want) {
			t.Errorf("%s: the head is %d, %v, want %d", tenant, head, err, len(want))
		}
	}
	written := parted(rawEntries(1, 7), 1, 3, 1, 2)
	holds(rawTenant, written)

	const copied dag.Tenant = "raw-copy"
	adopt := func(parts ...[]history.Entry) error {
		var all *store.Stretch
		for _, list := range slices.Backward(parts) {
			all = &store.Stretch{Entries: list, Change: plain(list), Rest: all}
		}
		return s.Adopt(ctx, copied, *all)
	}
	spoilt := func(change func(list []history.Entry)) []history.Entry {
		list := slices.Clone(written[:4])
		change(list)
		return list
	}
	for name, c := range map[string]struct {
		parts [][]history.Entry
		says  string
	}{
		"that ends inside of a change":     {[][]history.Entry{written[:3]}, "number 3"},
		"whose rest ends inside of one":    {[][]history.Entry{written[:2], written[2:3]}, "number 3"},
		"that begins inside of a change":   {[][]history.Entry{written[2:4]}, "number 3"},
		"that lacks a part":                {[][]history.Entry{spoilt(func(l []history.Entry) { l[2].Part = 3 })}, "number 3"},
		"of a change of another length":    {[][]history.Entry{spoilt(func(l []history.Entry) { l[3].Part, l[3].Parts = 3, 4 })}, "number 4"},
		"of two changes in one":            {[][]history.Entry{spoilt(func(l []history.Entry) { l[2].Part = 1 })}, "number 3"},
		"whose last part is no part":       {[][]history.Entry{spoilt(func(l []history.Entry) { l[3].Part, l[3].Parts = 0, 0 })}, "number 4"},
		"whose rest does not follow on it": {[][]history.Entry{written[:4], written[5:7]}, ""},
	} {
		err := adopt(c.parts...)
		if !errors.Is(err, dag.ErrForm) && !errors.Is(err, store.ErrGap) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("a stretch %s: %v", name, err)
		}
		holds(copied, nil)
	}
	if err := adopt(written[:1], written[1:3], written[3:4]); err != nil {
		t.Errorf("a change in three stretches: %v", err)
	}
	holds(copied, written[:4])
	if err := adopt(written[4:]); err != nil {
		t.Error(err)
	}
	holds(copied, written)
}
