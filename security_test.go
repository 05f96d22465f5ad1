package graphkernel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/golden"
)

// TestThreatModelNamesTests makes sure that whatever docs/security.md says is found out by
// a test is: the test is there, and so is the case.
func TestThreatModelNamesTests(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := golden.EvidenceCases(golden.Turns)
	if err != nil {
		t.Fatal(err)
	}
	tests, cases := 0, 0
	for _, m := range regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(doc), -1) {
		tests++
		if !hasTest(t, m[1], m[2]) {
			t.Errorf("package %s has no %s", m[1], m[2])
		}
	}
	for _, m := range regexp.MustCompile("`golden/verify/([a-z0-9_]+)`").FindAllStringSubmatch(string(doc), -1) {
		cases++
		if !slices.ContainsFunc(corpus, func(c golden.EvidenceCase) bool { return c.Name == m[1] }) {
			t.Errorf("there is no case %s", m[1])
		}
	}
	if tests < 20 || cases < 20 {
		t.Errorf("%d tests and %d cases are named", tests, cases)
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
