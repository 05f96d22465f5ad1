package beliefs

import (
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
)

// TestPremises reads the premises of --because, well-formed and not.
func TestPremises(t *testing.T) {
	for text, want := range map[string]api.BeliefStatement{
		"ada lives-in london":                {Subject: "ada", Predicate: "lives-in", Object: "london"},
		"  ada   lives-in london  ":          {Subject: "ada", Predicate: "lives-in", Object: "london"},
		`"Ada Lovelace" "lives in" London`:   {Subject: "Ada Lovelace", Predicate: "lives in", Object: "London"},
		"not ada lives-in london":            {Subject: "ada", Predicate: "lives-in", Object: "london", Not: true},
		`NOT "the pump" is green`:            {Subject: "the pump", Predicate: "is", Object: "green", Not: true},
		"not is short":                       {Subject: "not", Predicate: "is", Object: "short"},
		`"says ""no""" is "a name"`:          {Subject: `says "no"`, Predicate: "is", Object: "a name"},
		`ada says "one line, another; last"`: {Subject: "ada", Predicate: "says", Object: "one line, another; last"},
	} {
		if got, err := premiseOf(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"":                         "quotes",
		"ada lives-in":             "2 names",
		"ada lives in london":      "4 names",
		"not not ada is b":         "names",
		`"ada lives-in london`:     "quotes",
		`ada lives-in "london`:     "quotes",
		`ada lives-in lon"don`:     "quotes",
		"ada lives-in london\na b": "quotes",
		`ada lives-in ""`:          "names",
		`ada " " london`:           "PREDICATE",
	} {
		if got, err := premiseOf(text); err == nil || !strings.Contains(err.Error(), "--because") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v, want an error of --because with %s", text, got, err, says)
		}
	}
}

// TestWhole shows statements whole: nothing of them is missing, and nothing in them moves the cursor, hides or reorders text.
func TestWhole(t *testing.T) {
	long := strings.Repeat("word ", 60) + "end"
	for _, c := range []struct {
		subject, object string
		cut             bool
	}{
		{"ada", "london", false},
		{"ada", long, true},
		{long, "london", true},
		{"ada", "first line\nsecond line", true},
		{"ada", "\x1b[31mred\x1b[0m end", true},
		{"\x1b[2J\x07 ada end", "x", true},
		{"ada \u202e end", "london", true},
	} {
		s := api.WrittenStatement{BeliefStatement: api.BeliefStatement{Subject: "s", Predicate: "lives-in", Object: "o", Not: true}, Written: api.Written{Subject: c.subject, Object: c.object}}
		if isCut(s) != c.cut {
			t.Errorf("%q %q is cut: %t", c.subject, c.object, isCut(s))
		}
		text := whole(s, "> ")
		if strings.ContainsAny(text, "\x1b\x07\u202e\u2026") || !strings.HasPrefix(text, "not ") || !strings.Contains(text, "lives-in") {
			t.Errorf("%q %q is shown as %q", c.subject, c.object, text)
		}
		for _, part := range []string{c.subject, c.object} {
			if fields := strings.Fields(part); !strings.Contains(text, fields[len(fields)-1]) {
				t.Errorf("%q %q is shown as %q, without the last word", c.subject, c.object, text)
			}
		}
		for i, line := range strings.Split(text, "\n") {
			if i > 0 && !strings.HasPrefix(line, "> ") {
				t.Errorf("%q %q is shown as %q: a line that is not indented", c.subject, c.object, text)
			}
		}
		if line := said(s); strings.Contains(line, "\n") || len([]rune(line)) > widestName*2+widestObject+20 {
			t.Errorf("in a line %q", line)
		}
	}
}
