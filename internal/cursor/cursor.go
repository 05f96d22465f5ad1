// Package cursor owns the reading of packed bytes: unsigned numbers in as few bytes as they need, seven bits in each byte, the
// lowest bits first, as encoding/binary appends them.
package cursor

import (
	"encoding/binary"
	"errors"
)

// ErrForm is the error of a cursor whose bytes end too early, or contain a number that is too large or takes more bytes than it
// needs.
var ErrForm = errors.New("packed bytes that are not in their form")

// A Cursor reads bytes from their beginning. After an error it returns zeros.
type Cursor struct {
	rest []byte
	err  error
}

// New returns a cursor at the beginning of b, which must not change while it is read.
func New(b []byte) *Cursor { return &Cursor{rest: b} }

// Err returns ErrForm after malformed bytes were read, else nil.
func (c *Cursor) Err() error { return c.err }

// Left returns how many bytes are unread, or 0 after an error.
func (c *Cursor) Left() int { return len(c.rest) }

// Rest returns the unread bytes, without copying them.
func (c *Cursor) Rest() []byte { return c.rest }

// Fail sets the cursor's error.
func (c *Cursor) Fail() { c.rest, c.err = nil, ErrForm }

// Uint reads a number up to most.
func (c *Cursor) Uint(most uint64) uint64 {
	if len(c.rest) > 0 && c.rest[0] < 0x80 && uint64(c.rest[0]) <= most {
		v := c.rest[0]
		c.rest = c.rest[1:]
		return uint64(v)
	}
	return c.long(most)
}

// long is Uint for numbers of any length.
func (c *Cursor) long(most uint64) uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 || v > most || n > 1 && c.rest[n-1] == 0 {
		c.Fail()
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// Int is Uint for an int. most must not be negative.
func (c *Cursor) Int(most int) int { return int(c.Uint(uint64(most))) }

// Bytes reads n bytes, without copying them. If there are fewer, it fails and returns nil.
func (c *Cursor) Bytes(n int) []byte {
	if n > len(c.rest) {
		c.Fail()
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}
