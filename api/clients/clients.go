// Package clients generates the Python and TypeScript clients: the types and operations of the description that package
// api/describe makes. The code that sends requests is written by hand and is in the same folders, clients/python and
// clients/typescript.
//
//	doc, err := clients.Read(openapi)
//	err = os.WriteFile("clients/python/graphkernel/api.py", doc.Python(), 0o644)
package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Document is the part of a description that the clients need.
type Document struct {
	schemas    map[string]*schema
	names      []string // of the schemas that become types, sorted
	operations []operation
}

type schema struct {
	Ref         string             `json:"$ref"`
	Type        string             `json:"type"`
	Description string             `json:"description"`
	Enum        []any              `json:"enum"`
	Const       any                `json:"const"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	OneOf       []*schema          `json:"oneOf"`
	AnyOf       []*schema          `json:"anyOf"`
}

type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Required    bool    `json:"required"`
	Description string  `json:"description"`
	Schema      *schema `json:"schema"`
}

type content map[string]struct {
	Schema *schema `json:"schema"`
}

type described struct {
	ID          string      `json:"operationId"`
	Summary     string      `json:"summary"`
	Description string      `json:"description"`
	Parameters  []parameter `json:"parameters"`
	Once        bool        `json:"x-once"`
	Security    *[]any      `json:"security"`
	Body        *struct {
		Required bool    `json:"required"`
		Content  content `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content content         `json:"content"`
		Headers map[string]any  `json:"headers"`
		Ref     json.RawMessage `json:"$ref"`
	} `json:"responses"`
}

// An operation is a method of a client.
type operation struct {
	described
	method, path string

	media    string  // of the body; "": no body
	body     *schema // of a JSON body; nil: the body is raw bytes
	required bool    // the body is required
	answer   string  // json, raw, text or events
	result   *schema // of a JSON answer
	items    string  // the member of the result that is a list, if the list is paged
	suffix   string  // of the method's name, if its body is not JSON
}

// untouched are the schemas whose bytes must not be changed.
var untouched = []string{"Bundle", "FactBundle", "BeliefBundle", "Rendering"}

// renamed maps schema names that have another meaning in programs to the names of their types.
var renamed = map[string]string{"Problem": "ProblemDocument", "Keys": "KernelKeys"}

// Read reads a description.
func Read(openapi []byte) (*Document, error) {
	var raw struct {
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(openapi, &raw); err != nil {
		return nil, fmt.Errorf("clients: %w", err)
	}
	d := &Document{schemas: raw.Components.Schemas}
	for _, name := range slices.Sorted(maps.Keys(d.schemas)) {
		if len(d.schemas[name].Properties) > 0 {
			d.names = append(d.names, name)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(raw.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(raw.Paths[path])) {
			if method == "parameters" {
				continue
			}
			var said described
			if err := json.Unmarshal(raw.Paths[path][method], &said); err != nil {
				return nil, fmt.Errorf("clients: %s %s: %w", method, path, err)
			}
			d.add(operation{described: said, method: strings.ToUpper(method), path: path})
		}
	}
	slices.SortFunc(d.operations, func(a, b operation) int { return cmp.Compare(a.ID+a.suffix, b.ID+b.suffix) })
	return d, nil
}

// suffixes are the name suffixes of methods whose body is not JSON, by media type.
var suffixes = map[string]string{"application/x-ndjson": "Lines", "text/csv": "CSV"}

// add adds an operation, once for each media type of its body. It skips the documentation, openapi.json and the operations of
// other protocols.
func (d *Document) add(o operation) {
	answers := o.Responses["200"].Content
	if o.ID == "docs" || o.ID == "openapi" || o.Body != nil && o.Body.Content["*/*"].Schema != nil {
		return
	}
	switch one, isJSON := answers["application/json"]; {
	case answers["text/event-stream"].Schema != nil:
		o.answer = "events"
	case isJSON && len(answers) == 1 && !slices.Contains(untouched, nameOf(one.Schema)):
		o.answer, o.result = "json", one.Schema
		o.items = d.itemsOf(&o)
	case len(answers) == 1 && answers["text/plain"].Schema != nil:
		o.answer = "text"
	default:
		o.answer = "raw"
	}
	if o.Body == nil {
		d.operations = append(d.operations, o)
		return
	}
	for _, media := range slices.Sorted(maps.Keys(o.Body.Content)) {
		o := o
		o.media, o.required, o.suffix = media, o.Body.Required, suffixes[media]
		if s := o.Body.Content[media].Schema; media == "application/json" && nameOf(s) != "Anything" {
			o.body = s
		}
		d.operations = append(d.operations, o)
	}
}

// itemsOf returns the name of the list member if the operation's answer is paged, and "" otherwise.
func (d *Document) itemsOf(o *operation) string {
	s := d.schemas[nameOf(o.result)]
	if s == nil || s.Properties["next"] == nil || !slices.ContainsFunc(o.Parameters, func(p parameter) bool { return p.Name == "after" }) {
		return ""
	}
	for name, p := range s.Properties {
		if p.Type == "array" {
			return name
		}
	}
	return ""
}

func nameOf(s *schema) string {
	if s == nil {
		return ""
	}
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

func typeName(name string) string { return cmp.Or(renamed[name], name) }

// in returns the parameters of an operation at a place.
func (o *operation) in(place string) (list []parameter) {
	for _, p := range o.Parameters {
		if p.In == place {
			list = append(list, p)
		}
	}
	return list
}

// keeps reports whether slashes in a path parameter are not escaped.
func (p *parameter) keeps() bool { return strings.HasPrefix(nameOf(p.Schema), "Tile") }

// list reports whether a query parameter is a comma-separated list.
func (p *parameter) list() bool { return nameOf(p.Schema) == "Commas" }

var upper = regexp.MustCompile(`[A-Z]+`)

// snake converts a name to Python's snake_case.
func snake(name string) string {
	return strings.Trim(upper.ReplaceAllStringFunc(strings.ReplaceAll(name, "-", "_"), func(s string) string { return "_" + strings.ToLower(s) }), "_")
}

// sentences returns the description of an operation, one line per item.
func (o *operation) sentences() []string {
	text := o.Summary + "."
	if o.Description != "" {
		text += "\n\n" + o.Description
	}
	if o.suffix != "" {
		text += "\n\nThe body is " + o.media + ", unchanged."
	}
	return strings.Split(text, "\n")
}

// A dialect writes types in one language.
type dialect struct {
	text, integer, number, boolean, any, object string

	list, dict, literal, union func(parts ...string) string
}

// typeOf returns the type of a schema in a dialect.
func (d *Document) typeOf(s *schema, in *dialect) string {
	switch {
	case s == nil:
		return in.any
	case s.Ref != "":
		name := nameOf(s)
		if slices.Contains(d.names, name) {
			return typeName(name)
		}
		return d.typeOf(d.schemas[name], in)
	case s.Const != nil:
		return in.literal(quoted([]any{s.Const})...)
	case len(s.Enum) > 0:
		return in.literal(quoted(s.Enum)...)
	case len(s.OneOf) > 0 || len(s.AnyOf) > 0 && s.Type == "":
		var parts []string
		for _, one := range slices.Concat(s.OneOf, s.AnyOf) {
			parts = append(parts, d.typeOf(one, in))
		}
		return in.union(parts...)
	case s.Type == "string":
		return in.text
	case s.Type == "integer":
		return in.integer
	case s.Type == "number":
		return in.number
	case s.Type == "boolean":
		return in.boolean
	case s.Type == "array":
		return in.list(d.typeOf(s.Items, in))
	case s.Type == "object":
		var below schema
		if json.Unmarshal(s.Additional, &below) == nil && (below.Type != "" || below.Ref != "") {
			return in.dict(d.typeOf(&below, in))
		}
		return in.object
	}
	return in.any
}

func quoted(values []any) []string {
	list := make([]string, len(values))
	for i, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			panic("clients: " + err.Error()) // it was JSON
		}
		list[i] = string(text)
	}
	return list
}
