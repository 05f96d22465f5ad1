package server

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

//go:embed docs.css
var docsStyle string

// A page is the part of the description that the readable page shows.
type page struct {
	Info       struct{ Title, Summary, Description string }
	Tags       []struct{ Name, Description string }
	Paths      map[string]map[string]described
	Components struct{ Schemas map[string]*schema }
}

// A described is an operation in the description.
type described struct {
	Tags                 []string
	Summary, Description string
	Curl                 string `json:"x-curl"`
	Parameters           []struct {
		Name, In, Description string
		Required              bool
		Schema                *schema
	}
	RequestBody struct{ Content content }
	Responses   map[string]struct {
		Ref         string `json:"$ref"`
		Description string
		Content     content
	}
}

// A content maps media types to the schemas of a body.
type content map[string]struct{ Schema *schema }

// A schema is a JSON Schema, or refers to one of the components.
type schema struct {
	Ref              string `json:"$ref"`
	Type             any    // a name; nil: of any type
	Description      string
	Pattern          string
	Enum             []any
	OneOf            []*schema
	Items            *schema
	Required         []string
	Properties       map[string]*schema
	Minimum, Maximum *float64
	Default          any
}

// renderDocs makes the readable page from the contract. The page needs no script and no other server.
func renderDocs(c *contract, version string) ([]byte, error) {
	var p page
	if err := json.Unmarshal(c.json, &p); err != nil {
		return nil, fmt.Errorf("server: the description: %w", err)
	}
	info := p.Info
	var sections, index h.Group
	for _, tag := range p.Tags {
		section := h.Group{h.H2(h.ID("tag-"+tag.Name), h.Text(tag.Name)), h.P(h.Class("dim"), prose(tag.Description))}
		for _, op := range c.operations {
			if op.Tag == tag.Name {
				index = append(index, h.Li(h.A(h.Href("#"+op.ID), h.Code(h.Text(op.Method+" "+docsPath(op))))))
				section = append(section, p.docsOf(op))
			}
		}
		sections = append(sections, h.Section(section))
	}
	title, says := info.Title, " "
	if version != "" {
		title, says = title+" "+version, " Version "+version+". "
	}
	var out bytes.Buffer
	err := h.Document(
		h.Head(h.Meta(h.Charset("utf-8")), h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")), h.Title(h.Text(title+": the service")), h.Style(h.Raw(docsStyle))),
		h.Body(
			h.Header(h.H1(h.Text(info.Title)), h.P(h.Class("dim"), prose(info.Summary), h.Text(says), h.A(h.Href("/openapi.json"), h.Text("openapi.json"))), paragraphs(info.Description)),
			h.Nav(h.Aria("label", "Operations"), h.Ul(index)),
			h.Main(sections, docsProblems(), p.docsSchemas()),
		),
	).Render(&out)
	return out.Bytes(), err
}

func docsProblems() h.Node {
	code := func(s string) h.Node { return h.Code(h.Text(s)) }
	rows := h.Map(api.Problems(), func(p api.Code) h.Node {
		kind := api.Kinds[p]
		return h.Tr(h.ID("problem-"+string(p)), h.Td(h.Textf("%d", kind.Status)), h.Td(code(string(p))), h.Td(h.Text(kind.Title)))
	})
	return h.Section(h.H2(h.ID("problems"), h.Text("Problems")),
		h.P(h.Text("Errors are "), code("application/problem+json"), h.Text(". Branch on "), code("code"), h.Text("; it is stable. "), code("place"), h.Text(" says where in the request the fault lies, and "), code("request_id"), h.Text(" finds it in the log.")),
		docsTable(h.Tr(h.Th(h.Text("status")), h.Th(h.Text("code")), h.Th(h.Text("title"))), rows))
}

func docsTable(rows ...h.Node) h.Node {
	return h.Div(h.Class("table"), h.Table(h.Group(rows)))
}

// docsPath returns the path of an operation as it appears in requests.
func docsPath(op *operation) string {
	if op.rest != "" {
		return strings.TrimSuffix(op.path, "*") + ":" + op.rest
	}
	return op.path
}

func (p *page) docsOf(op *operation) h.Node {
	said := p.Paths[strings.ReplaceAll(op.Path, "...}", "}")][strings.ToLower(op.Method)]
	permission := "Open to everybody."
	if op.May != 0 {
		permission = "The role must permit: " + op.May.String() + "."
	}
	var rows h.Group
	for _, param := range said.Parameters {
		rows = append(rows, docsField(param.Name, param.In+", "+kindOf(param.Schema), param.Description, param.Required))
	}
	rows = append(rows, docsBodies("body", said.RequestBody.Content, nil))
	for _, status := range slices.Sorted(maps.Keys(said.Responses)) {
		if answer := said.Responses[status]; answer.Ref == "" { // otherwise it is a problem, as everywhere
			rows = append(rows, docsBodies(status, answer.Content, h.Group{h.Text(". "), prose(answer.Description)}))
		}
	}
	return h.Article(
		h.H3(h.ID(op.ID), h.Span(h.Class("method"), h.Text(op.Method)), h.Text(" "), h.Code(h.Text(docsPath(op)))),
		h.P(h.Strong(prose(said.Summary), h.Text(".")), h.Text(" "), h.Span(h.Class("dim"), h.Text(permission))), paragraphs(said.Description),
		h.If(len(rows) > 0, docsTable(rows)), h.If(said.Curl != "", h.Pre(h.TabIndex("0"), h.Code(h.Class("curl"), h.Text(said.Curl)))))
}

func docsField(name, kind, text string, required bool) h.Node {
	if required {
		kind += ", required"
	}
	return h.Tr(h.Td(h.Code(h.Text(name))), h.Td(h.Text(kind)), h.Td(prose(text)))
}

func docsBodies(name string, content content, text h.Node) h.Group {
	return h.Map(slices.Sorted(maps.Keys(content)), func(media string) h.Node {
		s := content[media].Schema
		form := h.Text(kindOf(s))
		if ref := refName(s); ref != "" {
			form = h.A(h.Href("#schema-"+ref), h.Text(ref))
		}
		return h.Tr(h.Td(h.Text(name)), h.Td(h.Code(h.Text(media))), h.Td(form, text))
	})
}

// said returns the description of a schema, or of the component that it refers to.
func (p *page) said(s *schema) string {
	if whole := p.Components.Schemas[refName(s)]; whole != nil {
		return cmp.Or(s.Description, whole.Description)
	}
	return s.Description
}

func (p *page) docsSchemas() h.Node {
	schemas := p.Components.Schemas
	return h.Section(h.H2(h.ID("schemas"), h.Text("Schemas")), h.Map(slices.Sorted(maps.Keys(schemas)), func(name string) h.Node {
		s := schemas[name]
		fields := slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
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
		form := h.P(h.Class("dim"), h.Code(h.Text(kindOfSchema(s))))
		if len(fields) > 0 {
			form = docsTable(h.Map(fields, func(field string) h.Node {
				of := s.Properties[field]
				return docsField(field, kindOf(of), p.said(of), slices.Contains(s.Required, field))
			}))
		}
		return h.Article(h.H3(h.ID("schema-"+name), h.Text(name)), paragraphs(s.Description), form)
	}))
}

func refName(s *schema) string {
	if s == nil {
		return ""
	}
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

// kindOf describes briefly what a value must be.
func kindOf(s *schema) string {
	if s == nil {
		return ""
	}
	if name := refName(s); name != "" {
		return name
	}
	return kindOfSchema(s)
}

func kindOfSchema(s *schema) string {
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
	case s.Type == "array":
		return "array of " + kindOf(s.Items)
	case s.Type == "integer", s.Type == "number":
		return s.Type.(string) + bounds(s)
	case s.Pattern != "":
		return s.Pattern
	case s.Type == "object" && len(s.Properties) > 0:
		fields := make([]string, 0, len(s.Properties))
		for field := range s.Properties {
			fields = append(fields, field)
		}
		slices.Sort(fields)
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return fmt.Sprint(s.Type)
}

// bounds describes the range and the default of a number.
func bounds(s *schema) string {
	text := ""
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		text = fmt.Sprintf(" from %.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		text = fmt.Sprintf(" of at least %.0f", *s.Minimum)
	}
	if s.Default != nil {
		text += fmt.Sprintf(", default %v", s.Default)
	}
	return text
}

// prose shows a description; text between backquotes is shown as code.
func prose(text string) h.Node {
	var list h.Group
	parts := strings.Split(text, "`")
	for i, part := range parts {
		switch {
		case i%2 == 0:
			list = append(list, h.Text(part))
		case i == len(parts)-1: // it is not closed
			list = append(list, h.Text("`"+part))
		default:
			list = append(list, h.Code(h.Text(part)))
		}
	}
	return list
}

// paragraphs shows a description, which is split at its empty lines.
func paragraphs(text string) h.Node {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	return h.Map(strings.Split(text, "\n\n"), func(part string) h.Node { return h.P(prose(part)) })
}
