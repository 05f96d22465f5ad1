package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/golden"
)

// TestConformanceTable compares the tables of docs/conformance.md with the cases: how many
// have each outcome, and each subject.
func TestConformanceTable(t *testing.T) {
	cases, err := golden.EvidenceCases()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	outcomes, subjects := map[string]int{}, map[string]int{}
	for _, c := range cases {
		outcomes[fmt.Sprintf("| %2d | `%s` |", c.ExitCode, c.Verdict)]++
		subject, _, _ := strings.Cut(c.Name, "_")
		subjects[subject]++
	}
	var rows []string
	for row, n := range outcomes {
		rows = append(rows, fmt.Sprintf("%s %d |", row, n))
	}
	slices.Sort(rows)
	rows = append(rows, fmt.Sprintf("| | all | %d |", len(cases)))
	table := strings.ReplaceAll("| exit code | verdict | cases |\n|---|---|---|\n"+strings.Join(rows, "\n")+"\n", "|  ", "| ")
	if !strings.Contains(string(page), table) {
		t.Errorf("the page has another table of outcomes, want\n%s", table)
	}
	shown := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ([0-9]+) \\| .").FindAllStringSubmatch(string(page), -1) {
		shown[row[1]], _ = strconv.Atoi(row[2]) // digits
	}
	if diff := cmp.Diff(subjects, shown); diff != "" {
		t.Errorf("the page has another table of subjects, -want +got:\n%s", diff)
	}
}
