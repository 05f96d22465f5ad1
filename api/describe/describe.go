// Package describe makes the OpenAPI description of the service, and the schemas of tools, from the operations and shapes that
// package api declares. operations.md describes the purpose of each operation and has a working curl command for it.
package describe

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// A Schema is a JSON Schema, or another part of a description.
type Schema = map[string]any

const inComponents = "#/components/schemas/"

// A describer collects the components that a description refers to.
type describer struct{ components map[string]any }

// shape returns a reference to a shape.
func (d *describer) shape(name string) Schema {
	if _, known := d.components[name]; !known {
		s, ok := api.Shapes[name]
		if !ok {
			panic("describe: there is no shape " + name)
		}
		d.components[name] = s
		d.follow(s)
	}
	return Schema{"$ref": inComponents + name}
}

// named are the types that are referred to by shapes only.
var named = map[string]reflect.Type{
	"SlicePolicy": reflect.TypeFor[api.SlicePolicy](), "FactPolicy": reflect.TypeFor[api.FactPolicy](), "DenyRules": reflect.TypeFor[api.DenyRules](), "Retention": reflect.TypeFor[api.Retention](), "StandingPolicy": reflect.TypeFor[api.StandingPolicy](), "Retraction": reflect.TypeFor[api.Retraction](), "Context": reflect.TypeFor[api.Context](),
	"NewFact": reflect.TypeFor[api.NewFact](), "Turn": reflect.TypeFor[api.Turn](), "Health": reflect.TypeFor[api.Health](), "D3Graph": reflect.TypeFor[api.D3Graph](), "Problem": reflect.TypeFor[api.Problem](),
}

// by returns a reference to the shape or type of a name.
func (d *describer) by(name string) Schema {
	if t, ok := named[name]; ok {
		return d.of(t)
	}
	if t, ok := tabled[name]; ok {
		s := policySchema(t.typ, t.shapes())
		maps.Copy(s, api.Shapes[name])
		d.components[name] = s
		return Schema{"$ref": inComponents + name}
	}
	return d.shape(name)
}

// follow adds the components that a shape refers to.
func (d *describer) follow(v any) {
	switch v := v.(type) {
	case Schema:
		if ref, ok := v["$ref"].(string); ok {
			d.by(strings.TrimPrefix(ref, inComponents))
		}
		for _, below := range v {
			d.follow(below)
		}
	case []any:
		for _, below := range v {
			d.follow(below)
		}
	}
}

// of returns the schema of a type. A struct becomes a component.
func (d *describer) of(t reflect.Type) Schema {
	if name := api.ShapeOf(t); name != "" {
		return d.shape(name)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.of(t.Elem())
	case reflect.Slice:
		return Schema{"type": "array", "items": d.of(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": d.of(t.Elem())}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Int, reflect.Uint64:
		return Schema{"type": "integer", "minimum": 0}
	case reflect.Struct:
		if _, known := d.components[api.NameOf(t)]; !known {
			d.components[api.NameOf(t)] = nil // a type may contain itself
			s := d.object(api.Fields(t))
			maps.Copy(s, api.Shapes[api.NameOf(t)])
			d.components[api.NameOf(t)] = s
		}
		return Schema{"$ref": inComponents + api.NameOf(t)}
	}
	panic("describe: no schema for " + t.String())
}

// object returns the schema of a struct with the given fields.
func (d *describer) object(fields []api.Field) Schema {
	properties, required := Schema{}, []string{}
	for i := range fields {
		properties[fields[i].Key] = d.field(&fields[i])
		if fields[i].Required {
			required = append(required, fields[i].Key)
		}
	}
	s := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// field returns the schema of a field, from its type and tags.
func (d *describer) field(f *api.Field) Schema {
	is, list := f.Tag.Get("is"), f.Type.Kind() == reflect.Slice && api.ShapeOf(f.Type) == "" && f.Type.Elem().Kind() != reflect.Uint8
	var s Schema
	switch from, to, isRange := strings.Cut(is, ".."); {
	case is == "":
		s = d.of(f.Type)
	case isRange:
		s = Schema{"type": "integer"}
		setNumber(s, "minimum", from)
		setNumber(s, "maximum", to)
	case strings.Contains(is, "|"):
		s = Schema{"type": "string", "enum": strings.Split(is, "|")}
	default:
		s = d.by(is)
	}
	if list && is != "" {
		s = Schema{"type": "array", "items": s}
	}
	of := "Length"
	if list {
		of = "Items"
	}
	setNumber(s, "min"+of, f.Tag.Get("min"))
	setNumber(s, "max"+of, f.Tag.Get("max"))
	if text := f.Tag.Get("default"); text != "" {
		s["default"] = text
		setNumber(s, "default", text)
	}
	if text := f.Tag.Get("doc"); text != "" {
		s["description"] = text
	}
	return s
}

func setNumber(s Schema, key, text string) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		s[key] = n
	}
}

// Document returns the OpenAPI 3.1 description of a service with the given operations.
func Document(specs []*api.Spec) ([]byte, error) {
	d := &describer{components: map[string]any{}}
	texts := readTexts()
	paths := map[string]Schema{}
	tags := []Schema{}
	for _, spec := range specs {
		path := strings.ReplaceAll(spec.Path, "...}", "}")
		if paths[path] == nil {
			paths[path] = Schema{}
		}
		said := texts.of(spec)
		if said == nil {
			return nil, fmt.Errorf("describe: the declaration of %s or operations.md says what the operation is for, exactly one of them", spec.ID)
		}
		delete(texts.operations, spec.ID)
		paths[path][strings.ToLower(spec.Method)] = d.operation(spec, said)
	}
	for id := range texts.operations {
		return nil, fmt.Errorf("describe: operations.md has %s, which is no operation", id)
	}
	for _, tag := range texts.tags {
		tags = append(tags, Schema{"name": tag.name, "description": tag.text})
	}
	d.of(reflect.TypeFor[api.Problem]())
	return json.MarshalIndent(Schema{
		"openapi":  "3.1.0",
		"info":     Schema{"title": "Graph Kernel", "version": "1", "summary": "The provenance kernel for AI agents, over HTTP.", "description": texts.about, "license": Schema{"name": "Apache 2.0", "identifier": "Apache-2.0"}},
		"servers":  []Schema{{"url": "/"}},
		"security": []Schema{{"bearer": []string{}}},
		"tags":     tags,
		"paths":    paths,
		"components": Schema{
			"securitySchemes": Schema{"bearer": Schema{"type": "http", "scheme": "bearer", "description": "An API key, gk1.TENANT.ID.SECRET, or a JWT of the configured issuer."}},
			"schemas":         d.components,
			"responses": Schema{"Problem": Schema{"description": "What went wrong, as a problem document (RFC 9457).",
				"content": Schema{"application/problem+json": Schema{"schema": Schema{"$ref": inComponents + "Problem"}}}}},
		},
	}, "", "  ")
}

func (d *describer) operation(spec *api.Spec, said *text) Schema {
	o := Schema{"operationId": spec.ID, "tags": []string{spec.Tag}, "summary": said.summary, "responses": d.answers(spec, said), "x-curl": said.curl}
	if said.text != "" {
		o["description"] = said.text
	}
	if spec.May != 0 {
		o["x-permission"] = spec.May.String()
	} else {
		o["security"] = []Schema{}
	}
	if spec.Limited {
		o["x-limited"] = "address"
	}
	if spec.Once {
		o["x-once"] = true
	}
	if parameters := d.parameters(spec); len(parameters) > 0 {
		o["parameters"] = parameters
	}
	if content := d.bodies(spec); len(content) > 0 {
		_, required := spec.HasBody()
		o["requestBody"] = Schema{"required": required, "content": content}
	}
	return o
}

func (d *describer) parameters(spec *api.Spec) (list []Schema) {
	for _, f := range api.Fields(spec.In) {
		place := spec.Place(&f)
		if place == api.InBody || place == api.InMember {
			continue
		}
		p := Schema{"name": f.Key, "in": string(place)}
		if f.Required {
			p["required"] = true
		}
		doc := f.Tag.Get("doc")
		if doc != "" {
			p["description"] = doc
		}
		switch {
		case f.Type.Kind() == reflect.Slice:
			p["schema"] = d.shape("Commas")
		case f.Type == reflect.TypeFor[dag.PPM]():
			p["schema"] = d.shape("Decimal")
		default:
			s := d.field(&f)
			delete(s, "description") // the parameter has it
			p["schema"] = s
		}
		list = append(list, p)
	}
	return list
}

func (d *describer) bodies(spec *api.Spec) Schema {
	content := Schema{}
	for media, shape := range spec.Takes {
		content[media] = Schema{"schema": d.by(shape)}
	}
	var members []api.Field
	whole := true
	for _, f := range api.Fields(spec.In) {
		switch spec.Place(&f) {
		case api.InBody:
			content["application/json"] = Schema{"schema": d.field(&f)}
		case api.InMember:
			members = append(members, f)
		default:
			whole = false
		}
	}
	if len(members) > 0 {
		s := d.object(members)
		if whole {
			s = d.of(spec.In)
		}
		content["application/json"] = Schema{"schema": s}
	}
	return content
}

// answers describes the answers of an operation: its own, and the problems that its form implies or its declaration lists.
func (d *describer) answers(spec *api.Spec, said *text) Schema {
	problem := Schema{"$ref": "#/components/responses/Problem"}
	answers := Schema{"default": problem}
	own := func(status string, content map[string]string) Schema {
		bodies := Schema{}
		for media, shape := range content {
			bodies[media] = Schema{"schema": d.by(shape)}
		}
		a := Schema{"description": said.answers[status], "content": bodies}
		answers[status] = a
		return a
	}
	if spec.Plain {
		own("default", map[string]string{"text/plain": "Text"})
	} else {
		for _, status := range Problems(spec) {
			answers[strconv.Itoa(status)] = problem
		}
	}
	for status, content := range spec.Other {
		own(strconv.Itoa(status), content)
	}
	a := own("200", spec.Answers)
	if spec.Answers == nil {
		a["content"] = Schema{"application/json": Schema{"schema": d.of(spec.Out)}}
	}
	headers := Schema{}
	for name, shape := range spec.Headers {
		headers[name] = Schema{"required": true, "schema": d.shape(shape)}
	}
	if len(headers) > 0 {
		a["headers"] = headers
	}
	return answers
}

// Problems lists the statuses of an operation's problems: those implied by its input and its permission, and those its
// declaration lists.
func Problems(spec *api.Spec) []int {
	list := slices.Clone(spec.Fails)
	takes, _ := spec.HasBody()
	if spec.In.NumField() > 0 {
		list = append(list, 400)
	}
	if takes {
		list = append(list, 413, 415)
	}
	if spec.May != 0 {
		list = append(list, 401, 403)
	}
	if spec.Limited {
		list = append(list, 429)
	}
	return list
}
