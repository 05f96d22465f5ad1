package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Bounds of an answer: the bytes of a call's result as JSON.
const (
	StandardBytes = 8192 // if max_bytes is left out
	LeastBytes    = 2048 // has room for what is said beside the text, and for some of the text
)

// A position is where a page of an answer begins. As text it is four numbers with dots between
// them, which mean nothing to the caller, who sends them back as after.
type position struct {
	view   dag.Seq // what is asked about; 0 where no view is
	after  uint64  // the part of a longer list; see answer
	offset int     // bytes of the text before it
	sum    uint32  // of the whole text: pages of two texts are not put together
}

func (p position) String() string {
	return fmt.Sprintf("%d.%d.%d.%d", p.view, p.after, p.offset, p.sum)
}

func parsePosition(text string) (p position, err error) {
	if _, err := fmt.Sscanf(text, "%d.%d.%d.%d", &p.view, &p.after, &p.offset, &p.sum); err != nil || p.String() != text || p.offset < 0 || p.view > dag.MaxSeq || p.after > uint64(dag.MaxSeq) {
		return position{}, fmt.Errorf("%.80q is not the next of an answer", text)
	}
	return p, nil
}

// readPosition reads where the caller goes on; the zero value is the beginning.
func readPosition(in *canon.Cursor) (p position) {
	if c := in.Optional("after"); c != nil {
		p = canon.Parsed(c, parsePosition)
	}
	return p
}

func readMost(s *Server, in *canon.Cursor) int {
	c := in.Optional("max_bytes")
	if c == nil {
		return StandardBytes
	}
	n := c.Uint(1 << 53)
	if most := s.options.MaxMessage / 2; n < LeastBytes || n > uint64(most) {
		c.Failf("%d bytes, want %d to %d", n, LeastBytes, most)
	}
	return int(n)
}

// A rest is what is said of the part of an answer that was left out.
type rest struct {
	Cut  string `json:"cut"`
	Next string `json:"next,omitempty"`
	Left int    `json:"left_bytes,omitempty"`
}

// page makes the result of a call: of the text of its answer as much as there is room for, from
// a position on, what is said beside it, and what was left out.
func page(t tool, a *answer, from position, most int) (*sdk.CallToolResult, error) {
	here := position{a.view, a.after, from.offset, crc32.ChecksumIEEE([]byte(a.text))}
	if from.offset > 0 && (here.sum != from.sum || from.offset >= len(a.text) || !utf8.RuneStart(a.text[from.offset])) {
		return nil, refusef("after: the answer is no longer what it was when its first part was given; ask again without after")
	}
	left := a.text[from.offset:]
	if result, err := resultOf(left, a.about, t.following(a, here, left, "")); err != nil || encoded(result) <= most {
		return result, err
	}
	// What is said of the rest has at most as many bytes as this: no offset and no rest is greater.
	result, err := resultOf("", a.about, t.following(a, here, left, left))
	if err != nil {
		return nil, err
	}
	piece := beginning(left, most-encoded(result))
	if piece == "" {
		return nil, fmt.Errorf("an answer of at most %d bytes has no room for any of its text", most)
	}
	return resultOf(piece, a.about, t.following(a, here, piece, left[len(piece):]))
}

// following says what follows a piece of the text at a position, or nil if nothing does.
func (t tool) following(a *answer, at position, piece, left string) *rest {
	switch {
	case left != "" && t.answers == inPages:
		at.offset += len(piece)
		return &rest{"This is not all. Call again with the same arguments and after set to next, or with a higher max_bytes.", at.String(), len(left)}
	case left != "":
		return &rest{Cut: "The call is done, and this is not all that was answered. A higher max_bytes has room for more.", Left: len(left)}
	case a.more != 0:
		return &rest{Cut: "This is not all. Call again with the same arguments and after set to next.", Next: position{view: a.view, after: a.more}.String()}
	}
	return nil
}

func resultOf(text string, beside ...any) (*sdk.CallToolResult, error) {
	r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	for _, v := range beside {
		if v == nil || v == (*rest)(nil) {
			continue
		}
		said, err := compact(v)
		if err != nil {
			return nil, err
		}
		r.Content = append(r.Content, &sdk.TextContent{Text: said})
	}
	return r, nil
}

// encoded counts the bytes of a result.
func encoded(r *sdk.CallToolResult) int {
	data, err := json.Marshal(r)
	if err != nil {
		panic("mcp: a result of texts is not JSON: " + err.Error())
	}
	return len(data)
}

// beginning returns as much of a text as has room in so many bytes of a JSON string. It ends with
// a line if one ends in the second half.
func beginning(text string, room int) string {
	end := 0
	for end < len(text) {
		_, size := utf8.DecodeRuneInString(text[end:])
		if room -= quotedBytes(text[end : end+size]); room < 0 {
			break
		}
		end += size
	}
	if line := strings.LastIndexByte(text[:end], '\n') + 1; line > end/2 && end < len(text) {
		end = line
	}
	return text[:end]
}

// quotedBytes counts the bytes of a character in a JSON string as package json writes it.
func quotedBytes(char string) int {
	switch char {
	case `"`, `\`, "\b", "\f", "\n", "\r", "\t":
		return 2
	case "<", ">", "&", "\u2028", "\u2029":
		return 6
	}
	if char[0] < 0x20 || len(char) == 1 && char[0] >= utf8.RuneSelf {
		return 6
	}
	return len(char)
}

// compact writes a value as JSON without escapes that a reader of text does not need.
func compact(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// inLines writes an object as JSON with each item of its lists of objects on a line of its own, so
// that pages end between items.
func inLines(v any) (string, error) {
	text, err := compact(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\':
			b.WriteByte(c)
			i++
			c = text[i]
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if c == '{' && depth == 2 {
				b.WriteByte('\n')
			}
			depth++
		case c == '}' || c == ']':
			depth--
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}
