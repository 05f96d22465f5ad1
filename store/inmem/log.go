package inmem

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
)

// A log is a tenant's ledger.
type log struct {
	tree   ledger.Tree
	leaves []history.Entry
	hashes [levels][]ledger.Hash
}

// levels is the number of levels of hashes in the greatest ledger.
const levels = 7

// mostHashes bounds the hashes that are read at once.
const mostHashes = 4096

// A growth is the part of a write that is appended to a ledger.
type growth struct {
	tree   ledger.Tree // after the write
	leaves []history.Entry
	nodes  []ledger.Node
}

// plan returns what appending entries of the record adds to the ledger. It changes nothing.
func (l *log) plan(list []history.Entry) (growth, error) {
	g := growth{tree: l.tree}
	for i := range list {
		e := copiedEntry(&list[i])
		var err error
		if g.nodes, err = g.tree.Append(ledger.Hash(e.Leaf()), g.nodes); err != nil {
			return growth{}, fmt.Errorf("inmem: %w", err)
		}
		g.leaves = append(g.leaves, e)
	}
	return g, nil
}

// steps returns the steps of a write, followed by those of its leaves if there are any.
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
