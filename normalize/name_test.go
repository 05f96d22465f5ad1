package normalize

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var nameTests = []struct{ in, want string }{
	{"  New York City ", "new-york-city"},
	{"new-york-city", "new-york-city"},
	{"new-york-", "new-york"},
	{"-new-york", "new-york"},
	{"new--york", "new-york"},
	{"New\tYork\r\nCity", "new-york-city"},
	{"New\u00a0York\u3000City", "new-york-city"},
	{"--New -- York-", "new-york"},
	{"a_b.c", "a-b-c"},
	{"O'Neil, J.", "o-neil-j"},
	{"O’Neil", "o-neil"},
	{"(555) 123–4567", "555-123-4567"},
	{"/src/main.go", "src-main-go"},
	{"/m/010016", "m-010016"},
	{"a<b>=c|d~e^f`g", "a-b-c-d-e-f-g"},
	{"nul\x00del\x7fc1\u0085end", "nul-del-c1-end"},

	{"C", "c"},
	{"C++", "c++"},
	{"C#", "c#"},
	{"C++/C# 11", "c++-c#-11"},
	{"Disney+", "disney+"},
	{"+1 555", "1-555"},
	{"Issue #12", "issue-12"},
	{"#golang", "golang"},
	{"#+#x", "x"},
	{"- +x", "x"},
	{"A$AP Rocky", "a$ap-rocky"},
	{"$5", "$5"},
	{"€5", "€5"},
	{"100°", "100°"},

	{"Straße", "strasse"},
	{"STRASSE", "strasse"},
	{"ẞ", "ss"},
	{"İstanbul", "i\u0307stanbul"},
	{"Istanbul", "istanbul"},
	{"ısparta", "ısparta"},
	{"Café", "caf\u00e9"},
	{"Cafe\u0301", "caf\u00e9"},
	{"Αθήνα ΣΊΣΥΦΟΣ", "αθήνα-σίσυφοσ"},
	{"Москва", "москва"},
	{"Київ (столиця)", "київ-столиця"},
	{"北京市", "北京市"},
	{"東京・大阪", "東京-大阪"},
	{"「東京」", "東京"},
	{"ＮＨＫ　１", "nhk-1"},
	{"ﾃﾚﾋﾞ", "テレビ"},
	{"서울", "서울"},
	{"\u1109\u1165\u110b\u116e\u11af", "서울"},
	{"مُحَمَّد", "مُحَمَّد"},
	{"القاهرة، مصر", "القاهرة-مصر"},
	{"नई दिल्ली", "नई-दिल्ली"},
	{"กรุงเทพฯ", "กรุงเทพฯ"},
	{"\u13a0\uab71\u13f8", "\u13a0\u13a1\u13f0"}, // Cherokee
	{"🎉", "🎉"},
	{"Party 🎉🎉", "party-🎉🎉"},
	{"👩\u200d💻", "👩💻"},
	{"❤\ufe0f", "❤"},
	{"🇫🇷", "🇫🇷"},
	{"H₂O", "h2o"},
	{"ﬁle", "file"},
	{"™", "tm"},
	{"New\u00adYork\u200b", "newyork"},
	{"\ufeffbom", "bom"},
	{"\u0301a", "a"},
	{"a \u0301b", "a-b"},
	{".\u0301.b", "b"},
	{"a\u00b4b", "a-b"}, // NFKC makes a space and a mark of an acute accent
	{"\u0345", "ι"},
	{"=\u0338", "≠"},
	{"\u0601123", "\u0601123"},
}

func TestName(t *testing.T) {
	for _, tt := range nameTests {
		got, err := V1.Name(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("Name(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
		checkName(t, tt.in)
	}
}

func TestNameRefuses(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want error
	}{
		{"", ErrEmpty},
		{" \t\n", ErrEmpty},
		{"...", ErrEmpty},
		{"+", ErrEmpty},
		{"—", ErrEmpty},
		{"-", ErrEmpty},
		{"\u200b\ufeff", ErrEmpty},
		{"\u0301\u0302", ErrEmpty},
		{"#\ufe0f\u20e3", ErrEmpty},
		{"a\xff", ErrForm},
		{"\xed\xa0\x80", ErrForm},
		{strings.Repeat("a", MaxName+1), ErrForm},
		{strings.Repeat(" ", MaxName+1), ErrForm},
		{strings.Repeat("\ufdfa", 200), ErrForm}, // 600 bytes become 6600
		{"a" + strings.Repeat("\u0301", 31), ErrForm},
	} {
		got, err := V1.Name(tt.in)
		if got != "" || !errors.Is(err, tt.want) {
			t.Errorf("Name(%.40q) = %q, %v, want %v", tt.in, got, err, tt.want)
		}
	}
	if _, err := V1.Name("... "); err == nil || !strings.Contains(err.Error(), `"... "`) {
		t.Errorf("error %v does not name the value", err)
	}
	longest := strings.Repeat("a", MaxName)
	if got, err := V1.Name(longest); got != longest {
		t.Errorf("a name of %d bytes: %v", MaxName, err)
	}
}

// checkName checks what holds for every name.
func checkName(t testing.TB, in string) {
	t.Helper()
	name, err := V1.Name(in)
	if err != nil {
		if name != "" || !errors.Is(err, ErrEmpty) && !errors.Is(err, ErrForm) || errors.Is(err, ErrEmpty) && errors.Is(err, ErrForm) {
			t.Fatalf("Name(%q) = %q, %v", in, name, err)
		}
		return
	}
	if again, err := V1.Name(name); again != name || err != nil {
		t.Fatalf("Name(%q) = %q, and of that %q, %v", in, name, again, err)
	}
	if !V1.IsName(name) || V1.IsName(in) != (in == name) {
		t.Fatalf("IsName(%q) = %t, IsName(%q) = %t", name, V1.IsName(name), in, V1.IsName(in))
	}
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		t.Fatalf("Name(%q) = %q", in, name)
	}
	for _, word := range strings.Split(name, "-") {
		first, _ := utf8.DecodeRuneInString(word)
		if word == "" || first == '+' || first == '#' || unicode.IsMark(first) {
			t.Fatalf("Name(%q) = %q has the word %q", in, name, word)
		}
		for _, c := range word {
			if c != '#' && (unicode.IsPunct(c) || unicode.IsSpace(c) || unicode.IsControl(c)) {
				t.Fatalf("Name(%q) = %q has %q", in, name, c)
			}
		}
	}
	// What surrounds a name is nothing to it.
	if around, err := V1.Name(" (" + in + ") "); err == nil && around != name {
		t.Fatalf("Name(%q) = %q, in brackets %q", in, name, around)
	}
	if wide, err := wideName(in); err != nil || wide != name {
		t.Fatalf("Name(%q) = %q, the rule for all gives %q, %v", in, name, wide, err)
	}
}

func FuzzName(f *testing.F) {
	for _, tt := range nameTests {
		f.Add(tt.in)
	}
	f.Add("a" + strings.Repeat("\u0301", 29) + "\u0345\u0327")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, s string) { checkName(t, s) })
}

// TestNameProperties draws from the characters that the rule treats apart.
func TestNameProperties(t *testing.T) {
	alphabet := []rune("aB1-+#$ .,/<=`\x00ßİıΣſKÅﬁ²½€°🎉👩中テﾃﾞ한한محَّ\u0301\u0327\u0338\u0345\u034f\u200d\ufe0f\u00ad\u00b4\u037a\u1e9e\u3164\ufdfa\u20e3\U0001f3fd\U000e0067")
	rapid.Check(t, func(rt *rapid.T) {
		checkName(t, string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 12).Draw(rt, "name")))
	})
	rapid.Check(t, func(rt *rapid.T) { checkName(t, rapid.String().Draw(rt, "name")) })
	rapid.Check(t, func(rt *rapid.T) {
		checkName(t, string(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(rt, "name")))
	})
}

// ruleDigest is what normalize/1 gives for every code point, alone and inside a word.
// If another version of Go or of x/text changes it, the names that are kept no longer
// have the form: that is normalize/2, and the names are to be made again.
const ruleDigest = "19c01974c84ef1c3b1e29bb88e026c21cf0d6713da4c326af4085b17b23dcd3a"

func TestNameEveryCodePoint(t *testing.T) {
	h := sha256.New()
	n := 0
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if !utf8.ValidRune(c) {
			continue
		}
		n++
		for _, in := range []string{string(c), "a" + string(c) + "b"} {
			name, err := V1.Name(in)
			if again, _ := V1.Name(name); err == nil && again != name {
				t.Fatalf("Name(%q) = %q, and of that %q", in, name, again)
			}
			fmt.Fprintf(h, "%s\n", name)
		}
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); n != 0x110000-0x800 || got != ruleDigest {
		t.Errorf("digest %s over %d code points, want %s", got, n, ruleDigest)
	}
}

func TestNameAllocates(t *testing.T) {
	for _, tt := range []struct {
		in   string
		most float64
	}{{"new-york-city", 0}, {"New York City", 2}} {
		if got := testing.AllocsPerRun(100, func() { _, _ = V1.Name(tt.in) }); got > tt.most {
			t.Errorf("Name(%q): %v allocations, want at most %v", tt.in, got, tt.most)
		}
	}
}

func BenchmarkName(b *testing.B) {
	for _, bb := range []struct{ what, in string }{
		{"formed", "new-york-city"},
		{"ascii", "  New York City "},
		{"path", "/src/normalize/name.go"},
		{"latin", "Café Straße"},
		{"cjk", "東京・大阪"},
	} {
		for _, rule := range [...]Rule{V1, V2} {
			b.Run(bb.what+" "+rule.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = rule.Name(bb.in)
				}
			})
		}
	}
}
