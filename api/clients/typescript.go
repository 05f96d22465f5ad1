package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
)

var typescript = dialect{
	text: "string", integer: "number", number: "number", boolean: "boolean", any: "unknown", object: "Record<string, unknown>",
	list: func(p ...string) string {
		if strings.Contains(p[0], " | ") {
			return "(" + p[0] + ")[]"
		}
		return p[0] + "[]"
	},
	dict:    func(p ...string) string { return "Record<string, " + p[0] + ">" },
	literal: func(p ...string) string { return strings.Join(p, " | ") },
	union:   func(p ...string) string { return strings.Join(slices.Compact(p), " | ") },
}

// TypeScript returns a TypeScript module with the types and the operations.
func (d *Document) TypeScript() []byte {
	var b strings.Builder
	b.WriteString("// The types and the operations of the service. Made from server/openapi.json by package api/clients; not to be edited.\n\n" +
		"import type { ServiceEvent, Transport } from \"./transport.js\";\n\n/** What kinds of problems there are. */\nexport type Code =\n")
	for _, code := range api.Problems() {
		fmt.Fprintf(&b, "  | %q // %s\n", string(code), api.Kinds[code].Title)
	}
	b.WriteString("  ;\n")
	for _, name := range d.names {
		s := d.schemas[name]
		b.WriteString("\n")
		typescriptDoc(&b, "", s.Description)
		fmt.Fprintf(&b, "export interface %s {\n", typeName(name))
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			typescriptDoc(&b, "  ", s.Properties[key].Description)
			optional := "?"
			if slices.Contains(s.Required, key) {
				optional = ""
			}
			fmt.Fprintf(&b, "  %s%s: %s;\n", key, optional, d.typeOf(s.Properties[key], &typescript))
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n/** One method for each operation. */\nexport class Operations {\n  constructor(protected readonly transport: Transport) {}\n")
	for i := range d.operations {
		d.typescriptMethod(&b, &d.operations[i])
		if d.operations[i].items != "" {
			d.typescriptPages(&b, &d.operations[i])
		}
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

func typescriptDoc(b *strings.Builder, indent string, lines ...string) {
	if len(lines) == 0 || lines[0] == "" {
		return
	}
	if len(lines) == 1 {
		fmt.Fprintf(b, "%s/** %s */\n", indent, strings.ReplaceAll(lines[0], "*/", "* /"))
		return
	}
	b.WriteString(indent + "/**\n")
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+" * "+strings.ReplaceAll(line, "*/", "* /"), " ") + "\n")
	}
	b.WriteString(indent + " */\n")
}

func (d *Document) typescriptResult(o *operation) string {
	switch o.answer {
	case "json":
		return "Promise<" + d.typeOf(o.result, &typescript) + ">"
	case "text":
		return "Promise<string>"
	case "events":
		return "AsyncGenerator<ServiceEvent, void, undefined>"
	}
	return "Promise<Uint8Array>"
}

// typescriptSignature returns the parameters of a method: the path parameters, the body, and the query parameters except those
// named in without.
func (d *Document) typescriptSignature(o *operation, without ...string) string {
	var args []string
	for _, p := range o.in("path") {
		args = append(args, p.Name+": string")
	}
	if o.media != "" {
		of, optional := "Uint8Array", "?"
		if o.body != nil {
			of = d.typeOf(o.body, &typescript)
		}
		if o.required {
			optional = ""
		}
		args = append(args, "body"+optional+": "+of)
	}
	var members []string
	needed := false
	for _, p := range slices.Concat(o.in("query"), o.in("header")) {
		if slices.Contains(without, p.Name) {
			continue
		}
		of := d.typeOf(p.Schema, &typescript)
		if p.list() {
			of = "string[]"
		}
		if nameOf(p.Schema) == "Decimal" {
			of = "number"
		}
		optional := "?"
		if p.Required {
			optional, needed = "", true
		}
		members = append(members, fmt.Sprintf("%q%s: %s", p.Name, optional, of))
	}
	if len(members) > 0 {
		absent := " = {}"
		if needed {
			absent = ""
		}
		args = append(args, "query: { "+strings.Join(members, "; ")+" }"+absent)
	}
	return strings.Join(args, ", ")
}

func (d *Document) typescriptMethod(b *strings.Builder, o *operation) {
	b.WriteString("\n")
	typescriptDoc(b, "  ", o.sentences()...)
	fmt.Fprintf(b, "  %s(%s): %s {\n", o.ID+o.suffix, d.typescriptSignature(o), d.typescriptResult(o))
	path := o.path
	for _, p := range o.in("path") {
		how := "segment"
		if p.keeps() {
			how = "segments"
		}
		path = strings.Replace(path, "{"+p.Name+"}", "${this.transport."+how+"("+p.Name+")}", 1)
	}
	var options []string
	if len(o.in("query")) > 0 && len(o.in("header")) == 0 {
		options = append(options, "query")
	}
	if header := o.in("header"); len(header) > 0 {
		options = append(options, fmt.Sprintf("headers: { %q: query[%q] ?? query.last_event_id }", header[0].Name, header[0].Name))
	}
	if o.media != "" {
		options = append(options, "body", fmt.Sprintf("media: %q", o.media))
	}
	if o.Once {
		options = append(options, "once: true")
	}
	if o.Security != nil {
		options = append(options, "keyless: true")
	}
	fmt.Fprintf(b, "    return this.transport.%s(%q, `%s`, { %s });\n  }\n", o.answer, o.method, path, strings.Join(options, ", "))
}

// typescriptPages writes the iterator over the items of all pages of a list.
func (d *Document) typescriptPages(b *strings.Builder, o *operation) {
	item := d.typeOf(d.schemas[nameOf(o.result)].Properties[o.items].Items, &typescript)
	b.WriteString("\n")
	typescriptDoc(b, "  ", o.Summary+": all pages, one item after the other.")
	fmt.Fprintf(b, "  async *%sAll(%s): AsyncGenerator<%s, void, undefined> {\n", o.ID, d.typescriptSignature(o, "after", "limit"), item)
	var args []string
	for _, p := range o.in("path") {
		args = append(args, p.Name)
	}
	query := "after, limit: 1000"
	if strings.Contains(d.typescriptSignature(o, "after", "limit"), "query:") {
		query = "...query, " + query
	}
	args = append(args, "{ "+query+" }")
	fmt.Fprintf(b, "    let after: string | undefined;\n    for (;;) {\n      const page: %s = await this.%s(%s);\n      yield* page.%s;\n      if (!page.next || page.next === after) return;\n      after = page.next;\n    }\n  }\n",
		d.typeOf(o.result, &typescript), o.ID, strings.Join(args, ", "), o.items)
}
