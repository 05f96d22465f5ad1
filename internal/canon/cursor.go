package canon

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Cursor points to one place of a parsed document and reads the value there. The first mismatch is kept as the document's
// fault; reading goes on with zero values, so a decoder is a list of fields followed by one check of Err.
type Cursor struct {
	value *Value
	key   string // of the member, if the value is a member's
	doc   *document
}

// A document is shared by the cursors of one parsed text.
type document struct {
	root    *Value
	fault   error
	cursors room[Cursor] // cursors are allocated in groups, not one by one
}

func (d *document) cursor(v *Value, key string) *Cursor {
	r := &d.cursors
	if len(r.things) == cap(r.things) {
		r.before += len(r.things)
		r.things = make([]Cursor, 0, 64)
	}
	r.things = append(r.things, Cursor{v, key, d})
	return &r.things[len(r.things)-1]
}

// A FieldError says which place in a document has a wrong value, and what is wrong.
type FieldError struct {
	Path string // such as turns[3].salience; "" for the whole document
	Err  error
}

func (e *FieldError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

func (e *FieldError) Unwrap() error { return e.Err }

// FaultAt puts a place in front of the path of a fault.
func FaultAt(place string, err error) *FieldError {
	var fault *FieldError
	if !errors.As(err, &fault) {
		return &FieldError{place, err}
	}
	return &FieldError{joinPath(place, fault.Path), fault.Err}
}

// Place returns the path of the wrong value or of the missing member.
func (e *FieldError) Place() string {
	var missing *MissingError
	if errors.As(e.Err, &missing) {
		return joinPath(e.Path, missing.Key)
	}
	return e.Path
}

// A MissingError says that an object lacks a member.
type MissingError struct{ Key string }

func (e *MissingError) Error() string { return strconv.Quote(e.Key) + " is missing" }

// Open returns a cursor at the top of a document.
func Open(v *Value) *Cursor { return (&document{root: v}).cursor(v, "") }

// Err returns the first fault found anywhere in the document, a *[FieldError], or nil.
func (c *Cursor) Err() error { return c.doc.fault }

// Failf records a fault at this place, unless there is one already.
func (c *Cursor) Failf(format string, args ...any) { c.Fail(fmt.Errorf(format, args...)) }

// Fail records err as the fault at this place, unless there is one already.
func (c *Cursor) Fail(err error) {
	if c.doc.fault == nil {
		c.doc.fault = &FieldError{Path: c.Path(), Err: err}
	}
}

// Path returns the path of the place, such as turns[3].salience. It searches the document.
func (c *Cursor) Path() string {
	path, _ := pathTo(c.doc.root, c.value)
	return path
}

// pathTo returns the path of a value within another.
func pathTo(from, to *Value) (string, bool) {
	if from == to {
		return "", true
	}
	for i := range from.Items {
		if path, ok := pathTo(&from.Items[i], to); ok {
			return joinPath("["+strconv.Itoa(i)+"]", path), true
		}
	}
	for i := range from.Members {
		if path, ok := pathTo(&from.Members[i].Value, to); ok {
			return joinPath(from.Members[i].Key, path), true
		}
	}
	return "", false
}

func joinPath(above, below string) string {
	if above == "" || below == "" || below[0] == '[' {
		return above + below
	}
	return above + "." + below
}

// PathAt returns the path of the innermost value at a byte offset of the text.
func (v *Value) PathAt(offset int) string {
	for i := range v.Items {
		if item := &v.Items[i]; offset < int(item.End) {
			return joinPath("["+strconv.Itoa(i)+"]", item.PathAt(offset))
		}
	}
	for i := range v.Members {
		if m := &v.Members[i]; offset < int(m.Value.End) {
			return joinPath(m.Key, m.Value.PathAt(offset))
		}
	}
	return ""
}

// Value returns the parsed value at this place.
func (c *Cursor) Value() *Value { return c.value }

// Is reports whether the value at this place is of a kind. It records no fault.
func (c *Cursor) Is(k Kind) bool { return c.value.Kind == k }

func (c *Cursor) want(k Kind) bool {
	if c.value.Kind == k {
		return true
	}
	c.Failf("want %s, got %s", k, c.value.Kind)
	return false
}

// Field returns the cursor of a member. A missing member is a fault.
func (c *Cursor) Field(key string) *Cursor {
	if f := c.Optional(key); f != nil {
		return f
	}
	c.Fail(&MissingError{key})
	return c.doc.cursor(&Value{}, key)
}

// Optional returns the cursor of a member, or nil if there is none.
func (c *Cursor) Optional(key string) *Cursor {
	if !c.want(Object) {
		return nil
	}
	for i := range c.value.Members {
		if m := &c.value.Members[i]; m.Key == key {
			m.Value.read = true
			return c.doc.cursor(&m.Value, key)
		}
	}
	return nil
}

// Close records a fault if the object has a member that was not read.
func (c *Cursor) Close() {
	if key, ok := c.unread(); ok {
		c.Failf("unknown field %q", key)
	}
}

// mostNamed is the most fields that a fault names.
const mostNamed = 30

// CloseOf is like Close, and the fault names the fields that the object may have. It asks for them only if there is a fault.
func (c *Cursor) CloseOf(fields func() []string) {
	key, ok := c.unread()
	if !ok || c.Err() != nil {
		return
	}
	names := fields()
	if len(names) == 0 {
		c.Failf("unknown field %q; there are no fields", key)
		return
	}
	list := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if len(names) > mostNamed {
		list += ", …"
	}
	c.Failf("unknown field %q; the fields are %s", key, list)
}

// unread returns the first member that was not read.
func (c *Cursor) unread() (key string, ok bool) {
	for i := range c.value.Members {
		if m := &c.value.Members[i]; !m.Value.read {
			return clip(m.Key), true
		}
	}
	return "", false
}

// Members returns the cursors of all members of an object, in the order of the text.
func (c *Cursor) Members() []*Cursor {
	if !c.want(Object) || len(c.value.Members) == 0 {
		return nil
	}
	members := make([]*Cursor, len(c.value.Members))
	for i := range c.value.Members {
		m := &c.value.Members[i]
		m.Value.read = true
		members[i] = c.doc.cursor(&m.Value, m.Key)
	}
	return members
}

// Key returns the member's key, or "" if the value is not a member's.
func (c *Cursor) Key() string { return c.key }

// Items returns the cursors of all items of an array.
func (c *Cursor) Items() []*Cursor {
	if !c.want(Array) {
		return nil
	}
	items := make([]*Cursor, len(c.value.Items))
	for i := range items {
		items[i] = c.doc.cursor(&c.value.Items[i], "")
	}
	return items
}

// String reads a string.
func (c *Cursor) String() string {
	if !c.want(String) {
		return ""
	}
	return c.value.Text
}

// Bool reads a boolean.
func (c *Cursor) Bool() bool {
	return c.want(Bool) && c.value.Text == "true"
}

// Uint reads an integer from 0 to most, written in decimal digits only.
func (c *Cursor) Uint(most uint64) uint64 {
	if !c.want(Number) {
		return 0
	}
	n, err := strconv.ParseUint(c.value.Text, 10, 64)
	if err != nil || n > most {
		c.Failf("want an integer from 0 to %d, got %s", most, clip(c.value.Text))
		return 0
	}
	return n
}

// Number reads a number as it is written, for a parser of decimals.
func (c *Cursor) Number() string {
	if !c.want(Number) {
		return ""
	}
	return c.value.Text
}

// Parsed reads a string and passes it to the parser of its type.
func Parsed[T any](c *Cursor, parse func(string) (T, error)) T {
	if !c.want(String) {
		var zero T
		return zero
	}
	return parsed(c, parse)
}

// ParsedNumber reads a number and passes it, as written, to the parser of its type.
func ParsedNumber[T any](c *Cursor, parse func(string) (T, error)) T {
	if !c.want(Number) {
		var zero T
		return zero
	}
	return parsed(c, parse)
}

func parsed[T any](c *Cursor, parse func(string) (T, error)) T {
	v, err := parse(c.value.Text)
	if err != nil {
		c.Fail(err)
	}
	return v
}
