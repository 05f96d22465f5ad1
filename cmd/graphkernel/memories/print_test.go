package memories

import (
	"bytes"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// aMemory returns a memory with a text.
func aMemory(text string) api.Memory {
	return api.Memory{ID: "0123456789abcdef0123", Text: text, Kind: "hard_rule", By: "local", Since: dag.Time(1_780_000_000_000_000), Project: api.General}
}

// TestRemembered prints every outcome of remember.
func TestRemembered(t *testing.T) {
	old := aMemory("prefers tabs\nin Go\x1b[2J")
	const printedOld = "  prefers tabs\n  | in Go␛[2J\n    01234567, rule, by local, 2026-05-28\n"
	for name, c := range map[string]struct {
		in   api.NewMemory
		out  api.Remembered
		want string
	}{
		"changed":   {out: api.Remembered{ID: "0123456789abcdef0123", Result: "changed"}, want: "remembered as 01234567\n"},
		"unchanged": {out: api.Remembered{ID: "0123456789abcdef0123", Result: "unchanged"}, want: "unchanged: it is remembered already, as 01234567\n"},
		"proposed":  {out: api.Remembered{ID: "0123456789abcdef0123", Result: "proposed"}, want: "proposed as 01234567, until a person accepts it\n"},
		"waits":     {out: api.Remembered{ID: "w12", Result: "proposed", Against: []api.Memory{old}}, want: "proposed as w12: it waits for a person, since it contradicts\n" + printedOld},
		"gave way":  {out: api.Remembered{ID: "tone.fact", Result: "changed", GaveWay: []api.Memory{old}}, want: "remembered as tone.fact\nthis holds no longer:\n" + printedOld},
		"dry run":   {in: api.NewMemory{DryRun: true}, out: api.Remembered{Result: "changed", GaveWay: []api.Memory{old}}, want: "would be remembered\nthis would hold no longer:\n" + printedOld},
		"nearest": {
			out:  api.Remembered{ID: "aaaaaaaaaaaaaaaaaaaa", Result: "changed", Nearest: &old},
			want: "remembered as aaaaaaaa\nnothing gave way; the most alike is\n" + printedOld + "to replace it: graphkernel remember … --instead 01234567\n",
		},
	} {
		var b bytes.Buffer
		if printRemembered(&b, &c.in, &c.out); b.String() != c.want {
			t.Errorf("%s: %q, want %q", name, b.String(), c.want)
		}
	}
}

// TestMemories prints lists: with their projects if there are several, with the next page, and without anything.
func TestMemories(t *testing.T) {
	proposed, elsewhere := aMemory("The lamp is red."), aMemory("The door is blue.")
	proposed.Kind, proposed.Proposed, proposed.By = "preference", true, ""
	elsewhere.Project = "projects/0123456789abcdef0123"
	for name, c := range map[string]struct {
		in   api.MemoriesQuery
		out  api.Memories
		want string
	}{
		"none":     {want: "nothing is remembered; begin with: graphkernel remember \"…\"\n"},
		"no match": {in: api.MemoriesQuery{Words: "xyzzy"}, want: "nothing that is remembered matches\n"},
		"no proposal": {
			in:   api.MemoriesQuery{Proposed: true},
			want: "no proposal waits\n",
		},
		"two": {
			out:  api.Memories{Memories: []api.Memory{proposed, elsewhere}, Next: "c1"},
			want: "The lamp is red.\n    01234567, proposed preference, 2026-05-28\nThe door is blue.\n    01234567, rule, by local, 2026-05-28, projects/0123456789abcdef0123\nthere are more; go on with --after c1\n",
		},
	} {
		var b bytes.Buffer
		if printMemories(&b, &c.in, &c.out); b.String() != c.want {
			t.Errorf("%s: %q, want %q", name, b.String(), c.want)
		}
	}
}

// TestIsID tells ids from words.
func TestIsID(t *testing.T) {
	for text, want := range map[string]bool{
		"w812": true, "4f1c": true, "0123456789abcdef0123": true, "kref://projects/general/a.fact": true,
		"4f1": false, "deploys": false, "0123456789abcdef01234": false, "w": false, "when do we deploy": false, "4F1C": false, "kref:// x": false,
	} {
		if got := isID.MatchString(text); got != want {
			t.Errorf("%q is an id: %t, want %t", text, got, want)
		}
	}
}
