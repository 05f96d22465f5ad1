package transfer

import (
	"bytes"
	"fmt"

	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// sameCells checks that each cell of the target may be replaced by that of the
// source: a witness that is moved, for example, must not forget what it cosigned.
func (c *copying) sameCells() error {
	there, here, err := c.bothCells()
	if err != nil {
		return err
	}
	for name, have := range there {
		if err := follows(name, have, here[name]); err != nil {
			return err
		}
	}
	return nil
}

// cells copies the present cells of the source.
func (c *copying) cells() error {
	there, _, err := c.bothCells()
	if err != nil {
		return err
	}
	list, err := c.from.Cells(c.ctx, c.tenant, "")
	if err != nil {
		return err
	}
	for i := range list {
		next := &list[i]
		have := &history.Cell{}
		if old, ok := there[next.Name]; ok {
			have = old
		}
		if bytes.Equal(have.Value, next.Value) {
			c.report.Cells.Existing++
			continue
		}
		if err := follows(next.Name, there[next.Name], next); err != nil {
			return err
		}
		if err := c.to.Swap(c.ctx, c.tenant, next.Name, have.Value, next.Value); err != nil {
			return err
		}
		c.report.Cells.Copied++
	}
	return nil
}

// bothCells returns the cells of both stores by their names.
func (c *copying) bothCells() (there, here map[string]*history.Cell, err error) {
	list, err := c.to.Cells(c.ctx, c.tenant, "")
	if err != nil {
		return nil, nil, err
	}
	there = byName(list)
	if list, err = c.from.Cells(c.ctx, c.tenant, ""); err != nil {
		return nil, nil, err
	}
	return there, byName(list), nil
}

func byName(list []history.Cell) map[string]*history.Cell {
	cells := make(map[string]*history.Cell, len(list))
	for i := range list {
		cells[list[i].Name] = &list[i]
	}
	return cells
}

// follows returns an error that wraps ErrDiffers unless the source's cell may replace the target's.
func follows(name string, there, here *history.Cell) error {
	codec, err := kinds.OfCell(name)
	if err != nil {
		return err
	}
	for _, c := range []*history.Cell{there, here} {
		if c == nil {
			continue
		}
		if err := codec.Check(c); err != nil {
			return err
		}
	}
	if err := codec.Follows(there, here); err != nil {
		return fmt.Errorf("%w: %w", ErrDiffers, err)
	}
	return nil
}
