package canon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/internal/canon"
)

func sorted(keys []string) []string {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) })
	return keys
}

// render writes any value in the manner of RFC 8785, but numbers as they are.
func render(v *canon.Value) string {
	switch v.Kind {
	case canon.String:
		return string(canon.AppendString(nil, v.Text))
	case canon.Array:
		items := make([]string, len(v.Items))
		for i := range v.Items {
			items[i] = render(&v.Items[i])
		}
		return "[" + strings.Join(items, ",") + "]"
	case canon.Object:
		keys := make([]string, len(v.Members))
		for i := range v.Members {
			keys[i] = v.Members[i].Key
		}
		members := []string{}
		for _, key := range sorted(keys) {
			members = append(members, string(canon.AppendString(nil, key))+":"+render(v.Get(key)))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return v.Text
}

// plainValue returns a value as encoding/json does with UseNumber.
func plainValue(v *canon.Value) any {
	switch v.Kind {
	case canon.Bool:
		return v.Text == "true"
	case canon.Number:
		return json.Number(v.Text)
	case canon.String:
		return v.Text
	case canon.Array:
		items := make([]any, len(v.Items))
		for i := range v.Items {
			items[i] = plainValue(&v.Items[i])
		}
		return items
	case canon.Object:
		members := map[string]any{}
		for i := range v.Members {
			members[v.Members[i].Key] = plainValue(&v.Members[i].Value)
		}
		return members
	}
	return nil
}

func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// plainNumbers reports whether all numbers are integers that RFC 8785 writes as
// they are.
func plainNumbers(v *canon.Value) bool {
	if v.Kind == canon.Number {
		var n uint64
		_, err := fmt.Sscanf(v.Text, "%d", &n)
		return err == nil && n <= canon.MaxInt && fmt.Sprint(n) == v.Text
	}
	for i := range v.Items {
		if !plainNumbers(&v.Items[i]) {
			return false
		}
	}
	for i := range v.Members {
		if !plainNumbers(&v.Members[i].Value) {
			return false
		}
	}
	return true
}

// lax reports what makes valid JSON too lax for Parse, going by encoding/json.
func lax(text []byte) string {
	if !utf8.Valid(text) {
		return "invalid UTF-8"
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var open []map[string]bool // keys of each open object, nil for an array
	wantKey := []bool{}
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return ""
		}
		if err != nil {
			return err.Error()
		}
		if s, ok := tok.(string); ok && len(open) > 0 && open[len(open)-1] != nil && wantKey[len(wantKey)-1] {
			if open[len(open)-1][s] {
				return "repeated"
			}
			open[len(open)-1][s] = true
			wantKey[len(wantKey)-1] = false
			continue
		}
		switch tok {
		case json.Delim('{'):
			open, wantKey = append(open, map[string]bool{}), append(wantKey, true)
		case json.Delim('['):
			open, wantKey = append(open, nil), append(wantKey, false)
		case json.Delim('}'), json.Delim(']'):
			open, wantKey = open[:len(open)-1], wantKey[:len(wantKey)-1]
		}
		if len(open) > canon.MaxDepth {
			return "nested deeper"
		}
		if d := tok; len(open) > 0 && open[len(open)-1] != nil && d != json.Delim('{') {
			wantKey[len(wantKey)-1] = true
		}
	}
}

// agree holds Parse against encoding/json and the oracle of RFC 8785 on any
// text. It reports whether the text was accepted.
func agree(t testing.TB, text []byte) bool {
	v, err := canon.Parse(text)
	if err != nil {
		if !errors.Is(err, canon.ErrSyntax) || v != nil {
			t.Fatalf("%q: got %v, %v, want no value and ErrSyntax", text, v, err)
		}
		// encoding/json puts U+FFFD in place of half a surrogate pair.
		if json.Valid(text) && lax(text) == "" && !strings.Contains(err.Error(), "lone surrogate") {
			t.Fatalf("%q is refused: %v", text, err)
		}
		if strings.Contains(err.Error(), "lone surrogate") && json.Valid(text) {
			if all, err := decode(text); err != nil || !strings.Contains(fmt.Sprint(all), "\ufffd") {
				t.Fatalf("%q is said to hold a lone surrogate", text)
			}
		}
		return false
	}
	if why := lax(text); why != "" || !json.Valid(text) {
		t.Fatalf("%q is accepted: %s", text, why)
	}
	want, err := decode(text)
	if err != nil {
		t.Fatalf("%q: encoding/json: %v", text, err)
	}
	if got := plainValue(v); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: got %#v, want %#v", text, got, want)
	}
	checkPlaces(t, text, v)
	written := render(v)
	again, err := canon.Parse([]byte(written))
	if err != nil || render(again) != written {
		t.Fatalf("%q is written %q, which is not read as the same: %v", text, written, err)
	}
	if plainNumbers(v) {
		out, err := jcs.Transform(text)
		if err != nil || string(out) != written {
			t.Fatalf("%q: got %q, and RFC 8785 gives %q, %v", text, written, out, err)
		}
	}
	return true
}

// checkPlaces holds that each value's bytes are where it says, and hold it.
func checkPlaces(t testing.TB, text []byte, v *canon.Value) {
	part, err := canon.Parse(text[v.Offset:v.End])
	if err != nil || render(part) != render(v) || part.Kind != v.Kind || part.Offset != 0 || int(part.End) != int(v.End-v.Offset) {
		t.Fatalf("%q: at %d to %d there is no %s", text, v.Offset, v.End, render(v))
	}
	for i := range v.Items {
		checkPlaces(t, text, &v.Items[i])
	}
	for i := range v.Members {
		checkPlaces(t, text, &v.Members[i].Value)
	}
}

var accepted = []string{
	`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `10`, `0.0`, `1.50`, `1e5`, `1E+5`, `1e-05`, `0e0`, `123456789012345678901234567890`,
	`9007199254740991`, `9007199254740992`, `""`, `"a"`, ` "a" `, "\t\r\n 1 \n", `[]`, `[ ]`, `[1,2]`, `[ 1 , [ ] ]`, `{}`, `{ }`, `{"a":1}`,
	`{"a":{"a":{"a":[]}}}`, `{"":0}`, `{"b":1,"a":2}`, `{"é":1,"😀":2,"z":3}`, `{"\u00e9":1}`, `{"a":1,"A":1}`, `"\"\\\/\b\f\n\r\t"`,
	`"\u0000\u001F\u20ac\uD834\uDD1E"`, `"\ud800\udc00\uDBFF\uDFFF"`, "\"\x7f\u0080\u2028\u2029\ufeff\uffff\U0010ffff\"", `"\uffff\ufffe"`,
	`"�"`, `"\ufffd"`, `{"�":1,"\\ud800":2}`, `"\\ud800"`,
}

var refused = []struct{ text, rule string }{
	{``, "ends"}, {` `, "ends"}, {`[`, "ends"}, {`{`, "want a key"}, {`[1`, "']'"}, {`{"a"`, "':'"}, {`{"a":`, "ends"}, {`{"a":1`, "'}'"}, {`"`, "ends inside"}, {`"\`, "ends inside"}, {`"a`, "ends inside"}, {`"\"`, "ends inside"},
	// Repeated keys, however they are spelled and however many there are.
	{`{"a":1,"a":1}`, `key "a" is repeated`}, {`{"a":1,"\u0061":2}`, `key "a" is repeated`}, {`{"":1,"":1}`, `key "" is repeated`},
	{`[{"b":{"a":1,"c":[],"a":null}}]`, `key "a" is repeated`}, {manyKeys(23, "k0"), `key "k0" is repeated`}, {manyKeys(24, "k0"), `key "k0" is repeated`},
	{manyKeys(25, "k24"), `key "k24" is repeated`}, {manyKeys(100, "k50"), `key "k50" is repeated`}, {manyKeys(25, "k0"), `key "k0" is repeated`},
	// Invalid UTF-8, in values and keys.
	{"\"\xff\"", "UTF-8"}, {"\"\x80\"", "UTF-8"}, {"\"\xc0\x80\"", "UTF-8"}, {"\"\xe2\x82\"", "UTF-8"}, {"\"\xed\xa0\x80\"", "UTF-8"}, {"\"\xf4\x90\x80\x80\"", "UTF-8"}, {"{\"\xff\":1}", "UTF-8"},
	// Half a surrogate pair: at the end, before text, before another escape, the
	// wrong way round.
	{`"\ud800"`, "lone surrogate"}, {`"\ud800x"`, "lone surrogate"}, {`"\ud800\n"`, "lone surrogate"}, {`"\ud800\u0061"`, "lone surrogate"}, {`"\ud800\ud800"`, "lone surrogate"},
	{`"\ud800\ud800\udc00"`, "lone surrogate"}, {`"\udc00"`, "lone surrogate"}, {`"\udc00\ud800"`, "lone surrogate"}, {`"\uDFFFx"`, "lone surrogate"}, {`{"\udbff":1}`, "lone surrogate"}, {`"\ud800\`, "lone surrogate"}, {`"\ud800\u"`, "four hex"},
	// Numbers that RFC 8259 does not have.
	{`01`, "begins with 0"}, {`00`, "begins with 0"}, {`-01`, "begins with 0"}, {`[0123]`, "begins with 0"}, {`-`, "digit"}, {`+1`, "begin a value"}, {`.5`, "begin a value"}, {`1.`, "after the point"}, {`1.e5`, "after the point"}, {`1e`, "exponent"}, {`1e+`, "exponent"}, {`1E-x`, "exponent"},
	{`0x10`, "after the value"}, {`1_000`, "after the value"}, {`NaN`, "begin a value"}, {`Infinity`, "begin a value"}, {`-Infinity`, "digit"}, {`- 1`, "digit"}, {`--1`, "digit"}, {`1.2.3`, "after the value"}, {`1e5e5`, "after the value"}, {`٣`, "begin a value"},
	// Text behind the value, and before.
	{`1 2`, "after the value"}, {`{} {}`, "after the value"}, {`[]]`, "after the value"}, {"1\x00", "after the value"}, {"1\u00a0", "after the value"}, {"1\v", "after the value"}, {`nullx`, "after the value"}, {"\ufeff1", "begin a value"}, {"\x00", "begin a value"}, {"\f1", "begin a value"}, {`// c`, "begin a value"}, {`1 // c`, "after the value"}, {`1/**/`, "after the value"},
	// Control characters within strings.
	{"\"\x00\"", "control"}, {"\"\n\"", "control"}, {"\"\t\"", "control"}, {"\"\x1f\"", "control"}, {"{\"\x01\":1}", "control"},
	// Escapes.
	{`"\x41"`, "no escape"}, {`"\'"`, "no escape"}, {`"\0"`, "no escape"}, {`"\U0041"`, "no escape"}, {`"\a"`, "no escape"}, {"\"\\\n\"", "no escape"}, {`"\u"`, "four hex"}, {`"\u004"`, "four hex"}, {`"\u00g1"`, "four hex"}, {`"\u+041"`, "four hex"}, {`"\u 041"`, "four hex"}, {`"\u00é"`, "four hex"}, {`"\u{41}"`, "four hex"},
	// Commas, colons and brackets.
	{`[1,]`, "comma before ']'"}, {`[,1]`, "begin a value"}, {`[1,,2]`, "begin a value"}, {`[1 2]`, "want ',' or ']'"}, {`[1}`, "want ',' or ']'"}, {`{"a":1,}`, "comma before '}'"}, {`{,}`, "want a key"}, {`{"a":1 "b":2}`, "want ',' or '}'"}, {`{"a":1]`, "want ',' or '}'"}, {`{"a" 1}`, "want ':'"}, {`{"a"=1}`, "want ':'"}, {`{a:1}`, "want a key"}, {`{1:1}`, "want a key"}, {`{null:1}`, "want a key"}, {`{'a':1}`, "want a key"}, {`'a'`, "begin a value"}, {`]`, "begin a value"}, {`}`, "begin a value"}, {`,`, "begin a value"}, {`:`, "begin a value"},
	// Words.
	{`True`, "begin a value"}, {`TRUE`, "begin a value"}, {`tru`, "begin a value"}, {`nul`, "begin a value"}, {`undefined`, "begin a value"}, {`None`, "begin a value"},
}

// manyKeys returns an object with the keys k0 to k(n-1) and another one.
func manyKeys(n int, and string) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	return "{" + strings.Join(members, ",") + `,"` + and + `":0}`
}

func TestParseAccepts(t *testing.T) {
	for _, s := range append(accepted, manyKeys(23, "x"), manyKeys(24, "x"), manyKeys(100, "x"), "["+manyKeys(30, "x")+","+manyKeys(30, "x")+"]") {
		if !agree(t, []byte(s)) {
			t.Errorf("%q is refused", s)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range refused {
		if v, err := canon.Parse([]byte(tc.text)); !errors.Is(err, canon.ErrSyntax) || !strings.Contains(err.Error(), tc.rule) || v != nil {
			t.Errorf("%q: got %v, want ErrSyntax naming %q", tc.text, err, tc.rule)
		}
		agree(t, []byte(tc.text))
	}
}

func TestParseDepth(t *testing.T) {
	for _, tc := range []struct {
		open, shut string
		levels     int // that one pair makes
	}{{"[", "]", 1}, {`{"a":`, "}", 1}, {`[{"a":`, "}]", 2}} {
		deep := func(levels int) []byte {
			n := levels / tc.levels
			return []byte(strings.Repeat(tc.open, n) + "1" + strings.Repeat(tc.shut, n))
		}
		if _, err := canon.Parse(deep(canon.MaxDepth)); err != nil {
			t.Errorf("%q at %d levels: %v", tc.open, canon.MaxDepth, err)
		}
		if _, err := canon.Parse(deep(canon.MaxDepth + tc.levels)); err == nil || !strings.Contains(err.Error(), "nested deeper than 256") {
			t.Errorf("%q at more levels: got %v", tc.open, err)
		}
	}
	if _, err := canon.Parse(bytes.Repeat([]byte("["), 1<<20)); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("a million brackets: got %v", err)
	}
	// Depth is how many are open, not how many there were.
	if _, err := canon.Parse([]byte("[" + strings.Repeat("[[]],", 1000) + "0]")); err != nil {
		t.Error(err)
	}
}

// TestParseNamesThePlace holds that an error says at which byte it stands.
func TestParseNamesThePlace(t *testing.T) {
	for text, want := range map[string]string{
		`[1,x]`:                 "byte 3:",
		`{"a":1,"a":2}`:         "byte 7:",
		"\"ab\xff\"":            "byte 3:",
		`"ab` + "\x01" + `"`:    "byte 3:",
		`1 2`:                   "byte 2:",
		`[01]`:                  "byte 2:",
		`{"long":{"a":[1,2,}]}`: "byte 18:",
	} {
		if _, err := canon.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestParseOwnsItsText holds that changing the bytes afterwards changes nothing.
func TestParseOwnsItsText(t *testing.T) {
	text := []byte(`{"key":["value",12]}`)
	v, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	clear(text)
	if got := render(v); got != `{"key":["value",12]}` {
		t.Errorf("got %q", got)
	}
}

// drawText draws valid JSON with white space and escapes in odd places, and
// strings that are rich in awkward characters.
func drawText(t *rapid.T, depth int) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n", "\t\r"}).Draw(t, "space") }
	quote := func(s string) string {
		out := `"`
		for _, r := range s {
			switch {
			case rapid.IntRange(0, 3).Draw(t, "escape") == 0 || r < 0x20 || r == '"' || r == '\\':
				form := rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "case")
				for _, u := range utf16.Encode([]rune{r}) {
					out += fmt.Sprintf(form, u)
				}
			default:
				out += string(r)
			}
		}
		return out + `"`
	}
	most := 4
	if depth == 0 {
		most = 2
	}
	var out string
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		out = rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word")
	case 1:
		out = rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
	case 2:
		out = quote(awkward.Draw(t, "string"))
	case 3:
		items := []string{}
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			items = append(items, drawText(t, depth-1))
		}
		out = "[" + space() + strings.Join(items, ",") + "]"
	case 4:
		members := []string{}
		for _, key := range rapid.SliceOfNDistinct(awkward, 0, 4, rapid.ID[string]).Draw(t, "keys") {
			members = append(members, space()+quote(key)+space()+":"+drawText(t, depth-1))
		}
		out = "{" + space() + strings.Join(members, ",") + "}"
	}
	return space() + out + space()
}

// TestParseAgainstOthers holds that Parse reads what encoding/json and the oracle
// read, and of mangled texts no more than they.
func TestParseAgainstOthers(t *testing.T) {
	good, bad := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		text := []byte(drawText(rt, 3))
		if !agree(t, text) {
			rt.Fatalf("%q is refused", text)
		}
		for range 10 {
			mangled := slices.Clone(text)
			i := rapid.IntRange(0, len(text)-1).Draw(rt, "place")
			switch rapid.IntRange(0, 2).Draw(rt, "how") {
			case 0:
				mangled[i] = rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("\"\\,:[]{}0-.e\x00\xff"))).Draw(rt, "byte")
			case 1:
				mangled = slices.Delete(mangled, i, i+1)
			case 2:
				j := rapid.IntRange(i, len(text)).Draw(rt, "end")
				mangled = slices.Concat(text[:j], text[i:])
			}
			if agree(t, mangled) {
				good++
			} else {
				bad++
			}
		}
	})
	if good == 0 || bad == 0 {
		t.Errorf("of the mangled texts %d were good and %d bad", good, bad)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range accepted {
		f.Add([]byte(s))
	}
	for _, tc := range refused {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { agree(t, text) })
}
