package cli

import (
	"fmt"
	"testing"
)

// TestCount holds the plurals of the nouns that commands count.
func TestCount(t *testing.T) {
	for one, many := range map[string]string{"turn": "turns", "alias": "aliases", "entry": "entries", "entity": "entities", "leaf": "leaves", "key": "keys", "ledger leaf": "ledger leaves"} {
		if got := Count(1, one); got != "1 "+one {
			t.Errorf("one %s: %q", one, got)
		}
		for _, n := range []int{0, 2} {
			if got, want := Count(n, one), fmt.Sprintf("%d %s", n, many); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	if got := Was(1, "entry") + ", " + Was(2, "entry") + ", " + There(1) + ", " + There(0); got != "1 entry was, 2 entries were, 1 was there already, 0 were there already" {
		t.Error(got)
	}
}
