package working

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A Keeper stores snapshots. Every store is a Keeper, and so is a Memory.
type Keeper interface {
	Write(ctx context.Context, tenant dag.Tenant, c history.Change) error
	Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) ([]history.Snapshot, error)
}

// Read returns the buffer of a session, including expired messages.
func Read(ctx context.Context, k Keeper, tenant dag.Tenant, n Name) (Buffer, error) {
	b, err := read[Buffer](ctx, k, tenant, n.snapshot())
	b.Owner, b.Session = n.Owner, n.Session
	return b, err
}

// ReadIndex returns the index of a tenant, including expired sessions.
func ReadIndex(ctx context.Context, k Keeper, tenant dag.Tenant) (Index, error) {
	return read[Index](ctx, k, tenant, indexName)
}

func read[T any](ctx context.Context, k Keeper, tenant dag.Tenant, name string) (v T, _ error) {
	list, err := k.Snapshots(ctx, tenant, history.SnapshotPage{Prefix: name, Limit: 1})
	if err != nil || len(list) == 0 || list[0].Name != name {
		return v, err
	}
	return parse[T](name, list[0].Value)
}

// pageOf is the number of sessions that Holding reads at once.
const pageOf = 8

// Holding returns the session that contains a message; false if there is none.
func Holding(ctx context.Context, k Keeper, tenant dag.Tenant, id dag.TurnID) (Name, bool, error) {
	page := history.SnapshotPage{Prefix: sessions, Limit: pageOf}
	for {
		list, err := k.Snapshots(ctx, tenant, page)
		if err != nil {
			return Name{}, false, err
		}
		for i := range list {
			b, err := parse[Buffer](list[i].Name, list[i].Value)
			if err != nil {
				return Name{}, false, err
			}
			if slices.ContainsFunc(b.Messages, func(m Message) bool { return m.ID == id }) {
				return Name{b.Owner, b.Session}, true, nil
			}
		}
		if len(list) < pageOf {
			return Name{}, false, nil
		}
		page.After = list[len(list)-1].Name
	}
}

// A Memory stores the sessions of all tenants in the memory of one process. It is safe for use by many goroutines.
type Memory struct {
	most int

	mu      sync.Mutex // guards the fields below
	size    int
	tenants map[dag.Tenant]map[string][]byte
}

// NewMemory returns an empty memory that is bounded to a number of bytes.
func NewMemory(most int) *Memory {
	return &Memory{most: most, tenants: map[dag.Tenant]map[string][]byte{}}
}

// Size returns the number of bytes in use.
func (m *Memory) Size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.size
}

// Write performs a change, which must plan only snapshots. If the memory would grow beyond its bound, the error is ErrFull and nothing
// is changed.
func (m *Memory) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	have := m.tenants[tenant]
	known, err := history.Know(c, tenant, 0, func(n *history.Needs, k *history.State) error {
		for _, name := range n.Snapshots {
			k.Snapshots[name] = slices.Clone(have[name])
		}
		return nil
	})
	if err != nil {
		return err
	}
	p, err := c.Plan(known)
	if err != nil {
		return err
	}
	if only := (history.Plan{Snapshots: p.Snapshots}); len(p.Entries)+len(p.Records)+len(p.Begin)+len(p.End)+len(p.Bodies) > 0 {
		return errors.New("working: the change contains more than snapshots")
	} else if err := only.Check(0, 0); err != nil {
		return err
	}
	size := m.size
	for _, s := range p.Snapshots {
		size += cost(s.Name, s.Value) - cost(s.Name, have[s.Name])
	}
	if size > m.most && size > m.size {
		return fmt.Errorf("%w: the process would hold %d bytes of working memory, at most %d; consolidate or clear a session, or wait until one expires", ErrFull, size, m.most)
	}
	m.size = size
	if have == nil {
		have = map[string][]byte{}
		m.tenants[tenant] = have
	}
	for _, s := range p.Snapshots {
		if delete(have, s.Name); len(s.Value) > 0 {
			have[s.Name] = slices.Clone(s.Value)
		}
	}
	if len(have) == 0 {
		delete(m.tenants, tenant)
	}
	return nil
}

func cost(name string, value []byte) int {
	if len(value) == 0 {
		return 0
	}
	return len(name) + len(value)
}

// Snapshots returns the snapshots of a page.
func (m *Memory) Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) (list []history.Snapshot, _ error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.tenants[tenant]
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if p.Holds(name) && len(list) < p.Limit {
			one := history.Snapshot{Name: name}
			if !p.Names {
				one.Value = slices.Clone(all[name])
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// Tenants returns up to limit tenants that have sessions, with names above after, ascending.
func (m *Memory) Tenants(_ context.Context, after dag.Tenant, limit int) (list []dag.Tenant, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, tenant := range slices.Sorted(maps.Keys(m.tenants)) {
		if tenant > after && len(list) < limit {
			list = append(list, tenant)
		}
	}
	return list, nil
}
