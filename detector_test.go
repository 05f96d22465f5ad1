package graphkernel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDetector finds every use of race.Enabled. "make test" runs watched packages under the race detector alone, and without
// it those tests that ask for race.Enabled; so a test must ask itself, not have a function do it, and .ci/unit must find it.
func TestDetector(t *testing.T) {
	var found []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		for _, c := range file.Comments {
			if text := c.List[0].Text; strings.HasPrefix(text, "//go:build") && strings.Contains(text, "!race") && path != filepath.Join("internal", "race", "off.go") {
				t.Errorf("%s: %s: ask for race.Enabled instead, which .ci/unit looks for", path, text)
			}
		}
		for _, d := range file.Decls {
			if !asksForDetector(d) {
				continue
			}
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasSuffix(path, "_test.go") || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				t.Errorf("%s: race.Enabled outside of a test: without the detector, nothing runs what depends on it", path)
				continue
			}
			found = append(found, "./"+filepath.ToSlash(path)+" "+f.Name.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	out, err := exec.Command(".ci/unit", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(listed)
	if !slices.Equal(found, listed) || len(found) < 5 {
		t.Errorf("tests that ask for race.Enabled: %q\n.ci/unit lists %q", found, listed)
	}
}

func asksForDetector(d ast.Decl) (asks bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Enabled" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "race" {
				asks = true
			}
		}
		return true
	})
	return asks
}
