package canon_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// TestMembers cuts objects made of the characters that JSON is made of, and compares
// with what the parser says.
func TestMembers(t *testing.T) {
	characters := rapid.SampledFrom([]rune(`{}[]",:\ ab` + "\n\x00é"))
	text := rapid.StringOfN(characters, 0, 24, -1)
	rapid.Check(t, func(t *rapid.T) {
		w := canon.NewWriter(nil)
		w.BeginObject()
		w.Key("a")
		w.BeginObject()
		for _, key := range []string{"k", "kk"}[:rapid.IntRange(0, 2).Draw(t, "keys")] {
			w.Key(key)
			w.String(text.Draw(t, key))
		}
		w.EndObject()
		w.Key("b")
		w.String(text.Draw(t, "b"))
		w.Key("c")
		w.BeginArray()
		w.Uint(rapid.Uint64Range(0, 1<<53-1).Draw(t, "number"))
		w.Bool(true)
		w.String(text.Draw(t, "element"))
		w.EndArray()
		w.Key("d")
		w.Uint(7)
		w.EndObject()
		names, values := []string{"a", "b", "c", "d"}, make([][]byte, 4)
		if err := canon.Members(w.Bytes, names, values); err != nil {
			t.Fatalf("%s: %v", w.Bytes, err)
		}
		doc, err := canon.Parse(w.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			if v := doc.Get(name); string(values[i]) != string(w.Bytes[v.Offset:v.End]) {
				t.Fatalf("%s of %s is cut as %s", name, w.Bytes, values[i])
			}
		}
		for _, other := range [][]string{{"a", "b", "c"}, {"b", "a", "c", "d"}, {"a", "b", "c", "d", "e"}, {}} {
			if err := canon.Members(w.Bytes, other, make([][]byte, 5)); err == nil {
				t.Fatalf("%s has the members %q", w.Bytes, other)
			}
		}
		cut := rapid.IntRange(0, len(w.Bytes)-1).Draw(t, "cut")
		if err := canon.Members(w.Bytes[:cut], names, values); err == nil {
			t.Fatalf("%s is whole", w.Bytes[:cut])
		}
	})
}

func FuzzMembers(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"a":1,"b":"x"}`, `{"a":"\\\"","b":{"c":[1,"]"]}}`, `{"a":"`, `{"a":"\`, `{"a":}`, `{"a":],"b":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		values := make([][]byte, 2)
		if canon.Members(data, []string{"a", "b"}, values) != nil {
			return
		}
		doc, err := canon.Parse(data)
		if err != nil {
			return
		}
		for i, name := range []string{"a", "b"} {
			if v := doc.Get(name); v == nil || string(values[i]) != string(data[v.Offset:v.End]) {
				t.Errorf("%s of %q is cut as %q", name, data, values[i])
			}
		}
	})
}
