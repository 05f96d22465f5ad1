package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
)

var python = dialect{
	text: "str", integer: "int", number: "float", boolean: "bool", any: "Any", object: "dict[str, Any]",
	list: func(p ...string) string { return "list[" + p[0] + "]" },
	dict: func(p ...string) string { return "dict[str, " + p[0] + "]" },
	literal: func(p ...string) string {
		for i := range p {
			p[i] = strings.NewReplacer("true", "True", "false", "False").Replace(p[i])
		}
		return "Literal[" + strings.Join(p, ", ") + "]"
	},
	union: func(p ...string) string { return "Union[" + strings.Join(slices.Compact(p), ", ") + "]" },
}

// argument returns the Python name of a parameter.
func argument(name string) string {
	if name = snake(name); pythonKeyword(name) {
		return name + "_"
	}
	return name
}

// Python returns a Python module with the types and the operations.
func (d *Document) Python() []byte {
	var b strings.Builder
	b.WriteString("\"\"\"The types and the operations of the service. Made from server/openapi.json by package api/clients; not to be edited.\"\"\"\n\n" +
		"from __future__ import annotations\n\nfrom collections.abc import Iterator, Sequence\nfrom typing import Any, Literal, NotRequired, TypedDict, Union\n\n" +
		"from .transport import Event, Transport\n\n")
	b.WriteString("#: What kinds of problems there are.\nCode = Literal[\n")
	for _, code := range api.Problems() {
		fmt.Fprintf(&b, "    %q,  # %s\n", string(code), api.Kinds[code].Title)
	}
	b.WriteString("]\n")
	for _, name := range d.names {
		d.pythonType(&b, name)
	}
	b.WriteString("\n\nclass Operations:\n    \"\"\"One method for each operation.\"\"\"\n\n    def __init__(self, transport: Transport) -> None:\n        self._transport = transport\n")
	for i := range d.operations {
		d.pythonMethod(&b, &d.operations[i])
		if d.operations[i].items != "" {
			d.pythonPages(&b, &d.operations[i])
		}
	}
	return []byte(b.String())
}

// pythonType writes a TypedDict. It uses the call form if the name of a member cannot be an attribute name.
func (d *Document) pythonType(b *strings.Builder, name string) {
	s := d.schemas[name]
	keys := slices.Sorted(maps.Keys(s.Properties))
	member := func(key string) string {
		of := d.typeOf(s.Properties[key], &python)
		if !slices.Contains(s.Required, key) {
			of = "NotRequired[" + of + "]"
		}
		return of
	}
	if slices.ContainsFunc(keys, pythonKeyword) {
		fmt.Fprintf(b, "\n\n%s = TypedDict(\n    %q,\n    {\n", typeName(name), typeName(name))
		for _, key := range keys {
			fmt.Fprintf(b, "        %q: %q,\n", key, strings.ReplaceAll(member(key), `"`, "'"))
		}
		b.WriteString("    },\n)\n")
		return
	}
	fmt.Fprintf(b, "\n\nclass %s(TypedDict):\n", typeName(name))
	if s.Description != "" {
		fmt.Fprintf(b, "    \"\"\"%s\"\"\"\n\n", s.Description)
	}
	for _, key := range keys {
		fmt.Fprintf(b, "    %s: %s\n", key, member(key))
		if doc := s.Properties[key].Description; doc != "" {
			fmt.Fprintf(b, "    \"\"\"%s\"\"\"\n", doc)
		}
	}
}

// pythonKeywords are the reserved words of Python.
var pythonKeywords = strings.Fields("False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")

func pythonKeyword(name string) bool { return slices.Contains(pythonKeywords, name) }

// pythonResult returns the return type of a method.
func (d *Document) pythonResult(o *operation) string {
	switch o.answer {
	case "json":
		return d.typeOf(o.result, &python)
	case "text":
		return "str"
	case "events":
		return "Iterator[Event]"
	}
	return "bytes"
}

// pythonSignature returns the parameters of a method, except those named in without.
func (d *Document) pythonSignature(o *operation, without ...string) string {
	args := []string{"self"}
	for _, p := range o.in("path") {
		args = append(args, argument(p.Name)+": str")
	}
	if o.media != "" {
		of, absent := "bytes", ""
		if o.body != nil {
			of = d.typeOf(o.body, &python)
		}
		if !o.required {
			of, absent = of+" | None", " = None"
		}
		args = append(args, "body: "+of+absent)
	}
	star := false
	for _, p := range slices.Concat(o.in("query"), o.in("header")) {
		if slices.Contains(without, p.Name) {
			continue
		}
		if !star {
			args, star = append(args, "*"), true
		}
		of := d.typeOf(p.Schema, &python)
		if p.list() {
			of = "Sequence[str]"
		}
		if nameOf(p.Schema) == "Decimal" {
			of = "float"
		}
		if p.Required {
			args = append(args, argument(p.Name)+": "+of)
		} else {
			args = append(args, argument(p.Name)+": "+of+" | None = None")
		}
	}
	return strings.Join(args, ", ")
}

func (d *Document) pythonMethod(b *strings.Builder, o *operation) {
	fmt.Fprintf(b, "\n    def %s(%s) -> %s:\n", snake(o.ID+o.suffix), d.pythonSignature(o), d.pythonResult(o))
	pythonDoc(b, o.sentences())
	path := o.path
	for _, p := range o.in("path") {
		how := "segment"
		if p.keeps() {
			how = "segments"
		}
		path = strings.Replace(path, "{"+p.Name+"}", "{self._transport."+how+"("+argument(p.Name)+")}", 1)
	}
	prefix := ""
	if strings.Contains(path, "{") {
		prefix = "f"
	}
	call := []string{fmt.Sprintf("%q", o.method), prefix + `"` + path + `"`}
	for place, list := range map[string][]parameter{"query": o.in("query"), "headers": o.in("header")} {
		if len(list) == 0 {
			continue
		}
		var items []string
		for _, p := range list {
			items = append(items, fmt.Sprintf("%q: %s", p.Name, argument(p.Name)))
		}
		call = append(call, place+"={"+strings.Join(items, ", ")+"}")
	}
	slices.Sort(call[2:])
	if o.media != "" {
		call = append(call, "body=body", fmt.Sprintf("media=%q", o.media))
	}
	if o.Once {
		call = append(call, "once=True")
	}
	if o.Security != nil {
		call = append(call, "keyless=True")
	}
	fmt.Fprintf(b, "        return self._transport.%s(%s)\n", o.answer, strings.Join(call, ", "))
}

// pythonPages writes the iterator over the items of all pages of a list.
func (d *Document) pythonPages(b *strings.Builder, o *operation) {
	item := d.typeOf(d.schemas[nameOf(o.result)].Properties[o.items].Items, &python)
	fmt.Fprintf(b, "\n    def %s_all(%s) -> Iterator[%s]:\n", snake(o.ID), d.pythonSignature(o, "after", "limit"), item)
	pythonDoc(b, []string{o.Summary + ": all pages, one item after the other."})
	args := []string{}
	for _, p := range o.in("path") {
		args = append(args, argument(p.Name))
	}
	for _, p := range o.in("query") {
		if p.Name != "after" && p.Name != "limit" {
			args = append(args, argument(p.Name)+"="+argument(p.Name))
		}
	}
	args = append(args, "after=after", "limit=1000")
	fmt.Fprintf(b, "        after: str | None = None\n        while True:\n            page = self.%s(%s)\n            yield from page[%q]\n            last, after = after, page.get(\"next\")\n            if not after or after == last:\n                return\n",
		snake(o.ID), strings.Join(args, ", "), o.items)
}

func pythonDoc(b *strings.Builder, lines []string) {
	for i, line := range lines {
		line = strings.ReplaceAll(line, `\`, `\\`)
		switch {
		case i == 0:
			b.WriteString(`        """` + line)
		case line == "":
			b.WriteString("\n")
		default:
			b.WriteString("\n        " + line)
		}
	}
	if len(lines) > 1 {
		b.WriteString("\n        ")
	}
	b.WriteString("\"\"\"\n")
}
