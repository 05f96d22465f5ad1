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

var signTests = []struct{ in, want string }{
	{"  New York City ", "new-york-city"},
	{"a --> b", "a->b"},
	{"a <-- b", "a<-b"},
	{"a -- b", "a-b"},
	{"text://x", "text:83ad6be980ad28b6160784c491e37c87a2df066a6c33fe835abb268a361b9280"},
	{"file://x", "file://x"},
	{" pkg:x", "pkg-x"},
	{"pkg: x", "pkg-x"},
	{"Pkg:x", "pkg-x"},
	{"FTP://x", "url:FTP://x"},
	{"TEXT://x", "url:TEXT://x"},
	{"éa://x", "éa-x"},
	{"h://x", "h-x"},
	{"é" + strings.Repeat("\u0301", 29), "é" + strings.Repeat("\u0301", 29)},
	{"क" + strings.Repeat("\u0903", 31), "क" + strings.Repeat("\u0903", 31)},
	{"\u1100" + strings.Repeat("\u1161", 30), "가" + strings.Repeat("\u1161", 29)},
	{"The Index", "the-index"},
	{"e-mail", "e-mail"},
	{"O'Neil, J.", "o-neil-j"},
	{"Café (Straße)", "café-strasse"},
	{"- item", "item"},
	{"New York -", "new-york"},
	{"new--york", "new-york"},
	{"wait...", "wait"},
	{"wait…", "wait"},
	{"Wow!", "wow"},
	{"Wow!!!", "wow"},
	{"(Done)!", "done"},
	{"end.", "end"},
	{"a_b.c", "a-b-c"},
	{"U.S.A.", "u-s-a"},

	{"the limit is -5", "the-limit-is--5"},
	{"the limit is 5", "the-limit-is-5"},
	{"the limit is +5", "the-limit-is-+5"},
	{"-.5", "-.5"},
	{"5 - 3", "5-3"},
	{"1-5", "1-5"},
	{"timeout < 30s", "timeout<30s"},
	{"timeout<30s", "timeout<30s"},
	{"timeout > 30s", "timeout>30s"},
	{"timeout = 30s", "timeout=30s"},
	{"x=-5", "x=-5"},
	{"x = -5", "x=-5"},
	{"x= 5", "x=5"},
	{"works 50%", "works-50%"},
	{">=1.2, <2", ">=1.2<2"},
	{"^1.2", "^1.2"},
	{"~1.2", "~1.2"},
	{"~> 1.2", "~>1.2"},
	{"1.2", "1.2"},
	{"12", "12"},
	{"C", "c"},
	{"C++", "c++"},
	{"C#", "c#"},
	{"#golang", "#golang"},
	{"+x", "x"},
	{"a + b", "a-+-b"},
	{"@scope", "@scope"},
	{"user@host", "user@host"},
	{"a..b", "a..b"},
	{"x/...", "x-..."},
	{"...", "..."},
	{"!important", "!important"},
	{"a != b", "a-!=b"},
	{"!!!", "!!!"},
	{"->", "->"},
	{"a -> b", "a->b"},
	{"≠", "≠"},

	{"/src/a-b.go", "file:/src/a-b.go"},
	{" /src/A.go\n", "file:/src/A.go"},
	{"./x/...", "file:./x/..."},
	{"../x", "file:../x"},
	{"~/x", "file:~/x"},
	{`C:\x`, `file:C:\x`},
	{"/", ""},
	{"/src/a.go and more", "src-a-go-and-more"},
	{"https://Example.com/A?b=1#c", "url:https://Example.com/A?b=1#c"},
	{"git+ssh://x", "url:git+ssh://x"},
	{"a, b://c", "a-b-c"},
	{"file:A b", "file:A b"},
	{"file: a b", "file-a-b"},
	{"Note: x", "note-x"},
	{"File:x", "file-x"},
	{"pkg:npm:@scope/Name", "pkg:npm:@scope/Name"},
	{"cmd:ls -l\nrm", "cmd:ls -l\nrm"},
	{"text:", EmptyText},
	{"text: \n", EmptyText},
	{EmptyText, EmptyText},
}

func TestSigns(t *testing.T) {
	for _, tt := range signTests {
		got, err := Name(tt.in)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("Name(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
		checkSigns(t, tt.in)
	}
	for _, tt := range nameTests {
		checkSigns(t, tt.in)
	}
}

func TestSignsRefused(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want error
	}{
		{"", ErrEmpty},
		{"é" + strings.Repeat("\u0301", 30), ErrForm},
		{"a" + strings.Repeat("\u0344", 16), ErrForm}, // two marks each
		{"\u1100" + strings.Repeat("\u1161", 31), ErrForm},
		{"a" + strings.Repeat("\u0301", 20) + "\u200d" + strings.Repeat("\u0301", 11), ErrForm},
		{" ? ", ErrEmpty},
		{"-", ErrEmpty},
		{"/", ErrEmpty},
		{"a\xff", ErrForm},
		{"file:\xff", ErrForm},
		{"/\xff", ErrForm},
		{"file:a\x00", ErrForm},
		{"/" + strings.Repeat("a", MaxName-5), ErrForm},
		{strings.Repeat("a", MaxName+1), ErrForm},
		{"text:" + strings.Repeat("a", MaxText+1), ErrForm},
		{"text:\xff", ErrForm},
	} {
		if got, err := Name(tt.in); got != "" || !errors.Is(err, tt.want) {
			t.Errorf("Name(%.40q) = %q, %v, want %v", tt.in, got, err, tt.want)
		}
	}
}

// checkSigns checks what holds for every name under normalize/2.
func checkSigns(t testing.TB, in string) {
	t.Helper()
	name, err := Name(in)
	if err != nil {
		if name != "" || errors.Is(err, ErrEmpty) == errors.Is(err, ErrForm) {
			t.Fatalf("Name(%q) = %q, %v", in, name, err)
		}
	} else if again, err := Name(name); again != name || err != nil || name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		t.Fatalf("Name(%q) = %q, and of that %q, %v", in, name, again, err)
	}
	old, err := V1.Name(in)
	if err != nil {
		return
	}
	if !IsName(old) {
		newer, err := Name(old)
		t.Fatalf("%q is a name under normalize/1 and %q, %v under normalize/2", old, newer, err)
	}
	// A name under normalize/2 that is no literal tells apart all that normalize/1 tells apart.
	if _, _, ok := Split(name); !ok && name != "" {
		if folded, err := V1.Name(name); err != nil || folded != old {
			t.Fatalf("%q is %q under normalize/2, which is %q, %v under normalize/1, and by itself it is %q", in, name, folded, err, old)
		}
	}
}

func FuzzSigns(f *testing.F) {
	for _, tt := range signTests {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, s string) { checkSigns(t, s) })
}

// TestSignProperties draws from the characters that the rule treats apart.
func TestSignProperties(t *testing.T) {
	alphabet := []rune("aB15-+#$ .,/<=>%~!@^:`\x00ßİ½€🎉中\u0301\u0338\u200d\u00ad\ufdfa…")
	rapid.Check(t, func(rt *rapid.T) {
		checkSigns(t, string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 12).Draw(rt, "name")))
	})
	rapid.Check(t, func(rt *rapid.T) { checkSigns(t, rapid.String().Draw(rt, "name")) })
	rapid.Check(t, func(rt *rapid.T) {
		checkSigns(t, string(Types()[rapid.IntRange(0, len(types)-1).Draw(rt, "type")])+":"+rapid.String().Draw(rt, "value"))
	})
}

// signDigest is what normalize/2 makes of every code point, alone, inside a word and before a
// digit; of the planes that Unicode 15 has next to nothing in, of some. See ruleDigest.
const signDigest = "92a3e63651fe70268325d3f67f7b570b88e4f4ef363351ee75543474dc6463b5"

func TestSignsEveryCodePoint(t *testing.T) {
	h := sha256.New()
	for c := rune(0); c <= unicode.MaxRune; c++ {
		empty := 0x32400 <= c && c < 0xe0000 || 0xe0200 <= c
		if !utf8.ValidRune(c) || empty && c%97 != 0 {
			continue
		}
		for _, in := range []string{string(c), "a" + string(c) + "b", "a " + string(c) + "1"} {
			name, err := Name(in)
			if again, _ := Name(name); err == nil && again != name {
				t.Fatalf("Name(%q) = %q, and of that %q", in, name, again)
			}
			fmt.Fprintf(h, "%s\n", name)
		}
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != signDigest {
		t.Errorf("digest %s, want %s", got, signDigest)
	}
}

func TestText(t *testing.T) {
	same := [][2]string{{"a", " a\n"}, {"", " \t"}, {"caf\u00e9", "cafe\u0301"}}
	for _, p := range same {
		if a, b := mustText(t, p[0]), mustText(t, p[1]); a != b {
			t.Errorf("%q and %q are %s and %s", p[0], p[1], a, b)
		}
	}
	seen := map[string]string{}
	for _, s := range []string{"", "!!!", "the limit is -5", "the limit is 5", "The limit is 5", "timeout < 30s", "timeout > 30s", "works 50%", "works 50", "a  b", "a b", "ﬁ", "fi", strings.Repeat("a", MaxText)} {
		name := mustText(t, s)
		if other, ok := seen[name]; ok {
			t.Errorf("%.40q and %.40q are one", s, other)
		}
		seen[name] = s
		if !IsName(name) || !IsText(name) || V1.IsName(name) {
			t.Errorf("%.40q has the name %q", s, name)
		}
	}
}

func mustText(t testing.TB, s string) string {
	t.Helper()
	name, err := Text(s)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLiteral(t *testing.T) {
	for _, kind := range Types() {
		if _, err := Literal(kind, " a"); (err == nil) != (kind == TextType) {
			t.Errorf("%s with a leading space: %v", kind, err)
		}
		name, err := Literal(kind, "A b/../c#1")
		if err != nil {
			t.Fatal(err)
		}
		got, value, ok := Split(name)
		if got != kind || !ok || kind != TextType && value != "A b/../c#1" {
			t.Errorf("Split(%q) = %s, %q, %t", name, got, value, ok)
		}
	}
	if _, err := Literal("unknown", "a"); !errors.Is(err, ErrForm) {
		t.Errorf("a literal of an unknown type: %v", err)
	}
}
