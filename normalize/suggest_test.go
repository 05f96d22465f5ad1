package normalize

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	gocmp "github.com/google/go-cmp/cmp"
)

func pairOf(a, b string, r Reason) []Suggestion {
	return []Suggestion{{Name: min(a, b), Others: []string{max(a, b)}, Reason: r}}
}

func TestSuggest(t *testing.T) {
	for _, tt := range []struct {
		names string
		want  []Suggestion
	}{
		{"e-mail email", pairOf("e-mail", "email", SamePunctuation)},
		{"a-b ab", pairOf("a-b", "ab", SamePunctuation)},
		{"go1-2 go-1-2", pairOf("go-1-2", "go1-2", SamePunctuation)},
		{"go-1-1 go-11 go11", pairOf("go-11", "go11", SamePunctuation)},
		{"smith-john john-smith", pairOf("john-smith", "smith-john", Inverted)},
		{"doe-mary-ann mary-ann-doe", pairOf("doe-mary-ann", "mary-ann-doe", Inverted)},
		{"a-b-c c-b-a", nil},
		{"part-2 2-part", nil},
		{"aa-aa", nil},
		{"united-nations un", pairOf("un", "united-nations", Initials)},
		{"united-states-of-america usa", pairOf("united-states-of-america", "usa", Initials)},
		{"united-states-of-america usoa", pairOf("united-states-of-america", "usoa", Initials)},
		{"организация-объединённых-наций оон", pairOf("организация-объединённых-наций", "оон", Initials)},
		{"un united-nations universal-networks", []Suggestion{{"un", []string{"united-nations", "universal-networks"}, AmbiguousInitials}}},
		{"rit r-i-t rochester-institute-of-technology", append(pairOf("r-i-t", "rit", SamePunctuation), pairOf("rit", "rochester-institute-of-technology", Initials)...)},
		{"u united", nil},
		{"abcdef a-b-c-d-e-f", pairOf("abcdef", "a-b-c-d-e-f", SamePunctuation)},
		{"avbwcxdyezf alpha-beta-car-dog-elk-fox abcdef", nil}, // six letters
		{"u2 ultra-2", nil},
		{"paris pariss", pairOf("paris", "pariss", Spelling)},
		{"paris prais", pairOf("paris", "prais", Spelling)},
		{"paris parsi", pairOf("paris", "parsi", Spelling)},
		{"paris pbris", pairOf("paris", "pbris", Spelling)},
		{"pari pris", nil},
		{"pari paris", nil}, // four characters
		{"paris pabbs", nil},
		{"københavn kobenhavn", pairOf("kobenhavn", "københavn", Spelling)},
		{"istanbul i\u0307stanbul", pairOf("istanbul", "i\u0307stanbul", Spelling)},
		{"washington wshingtno", nil}, // 9 and 10 characters, two edits
		{"washingtons wshingtnos", pairOf("washingtons", "wshingtnos", Spelling)},
		{"washington waxxingtox", nil},
		{"mark-one-1 mark-one-2", nil},
		{"release-1-10 release-1-1-0", nil},
		{"release-10-x release-1-0-x", nil},
		{"mod-x1 mod-1x", nil}, // one exchange, but of a digit
		{"release-10 releaze-10", pairOf("release-10", "releaze-10", Spelling)},
		{"release-10 relaese-01", nil},
		{"北京市朝阳区 北京市朝陽区", pairOf("北京市朝阳区", "北京市朝陽区", Spelling)},
		{strings.Repeat("a", 40) + "xy " + strings.Repeat("a", 40), nil},
		{strings.Repeat("a", 40) + "x " + strings.Repeat("a", 40), pairOf(strings.Repeat("a", 40)+"x", strings.Repeat("a", 40), Spelling)},
		{strings.Repeat("a", 38) + "xy " + strings.Repeat("a", 38), pairOf(strings.Repeat("a", 38)+"xy", strings.Repeat("a", 38), Spelling)},
		{strings.Repeat("b", 2000) + "x " + strings.Repeat("b", 2000) + "y", pairOf(strings.Repeat("b", 2000)+"x", strings.Repeat("b", 2000)+"y", Spelling)},
		{"email e-mail email", pairOf("e-mail", "email", SamePunctuation)},
		{"", nil},
	} {
		got := Suggest(strings.Fields(tt.names), nil, SuggestOptions{})
		if len(got)+len(tt.want) > 0 && gocmp.Diff(tt.want, got) != "" {
			t.Errorf("%s: got %v, want %v", tt.names, got, tt.want)
		}
	}
}

func TestSuggestTable(t *testing.T) {
	names := strings.Fields("e-mail email un united-nations universal-networks paris pariss")
	table := mustWith(t, nil, Change{Alias: "email", Canonical: "e-mail"}, Change{Alias: "un", Canonical: "united-nations"})
	want := pairOf("paris", "pariss", Spelling)
	if got := Suggest(names, table, SuggestOptions{}); gocmp.Diff(want, got) != "" {
		t.Errorf("got %v, want %v", got, want)
	}
	table = mustWith(t, nil, Change{Alias: "united nations", Canonical: "un"}, Change{Alias: "electronic mail", Canonical: "email"})
	want = append(pairOf("e-mail", "email", SamePunctuation), want...)
	if got := Suggest(names, table, SuggestOptions{}); gocmp.Diff(want, got) != "" {
		t.Errorf("got %v, want %v", got, want)
	}
	// Two names of one entity are one expansion.
	table = mustWith(t, nil, Change{Alias: "universal networks", Canonical: "united nations"})
	want = pairOf("un", "united-nations", Initials)
	if got := Suggest(names, table, SuggestOptions{Reasons: []Reason{Initials}}); gocmp.Diff(want, got) != "" {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSuggestOptions(t *testing.T) {
	names := strings.Fields("a-b ab un united-nations universal-networks paris pariss smith-john john-smith")
	all := Suggest(names, nil, SuggestOptions{})
	if len(all) != 4 {
		t.Fatal(all)
	}
	for n := 1; n <= 5; n++ {
		if got := Suggest(names, nil, SuggestOptions{Limit: n}); gocmp.Diff(all[:min(n, 4)], got) != "" {
			t.Errorf("limit %d: %v", n, got)
		}
	}
	var sum []Suggestion
	for _, r := range Reasons() {
		sum = append(sum, Suggest(names, nil, SuggestOptions{Reasons: []Reason{r}})...)
	}
	if gocmp.Diff(all, sum) != "" {
		t.Errorf("one by one: %v, want %v", sum, all)
	}
}

// osa is the distance by its definition, with the whole matrix; edits of digits are
// out of the question.
func osa(a, b []rune) int {
	const never = 1 << 20
	cost := func(chars ...rune) int {
		if slices.ContainsFunc(chars, unicode.IsNumber) {
			return never
		}
		return 1
	}
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			least := never
			if i == 0 && j == 0 {
				least = 0
			}
			if i > 0 {
				least = min(least, d[i-1][j]+cost(a[i-1]))
			}
			if j > 0 {
				least = min(least, d[i][j-1]+cost(b[j-1]))
			}
			if i > 0 && j > 0 {
				replace := 0
				if a[i-1] != b[j-1] {
					replace = cost(a[i-1], b[j-1])
				}
				least = min(least, d[i-1][j-1]+replace)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				least = min(least, d[i-2][j-2]+cost(a[i-1], a[i-2]))
			}
			d[i][j] = least
		}
	}
	return d[len(a)][len(b)]
}

func TestNear(t *testing.T) {
	var rows [3][]int
	rng := rand.New(rand.NewPCG(1, 3))
	found := [3]int{}
	for range 300_000 {
		a, b := draw(rng, "ab1", 7), draw(rng, "ab1", 7)
		want := osa(a, b)
		for most := 1; most <= 2; most++ {
			if got := near(a, b, most, &rows); got != (want <= most) {
				t.Fatalf("near(%q, %q, %d) = %t, the distance is %d", string(a), string(b), most, got, want)
			}
		}
		if want <= 2 {
			found[want]++
		}
	}
	if slices.Contains(found[:], 0) {
		t.Errorf("by distance: %v", found)
	}
}

func draw(rng *rand.Rand, from string, most int) []rune {
	letters := []rune(from)
	s := make([]rune, rng.IntN(most+1))
	for i := range s {
		s[i] = letters[rng.IntN(len(letters))]
	}
	return s
}

// TestSuggestAgainstAll compares every name with every other, by the definitions of
// the reasons.
func TestSuggestAgainstAll(t *testing.T) {
	reasons := map[Reason]int{}
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var names []string
		for range 60 {
			name, err := Name(strings.Join([]string{string(draw(rng, "abç", 6)), string(draw(rng, "ab1", 6)), string(draw(rng, "ab-", 5))}, "-"))
			if err == nil {
				names = append(names, name)
			}
		}
		var table *Table
		for range 20 {
			c := Change{Alias: names[rng.IntN(len(names))], Canonical: names[rng.IntN(len(names))]}
			if next, _, err := table.With(c); err == nil {
				table = next
			}
		}
		got := Suggest(names, table, SuggestOptions{})
		if diff := gocmp.Diff(suggestAll(names, table), got); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		if again := Suggest(names, table, SuggestOptions{}); gocmp.Diff(again, got) != "" {
			t.Fatalf("seed %d: another order, other suggestions", seed)
		}
		for _, s := range got {
			reasons[s.Reason]++
		}
	}
	for _, r := range Reasons() {
		if reasons[r] == 0 {
			t.Errorf("no suggestion for %s: %v", r, reasons)
		}
	}
}

func suggestAll(names []string, t *Table) []Suggestion {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	means := map[string][]string{}
	for _, a := range names {
		for _, b := range names {
			if mayMean(a, b) {
				means[a] = append(means[a], b)
			}
		}
	}
	var all []Suggestion
	single := map[[2]string]bool{}
	for a, long := range means {
		entities := map[string]bool{}
		for _, b := range long {
			entities[t.Resolve(b)] = true
		}
		switch {
		case t.Resolve(a) != a || entities[a]:
		case len(entities) > 1:
			all = append(all, Suggestion{a, long, AmbiguousInitials})
		default:
			single[[2]string{min(a, long[0]), max(a, long[0])}] = true
		}
	}
	for i, a := range names {
		for _, b := range names[i+1:] {
			if t.Resolve(a) == t.Resolve(b) {
				continue
			}
			switch p := (Suggestion{Name: a, Others: []string{b}}); {
			case squeeze(a) == squeeze(b):
				p.Reason = SamePunctuation
				all = append(all, p)
			case turned(a) == b || turned(b) == a:
				p.Reason = Inverted
				all = append(all, p)
			case single[[2]string{a, b}]:
				p.Reason = Initials
				all = append(all, p)
			case isNear([]rune(a), []rune(b)):
				p.Reason = Spelling
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b Suggestion) int {
		rank := func(r Reason) int { return slices.Index(Reasons(), r) }
		return cmp.Or(rank(a.Reason)-rank(b.Reason), cmp.Compare(a.Name, b.Name), slices.Compare(a.Others, b.Others))
	})
	return all
}

func mayMean(short, long string) bool {
	words := strings.Split(long, "-")
	if strings.ReplaceAll(long, "-", "") == short {
		return false
	}
	if n := len([]rune(short)); n < 2 || n > 5 || len(words) < 2 || strings.ContainsFunc(short, func(c rune) bool { return !unicode.IsLetter(c) }) {
		return false
	}
	first := ""
	for _, w := range words {
		if w != "" { // of the sign of a number
			first += string([]rune(w)[0])
		}
	}
	return first == short
}

// turned returns a name with its last word first, or "".
func turned(name string) string {
	words := strings.Split(name, "-")
	if len(words) < 2 || strings.ContainsAny(name, "0123456789") {
		return ""
	}
	return strings.Join(append([]string{words[len(words)-1]}, words[:len(words)-1]...), "-")
}

func isNear(a, b []rune) bool {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	most := 0
	switch {
	case short >= 10 && long <= 40:
		most = 2
	case short >= 5:
		most = 1
	}
	groups := func(s []rune) []string {
		return strings.FieldsFunc(string(s), func(c rune) bool { return !unicode.IsNumber(c) })
	}
	return osa(a, b) <= most && slices.Equal(groups(a), groups(b))
}

// TestRealSuggest goes through real names. The numbers change if the rules do.
func TestRealSuggest(t *testing.T) {
	l, err := ReadAliases(realData(t, "kg", "FB15k-237", "entity2wikidata.json"), Wikidata)
	if err != nil {
		t.Fatal(err)
	}
	got := map[Reason]int{}
	for _, s := range Suggest(aliases(l), nil, SuggestOptions{}) {
		got[s.Reason]++
	}
	want := map[Reason]int{SamePunctuation: 433, Inverted: 145, Initials: 319, Spelling: 4102, AmbiguousInitials: 419}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func aliases(l *List) (names []string) {
	for _, c := range l.Changes {
		names = append(names, c.Alias)
	}
	return names
}

func TestFragmentation(t *testing.T) {
	table := mustWith(t, nil, Change{Alias: "NYC", Canonical: "New York City"})
	names := []string{"NYC", "nyc", "New York City", "new york city", "NYC", "Boston", "???", ""}
	got, want := Fragmentation(names, table), Measure{Spellings: 5, Names: 3, Entities: 2, Unnamed: 2}
	if got != want || got.Before() != 2.5 || got.AfterRule() != 1.5 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := Fragmentation(names, nil), (Measure{5, 3, 3, 2}); got != want {
		t.Errorf("without a table: got %+v, want %+v", got, want)
	}
	if got := Fragmentation(nil, table); got != (Measure{}) || got.Before() != 1 || got.AfterRule() != 1 {
		t.Errorf("of nothing: %+v", got)
	}
}

func BenchmarkSuggest(b *testing.B) {
	run := func(what string, names []string) {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Suggest(names, nil, SuggestOptions{})
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 5))
	random := func(n int) []string {
		names := make([]string, 20_000)
		for i := range names {
			var s []byte
			for range n {
				s = append(s, "abcdefghijklmnopqrstuvwxyz-"[rng.IntN(27)])
			}
			names[i], _ = Name(string(s))
		}
		return names
	}
	run("20000 of 15", random(15))
	run("20000 of 40", random(40))
	numbered := make([]string, 20_000)
	for i := range numbered {
		numbered[i] = fmt.Sprintf("some-function-in-file-%05d", i)
	}
	run("20000 numbered", numbered)
	l, err := ReadAliases(realData(b, "kg", "FB15k-237", "entity2wikidata.json"), Wikidata)
	if err != nil {
		b.Fatal(err)
	}
	run("20000 real", aliases(l)[:20_000])
}
