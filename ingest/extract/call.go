package extract

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// A call is one tool call in a turn's content.
type call struct {
	by    said
	id    string // "" if the trace has none
	tool  string
	input map[string]json.RawMessage

	// marked says that the trace marks error results, so that a result without a mark is a success. Claude Code marks them,
	// chat messages do not.
	marked bool
}

// text returns the first non-empty string among the named members of the input, or "".
func (c *call) text(keys ...string) string {
	for _, key := range keys {
		var s string
		if raw, ok := c.input[key]; ok && json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// sure returns the confidence of a success of the call.
func (c *call) sure() dag.PPM {
	if c.marked {
		return Structured
	}
	return FixedForm
}

const (
	callHead    = "[tool_use "
	resultHead  = "[tool_result]\n"
	failureHead = "[tool_result error]\n"
)

// A Block is a part of a content: text, or a tool call.
type Block struct {
	Tool string // "" for text
	Text string // the text, or the input of a call
}

// Blocks splits a content into text and tool calls. A content is one text, in which somebody may have written text that looks
// like a call. So the headings must be exactly the tools that the attributes name, in the same order; otherwise, for example
// with a forged heading, ok is false and no block counts.
func Blocks(content string, attrs map[string]string) (blocks []Block, ok bool) {
	var names, found []string
	if tools := attrs[attrTool]; tools != "" {
		names = strings.Split(tools, ",")
	}
	for at := 0; ; {
		i := blockAt(content, at, callHead)
		if i < 0 {
			return append(blocks, Block{Text: content[at:]}), slices.Equal(found, names)
		}
		name, input, closed := strings.Cut(content[i+len(callHead):], "]\n")
		if !closed || strings.Contains(name, "\n") {
			return nil, false
		}
		if strings.HasPrefix(input, "{") {
			input, _, _ = strings.Cut(input, "\n") // compact JSON is one line; any other input extends to the end
		}
		blocks, found = append(blocks, Block{Text: content[at:i]}, Block{Tool: name, Text: input}), append(found, name)
		at = i + len(callHead) + len(name) + len("]\n") + len(input)
	}
}

// callsOf returns the calls in a turn and the text around them; see Blocks.
func callsOf(s *said) (calls []call, around string, ok bool) {
	blocks, ok := Blocks(s.body.Content, s.body.Attrs)
	if !ok {
		return nil, "", false
	}
	var rest strings.Builder
	for _, b := range blocks {
		if b.Tool == "" {
			rest.WriteString(b.Text)
			continue
		}
		c := call{by: *s, tool: b.Tool, marked: s.body.Attrs[attrMessage] != ""}
		if json.Unmarshal([]byte(b.Text), &c.input) != nil || c.input == nil {
			return nil, "", false
		}
		calls = append(calls, c)
	}
	var ids []string
	if list := s.body.Attrs[AttrToolUse]; list != "" {
		ids = strings.Split(list, ",")
	}
	if len(ids) != 0 && len(ids) != len(calls) {
		return nil, "", false
	}
	for i := range ids {
		calls[i].id = ids[i]
	}
	return calls, rest.String(), true
}

// blockAt returns the position of the next block that begins with head, from at on, or -1. A block begins at the start of a
// content or after an empty line.
func blockAt(text string, at int, head string) int {
	if at == 0 && strings.HasPrefix(text, head) {
		return 0
	}
	if i := strings.Index(text[at:], "\n\n"+head); i >= 0 {
		return at + i + 2
	}
	return -1
}

// A result is the result of a tool call.
type result struct {
	id     string
	text   string
	failed bool

	// open says that the text is unknown, because the turn has other blocks and the end of the result cannot be determined.
	// text is then empty.
	open bool
}

// resultsOf returns the results in a turn. A single result without other blocks is the whole content, whatever it contains.
// Otherwise there must be as many headings as the attributes have ids, so a forged heading makes resultsOf fail.
func resultsOf(s *said) ([]result, bool) {
	ids := strings.Split(s.body.Attrs[AttrToolUse], ",")
	alone := s.body.Attrs[attrBlocks] == blockResult
	text := s.body.Content
	starts := []int{0}
	if !alone || len(ids) > 1 {
		starts = headings(text)
	}
	if len(starts) != len(ids) {
		return nil, false
	}
	results := make([]result, len(ids))
	for i := range ids {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1] - 2
		}
		r, ok := oneResult(text[starts[i]:end])
		if !ok {
			return nil, false
		}
		if r.id = ids[i]; !alone {
			r.text, r.open = "", true
		}
		results[i] = r
	}
	return results, true
}

// headings returns the positions where results seem to begin, in one pass.
func headings(text string) (starts []int) {
	for at := 0; ; {
		i := blockAt(text, at, "[tool_result")
		if i < 0 {
			return starts
		}
		if _, ok := oneResult(text[i:]); ok {
			starts = append(starts, i)
		}
		at = i + 1
	}
}

func oneResult(text string) (result, bool) {
	if said, ok := strings.CutPrefix(text, resultHead); ok {
		return result{text: said}, true
	}
	said, ok := strings.CutPrefix(text, failureHead)
	return result{text: said, failed: true}, ok
}

// results finds facts in a turn that contains results of its parents' calls. It reads the parents in the order of their ids, so the
// order of parents has no effect.
func (x *extraction) results(parents []dag.TurnID, parent func(dag.TurnID) (said, bool)) {
	results, ok := resultsOf(&x.self)
	if !ok {
		x.skipped.UnclearResult++
		return
	}
	parents = slices.Clone(parents)
	slices.SortFunc(parents, dag.TurnID.Compare)
	var calls []call
	unclear := 0
	for _, id := range parents {
		p, ok := parent(id)
		if !ok || !slices.Contains(strings.Split(p.body.Attrs[attrBlocks], ","), blockCall) {
			continue
		}
		theirs, _, ok := callsOf(&p)
		if !ok {
			unclear++
		}
		calls = append(calls, theirs...)
	}
	for i := range results {
		r := &results[i]
		if r.open {
			x.skipped.UnclearResult++
		}
		at := slices.IndexFunc(calls, func(c call) bool { return c.id != "" && c.id == r.id })
		switch {
		case at >= 0:
			x.answered(&calls[at], r)
		case unclear > 0: // it may be a call of such a parent
			x.skipped.UnclearCall++
		default:
			x.skipped.MissingCall++
		}
	}
}

// answered applies the rules for a call with a known result.
func (x *extraction) answered(c *call, r *result) {
	if !r.failed {
		x.files(c, r)
	}
	if command := commandOf(c); command != "" && ran(r) {
		x.command(c, r, command)
	}
}
