package canon

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxInt is the largest integer that every JSON reader represents exactly.
const MaxInt = 1<<53 - 1

// A Writer appends canonical JSON to Bytes. The zero Writer is ready for use. In an object, call Key before each value; in an
// array, write the values one after the other.
type Writer struct {
	Bytes []byte

	keys  []string // the last key of each open object; "" before the first
	comma bool     // a comma comes before the next value
}

// NewWriter returns a Writer that appends to dst.
func NewWriter(dst []byte) *Writer { return &Writer{Bytes: dst} }

// Reset makes the Writer start again, appending to dst.
func (w *Writer) Reset(dst []byte) { w.Bytes, w.keys, w.comma = dst, w.keys[:0], false }

// BeginObject opens an object.
func (w *Writer) BeginObject() {
	w.separate()
	w.Bytes = append(w.Bytes, '{')
	w.keys = append(w.keys, "")
	w.comma = false
}

// EndObject closes the innermost open object.
func (w *Writer) EndObject() {
	w.Bytes = append(w.Bytes, '}')
	w.keys = w.keys[:len(w.keys)-1]
	w.comma = true
}

// BeginArray opens an array.
func (w *Writer) BeginArray() {
	w.separate()
	w.Bytes = append(w.Bytes, '[')
	w.comma = false
}

// EndArray closes the innermost open array.
func (w *Writer) EndArray() {
	w.Bytes = append(w.Bytes, ']')
	w.comma = true
}

// A Field is a member to be written: its key, and a function that writes its value.
type Field struct {
	Key   string
	Write func(*Writer)
}

// Object writes an object with the given members. It sorts fields by key.
func (w *Writer) Object(fields []Field) {
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	w.BeginObject()
	for _, f := range fields {
		w.Key(f.Key)
		f.Write(w)
	}
	w.EndObject()
}

// Key writes the key of the next value. Keys are printable ASCII without '"'
// and '\' and come in ascending order, which for ASCII is the order of RFC 8785.
func (w *Writer) Key(key string) {
	last := &w.keys[len(w.keys)-1]
	if key <= *last {
		panic(fmt.Sprintf("canon: key %q after %q", key, *last))
	}
	*last = key
	w.separate()
	w.Bytes = append(w.Bytes, '"')
	w.Bytes = append(w.Bytes, key...)
	w.Bytes = append(w.Bytes, '"', ':')
	w.comma = false
}

// String writes a string. It must be valid UTF-8.
func (w *Writer) String(s string) {
	w.separate()
	w.Bytes = AppendString(w.Bytes, s)
}

// Text writes a string that needs no escaping; the caller guarantees that.
func (w *Writer) Text(s []byte) {
	w.separate()
	w.Bytes = append(w.Bytes, '"')
	w.Bytes = append(w.Bytes, s...)
	w.Bytes = append(w.Bytes, '"')
}

// UUID writes the 36 characters of an id. Copying a fixed length takes few instructions, and slices have hundreds of ids.
func (w *Writer) UUID(text *[36]byte) {
	w.separate()
	b := append(w.Bytes, '"')
	b = append(b, text[:]...)
	w.Bytes = append(b, '"')
}

// Hex writes bytes as a string of lowercase hex digits.
func (w *Writer) Hex(b []byte) {
	w.separate()
	w.Bytes = append(w.Bytes, '"')
	w.Bytes = hex.AppendEncode(w.Bytes, b)
	w.Bytes = append(w.Bytes, '"')
}

// Uint writes an integer, which must be at most MaxInt.
func (w *Writer) Uint(n uint64) {
	if n > MaxInt {
		panic(fmt.Sprintf("canon: integer %d is above 2^53-1", n))
	}
	w.separate()
	w.Bytes = strconv.AppendUint(w.Bytes, n, 10)
}

// Micros writes a time in microseconds, with all its digits. It is the only integer of GKP/1 that can exceed 2^53, from the
// year 2255 on: RFC 8785 would round it through a floating-point number there, and two different times could then have the same
// leaf.
func (w *Writer) Micros(n uint64) {
	w.separate()
	w.Bytes = strconv.AppendUint(w.Bytes, n, 10)
}

// Bool writes true or false.
func (w *Writer) Bool(b bool) {
	w.separate()
	w.Bytes = strconv.AppendBool(w.Bytes, b)
}

// Raw writes a value that is already canonical JSON, or, inside an object, several members without the braces.
func (w *Writer) Raw(value []byte) {
	w.separate()
	w.Bytes = append(w.Bytes, value...)
}

func (w *Writer) separate() {
	if w.comma {
		w.Bytes = append(w.Bytes, ',')
	}
	w.comma = true
}

// AppendValue appends a parsed value without spaces, with strings in canonical spelling and members in the order of the text.
// For a value of a canonical text, it appends exactly the bytes of the text.
func AppendValue(dst []byte, v *Value) []byte {
	switch v.Kind {
	case String:
		return AppendString(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValue(dst, &v.Items[i])
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, v.Members[i].Key), ':')
			dst = AppendValue(dst, &v.Members[i].Value)
		}
		return append(dst, '}')
	case Null:
		return append(dst, "null"...)
	default:
		return append(dst, v.Text...)
	}
}

// plain are the single-byte characters that need no escape in a JSON string. A table lookup is faster than four comparisons,
// and most of the bytes that this package reads and writes are in strings.
var plain = func() (t [256]bool) {
	for c := byte(0x20); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// AppendString appends s, quoted and escaped as RFC 8785 section 3.2.2.2 requires. Invalid UTF-8 is a bug of the caller and
// panics.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				panic("canon: string is not valid UTF-8")
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}
