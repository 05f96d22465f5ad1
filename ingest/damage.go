package ingest

import (
	"bytes"
	"slices"

	"github.com/graphkernel/graphkernel/internal/bom"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A line of a file of records is damaged where a program or its machine stopped in the middle of a write. The damage has three
// forms: a record that was cut off, followed by the next record; NUL bytes in place of unwritten bytes; and both. To find the
// beginning of the next record, a follower applies the grammar of JSON from the beginning of the line. A record that is cut off
// breaks no rule of the grammar, whatever its strings and objects contain. So the first byte that breaks a rule is the first
// byte of the next record, or, if the record was cut in a string, follows the quote at which that string seems to end: the
// first quote of the next record.
// No text is searched for something that looks like a record. So a brace inside a string, or an object inside an object, which
// a tool may have written, never counts as the beginning of a record. The cost: if a record is cut just before a value, the
// next record could be that value, and is lost with it, except after a member of ownMembers. docs/importers.md has the rule.

// ownMembers are members whose value is never an object from an outside author. If an object follows such a member and contains
// the same member, it is the next record.
var ownMembers = []string{"parentUuid", "uuid", "sessionId", "type", "timestamp", "message", "payload", "cwd", "version", "gitBranch", "isSidechain", "userType", "requestId", "id", "time", "role", "projectHash"}

// follow reads one object or array at the beginning of a text and returns its length. If the text breaks the grammar, or ends
// before the value does, the length is 0, and next is the position where another record begins, or -1 if there is none.
func follow(text []byte) (length, next int) {
	f := follower{text: text}
	if f.run() {
		return f.at, -1
	}
	if at := f.ownMember(); at > 0 {
		return 0, at
	}
	if f.at == 0 || f.at >= len(text) {
		return 0, -1
	}
	at := f.at
	if text[at-1] == '"' && f.quote == at-1 { // cut in a string, which seems to end at the next record's first quote
		if open := len(bytes.TrimRight(text[:at-1], " \t\r")) - 1; text[open] == '{' {
			return 0, open
		}
	}
	at += len(text[at:]) - len(trimNothing(text[at:]))
	if at < len(text) && text[at] == '{' {
		return 0, at
	}
	return 0, -1
}

// isDamaged reports whether a text of JSON values, one per line or not, breaks the grammar of JSON. The text may be cut off.
func isDamaged(text []byte) bool {
	for {
		f := follower{text: text}
		if !f.run() {
			return f.at < len(text)
		}
		if text = bytes.TrimLeft(text[f.at:], " \t\r\n"); len(text) == 0 {
			return false
		}
	}
}

// hasWholeLine reports whether one of the first lines of a text has an object.
func hasWholeLine(text []byte) bool {
	for range lookLines {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		for _, rec := range recordsOf(line) {
			if rec.value != nil && rec.value.Kind == canon.Object {
				return true
			}
		}
		if text = rest; len(text) == 0 {
			break
		}
	}
	return false
}

// trimNothing removes white space, NUL bytes and byte order marks from the beginning of a line.
func trimNothing(text []byte) []byte {
	for {
		rest := bytes.TrimPrefix(bytes.TrimLeft(text, " \t\r\n\x00"), bom.Mark)
		if len(rest) == len(text) {
			return rest
		}
		text = rest
	}
}

// isPartOfMore reports whether the bytes after a value show that it is an item of a larger value whose beginning is missing.
func isPartOfMore(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && bytes.IndexByte([]byte(",]}:"), rest[0]) >= 0
}

// A follower applies the grammar of JSON (RFC 8259) to a text. In strings it allows all bytes except NUL and line feeds.
type follower struct {
	text  []byte
	at    int    // the current byte; at the end: the byte that breaks the grammar, or the length of the text
	nest  []byte // the open brackets
	quote int    // the closing quote of the last string

	key                  [2]int // the key of the current member of the outermost open object, without quotes
	innerBegin, innerEnd int    // the last object that is the value of such a member

	member  [2]int // the key of the last value of a member, at any depth
	good    int    // the end of the last complete value, or of the last opening bracket
	inValue int    // after the opening quote of the last string that is a value
	safe    int    // in an unfinished string: the end of its last complete byte or escape
}

// ownMember returns the start of an object that ends where the grammar is broken, if it cannot be the value of its member, else
// 0.
func (f *follower) ownMember() int {
	if len(f.nest) != 1 || f.nest[0] != '{' || f.innerEnd == 0 || len(bytes.Trim(f.text[f.innerEnd:f.at], " \t\r\n")) > 0 {
		return 0
	}
	key := string(f.text[f.key[0]:f.key[1]])
	if !slices.Contains(ownMembers, key) {
		return 0
	}
	if v, _, err := parseLenient(f.text[f.innerBegin:f.innerEnd]); err != nil || v.Get(key) == nil {
		return 0
	}
	return f.innerBegin
}

// What may come next.
const (
	wantValue = iota
	wantValueOrEnd
	wantKey
	wantKeyOrEnd
	wantColon
	wantCommaOrEnd
)

// run reports whether the text begins with a complete value. at is then the end of the value.
func (f *follower) run() bool {
	want := wantValue
	for {
		for f.at < len(f.text) && bytes.IndexByte([]byte(" \t\r\n"), f.text[f.at]) >= 0 {
			f.at++
		}
		if f.at == len(f.text) {
			return false
		}
		c := f.text[f.at]
		switch {
		case (c == '}' || c == ']') && f.mayEnd(c, want):
			f.at++
			f.good = f.at
			if f.nest = f.nest[:len(f.nest)-1]; len(f.nest) == 0 {
				return true
			}
			if len(f.nest) == 1 && c == '}' {
				f.innerEnd = f.at
			}
			want = wantCommaOrEnd
		case want == wantCommaOrEnd && c == ',':
			f.at++
			want = wantValue
			if f.nest[len(f.nest)-1] == '{' {
				want = wantKey
			}
		case want == wantColon && c == ':':
			f.at++
			want = wantValue
		case (want == wantKey || want == wantKeyOrEnd) && c == '"':
			begin := f.at + 1
			if !f.str() {
				return false
			}
			f.member = [2]int{begin, f.quote}
			if len(f.nest) == 1 {
				f.key, f.innerBegin, f.innerEnd = [2]int{begin, f.quote}, 0, 0
			}
			want = wantColon
		case want == wantValue || want == wantValueOrEnd:
			switch {
			case c == '{' || c == '[':
				if len(f.nest) == 1 && c == '{' {
					f.innerBegin = f.at
				}
				f.at++
				f.nest = append(f.nest, c)
				f.good = f.at
				want = wantValueOrEnd
				if c == '{' {
					want = wantKeyOrEnd
				}
				continue
			case len(f.nest) == 0:
				return false
			case c == '"':
				if f.inValue = f.at + 1; !f.str() {
					return false
				}
				f.good = f.at
			case !f.scalar():
				return false
			case f.at < len(f.text): // otherwise more digits of the number may be missing
				f.good = f.at
			}
			want = wantCommaOrEnd
		default:
			return false
		}
	}
}

func (f *follower) mayEnd(c byte, want int) bool {
	if len(f.nest) == 0 {
		return false
	}
	switch open := f.nest[len(f.nest)-1]; want {
	case wantCommaOrEnd:
		return open == '{' && c == '}' || open == '[' && c == ']'
	case wantKeyOrEnd:
		return c == '}'
	case wantValueOrEnd:
		return c == ']'
	}
	return false
}

// str reads a string.
func (f *follower) str() bool {
	for f.at++; f.at < len(f.text); f.at++ {
		f.safe = f.at
		switch f.text[f.at] {
		case '"':
			f.quote = f.at
			f.at++
			return true
		case 0, '\n':
			return false
		case '\\':
			if f.at++; f.at == len(f.text) {
				return false
			}
			if f.text[f.at] == 'u' {
				for range 4 {
					if f.at++; f.at == len(f.text) || bytes.IndexByte([]byte("0123456789abcdefABCDEF"), f.text[f.at]) < 0 {
						return false
					}
				}
			} else if bytes.IndexByte([]byte(`"\/bfnrt`), f.text[f.at]) < 0 {
				return false
			}
		}
	}
	f.safe = f.at
	return false
}

// scalar reads a number or a word. It does not check the form of a number; the parser does.
func (f *follower) scalar() bool {
	begin := f.at
	for f.at < len(f.text) && bytes.IndexByte([]byte("+-.0123456789eE"), f.text[f.at]) >= 0 {
		f.at++
	}
	if f.at > begin {
		return true
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if f.text[begin] != word[0] {
			continue
		}
		for i := range len(word) {
			if f.at == len(f.text) || f.text[f.at] != word[i] {
				return false
			}
			f.at++
		}
		return true
	}
	return false
}
