package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestRealDistribution prints the table of docs/phases.md.
func TestRealDistribution(t *testing.T) {
	for _, name := range []string{"claude-code", "entire", "tau-bench"} {
		drafts, _ := collect(t, realData(t, name), Options{})
		if name == "entire" { // sessions and commits are two things
			var commits, sessions []dag.Draft
			for _, d := range drafts {
				if d.Attrs["commit"] != "" {
					commits = append(commits, d)
				} else {
					sessions = append(sessions, d)
				}
			}
			logDistribution(t, "entire, sessions", sessions)
			logDistribution(t, "entire, commits", commits)
			continue
		}
		logDistribution(t, name, drafts)
	}
}

func logDistribution(t *testing.T, name string, drafts []dag.Draft) {
	t.Helper()
	phases := map[dag.Phase]int{}
	var saliences []dag.PPM
	for i := range drafts {
		d := drafts[i]
		if err := Assign(&d); err != nil {
			t.Fatal(err)
		}
		phases[d.Phase]++
		saliences = append(saliences, d.Salience)
	}
	slices.Sort(saliences)
	at := func(percent int) dag.PPM { return saliences[(len(saliences)-1)*percent/100] }
	var row strings.Builder
	fmt.Fprintf(&row, "| %s | %d |", name, len(drafts))
	for _, p := range dag.Phases {
		fmt.Fprintf(&row, " %d %% |", (phases[p]*100+len(drafts)/2)/len(drafts))
	}
	fmt.Fprintf(&row, " %s | %s | %s |", at(10), at(50), at(90))
	t.Log(row.String())
	if len(phases) < 2 || saliences[0] == saliences[len(saliences)-1] {
		t.Errorf("%s: the rules tell nothing apart", name)
	}
}
