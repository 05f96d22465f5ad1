package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/describe"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Media types.
const (
	typeJSON     = "application/json"
	typeLines    = "application/x-ndjson"
	typeProblem  = "application/problem+json"
	typeMarkdown = "text/markdown"
	typeText     = "text/plain"
	typeCSV      = "text/csv"
	anyType      = "*/*" // in the contract: a body of whatever type, which is handed on as bytes
)

// A contract is what package api declares, and its description. Requests are checked against the
// description, so that what it says and what is done cannot part.
type contract struct {
	doc        *openapi3.T
	json       []byte
	operations []*operation
}

// An operation is one method on one path.
type operation struct {
	*api.Spec
	path         string // as echo writes it
	params       []*openapi3.Parameter
	rest         string          // the path parameter that takes all that is left of the path
	bodies       map[string]body // by media type; nil without a body
	bodyRequired bool
	describes    *openapi3.Operation
	handle       handler
}

// open reports whether everybody may ask.
func (op *operation) open() bool { return op.May == 0 }

// A body is what is described of one media type.
type body struct {
	schema    *openapi3.Schema
	anything  bool // the body is handed on as bytes
	anyObject bool
	stream    bool // it is left to the handler, which reads it as it comes
}

// takesAnyObject reports whether a schema asks for an object and nothing of what is
// in it, so that holding a body against it is looking at its kind.
func takesAnyObject(s *openapi3.Schema) bool {
	if !s.Type.Is(openapi3.TypeObject) || len(s.Required) > 0 || s.OneOf != nil || s.AnyOf != nil || s.AllOf != nil || s.Not != nil || s.MinProps > 0 || s.MaxProps != nil {
		return false
	}
	if open := s.AdditionalProperties.Has; open == nil || !*open {
		return false
	}
	for _, p := range s.Properties {
		if !takesAnything(p.Value) || !p.Value.IsEmpty() {
			return false
		}
	}
	return true
}

// takesAnything reports whether a schema asks for nothing.
func takesAnything(s *openapi3.Schema) bool { return s.Type == nil && s.OneOf == nil }

// described is the contract of all servers of this process. The first one makes it: that takes longer than
// everything else in New.
var described struct {
	sync.Mutex
	contract *contract
}

func readContract(ctx context.Context) (*contract, error) {
	described.Lock()
	defer described.Unlock()
	if described.contract == nil {
		c, err := makeContract(ctx)
		if err != nil {
			return nil, err
		}
		described.contract = c
	}
	return described.contract, nil
}

func makeContract(ctx context.Context) (*contract, error) {
	specs := make([]*api.Spec, len(routes))
	for i := range routes {
		specs[i] = routes[i].spec
	}
	c := &contract{}
	var err error
	if c.json, err = describe.Document(specs); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if c.doc, err = openapi3.NewLoader().LoadFromData(c.json); err == nil {
		err = c.doc.Validate(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("server: the description: %w", err)
	}
	for i := range routes {
		c.operations = append(c.operations, readOperation(c.doc, &routes[i]))
	}
	slices.SortFunc(c.operations, func(a, b *operation) int { return strings.Compare(a.path+" "+a.Method, b.path+" "+b.Method) })
	return c, nil
}

func readOperation(doc *openapi3.T, r *route) *operation {
	op := &operation{Spec: r.spec, handle: r.handle, rest: r.spec.Rest()}
	op.describes = doc.Paths.Value(strings.ReplaceAll(op.Path, "...}", "}")).GetOperation(op.Method)
	op.path = strings.NewReplacer("{"+op.rest+"...}", "*", "{", ":", "}", "").Replace(op.Path)
	for _, p := range op.describes.Parameters {
		op.params = append(op.params, p.Value)
	}
	if given := op.describes.RequestBody; given != nil {
		op.bodyRequired = given.Value.Required
		op.bodies = map[string]body{}
		for media, content := range given.Value.Content {
			schema := content.Schema.Value
			op.bodies[media] = body{schema: schema, anything: media != typeLines && takesAnything(schema), anyObject: takesAnyObject(schema), stream: media == typeLines && op.Lines}
		}
	}
	return op
}

// checkParams checks the parameters of a request and returns those that are there.
// A query parameter that nobody described is an error: it may be a misspelt one.
func (op *operation) checkParams(r *http.Request, path func(string) string) (map[string]string, error) {
	if len(op.params) == 0 && r.URL.RawQuery == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &problem{code: api.CodeInvalid, place: "query", detail: "the query cannot be read: " + err.Error()}
	}
	given := map[string]string{}
	for _, p := range op.params {
		var values []string
		switch p.In {
		case openapi3.ParameterInPath:
			if p.Name == op.rest { // as it was sent: its form allows for nothing that needs escaping
				values = []string{path("*")}
				break
			}
			value := path(p.Name)
			if r.URL.RawPath != "" { // else it is unescaped already
				if value, err = url.PathUnescape(value); err != nil {
					return nil, &problem{code: api.CodeInvalid, place: "path parameter " + p.Name, detail: "the path cannot be read: " + err.Error()}
				}
			}
			values = []string{value}
		case openapi3.ParameterInQuery:
			values = query[p.Name]
			delete(query, p.Name)
		case openapi3.ParameterInHeader:
			values = r.Header.Values(p.Name)
		}
		place := p.In + " parameter " + p.Name
		if len(values) == 0 {
			if p.Required {
				return nil, &problem{code: api.CodeInvalid, place: place, detail: place + " is missing"}
			}
			continue
		}
		if len(values) > 1 {
			return nil, &problem{code: api.CodeInvalid, place: place, detail: place + " is given twice"}
		}
		if err := checkText(p.Schema.Value, values[0]); err != nil {
			return nil, &problem{code: api.CodeInvalid, place: place, detail: fmt.Sprintf("%s is %.80q: %s", place, values[0], strings.TrimPrefix(schemaFault(err, ""), "the body: "))}
		}
		given[p.Name] = values[0]
	}
	for name := range query {
		return nil, &problem{code: api.CodeInvalid, place: "query parameter", detail: fmt.Sprintf("query parameter %.80q is not known here", name)}
	}
	return given, nil
}

// checkText checks the text of a parameter against its schema.
func checkText(s *openapi3.Schema, text string) error {
	if s.Type.Is(openapi3.TypeBoolean) {
		return s.VisitJSON(map[string]any{"true": true, "false": false}[text])
	}
	if !s.Type.Is(openapi3.TypeInteger) {
		return s.VisitJSON(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return errors.New("want an integer, written plainly")
	}
	return s.VisitJSON(float64(n))
}

// media finds the media type of a request's body among those described.
func (op *operation) media(r *http.Request) (string, body, error) {
	if b, ok := op.bodies[anyType]; ok {
		return anyType, b, nil
	}
	given := strings.Join(r.Header["Content-Type"], ", ")
	media, params, err := mime.ParseMediaType(given)
	if charset, ok := params["charset"]; err == nil && ok && !strings.EqualFold(charset, "utf-8") {
		return "", body{}, &problem{code: api.CodeMediaType, place: "Content-Type", detail: fmt.Sprintf("Content-Type is %.80q; bodies are UTF-8", given)}
	}
	if err != nil {
		media = "" // no media type, or several
	}
	if s, ok := op.bodies[media]; ok {
		return media, s, nil
	}
	known := make([]string, 0, len(op.bodies))
	for m := range op.bodies {
		known = append(known, m)
	}
	slices.Sort(known)
	return "", body{}, &problem{code: api.CodeMediaType, place: "Content-Type", detail: fmt.Sprintf("Content-Type is %.80q, want %s", given, strings.Join(known, " or "))}
}

// The most values that are read of a body, and of a line. A full batch of turns has some
// hundred thousand, a turn with every parent and attribute that it may have some
// thousands. A value takes up to three hundred bytes of memory and as little as two of
// the body.
const (
	mostValues = 1 << 20
	lineValues = 1 << 15
)

// check reads a body strictly and holds it against its schema.
func (b *body) check(text []byte, place string, most int) (*canon.Value, error) {
	v, err := readStrictly(text, place, most)
	if err != nil || b.anyObject && v.Kind == canon.Object {
		return v, err
	}
	return v, hold(v, b.schema, place)
}

func readStrictly(text []byte, place string, most int) (*canon.Value, error) {
	v, err := canon.ParseSparse(text, most)
	if errors.Is(err, canon.ErrMany) {
		return nil, &problem{code: api.CodeTooLarge, place: place, detail: fmt.Sprintf("%s: at most %d", err, most)}
	}
	if err != nil {
		return nil, &problem{code: api.CodeSyntax, place: place, detail: err.Error()}
	}
	return v, nil
}

// hold holds a value against a schema.
func hold(v *canon.Value, s *openapi3.Schema, place string) error {
	if err := s.VisitJSON(plain(v)); err != nil && !eitherShape(err) {
		return &problem{code: api.CodeInvalid, place: join(place, pointer(err)), detail: schemaFault(err, place)}
	}
	return nil
}

// eitherShape reports whether a value has none of several shapes of objects. A schema cannot say
// which field is missing or wrong then; the decoder can, and refuses it too.
func eitherShape(err error) bool {
	var e *openapi3.SchemaError
	if !errors.As(err, &e) {
		return false
	}
	_, object := e.Value.(map[string]any)
	return e.SchemaField == "anyOf" || e.SchemaField == "discriminator" || e.SchemaField == oneOf && object && slices.ContainsFunc(e.Schema.OneOf, func(s *openapi3.SchemaRef) bool { return s.Value.Type.Is(openapi3.TypeObject) })
}

const oneOf = "oneOf"

// shapeFault says what the shape for a value's own kind has against it, or which kinds there are.
func shapeFault(e *openapi3.SchemaError) (reason string, within error) {
	kind := ""
	switch e.Value.(type) {
	case string:
		kind = openapi3.TypeString
	case []any:
		kind = openapi3.TypeArray
	case map[string]any:
		kind = openapi3.TypeObject
	}
	var kinds []string
	for _, s := range e.Schema.OneOf {
		if s.Value.Type.Is(kind) {
			return "", s.Value.VisitJSON(e.Value)
		}
		if types := s.Value.Type.Slice(); !slices.Contains(kinds, strings.Join(types, " or ")) {
			kinds = append(kinds, strings.Join(types, " or "))
		}
	}
	return "value must be of type " + strings.Join(kinds, " or "), nil
}

// plain returns a value as encoding/json would, for the schema's eyes alone.
func plain(v *canon.Value) any {
	switch v.Kind {
	case canon.Bool:
		return v.Text == "true"
	case canon.Number:
		return json.Number(v.Text)
	case canon.String:
		return v.Text
	case canon.Array:
		list := make([]any, len(v.Items))
		for i := range v.Items {
			list[i] = plain(&v.Items[i])
		}
		return list
	case canon.Object:
		object := make(map[string]any, len(v.Members))
		for i := range v.Members {
			object[v.Members[i].Key] = plain(&v.Members[i].Value)
		}
		return object
	}
	return nil
}

// schemaFault says what a schema has against a value, without the schema.
func schemaFault(err error, place string) string {
	var e *openapi3.SchemaError
	if !errors.As(err, &e) {
		return err.Error()
	}
	at := join(place, pointer(err))
	if e.SchemaField == oneOf {
		reason, within := shapeFault(e)
		if within != nil {
			return schemaFault(within, at)
		}
		if reason != "" {
			return at + ": " + reason
		}
	}
	reason := strings.ReplaceAll(e.Reason, `"`, `'`)
	if e.SchemaField == "pattern" {
		reason = "the text does not have the form " + e.Schema.Pattern
	}
	if at == "" {
		return "the body: " + reason
	}
	return at + ": " + reason
}

// pointer returns the place of a schema's fault, such as turns[3].salience.
func pointer(err error) string {
	var e *openapi3.SchemaError
	if !errors.As(err, &e) {
		return ""
	}
	var path strings.Builder
	for _, step := range e.JSONPointer() {
		if _, err := strconv.Atoi(step); err == nil {
			path.WriteString("[" + step + "]")
			continue
		}
		if path.Len() > 0 {
			path.WriteByte('.')
		}
		path.WriteString(step[:min(len(step), 80)])
	}
	return path.String()
}

func join(place, below string) string {
	switch {
	case place == "":
		return below
	case below == "":
		return place
	case below[0] == '[':
		return place + below
	}
	return place + "." + below
}
