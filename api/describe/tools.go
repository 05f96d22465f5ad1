package describe

import (
	_ "embed"
	"maps"
	"reflect"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/internal/canon"
)

//go:embed tools.md
var toolsMD string

// Tools returns the names of the tools in tools.md, in order, and the text of each by its name. tools.md has "## NAME" and the
// text.
func Tools() (names []string, said map[string]string) {
	said = map[string]string{}
	for _, section := range strings.Split(toolsMD, "\n## ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		names = append(names, name)
		said[name] = strings.Join(strings.Fields(text), " ")
	}
	return names, said
}

// Operation returns the text of an operation on one line: the summary, then the description.
func Operation(spec *api.Spec) string {
	texts := readTexts()
	t := texts.of(spec)
	if t == nil {
		return ""
	}
	return strings.Join(strings.Fields(t.summary+". "+t.text), " ")
}

// Arguments returns the schema of a tool's arguments. The schema has no references, and a member's description is its tag tool,
// because a model reads the schemas of all its tools before anything else.
func Arguments(t reflect.Type) Schema {
	d := &describer{components: map[string]any{}}
	s := d.inline(d.of(t)).(Schema)
	describeMembers(s, t)
	return s
}

// inline replaces references by their components, without the descriptions of the components.
func (d *describer) inline(v any) any {
	switch v := v.(type) {
	case Schema:
		if ref, ok := v["$ref"].(string); ok {
			whole := maps.Clone(d.components[strings.TrimPrefix(ref, inComponents)].(Schema))
			return d.inline(whole)
		}
		s := Schema{}
		for key, below := range v {
			if key != "examples" && (key != "description" || !isText(below)) {
				s[key] = d.inline(below)
			}
		}
		if list, ok := s["oneOf"].([]any); ok && reflect.DeepEqual(v, api.Shapes["Names"]) {
			return list[1] // one form is enough for a model
		}
		if s["format"] == "uuid" {
			delete(s, "pattern")
		}
		if s["maximum"] == float64(canon.MaxInt) { // the maximum of every number
			delete(s, "maximum")
		}
		return s
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = d.inline(v[i])
		}
		return list
	}
	return v
}

func isText(v any) bool { _, ok := v.(string); return ok }

// describeMembers sets the description of each member to its tag tool. A property may be named like a keyword.
func describeMembers(s Schema, t reflect.Type) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if items, ok := s["items"].(Schema); ok {
		s = items
	}
	properties, ok := s["properties"].(Schema)
	if !ok || t.Kind() != reflect.Struct {
		return
	}
	for _, f := range api.Fields(t) {
		p, _ := properties[f.Key].(Schema)
		if p == nil {
			continue
		}
		describeMembers(p, f.Type)
		delete(p, "default")
		switch text := f.Tag.Get("tool"); text {
		case "":
		case "-": // it is hidden from models
			delete(properties, f.Key)
		default:
			p["description"] = text
		}
	}
}
