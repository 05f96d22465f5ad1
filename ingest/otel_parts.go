package ingest

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// An otelBody is the turn of a message, before it is joined to other turns.
type otelBody struct {
	draft   dag.Draft
	content content
	noted   counts
	skip    string   // not empty: why the message is not a turn
	tools   []string // the tools that it calls
	ids     []string // the ids of its calls and results
	called  []string // the ids of its calls; parallel to tools
	answers []string // the ids of its results
}

// readOTelMessage reads {"role","parts":[…]}.
func readOTelMessage(v *canon.Value) *otelBody {
	b := &otelBody{}
	d := &b.draft
	switch text(v, "role") {
	case "system", "developer":
		d.Role, d.Author = dag.RoleSystem, "system:otel"
		setAttr(d, attrMeta, "true", &b.noted)
	case "user":
		d.Role, d.Author = dag.RoleUser, authorHuman
	case "assistant":
		d.Role, d.Author = dag.RoleAssistant, "agent:assistant"
	case "tool":
		d.Role = dag.RoleTool
	default:
		b.skip = skipUnknownRole
		if v.Kind != canon.Object {
			b.skip = skipMalformed
		}
		return b
	}
	for _, p := range items(v, "parts") {
		b.part(p)
	}
	if v.Get(cutMember) != nil {
		b.cutOff()
	}
	if b.content.text.Len() == 0 {
		b.skip = skipEmptyMessage
	}
	return b
}

// cutOff marks a message as cut.
func (b *otelBody) cutOff() {
	setAttr(&b.draft, attrCut, "true", &b.noted)
	b.noted.add(noteAttributeCut)
}

// divide turns a user's message with tool results into a tool's message, and returns its texts as a user's message, or nil if
// it has none.
func (b *otelBody) divide(v *canon.Value) *otelBody {
	if b.draft.Role != dag.RoleUser || !slices.ContainsFunc(items(v, "parts"), isResult) {
		return nil
	}
	author := b.draft.Author
	*b = otelBody{draft: dag.Draft{Role: dag.RoleTool}}
	typed := &otelBody{draft: dag.Draft{Role: dag.RoleUser, Author: author}}
	last := b
	for _, p := range items(v, "parts") {
		kind := text(p, "type")
		if kind == "text" || kind == "input_text" {
			typed.part(p)
			last = typed
			continue
		}
		b.part(p)
		last = b
		if id := answeredID(p); isResult(p) && kind != "tool_call_response" && kind != blockResult && id != "" { // part adds the ids of these two types
			b.ids, b.answers = append(b.ids, id), append(b.answers, id)
		}
	}
	if strings.TrimSpace(typed.content.text.String()) == "" {
		last, typed = b, nil
	}
	if v.Get(cutMember) != nil {
		last.cutOff()
	}
	return typed
}

// part adds a part: text, reasoning, tool_call, tool_call_response, blob, uri, file, or a part of a later version.
func (b *otelBody) part(v *canon.Value) {
	c := &b.content
	switch kind := text(v, "type"); kind {
	case "text", "input_text", "output_text":
		addPlain(c, otelPlain(v))
	case "reasoning", "thinking":
		said := v.Get("content")
		if said == nil {
			said = v.Get("thinking")
		}
		addTitled(c, "thinking", "thinking", otelContent(said))
	case "tool_call", "tool_use":
		name, id := text(v, "name"), text(v, "id")
		if name == "" {
			name = "unknown"
		}
		b.tools, b.called = append(b.tools, name), append(b.called, id)
		if id != "" {
			b.ids = append(b.ids, id)
		}
		input := "{}"
		args := v.Get("arguments")
		if kind == "tool_use" { // the form of Anthropic's API, also for results
			args = v.Get("input")
		}
		if args != nil && args.Kind != canon.Null {
			input = otelContent(args)
		}
		c.call(name, input)
	case "tool_call_response", "tool_result":
		id := text(v, "id")
		if kind == "tool_result" {
			id = text(v, "tool_use_id")
		}
		if id != "" {
			b.ids, b.answers = append(b.ids, id), append(b.answers, id)
		}
		response := v.Get("response")
		if response == nil {
			response = v.Get("result") // the name in earlier versions
		}
		if kind == "tool_result" && v.Get("content") != nil {
			plain := plainOf(v.Get("content"))
			response = &plain
		}
		c.result(otelContent(response), false)
	case "blob":
		c.lost.add(noteImageData)
		c.line("image", mediaLine(strings.TrimSpace("data "+text(v, "modality")), text(v, "mime_type"), text(v, "content")))
	case "uri", "file":
		c.line("attachment", strings.Join(strings.Fields(kind+" "+text(v, "modality")+" "+text(v, "mime_type")+" "+text(v, "uri")+text(v, "file_id")), " "))
	default:
		c.other(kind, v)
	}
}

// otelContent returns a text unchanged, and any other value as compact JSON.
func otelContent(v *canon.Value) string {
	switch {
	case v == nil || v.Kind == canon.Null:
		return ""
	case v.Kind == canon.String:
		return v.Text
	}
	return string(appendCompact(nil, v))
}

// otelInstructions makes a message from gen_ai.system_instructions, which are parts without a role.
func otelInstructions(v *canon.Value) *canon.Value {
	return &canon.Value{Kind: canon.Object, Members: []canon.Member{
		{Key: "role", Value: canon.Value{Kind: canon.String, Text: "system"}},
		{Key: "parts", Value: *v},
	}}
}

// otelAttributes reads [{"key","value":ANYVALUE}]. Attributes with messages are JSON in a text on spans, and may be structured
// on events.
func otelAttributes(v *canon.Value) map[string]*canon.Value {
	attrs := map[string]*canon.Value{}
	for _, a := range items(v, "attributes") {
		key := text(a, "key")
		value := anyValue(object(a, "value"))
		if value == nil || attrs[key] != nil {
			continue
		}
		if value.Kind == canon.String && (strings.HasSuffix(key, ".messages") || strings.HasSuffix(key, ".system_instructions") || key == "gen_ai.prompt" || key == "gen_ai.completion") {
			if parsed, _, err := parseLenient([]byte(value.Text)); err == nil {
				value = parsed
			} else if begun := completed(value.Text); begun != nil {
				value = begun
			}
		}
		attrs[key] = value
	}
	return attrs
}

func otelText(attrs map[string]*canon.Value, key string) string {
	if v := attrs[key]; v != nil && v.Kind == canon.String {
		return v.Text
	}
	return ""
}

// anyValue reads an AnyValue of OTLP/JSON, or returns nil if there is none.
func anyValue(v *canon.Value) *canon.Value {
	if v == nil || len(v.Members) == 0 {
		return nil
	}
	m := &v.Members[0]
	switch m.Key {
	case "arrayValue":
		list := &canon.Value{Kind: canon.Array}
		for _, item := range items(&m.Value, "values") {
			if inner := anyValue(item); inner != nil {
				list.Items = append(list.Items, *inner)
			}
		}
		return list
	case "kvlistValue":
		obj := &canon.Value{Kind: canon.Object}
		for _, item := range items(&m.Value, "values") {
			if inner := anyValue(object(item, "value")); inner != nil {
				obj.Members = append(obj.Members, canon.Member{Key: text(item, "key"), Value: *inner})
			}
		}
		return obj
	case "intValue": // a text in OTLP/JSON
		if m.Value.Kind == canon.String {
			return &canon.Value{Kind: canon.Number, Text: m.Value.Text}
		}
	}
	return &m.Value
}

// itemsOrNone returns the number of items of an array, and 0 for any other value.
func itemsOrNone(v *canon.Value) int {
	if v == nil || v.Kind != canon.Array {
		return 0
	}
	return len(v.Items)
}
