package server

import (
	"fmt"
	"testing"
)

// TestProse makes code of what is between backquotes, and markup of nothing.
func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"plain":                    "plain",
		"takes `a<b>` and `c`.":    "takes <code>a&lt;b&gt;</code> and <code>c</code>.",
		"<script>`</code><script>": "&lt;script&gt;`&lt;/code&gt;&lt;script&gt;",
		"one ` alone":              "one ` alone",
		"`a` & `b":                 "<code>a</code> &amp; `b",
	} {
		if got := fmt.Sprint(prose(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
