package graphkernel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildersStayWhereTheyAre looks for structs that have a [strings.Builder] by value and can be copied. A builder that was written to points to itself; in a copy
// that pointer may lead to a stack that is another goroutine's by then, and the next collection of garbage ends the process. "go vet" reports a copy only where the
// struct has a mutex as well. [bytes.Buffer] can be copied.
func TestBuildersStayWhereTheyAre(t *testing.T) {
	structs := 0
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if st, ok := n.(*ast.StructType); ok {
				structs++
				if has(st, "strings", "Builder") && !has(st, "sync", "Mutex") {
					t.Errorf("%s: a struct with a strings.Builder, which a copy of the struct would break: take a bytes.Buffer, or a pointer", fset.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if structs < 500 {
		t.Errorf("%d structs looked at say nothing", structs)
	}
}

// has reports whether a field of a struct, or an array or a slice in it, is of a type of another package.
func has(st *ast.StructType, pkg, name string) bool {
	for _, f := range st.Fields.List {
		of := f.Type
		for {
			array, ok := of.(*ast.ArrayType)
			if !ok {
				break
			}
			of = array.Elt
		}
		if sel, ok := of.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkg {
				return true
			}
		}
	}
	return false
}
