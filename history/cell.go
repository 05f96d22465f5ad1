package history

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
)

// A Cell is a named value that is replaced as a whole, has no history and takes no sequence number. A cell without a value does not exist.
type Cell struct {
	Name  string
	Value []byte
}

// Bounds of a cell, in bytes.
const (
	MaxCellName = 300
	MaxCell     = 64 << 10
)

// Check reports the first reason why no store accepts the cell, as dag.ErrForm.
func (c *Cell) Check() error {
	ok := c.Name != "" && len(c.Name) <= MaxCellName && utf8.ValidString(c.Name)
	for _, r := range c.Name {
		ok = ok && unicode.IsPrint(r)
	}
	if !ok {
		return fmt.Errorf("%w: a cell named %.350q, want 1 to %d bytes of printable text", dag.ErrForm, c.Name, MaxCellName)
	}
	if len(c.Value) > MaxCell {
		return fmt.Errorf("%w: the cell %q has %d bytes, at most %d", dag.ErrForm, c.Name, len(c.Value), MaxCell)
	}
	return nil
}

// CheckSwap checks both values of a replacement, see Cell.Check.
func CheckSwap(name string, old, next []byte) error {
	for _, value := range [][]byte{old, next} {
		if err := (&Cell{name, value}).Check(); err != nil {
			return err
		}
	}
	return nil
}

// A CellCodec checks the cells that its package owns, on behalf of other packages. It is pure.
type CellCodec interface {
	// Prefix returns the prefix of the names of its cells. No other cell's name begins with it.
	Prefix() string

	// Check refuses a cell that is not in its form.
	Check(c *Cell) error

	// Follows refuses a cell whose value may not replace that of old, which may be nil. Both are in form.
	Follows(old, next *Cell) error
}
