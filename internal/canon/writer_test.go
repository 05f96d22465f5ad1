package canon_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// transform is the oracle: RFC 8785 by another hand.
func transform(t interface{ Fatalf(string, ...any) }, value any) string {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(value); err != nil {
		t.Fatalf("%v", err)
	}
	out, err := jcs.Transform(text.Bytes())
	if err != nil {
		t.Fatalf("jcs: %v: %s", err, text.Bytes())
	}
	return string(out)
}

// TestStringEveryCharacter compares all characters of Unicode with the oracle.
func TestStringEveryCharacter(t *testing.T) {
	var s strings.Builder
	compared := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) {
			s.WriteRune(r)
			compared++
		}
		if s.Len() > 1<<15 || r == utf8.MaxRune {
			if got, want := string(canon.AppendString(nil, s.String())), transform(t, s.String()); got != want {
				t.Fatalf("around %U: got and want differ", r)
			}
			s.Reset()
		}
	}
	if compared != 0x110000-0x800 {
		t.Errorf("%d characters", compared)
	}
}

// awkward draws texts that are rich in what an encoder can get wrong.
var awkward = rapid.StringOf(rapid.OneOf(
	rapid.RuneFrom([]rune{0, 1, 7, '\b', '\t', '\n', 0x0b, '\f', '\r', 0x1f, ' ', '"', '\\', '/', '<', '>', '&', 0x7f, 0x80, 0x9f, 0x2028, 0x2029, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff}),
	rapid.Rune(),
))

func TestStringAgainstJCS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := awkward.Draw(t, "text")
		got := string(canon.AppendString([]byte("x"), s))
		if want := "x" + transform(t, s); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	})
}

// A tree is a value in the subset that a Writer writes, with the calls that write it.
type tree struct {
	value any // for encoding/json
	write func(*canon.Writer)
}

func drawTree(t *rapid.T, depth int) tree {
	most := 7
	if depth == 0 {
		most = 5
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		b := rapid.Bool().Draw(t, "bool")
		return tree{b, func(w *canon.Writer) { w.Bool(b) }}
	case 1:
		n := rapid.OneOf(rapid.Uint64Max(canon.MaxInt), rapid.SampledFrom([]uint64{0, 1, 9, 10, canon.MaxInt - 1, canon.MaxInt})).Draw(t, "integer")
		return tree{n, func(w *canon.Writer) { w.Uint(n) }}
	case 2:
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		const digits = "0123456789abcdef"
		text := ""
		for _, c := range b {
			text += digits[c>>4:c>>4+1] + digits[c&15:c&15+1]
		}
		return tree{text, func(w *canon.Writer) { w.Hex(b) }}
	case 3:
		s := rapid.StringMatching(`[0-9a-z -]*`).Draw(t, "plain")
		return tree{s, func(w *canon.Writer) { w.Text([]byte(s)) }}
	case 4:
		s := rapid.SampledFrom([]string{"0", "0.5", "0.000001", "1", "null", `"x"`, "[]", `{"a":[]}`}).Draw(t, "raw")
		return tree{json.RawMessage(s), func(w *canon.Writer) { w.Raw([]byte(s)) }}
	case 5:
		s := awkward.Draw(t, "string")
		return tree{s, func(w *canon.Writer) { w.String(s) }}
	case 6:
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tree { return drawTree(t, depth-1) }), 0, 4).Draw(t, "items")
		values := make([]any, len(items))
		for i := range items {
			values[i] = items[i].value
		}
		return tree{values, func(w *canon.Writer) {
			w.BeginArray()
			for i := range items {
				items[i].write(w)
			}
			w.EndArray()
		}}
	}
	keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[ !#-\[\]-~]{1,3}`), 0, 4, rapid.ID[string]).Draw(t, "keys")
	keys = sorted(keys)
	members := make([]tree, len(keys))
	values := map[string]any{}
	for i, key := range keys {
		members[i] = drawTree(t, depth-1)
		values[key] = members[i].value
	}
	return tree{values, func(w *canon.Writer) {
		w.BeginObject()
		for i, key := range keys {
			w.Key(key)
			members[i].write(w)
		}
		w.EndObject()
	}}
}

// TestWriterAgainstJCS writes random values with the Writer and with the oracle.
func TestWriterAgainstJCS(t *testing.T) {
	var again canon.Writer
	nested := 0
	for tries := 0; tries == 0 || nested == 0 && tries < 5; tries++ { // one run in a hundred draws nothing nested
		rapid.Check(t, func(t *rapid.T) {
			v := drawTree(t, 3)
			w := canon.NewWriter([]byte("before "))
			v.write(w)
			got := string(w.Bytes)
			if want := "before " + transform(t, v.value); got != want {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
			if parsed, err := canon.Parse([]byte(" " + got[len("before "):])); err != nil || string(canon.AppendValue(nil, parsed)) != got[len("before "):] {
				t.Fatalf("parsed and appended it is %s, want %s", canon.AppendValue(nil, parsed), got)
			}
			again.Reset(again.Bytes[:0])
			v.write(&again)
			if string(again.Bytes) != got[len("before "):] {
				t.Fatalf("a Writer that was reset wrote %s, want %s", again.Bytes, got)
			}
			if strings.Contains(got, "{") && strings.Contains(got, "[") {
				nested++
			}
		})
	}
	if nested == 0 && !testing.Short() { // a fifth of the cases may hold none
		t.Error("nothing nested was written")
	}
}

// TestWriterResetForgets holds that a Writer which was left in the middle of a
// value begins afresh.
func TestWriterResetForgets(t *testing.T) {
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("z")
	w.BeginArray()
	w.Bool(true)
	w.Reset(nil)
	w.BeginObject()
	w.Key("a")
	w.Uint(1)
	w.EndObject()
	if got := string(w.Bytes); got != `{"a":1}` {
		t.Errorf("got %s", got)
	}
}

// TestWriterRawMembers writes the rest of an object as it is.
func TestWriterRawMembers(t *testing.T) {
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("a")
	w.Bool(false)
	w.Raw([]byte(`"b":1,"c":2`))
	w.EndObject()
	if got := string(w.Bytes); got != `{"a":false,"b":1,"c":2}` {
		t.Errorf("got %s", got)
	}
}

// TestWriterPanics holds that the caller's bugs do not pass.
func TestWriterPanics(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(*canon.Writer)
	}{
		{"a key twice", func(w *canon.Writer) { w.Key("a"); w.Bool(true); w.Key("a") }},
		{"keys that descend", func(w *canon.Writer) { w.Key("b"); w.Bool(true); w.Key("a") }},
		{"keys that descend around an object", func(w *canon.Writer) {
			w.Key("b")
			w.BeginObject()
			w.Key("z")
			w.Bool(true)
			w.EndObject()
			w.Key("a")
		}},
		{"a prefix after the longer key", func(w *canon.Writer) { w.Key("ab"); w.Bool(true); w.Key("a") }},
		{"2^53", func(w *canon.Writer) { w.Key("a"); w.Uint(1 << 53) }},
		{"invalid UTF-8", func(w *canon.Writer) { w.Key("a"); w.String("a\xffb") }},
		{"a surrogate", func(w *canon.Writer) { w.Key("a"); w.String("\xed\xa0\x80") }},
		{"half a character at the end", func(w *canon.Writer) { w.Key("a"); w.String("\xe2\x82") }},
	} {
		w := canon.NewWriter(nil)
		w.BeginObject()
		if !panics(func() { tc.do(w) }) {
			t.Errorf("%s: no panic, wrote %s", tc.name, w.Bytes)
		}
	}
	w := canon.NewWriter(nil)
	w.BeginObject()
	if panics(func() {
		w.Key("a")
		w.Uint(canon.MaxInt)
		w.Key("ab")
		w.String("\ufffd")
		w.Key("b")
		w.Bool(true)
	}) {
		t.Error("what is allowed panics")
	}
}

func panics(fn func()) (did bool) {
	defer func() { did = recover() != nil }()
	fn()
	return false
}
