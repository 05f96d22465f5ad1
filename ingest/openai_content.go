package ingest

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A namedCall is a tool call in a message.
type namedCall struct{ id, name string }

// openaiBody renders a message with the given content and sets the attributes that describe it.
func openaiBody(d *dag.Draft, v, body *canon.Value, noted *counts) (calls []namedCall) {
	var c content
	results := resultsOf(body)
	inForm := func(b *canon.Value) bool { return text(b, "type") == blockResult }
	switch {
	case d.Role == dag.RoleTool && !slices.ContainsFunc(results, inForm):
		c.result(openaiText(body, &c.lost), false)
	default:
		addOpenAIContent(&c, body)
		if slices.ContainsFunc(results, func(b *canon.Value) bool { return isTrue(b, "is_error") }) {
			setAttr(d, attrIsError, "true", noted)
		}
	}
	if refusal := text(v, "refusal"); refusal != "" {
		c.titled("refusal", "refusal", refusal)
	}
	if reasoning := text(v, "reasoning_content"); reasoning != "" {
		c.titled("thinking", "thinking", reasoning)
	}
	call := func(id string, function *canon.Value) {
		if function == nil {
			return
		}
		name := text(function, "name")
		if name == "" {
			name = "unknown"
		}
		c.call(name, argumentsOf(function))
		calls = append(calls, namedCall{id, name})
	}
	if d.Role == dag.RoleAssistant && body != nil && body.Kind == canon.Array {
		for i := range body.Items { // already rendered
			if call := blockCall(&body.Items[i]); call != nil {
				calls = append(calls, *call)
			}
		}
	}
	if list := v.Get("tool_calls"); list != nil {
		for i := range list.Items {
			item := &list.Items[i]
			function := object(item, "function")
			if function == nil {
				c.other("tool_call", item)
				continue
			}
			call(text(item, "id"), function)
		}
	}
	call("", object(v, "function_call"))
	if d.Role == dag.RoleAssistant {
		var names, ids []string
		for _, k := range calls {
			names, ids = append(names, k.name), append(ids, k.id)
		}
		setAttr(d, attrTool, strings.Join(names, ","), noted)
		setAttr(d, attrToolUseID, strings.Trim(strings.Join(ids, ","), ","), noted)
	}
	d.Content = c.text.String()
	setAttr(d, attrBlocks, c.blocks(), noted)
	for what, n := range c.lost {
		for range n {
			noted.add(what)
		}
	}
	return calls
}

// argumentsOf returns a call's arguments, which are JSON in a string, in compact form; text that is not JSON stays unchanged.
func argumentsOf(function *canon.Value) string {
	m := function.Get("arguments")
	switch {
	case m == nil:
		return "{}"
	case m.Kind != canon.String:
		return string(appendCompact(nil, m))
	}
	v, err := canon.Parse([]byte(m.Text))
	if err != nil {
		return m.Text
	}
	return string(appendCompact(nil, v))
}

func addOpenAIContent(c *content, v *canon.Value) {
	switch {
	case v == nil || v.Kind == canon.Null:
	case v.Kind == canon.String:
		if v.Text != "" {
			c.plain(v.Text)
		}
	case v.Kind == canon.Array:
		for i := range v.Items {
			addOpenAIPart(c, &v.Items[i])
		}
	default:
		c.other("unknown", v)
	}
}

func addOpenAIPart(c *content, p *canon.Value) {
	switch kind := text(p, "type"); {
	case p.Kind == canon.String:
		c.plain(p.Text)
	case kind == "text" || kind == "input_text" || kind == "output_text":
		c.plain(text(p, "text"))
	case kind == "tool_use":
		input := "{}"
		if in := p.Get("input"); in != nil {
			input = string(appendCompact(nil, in))
		}
		c.call(anthropicTool(p), input)
	case kind == blockResult:
		c.result(resultText(p.Get("content"), &c.lost), isTrue(p, "is_error"))
	case kind == "refusal":
		c.titled(kind, kind, text(p, "refusal"))
	case kind == "image_url":
		url := text(object(p, "image_url"), "url")
		mediaType, data, inline := dataURL(url)
		if !inline {
			c.line("image", "image at "+url)
			return
		}
		c.lost.add(noteImageData)
		c.line("image", mediaLine("image", mediaType, data))
	case kind == "input_audio":
		audio := object(p, "input_audio")
		c.lost.add("audio_data")
		c.line("audio", mediaLine("audio", "audio/"+text(audio, "format"), text(audio, "data")))
	default:
		c.other(kind, p)
	}
}

// blockCall returns the call in a block, or nil if the block is not a call: tool_use of Anthropic's API, also of tools that a
// server runs, tool-call of the AI SDK, and toolUse of Bedrock.
func blockCall(p *canon.Value) *namedCall {
	if inner := object(p, "toolUse"); inner != nil {
		return &namedCall{text(inner, "toolUseId"), anthropicTool(inner)}
	}
	switch text(p, "type") {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return &namedCall{text(p, "id"), anthropicTool(p)}
	case "tool-call":
		return &namedCall{text(p, "toolCallId"), text(p, "toolName")}
	}
	return nil
}

// anthropicTool returns the tool of a tool_use block.
func anthropicTool(p *canon.Value) string {
	name := text(p, "name")
	if name == "" {
		name = "unknown"
	}
	return name
}

// resultsOf returns the results among the blocks of a content. In Anthropic's form, user messages contain them.
func resultsOf(body *canon.Value) (results []*canon.Value) {
	if body == nil || body.Kind != canon.Array {
		return nil
	}
	for i := range body.Items {
		if p := &body.Items[i]; isResult(p) {
			results = append(results, p)
		}
	}
	return results
}

// answeringTool returns the tool that the first result of a content names, or "unknown", for results without a known call.
func answeringTool(body *canon.Value) string {
	for _, b := range resultsOf(body) {
		if name := text(b, "toolName"); name != "" {
			return name
		}
		if name := text(object(b, "functionResponse"), "name"); name != "" {
			return name
		}
	}
	return "unknown"
}

// dividedResults separates results of tools from the texts of the same message. Both are nil if there are no results.
func dividedResults(body *canon.Value) (results, typed *canon.Value) {
	if len(resultsOf(body)) == 0 {
		return nil, nil
	}
	own, said := canon.Value{Kind: canon.Array}, canon.Value{Kind: canon.Array}
	for _, p := range body.Items {
		kind := text(&p, "type")
		if words := blockText(&p); (p.Kind == canon.String || kind == "text" || kind == "input_text" || kind == "") && strings.TrimSpace(words) != "" {
			said.Items = append(said.Items, p)
			continue
		}
		own.Items = append(own.Items, p)
	}
	if len(said.Items) == 0 {
		return &own, nil
	}
	return &own, &said
}

// dataURL splits data:MEDIA;base64,DATA.
func dataURL(url string) (mediaType, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	mediaType, _, _ = strings.Cut(head, ";")
	return mediaType, data, ok && strings.HasSuffix(head, ";base64")
}

// openaiText returns a content as text, for the result of a tool.
func openaiText(v *canon.Value, lost *counts) string {
	var c content
	addOpenAIContent(&c, v)
	for what, n := range c.lost {
		for range n {
			lost.add(what)
		}
	}
	return c.text.String()
}
