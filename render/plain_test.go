package render

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, line, lines string }{
		{"", "", ""},
		{"plain", "plain", "plain"},
		{"two\nlines\tand\r\nmore", "two lines and more", "two\nlines\tand\nmore"},
		{"\x1b[31mred\x07", "[31mred", "␛[31mred␇"},
		{"\x00\x7f\u009b", "", "␀␡\ufffd"},
		{"a\u202ebc\u2066", "a bc", "a\ufffdbc\ufffd"},
		{"\ufeff\u2028\U000e0041", "", "\ufffd\ufffd\ufffd"},
		{"\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"},
		{"\xff", "\ufffd", "\ufffd"},
	} {
		if got := OneLine(c.in, 40); got != c.line {
			t.Errorf("OneLine(%+q) = %+q, want %+q", c.in, got, c.line)
		}
		if got := Visible(c.in); got != c.lines {
			t.Errorf("Visible(%+q) = %+q, want %+q", c.in, got, c.lines)
		}
	}
	if got, want := OneLine("0123456789", 4), "0123…"; got != want {
		t.Errorf("OneLine cut to %q, want %q", got, want)
	}
}

// TestEscapeJSON makes sure that escaping changes no value and leaves nothing
// that acts.
func TestEscapeJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.SampledFrom([]rune("a\"\\\n\x00\x1b\x7f\u009b\u200d\u202e\u2028\ufeff\U000e0041\U0001f600"))
		want := rapid.StringOf(rapid.OneOf(odd, rapid.Rune())).Draw(t, "text")
		plain, err := json.Marshal(map[string]string{want: want})
		if err != nil {
			t.Fatal(err)
		}
		escaped := EscapeJSON(plain)
		if strings.ContainsFunc(string(escaped), hidesInJSON) {
			t.Fatalf("%+q acts", escaped)
		}
		var got map[string]string
		if err := json.Unmarshal(escaped, &got); err != nil || got[want] != want {
			t.Fatalf("%+q became %+q, %v", want, got, err)
		}
	})
}
