package fault_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/fault"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing/settings"
	"github.com/graphkernel/graphkernel/store"
)

const module = "github.com/graphkernel/graphkernel/"

// TestEveryError holds that each exported error variable of the packages that the table imports is in
// the table, once.
func TestEveryError(t *testing.T) {
	file := parsed(t, "fault.go")
	rows := map[string]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "is" {
				sel := kv.Value.(*ast.SelectorExpr)
				rows[sel.X.(*ast.Ident).Name+"."+sel.Sel.Name]++
			}
		}
		return true
	})
	seen := 0
	for _, spec := range file.Imports {
		folder, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
		if !ours || folder == "api" {
			continue
		}
		for _, name := range errorsOf(t, filepath.Join("..", "..", filepath.FromSlash(folder))) {
			seen++
			if n := rows[path.Base(folder)+"."+name]; n != 1 {
				t.Errorf("%s.%s has %d rows, want 1", folder, name, n)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d errors were looked at", seen)
	}
}

// errorsOf returns the exported variables of a package whose names begin with Err.
func errorsOf(t *testing.T, folder string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(paths), err)
	}
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		for _, d := range parsed(t, p).Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, s := range vars.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					if strings.HasPrefix(name.Name, "Err") {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

func parsed(t *testing.T, name string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestOf(t *testing.T) {
	for _, tc := range []struct {
		name       string
		err        error
		code, sent api.Code
		exit       int
	}{
		{"typed", fmt.Errorf("x: %w", &store.ParentError{}), api.CodeParent, api.CodeParent, api.ExitInternal},
		{"a fault, whatever it wraps", &api.Fault{Code: api.CodeUsage, Err: store.ErrNotFound}, api.CodeUsage, api.CodeInternal, api.ExitUsage},
		{"damage, whatever it wraps", fmt.Errorf("%w: %w", dag.ErrForm, store.ErrDamaged), api.CodeDamaged, api.CodeDamaged, api.ExitDamaged},
		{"sent as another", policy.ErrMismatch, api.CodeMismatch, api.CodeInvalid, api.ExitUsage},
		{"a setting too many", fmt.Errorf("x: %w", settings.ErrTooMany), api.CodeSettings, api.CodeSettings, api.ExitInternal},
		{"a setting that follows another", fmt.Errorf("x: %w", settings.ErrChanged), api.CodeStanding, api.CodeStanding, api.ExitInternal},
		{"malformed", dag.ErrForm, api.CodeMalformed, api.CodeInvalid, api.ExitMalformed},
		{"of a service", fmt.Errorf("x: %w", api.CodeForked), api.CodeForked, api.CodeForked, api.ExitInconsistent},
		{"of a newer service", api.Code("other"), api.CodeInternal, api.CodeInternal, api.ExitInternal},
		{"unknown", errors.New("x"), api.CodeInternal, api.CodeInternal, api.ExitInternal},
	} {
		r := fault.Of(tc.err)
		if r.Code != tc.code || r.Sent() != tc.sent || r.Kind().Exit != tc.exit {
			t.Errorf("%s: %s, sent as %s, exit code %d; want %s, %s, %d", tc.name, r.Code, r.Sent(), r.Kind().Exit, tc.code, tc.sent, tc.exit)
		}
	}
	if r := fault.Of(fmt.Errorf("a path: %w", store.ErrBusy)); r.RetryAfter != 1 || strings.Contains(r.Detail, "path") {
		t.Errorf("a busy store is reported as %+v", r)
	}
}
