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

// Limits of an answer, in bytes of a call's result as JSON.
const (
	StandardBytes = 8192 // if max_bytes is left out
	LeastBytes    = 2048 // enough for the blocks next to the text, and for some of the text
)

// A position is the place where a page of an answer begins. Its text is four numbers separated by dots, which are
// opaque to the caller, who sends them back as after.
type position struct {
	view   dag.Seq // the view of the answer; 0 if it has none
	after  uint64  // the number after which the part of a longer list begins; see answer
	offset int     // number of bytes of the text before it
	sum    uint32  // of the whole text, so that pages of two different texts are not combined
}

func (p position) String() string {
	return fmt.Sprintf("%d.%d.%d.%d", p.view, p.after, p.offset, p.sum)
}

func parsePosition(text string) (p position, err error) {
	if _, err := fmt.Sscanf(text, "%d.%d.%d.%d", &p.view, &p.after, &p.offset, &p.sum); err != nil || p.String() != text || p.offset < 0 || p.view > dag.MaxSeq || p.after > uint64(dag.MaxSeq) {
		return position{}, fmt.Errorf("%.80q is not the next member of an earlier answer", text)
	}
	return p, nil
}

// readPosition returns the position where the answer continues; the zero value is the beginning.
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

// A rest describes the part of an answer that was left out.
type rest struct {
	Cut  string `json:"cut"`
	Next string `json:"next,omitempty"`
	Left int    `json:"left_bytes,omitempty"`
}

// page makes the result of a call: the text of its answer from a position on, as far as it fits, the block next to it,
// and a description of the rest.
func page(t tool, a *answer, from position, most int) (*sdk.CallToolResult, error) {
	here := position{a.view, a.after, from.offset, crc32.ChecksumIEEE([]byte(a.text))}
	if from.offset > 0 && (here.sum != from.sum || from.offset >= len(a.text) || !utf8.RuneStart(a.text[from.offset])) {
		return nil, refusef("after: the answer has changed since its first part was returned; ask again without after")
	}
	left := a.text[from.offset:]
	if result, err := resultOf(left, a.about, t.following(a, here, left, "")); err != nil || encoded(result) <= most {
		return result, err
	}
	// The description of the rest has at most as many bytes as this one, because no offset and no rest is larger.
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

// following returns the description of the rest after a piece of the text, or nil if nothing is left.
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

// encoded returns the size of a result as JSON, in bytes.
func encoded(r *sdk.CallToolResult) int {
	data, err := json.Marshal(r)
	if err != nil {
		panic("mcp: a result of texts is not JSON: " + err.Error())
	}
	return len(data)
}

// beginning returns as much of a text as fits into a number of bytes of a JSON string. It ends at the end of a line if
// there is one in the second half.
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

// quotedBytes returns the length of a character in a JSON string of package json, in bytes.
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

// compact returns a value as JSON without escapes that a reader does not need.
func compact(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// inLines returns an object as JSON with each item of its lists of objects on its own line, so that pages end between
// items.
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
