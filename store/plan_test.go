package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// plan is what a back end does with its look-ups, on a map.
func plan(stored map[dag.TurnID]*store.Record, head dag.Seq, batches []store.Batch) ([]store.Record, store.Receipt, error) {
	p, err := store.Prepare(batches)
	if err != nil {
		return nil, store.Receipt{}, err
	}
	k := store.Known{Head: head, Stored: map[dag.TurnID]*store.Record{}, Parents: map[dag.TurnID]dag.ConversationID{}}
	for _, id := range p.Arriving() {
		if r := stored[id]; r != nil {
			k.Stored[id] = r
		}
	}
	for _, id := range p.Beyond() {
		if r := stored[id]; r != nil {
			k.Parents[id] = r.Turn.Conversation
		}
	}
	return p.Plan(k)
}

// TestPlan compares Plan with the slow way to say the same.
func TestPlan(t *testing.T) {
	counts := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		stored := map[dag.TurnID]*store.Record{}
		head := dag.Seq(0)
		for range 6 {
			batches := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(drawArrival), 0, 8), 1, 3).Draw(rt, "batches")
			call := make([]store.Batch, len(batches))
			for i, b := range batches {
				call[i] = b
			}
			want, wantExisting, wantErr := slow(stored, call)
			got, receipt, err := plan(stored, head, call)
			if kind(err) != wantErr {
				rt.Fatalf("got the error %v, want %s", err, wantErr)
			}
			counts[wantErr]++
			if err != nil {
				if got != nil || receipt != (store.Receipt{}) {
					rt.Fatalf("%d records and %+v beside the error %v", len(got), receipt, err)
				}
				continue
			}
			edges := 0
			for i := range got {
				r := &got[i]
				if i >= len(want) || r.Turn != want[i].Turn || r.Seq != head+dag.Seq(i)+1 || string(r.Body) != string(want[i].Body) || r.Salt != want[i].Salt {
					rt.Fatalf("record %d is %+v", i, r)
				}
				if r.Leaf != slice.TurnLeaf(&r.Turn) || len(r.Parents) != len(want[i].Parents) {
					rt.Fatalf("record %d has another leaf or %d parents", i, len(r.Parents))
				}
				for j, p := range r.Parents {
					stored := stored[p.ID]
					if at := slices.IndexFunc(got[:i], func(r store.Record) bool { return r.Turn.ID == p.ID }); at >= 0 {
						stored = &got[at]
					}
					if p.ID != want[i].Parents[j].ID || stored == nil || p.Conversation != stored.Turn.Conversation || p.Leaf != slice.EdgeLeaf(dag.Edge{Parent: p.ID, Child: r.Turn.ID, Kind: p.Kind}) {
						rt.Fatalf("record %d has the parent %+v", i, p)
					}
				}
				edges += len(r.Parents)
			}
			if w := (store.Receipt{Admitted: len(want), Existing: wantExisting, Edges: edges, Head: head + dag.Seq(len(want))}); receipt != w {
				rt.Fatalf("got %+v, want %+v", receipt, w)
			}
			counts["admitted"] += len(want)
			counts["existing"] += wantExisting
			head = receipt.Head
			for i := range got {
				if got[i].Turn.ID[15]%5 == 0 { // erased at once
					got[i].Body, got[i].Salt = nil, dag.Salt{}
				}
				stored[got[i].Turn.ID] = &got[i]
			}
		}
	})
	for _, what := range []string{"", "conflict", "parent", "cycle", "admitted", "existing"} {
		if counts[what] == 0 && !testing.Short() { // the short form draws too few for all of them
			t.Errorf("nothing of the kind %q was tried: %v", what, counts)
		}
	}
}

func drawArrival(rt *rapid.T) store.Arrival {
	n := rapid.IntRange(1, 9).Draw(rt, "turn")
	var parents []int
	switch odd := rapid.IntRange(0, 30).Draw(rt, "parents"); {
	case odd == 13:
		parents = []int{1 + n%9} // may close a cycle
	case odd == 14:
		parents = []int{n}
	case odd == 15:
		parents = []int{70}
	case n%3 == 2:
		parents = []int{n - 1}
	case n%3 == 0:
		parents = []int{n - 2, n - 1}
	}
	content := "text"
	if rapid.IntRange(0, 30).Draw(rt, "content") == 17 {
		content = "another"
	}
	a := storetest.Arrival(n, n%2, content, parents...)
	a.Turn.CreatedAt = dag.Time(n * 5 % 3)
	for i := range a.Parents {
		a.Parents[i].Kind = dag.Reply
	}
	if rapid.Bool().Draw(rt, "reversed") {
		slices.Reverse(a.Parents)
	}
	switch rapid.IntRange(0, 6).Draw(rt, "body") {
	case 3:
		return storetest.Withheld(a)
	case 4, 5:
		return storetest.Drawn(a, rapid.IntRange(100, 101).Draw(rt, "salt"))
	}
	return a
}

func kind(err error) string {
	var conflict *store.ConflictError
	var parent *store.ParentError
	var cycle *store.CycleError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &conflict):
		return "conflict"
	case errors.As(err, &parent):
		return "parent"
	case errors.As(err, &cycle):
		return "cycle"
	}
	return err.Error()
}

// slow is Append by nested loops. It returns the arrivals in the order of
// admission.
func slow(stored map[dag.TurnID]*store.Record, batches []store.Batch) (admitted []store.Arrival, existing int, fault string) {
	distinct := make([]store.Batch, len(batches))
	for i, b := range batches {
		var ok bool
		if distinct[i], ok = slowJoin(b); !ok {
			return nil, 0, "conflict"
		}
	}
	find := func(id dag.TurnID) *store.Arrival {
		for i := range admitted {
			if admitted[i].Turn.ID == id {
				return &admitted[i]
			}
		}
		if r := stored[id]; r != nil {
			a := &store.Arrival{Turn: r.Turn, Body: r.Body, Salt: r.Salt}
			for _, p := range r.Parents {
				a.Parents = append(a.Parents, dag.Parent{ID: p.ID, Kind: p.Kind})
			}
			return a
		}
		return nil
	}
	for _, b := range distinct {
		var fresh store.Batch
		for _, a := range b {
			switch was := find(a.Turn.ID); {
			case was == nil:
				fresh = append(fresh, a)
			case !slowSame(*was, a):
				return nil, 0, "conflict"
			default:
				existing++
			}
		}
		for _, a := range fresh {
			for _, p := range a.Parents {
				beside := slices.ContainsFunc(fresh, func(other store.Arrival) bool { return other.Turn.ID == p.ID })
				if !beside && find(p.ID) == nil {
					return nil, 0, "parent"
				}
			}
		}
		for len(fresh) > 0 {
			best := -1
			for i, a := range fresh {
				ready := !slices.ContainsFunc(a.Parents, func(p dag.Parent) bool { return find(p.ID) == nil })
				if ready && (best < 0 || a.Turn.CreatedAt < fresh[best].Turn.CreatedAt ||
					a.Turn.CreatedAt == fresh[best].Turn.CreatedAt && a.Turn.ID.Compare(fresh[best].Turn.ID) < 0) {
					best = i
				}
			}
			if best < 0 {
				return nil, 0, "cycle"
			}
			admitted = append(admitted, fresh[best])
			fresh = slices.Delete(fresh, best, best+1)
		}
	}
	return admitted, existing, ""
}

// slowJoin leaves one arrival of each turn: any that came with its salt, or
// else any withheld one, or else the drawn one with the smallest digest.
func slowJoin(b store.Batch) (joined store.Batch, ok bool) {
	for i, a := range b {
		same := slices.DeleteFunc(slices.Clone(b), func(other store.Arrival) bool { return other.Turn.ID != a.Turn.ID })
		if slices.ContainsFunc(b[:i], func(other store.Arrival) bool { return other.Turn.ID == a.Turn.ID }) {
			continue
		}
		var best *store.Arrival
		for _, want := range []func(*store.Arrival) bool{
			func(a *store.Arrival) bool { return a.Body != nil && !a.SaltDrawn },
			func(a *store.Arrival) bool { return a.Body == nil },
			func(a *store.Arrival) bool { return true },
		} {
			for j := range same {
				if c := &same[j]; best == nil && want(c) && !slices.ContainsFunc(same, func(o store.Arrival) bool {
					return want(&o) && o.Turn.BodyDigest.String() < c.Turn.BodyDigest.String()
				}) {
					best = c
				}
			}
		}
		for _, other := range same {
			if !slowSame(*best, other) {
				return nil, false
			}
		}
		joined = append(joined, *best)
	}
	return joined, true
}

func slowSame(was, a store.Arrival) bool {
	for _, p := range a.Parents {
		if !slices.Contains(was.Parents, p) {
			return false
		}
	}
	if len(a.Parents) != len(was.Parents) {
		return false
	}
	x, y := was.Turn, a.Turn
	if a.SaltDrawn {
		if was.Body != nil && string(was.Body) != string(a.Body) {
			return false
		}
		x.BodyDigest, y.BodyDigest = dag.Digest{}, dag.Digest{}
	}
	return x == y
}

// TestPlanRunsOut is a tenant just below the last sequence number.
func TestPlanRunsOut(t *testing.T) {
	batch := []store.Batch{storetest.Chain(1, 3, 0)}
	records, receipt, err := plan(nil, dag.MaxSeq-3, batch)
	if err != nil || receipt.Head != dag.MaxSeq || records[2].Seq != dag.MaxSeq {
		t.Errorf("three turns for three numbers: %+v, %v", receipt, err)
	}
	if records, _, err := plan(nil, dag.MaxSeq-2, batch); err == nil {
		t.Errorf("three turns got two numbers: %d records", len(records))
	}
	if _, _, err := plan(nil, math.MaxUint64-1, nil); err != nil {
		t.Errorf("nothing for no number: %v", err)
	}
}

// TestPlanIgnoresOrder admits one batch in every order of its arrivals.
func TestPlanIgnoresOrder(t *testing.T) {
	b := store.Batch{
		storetest.Arrival(1, 0, "root"), storetest.Arrival(2, 0, "a", 1), storetest.Arrival(3, 1, "b", 1),
		storetest.Arrival(4, 0, "c", 2, 3), storetest.Arrival(5, 0, "another root"),
	}
	var want []store.Record
	permute(b, func(b []store.Arrival) {
		got, _, err := plan(nil, 0, []store.Batch{b})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !slices.EqualFunc(got, want, func(a, b store.Record) bool { return a.Turn == b.Turn && a.Seq == b.Seq }) {
			t.Fatalf("another order of arrivals gave another order of admission: %v, was %v", got, want)
		}
	})
}

func permute[T any](s []T, fn func([]T)) {
	if len(s) == 0 {
		fn(s)
		return
	}
	var walk func(n int)
	walk = func(n int) {
		if n == len(s) {
			fn(slices.Clone(s))
			return
		}
		for i := n; i < len(s); i++ {
			s[n], s[i] = s[i], s[n]
			walk(n + 1)
			s[n], s[i] = s[i], s[n]
		}
	}
	walk(0)
}

// TestPlanLongChain needs neither a deep stack nor more than a moment.
func TestPlanLongChain(t *testing.T) {
	b := storetest.Chain(1, 50_000, 0)
	slices.Reverse(b)
	if _, receipt, err := plan(nil, 0, []store.Batch{b}); err != nil || receipt.Admitted != len(b) {
		t.Errorf("%+v, %v", receipt, err)
	}
	b[len(b)-1] = storetest.Arrival(1, 0, "the first after the last", 50_000)
	var cycle *store.CycleError
	if _, _, err := plan(nil, 0, []store.Batch{b}); !errors.As(err, &cycle) {
		t.Errorf("got %v, want a CycleError", err)
	}
}

func TestPrefixRange(t *testing.T) {
	first, last, ok := store.PrefixRange("0a1")
	if !ok || first.String() != "0a100000-0000-0000-0000-000000000000" || last.String() != "0a1fffff-ffff-ffff-ffff-ffffffffffff" {
		t.Errorf("got %s, %s, %v", first, last, ok)
	}
	id := storetest.TurnID(1)
	for n := range len(id.String()) + 1 {
		first, last, ok := store.PrefixRange(id.String()[:n])
		if !ok || first.Compare(id) > 0 || last.Compare(id) < 0 || first.String()[:n] != id.String()[:n] || last.String()[:n] != id.String()[:n] {
			t.Errorf("%q: got %s, %s, %v", id.String()[:n], first, last, ok)
		}
	}
}

// TestKeyOf makes sure that the keys of all digests with a beginning are between the first and the last key of the beginning, and no others.
func TestKeyOf(t *testing.T) {
	digits := "0123456789abcdef"
	digest := func(r *rand.Rand, n int) string {
		d := make([]byte, n)
		for i := range d {
			d[i] = digits[r.IntN(16)]
		}
		return string(d)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := digest(r, []int{40, 64}[r.IntN(2)]), digest(r, 40)
		n := 1 + r.IntN(20)
		if r.IntN(2) == 0 {
			b = a[:n] + b[n:]
		}
		p := store.ExternalPrefix(a[:n])
		first, last, ok := p.Keys()
		key := store.KeyOf(b)
		within := bytes.Compare(first[:], key[:]) <= 0 && bytes.Compare(key[:], last[:]) <= 0
		if !ok || within != strings.HasPrefix(b, a[:min(n, 16)]) || p.Has(b) != strings.HasPrefix(b, a[:n]) {
			t.Fatalf("%s of %s: %x to %x, %v, and the key is %x; has: %v", b, p, first, last, ok, key, p.Has(b))
		}
	}
	sum := sha256.Sum256([]byte("name"))
	if key := store.KeyOf("name"); !bytes.Equal(key[:], sum[:8]) {
		t.Errorf("the key of a name is %x", key)
	}
	for _, p := range []store.ExternalPrefix{"", "g", "A", "0-", store.ExternalPrefix(strings.Repeat("0", 65))} {
		if _, _, ok := p.Keys(); ok || p.Has(strings.Repeat("0", 64)) {
			t.Errorf("%q is the beginning of a digest", p)
		}
	}
}

func TestDistinct(t *testing.T) {
	a, b := storetest.ConversationID(1), storetest.ConversationID(2)
	parts := []store.Part{{Conversation: b, After: 5}, {Conversation: a, After: 9}, {Conversation: b, After: 3}}
	got := store.Distinct(parts)
	want := []store.Part{{Conversation: a, After: 9}, {Conversation: b, After: 3}}
	if a.Compare(b) > 0 {
		slices.Reverse(want)
	}
	if !slices.Equal(got, want) || parts[0].After != 5 {
		t.Errorf("got %v, want %v", got, want)
	}
}
