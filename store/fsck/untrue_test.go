package fsck_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/memory"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// An untrue store changes what another says of knowledge; it counts the calls of a method.
type untrue struct {
	store.Store
	calls    map[string]int
	acts     func(call int, list []knowledge.Recorded) ([]knowledge.Recorded, error)
	actsOf   func(list []knowledge.Recorded) ([]knowledge.Recorded, error)
	aliases  func(list []knowledge.Recorded) ([]knowledge.Recorded, error)
	edges    func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error)
	versions func(list []knowledge.Recorded, total int) ([]knowledge.Recorded, int, error)
}

func (u *untrue) Acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	list, err := u.Store.Acts(ctx, tenant, after, limit)
	if err == nil && u.acts != nil {
		u.calls["acts"]++
		list, err = u.acts(u.calls["acts"], list)
	}
	return list, err
}

func (u *untrue) ActsOf(ctx context.Context, tenant dag.Tenant, id knowledge.ID, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	list, err := u.Store.ActsOf(ctx, tenant, id, after, limit)
	if err == nil && u.actsOf != nil {
		list, err = u.actsOf(list)
	}
	return list, err
}

func (u *untrue) Aliases(ctx context.Context, tenant dag.Tenant, after dag.Seq) ([]knowledge.Recorded, error) {
	list, err := u.Store.Aliases(ctx, tenant, after)
	if err == nil && u.aliases != nil {
		list, err = u.aliases(list)
	}
	return list, err
}

func (u *untrue) Edges(ctx context.Context, tenant dag.Tenant, asks []knowledge.Ask) ([][]knowledge.Edge, error) {
	lists, err := u.Store.Edges(ctx, tenant, asks)
	if err == nil && u.edges != nil {
		u.calls["edges"]++
		lists, err = u.edges(asks, lists)
	}
	return lists, err
}

func (u *untrue) Versions(ctx context.Context, tenant dag.Tenant, f knowledge.Find) ([]knowledge.Recorded, int, error) {
	list, total, err := u.Store.Versions(ctx, tenant, f)
	if err == nil && u.versions != nil {
		list, total, err = u.versions(list, total)
	}
	return list, total, err
}

// at changes the act of a number, in whatever list it is.
func at(list []knowledge.Recorded, seq dag.Seq, change func(*knowledge.Recorded)) ([]knowledge.Recorded, error) {
	for i := range list {
		if list[i].Seq == seq {
			change(&list[i])
		}
	}
	return list, nil
}

func without(list []knowledge.Recorded, seq dag.Seq) []knowledge.Recorded {
	return slices.DeleteFunc(list, func(r knowledge.Recorded) bool { return r.Seq == seq })
}

// eachEdge changes the edges of a version.
func eachEdge(lists [][]knowledge.Edge, since dag.Seq, change func(*knowledge.Edge)) ([][]knowledge.Edge, error) {
	for _, list := range lists {
		for i := range list {
			if list[i].Since == since {
				change(&list[i])
			}
		}
	}
	return lists, nil
}

// TestUntrue finds what no damage of a file can make a store say.
func TestUntrue(t *testing.T) {
	type recorded = []knowledge.Recorded
	s := memory.Open(&memory.Disk{}, memory.Options{})
	if err := storetest.Fill(t.Context(), s, tenant); err != nil {
		t.Fatal(err)
	}
	all, err := s.Acts(t.Context(), tenant, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	number := func(seq dag.Seq) knowledge.Recorded {
		return all[slices.IndexFunc(all, func(r knowledge.Recorded) bool { return r.Seq == seq })]
	}
	fault := errors.New("fault")
	otherLeaf := func(r *knowledge.Recorded) { r.Leaf[5] ^= 1 }
	later := func(r *knowledge.Recorded) { r.At++ }
	noTime := func(r *knowledge.Recorded) { r.At = -1 }
	for _, c := range []struct {
		name        string
		untrue      untrue
		where, rule string
		alone       bool // nothing else is found
		page        int
	}{
		{"leaf", untrue{acts: func(_ int, l recorded) (recorded, error) { return at(l, 37, otherLeaf) }}, "act 37", "leaf", true, 0},
		{"leaf, read again", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n == 1 {
				return l, nil
			}
			return at(l, 37, otherLeaf)
		}}, "act 37", "leaf", true, 0},
		{"leaf, of a list that breaks off", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n > 3 {
				return nil, fault
			}
			return at(l, 37, otherLeaf)
		}}, "act 37", "leaf", false, 4},
		{"time", untrue{
			acts:     func(_ int, l recorded) (recorded, error) { return at(l, 37, noTime) },
			actsOf:   func(l recorded) (recorded, error) { return at(l, 37, noTime) },
			versions: func(l recorded, total int) (recorded, int, error) { l, err := at(l, 37, noTime); return l, total, err },
		}, "act 37", "form", true, 0},
		{"leaf and time", untrue{acts: func(_ int, l recorded) (recorded, error) {
			return at(l, 37, func(r *knowledge.Recorded) { otherLeaf(r); r.At = -1 })
		}}, "act 37", "form", false, 0},
		{"kind", untrue{acts: func(_ int, l recorded) (recorded, error) {
			return at(l, 52, func(r *knowledge.Recorded) { r.Act.Kind = "other" })
		}}, "act 52", "form", false, 0},
		{"read again, another time", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n == 1 {
				return l, nil
			}
			return at(l, 37, later)
		}}, "act 37", "act", false, 0},
		{"read again, one more", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n == 1 {
				return without(l, 65), nil
			}
			return l, nil
		}}, "act 65", "act", false, 0},
		{"out of order", untrue{acts: func(_ int, l recorded) (recorded, error) { slices.Reverse(l); return l, nil }}, "act 64", "number", true, 0},
		{"a page that cannot be read", untrue{acts: func(int, recorded) (recorded, error) { return nil, fault }}, "act 1 and on", "readable", true, 0},
		{"a page that cannot be read again", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n == 1 {
				return l, nil
			}
			return nil, fault
		}}, "act 1 and on", "readable", true, 0},

		{"of a statement, one left out", untrue{actsOf: func(l recorded) (recorded, error) { return without(l, 38), nil }}, "act 38", "found by statement", true, 0},
		{"of a statement, one of another", untrue{actsOf: func(l recorded) (recorded, error) {
			if l[0].Seq == 37 {
				l = append(l, number(53))
			}
			return l, nil
		}}, "act 53", "found by statement", true, 0},
		{"of a statement, one about an alias", untrue{actsOf: func(l recorded) (recorded, error) {
			if l[0].Seq == 37 {
				l = append(l, number(50))
			}
			return l, nil
		}}, "act 50", "found by statement", true, 0},
		{"of a statement, out of order", untrue{actsOf: func(l recorded) (recorded, error) { slices.Reverse(l); return l, nil }}, "act 57", "found by statement", false, 0},
		{"of a statement, another time", untrue{actsOf: func(l recorded) (recorded, error) { return at(l, 38, later) }}, "act 38", "found by statement", true, 0},
		{"of a statement, another leaf", untrue{actsOf: func(l recorded) (recorded, error) { return at(l, 38, otherLeaf) }}, "act 38", "leaf", true, 0},
		{"of a statement, another end", untrue{actsOf: func(l recorded) (recorded, error) {
			return at(l, 38, func(r *knowledge.Recorded) { r.Until = dag.MaxSeq })
		}}, "act 38", "until", true, 0},
		{"of a statement that cannot be read", untrue{actsOf: func(l recorded) (recorded, error) {
			if l[0].Seq == 37 {
				return nil, fault
			}
			return l, nil
		}}, "statement ", "readable", true, 0},

		{"aliases, one left out", untrue{aliases: func(l recorded) (recorded, error) { return without(l, 51), nil }}, "act 51", "found among aliases", true, 0},
		{"aliases, a fact", untrue{aliases: func(l recorded) (recorded, error) { return append(l, number(65)), nil }}, "act 65", "found among aliases", true, 0},
		{"aliases, out of order", untrue{aliases: func(l recorded) (recorded, error) { slices.Reverse(l); return l, nil }}, "act 51", "found among aliases", true, 0},
		{"aliases, another time", untrue{aliases: func(l recorded) (recorded, error) { return at(l, 51, later) }}, "act 51", "found among aliases", true, 0},
		{"aliases, one that is not there", untrue{aliases: func(l recorded) (recorded, error) {
			r := number(51)
			r.Seq = 52
			return slices.Insert(l, 2, r), nil
		}}, "act 52", "found among aliases", true, 0},
		{"aliases that cannot be read", untrue{aliases: func(recorded) (recorded, error) { return nil, fault }}, "aliases", "readable", true, 0},

		{"edges, out of order", untrue{edges: func(_ []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			for _, list := range lists {
				slices.Reverse(list)
			}
			return lists, nil
		}}, `name "e1"`, "order", false, 0},
		{"edges, twice", untrue{edges: func(_ []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			for i, list := range lists {
				if len(list) > 0 {
					lists[i] = slices.Insert(list, 0, list[0])
				}
			}
			return lists, nil
		}}, `name "e1"`, "order", false, 0},
		{"edges, of another name", untrue{edges: func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			for i := range asks {
				if asks[i].Name == "e5" && !asks[i].Incoming {
					lists[i] = slices.Clone(lists[slices.IndexFunc(asks, func(a knowledge.Ask) bool { return a.Name == "e6" && !a.Incoming })])
				}
			}
			return lists, nil
		}}, "act 49", "edge", true, 0},
		{"edges, the wrong way", untrue{edges: func(_ []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			return eachEdge(lists, 36, func(e *knowledge.Edge) { e.Incoming = !e.Incoming })
		}}, "act 36", "edge", true, 0},
		{"edges, fewer answers", untrue{edges: func(_ []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			return lists[1:], nil
		}}, `name "e1" and others`, "edge", true, 0},
		{"edges of a name that cannot be read", untrue{edges: func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			if slices.ContainsFunc(asks, func(a knowledge.Ask) bool { return a.Name == "e2" && a.Incoming }) {
				return nil, fault
			}
			return lists, nil
		}}, `name "e2"`, "readable", true, 0},
		{"edges that cannot be read, and one that is damaged", untrue{edges: func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			if slices.ContainsFunc(asks, func(a knowledge.Ask) bool { return a.Name == "e2" && a.Incoming }) {
				return nil, fault
			}
			return eachEdge(lists, 37, func(e *knowledge.Edge) { e.Source = "other" })
		}}, "act 37", "edge", false, 0},

		{"versions, miscounted", untrue{versions: func(l recorded, total int) (recorded, int, error) { return l, total + 1, nil }}, "versions as of 65", "number", false, 0},
		{"versions, one left out", untrue{versions: func(l recorded, total int) (recorded, int, error) { return without(l, 37), total, nil }}, "act 37", "found among versions", true, 0},
		{"versions, the last left out", untrue{versions: func(l recorded, total int) (recorded, int, error) { return without(l, 65), total, nil }}, "act 65", "found among versions", true, 0},
		{"versions, one that ended", untrue{versions: func(l recorded, total int) (recorded, int, error) {
			return append(recorded{number(34)}, l...), total, nil
		}}, "act 34", "found among versions", true, 0},
		{"versions, one behind the last", untrue{versions: func(l recorded, total int) (recorded, int, error) {
			return append(l, number(65)), total, nil
		}}, "act 65", "found among versions", true, 0},
		{"versions, another time", untrue{versions: func(l recorded, total int) (recorded, int, error) {
			l, err := at(l, 37, later)
			return l, total, err
		}}, "act 37", "found among versions", true, 0},
		{"versions that cannot be read", untrue{versions: func(recorded, int) (recorded, int, error) { return nil, 0, fault }}, "versions as of 65", "readable", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := c.untrue
			u.Store, u.calls = s, map[string]int{}
			report, err := fsck.Tenant(t.Context(), &u, tenant, fsck.Options{Page: c.page})
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(report.Findings, func(f fsck.Finding) bool {
				return (f.Where == c.where || c.where == "statement " && len(f.Where) > len(c.where)) && f.Rule == c.rule
			})
			if !found || c.alone && report.Found != 1 {
				t.Errorf("found %v, want %q of %s", report.Findings, c.rule, c.where)
			}
		})
	}
}

// TestEdgesCannotBeAsked makes sure that a store that is away is no finding, and that
// where no edge can be read not each of them is asked for.
func TestEdgesCannotBeAsked(t *testing.T) {
	ctx := t.Context()
	s := memory.Open(&memory.Disk{}, memory.Options{})
	if err := storetest.Fill(ctx, s, tenant); err != nil {
		t.Fatal(err)
	}
	var list []knowledge.Act
	for n := range 600 {
		list = append(list, storetest.Assertion(1000+n, 1, 1, 5, "user"))
	}
	if _, err := s.PutActs(ctx, tenant, list, 1); err != nil {
		t.Fatal(err)
	}
	fails := func(err error) *untrue {
		return &untrue{Store: s, calls: map[string]int{}, edges: func([]knowledge.Ask, [][]knowledge.Edge) ([][]knowledge.Edge, error) { return nil, err }}
	}
	if report, err := fsck.Tenant(ctx, fails(store.ErrBusy), tenant, fsck.Options{}); !errors.Is(err, store.ErrBusy) || !report.OK() {
		t.Errorf("%v, %v", report.Findings, err)
	}
	u := fails(errors.New("fault"))
	report, err := fsck.Tenant(ctx, u, tenant, fsck.Options{})
	if err != nil || report.Found < 50 || report.Found > 150 || u.calls["edges"] > 400 {
		t.Errorf("%d findings, %v, and %d questions", report.Found, err, u.calls["edges"])
	}
}

// TestManyEdges gives a name more edges than are asked for at once, in both directions, and
// a statement more acts.
func TestManyEdges(t *testing.T) {
	ctx := t.Context()
	s := memory.Open(&memory.Disk{}, memory.Options{})
	for n := range 150 {
		list := []knowledge.Act{
			storetest.Assertion(1, 1, 1000+n, dag.PPM(n%7), "user"), storetest.Assertion(1000+n, 1, 1, dag.PPM(n%5), "user"),
			storetest.Assertion(1, 2, 1, dag.PPM(n), fmt.Sprint("source-", n)),
		}
		if _, err := s.PutActs(ctx, tenant, list, 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []int{1, 4, 30, 500} {
		u := &untrue{Store: s, calls: map[string]int{}, edges: func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			edges := 0
			for _, list := range lists {
				edges += len(list)
			}
			if edges > max(16*page, len(asks)) {
				t.Errorf("pages of %d: %d edges at once", page, edges)
			}
			return lists, nil
		}}
		report, err := fsck.Tenant(ctx, u, tenant, fsck.Options{Page: page})
		if err != nil || !report.OK() || report.Counts.Versions != 450 {
			t.Errorf("pages of %d: %+v, %v", page, report, err)
		}
	}
}
