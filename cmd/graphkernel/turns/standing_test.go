package turns

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
)

// TestPrintChange prints changes: every turn that is listed, also after it was set, and how many of each kind are not.
func TestPrintChange(t *testing.T) {
	up := api.MovedStanding{Author: "human:a", Before: "guest", After: "owner"}
	down := api.MovedStanding{Author: "human:b", Before: "owner", After: "guest"}
	held := up
	held.Held = true
	of := func(w api.StandingChange, set bool, moved ...api.MovedStanding) api.StandingChange {
		w.Before, w.PolicyID, w.Turns, w.Moved = "a@1", "b@1", 9, moved
		if set {
			w.Set = &api.StandingSetting{PolicyID: "b@1"}
		}
		return w
	}
	for _, c := range []struct {
		w    api.StandingChange
		want string
	}{
		{of(api.StandingChange{Raised: 1, Lowered: 1}, true, up, down), "b@1 is in force in place of a@1: of 9 turns, 1 count more and 1 less|human:a was guest, is owner|human:b was owner, is guest"},
		{of(api.StandingChange{Raised: 3, Lowered: 2}, true, up, down), "b@1 is in force in place of a@1: of 9 turns, 3 count more and 2 less|human:a was guest, is owner|and 2 turns before these, counting more|human:b was owner, is guest|and 1 turn before these, counting less"},
		{of(api.StandingChange{Raised: 2}, false, up), "b@1 would be in force in place of a@1: of 9 turns, 2 count more and 0 less|human:a is guest, would be owner|and 1 turn before these, counting more"},
		{of(api.StandingChange{Lowered: 2}, false, down), "b@1 would be in force in place of a@1: of 9 turns, 0 count more and 2 less|human:b is owner, would be guest|and 1 turn before these, counting less"},
		{of(api.StandingChange{Held: 2}, true, held), "b@1 is in force in place of a@1: of 9 turns, 0 count more and 0 less|not raised, since a policy does not raise turns that are there: 2 turns; to raise them, give --retroactive|human:a is guest, would be owner with --retroactive|and 1 turn before these, counting more with --retroactive"},
		{of(api.StandingChange{}, true), "b@1 is in force in place of a@1: of 9 turns, 0 count more and 0 less"},
	} {
		var out strings.Builder
		printChange(&out, nil, &c.w)
		var got []string
		for line := range strings.Lines(out.String()) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "00000000-0000-0000-0000-000000000000")
			got = append(got, strings.TrimSpace(line))
		}
		if is := strings.Join(got, "|"); is != c.want {
			t.Errorf("got\n%s, want\n%s", is, c.want)
		}
	}
}

// TestWord makes sure that a shell prints a word unchanged, so that no author of an imported file can run a command.
func TestWord(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	for _, author := range []string{"human:lead", "human:x; echo y", "$(echo y)", "`echo y`", "it's", "''", "", "a\nb", `\`, "-n", "é", "human:a b", "*", "~"} {
		got, err := exec.Command(sh, "-c", "printf %s "+word(author)).Output()
		if err != nil || string(got) != author {
			t.Errorf("%q: the shell has %q, %v", author, got, err)
		}
	}
	if got := word("human:lead-1@x.org"); got != "human:lead-1@x.org" {
		t.Errorf("got %s", got)
	}
}
