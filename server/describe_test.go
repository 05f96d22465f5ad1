package server_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write openapi.json, and the tables of operations and of fields in docs/service.md")

// TestDescription holds that openapi.json, and the tables of operations and of fields in docs/service.md, are what
// the declared operations make.
func TestDescription(t *testing.T) {
	s := start(t)
	served := append(s.get("/openapi.json").body, '\n')
	const page = "../docs/service.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(text)
	for head, rows := range map[string]string{tableHead: tableOf(t, served), fieldsHead: fieldsOf(t, served)} {
		before, rest, found := strings.Cut(whole, head)
		_, after, ends := strings.Cut(rest, "\n\n")
		if !found || !ends {
			t.Fatalf("%s has no table %q", page, head)
		}
		whole = before + head + rows + "\n" + after
	}
	for name, want := range map[string][]byte{"openapi.json": served, page: []byte(whole)} {
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

const fieldsHead = "| operation | field | needed | form |\n|---|---|---|---|\n"

// written lists the operations whose requests people write by hand.
var written = []string{"admitTurns", "listTurns", "cutSlice", "searchTurns", "assembleContext", "learnFact", "listFacts", "traverseKnowledge", "findPaths", "cutFacts", "createKey"}

// A schema is as much of one as the table of fields shows.
type schema struct {
	Ref         string `json:"$ref"`
	Description string
	Type        string
	Enum        []any
	OneOf       []any
	Items       *schema
	Minimum     *float64
	Maximum     *float64
	Default     any
	Required    []string
	Properties  map[string]*schema
}

// fieldsOf is a row for each field of the requests that are written by hand.
func fieldsOf(t *testing.T, description []byte) string {
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []struct {
				Name, Description string
				Required          bool
				Schema            schema
			}
			RequestBody struct {
				Content map[string]struct{ Schema schema }
			}
		}
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(description, &doc); err != nil {
		t.Fatal(err)
	}
	of := func(s *schema) *schema {
		if s.Ref == "" {
			return s
		}
		whole := *doc.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		whole.Description = cmp.Or(s.Description, whole.Description)
		return &whole
	}
	rows := map[string]string{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if !slices.Contains(written, op.OperationID) {
				continue
			}
			var b strings.Builder
			row := func(name, said string, needed bool, s *schema) {
				mark := ""
				if needed {
					mark = "yes"
				}
				fmt.Fprintf(&b, "| `%s %s` | `%s` | %s | %s |\n", strings.ToUpper(method), path, name, mark, formOf(of, s, said))
			}
			for i := range op.Parameters {
				p := &op.Parameters[i]
				row(p.Name, p.Description, p.Required, &p.Schema)
			}
			in := op.RequestBody.Content["application/json"].Schema
			body := of(&in)
			if list := body.Properties["turns"]; list != nil {
				body = of(list.Items)
			}
			for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
				row(name, "", slices.Contains(body.Required, name), body.Properties[name])
			}
			rows[op.OperationID] = b.String()
		}
	}
	if len(rows) != len(written) {
		t.Fatalf("%d of %d operations are described", len(rows), len(written))
	}
	var b strings.Builder
	for _, id := range written {
		b.WriteString(rows[id])
	}
	return b.String()
}

// formOf says in words what a field takes.
func formOf(of func(*schema) *schema, s *schema, said string) string {
	form := strings.TrimPrefix(s.Ref, "#/components/schemas/")
	s = of(s)
	switch {
	case s.Items != nil:
		form = "a list: " + formOf(of, s.Items, "")
	case s.Enum != nil:
		var list []string
		for _, v := range s.Enum {
			list = append(list, fmt.Sprintf("`%v`", v))
		}
		form = strings.Join(list, ", ")
	case s.Minimum != nil && s.Maximum != nil && s.Type == "integer":
		form = fmt.Sprintf("an integer from %.0f to %.0f", *s.Minimum, *s.Maximum)
	case form == "":
		form = cmp.Or(s.Type, "text")
	}
	if s.Default != nil {
		form += fmt.Sprintf("; `%v` if absent", s.Default)
	}
	if said = cmp.Or(said, s.Description); said != "" {
		form += ": " + strings.TrimSuffix(said, ".")
	}
	return strings.ReplaceAll(form, "|", "\\|")
}
