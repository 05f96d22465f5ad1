package server_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write openapi.json, and the table of operations in docs/service.md")

// TestDescription holds that openapi.json, and the table of operations in docs/service.md, are what
// the declared operations make.
func TestDescription(t *testing.T) {
	s := start(t)
	served := append(s.get("/openapi.json").body, '\n')
	const page = "../docs/service.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), tableHead)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no table of operations", page)
	}
	whole := []byte(before + tableHead + tableOf(t, served) + "\n" + after)
	for name, want := range map[string][]byte{"openapi.json": served, page: whole} {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := os.ReadFile(name); err != nil {
			t.Error(err)
		} else if !bytes.Equal(kept, want) {
			t.Errorf("%s is not what the operations make; write it with: make generate", name)
		}
	}
}

const tableHead = "| operation | what it is for |\n|---|---|\n"

// tableOf is a row for each operation of a description: by the order of its groups, then by path.
func tableOf(t *testing.T, description []byte) string {
	var doc struct {
		Tags  []struct{ Name string }
		Paths map[string]map[string]struct {
			Summary string
			Tags    []string
		}
	}
	if err := json.Unmarshal(description, &doc); err != nil {
		t.Fatal(err)
	}
	type row struct {
		group        int
		path, method string
		text         string
	}
	var rows []row
	for path, methods := range doc.Paths {
		for method, op := range methods {
			group := slices.IndexFunc(doc.Tags, func(tag struct{ Name string }) bool { return tag.Name == op.Tags[0] })
			rows = append(rows, row{group, path, strings.ToUpper(method), strings.TrimSuffix(op.Summary, "?")})
		}
	}
	if len(rows) < 50 {
		t.Fatalf("%d operations are described", len(rows))
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(a.group-b.group, strings.Compare(a.path, b.path), -strings.Compare(a.method, b.method))
	})
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "| `%s %s` | %s |\n", r.method, r.path, r.text)
	}
	return b.String()
}
