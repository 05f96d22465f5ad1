package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	queryLog = `SELECT size, edge FROM logs WHERE tenant = ?`

	queryLogHashes = `SELECT n, hash FROM log_hashes WHERE tenant = ? AND level = ? AND n >= ? ORDER BY n LIMIT ?`

	// Of all prefixes at once, with the whole hashes to compare.
	queryLogged = `SELECT i.n, h.hash FROM json_each(?1) j
		CROSS JOIN log_index i ON i.tenant = ?2 AND i.prefix = j.value
		CROSS JOIN log_hashes h ON h.tenant = i.tenant AND h.level = 0 AND h.n = i.n`
)

// appendLeaves appends the leaves that are not in the ledger yet, and returns where each
// is. It reads the ledger's right edge and looks each leaf up, whatever the ledger's
// size.
func (t *tx) appendLeaves(leaves [][]byte) ([]uint64, error) {
	if len(leaves) == 0 {
		return nil, nil
	}
	hashes := make([]ledger.Hash, len(leaves))
	for i, leaf := range leaves {
		hashes[i] = ledger.LeafHash(leaf)
	}
	stands := map[ledger.Hash]uint64{}
	tree, err := t.tree()
	if err != nil {
		return nil, err
	}
	if tree.Size() > 0 {
		if err := t.lookUp(hashes, stands); err != nil {
			return nil, err
		}
	}
	fresh, at := packed.Unlogged(hashes, stands, tree.Size())
	if len(fresh) == 0 {
		return at, nil
	}
	if err := t.own(); err != nil {
		return nil, err
	}
	return at, t.extend(tree, leaves, hashes, fresh)
}

// tree reads the ledger's right edge.
func (t *tx) tree() (ledger.Tree, error) {
	if t.tenant == 0 {
		return ledger.Tree{}, nil
	}
	return readLog(t.edge.QueryRowContext(t.ctx, t.tenant))
}

// lookUp adds to stands where those of the leaves are that the ledger has.
func (t *tx) lookUp(hashes []ledger.Hash, stands map[ledger.Hash]uint64) error {
	asked := make(map[ledger.Hash]bool, len(hashes))
	for _, h := range hashes {
		asked[h] = true
	}
	for some := range slices.Chunk(hashes, lookupIDs) {
		err := eachLogged(t.ctx, t.logged, t.tenant, some, func(n uint64, h ledger.Hash) {
			if asked[h] {
				stands[h] = n
			}
		})
		if err != nil {
			return err
		}
		if err := t.ended(); err != nil {
			return err
		}
	}
	return nil
}

// eachLogged runs queryLogged: it calls fn with the leaves whose hashes begin as one of
// these.
func eachLogged(ctx context.Context, logged *sql.Stmt, tenant int64, hashes []ledger.Hash, fn func(n uint64, h ledger.Hash)) error {
	rows, err := logged.QueryContext(ctx, prefixList(hashes), tenant)
	if err != nil {
		return err
	}
	var n uint64
	var column sql.RawBytes
	return each(rows, func() error {
		var h ledger.Hash
		if err := packed.Fill(h[:], column, "a leaf's hash"); err != nil {
			return err
		}
		fn(n, h)
		return nil
	}, &n, &column)
}

// extend writes the fresh ones of the leaves after a ledger.
func (t *tx) extend(tree ledger.Tree, leaves [][]byte, hashes []ledger.Hash, fresh []int) error {
	first := tree.Size()
	list := make([]history.Entry, len(fresh))
	for k, i := range fresh {
		list[k].Public = leaves[i]
	}
	if err := t.addRecords(tree, list); err != nil {
		return err
	}
	return t.index(first, hashes, fresh)
}

// addRecords appends entries of the record to a ledger.
func (t *tx) addRecords(tree ledger.Tree, list []history.Entry) error {
	if len(list) == 0 {
		return nil
	}
	first := tree.Size()
	nodes := make([]ledger.Node, 0, len(list)+1)
	for i := range list {
		var err error
		if nodes, err = tree.Append(ledger.Hash(list[i].Leaf()), nodes); err != nil {
			return err
		}
	}
	err := t.insert("records", &t.records, len(list), func(args []any, i int) []any {
		e := &list[i]
		return append(args, t.tenant, int64(first)+int64(i), string(e.Kind), e.Public, e.Detail, e.Private)
	})
	if err != nil {
		return err
	}
	err = t.insert("log hashes", &t.logHashes, len(nodes), func(args []any, i int) []any {
		n := &nodes[i]
		return append(args, t.tenant, n.Level, int64(n.Index), n.Hash[:])
	})
	if err != nil {
		return err
	}
	return t.exec("log edge", t.putEdge, t.tenant, int64(tree.Size()), tree.Edge())
}

// index writes where the fresh leaves are, by ascending prefix, for the sake of the pages, as of
// ids.
func (t *tx) index(first uint64, hashes []ledger.Hash, fresh []int) error {
	var order []indexed
	for i, at := range fresh {
		order = append(order, indexed{packed.LeafPrefix(hashes[at]), int64(first) + int64(i)})
	}
	slices.SortFunc(order, func(a, b indexed) int { return cmp.Or(cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.n, b.n)) })
	return t.insert("log index", &t.logIndex, len(order), func(args []any, i int) []any {
		return append(args, t.tenant, order[i].prefix, order[i].n)
	})
}

// indexed is a row of the index on leaves.
type indexed struct{ prefix, n int64 }

// prefixList writes the prefixes of hashes as a statement takes them: a JSON array.
func prefixList(hashes []ledger.Hash) string {
	b := make([]byte, 0, 2+21*len(hashes))
	b = append(b, '[')
	for i, h := range hashes {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, packed.LeafPrefix(h), 10)
	}
	return string(append(b, ']'))
}

func readLog(row *sql.Row) (ledger.Tree, error) {
	var size uint64
	var edge []byte
	switch err := row.Scan(&size, &edge); {
	case errors.Is(err, sql.ErrNoRows):
		return ledger.Tree{}, nil
	case err != nil:
		return ledger.Tree{}, err
	}
	tree, err := ledger.RestoreTree(size, edge)
	if err != nil {
		return ledger.Tree{}, fmt.Errorf("the ledger is damaged: %w", err)
	}
	return tree, nil
}

// Log returns the ledger's right edge.
func (s *Store) Log(ctx context.Context, tenant dag.Tenant) (tree ledger.Tree, err error) {
	err = s.read(ctx, "log", tenant, func(n int64) (err error) {
		tree, err = readLog(s.queries.log.QueryRowContext(ctx, n))
		return err
	})
	if err != nil {
		return ledger.Tree{}, err
	}
	return tree, nil
}

// LogHashes returns up to 4096 hashes of a level, from an index on.
func (s *Store) LogHashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) (hashes []ledger.Hash, err error) {
	if err := packed.CheckLevel(level); err != nil {
		return nil, fmt.Errorf("sqlite: log hashes: %w", err)
	}
	err = s.read(ctx, "log hashes", tenant, func(number int64) error {
		if n <= 0 || from > ledger.MaxSize {
			return nil
		}
		rows, err := s.queries.logHashes.QueryContext(ctx, number, level, int64(from), min(n, packed.MostHashes))
		if err != nil {
			return err
		}
		return eachNumbered(rows, from, fmt.Sprintf("a hash of level %d", level), func(hash []byte) error {
			var h ledger.Hash
			if err := packed.Fill(h[:], hash, "a hash of the ledger"); err != nil {
				return err
			}
			hashes = append(hashes, h)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return hashes, nil
}

// eachNumbered reads rows of a number and bytes, whose numbers are consecutive.
func eachNumbered(rows *sql.Rows, next uint64, what string, fn func([]byte) error) error {
	var n uint64
	var column sql.RawBytes
	return each(rows, func() error {
		if n != next {
			return fmt.Errorf("the ledger lacks %s, number %d, and has number %d; the store is damaged", what, next, n)
		}
		next++
		return fn(column)
	}, &n, &column)
}

// LogIndex finds a leaf by its bytes.
func (s *Store) LogIndex(ctx context.Context, tenant dag.Tenant, leaf []byte) (at uint64, err error) {
	hash, found := ledger.LeafHash(leaf), false
	err = s.read(ctx, "log index", tenant, func(n int64) error {
		return eachLogged(ctx, s.queries.logged, n, []ledger.Hash{hash}, func(n uint64, h ledger.Hash) {
			if h == hash {
				at, found = n, true
			}
		})
	})
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, fmt.Errorf("sqlite: log index: leaf with the hash %s: %w", hash, store.ErrNotFound)
	}
	return at, nil
}

// PutLeaves appends leaves of acts that this store keeps nothing else of.
func (s *Store) PutLeaves(ctx context.Context, tenant dag.Tenant, leaves [][]byte) (at []uint64, err error) {
	if err := packed.CheckLeaves(leaves); err != nil {
		return nil, fmt.Errorf("sqlite: put leaves: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("sqlite: put leaves: %w", err)
	}
	defer s.gate.RUnlock()
	err = s.write(ctx, tenant, func(t *tx) (err error) {
		at, err = t.appendLeaves(leaves)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sqlite: put leaves: %w", err)
	}
	return at, nil
}
