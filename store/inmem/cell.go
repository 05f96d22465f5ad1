package inmem

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// Cells returns the cells whose names begin with a prefix.
func (s *Store) Cells(ctx context.Context, name dag.Tenant, prefix string) ([]history.Cell, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	list := empty[history.Cell](s)
	cells := s.disk.tenant(name).cells
	for _, n := range slices.Sorted(maps.Keys(cells)) {
		if strings.HasPrefix(n, prefix) {
			list = append(list, history.Cell{Name: n, Value: bytes.Clone(cells[n])})
		}
	}
	return list, nil
}

// Swap replaces the value of a cell.
func (s *Store) Swap(ctx context.Context, name dag.Tenant, cell string, old, next []byte) error {
	if _, err := dag.ParseTenant(string(name)); err != nil {
		return err
	}
	if err := history.CheckSwap(cell, old, next); err != nil {
		return fmt.Errorf("inmem: swap: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	if !bytes.Equal(t.cells[cell], old) {
		return fmt.Errorf("inmem: swap: the cell %q: %w", cell, store.ErrMoved)
	}
	if bytes.Equal(old, next) {
		return nil
	}
	return s.commit(ctx, func() {
		if len(next) == 0 {
			delete(t.cells, cell)
		} else {
			t.cells[cell] = bytes.Clone(next)
		}
		s.disk.keep(name, t)
	}, "cell")
}
