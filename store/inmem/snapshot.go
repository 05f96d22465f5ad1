package inmem

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Snapshots returns the snapshots of a page.
func (s *Store) Snapshots(ctx context.Context, name dag.Tenant, p history.SnapshotPage) ([]history.Snapshot, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	list := empty[history.Snapshot](s)
	all := s.disk.tenant(name).snapshots
	for _, n := range slices.Sorted(maps.Keys(all)) {
		if p.Holds(n) && len(list) < p.Limit {
			one := history.Snapshot{Name: n}
			if !p.Names {
				one.Value = bytes.Clone(all[n])
			}
			list = append(list, one)
		}
	}
	return list, nil
}

func (t *tenant) snap(list []history.Snapshot) {
	for _, s := range list {
		if delete(t.snapshots, s.Name); len(s.Value) > 0 {
			t.snapshots[s.Name] = bytes.Clone(s.Value)
		}
	}
}
