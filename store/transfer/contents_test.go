package transfer_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/store/transfer"
)

// contents writes down all that a store has, up to some heads and numbers of issued
// slices if they are given.
func contents(t *testing.T, s store.Store, reports []transfer.Tenant) (lines []string) {
	t.Helper()
	ctx := t.Context()
	did := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	names, err := transfer.Tenants(ctx, s)
	did(err)
	for _, name := range names {
		head, issuedUpTo := dag.MaxSeq, 1<<20
		if at := slices.IndexFunc(reports, func(r transfer.Tenant) bool { return r.Name == name }); at >= 0 {
			head, issuedUpTo = reports[at].Head, reports[at].Record[issued.Kind].Copied+reports[at].Record[issued.Kind].Existing
		}
		write := func(format string, args ...any) {
			lines = append(lines, string(name)+": "+fmt.Sprintf(format, args...))
		}
		did(s.Scan(ctx, name, 0, nil, func(r *store.Record) error {
			if r.Seq <= head {
				write("%d %+v %s %+v %q %s %q", r.Seq, r.Turn, r.Leaf, append([]dag.SkeletonParent{}, r.Parents...), r.Body, r.Salt, r.External)
			}
			return nil
		}))
		events, err := storetest.Events(ctx, s, name, 0, 1<<20)
		did(err)
		for _, e := range events {
			if e.Seq <= head {
				write("%+v", e)
			}
		}
		acts, err := storetest.Acts(ctx, s, name, 0, 1<<20)
		did(err)
		for _, a := range acts {
			if a.Until > head {
				a.Until = dag.MaxSeq
			}
			if a.Seq <= head {
				write("%+v", a)
			}
		}
		registry, err := registry.Base{History: s}.All(ctx, name)
		did(err)
		for _, p := range registry.All() {
			write("%+v", p)
		}
		bundles, err := storetest.Bundles(s).After(ctx, name, 0, issuedUpTo)
		did(err)
		for _, i := range bundles {
			write("%+v", i)
		}
		keys, err := apikeys.Base{History: s}.All(ctx, name)
		did(err)
		for _, k := range keys {
			write("%+v", k)
		}
		cells, err := s.Cells(ctx, name, "")
		did(err)
		for _, c := range cells {
			write("%q %x", c.Name, c.Value)
		}
		if reports != nil {
			continue // the ledger may hold leaves of later acts, and somebody may write
		}
		did(storetest.SameKnowledge(ctx, s, name))
		leaves, err := history.Leaves(ctx, s, name, 0, 1<<20)
		did(err)
		for _, leaf := range leaves {
			write("%s", leaf)
		}
		write("%s", logOf(t, s, name).Hash)
	}
	return lines
}

func logOf(t *testing.T, s store.Store, tenant dag.Tenant) ledger.Root {
	t.Helper()
	tree, err := s.Log(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Root{Size: tree.Size(), Hash: tree.Root()}
}

func sound(t *testing.T, s store.Store) {
	t.Helper()
	if report, err := fsck.Store(t.Context(), s, fsck.Options{}); err != nil || !report.OK() {
		t.Fatalf("the copy is not sound: %v, %v", report.Findings, err)
	}
}

// soundSoFar is sound for a copy that was cut short: a text that the source has erased may lack the
// erasure, which has a later number, and nothing else is amiss.
func soundSoFar(t *testing.T, s, from store.Store) {
	t.Helper()
	report, err := fsck.Store(t.Context(), s, fsck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		events, err := storetest.Events(t.Context(), from, f.Tenant, 0, 1000)
		erased := func(e erasures.Erasure) bool { return f.Where == "turn "+e.Turn.String() }
		if err != nil || f.Rule != "body" || !strings.Contains(f.Detail, "no erasure is on record") || !slices.ContainsFunc(events, erased) {
			t.Fatalf("the copy is not sound: %v", f)
		}
	}
}

func filled(t *testing.T, s store.Store) store.Store {
	t.Helper()
	for _, tenant := range []dag.Tenant{"a", "b"} {
		if err := storetest.Fill(t.Context(), s, tenant); err != nil {
			t.Fatal(err)
		}
	}
	k := storetest.Key(1)
	k.Tenant = "only-a-key"
	if err := (apikeys.Base{History: s}).Put(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	return s
}

func inMemory(t *testing.T) store.Store {
	t.Helper()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{Seed: 3})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func inFile(t *testing.T) store.Store {
	t.Helper()
	s, err := sqlite.Create(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
