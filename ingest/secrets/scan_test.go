package secrets

import (
	"math"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/internal/race"
)

// everywhere is Scan without windows and without the automaton: every rule that has a keyword looks at all of the text.
func (s *Scanner) everywhere(text string) []Finding {
	all := s.anywhere(text)
	for _, v := range views(text) {
		all = append(all, v.came(s.anywhere(v.text))...)
	}
	return choose(text, all)
}

func (s *Scanner) anywhere(text string) (all []candidate) {
	lowered := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return rune(lower(byte(r)))
		}
		return r
	}, text)
	if !utf8.ValidString(text) { // Map has changed it
		lowered = string(slices.Collect(func(yield func(byte) bool) {
			for i := 0; i < len(text); i++ {
				if !yield(lower(text[i])) {
					return
				}
			}
		}))
	}
	for _, r := range s.rules {
		if slices.ContainsFunc(r.Keywords, func(word string) bool { return strings.Contains(lowered, strings.ToLower(word)) }) {
			all = r.inAll(all, text)
		}
	}
	return all
}

// sample returns a text that an expression matches, looking around aside.
func sample(re *syntax.Regexp, random *rand.Rand) string {
	var b strings.Builder
	var write func(re *syntax.Regexp)
	times := func(re *syntax.Regexp, least, most int) {
		for range least + random.IntN(most-least+1) {
			write(re)
		}
	}
	write = func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpLiteral:
			b.WriteString(string(re.Rune))
		case syntax.OpCharClass:
			var ascii []rune
			for i := 0; i < len(re.Rune); i += 2 {
				for r := re.Rune[i]; r <= re.Rune[i+1] && r < utf8.RuneSelf; r++ {
					ascii = append(ascii, r)
				}
			}
			b.WriteRune(ascii[random.IntN(len(ascii))])
		case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
			b.WriteByte(byte(' ' + random.IntN(95)))
		case syntax.OpCapture:
			write(re.Sub[0])
		case syntax.OpConcat:
			for _, sub := range re.Sub {
				write(sub)
			}
		case syntax.OpAlternate:
			write(re.Sub[random.IntN(len(re.Sub))])
		case syntax.OpStar:
			times(re.Sub[0], 0, 20)
		case syntax.OpPlus:
			times(re.Sub[0], 1, 20)
		case syntax.OpQuest:
			times(re.Sub[0], 0, 1)
		case syntax.OpRepeat:
			most := re.Max
			if most < 0 {
				most = re.Min + 20
			}
			times(re.Sub[0], re.Min, most)
		}
	}
	write(re)
	return b.String()
}

// parsed are the expressions of all rules.
func parsed(t testing.TB, s *Scanner) []*syntax.Regexp {
	t.Helper()
	list := make([]*syntax.Regexp, len(s.rules))
	for i, r := range s.rules {
		re, err := syntax.Parse(r.Regex, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = re
	}
	return list
}

// between are what mixes have around samples.
var between = []string{" ", "\n", `"`, "'", "=", ": ", "_", "-", "key", "TOKEN ", "secret=", "eyJ", "the quick brown fox ", "ſ", "K", "é", "日本", "\xff", "x", "0123456789abcdef", ";", `\n`, "a", "Z"}

// mix returns a text of samples, parts of samples, keywords and what is between.
func mix(s *Scanner, shapes []*syntax.Regexp, random *rand.Rand) string {
	var b strings.Builder
	for range 1 + random.IntN(8) {
		switch i := random.IntN(len(shapes)); random.IntN(6) {
		case 0, 1:
			b.WriteString(sample(shapes[i], random))
		case 2:
			text := sample(shapes[i], random)
			b.WriteString(text[random.IntN(len(text)):])
		case 3:
			b.WriteString(s.rules[i].Keywords[random.IntN(len(s.rules[i].Keywords))])
		}
		for range random.IntN(4) {
			b.WriteString(between[random.IntN(len(between))])
		}
	}
	return b.String()
}

// TestScanIsComplete compares Scan with asking every expression everywhere.
func TestScanIsComplete(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	s := Standard()
	shapes := parsed(t, s)
	random := rand.New(rand.NewPCG(1, 2))
	found, plain, rules := 0, 0, map[string]bool{}
	for range 1_500 {
		text := mix(s, shapes, random)
		got, want := s.Scan(text), s.everywhere(text)
		if !slices.Equal(got, want) {
			t.Fatalf("%q:\n got %v\nwant %v", text, got, want)
		}
		for _, f := range got {
			found++
			rules[f.Rule] = true
		}
		if isPlain(text) {
			plain++
		}
	}
	if found < 1_000 || len(rules) < len(s.rules)*8/10 || plain < 500 || plain > 1_400 {
		t.Errorf("%d secrets of %d rules were found, and %d texts were plain", found, len(rules), plain)
	}
}

// TestWindowsAtEdges has matches at all distances from the edges of a window, and from each other.
func TestWindowsAtEdges(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	s := Standard()
	secret := "api_key = '8ae31cacf141669ddfb5da2f9a1c'"
	for _, c := range []struct {
		text  string
		found int
	}{
		{"foreign_key = '8ae31cacf141669ddfb5da2f9a1c'", 0}, // what precedes the keyword counts
		{`<add key="Password" value="pässwörd 日本 1234" />`, 1},
	} {
		if got := s.Scan(c.text); !slices.Equal(got, s.everywhere(c.text)) || len(got) != c.found {
			t.Errorf("%q: %v", c.text, got)
		}
	}
	found := 0
	for n := 0; n < 300; n += 3 {
		for _, fill := range []string{"x", ".", " ", "\n", "é", "key"} {
			text := strings.Repeat(fill, n) + secret + strings.Repeat(fill, n%7) + secret + strings.Repeat(fill, n)
			got, want := s.Scan(text), s.everywhere(text)
			if !slices.Equal(got, want) {
				t.Fatalf("%d of %q: got %v, want %v", n, fill, got, want)
			}
			found += len(got)
		}
	}
	if found < 300 {
		t.Errorf("%d found", found)
	}
}

// TestTooManySteps has a text in which a window would be looked for too long.
func TestTooManySteps(t *testing.T) {
	s := Standard()
	text := strings.Repeat("-----BEGIN RSA PRIVATE KEY-----\n", 300)
	at := s.look(text).begins[slices.IndexFunc(s.rules, func(r *rule) bool { return r.ID == "private-key" })]
	start := newStarter(`(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[\s\S-]{64,}?KEYS(?: BLOCK)?-----`, []string{"-----begin"})
	if _, ok := start.windows(text, at); ok || len(at) != 300 {
		t.Errorf("%d keywords were followed to the end of the text", len(at))
	}
	if got, want := s.Scan(text), s.everywhere(text); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestStarters lists the rules whose expressions look at all of a text with a keyword. None of these is a common word.
func TestStarters(t *testing.T) {
	var without []string
	for _, r := range Standard().rules {
		if r.start() == nil {
			without = append(without, r.ID)
		}
	}
	want := []string{
		"airtable-personnal-access-token", "atlassian-api-token", "azure-ad-client-secret", "facebook-access-token", "freemius-secret-key", "hashicorp-tf-api-token",
		"lob-api-key", "lob-pub-api-key", "maxmind-license-key", "microsoft-teams-webhook", "new-relic-browser-api-token", "new-relic-insert-key",
		"new-relic-user-api-key", "openai-api-key", "sidekiq-sensitive-url", "slack-config-access-token", "slack-webhook-url", "sourcegraph-access-token", "typeform-api-token",
		"private-key-ended",
	}
	if !slices.Equal(without, want) {
		t.Errorf("got %q\nwant %q", without, want)
	}
}

func TestWords(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	word := func() string {
		b := make([]byte, 1+random.IntN(4))
		for i := range b {
			b[i] = "abA-"[random.IntN(4)]
		}
		return string(b)
	}
	hits := 0
	for range 2_000 {
		var list []string
		for range random.IntN(6) {
			list = append(list, word())
		}
		text := word() + word() + word() + "é" + word()
		type hit struct {
			word  string
			start int
		}
		var got, want []hit
		newWords(list).each(text, func(w int32, start int) bool {
			got = append(got, hit{list[w], start})
			return true
		})
		for _, w := range list {
			for i := range len(text) - len(w) + 1 {
				if strings.EqualFold(text[i:i+len(w)], w) {
					want = append(want, hit{w, i})
				}
			}
		}
		by := func(a, b hit) int { return (a.start-b.start)*1000 + strings.Compare(a.word, b.word) }
		slices.SortFunc(got, by)
		slices.SortFunc(want, by)
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: got %v, want %v", list, text, got, want)
		}
		hits += len(got)
	}
	if hits < 1_000 {
		t.Errorf("%d hits", hits)
	}
}

func TestEntropy(t *testing.T) {
	for _, c := range []struct {
		text string
		bits int64 // thousandths
		want bool
	}{{"", 0, false}, {"aaaa", 0, false}, {"ab", 999, true}, {"ab", 1000, false}, {"abcdefgh", 2999, true}, {"abcdefgh", 3000, false}, {"aab", 918, true}, {"aab", 919, false}, {"éé", 499, true}, {"éé", 500, false}} {
		if got := exceeds(c.text, c.bits); got != c.want {
			t.Errorf("%q has more than %d/1000 bits: %v", c.text, c.bits, got)
		}
	}
	for n := uint64(1); n < 1<<40; n = n*5/4 + 1 {
		if got, want := float64(log2(n))/(1<<fraction), math.Log2(float64(n)); math.Abs(got-want) > 2e-6 {
			t.Errorf("log2(%d) = %v, want %v", n, got, want)
		}
	}
}

// payment are made of parts, so that no scanner takes this file for one with a secret.
func TestPaymentCards(t *testing.T) {
	number := "4539 1488" + " 0343 6467"
	plain := strings.ReplaceAll(number, " ", "")
	for _, c := range []struct {
		text string
		want bool
	}{
		{"card " + number, true}, {"Card number: " + plain, true}, {`"card_number":"` + plain + `"`, true}, {"visa " + strings.ReplaceAll(number, " ", "-") + ".", true},
		{"amex 3714" + " 496353" + " 98431", false}, // for tests
		{"amex 3782" + " 822463" + " 10013", true},
		{"card " + plain[:15] + "8", false}, {"card 4242 4242" + " 4242 4242", false}, {"card 4444 4444" + " 4444 4444", false},
		{number, false}, {"id " + plain, false}, {"card " + plain + "0", false}, {"card " + plain + "-12", false}, {"card 1" + plain, false},
		{"the card was at " + plain, false},
	} {
		found := Standard().Scan(c.text)
		got := len(found) == 1 && found[0].Rule == "payment-card"
		if got != c.want || len(found) > 1 {
			t.Errorf("%q: %v", c.text, found)
		}
	}
}

func FuzzScan(f *testing.F) {
	s := Standard()
	shapes := parsed(f, s)
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		f.Add(mix(s, shapes, random))
	}
	key := Key{1}
	f.Fuzz(func(t *testing.T, text string) {
		got := s.Scan(text)
		if want := s.everywhere(text); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		last := 0
		for _, found := range got {
			if found.Start < last || found.End <= found.Start || found.End > len(text) {
				t.Fatalf("%v in %d bytes", got, len(text))
			}
			last = found.End
		}
		redacted, all := s.Redact(text, &key)
		if left := s.Scan(redacted); len(left) > 0 {
			t.Fatalf("%v are left in %q", left, redacted)
		}
		if len(all) < len(got) || (len(got) == 0) != (redacted == text) {
			t.Fatalf("%d found, %d replaced", len(got), len(all))
		}
	})
}

// TestConcurrent has a scanner, which makes its automata while it scans, used by several goroutines from the start.
func TestConcurrent(t *testing.T) {
	rules, err := standardRules()
	if err != nil {
		t.Fatal(err)
	}
	s := newScanner(rules)
	shapes := parsed(t, s)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(13, 14))
			for range 60 {
				text := mix(s, shapes, random)
				if got, want := s.Scan(text), Standard().Scan(text); !slices.Equal(got, want) {
					t.Errorf("%q: got %v, want %v", text, got, want)
				}
			}
		})
	}
	group.Wait()
}
