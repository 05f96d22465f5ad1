package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	queryLog = `SELECT size, edge FROM logs WHERE tenant = ?`

	queryLogHashes = `SELECT n, hash FROM log_hashes WHERE tenant = ? AND level = ? AND n >= ? ORDER BY n LIMIT ?`
)

// tree reads the ledger's right edge.
func (t *tx) tree() (ledger.Tree, error) {
	if t.tenant == 0 {
		return ledger.Tree{}, nil
	}
	return readLog(t.edge.QueryRowContext(t.ctx, t.tenant))
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
		return ledger.Tree{}, fmt.Errorf("%w: the ledger: %w", history.ErrDamaged, err)
	}
	return tree, nil
}

// Log returns the ledger's right edge.
func (rd *reader) Log(ctx context.Context, tenant dag.Tenant) (tree ledger.Tree, err error) {
	err = rd.read(ctx, "log", tenant, func(n int64) (err error) {
		tree, err = readLog(rd.queries.log.QueryRowContext(ctx, n))
		return err
	})
	return intact(tree, err)
}

// LogHashes returns up to 4096 hashes of a level, from an index on.
func (rd *reader) LogHashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) (hashes []ledger.Hash, err error) {
	if err := packed.CheckLevel(level); err != nil {
		return nil, failed("log hashes", err)
	}
	err = rd.read(ctx, "log hashes", tenant, func(number int64) error {
		if n <= 0 || from > ledger.MaxSize {
			return nil
		}
		rows, err := rd.queries.logHashes.QueryContext(ctx, number, level, int64(from), min(n, packed.MostHashes))
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
	return intact(hashes, err)
}

// eachNumbered reads rows of a number and bytes. The numbers must be consecutive.
func eachNumbered(rows *sql.Rows, next uint64, what string, fn func([]byte) error) error {
	var n uint64
	var column sql.RawBytes
	return each(rows, func() error {
		if n != next {
			return fmt.Errorf("%w: the ledger lacks %s, number %d; the next one has number %d", history.ErrDamaged, what, next, n)
		}
		next++
		return fn(column)
	}, &n, &column)
}
