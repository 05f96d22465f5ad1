package normalize

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var none *Table
	table, outcomes, err := none.With(
		Change{Alias: "NYC", Canonical: "New York City"},
		Change{Alias: "Big Apple", Canonical: "new-york-city"},
		Change{Alias: "big-apple", Canonical: "NEW YORK CITY"},
		Change{Alias: "LA", Canonical: "Los Angeles"},
		Change{Alias: "la", Remove: true},
	)
	if err != nil || !slices.Equal(outcomes, []Outcome{Added, Added, Existing, Added, Removed}) {
		t.Fatal(outcomes, err)
	}
	checkTable(t, table, map[string]string{"nyc": "new-york-city", "big-apple": "new-york-city"})
	for _, name := range []string{"nyc", "big-apple", "new-york-city"} {
		if got := table.Members(name); !slices.Equal(got, []string{"new-york-city", "big-apple", "nyc"}) {
			t.Errorf("Members(%q) = %q", name, got)
		}
	}
	same, _, err := table.With(Change{Alias: "nyc", Canonical: "new york city"})
	if same != table || err != nil {
		t.Errorf("nothing changed, and the table is %p, not %p: %v", same, table, err)
	}
}

func TestTableEmpty(t *testing.T) {
	for _, table := range []*Table{nil, {}} {
		checkTable(t, table, nil)
		if got := table.Members("a"); !slices.Equal(got, []string{"a"}) {
			t.Errorf("Members = %q", got)
		}
		if next, outcomes, err := table.With(); next != table || len(outcomes) > 0 || err != nil {
			t.Error(next, outcomes, err)
		}
		next, _, err := table.With(Change{Alias: "a", Canonical: "b"})
		if err != nil {
			t.Fatal(err)
		}
		checkTable(t, next, map[string]string{"a": "b"})
		checkTable(t, table, nil)
	}
}

func TestTableRefuses(t *testing.T) {
	table := mustWith(t, nil, Change{Alias: "nyc", Canonical: "new-york-city"}, Change{Alias: "la", Canonical: "los-angeles"})
	for _, tt := range []struct {
		c    Change
		want error
		says []string
	}{
		{Change{Alias: "NYC", Canonical: "New York"}, ErrAmbiguous, []string{`"nyc"`, `"new-york-city"`, `"new-york"`, "remove"}},
		{Change{Alias: "big apple", Canonical: "nyc"}, ErrChain, []string{`"big-apple"`, `"nyc"`, `use "new-york-city"`}},
		{Change{Alias: "los angeles", Canonical: "city of angels"}, ErrChain, []string{`"los-angeles"`, `"city-of-angels"`, `"la"`, "point them to"}},
		{Change{Alias: "A.B", Canonical: "a b"}, ErrSelf, []string{`"A.B"`, `"a b"`, `"a-b"`}},
		{Change{Alias: "nyc", Canonical: "NYC"}, ErrSelf, nil},
		{Change{Alias: "new-york-city", Canonical: "nyc"}, ErrChain, nil},
		{Change{Alias: "???", Canonical: "nyc"}, ErrEmpty, []string{`"???"`, "alias"}},
		{Change{Alias: "a", Canonical: ""}, ErrEmpty, []string{`"a"`, "canonical"}},
		{Change{Alias: "a\xff", Canonical: "b"}, ErrForm, nil},
		{Change{Alias: "sf", Remove: true}, ErrUnknown, []string{`"sf"`}},
		{Change{Alias: "sf", Canonical: "san francisco", Remove: true}, ErrUnknown, []string{`"sf"`, `"san-francisco"`}},
		{Change{Alias: "nyc", Canonical: "new york", Remove: true}, ErrUnknown, []string{`"nyc"`, `"new-york"`, `"new-york-city"`}},
		{Change{Alias: "new-york-city", Remove: true}, ErrUnknown, nil},
	} {
		// A good change before the bad one is not made.
		next, outcomes, err := table.With(Change{Alias: "phl", Canonical: "philadelphia"}, tt.c)
		if next != table || outcomes != nil || !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, %v, want %v", tt.c, outcomes, err, tt.want)
			continue
		}
		for _, part := range append(tt.says, "change 2 of 2") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %q does not say %s", tt.c, err, part)
			}
		}
	}
	checkTable(t, table, map[string]string{"nyc": "new-york-city", "la": "los-angeles"})
}

// TestTableAgainstMap makes the same changes to tables and to plain maps, keeps all
// tables of the past and checks that none of them changed.
func TestTableAgainstMap(t *testing.T) {
	merged, refused := 0, 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var table *Table
		plain := map[string]string{}
		tables, plains := []*Table{nil}, []map[string]string{nil}
		for range 1 + rng.IntN(10) {
			next := maps.Clone(plain)
			changes, want, fault := drawChanges(rng, next)
			got, outcomes, err := table.With(changes...)
			if !errors.Is(err, fault) || err != nil && got != table {
				t.Fatalf("seed %d: %+v: %v, want %v", seed, changes, err, fault)
			}
			if fault != nil {
				refused++
				continue
			}
			if !slices.Equal(outcomes, want) {
				t.Fatalf("seed %d: %+v: %v, want %v", seed, changes, outcomes, want)
			}
			if got != table && len(got.over) == 0 && got.Len() > 0 {
				merged++
			}
			table, plain = got, next
			tables, plains = append(tables, table), append(plains, plain)
		}
		for i := range tables {
			checkTable(t, tables[i], plains[i])
		}
	}
	if merged == 0 || refused == 0 {
		t.Errorf("%d tables were merged, %d changes refused", merged, refused)
	}
}

// drawChanges draws changes, most of which can be made, and makes them to a plain map.
// The last one may be at fault.
func drawChanges(rng *rand.Rand, plain map[string]string) (changes []Change, want []Outcome, fault error) {
	for range 1 + rng.IntN(100) {
		c := Change{Alias: fmt.Sprintf("A %d", rng.IntN(300)), Remove: rng.IntN(4) == 0}
		if !c.Remove || rng.IntN(2) == 0 {
			c.Canonical = fmt.Sprintf("a-%d", rng.IntN(20))
		}
		outcome, fault := applyPlain(plain, c)
		if fault != nil && rng.IntN(200) > 0 {
			continue
		}
		changes = append(changes, c)
		if fault != nil {
			return changes, nil, fault
		}
		want = append(want, outcome)
	}
	return changes, want, nil
}

// applyPlain is the rules again, on a map from alias to canonical name.
func applyPlain(m map[string]string, c Change) (Outcome, error) {
	alias, _ := Name(c.Alias)
	canonical, _ := Name(c.Canonical)
	old, is := m[alias]
	if c.Remove {
		if !is || canonical != "" && canonical != old {
			return "", ErrUnknown
		}
		delete(m, alias)
		return Removed, nil
	}
	switch {
	case alias == canonical:
		return "", ErrSelf
	case is && old == canonical:
		return Existing, nil
	case is:
		return "", ErrAmbiguous
	case m[canonical] != "":
		return "", ErrChain
	}
	for _, to := range m {
		if to == alias {
			return "", ErrChain
		}
	}
	m[alias] = canonical
	return Added, nil
}

// checkTable checks all that a table says against a map.
func checkTable(t testing.TB, table *Table, want map[string]string) {
	t.Helper()
	var got []string
	for alias, canonical := range table.All() {
		got = append(got, alias+" "+canonical)
	}
	var all []string
	members := map[string][]string{}
	for _, alias := range slices.Sorted(maps.Keys(want)) {
		canonical := want[alias]
		all = append(all, alias+" "+canonical)
		members[canonical] = append(members[canonical], alias)
		if got := table.Resolve(alias); got != canonical || table.Resolve(canonical) != canonical {
			t.Fatalf("Resolve(%q) = %q, want %q", alias, got, canonical)
		}
	}
	if !slices.Equal(got, all) || table.Len() != len(want) {
		t.Fatalf("%d aliases: %q, want %q", table.Len(), got, all)
	}
	for canonical, aliases := range members {
		if got := table.Members(canonical); !slices.Equal(got, append([]string{canonical}, aliases...)) {
			t.Fatalf("Members(%q) = %q, want %q", canonical, got, aliases)
		}
		if got := table.count(canonical); got != len(aliases) {
			t.Fatalf("count(%q) = %d, want %d", canonical, got, len(aliases))
		}
	}
	if got := table.Resolve("no-such-name"); got != "no-such-name" {
		t.Fatalf("Resolve of an unknown name = %q", got)
	}
}

// TestTableForgets takes all aliases of a name away again, from a merged base and from
// what is beside it: the name may then be an alias itself.
func TestTableForgets(t *testing.T) {
	for _, n := range []int{1, 10, 300} {
		table := mustWith(t, nil, Change{Alias: "one more", Canonical: "other"})
		var add, remove []Change
		for i := range n {
			add = append(add, Change{Alias: fmt.Sprintf("alias-%d", i), Canonical: "x"})
			remove = append(remove, Change{Alias: fmt.Sprintf("alias-%d", i), Remove: true})
		}
		full := mustWith(t, table, add...)
		if merged := len(full.over) == 0; merged != (n == 300) {
			t.Fatalf("%d aliases, %d beside the base", n, len(full.over))
		}
		if same := mustWith(t, full, slices.Concat(remove, add)...); len(same.over) != len(full.over) || len(same.more) != len(full.more) {
			t.Errorf("%d aliases removed and added again leave %d beside the base, not %d", n, len(same.over), len(full.over))
		}
		emptied := mustWith(t, full, remove...)
		checkTable(t, emptied, map[string]string{"one-more": "other"})
		if len(emptied.over) > 1 {
			t.Errorf("%d aliases that are no more are kept beside the base", len(emptied.over)-1)
		}
		checkTable(t, mustWith(t, emptied, Change{Alias: "x", Canonical: "other"}), map[string]string{"one-more": "other", "x": "other"})
	}
}

func TestTableAllStops(t *testing.T) {
	table := numbered(t, 300)
	for stop := range 300 {
		seen := 0
		for range table.All() {
			if seen++; seen > stop {
				break
			}
		}
		if seen != stop+1 {
			t.Fatalf("saw %d, want %d", seen, stop+1)
		}
	}
}

// TestTableShares checks that adding one alias to many does not copy them.
func TestTableShares(t *testing.T) {
	table := numbered(t, 20_000)
	copied, merges := 0, 0
	for i := range 1000 {
		next := mustWith(t, table, Change{Alias: fmt.Sprintf("new-%d", i), Canonical: "entity-7"})
		copied += len(next.over)
		if next.base != table.base {
			merges++
			copied += next.Len()
		}
		table = next
	}
	if copied > 1000*300 || merges == 0 {
		t.Errorf("1000 changes copied %d entries and merged %d times", copied, merges)
	}
	if table.Len() != 21_000 || len(table.Members("entity-7")) != 1+1000+10 {
		t.Errorf("%d aliases, %d of one entity", table.Len(), len(table.Members("entity-7"))-1)
	}
}

func mustWith(t testing.TB, table *Table, changes ...Change) *Table {
	t.Helper()
	next, _, err := table.With(changes...)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// numbered returns a table of n aliases, ten for each canonical name.
func numbered(t testing.TB, n int) *Table {
	changes := make([]Change, n)
	for i := range changes {
		changes[i] = Change{Alias: fmt.Sprintf("alias-%d", i), Canonical: fmt.Sprintf("entity-%d", i/10)}
	}
	return mustWith(t, nil, changes...)
}

func BenchmarkTable(b *testing.B) {
	table := numbered(b, 20_000)
	b.Run("resolve", func(b *testing.B) {
		for b.Loop() {
			_ = table.Resolve("alias-12345")
		}
	})
	b.Run("with one", func(b *testing.B) {
		b.ReportAllocs()
		now, i := table, 0
		for b.Loop() {
			now = mustWith(b, now, Change{Alias: fmt.Sprintf("new-%d", i), Canonical: "entity-7"})
			if i++; i%10_000 == 0 {
				now = table
			}
		}
	})
	b.Run("with 20000", func(b *testing.B) {
		for b.Loop() {
			numbered(b, 20_000)
		}
	})
}
