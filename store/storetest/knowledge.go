package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// testActs tests the outcomes of all kinds of acts.
func testActs(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	at := dag.Time(1_700_000_000_000_000)
	put := func(want string, acts ...knowledge.Act) {
		t.Helper()
		got := ""
		outcomes, err := Facts(s).Learn(ctx, Tenant, acts, at)
		for _, o := range outcomes {
			got += fmt.Sprintf("%s %d ", o.Result, o.Seq)
		}
		if err != nil || got != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	low, high := Assertion(1, 1, 2, 300_000, "user"), Assertion(1, 1, 2, 800_000, "llm:m")
	other := Assertion(1, 1, 3, 500_000, "user")
	retract := knowledge.Act{Kind: knowledge.Retract, Statement: low.Fact.ID(), Reason: "no"}
	put("asserted 1 ", low)
	put("existing 0 ", low)
	if _, err := s.Append(ctx, Tenant, []store.Batch{{Arrival(1, 1, "a turn")}}); err != nil {
		t.Fatal(err)
	}
	put("confirmed 3 existing 0 ", high, high)
	put("existing 0 ", low) // its version has ended, its belief has not
	if head, err := s.Head(ctx, Tenant); err != nil || head != 3 {
		t.Errorf("the head is %d, %v", head, err)
	}
	replacing := other
	replacing.Supersedes = []knowledge.ID{low.Fact.ID()}
	put("asserted 4 ", replacing)
	refused := func(want error, acts ...knowledge.Act) {
		t.Helper()
		if outcomes, err := Facts(s).Learn(ctx, Tenant, acts, at); !errors.Is(err, want) || len(outcomes) > 0 {
			t.Errorf("%v, %v, want %v", outcomes, err, want)
		}
	}
	again := Assertion(1, 1, 4, 500_000, "user")
	again.Supersedes = []knowledge.ID{low.Fact.ID()}
	refused(knowledge.ErrNotBelieved, Assertion(9, 1, 9, 1, "user"), again)
	refused(knowledge.ErrForm, Assertion(9, 1, 9, 1, "user"), knowledge.Act{Kind: "other"})
	refused(knowledge.ErrForm, make([]knowledge.Act, knowledge.MaxBatch+1)...)
	put("absent 0 ", retract)
	put("asserted 5 retracted 6 asserted 7 ", low, retract, low)
	alias := knowledge.Act{Kind: knowledge.Alias, Alias: "ee-two", Canonical: "e2"}
	unalias := knowledge.Act{Kind: knowledge.Unalias, Alias: "ee-two", Canonical: "e2"}
	put("aliased 8 existing 0 unaliased 9 absent 0 aliased 10 ", alias, alias, unalias, unalias, alias)
	if acts, err := Facts(s).Aliases(ctx, Tenant, 8); err != nil || len(acts) != 2 || acts[0].Seq != 9 || acts[1].Seq != 10 || !reflect.DeepEqual(acts[1].Act, alias) || acts[1].At != at {
		t.Errorf("aliases: %+v, %v", acts, err)
	}
	acts, err := Facts(s).ActsOf(ctx, Tenant, low.Fact.ID(), 1, 3)
	if err != nil || len(acts) != 3 || acts[0].Seq != 3 || acts[0].Until != 4 || acts[1].Seq != 5 || acts[1].Until != 6 || acts[2].Seq != 6 || acts[2].Until != 0 {
		t.Errorf("acts of a statement: %+v, %v", acts, err)
	}
	if acts, err := Acts(ctx, s, Tenant, 3, 1); err != nil || len(acts) != 1 || !reflect.DeepEqual(acts[0].Act, replacing) || acts[0].Until != dag.MaxSeq {
		t.Errorf("acts: %+v, %v", acts, err)
	}
	all, err := Acts(ctx, s, Tenant, 0, 99)
	if err != nil || len(all) != 9 {
		t.Fatalf("%d acts, %v", len(all), err)
	}
	for _, seqs := range [][]dag.Seq{nil, {1}, {10, 1, 4}, {3, 3, 3}, {0, 11, 5, dag.MaxSeq, math.MaxUint64}, {12}} {
		var want []knowledge.Recorded
		for _, r := range all {
			if slices.Contains(seqs, r.Seq) {
				want = append(want, r)
			}
		}
		got, err := Facts(s).ActsAt(ctx, Tenant, seqs)
		if err := errors.Join(err, Facts(s).Complete(ctx, Tenant, got)); err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("acts at %d: %+v, %v, want %+v", seqs, got, err, want)
		}
		if got, err := Facts(s).ActsAt(ctx, "other", seqs); err != nil || len(got) != 0 {
			t.Errorf("acts of another tenant: %+v, %v", got, err)
		}
	}
	for _, tenant := range []dag.Tenant{"other", "nobody"} {
		if acts, err := Acts(ctx, s, tenant, 0, 9); err != nil || len(acts) != 0 {
			t.Errorf("tenant %s: %v, %v", tenant, acts, err)
		}
	}
	if err := SameKnowledge(ctx, s, Tenant); err != nil {
		t.Error(err)
	}
}

// testLongActs records the longest fact: three texts with every byte escaped, superseding as many statements as one request asserts.
func testLongActs(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	var old []knowledge.Act
	var ids []knowledge.ID
	for n := range knowledge.MaxActs {
		old = append(old, Assertion(n, 1, n, dag.One, "user"))
		ids = append(ids, old[n].Fact.ID())
	}
	if _, err := Facts(s).Learn(ctx, Tenant, old, 1); err != nil {
		t.Fatal(err)
	}
	text := func(first byte) string { return string(first) + strings.Repeat("\x00", knowledge.MaxText-1) }
	longest := Assertion(0, 1, 0, dag.One, strings.Repeat("s", knowledge.MaxSource))
	longest.Supersedes = knowledge.SortIDs(ids)
	f := &longest.Fact
	for _, n := range []struct {
		name, written *string
		text          string
	}{{&f.Subject, &f.Written.Subject, text(1)}, {&f.Predicate, &f.Written.Predicate, text(2)}, {&f.Object, &f.Written.Object, text(3)}} {
		name, err := normalize.Text(n.text)
		if err != nil {
			t.Fatal(err)
		}
		*n.name, *n.written = name, n.text
	}
	if _, err := Facts(s).Learn(ctx, Tenant, []knowledge.Act{longest}, 2); err != nil {
		t.Fatalf("a fact of %d bytes: %v", len(longest.Append(nil)), err)
	}
	id := f.ID()
	acts, err := Facts(s).ActsOf(ctx, Tenant, id, 0, 9)
	if err != nil || len(acts) != 1 || !reflect.DeepEqual(acts[0].Act, longest) {
		t.Errorf("%d acts, %v", len(acts), err)
	}
	if list, total, err := Facts(s).Versions(ctx, Tenant, knowledge.Find{Filter: knowledge.Filter{AsOf: knowledge.MaxActs + 1}, Limit: 9}); err != nil || total != 1 || len(list) != 1 {
		t.Errorf("%d of %d statements are believed, %v", len(list), total, err)
	}
}

// testKnowledge compares random acts with a plain replay, as of every number, and listings
// with a walk through the acts.
func testKnowledge(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	evidence(t, s)
	r := rand.New(rand.NewPCG(5, 6))
	superseded, refusals := 0, 0
	for n := range 60 {
		var acts []knowledge.Act
		for range 1 + r.IntN(8) {
			acts = append(acts, RandomAct(r))
		}
		if n%3 == 0 { // supersede something that is believed
			list, _, err := Facts(s).Versions(ctx, Tenant, knowledge.Find{Filter: knowledge.Filter{AsOf: dag.MaxSeq - 1}, Limit: 50})
			if err != nil {
				t.Fatal(err)
			}
			a := Assertion(r.IntN(6), 7, n, 400_000, "user")
			for range min(2, len(list)) {
				a.Supersedes = append(a.Supersedes, list[r.IntN(len(list))].Act.Fact.ID())
			}
			a.Supersedes = knowledge.SortIDs(a.Supersedes)
			superseded += len(a.Supersedes)
			acts = append([]knowledge.Act{a}, acts...)
		}
		if n%5 == 0 {
			if _, err := s.Append(ctx, Tenant, []store.Batch{{Arrival(100+n, 1, "between")}}); err != nil {
				t.Fatal(err)
			}
		}
		wrong := aliasesRefuse(t, s, acts)
		if _, err := Facts(s).Learn(ctx, Tenant, acts, dag.Time(n)); (err != nil) != wrong && !errors.Is(err, knowledge.ErrNotBelieved) {
			t.Fatalf("acts whose aliases are to be refused, %v: %v", wrong, err)
		} else if wrong {
			refusals++
		}
	}
	if superseded == 0 || refusals == 0 {
		t.Errorf("%d superseded, %d refused: this test shows less than it should", superseded, refusals)
	}
	if err := SameKnowledge(ctx, s, Tenant); err != nil {
		t.Fatal(err)
	}
	checkVersions(t, s, r)
	checkPaging(t, s, r)
	checkSpans(t, s, r)
}

// checkSpans reads the acts of statements, several at once, some of them twice and some without acts, and compares them with the list of all acts.
func checkSpans(t *testing.T, s store.Store, r *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	acts, err := Acts(ctx, s, Tenant, 0, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for range 50 {
		spans := make([]knowledge.Span, r.IntN(12))
		for i := range spans {
			spans[i].UpTo = dag.Seq(r.Uint64N(uint64(acts[len(acts)-1].Seq) + 3))
			if r.IntN(2) == 0 {
				spans[i].After = dag.Seq(r.Uint64N(uint64(spans[i].UpTo) + 2))
			}
			if r.IntN(3) == 0 {
				spans[i].UpTo = dag.MaxSeq
			}
			spans[i].Statement, _ = acts[r.IntN(len(acts))].Act.About()
		}
		lists, err := Facts(s).ActsIn(ctx, Tenant, spans)
		if err != nil || len(lists) != len(spans) {
			t.Fatalf("%d lists of %d spans, %v", len(lists), len(spans), err)
		}
		for i, span := range spans {
			var want []knowledge.Recorded
			for _, a := range acts {
				if id, ok := a.Act.About(); ok && id == span.Statement && span.After < a.Seq && a.Seq <= span.UpTo {
					want = append(want, a)
				}
			}
			if len(lists[i]) != len(want) || len(want) > 0 && !reflect.DeepEqual(lists[i], want) {
				t.Errorf("%+v: got %+v, want %+v", span, lists[i], want)
			}
			found += len(want)
		}
	}
	if found < 100 {
		t.Errorf("only %d acts were found: this test shows less than it should", found)
	}
	if lists, err := Facts(s).ActsIn(ctx, "nobody", []knowledge.Span{{UpTo: dag.MaxSeq}, {}}); err != nil || len(lists) != 2 || len(lists[0])+len(lists[1]) != 0 {
		t.Errorf("of nobody: %+v, %v", lists, err)
	}
	if _, err := Facts(s).ActsIn(ctx, Tenant, make([]knowledge.Span, knowledge.MaxAsks+1)); !errors.Is(err, dag.ErrForm) {
		t.Errorf("too many spans: %v, want dag.ErrForm", err)
	}
}

// evidence admits the turns that random acts name.
func evidence(t *testing.T, s store.Store) {
	t.Helper()
	if _, err := s.Append(context.Background(), Tenant, []store.Batch{{Arrival(1, 1, "one"), Arrival(2, 1, "two"), Arrival(3, 1, "three")}}); err != nil {
		t.Fatal(err)
	}
}

// aliasesRefuse reports whether acts about aliases must be refused: after the recorded ones, one of them makes a name stand for two.
func aliasesRefuse(t *testing.T, s store.Store, acts []knowledge.Act) bool {
	t.Helper()
	recorded, err := Facts(s).Aliases(context.Background(), Tenant, 0)
	if err != nil {
		t.Fatal(err)
	}
	stands := map[string]string{}
	for _, r := range recorded {
		if stands[r.Act.Alias] = r.Act.Canonical; r.Act.Kind == knowledge.Unalias {
			delete(stands, r.Act.Alias)
		}
	}
	for _, a := range acts {
		was, ok := stands[a.Alias]
		switch {
		case a.Kind == knowledge.Alias && !ok:
			stands[a.Alias] = a.Canonical
		case (a.Kind == knowledge.Alias || a.Kind == knowledge.Unalias) && ok && was != a.Canonical:
			return true
		case a.Kind == knowledge.Unalias:
			delete(stands, a.Alias)
		}
	}
	return false
}

// checkVersions reads listings with every filter.
func checkVersions(t *testing.T, s store.Store, r *rand.Rand) {
	ctx := context.Background()
	acts, err := Acts(ctx, s, Tenant, 0, 1<<30)
	if err != nil || len(acts) < 50 {
		t.Fatalf("%d acts, %v", len(acts), err)
	}
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	found := 0
	for range 400 {
		f := knowledge.Find{Limit: 1 + r.IntN(9)}
		f.AsOf = dag.Seq(r.IntN(int(acts[len(acts)-1].Seq) + 3))
		if maybe(3) {
			f.Subjects = []string{fmt.Sprintf("e%d", r.IntN(7)), fmt.Sprintf("e%d", r.IntN(7))}
		}
		if maybe(4) {
			f.Objects = []string{fmt.Sprintf("e%d", r.IntN(7))}
		}
		if maybe(4) {
			f.Either = []string{fmt.Sprintf("e%d", r.IntN(7))}
		}
		if maybe(3) {
			f.Predicates = []string{"p1", "p7"}[:1+r.IntN(2)]
		}
		if maybe(3) {
			f.MinConfidence = dag.PPM(r.IntN(600_001))
		}
		if maybe(3) {
			at := dag.Time(r.IntN(10))
			f.ValidAt = &at
		}
		if maybe(4) {
			f.Source = fmt.Sprintf("source-%d", r.IntN(3))
		}
		if maybe(6) {
			turn := TurnID(r.IntN(3) + 1)
			f.Turn = &turn
		}
		if a := acts[r.IntN(len(acts))].Act; maybe(8) && a.Kind == knowledge.Assert {
			id := a.Fact.ID()
			f.Statement = &id
		}
		if maybe(2) {
			f.After = dag.Seq(r.IntN(int(f.AsOf) + 1))
		}
		var want []knowledge.Recorded
		total := 0
		for i := range acts {
			v, ok := acts[i].Version()
			if !ok || !f.Matches(&v) {
				continue
			}
			if total++; acts[i].Seq > f.After && len(want) < f.Limit {
				want = append(want, acts[i])
			}
		}
		got, counted, err := Facts(s).Versions(ctx, Tenant, f)
		if err != nil || counted != total || len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v: %d of %d, %v\n%+v, want %d of %d\n%+v", f, len(got), counted, err, got, len(want), total, want)
		}
		found += len(got)
	}
	if found < 100 {
		t.Errorf("only %d versions were found: this test shows less than it should", found)
	}
}

// checkPaging reads edges in pages of every size.
func checkPaging(t *testing.T, s store.Store, r *rand.Rand) {
	ctx := context.Background()
	for _, incoming := range []bool{false, true} {
		ask := knowledge.Ask{Name: "e1", Incoming: incoming, Limit: 1 << 20}
		whole, err := Facts(s).Edges(ctx, Tenant, []knowledge.Ask{ask})
		if err != nil || len(whole[0]) < 10 {
			t.Fatalf("%d edges, %v", len(whole[0]), err)
		}
		for size := 1; size < len(whole[0])+2; size++ {
			var got []knowledge.Edge
			ask.After, ask.Limit = knowledge.Mark{}, size
			for {
				lists, err := Facts(s).Edges(ctx, Tenant, []knowledge.Ask{{Name: "nobody", Limit: 3}, ask, {Name: "e2", Limit: 1 + r.IntN(2)}})
				if err != nil || len(lists) != 3 || len(lists[0]) != 0 {
					t.Fatalf("%+v, %v", lists, err)
				}
				got = append(got, lists[1]...)
				if len(lists[1]) < size {
					break
				}
				ask.After = lists[1][len(lists[1])-1].Mark()
			}
			if !slices.Equal(got, whole[0]) {
				t.Fatalf("in pieces of %d: %d edges, want %d", size, len(got), len(whole[0]))
			}
		}
	}
	if _, err := Facts(s).Edges(ctx, Tenant, []knowledge.Ask{{Name: "e1"}}); err == nil {
		t.Error("a question without a limit was answered")
	}
}

// testActsConcurrent runs writers that supersede what they read: each link of the chain is made by one of them, and none is lost.
func testActsConcurrent(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	first := Assertion(0, 0, 0, 1, "user")
	if _, err := Facts(s).Learn(ctx, Tenant, []knowledge.Act{first}, 1); err != nil {
		t.Fatal(err)
	}
	const writers, each = 4, 8
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := 0; n < each; {
				list, _, err := Facts(s).Versions(ctx, Tenant, knowledge.Find{Filter: knowledge.Filter{AsOf: dag.MaxSeq - 1}, Limit: 9})
				if err != nil || len(list) != 1 {
					t.Errorf("%d statements are believed, %v, want 1", len(list), err)
					return
				}
				next := Assertion(0, 0, 1+w*each+n, 1, "user")
				next.Supersedes = []knowledge.ID{list[0].Act.Fact.ID()}
				switch _, err := Facts(s).Learn(ctx, Tenant, []knowledge.Act{next}, 1); {
				case err == nil:
					n++
				case !errors.Is(err, knowledge.ErrNotBelieved):
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	acts, err := Acts(ctx, s, Tenant, 0, 1<<20)
	if err != nil || len(acts) != 1+writers*each {
		t.Fatalf("%d acts, %v, want %d", len(acts), err, 1+writers*each)
	}
	for i := 1; i < len(acts); i++ {
		if acts[i].Act.Supersedes[0] != acts[i-1].Act.Fact.ID() || acts[i-1].Until != acts[i].Seq {
			t.Errorf("act %d does not follow on %d", acts[i].Seq, acts[i-1].Seq)
		}
	}
	if err := SameKnowledge(ctx, s, Tenant); err != nil {
		t.Error(err)
	}
}

// testAdoptActs adopts a history of acts and turns in stretches.
func testAdoptActs(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	evidence(t, s)
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 40 {
		if _, err := Facts(s).Learn(ctx, Tenant, []knowledge.Act{RandomAct(r), RandomAct(r)}, dag.Time(n)); err != nil {
			t.Logf("refused: %v", err)
		}
		if n%4 == 0 {
			if _, err := s.Append(ctx, Tenant, []store.Batch{{Arrival(100+n, 1, "between")}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	acts, err := Acts(ctx, s, Tenant, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var records []store.Record
	if err := s.Scan(ctx, Tenant, 0, nil, func(r *store.Record) error { records = append(records, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	head, err := s.Head(ctx, Tenant)
	if err != nil || int(head) != len(records)+len(acts) {
		t.Fatalf("the head is %d, %v, with %d turns and %d acts", head, err, len(records), len(acts))
	}
	const other = "adopting"
	entries, err := s.Entries(ctx, Tenant, history.Page{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	adopt := func(part Stretch) error {
		var err error
		if len(part.Entries) > 0 {
			if part.Change, err = kinds.All().Adopt(history.Known, part.Entries); err != nil {
				return err
			}
		}
		return Adopt(ctx, s, other, part)
	}
	inside := map[dag.Seq]bool{} // numbers inside a change
	for i := range entries {
		inside[entries[i].Seq] = entries[i].AsOf() != entries[i].Seq
	}
	to := dag.Seq(0)
	for from := dag.Seq(0); from < head; from = to {
		for to = min(from+7, head); inside[to]; to++ {
		}
		var part Stretch
		for _, r := range records {
			if r.Seq > from && r.Seq <= to {
				part.Records = append(part.Records, r)
			}
		}
		for _, e := range entries {
			if e.Seq > from && e.Seq <= to {
				part.Entries = append(part.Entries, e)
			}
		}
		spoil := func(name string, how func(e *history.Entry)) {
			spoiled := part
			spoiled.Entries = slices.Clone(part.Entries)
			if len(spoiled.Entries) == 0 {
				return
			}
			how(&spoiled.Entries[0])
			if err := adopt(spoiled); err == nil {
				t.Fatalf("%s was adopted", name)
			}
		}
		spoil("an entry of another kind", func(e *history.Entry) { e.Kind = "other/1" })
		spoil("an entry that is no act", func(e *history.Entry) { e.Public = append(slices.Clone(e.Public), ' ') })
		spoil("an entry of another number", func(e *history.Entry) { e.Seq += 100 })
		if len(part.Entries) > 0 {
			other := part
			other.Change, _ = kinds.All().Adopt(history.Known, part.Entries[:len(part.Entries)-1])
			if err := Adopt(ctx, s, "adopting", other); err == nil {
				t.Fatal("entries were adopted that the change does not come to")
			}
		}
		if err := adopt(part); err != nil {
			t.Fatalf("behind %d: %v", from, err)
		}
	}
	got, err := Acts(ctx, s, other, 0, 1<<20)
	if err != nil || !reflect.DeepEqual(got, acts) {
		t.Fatalf("%d acts were adopted, %v, want %d, the same", len(got), err, len(acts))
	}
	if err := SameKnowledge(ctx, s, other); err != nil {
		t.Error(err)
	}
}
