package golden_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	page, err := os.ReadFile(filepath.Join("..", "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	turns, facts, ok := strings.Cut(string(page), "\n## Bundles of facts\n")
	if !ok {
		t.Fatal("the page has no section on bundles of facts")
	}
	facts, contexts, ok := strings.Cut(facts, "\n## Contexts\n")
	if !ok {
		t.Fatal("the page has no section on contexts")
	}
	contexts, beliefs, ok := strings.Cut(contexts, "\n## Evidence of beliefs\n")
	if !ok {
		t.Fatal("the page has no section on evidence of beliefs")
	}
	for part, page := range map[golden.Part]string{golden.Turns: turns, golden.Facts: facts, golden.Contexts: contexts, golden.Beliefs: beliefs} {
		t.Run(string(part), func(t *testing.T) { compareTables(t, part, page) })
	}
}

func compareTables(t *testing.T, part golden.Part, page string) {
	cases, err := golden.EvidenceCases(part)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, subjects := map[string]int{}, map[string]int{}
	for _, c := range cases {
		outcomes[fmt.Sprintf("| %2d | `%s` |", c.ExitCode, c.Verdict)]++
		subjects[golden.SubjectOf(c.Name)]++
	}
	var rows []string
	for row, n := range outcomes {
		rows = append(rows, fmt.Sprintf("%s %d |", row, n))
	}
	slices.Sort(rows)
	rows = append(rows, fmt.Sprintf("| | all | %d |", len(cases)))
	table := strings.ReplaceAll("| exit code | verdict | cases |\n|---|---|---|\n"+strings.Join(rows, "\n")+"\n", "|  ", "| ")
	if !strings.Contains(page, table) {
		t.Errorf("the page has another table of outcomes, want\n%s", table)
	}
	shown := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ([0-9]+) \\| .").FindAllStringSubmatch(page, -1) {
		shown[row[1]], _ = strconv.Atoi(row[2]) // digits
	}
	if diff := cmp.Diff(subjects, shown); diff != "" {
		t.Errorf("the page has another table of subjects, -want +got:\n%s", diff)
	}
}

// TestConformanceLoop runs the loop that docs/conformance.md shows with a verifier that
// accepts everything: it must find fault with a case of each other outcome.
func TestConformanceLoop(t *testing.T) {
	for _, tool := range []string{"sh", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the loop needs %s", tool)
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	loop := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindSubmatch(page)
	if loop == nil {
		t.Fatal("the page shows no loop")
	}
	cases, err := golden.EvidenceCases(golden.Turns)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name string, data []byte) {
		name = filepath.Join(folder, "cases", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	tried, want := map[int]bool{}, ""
	for _, c := range cases {
		if tried[c.ExitCode] { // one of each: jq takes its time
			continue
		}
		tried[c.ExitCode] = true
		for name, data := range c.Files {
			write(c.Name+"/"+name, data)
		}
		if c.ExitCode != 0 {
			want += fmt.Sprintf("cases/%s/: exit code 0, want %d\n", c.Name, c.ExitCode)
		}
	}
	c := exec.Command("sh", "-c", string(loop[1]))
	c.Dir, c.Env = folder, append(os.Environ(), "VERIFIER=true", "LC_ALL=C")
	if got, err := c.CombinedOutput(); err != nil || string(got) != want {
		t.Errorf("%v, got\n%swant\n%s", err, got, want)
	}
}
