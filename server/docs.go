package server

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/graphkernel/graphkernel/api"
)

//go:embed docs.html
var docsTemplate string

// renderDocs makes the readable page out of the contract. It needs no script
// and no other server.
func renderDocs(c *contract, version string) ([]byte, error) {
	t, err := template.New("docs").Funcs(template.FuncMap{"prose": prose}).Parse(docsTemplate)
	if err != nil {
		return nil, err
	}
	page := docsData{Title: c.doc.Info.Title, Summary: c.doc.Info.Summary, Text: paragraphs(c.doc.Info.Description), Version: version}
	for _, tag := range c.doc.Tags {
		section := docsSection{Name: tag.Name, Text: tag.Description}
		for _, op := range c.operations {
			if slices.Contains(op.describes.Tags, tag.Name) {
				section.Operations = append(section.Operations, docsOf(op))
			}
		}
		page.Sections = append(page.Sections, section)
	}
	for _, code := range api.Problems() {
		page.Problems = append(page.Problems, docsProblem{string(code), api.Kinds[code].Status, api.Kinds[code].Title})
	}
	names := make([]string, 0, len(c.doc.Components.Schemas))
	for name := range c.doc.Components.Schemas {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		page.Schemas = append(page.Schemas, docsSchemaOf(name, c.doc.Components.Schemas[name].Value))
	}
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

type docsData struct {
	Title, Summary, Version string
	Text                    []string
	Sections                []docsSection
	Schemas                 []docsSchema
	Problems                []docsProblem
}

type docsSection struct {
	Name, Text string
	Operations []docsOperation
}

type docsOperation struct {
	ID, Method, Path, Summary, Permission, Curl string
	Text                                        []string
	Params                                      []docsField
	Bodies, Answers                             []docsBody
}

type docsField struct {
	Name, Kind, Text string
	Required         bool
}

type docsBody struct {
	Name, Media, Schema, Ref, Text string
}

type docsSchema struct {
	Name, Kind string
	Text       []string
	Fields     []docsField
}

type docsProblem struct {
	Code   string
	Status int
	Title  string
}

func docsOf(op *operation) docsOperation {
	d := docsOperation{
		ID: op.ID, Method: op.Method, Path: op.path, Summary: op.describes.Summary, Text: paragraphs(op.describes.Description),
	}
	if op.rest != "" {
		d.Path = strings.TrimSuffix(d.Path, "*") + ":" + op.rest
	}
	d.Curl, _ = op.describes.Extensions["x-curl"].(string)
	if op.May != 0 {
		d.Permission = op.May.String()
	}
	for _, p := range op.params {
		d.Params = append(d.Params, docsField{Name: p.Name, Kind: p.In + ", " + kindOf(p.Schema), Text: p.Description, Required: p.Required})
	}
	if body := op.describes.RequestBody; body != nil {
		d.Bodies = docsBodies("", body.Value.Content, "")
	}
	statuses := make([]string, 0, 8)
	for status := range op.describes.Responses.Map() {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		answer := op.describes.Responses.Value(status)
		if answer.Ref != "" {
			continue // a problem, like everywhere
		}
		text := ""
		if answer.Value.Description != nil {
			text = *answer.Value.Description
		}
		d.Answers = append(d.Answers, docsBodies(status, answer.Value.Content, text)...)
	}
	return d
}

func docsBodies(name string, content openapi3.Content, text string) (list []docsBody) {
	medias := make([]string, 0, len(content))
	for media := range content {
		medias = append(medias, media)
	}
	slices.Sort(medias)
	for _, media := range medias {
		s := content[media].Schema
		list = append(list, docsBody{Name: name, Media: media, Schema: kindOf(s), Ref: refName(s), Text: text})
	}
	return list
}

func docsSchemaOf(name string, s *openapi3.Schema) docsSchema {
	d := docsSchema{Name: name, Kind: kindOfSchema(s), Text: paragraphs(s.Description)}
	fields := make([]string, 0, len(s.Properties))
	for field := range s.Properties {
		fields = append(fields, field)
	}
	slices.SortFunc(fields, func(a, b string) int {
		// Required ones first, in the order in which they are required.
		i, j := slices.Index(s.Required, a), slices.Index(s.Required, b)
		switch {
		case i >= 0 && j >= 0:
			return i - j
		case i >= 0:
			return -1
		case j >= 0:
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, field := range fields {
		p := s.Properties[field]
		d.Fields = append(d.Fields, docsField{Name: field, Kind: kindOf(p), Text: p.Value.Description, Required: slices.Contains(s.Required, field)})
	}
	return d
}

func refName(s *openapi3.SchemaRef) string {
	if s == nil {
		return ""
	}
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

// kindOf says in a few words what a value must be.
func kindOf(s *openapi3.SchemaRef) string {
	if s == nil {
		return ""
	}
	if name := refName(s); name != "" {
		return name
	}
	return kindOfSchema(s.Value)
}

func kindOfSchema(s *openapi3.Schema) string {
	switch {
	case s.OneOf != nil:
		kinds := make([]string, len(s.OneOf))
		for i, one := range s.OneOf {
			kinds[i] = kindOf(one)
		}
		return strings.Join(kinds, " or ")
	case s.Type == nil:
		return "anything"
	case s.Enum != nil:
		kinds := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			kinds[i], _ = value.(string)
		}
		return strings.Join(kinds, " | ")
	case s.Type.Is(openapi3.TypeArray):
		return "array of " + kindOf(s.Items)
	case s.Type.Is(openapi3.TypeInteger), s.Type.Is(openapi3.TypeNumber):
		return strings.Join(s.Type.Slice(), " | ") + bounds(s)
	case s.Pattern != "":
		return s.Pattern
	case s.Type.Is(openapi3.TypeObject) && len(s.Properties) > 0:
		fields := make([]string, 0, len(s.Properties))
		for field := range s.Properties {
			fields = append(fields, field)
		}
		slices.Sort(fields)
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return strings.Join(s.Type.Slice(), " | ")
}

// bounds says from where to where a number may go, and what it is if it is absent.
func bounds(s *openapi3.Schema) string {
	text := ""
	switch {
	case s.Min != nil && s.Max != nil:
		text = fmt.Sprintf(" from %.0f to %.0f", *s.Min, *s.Max)
	case s.Min != nil:
		text = fmt.Sprintf(" of at least %.0f", *s.Min)
	}
	if s.Default != nil {
		text += fmt.Sprintf(", default %v", s.Default)
	}
	return text
}

// prose makes HTML of a description, in which what is between backquotes is code.
func prose(text string) template.HTML {
	parts := strings.Split(text, "`")
	var out strings.Builder
	for i, part := range parts {
		part = template.HTMLEscapeString(part)
		switch {
		case i%2 == 0:
			out.WriteString(part)
		case i == len(parts)-1: // nothing closes it
			out.WriteString("`" + part)
		default:
			out.WriteString("<code>" + part + "</code>")
		}
	}
	return template.HTML(out.String()) //nolint:gosec // every part is escaped
}

// paragraphs splits a description at its empty lines.
func paragraphs(text string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n\n")
}
