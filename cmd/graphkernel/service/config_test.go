package service

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestVariables finds every variable that the program reads or docs/cli.md has: the service takes each for one of ours, and a misspelt one for none.
func TestVariables(t *testing.T) {
	const root = "../../.."
	names := map[string]string{}
	find := func(path string, form *regexp.Regexp) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range form.FindAllStringSubmatch(string(data), -1) {
			names[found[1]] = path
		}
	}
	for _, folder := range []string{"cmd", "capture", "client"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				find(path, regexp.MustCompile(`"(GRAPHKERNEL_[A-Z_]*[A-Z])"`))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	find(filepath.Join(root, "docs", "cli.md"), regexp.MustCompile("`(GRAPHKERNEL_[A-Z_]*[A-Z])`"))
	if len(names) < 20 || names["GRAPHKERNEL_PAGER"] == "" {
		t.Fatalf("found only %v", names)
	}
	for name, path := range names {
		if !knownVariable(name) {
			t.Errorf("%s of %s stops serve and config", name, path)
		}
	}
	if knownVariable("GRAPHKERNEL_LIMITS_RATES") {
		t.Error("a misspelt limit is taken")
	}
}
