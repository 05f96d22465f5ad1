// Package clients writes the clients in Python and in TypeScript: the types and the operations of the
// description that package api/describe makes. What sends requests is written by hand beside what
// this package writes, in clients/python and clients/typescript.
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

// A Document is a description, as far as clients need it.
type Document struct {
	schemas    map[string]*schema
	names      []string // of the schemas that become types, in order
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

	media    string  // of the body; "": none
	body     *schema // of a JSON body; nil: bytes as they are
	required bool    // there must be a body
	answer   string  // json, raw, text or events
	result   *schema // of an answer as JSON
	items    string  // the list of the result, if it is read in pages
	suffix   string  // to the name, if it takes another body than JSON
}

// refs are schemas whose bytes must not be touched.
var untouched = []string{"Bundle", "FactBundle", "BeliefBundle", "Rendering"}

// renamed are the types whose names mean something else to programs.
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

// suffixes name the methods that take another body than JSON.
var suffixes = map[string]string{"application/x-ndjson": "Lines", "text/csv": "CSV"}

// add adds an operation, once for each kind of body. What others' protocols have, and pages for
// people, are left out.
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

// itemsOf returns the list that an operation answers a page of, or "".
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

// keeps reports whether a path parameter takes slashes as they are.
func (p *parameter) keeps() bool { return strings.HasPrefix(nameOf(p.Schema), "Tile") }

// list reports whether a query parameter is a list with commas.
func (p *parameter) list() bool { return nameOf(p.Schema) == "Commas" }

var upper = regexp.MustCompile(`[A-Z]+`)

// snake writes a name as Python has names.
func snake(name string) string {
	return strings.Trim(upper.ReplaceAllStringFunc(strings.ReplaceAll(name, "-", "_"), func(s string) string { return "_" + strings.ToLower(s) }), "_")
}

// sentences returns what is said of an operation, a line each.
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

// A dialect writes types.
type dialect struct {
	text, integer, number, boolean, any, object string

	list, dict, literal, union func(parts ...string) string
}

// typeOf writes the type of a schema.
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
