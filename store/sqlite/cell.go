package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

const (
	// A tenant has few enough cells to read them all.
	queryCells = `SELECT name, value FROM cells WHERE tenant = ? ORDER BY name`

	queryCell = `SELECT value FROM cells WHERE tenant = ? AND name = ?`
)

// Cells returns the cells whose names begin with a prefix.
func (rd *reader) Cells(ctx context.Context, tenant dag.Tenant, prefix string) (list []history.Cell, err error) {
	err = rd.read(ctx, "cells", tenant, func(n int64) error {
		rows, err := rd.queries.cells.QueryContext(ctx, n)
		if err != nil {
			return err
		}
		var name string
		var value sql.RawBytes
		return each(rows, func() error {
			if strings.HasPrefix(name, prefix) {
				list = append(list, history.Cell{Name: name, Value: bytes.Clone(value)})
			}
			return nil
		}, &name, &value)
	})
	return intact(list, err)
}

// Swap replaces the value of a cell.
func (s *Store) Swap(ctx context.Context, tenant dag.Tenant, name string, old, next []byte) error {
	if err := history.CheckSwap(name, old, next); err != nil {
		return failed("swap", err)
	}
	return s.while(ctx, "swap", func() error {
		return s.write(ctx, tenant, func(t *tx) error { return t.swap(name, old, next) })
	})
}

func (t *tx) swap(name string, old, next []byte) error {
	var now []byte
	err := t.cell.QueryRowContext(t.ctx, t.tenant, name).Scan(&now)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	switch {
	case !bytes.Equal(now, old):
		return fmt.Errorf("the cell %q: %w", name, store.ErrMoved)
	case bytes.Equal(old, next):
		return nil
	case len(next) == 0:
		return t.exec("cell", t.dropCell, t.tenant, name)
	}
	if err := t.own(); err != nil {
		return err
	}
	return t.exec("cell", t.putCell, t.tenant, name, next)
}
