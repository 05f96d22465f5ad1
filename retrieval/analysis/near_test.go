package analysis

import "testing"

func TestNear(t *testing.T) {
	for _, c := range []struct {
		word, other  string
		names, word7 bool
	}{
		{"carolnie", "caroline", true, true},
		{"carolin", "caroline", true, true},
		{"carolinee", "caroline", true, true},
		{"karoline", "caroline", true, true},
		{"caroline", "caroline", false, false},
		{"karolina", "caroline", false, false},
		{"march", "match", true, false},
		{"mrach", "march", true, true},
		{"bne", "ben", false, false},
		{"ent-258", "ent-259", false, false},
		{"v1.12.0", "v1.21.0", false, false},
		{"pane_sesion", "pane_session", true, true},
		{"panesession", "pane_session", false, false},
		{"grün", "grun", false, false},
		{"grünlich", "grunlich", true, true},
		{"überall", "üebrall", true, true},
		{"日本語の本", "日本語の木", true, false},
		{"", "a", false, false},
	} {
		if got := NearNames.Near(c.word, c.other); got != c.names {
			t.Errorf("names %q, %q: got %v", c.word, c.other, got)
		}
		if got := NearWords.Near(c.word, c.other); got != c.word7 {
			t.Errorf("words %q, %q: got %v", c.word, c.other, got)
		}
	}
}
