package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// A content is the text of a turn, built from blocks that are joined by an empty line. The forms below never change, since the
// text is covered by the digest of every imported turn.
type content struct {
	text  bytes.Buffer // not a strings.Builder, which must not be copied: a content is copied with the value that contains it
	kinds []string     // kinds of blocks without duplicates, in the order of their first appearance
	lost  counts
}

func (c *content) begin(kind string) {
	if c.text.Len() > 0 {
		c.text.WriteString("\n\n")
	}
	if !slices.Contains(c.kinds, kind) {
		c.kinds = append(c.kinds, kind)
	}
}

// plain adds text unchanged.
func (c *content) plain(text string) {
	c.begin("text")
	c.text.WriteString(text)
}

// titled adds a line in brackets and the text below it.
func (c *content) titled(kind, title, text string) {
	c.begin(kind)
	c.text.WriteString("[" + title + "]\n" + text)
}

// call adds a tool call: its name, and its input as compact JSON.
func (c *content) call(name, input string) { c.titled("tool_use", "tool_use "+oneLine(name), input) }

// result adds the result of a tool.
func (c *content) result(text string, isError bool) {
	title := "tool_result"
	if isError {
		title = "tool_result error"
	}
	c.titled("tool_result", title, text)
}

// line adds a line in brackets in place of something that is not text.
func (c *content) line(kind, text string) {
	c.begin(kind)
	c.text.WriteString("[" + oneLine(text) + "]")
}

// other adds a block of an unknown kind, as compact JSON.
func (c *content) other(kind string, v *canon.Value) {
	if kind == "" {
		kind = "unknown"
	}
	c.titled(kind, oneLine(kind), string(appendCompact(nil, v)))
}

// blocks returns the kinds of blocks for an attribute, or "" if there is only text.
func (c *content) blocks() string {
	if len(c.kinds) == 1 && c.kinds[0] == "text" {
		return ""
	}
	return strings.Join(c.kinds, ",")
}

// mediaLine describes data that is left out: its kind, type, size and digest.
func mediaLine(what, mediaType, base64Data string) string {
	data, err := base64.StdEncoding.DecodeString(base64Data)
	encoding := ""
	if err != nil {
		data, encoding = []byte(base64Data), " of undecodable base64"
	}
	sum := sha256.Sum256(data)
	if mediaType == "" {
		mediaType = "unknown/unknown"
	}
	return what + " " + mediaType + ", " + strconv.Itoa(len(data)) + " bytes" + encoding + ", sha256:" + hex.EncodeToString(sum[:])
}

// oneLine replaces control characters by spaces, so that a title stays on one line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// appendCompact writes a value of another program without white space, with the keys of objects in byte order and numbers as
// they were written. It is text for people, and nothing reads it as canonical JSON, which cannot represent all numbers and keys
// that programs write.
func appendCompact(dst []byte, v *canon.Value) []byte {
	switch v.Kind {
	case canon.String:
		return canon.AppendString(dst, v.Text)
	case canon.Null:
		return append(dst, "null"...)
	case canon.Array:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCompact(dst, &v.Items[i])
		}
		return append(dst, ']')
	case canon.Object:
		order := make([]*canon.Member, len(v.Members))
		for i := range v.Members {
			order[i] = &v.Members[i]
		}
		slices.SortFunc(order, func(a, b *canon.Member) int { return strings.Compare(a.Key, b.Key) })
		dst = append(dst, '{')
		for i, m := range order {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(canon.AppendString(dst, m.Key), ':')
			dst = appendCompact(dst, &m.Value)
		}
		return append(dst, '}')
	}
	return append(dst, v.Text...)
}

// text returns a member that is a string, or "".
func text(v *canon.Value, key string) string {
	if v == nil {
		return ""
	}
	if m := v.Get(key); m != nil && m.Kind == canon.String {
		return m.Text
	}
	return ""
}

// isTrue reports whether a member is true.
func isTrue(v *canon.Value, key string) bool {
	m := v.Get(key)
	return m != nil && m.Kind == canon.Bool && m.Text == "true"
}

// object returns a member that is an object, or nil.
func object(v *canon.Value, key string) *canon.Value {
	if v == nil {
		return nil
	}
	if m := v.Get(key); m != nil && m.Kind == canon.Object {
		return m
	}
	return nil
}
