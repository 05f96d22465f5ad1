package history

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
)

// A Cell is a named value that is replaced as a whole and has no history. It takes no number. A
// cell without a value is not there.
type Cell struct {
	Name  string
	Value []byte
}

// Bounds of a cell, in bytes.
const (
	MaxCellName = 300
	MaxCell     = 64 << 10
)

// Check reports the first thing about a cell that no store keeps.
func (c *Cell) Check() error {
	ok := c.Name != "" && len(c.Name) <= MaxCellName && utf8.ValidString(c.Name)
	for _, r := range c.Name {
		ok = ok && unicode.IsPrint(r)
	}
	if !ok {
		return fmt.Errorf("%w: a cell named %.350q, want 1 to %d bytes of printable text", dag.ErrForm, c.Name, MaxCellName)
	}
	if len(c.Value) > MaxCell {
		return fmt.Errorf("%w: the cell %q of %d bytes, at most %d", dag.ErrForm, c.Name, len(c.Value), MaxCell)
	}
	return nil
}

// CheckSwap is Check for both values of a replacement.
func CheckSwap(name string, old, next []byte) error {
	for _, value := range [][]byte{old, next} {
		if err := (&Cell{name, value}).Check(); err != nil {
			return err
		}
	}
	return nil
}

// A CellCodec is all that is known of some cells outside the package that owns them. It is pure.
type CellCodec interface {
	// Prefix is what the names of its cells begin with, and of no others.
	Prefix() string

	// Check refuses a cell that is not in its form.
	Check(c *Cell) error

	// Follows refuses a value that cannot replace another, which may be nil. Both are in form.
	Follows(old, next *Cell) error
}
