// Package cursor owns the reading of packed bytes: unsigned numbers in as few bytes as they need, seven bits in each, the lowest first, as
// encoding/binary appends them.
package cursor

import (
	"encoding/binary"
	"errors"
)

// ErrForm is the error of a cursor whose bytes end too early, or have a number that is too large or in more bytes than it needs.
var ErrForm = errors.New("packed bytes that are not in their form")

// A Cursor reads bytes from their beginning. After an error it returns zeros.
type Cursor struct {
	rest []byte
	err  error
}

// New returns a cursor at the beginning of bytes, which must not change while they are read.
func New(b []byte) *Cursor { return &Cursor{rest: b} }

// Err returns ErrForm once something was not in its form.
func (c *Cursor) Err() error { return c.err }

// Left returns how many bytes were not read yet, 0 after an error.
func (c *Cursor) Left() int { return len(c.rest) }

// Rest returns the bytes that were not read yet, which are those that the cursor was given.
func (c *Cursor) Rest() []byte { return c.rest }

// Fail makes the cursor one that has an error.
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

// long is Uint for any number of bytes.
func (c *Cursor) long(most uint64) uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 || v > most || n > 1 && c.rest[n-1] == 0 {
		c.Fail()
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// Int is Uint for a number up to most, which is not negative, as an int.
func (c *Cursor) Int(most int) int { return int(c.Uint(uint64(most))) }

// Bytes reads n bytes, which are those that the cursor was given. It returns nil if there are fewer.
func (c *Cursor) Bytes(n int) []byte {
	if n > len(c.rest) {
		c.Fail()
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}
