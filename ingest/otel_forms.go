package ingest

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// otelSaid has the messages of one call from a record's attributes and events.
type otelSaid struct {
	instructions, input, output *canon.Value // lists, unless malformed; nil if there are none
}

// otelSaidIn returns the messages of a record, in the first of these forms that it has:
//
//	gen_ai.system_instructions, gen_ai.input.messages, gen_ai.output.messages   the semantic conventions
//	events gen_ai.user.message, gen_ai.choice …                                 the conventions up to 1.36
//	gen_ai.prompt, gen_ai.completion                                            the conventions up to 1.27
//	gen_ai.prompt.N.role, .content …; gen_ai.completion.N…                      OpenLLMetry
//	llm.input_messages.N.message.role, .content …; llm.output_messages.N…       OpenInference
func otelSaidIn(v *canon.Value, attrs map[string]*canon.Value) otelSaid {
	forms := [...]otelSaid{
		{attrs["gen_ai.system_instructions"], attrs["gen_ai.input.messages"], attrs["gen_ai.output.messages"]},
		otelEvents(v),
		{nil, attrs["gen_ai.prompt"], attrs["gen_ai.completion"]},
		{nil, flatMessages(attrs, "gen_ai.prompt.", ""), flatMessages(attrs, "gen_ai.completion.", "")},
		{nil, flatMessages(attrs, "llm.input_messages.", "message."), flatMessages(attrs, "llm.output_messages.", "message.")},
	}
	for _, said := range forms {
		if said != (otelSaid{}) {
			return said
		}
	}
	return otelSaid{}
}

// otelEvents reads the events of a span that are messages. The name of an event says who speaks.
func otelEvents(v *canon.Value) (said otelSaid) {
	add := func(list **canon.Value, role string, message *canon.Value) {
		if *list == nil {
			*list = &canon.Value{Kind: canon.Array}
		}
		out := canon.Value{Kind: canon.Object, Members: []canon.Member{{Key: "role", Value: stringValue(role)}}}
		for _, m := range message.Members {
			switch begun := cutBlocks(&m.Value); {
			case m.Key == "content" && begun != nil:
				out.Members = append(out.Members, canon.Member{Key: m.Key, Value: *begun}, canon.Member{Key: cutMember})
			case m.Key != "role":
				out.Members = append(out.Members, m)
			}
		}
		(*list).Items = append((*list).Items, out)
	}
	for _, event := range items(v, "events") {
		message := &canon.Value{Kind: canon.Object}
		attrs := otelAttributes(event)
		for _, key := range slices.Sorted(maps.Keys(attrs)) {
			message.Members = append(message.Members, canon.Member{Key: strings.TrimPrefix(key, "gen_ai.event."), Value: *structured(attrs[key])})
		}
		if body := otelLogBody(event); body != nil && body.Kind == canon.Object {
			message.Members = append(body.Members, message.Members...)
		}
		switch name := text(event, "name"); name {
		case "gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message":
			if id := message.Get("id"); id != nil && name == "gen_ai.tool.message" && message.Get("tool_call_id") == nil {
				message.Members = append(message.Members, canon.Member{Key: "tool_call_id", Value: *id})
			}
			add(&said.input, strings.Split(name, ".")[1], message)
		case "gen_ai.choice":
			if inner := object(message, "message"); inner != nil {
				if message.Get(cutMember) != nil {
					inner.Members = append(inner.Members, canon.Member{Key: cutMember})
				}
				message = inner
			} else if inner := message.Get("message.content"); inner != nil {
				message.Members = append(message.Members, canon.Member{Key: "content", Value: *inner})
			}
			add(&said.output, "assistant", message)
		}
	}
	return said
}

// structured returns the object or array that is in a JSON text, else the text itself.
func structured(v *canon.Value) *canon.Value {
	if v.Kind != canon.String || !strings.HasPrefix(v.Text, "{") && !strings.HasPrefix(v.Text, "[") {
		return v
	}
	if parsed, _, err := parseLenient([]byte(v.Text)); err == nil {
		return parsed
	}
	return v
}

// otelLogBody returns the body of a log record, also if it is an object in a text, which an exporter may have cut, or nil if
// there is none.
func otelLogBody(record *canon.Value) *canon.Value {
	body := anyValue(object(record, "body"))
	if body == nil || body.Kind != canon.String || !strings.HasPrefix(body.Text, "{") {
		return body
	}
	if whole := structured(body); whole.Kind == canon.Object {
		return whole
	}
	if begun := completed("[" + body.Text); begun != nil {
		return &begun.Items[0]
	}
	return body
}

// cutBlocks returns the blocks of a content that was written as a text and cut off, up to the cut, or nil for any other value.
// It removes cutMember, which belongs on the message.
func cutBlocks(v *canon.Value) *canon.Value {
	if v.Kind != canon.String || !strings.HasPrefix(v.Text, "[") {
		return nil
	}
	list := completed(v.Text)
	if list == nil {
		return nil
	}
	last := &list.Items[len(list.Items)-1]
	last.Members = slices.DeleteFunc(last.Members, func(m canon.Member) bool { return m.Key == cutMember })
	if untyped(last) {
		list.Items = list.Items[:len(list.Items)-1]
	}
	if !areBlocks(list) {
		return nil
	}
	return list
}

// flatMessages collects messages whose members are separate attributes: PREFIX N "." INNER "role". It returns nil if there are
// none.
func flatMessages(attrs map[string]*canon.Value, prefix, inner string) *canon.Value {
	fields := map[int]map[string]*canon.Value{}
	for key, value := range attrs {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		number, member, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(number)
		if member, ok = strings.CutPrefix(member, inner); err != nil || n < 0 || !ok {
			continue
		}
		if fields[n] == nil {
			fields[n] = map[string]*canon.Value{}
		}
		fields[n][member] = value
	}
	if len(fields) == 0 {
		return nil
	}
	list := &canon.Value{Kind: canon.Array}
	for _, n := range slices.Sorted(maps.Keys(fields)) {
		list.Items = append(list.Items, flatMessage(fields[n]))
	}
	return list
}

// flatMessage makes a message from its members. A text that is a list of blocks in JSON becomes blocks, since a tool's result
// in a user's message must not be taken for the user's words.
func flatMessage(fields map[string]*canon.Value) canon.Value {
	out := canon.Value{Kind: canon.Object}
	add := func(key string, v *canon.Value) {
		if v != nil {
			out.Members = append(out.Members, canon.Member{Key: key, Value: *v})
		}
	}
	add("role", fields["role"])
	add("tool_call_id", fields["tool_call_id"])
	content := fields["content"]
	if content != nil {
		if list := structured(content); areBlocks(list) {
			content = list
		} else if list := cutBlocks(content); list != nil {
			content = list
			out.Members = append(out.Members, canon.Member{Key: cutMember})
		}
	} else if blocks := flatItems(fields, "contents.", "message_content."); len(blocks) > 0 {
		content = &canon.Value{Kind: canon.Array, Items: blocks}
	}
	add("content", content)
	if calls := append(flatItems(fields, "tool_calls.", "tool_call."), flatItems(fields, "tool_calls.", "")...); len(calls) > 0 {
		add("tool_calls", &canon.Value{Kind: canon.Array, Items: calls})
	}
	return out
}

// flatItems collects the items PREFIX N "." INNER of a message. The prefix "function." of their names is removed.
func flatItems(fields map[string]*canon.Value, prefix, inner string) (list []canon.Value) {
	at := map[int]*canon.Value{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		rest, ok := strings.CutPrefix(key, prefix)
		number, member, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(number)
		if member, ok = cutIf(member, inner, ok); err != nil || !ok || inner == "" && strings.HasPrefix(member, "tool_call.") {
			continue
		}
		if at[n] == nil {
			at[n] = &canon.Value{Kind: canon.Object}
		}
		at[n].Members = append(at[n].Members, canon.Member{Key: strings.TrimPrefix(member, "function."), Value: *fields[key]})
	}
	for _, n := range slices.Sorted(maps.Keys(at)) {
		list = append(list, *at[n])
	}
	return list
}

func cutIf(s, prefix string, before bool) (string, bool) {
	rest, ok := strings.CutPrefix(s, prefix)
	return rest, ok && before
}

// areBlocks reports whether a value is a list of blocks, each with its type.
func areBlocks(v *canon.Value) bool {
	if v == nil || v.Kind != canon.Array || len(v.Items) == 0 {
		return false
	}
	for i := range v.Items {
		if text(&v.Items[i], "type") == "" {
			return false
		}
	}
	return true
}

// withParts returns a message in the form {"role","parts":[…]}. Older instrumentations record {"role","content","tool_calls"}
// and {"role":"tool","tool_call_id","content"}, like the APIs of models.
func withParts(v *canon.Value) *canon.Value {
	content, calls := v.Get("content"), items(v, "tool_calls")
	if v.Kind != canon.Object || v.Get("parts") != nil {
		return v
	}
	parts := canon.Value{Kind: canon.Array}
	role := text(v, "role")
	switch {
	case content == nil || content.Kind == canon.Null:
	case role == "tool" || role == "function" || role == "user" && text(v, "tool_call_id") != "":
		parts.Items = append(parts.Items, objectValue("type", stringValue("tool_call_response"), "id", stringValue(text(v, "tool_call_id")), "response", plainOf(content)))
	case content.Kind == canon.Array:
		parts.Items = append(parts.Items, content.Items...)
	default:
		parts.Items = append(parts.Items, objectValue("type", stringValue("text"), "content", *content))
	}
	for _, call := range calls {
		f := call
		if inner := object(call, "function"); inner != nil {
			f = inner
		}
		args := stringValue("{}")
		if a := f.Get("arguments"); a != nil {
			args = *a
		}
		parts.Items = append(parts.Items, objectValue("type", stringValue("tool_call"), "id", stringValue(text(call, "id")), "name", stringValue(text(f, "name")), "arguments", args))
	}
	if role == "function" {
		role = "tool"
	}
	out := objectValue("role", stringValue(role), "parts", parts)
	if v.Get(cutMember) != nil {
		out.Members = append(out.Members, canon.Member{Key: cutMember})
	}
	return &out
}

// plainOf returns the text of a list of text blocks, and any other value unchanged.
func plainOf(v *canon.Value) canon.Value {
	if !areBlocks(v) {
		return *v
	}
	var texts []string
	for i := range v.Items {
		if kind := text(&v.Items[i], "type"); kind != "text" {
			return *v
		}
		texts = append(texts, otelPlain(&v.Items[i]))
	}
	return stringValue(strings.Join(texts, "\n\n"))
}

// otelPlain returns the text of a part: of its content, or, as in the APIs of models, of its text.
func otelPlain(v *canon.Value) string {
	if content := v.Get("content"); content != nil {
		return otelContent(content)
	}
	return otelContent(v.Get("text"))
}

func stringValue(s string) canon.Value { return canon.Value{Kind: canon.String, Text: s} }

// objectValue makes an object from alternating keys and values.
func objectValue(keysAndValues ...any) canon.Value {
	v := canon.Value{Kind: canon.Object}
	for i := 0; i < len(keysAndValues); i += 2 {
		v.Members = append(v.Members, canon.Member{Key: keysAndValues[i].(string), Value: keysAndValues[i+1].(canon.Value)})
	}
	return v
}

// cutMember marks the last message of an attribute that an exporter cut at its limit. The key begins with NUL, which no known
// program writes into a key.
const cutMember = "\x00cut"

// wholeMembers are members that identify something, so a truncated value is useless.
var wholeMembers = []string{"role", "type", "name", "id", "tool_call_id", "tool_use_id"}

func untyped(v *canon.Value) bool { return v.Kind == canon.Object && v.Get("type") == nil }

// completed reads the beginning of a list of messages that was cut off anywhere: up to the cut if it is in a text, else up to
// the last complete value. It marks the last message. A truncated value never identifies a speaker or the type of a part.
func completed(text string) *canon.Value {
	f := follower{text: []byte(text)}
	if f.run() || f.at < len(text) || len(f.nest) == 0 {
		return nil
	}
	head := f.text[:f.good]
	if key := text[f.member[0]:f.member[1]]; f.inValue > f.good && !slices.Contains(wholeMembers, key) {
		head = append(bytes.Clone(f.text[:f.safe]), '"')
	}
	head = bytes.Clone(head)
	for _, open := range slices.Backward(f.nest) {
		head = append(head, map[byte]byte{'{': '}', '[': ']'}[open])
	}
	v, _, err := parseLenient(head)
	if err != nil || v.Kind != canon.Array || len(v.Items) == 0 {
		return nil
	}
	last := &v.Items[len(v.Items)-1]
	for _, key := range [...]string{"parts", "content"} { // the kind of a part without a type is unknown
		if parts := last.Get(key); parts != nil && len(parts.Items) > 0 {
			if end := len(parts.Items) - 1; untyped(&parts.Items[end]) {
				parts.Items = parts.Items[:end]
			}
		}
	}
	if last.Kind == canon.Object {
		last.Members = append(last.Members, canon.Member{Key: cutMember})
	}
	return v
}
