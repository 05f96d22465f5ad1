package canon

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of arrays and objects.
const MaxDepth = 256

// MaxText bounds the bytes of a text, and MaxValues the values in it: a value takes up to two hundred bytes of memory, and as
// few as two bytes of the text.
const (
	MaxText   = 1 << 30
	MaxValues = 4 << 20
)

// ErrMany is wrapped together with ErrSyntax if a text has more values than allowed.
var ErrMany = errors.New("too many values")

// ErrSyntax is wrapped by every error of Parse.
var ErrSyntax = errors.New("not strict JSON")

// A Kind is the type of a JSON value.
type Kind uint8

// The kinds of JSON values. The zero Value has none of them.
const (
	Null Kind = iota + 1
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// A Value is a parsed JSON value. Strings share memory with the whole text.
type Value struct {
	Kind    Kind
	read    bool     // a Cursor has read it
	Offset  uint32   // of the value's first byte in the text
	End     uint32   // after the value's last byte
	Text    string   // a string's characters; a number or boolean as written
	Items   []Value  // of an array
	Members []Member // of an object, in the order of the text
}

// A Member is a key and a value of an object.
type Member struct {
	Key   string
	Value Value
}

// PlainKeys reports whether a Writer can write every key, at any depth: printable ASCII without quote and backslash, and not
// empty.
func (v *Value) PlainKeys() bool {
	for i := range v.Items {
		if !v.Items[i].PlainKeys() {
			return false
		}
	}
	for i := range v.Members {
		if m := &v.Members[i]; !IsPlainKey(m.Key) || !m.Value.PlainKeys() {
			return false
		}
	}
	return true
}

// IsPlainKey reports whether a Writer can write a key.
func IsPlainKey(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return s != ""
}

// Get returns the value under key, or nil.
func (v *Value) Get(key string) *Value {
	for i := range v.Members {
		if v.Members[i].Key == key {
			return &v.Members[i].Value
		}
	}
	return nil
}

// Parse reads one JSON text (RFC 8259), strictly: see the package comment. It
// takes time and memory linear in the text.
func Parse(text []byte) (*Value, error) { return ParseSparse(text, MaxValues) }

// ParseSparse is like Parse, for a text with up to most values; more are an error that wraps ErrMany.
func ParseSparse(text []byte, most int) (*Value, error) {
	p := parsers.Get().(*parser)
	v, err := p.parse(text, most)
	p.keep()
	return v, err
}

// parsers are pooled to reuse their memory.
var parsers = sync.Pool{New: func() any { return &parser{} }}

// A pooled parser keeps at most keptThings values, as many members, and keptBytes bytes.
const keptThings, keptBytes = 1 << 10, 1 << 20

// keep clears a parser, so that it refers to nothing of the text, and returns it to the pool.
func (p *parser) keep() {
	values, members := p.values[:0], p.members[:0]
	if cap(values) > keptThings || cap(members) > keptThings {
		return
	}
	clear(values[:cap(values)])
	clear(members[:cap(members)])
	*p = parser{values: values, members: members, unescaped: p.spareBytes()}
	parsers.Put(p)
}

// spareBytes returns the empty buffer for strings with escapes, or nil if the buffer is large.
func (p *parser) spareBytes() []byte {
	if cap(p.unescaped) > keptBytes {
		return nil
	}
	return p.unescaped[:0]
}

func (p *parser) parse(text []byte, most int) (*Value, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrSyntax, len(text), MaxText)
	}
	p.text, p.most = string(text), most
	v, err := p.document()
	if err != nil {
		return nil, fmt.Errorf("%w: byte %d: %w", ErrSyntax, p.at, err)
	}
	return &v, nil
}

type parser struct {
	text string
	at   int
	most int // values that are still allowed

	// Items and members are collected here until their number is known, and then copied out; those of an inner array or object
	// are above those of the outer one. Growing a slice for each array or object would copy several times as much.
	values  []Value
	members []Member

	unescaped []byte // buffer for a string that has escapes

	// The copies go into rooms, each of which has space for many.
	valueRoom  room[Value]
	memberRoom room[Member]
}

// A room holds the copies of collected items or members.
type room[T any] struct {
	things []T
	before int // the number of things in earlier rooms, which are full
}

// settle copies collected things into a room. A full room is replaced by a room of twice the size, or less if little text is
// left.
func settle[T any](p *parser, r *room[T], gathered []T) []T {
	const bytesEach, least, most = 48, 16, 512
	n := len(gathered)
	if cap(r.things)-len(r.things) < n {
		r.before += len(r.things)
		r.things = make([]T, 0, max(n, min(most, max(least, 2*cap(r.things)), (len(p.text)-p.at)/bytesEach)))
	}
	r.things = append(r.things, gathered...)
	return r.things[len(r.things)-n : len(r.things) : len(r.things)]
}

func (p *parser) document() (Value, error) {
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.at < len(p.text) {
		return Value{}, errors.New("text after the value")
	}
	return v, nil
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (v Value, err error) {
	p.space()
	if p.at == len(p.text) {
		return v, errors.New("the text ends where a value should be")
	}
	if p.most--; p.most < 0 {
		return v, ErrMany
	}
	v.Offset = uint32(p.at)
	switch c := p.text[p.at]; {
	case c == '"':
		v.Kind = String
		v.Text, err = p.string()
	case c == '{' || c == '[':
		if depth == MaxDepth {
			return v, fmt.Errorf("nested deeper than %d", MaxDepth)
		}
		p.at++
		if c == '{' {
			v.Kind = Object
			v.Members, err = p.object(depth + 1)
		} else {
			v.Kind = Array
			v.Items, err = p.array(depth + 1)
		}
	case c == '-' || '0' <= c && c <= '9':
		v.Kind = Number
		v.Text, err = p.number()
	default:
		v.Kind, v.Text, err = p.word()
	}
	v.End = uint32(p.at)
	return v, err
}

func (p *parser) word() (Kind, string, error) {
	for _, w := range [...]struct {
		text string
		kind Kind
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if strings.HasPrefix(p.text[p.at:], w.text) {
			p.at += len(w.text)
			return w.kind, w.text, nil
		}
	}
	return 0, "", fmt.Errorf("%q does not begin a value", p.text[p.at])
}

func (p *parser) array(depth int) ([]Value, error) {
	base := len(p.values)
	defer func() { p.values = p.values[:base] }()
	for {
		p.space()
		if p.take(']') {
			if len(p.values) == base {
				return nil, nil
			}
			return nil, errors.New("a comma before ']'")
		}
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		p.values = append(p.values, v)
		p.space()
		if p.take(']') {
			return settle(p, &p.valueRoom, p.values[base:]), nil
		}
		if !p.take(',') {
			return nil, errors.New("want ',' or ']'")
		}
	}
}

// fewMembers is the number of members up to which comparing keys one by one is faster than a map.
const fewMembers = 24

func (p *parser) object(depth int) ([]Member, error) {
	base := len(p.members)
	defer func() { p.members = p.members[:base] }()
	var seen map[string]bool
	for {
		p.space()
		if p.take('}') {
			if len(p.members) == base {
				return nil, nil
			}
			return nil, errors.New("a comma before '}'")
		}
		if p.at == len(p.text) || p.text[p.at] != '"' {
			return nil, errors.New("want a key")
		}
		at := p.at
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		members := p.members[base:]
		if seen == nil && len(members) >= fewMembers {
			seen = make(map[string]bool, 2*fewMembers)
			for i := range members {
				seen[members[i].Key] = true
			}
		}
		if repeated(members, seen, key) {
			p.at = at
			return nil, fmt.Errorf("key %q is repeated", clip(key))
		}
		if seen != nil {
			seen[key] = true
		}
		p.space()
		if !p.take(':') {
			return nil, errors.New("want ':' after a key")
		}
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, Member{Key: key, Value: v})
		p.space()
		if p.take('}') {
			return settle(p, &p.memberRoom, p.members[base:]), nil
		}
		if !p.take(',') {
			return nil, errors.New("want ',' or '}'")
		}
	}
}

func repeated(members []Member, seen map[string]bool, key string) bool {
	if seen != nil {
		return seen[key]
	}
	for i := range members {
		if members[i].Key == key {
			return true
		}
	}
	return false
}

func (p *parser) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// number reads -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
func (p *parser) number() (string, error) {
	start := p.at
	p.take('-')
	if !p.take('0') && p.digits() == 0 {
		return "", errors.New("want a digit")
	}
	if p.take('.') && p.digits() == 0 {
		return "", errors.New("want a digit after the point")
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if p.digits() == 0 {
			return "", errors.New("want a digit in the exponent")
		}
	}
	if p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		return "", errors.New("a number begins with 0")
	}
	return p.text[start:p.at], nil
}

func (p *parser) digits() (n int) {
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
		n++
	}
	return n
}

// string reads a string; the parser is at its opening quote.
func (p *parser) string() (string, error) {
	p.at++
	start := p.at
	out := p.unescaped[:0] // used only if the string has escapes
	escaped := false
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case plain[c]:
			p.at++
		case c == '"':
			s := p.text[start:p.at]
			p.at++
			if escaped {
				p.unescaped = append(out, s...)
				return string(p.unescaped), nil
			}
			return s, nil
		case c == '\\':
			out = append(out, p.text[start:p.at]...)
			escaped = true
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
			start = p.at
		case c < 0x20:
			return "", fmt.Errorf("control character %q in a string", c)
		default:
			r, size := utf8.DecodeRuneInString(p.text[p.at:])
			if r == utf8.RuneError && size == 1 {
				return "", errors.New("invalid UTF-8")
			}
			p.at += size
		}
	}
	return "", errors.New("the text ends inside a string")
}

func (p *parser) escape() (rune, error) {
	p.at++ // the backslash
	if p.at == len(p.text) {
		return 0, errors.New("the text ends inside a string")
	}
	c := p.text[p.at]
	p.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return p.unicode()
	}
	p.at--
	return 0, fmt.Errorf("%q is no escape", c)
}

func (p *parser) unicode() (rune, error) {
	r, err := p.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !strings.HasPrefix(p.text[p.at:], `\u`) {
		return 0, errors.New("a lone surrogate")
	}
	p.at += 2
	low, err := p.hex4()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, errors.New("a lone surrogate")
	}
	return r, nil
}

func (p *parser) hex4() (r rune, err error) {
	if len(p.text)-p.at < 4 {
		return 0, errors.New("want four hex digits")
	}
	for _, c := range []byte(p.text[p.at : p.at+4]) {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, errors.New("want four hex digits")
		}
	}
	p.at += 4
	return r, nil
}

func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
