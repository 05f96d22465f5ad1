package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/bench/plain"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// inGraph adds drafts to a graph, without leaves: selection does not read them.
func inGraph(t *testing.T, drafts []dag.Draft) dag.View {
	t.Helper()
	g := dag.NewGraph()
	of := map[dag.TurnID]dag.ConversationID{}
	for i := range drafts {
		d := &drafts[i]
		of[d.ID] = d.Conversation
		var parents []dag.SkeletonParent
		for _, p := range d.Parents {
			parents = append(parents, dag.SkeletonParent{ID: p.ID, Conversation: of[p.ID], Kind: p.Kind})
		}
		err := g.Add(&dag.Skeleton{
			Seq: dag.Seq(i + 1), ID: d.ID, Conversation: d.Conversation, CreatedAt: d.CreatedAt, Salience: d.Salience, Role: d.Role, Phase: d.Phase, Parents: parents,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return g.At(dag.Seq(len(drafts)))
}

// plainDatabases returns an empty one of each kind.
func plainDatabases(t *testing.T) map[string]plain.Database {
	t.Helper()
	ctx := t.Context()
	dbs := map[string]plain.Database{}
	var err error
	if dbs[inSQLite], err = plain.SQLite(ctx, filepath.Join(t.TempDir(), "plain.db"), ""); err != nil {
		t.Fatal(err)
	}
	if pgtest.Available() == nil {
		server := pgtest.Run(t, pgtest.Options{})
		if err := server.CreateDatabase(ctx, "plain", ""); err != nil {
			t.Fatal(err)
		}
		if dbs[inPostgres], err = plain.Postgres(ctx, server.SocketURL("plain"), ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, db := range dbs {
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return dbs
}

// TestAlternatives holds that what the kernel is compared with selects the same turns in
// the same order, around turns of graphs with branches, crossings and hubs, for policies
// that are wide, narrow, without siblings, and without a radius.
func TestAlternatives(t *testing.T) {
	t.Parallel()
	wide := policy.DefaultV1()
	wide.MaxNodes, wide.MaxRadius = 64, policy.LimitRadius
	whole := wide
	whole.MaxNodes = policy.LimitNodes
	near := policy.DefaultV1()
	near.MaxNodes, near.MaxRadius, near.MaxSiblings = 40, 2, 2
	alone := policy.DefaultV1()
	alone.IncludeSiblings = false
	still := policy.DefaultV1()
	still.MaxRadius = 0
	flat := wide // all scores alike: ids decide
	flat.DistanceDecay, flat.SalienceWeight, flat.Weights = 1_000_000, 0, policy.PhaseTable{1: 1, 2: 1, 3: 1, 4: 1, 5: 1}
	policies := []policy.SlicePolicyV1{policy.DefaultV1(), wide, whole, near, alone, still, flat}
	pickers := map[string]picker{byTurn: plain.PerTurn, byRecursion: plain.Nearby}

	dbs := plainDatabases(t)
	looked := map[string]int{}
	for n, s := range []shape{{seed: 1, length: 300}, {seed: 2, length: 40, crossing: 8}, {seed: 3, length: 300, hub: 120}, {seed: 4, length: 7, crossing: 2}} {
		drafts := newGenerator(s).drafts(300)
		view := inGraph(t, drafts)
		for kind, db := range dbs {
			db = db.Tenant(dag.Tenant(fmt.Sprint("t", n)))
			if err := db.Load(t.Context(), drafts); err != nil {
				t.Fatal(err)
			}
			if err := db.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i := n; i < len(drafts); i += 140 {
				anchor := drafts[i].ID
				for _, p := range policies {
					want := selected(t, view, anchor, p)
					for name, pick := range pickers {
						got, err := pick(t.Context(), db, anchor, p)
						if err != nil {
							t.Fatal(err)
						}
						if !slices.Equal(got, want) {
							t.Errorf("%s, %s, %+v, %+v: got %d turns, want %d", kind, name, s, p, len(got), len(want))
						}
						looked[kind+name] += len(got)
					}
				}
			}
			checkTexts(t, db, drafts)
		}
	}
	for kind := range dbs {
		for name := range pickers {
			if looked[kind+name] < 3_000 {
				t.Errorf("%s, %s: compared %d turns only", kind, name, looked[kind+name])
			}
		}
	}
	pgtest.Need(t) // now that SQLite has been looked at
}

func selected(t *testing.T, v dag.View, anchor dag.TurnID, p policy.SlicePolicyV1) []dag.TurnID {
	t.Helper()
	picks, err := slice.Select(v, anchor, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]dag.TurnID, len(picks))
	for i := range picks {
		ids[i] = v.ID(picks[i].Node)
	}
	return ids
}

func checkTexts(t *testing.T, db plain.Database, drafts []dag.Draft) {
	t.Helper()
	ids := make([]dag.TurnID, len(drafts))
	for i := range drafts {
		ids[i] = drafts[i].ID
	}
	texts, err := db.Texts(t.Context(), ids)
	if err != nil || len(texts) != len(drafts) {
		t.Fatalf("got %d texts, %v, want %d", len(texts), err, len(drafts))
	}
	for i := range drafts {
		if texts[drafts[i].ID] != drafts[i].Content {
			t.Fatalf("turn %s has the text %q", drafts[i].ID, texts[drafts[i].ID])
		}
	}
}

// TestSuite runs every group, small.
func TestSuite(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := &report{out: &out}
	s := suite{
		sizes: []int{600, 1_200}, length: 200, nodes: 32, rounds: 2, memory: 2_000, imported: 600, crossing: 1_000, hub: 100, leaves: 700, facts: 4_000, believed: []int{128, 256}, items: 40, many: 60, searched: []int{600, 1_200},
		clients: []int{1, 3}, each: 30 * time.Millisecond, fleeting: true,
	}
	if err := s.run(t.Context(), r, t.TempDir()); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	titles := []string{
		"skeleton: ", "Import of 600", "Issuing slices of 32 turns", "Verifying a bundle of 32 turns", "Appending to a ledger of 700 leaves", "Learning 4000 facts", "of 4000 facts", "index of words of 600 turns", "The best 10 of 1200 turns", "Searching 1200 turns beside 600", "Contexts of 8000 tokens among 1200 turns", "Clients that search 1200 turns", "An erasure among 1200 turns", "Pages of the console, 1200 turns", "Beliefs of a space of 60 items with 180 revisions", "Loading 600 turns", "Loading 1200 turns", "Slices of 32 turns", "1200 turns beside 600", "Clients at once",
		"First slice of 32 turns", "Opening", "a parent in another conversation", "a turn with 100 children", "SQLite, " + byTurn,
	}
	if pgtest.Available() == nil {
		titles = append(titles, "PostgreSQL, "+byRecursion)
	}
	for _, title := range titles {
		if !strings.Contains(out.String(), title) {
			t.Errorf("the report says nothing of %q:\n%s", title, out.String())
		}
	}
	if r.held+r.missed < 20 {
		t.Errorf("%d bounds held, %d missed", r.held, r.missed)
	}
	pgtest.Need(t)
}

func TestReport(t *testing.T) {
	rows := []row{
		{name: "one", p50: 1_234_567, p99: 98_765_432, ratio: 0.03125, to: "two", bounds: []bound{{"≤ 1ms", false}, {"≤ 1/5 of it", true}}},
		{name: "two", p50: 40 * time.Millisecond, p99: time.Second, ratio: 1, to: "two", bounds: []bound{{"≤ 1s", true}}},
	}
	var out bytes.Buffer
	r := &report{out: &out, markdown: true}
	r.table("Both", rows)
	const want = `
### Both

| work | p50 | p99 | ratio | bound |  |
| --- | --- | --- | --- | --- | --- |
| one | 1.23ms | 98.8ms | 1/32 of two | ≤ 1ms, ≤ 1/5 of it | missed ≤ 1ms |
| two | 40ms | 1s | 1 × two | ≤ 1s | held |
`
	if got := out.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if r.held != 2 || r.missed != 1 {
		t.Errorf("%d bounds held, %d missed, want 2 and 1", r.held, r.missed)
	}
}

// TestOtherAnswer holds that a benchmark stops at an alternative that selects anything else.
func TestOtherAnswer(t *testing.T) {
	ctx := t.Context()
	y := &yard{folder: t.TempDir()}
	beds, err := y.beds(ctx, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := beds[0].close(); err != nil {
			t.Error(err)
		}
	})
	g, err := conversations(1_000, 200, 32)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := standOf(ctx, g, beds); err == nil || !strings.Contains(err.Error(), "no anchors") {
		t.Errorf("without anchors: got %v", err)
	}
	if g, err = conversations(1_000, 200, 32); err != nil {
		t.Fatal(err)
	}
	if _, err := load(ctx, g, beds); err != nil {
		t.Fatal(err)
	}
	stands, err := standOf(ctx, g, beds)
	if err != nil {
		t.Fatal(err)
	}
	swapped := func(ctx context.Context, db plain.Database, anchor dag.TurnID, p policy.SlicePolicyV1) ([]dag.TurnID, error) {
		ids, err := plain.PerTurn(ctx, db, anchor, p)
		if err == nil {
			ids[3], ids[4] = ids[4], ids[3]
		}
		return ids, err
	}
	right, wrong := stands[0].alternative("right", plain.PerTurn), stands[0].alternative("wrong", swapped)
	if err := right.warm(ctx, len(g.anchors)); err != nil {
		t.Error(err)
	}
	if err := wrong.warm(ctx, 1); err == nil || !strings.Contains(err.Error(), "wrong") {
		t.Errorf("got %v, want a refusal", err)
	}
}

// TestGenerator holds that a shape decides every turn, and that it is as it says.
func TestGenerator(t *testing.T) {
	s := shape{seed: 5, length: 1_500, crossing: 20, hub: 600}
	drafts := newGenerator(s).drafts(5_000)
	if got, want := fmt.Sprintf("%x", digest(drafts)), fmt.Sprintf("%x", digest(newGenerator(s).drafts(5_000))); got != want {
		t.Errorf("got %s and then %s", want, got)
	}
	of := map[dag.TurnID]dag.ConversationID{}
	children := map[dag.TurnID]int{}
	crossed := 0
	for i := range drafts {
		for _, p := range drafts[i].Parents {
			in, before := of[p.ID]
			if !before {
				t.Fatalf("turn %d has a parent that does not come before it", i)
			}
			if in != drafts[i].Conversation {
				crossed++
			}
			children[p.ID]++
		}
		of[drafts[i].ID] = drafts[i].Conversation
	}
	if got := children[drafts[150].ID]; got < 600 || got > 605 {
		t.Errorf("the hub has %d children, want 600", got)
	}
	if crossed < 100 || crossed > 300 {
		t.Errorf("%d edges cross, want one in 20 of 3500 turns", crossed)
	}
}

func digest(drafts []dag.Draft) [32]byte {
	h := sha256.New()
	for i := range drafts {
		d := drafts[i]
		fmt.Fprintf(h, "%s %x\n", d.ID, *d.Salt)
		d.Salt = nil
		fmt.Fprintf(h, "%v\n", d)
	}
	return [32]byte(h.Sum(nil))
}

func TestReadIRC(t *testing.T) {
	const lines = `{"id": "2004-12-25.a#7", "parents": [], "doc": "2004-12-25.a", "line": 7, "time": null, "author": null, "kind": "system", "text": "=== joined"}
{"id": "2004-12-25.a#8", "parents": ["2004-12-25.a#7"], "doc": "2004-12-25.a", "line": 8, "time": "03:21", "author": "ann", "kind": "msg", "text": "hello"}
{"id": "two.dev#9", "parents": [], "doc": "two.dev", "line": 9, "author": "bo", "kind": "msg", "text": "hi"}
`
	drafts, err := readIRC(strings.NewReader(lines))
	if err != nil || len(drafts) != 3 {
		t.Fatalf("got %d turns, %v", len(drafts), err)
	}
	a, b := &drafts[0], &drafts[1]
	if a.Role != dag.RoleSystem || b.Role != dag.RoleUser || b.Author != "ann" || b.Content != "hello" || a.Conversation != b.Conversation ||
		b.CreatedAt.String() != "2004-12-25T00:00:08.000000Z" || !slices.Equal(b.Parents, []dag.Parent{{ID: a.ID, Kind: dag.Reply}}) {
		t.Errorf("got %+v, %+v", a, b)
	}
	if _, err := readIRC(strings.NewReader(lines + "{")); err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("got %v, want the line named", err)
	}
}
