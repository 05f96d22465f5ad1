package ingest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// A label is what a reader said of one turn: the phases and the bands of salience that
// fit it, the best first.
type label struct {
	Set      string // dev: seen while the rules were written; stratified, random: compared afterwards, see docs/phases.md
	Session  string
	UUID     string
	Phase    []string
	Salience []string
	Kind     string
}

// band names the part of the scale in which a salience lies, as docs/phases.md has it.
func band(s dag.PPM) string {
	switch {
	case s < 400_000:
		return "low"
	case s < 600_000:
		return "medium"
	}
	return "high"
}

// TestLabels compares the rules with the labels that a reader who did not write
// them gave to turns of real sessions.
func TestLabels(t *testing.T) {
	folder := realData(t, "entire")
	text, err := os.ReadFile(filepath.Join("testdata", "labels.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	drafts, _ := collect(t, folder, Options{})
	at := byID(drafts)
	type tally struct{ turns, phase, band int }
	tallies := map[string]*tally{}
	for line := range bytes.Lines(text) {
		var l label
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		id, err := dag.ParseTurnID(l.UUID)
		if err != nil || at[id] == nil {
			t.Fatalf("label of turn %s, which is not in %s: %v", l.UUID, l.Session, err)
		}
		d := *at[id]
		if err := Assign(&d); err != nil {
			t.Fatal(err)
		}
		phase, band := slices.Contains(l.Phase, d.Phase.String()), slices.Contains(l.Salience, band(d.Salience))
		for _, key := range []string{l.Set, l.Set + " " + l.Kind} {
			if tallies[key] == nil {
				tallies[key] = &tally{}
			}
			c := tallies[key]
			c.turns++
			if phase {
				c.phase++
			}
			if band {
				c.band++
			}
		}
	}
	for key, c := range tallies {
		t.Logf("%s: %+v", key, *c)
	}
	floors := map[string]tally{"dev": {180, 165, 175}, "stratified": {120, 108, 119}, "random": {120, 114, 120}}
	for set := range tallies {
		if _, known := floors[strings.SplitN(set, " ", 2)[0]]; !known {
			t.Errorf("labels of a set %q", set)
		}
	}
	for set, want := range floors {
		var got tally // of a set without labels
		if c := tallies[set]; c != nil {
			got = *c
		}
		if got.turns != want.turns || got.phase < want.phase || got.band < want.band {
			t.Errorf("%s: %+v, want at least %+v", set, got, want)
		}
	}
}
