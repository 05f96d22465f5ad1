package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// Snap writes snapshots; erases is Plan.Erases.
func Snap(ctx context.Context, s store.Store, tenant dag.Tenant, list []history.Snapshot, erases bool) error {
	return s.Write(ctx, tenant, rawChange{plan: func(*history.State) (*history.Plan, error) {
		return &history.Plan{Snapshots: list, Erases: erases}, nil
	}})
}

// snapshotPage returns the snapshots of a model that a page selects.
func snapshotPage(all map[string][]byte, p history.SnapshotPage) (list []history.Snapshot) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, p.Prefix) && name > p.After && len(list) < p.Limit {
			one := history.Snapshot{Name: name, Value: all[name]}
			if p.Names {
				one.Value = nil
			}
			list = append(list, one)
		}
	}
	return list
}

// knowing returns a change that needs snapshots, compares them with a model, and plans nothing.
func knowing(t *testing.T, names []string, model map[string][]byte) history.Change {
	return rawChange{
		needs: func(k *history.State) (n history.Needs) {
			if k.Round == 0 {
				n.Snapshots = names
			}
			return n
		},
		plan: func(k *history.State) (*history.Plan, error) {
			if !maps.EqualFunc(k.Snapshots, model, bytes.Equal) {
				t.Errorf("a change knows %d snapshots, and not the %d that there are", len(k.Snapshots), len(model))
			}
			for _, value := range k.Snapshots { // the store's own values are copies
				clear(value)
			}
			return &history.Plan{}, nil
		},
	}
}

// testSnapshots replaces and drops random snapshots in the store and in a model, and compares them.
func testSnapshots(t *testing.T, h Harness) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(21, 22))
	s := open(t, h)
	names := []string{"a/1-2", "a/10", "a/2", "a", "b/~", "b/ \"'%_\\", "A/1", strings.Repeat("n", history.MaxSnapshotName)}
	model, found := map[string][]byte{}, 0
	for n := range 80 {
		var list []history.Snapshot
		next := maps.Clone(model)
		for range 1 + r.IntN(3) { // a name may occur twice
			one := history.Snapshot{Name: names[r.IntN(len(names))], Value: bytes.Repeat([]byte{byte(n), 0, byte(r.Uint32())}, []int{0, 1, 100, 3_000, 200_000}[r.IntN(5)])}
			list = append(list, one)
			if delete(next, one.Name); len(one.Value) > 0 {
				next[one.Name] = one.Value
			}
		}
		if n%7 == 3 { // a plan that is refused writes nothing
			list = append(list, history.Snapshot{Name: "a\n", Value: []byte{1}})
			if err := Snap(ctx, s, rawTenant, list, false); !errors.Is(err, dag.ErrForm) {
				t.Errorf("a name of no form: %v, want dag.ErrForm", err)
			}
			continue
		}
		if err := Snap(ctx, s, rawTenant, list, n%5 == 0); err != nil {
			t.Fatal(err)
		}
		model = next
		if n%16 == 15 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, h)
		}
		p := history.SnapshotPage{Prefix: []string{"", "a", "a/", "a/1", "b/", "c"}[r.IntN(6)], After: []string{"", "a/1", "a/10", "b", "b/~", "z"}[r.IntN(6)], Limit: r.IntN(6), Names: n%3 == 1}
		got, err := s.Snapshots(ctx, rawTenant, p)
		want := snapshotPage(model, p)
		if err != nil || !slices.EqualFunc(got, want, func(a, b history.Snapshot) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) }) {
			t.Fatalf("%+v: %d snapshots, %v, want %d", p, len(got), err, len(want))
		}
		found += len(got)
		if err := s.Write(ctx, rawTenant, knowing(t, names, model)); err != nil {
			t.Fatal(err)
		}
		for i := range got { // the store's own values are copies
			clear(got[i].Value)
		}
	}
	if found < 50 {
		t.Errorf("%d snapshots were found: too few to say anything", found)
	}
	for _, value := range [][]byte{nil, make([]byte, history.MaxSnapshot+1)} {
		for _, name := range []string{"", "\x7f", "\u00e9", strings.Repeat("n", history.MaxSnapshotName+1), "long"} {
			if err := Snap(ctx, s, rawTenant, []history.Snapshot{{Name: name, Value: value}}, false); !errors.Is(err, dag.ErrForm) && (name != "long" || value != nil) {
				t.Errorf("%.9q of %d bytes: %v, want dag.ErrForm", name, len(value), err)
			}
		}
	}
	if list, err := s.Snapshots(ctx, "other", history.SnapshotPage{Limit: 9}); err != nil || len(list) > 0 {
		t.Errorf("another tenant has %d snapshots, %v", len(list), err)
	}
	if head, err := s.Head(ctx, rawTenant); err != nil || head != 0 {
		t.Errorf("the head is %d, %v; a snapshot takes no number", head, err)
	}
}

// snapshotWrite returns a Write that replaces one snapshot and drops another.
func snapshotWrite() Write {
	const page = 9
	return Write{
		Name: "Snapshots",
		Before: func(ctx context.Context, s store.Store) error {
			return Snap(ctx, s, Tenant, []history.Snapshot{{Name: "test/1", Value: []byte("old")}, {Name: "test/2", Value: []byte("gone")}}, false)
		},
		Do: func(ctx context.Context, s store.Store) error {
			return Snap(ctx, s, Tenant, []history.Snapshot{{Name: "test/1", Value: []byte("new")}, {Name: "test/2"}}, true)
		},
		Done: func(ctx context.Context, s store.Store) (bool, error) {
			list, err := s.Snapshots(ctx, Tenant, history.SnapshotPage{Limit: page})
			switch got := fmt.Sprintf("%s", list); {
			case err != nil:
				return false, err
			case got == "[{test/1 new}]":
				return true, nil
			case got == "[{test/1 old} {test/2 gone}]":
				return false, nil
			default:
				return false, fmt.Errorf("the snapshots are %s", got)
			}
		},
	}
}
