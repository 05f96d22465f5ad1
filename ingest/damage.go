package ingest

import (
	"bytes"
	"slices"

	"github.com/graphkernel/graphkernel/internal/bom"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A line of a file of records is damaged where a program or its machine stopped in the middle of a write. Three things are found there: a record that was
// cut off, with the next record behind it; NUL bytes in the place of what was never written; and both. To find where the next record begins, the grammar of JSON is
// followed from the beginning of the line. A record that is cut off breaks no rule of it, whatever its strings and objects have in them. So the first byte that does
// is the first of something else, or, if the cut was in a string, follows the quote at which that string seems to end: the first one of the next record.
//
// No text is searched for what looks like a record. A brace inside a string, and an object inside an object, which a tool may have written, are never taken for the beginning of one.
// The cost: where a record is cut just before a value, the next one could be that value, and is lost with it, except behind a member of ownMembers. docs/importers.md has the rule.

// ownMembers are members whose value is never an object that somebody else wrote. An object that follows such a member, and has it itself, is the next record.
var ownMembers = []string{"parentUuid", "uuid", "sessionId", "type", "timestamp", "message", "payload", "cwd", "version", "gitBranch", "isSidechain", "userType", "requestId", "id", "time", "role", "projectHash"}

// follow follows one object or array from the beginning of a text. It returns its length. If the grammar does not allow the text, or it ends
// before the value does, that is 0, and next is where another record begins, or -1 if there is none.
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
	if text[at-1] == '"' && f.quote == at-1 { // cut in a string, which the next record's first quote seems to end
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

// isDamaged reports whether the grammar of JSON does not allow a text of values, be they on one line each or on several. The text may be cut off.
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

// hasWholeLine reports whether one of the first lines of a text is an object.
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

// trimNothing trims what says nothing from the beginning of a line: white space, NUL bytes and byte order marks.
func trimNothing(text []byte) []byte {
	for {
		rest := bytes.TrimPrefix(bytes.TrimLeft(text, " \t\r\n\x00"), bom.Mark)
		if len(rest) == len(text) {
			return rest
		}
		text = rest
	}
}

// isPartOfMore reports whether the bytes after a value make it an item of a larger value whose beginning is missing.
func isPartOfMore(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && bytes.IndexByte([]byte(",]}:"), rest[0]) >= 0
}

// A follower follows the grammar of JSON (RFC 8259). In strings it allows all bytes but NUL and line feeds.
type follower struct {
	text  []byte
	at    int    // the byte that is looked at; at the end: the one that the grammar does not allow, or the length of the text
	nest  []byte // the brackets that are open
	quote int    // where the last string ended

	key                  [2]int // of the member of the outermost object that is open, without its quotes
	innerBegin, innerEnd int    // of the last object that is the value of one

	member  [2]int // the key before the last value of a member, at any depth
	good    int    // behind the last value that is whole, or the last bracket that was opened
	inValue int    // behind the quote of the last string that is a value
	safe    int    // in a string that does not end: behind its last byte or escape that is whole
}

// ownMember returns where an object begins that ends where the grammar fails, if it cannot be the value of the member that it follows. Else it is 0.
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

// run reports whether a value ends. at is behind it then.
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
			case f.at < len(f.text): // else more of a number may have been cut off
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

// str follows a string.
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

// scalar follows a number or a word. What is wrong with a number shows when it is parsed.
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
