package inmem

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
)

// A log is a tenant's ledger.
type log struct {
	tree   ledger.Tree
	leaves []history.Entry
	hashes [levels][]ledger.Hash
	index  map[ledger.Hash]uint64 // where a leaf is, by its hash
}

// levels is how many levels of hashes the greatest ledger has.
const levels = 7

// mostHashes bounds the hashes that are read at once.
const mostHashes = 4096

// A growth is what a write is to append to a ledger.
type growth struct {
	tree   ledger.Tree // afterwards
	leaves []history.Entry
	nodes  []ledger.Node
	index  map[ledger.Hash]uint64 // of the new leaves
	at     []uint64               // where each of the leaves is that were asked for
}

// plan says how leaves are appended, those that are not there yet, and changes nothing.
func (l *log) plan(leaves ...[]byte) (growth, error) {
	g := growth{tree: l.tree, index: map[ledger.Hash]uint64{}}
	for _, leaf := range leaves {
		hash := ledger.LeafHash(leaf)
		at, known := l.index[hash]
		if !known {
			at, known = g.index[hash]
		}
		if !known {
			at = g.tree.Size()
			var err error
			if g.nodes, err = g.tree.Append(hash, g.nodes); err != nil {
				return growth{}, fmt.Errorf("inmem: %w", err)
			}
			g.index[hash] = at
			g.leaves = append(g.leaves, history.Entry{Seq: dag.Seq(at) + 1, Public: slices.Clone(leaf)})
		}
		g.at = append(g.at, at)
	}
	return g, nil
}

// record plans entries of the record, which are new.
func (g *growth) record(list []history.Entry) error {
	for i := range list {
		e := copiedEntry(&list[i])
		hash := ledger.Hash(e.Leaf())
		at := g.tree.Size()
		var err error
		if g.nodes, err = g.tree.Append(hash, g.nodes); err != nil {
			return fmt.Errorf("inmem: %w", err)
		}
		g.index[hash] = at
		g.leaves = append(g.leaves, e)
	}
	return nil
}

// steps are those of a write, and then those of its leaves if there are any.
func (g *growth) steps(of ...string) []string {
	if len(g.leaves) > 0 {
		of = append(of, "log leaves", "log edge")
	}
	return of
}

func (l *log) grow(g growth) {
	l.tree = g.tree
	l.leaves = append(l.leaves, g.leaves...)
	for _, n := range g.nodes {
		l.hashes[n.Level] = append(l.hashes[n.Level], n.Hash)
	}
	maps.Copy(l.index, g.index)
}

// Log returns the ledger's right edge.
func (s *Store) Log(ctx context.Context, name dag.Tenant) (ledger.Tree, error) {
	if err := s.enter(ctx); err != nil {
		return ledger.Tree{}, err
	}
	defer s.disk.mu.Unlock()
	return s.disk.tenant(name).tree, nil
}

// LogHashes returns up to 4096 hashes of a level, from an index on.
func (s *Store) LogHashes(ctx context.Context, name dag.Tenant, level int, from uint64, n int) ([]ledger.Hash, error) {
	if level < 0 || level >= levels {
		return nil, fmt.Errorf("inmem: %w: level %d of a ledger, want 0 to %d", dag.ErrForm, level, levels-1)
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	hashes := s.disk.tenant(name).hashes[level]
	from = min(from, uint64(len(hashes)))
	return append(empty[ledger.Hash](s), hashes[from:][:min(len(hashes[from:]), max(n, 0), mostHashes)]...), nil
}

// LogIndex finds a leaf by its bytes.
func (s *Store) LogIndex(ctx context.Context, name dag.Tenant, leaf []byte) (uint64, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.disk.mu.Unlock()
	hash := ledger.LeafHash(leaf)
	at, ok := s.disk.tenant(name).index[hash]
	if !ok {
		return 0, fmt.Errorf("inmem: leaf with the hash %s: %w", hash, store.ErrNotFound)
	}
	return at, nil
}

// PutLeaves appends leaves of acts that this store keeps nothing else of.
func (s *Store) PutLeaves(ctx context.Context, name dag.Tenant, leaves [][]byte) ([]uint64, error) {
	if _, err := dag.ParseTenant(string(name)); err != nil {
		return nil, err
	}
	for _, leaf := range leaves {
		if err := ledger.CheckLeaf(leaf); err != nil {
			return nil, fmt.Errorf("inmem: put leaves: %w", err)
		}
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	grown, err := t.plan(leaves...)
	if err != nil || len(grown.leaves) == 0 {
		return grown.at, err
	}
	err = s.commit(ctx, func() {
		t.grow(grown)
		s.disk.keep(name, t)
	}, grown.steps()...)
	if err != nil {
		return nil, err
	}
	return grown.at, nil
}
