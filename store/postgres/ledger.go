package postgres

import (
	"cmp"
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
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	queryLog       = `SELECT size, edge FROM logs WHERE tenant = $1`
	queryLogHashes = `SELECT n, hash FROM log_hashes WHERE tenant = $1 AND level = $2 AND n >= $3 ORDER BY n LIMIT $4`

	// The hashes that begin alike. OFFSET 0 as in queryTurns.
	queryLogIndex = `SELECT i.n, h.hash FROM (SELECT DISTINCT unnest($2::bigint[]) AS prefix) a
		CROSS JOIN LATERAL (SELECT n FROM log_index WHERE tenant = $1 AND prefix = a.prefix OFFSET 0) i
		CROSS JOIN LATERAL (SELECT hash FROM log_hashes WHERE tenant = $1 AND level = 0 AND n = i.n OFFSET 0) h`

	queryAddRecords = `INSERT INTO records (tenant, n, kind, leaf, detail, private)
		SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[])`
	queryAddHashes = `INSERT INTO log_hashes (tenant, level, n, hash) SELECT $1, * FROM unnest($2::smallint[], $3::bigint[], $4::bytea[])`
	queryAddIndex  = `INSERT INTO log_index (tenant, prefix, n) SELECT $1, * FROM unnest($2::bigint[], $3::bigint[])`
	queryPutLog    = `INSERT INTO logs (tenant, size, edge) VALUES ($1, $2, $3) ON CONFLICT (tenant) DO UPDATE SET size = excluded.size, edge = excluded.edge`
)

// What one statement of a batch takes in.
const (
	addedRows  = 4096
	addedBytes = 8 << 20
)

// A logbook is a ledger as a write finds it.
type logbook struct {
	tree   ledger.Tree
	stands map[ledger.Hash]uint64 // where leaves are, of those that were asked for
}

// hashesOf returns the hashes of leaves. It is done before the tenant's row is locked where
// the leaves are known by then.
func hashesOf(leaves [][]byte) []ledger.Hash {
	hashes := make([]ledger.Hash, len(leaves))
	for i, leaf := range leaves {
		hashes[i] = ledger.LeafHash(leaf)
	}
	return hashes
}

// readLog queues what has to be known of the ledger before leaves of these hashes are
// appended. The logbook is filled in when the batch is sent.
func (t *tx) readLog(b *pgx.Batch, hashes []ledger.Hash) *logbook {
	l := &logbook{stands: map[ledger.Hash]uint64{}}
	b.Queue(queryLog, string(t.name)).QueryRow(func(row pgx.Row) error { return readTree(row, &l.tree) })
	for some := range slices.Chunk(hashes, lookupIDs) {
		b.Queue(queryLogIndex, string(t.name), prefixes(some)).Query(func(rows pgx.Rows) error {
			return eachIndexed(rows, func(n uint64, h ledger.Hash) { l.stands[h] = n })
		})
	}
	return l
}

// growLog queues the steps that append those leaves that the ledger does not have, and
// returns the index of each.
func (t *tx) growLog(b *pgx.Batch, l *logbook, leaves [][]byte, hashes []ledger.Hash) ([]uint64, error) {
	first := l.tree.Size()
	fresh, at := packed.Unlogged(hashes, l.stands, first)
	if len(fresh) == 0 {
		return at, nil
	}
	list := make([]history.Entry, len(fresh))
	for k, i := range fresh {
		list[k] = history.Entry{Seq: dag.Seq(first) + dag.Seq(k) + 1, Public: leaves[i]}
	}
	if err := t.begin("log index"); err != nil {
		return nil, err
	}
	t.queueIndex(b, hashes, at, fresh)
	return at, t.queueRecords(b, &l.tree, list)
}

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

// queueIndex inserts by ascending prefix, as admit does by id: neighbours share pages.
func (t *tx) queueIndex(b *pgx.Batch, hashes []ledger.Hash, at []uint64, fresh []int) {
	order := slices.SortedFunc(slices.Values(fresh), func(i, j int) int {
		return cmp.Or(cmp.Compare(packed.LeafPrefix(hashes[i]), packed.LeafPrefix(hashes[j])), cmp.Compare(i, j))
	})
	for chunk := range slices.Chunk(order, addedRows) {
		begin, numbers := make([]int64, len(chunk)), make([]int64, len(chunk))
		for k, i := range chunk {
			begin[k], numbers[k] = packed.LeafPrefix(hashes[i]), int64(at[i])
		}
		b.Queue(queryAddIndex, string(t.name), begin, numbers)
	}
}

// log appends those leaves that the ledger does not have, and returns the index of each: two
// round trips, however many there are.
func (t *tx) log(leaves [][]byte, hashes []ledger.Hash) ([]uint64, error) {
	if len(leaves) == 0 {
		return nil, nil
	}
	b := &pgx.Batch{}
	l := t.readLog(b, hashes)
	if err := t.SendBatch(t.ctx, b).Close(); err != nil {
		return nil, err
	}
	b = &pgx.Batch{}
	at, err := t.growLog(b, l, leaves, hashes)
	if err != nil || b.Len() == 0 {
		return at, err
	}
	return at, t.SendBatch(t.ctx, b).Close()
}

// logActs is log for the leaves of acts.
func (t *tx) logActs(leaves ...[]byte) error {
	_, err := t.log(leaves, hashesOf(leaves))
	return err
}

func prefixes(hashes []ledger.Hash) []int64 {
	list := make([]int64, len(hashes))
	for i, h := range hashes {
		list[i] = packed.LeafPrefix(h)
	}
	return list
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
		return fmt.Errorf("the database is damaged: %w", err)
	}
	return nil
}

// eachIndexed reads rows of queryLogIndex.
func eachIndexed(rows pgx.Rows, fn func(n uint64, h ledger.Hash)) error {
	var n int64
	var column pgtype.DriverBytes
	_, err := pgx.ForEachRow(rows, []any{&n, &column}, func() error {
		var h ledger.Hash
		if err := packed.Fill(h[:], column, "a leaf's hash"); err != nil {
			return err
		}
		fn(uint64(n), h)
		return nil
	})
	return err
}

// Log returns the ledger's right edge.
func (s *Store) Log(ctx context.Context, tenant dag.Tenant) (tree ledger.Tree, err error) {
	err = s.read(ctx, "log", func(ctx context.Context, db *pgxpool.Conn) error {
		return readTree(db.QueryRow(ctx, queryLog, string(tenant)), &tree)
	})
	if err != nil {
		return ledger.Tree{}, err
	}
	return tree, nil
}

// LogHashes returns hashes of a level, up to 4096 at once.
func (s *Store) LogHashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) (hashes []ledger.Hash, err error) {
	if err := packed.CheckLevel(level); err != nil {
		return nil, fmt.Errorf("postgres: log hashes: %w", err)
	}
	err = s.read(ctx, "log hashes", func(ctx context.Context, db *pgxpool.Conn) error {
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
	if err != nil {
		return nil, err
	}
	return hashes, nil
}

// eachNumbered reads rows of a number and bytes, whose numbers follow each other: what
// follows one that is lacking has no place in an answer.
func eachNumbered(rows pgx.Rows, err error, from uint64, what string, fn func([]byte) error) error {
	if err != nil {
		return err
	}
	var n int64
	var column pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{&n, &column}, func() error {
		if uint64(n) != from {
			return fmt.Errorf("the ledger has no %s %d, and has number %d; the store is damaged", what, from, n)
		}
		from++
		return fn(column)
	})
	return err
}

// LogIndex finds a leaf by its hash.
func (s *Store) LogIndex(ctx context.Context, tenant dag.Tenant, leaf []byte) (uint64, error) {
	want, found := ledger.LeafHash(leaf), false
	var at uint64
	err := s.read(ctx, "log index", func(ctx context.Context, db *pgxpool.Conn) error {
		rows, err := db.Query(ctx, queryLogIndex, string(tenant), prefixes([]ledger.Hash{want}))
		if err != nil {
			return err
		}
		return eachIndexed(rows, func(n uint64, h ledger.Hash) {
			if h == want {
				at, found = n, true
			}
		})
	})
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, fmt.Errorf("postgres: log index: leaf with the hash %s: %w", want, store.ErrNotFound)
	}
	return at, nil
}

// PutLeaves appends leaves; see store.Store. It takes four round trips, however many there are.
func (s *Store) PutLeaves(ctx context.Context, tenant dag.Tenant, leaves [][]byte) (at []uint64, err error) {
	if err := packed.CheckLeaves(leaves); err != nil {
		return nil, fmt.Errorf("postgres: put leaves: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("postgres: put leaves: %w", err)
	}
	defer s.gate.RUnlock()
	hashes := hashesOf(leaves)
	err = s.write(ctx, tenant, func(t *tx) (err error) {
		at, err = t.log(leaves, hashes)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: put leaves: %w", err)
	}
	return at, nil
}
