package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

const (
	queryCells    = `SELECT name, value FROM cells WHERE tenant = $1 ORDER BY name`
	queryCell     = `SELECT value FROM cells WHERE tenant = $1 AND name = $2`
	queryPutCell  = `INSERT INTO cells (tenant, name, value) VALUES ($1, $2, $3) ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value`
	queryDropCell = `DELETE FROM cells WHERE tenant = $1 AND name = $2`
)

// Cells returns the cells whose names begin with a prefix.
func (rd *reader) Cells(ctx context.Context, tenant dag.Tenant, prefix string) (list []history.Cell, err error) {
	err = rd.read(ctx, "cells", func(ctx context.Context, db *pgxpool.Conn) error {
		list = nil
		rows, err := db.Query(ctx, queryCells, string(tenant))
		if err != nil {
			return err
		}
		var c history.Cell
		_, err = pgx.ForEachRow(rows, []any{&c.Name, &c.Value}, func() error {
			if strings.HasPrefix(c.Name, prefix) {
				list = append(list, history.Cell{Name: c.Name, Value: bytes.Clone(c.Value)})
			}
			return nil
		})
		return err
	})
	return intact(list, err)
}

// Swap replaces the value of a cell, with the tenant's row locked.
func (s *Store) Swap(ctx context.Context, tenant dag.Tenant, name string, old, next []byte) error {
	if err := history.CheckSwap(name, old, next); err != nil {
		return fmt.Errorf("postgres: swap: %w", err)
	}
	return s.write(ctx, "swap", tenant, func(t *tx) error { return t.swap(name, old, next) })
}

func (t *tx) swap(name string, old, next []byte) error {
	var now []byte
	err := t.QueryRow(t.ctx, queryCell, string(t.name), name).Scan(&now)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	switch {
	case bytes.Equal(now, old) && bytes.Equal(old, next):
		return nil
	case bytes.Equal(now, old) && len(next) == 0:
		return t.exec("cell", queryDropCell, string(t.name), name)
	case bytes.Equal(now, old):
		return t.exec("cell", queryPutCell, string(t.name), name, next)
	case t.unsure && bytes.Equal(now, next): // stored by an earlier attempt whose answer was lost
		return nil
	}
	err = fmt.Errorf("the cell %q: %w", name, store.ErrMoved)
	if t.unsure { // perhaps an earlier attempt stored next, and another writer replaced it
		err = fmt.Errorf("%w: %w", store.ErrUncertain, err)
	}
	return err
}
