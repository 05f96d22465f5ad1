package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	queryLog        = `SELECT size, edge FROM logs WHERE tenant = $1`
	queryLogHashes  = `SELECT n, hash FROM log_hashes WHERE tenant = $1 AND level = $2 AND n >= $3 ORDER BY n LIMIT $4`
	queryAddRecords = `INSERT INTO records (tenant, n, kind, leaf, detail, private)
		SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[])`
	queryAddHashes = `INSERT INTO log_hashes (tenant, level, n, hash) SELECT $1, * FROM unnest($2::smallint[], $3::bigint[], $4::bytea[])`
	queryPutLog    = `INSERT INTO logs (tenant, size, edge) VALUES ($1, $2, $3) ON CONFLICT (tenant) DO UPDATE SET size = excluded.size, edge = excluded.edge`
)

// Bounds of one statement of a batch.
const (
	addedRows  = 4096
	addedBytes = 8 << 20
)

// queueRecords queues the steps that append entries of the record to a ledger.
func (t *tx) queueRecords(b *pgx.Batch, tree *ledger.Tree, list []history.Entry) error {
	if len(list) == 0 {
		return nil
	}
	nodes := make([]ledger.Node, 0, len(list)+1)
	for i := range list {
		var err error
		if nodes, err = tree.Append(ledger.Hash(list[i].Leaf()), nodes); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		name  string
		queue func()
	}{
		{"records", func() { t.queueLeaves(b, list) }},
		{"log hashes", func() { t.queueHashes(b, nodes) }},
		{"log edge", func() { b.Queue(queryPutLog, string(t.name), int64(tree.Size()), tree.Edge()) }},
	} {
		if err := t.begin(step.name); err != nil {
			return err
		}
		step.queue()
	}
	return nil
}

func (t *tx) queueLeaves(b *pgx.Batch, list []history.Entry) {
	for from := 0; from < len(list); {
		var numbers []int64
		var kinds []string
		var leaves, details, private [][]byte
		for bytes := 0; from < len(list) && len(leaves) < addedRows && bytes < addedBytes; from++ {
			e := &list[from]
			numbers, kinds = append(numbers, int64(e.Seq)-1), append(kinds, string(e.Kind))
			leaves, details, private = append(leaves, e.Public), append(details, e.Detail), append(private, e.Private)
			bytes += len(e.Public) + len(e.Detail) + len(e.Private)
		}
		b.Queue(queryAddRecords, string(t.name), numbers, kinds, leaves, details, private)
	}
}

func (t *tx) queueHashes(b *pgx.Batch, nodes []ledger.Node) {
	for nodes := range slices.Chunk(nodes, addedRows) {
		levels, numbers, hashes := make([]int16, len(nodes)), make([]int64, len(nodes)), make([][]byte, len(nodes))
		for i := range nodes {
			levels[i], numbers[i], hashes[i] = int16(nodes[i].Level), int64(nodes[i].Index), nodes[i].Hash[:]
		}
		b.Queue(queryAddHashes, string(t.name), levels, numbers, hashes)
	}
}

// readTree reads the row of queryLog. A tenant without one has an empty ledger.
func readTree(row pgx.Row, tree *ledger.Tree) error {
	var size int64
	var edge []byte
	err := row.Scan(&size, &edge)
	if errors.Is(err, pgx.ErrNoRows) {
		*tree = ledger.Tree{}
		return nil
	}
	if err != nil {
		return err
	}
	if *tree, err = ledger.RestoreTree(uint64(size), edge); err != nil {
		return fmt.Errorf("%w: %w", history.ErrDamaged, err)
	}
	return nil
}

// Log returns the ledger's right edge.
func (rd *reader) Log(ctx context.Context, tenant dag.Tenant) (tree ledger.Tree, err error) {
	err = rd.read(ctx, "log", func(ctx context.Context, db *pgxpool.Conn) error {
		return readTree(db.QueryRow(ctx, queryLog, string(tenant)), &tree)
	})
	return intact(tree, err)
}

// LogHashes returns hashes of a level, up to 4096 at once.
func (rd *reader) LogHashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) (hashes []ledger.Hash, err error) {
	if err := packed.CheckLevel(level); err != nil {
		return nil, fmt.Errorf("postgres: log hashes: %w", err)
	}
	err = rd.read(ctx, "log hashes", func(ctx context.Context, db *pgxpool.Conn) error {
		hashes = nil
		if from > ledger.MaxSize || n <= 0 {
			return nil
		}
		rows, err := db.Query(ctx, queryLogHashes, string(tenant), level, int64(from), min(n, packed.MostHashes))
		return eachNumbered(rows, err, from, fmt.Sprintf("hash of level %d with the number", level), func(column []byte) error {
			var h ledger.Hash
			if err := packed.Fill(h[:], column, "a hash of the ledger"); err != nil {
				return err
			}
			hashes = append(hashes, h)
			return nil
		})
	})
	return intact(hashes, err)
}

// eachNumbered reads rows of a number and bytes. The numbers must be consecutive: nothing after a gap may be returned.
func eachNumbered(rows pgx.Rows, err error, from uint64, what string, fn func([]byte) error) error {
	if err != nil {
		return err
	}
	var n int64
	var column pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{&n, &column}, func() error {
		if uint64(n) != from {
			return fmt.Errorf("%w: the ledger has no %s %d; the next one has number %d", history.ErrDamaged, what, from, n)
		}
		from++
		return fn(column)
	})
	return err
}
