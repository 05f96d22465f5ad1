package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	entryColumns = `seq, kind, at, leaf, public, detail, private, part, parts`

	queryEntries = `SELECT ` + entryColumns + ` FROM entries WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3`

	// See queryTurns.
	queryEntriesAt = `SELECT e.* FROM (SELECT DISTINCT unnest($2::bigint[]) AS seq) a
		CROSS JOIN LATERAL (SELECT ` + entryColumns + ` FROM entries WHERE tenant = $1 AND seq = a.seq OFFSET 0) e ORDER BY e.seq`

	recordedColumns = `n + 1, kind, 0::bigint, 0::bigint, leaf, detail, private, 0::bigint, 0::bigint`

	queryRecords = `SELECT ` + recordedColumns + ` FROM records WHERE tenant = $1 AND n >= $2 ORDER BY n LIMIT $3`

	// See queryTurns.
	queryRecordsAt = `SELECT e.* FROM (SELECT DISTINCT unnest($2::bigint[]) AS seq) a
		CROSS JOIN LATERAL (SELECT ` + recordedColumns + ` FROM records WHERE tenant = $1 AND n = a.seq - 1 OFFSET 0) e ORDER BY a.seq`

	// All ranges at once. Because of the limit the server can only descend the primary
	// key for each range, one after the other, and stop: so the rows come in order.
	queryTerms = termsOf + `t.key, t.since, t.until, t.value FROM terms t` + termsIn + `t.key, t.since LIMIT a.most) t`

	queryTermsLast = termsOf + `t.key, t.since, t.until, t.value FROM terms t` + termsIn + `t.key DESC, t.since DESC LIMIT a.most) t`

	queryTermsEntries = termsOf + `t.key, t.since, t.until, t.value, coalesce(e.kind, ''), coalesce(e.at, 0), coalesce(e.leaf, 0), e.public, e.detail, e.private, coalesce(e.part, 0), coalesce(e.parts, 0)
			FROM terms t LEFT JOIN LATERAL (SELECT * FROM entries WHERE tenant = $1 AND seq = t.since LIMIT 1) e ON true` + termsIn + `t.key, t.since LIMIT a.most) t`

	termsOf = `SELECT a.n, t.* FROM unnest($2::smallint[], $3::bytea[], $4::bigint[], $5::bytea[], $6::bigint[], $7::bigint[])
			WITH ORDINALITY a (indx, key, since, upper, as_of, most, n)
		CROSS JOIN LATERAL (SELECT `

	termsIn = `
			WHERE t.tenant = $1 AND t.indx = a.indx AND (t.key, t.since) > (a.key, a.since) AND t.key < a.upper
				AND t.since <= a.as_of AND (t.until > a.as_of OR a.as_of = ` + always + `) ORDER BY `

	// The newest term of each key.
	queryNewest = `SELECT a.n, t.* FROM unnest($2::smallint[], $3::bytea[]) WITH ORDINALITY a (indx, key, n)
		CROSS JOIN LATERAL (SELECT key, since, until, value FROM terms WHERE tenant = $1 AND indx = a.indx AND key = a.key ORDER BY since DESC LIMIT 1) t`

	queryAddEntries = `INSERT INTO entries (tenant, seq, kind, at, leaf, public, detail, private, part, parts)
		SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bytea[], $8::bytea[], $9::bigint[], $10::bigint[])`

	queryAddTerms = `INSERT INTO terms (tenant, indx, key, since, until, value)
		SELECT $1, * FROM unnest($2::smallint[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bytea[])`

	// It ends one term, though many may end at once: a join with a list leaves the planner a choice.
	queryEndTerm = `UPDATE terms SET until = $5 WHERE tenant = $1 AND indx = $2 AND key = $3 AND since = $4 AND until > $5`

	queryTakeTerm = `DELETE FROM terms WHERE tenant = $1 AND indx = $2 AND key = $3 AND since = $4`

	queryForget = `UPDATE entries SET private = NULL WHERE tenant = $1 AND seq = ANY($2::bigint[])`

	queryForgetRecords = `UPDATE records SET private = NULL WHERE tenant = $1 AND n IN (SELECT s - 1 FROM unnest($2::bigint[]) s)`

	// always is the as-of number of a range that selects all terms: greater than every number.
	always = `9223372036854775807`
)

// Write carries out the plan of a change. It takes four round trips if the change needs to know things in one round,
// however many entries it has; one more for each further round; and two more if partitions are on other servers.
func (s *Store) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	return s.write(ctx, "write", tenant, func(t *tx) error {
		if t.mine { // all was written, only the answer was lost
			return nil
		}
		return t.change(c)
	})
}

func (t *tx) change(c history.Change) error {
	p, tree, err := t.plan(c)
	if err != nil || p.Empty() {
		return err
	}
	moves := len(p.Entries) > 0 // adding to the record alone does not move the head
	if moves || len(p.Bodies) > 0 {
		if err := t.sweep(); err != nil {
			return err
		}
	}
	if err := t.eraseTurns(p.Bodies); err != nil {
		return err
	}
	b := &pgx.Batch{}
	if err := t.queuePlan(b, p, tree); err != nil {
		return err
	}
	if moves {
		if err := t.begin("head"); err != nil {
			return err
		}
		b.Queue(queryMove, string(t.name), int64(p.Head(t.head)), t.writer)
	}
	return t.SendBatch(t.ctx, b).Close()
}

// plan reads the entries and terms that a change needs, and returns its plan. The tree is the ledger's right edge, if the change asked for its size.
func (t *tx) plan(c history.Change) (*history.Plan, *ledger.Tree, error) {
	tree := &ledger.Tree{}
	known, err := history.Know(c, t.name, t.head, func(n *history.Needs, k *history.State) error { return t.answer(n, k, tree) })
	if err != nil {
		return nil, nil, err
	}
	p, err := history.PlanOf(c, known)
	if err != nil {
		return nil, nil, err
	}
	p.Sort()
	return p, tree, p.Check(t.head, dag.Seq(tree.Size()))
}

// queuePlan queues the statements that carry out a plan, except the one that moves the head.
func (t *tx) queuePlan(b *pgx.Batch, p *history.Plan, tree *ledger.Tree) error {
	if len(p.End) > 0 {
		if err := t.begin("endings"); err != nil {
			return err
		}
		for i := range p.End {
			e := &p.End[i]
			query, args := queryEndTerm, []any{string(t.name), int16(e.Index), packed.Blob(e.Key), int64(e.Since), int64(e.Until)}
			if e.Until == 0 {
				query, args = queryTakeTerm, args[:4]
			}
			b.Queue(query, args...).Exec(func(tag pgconn.CommandTag) error {
				if tag.RowsAffected() != 1 {
					return fmt.Errorf("%w: a term that should end is missing", history.ErrDamaged)
				}
				return nil
			})
		}
	}
	if len(p.Forget)+len(p.ForgetRecords) > 0 {
		if err := t.begin("private halves"); err != nil {
			return err
		}
		b.Queue(queryForget, string(t.name), numbers(p.Forget))
		b.Queue(queryForgetRecords, string(t.name), numbers(p.ForgetRecords))
	}
	if len(p.Entries) > 0 {
		if err := t.begin("entries"); err != nil {
			return err
		}
		t.queueEntries(b, p.Entries)
	}
	if len(p.Begin) > 0 {
		if err := t.begin("terms"); err != nil {
			return err
		}
		t.queueTerms(b, p.Begin)
	}
	if err := t.queueSnapshots(b, p.Snapshots); err != nil {
		return err
	}
	return t.queueRecords(b, tree, p.Records)
}

func (t *tx) queueEntries(b *pgx.Batch, list []history.Entry) {
	for from := 0; from < len(list); {
		var seqs, times, leaves, part, parts []int64
		var kinds []string
		var public, details, private [][]byte
		for bytes := 0; from < len(list) && len(seqs) < addedRows && bytes < addedBytes; from++ {
			e := &list[from]
			seqs, kinds, times = append(seqs, int64(e.Seq)), append(kinds, string(e.Kind)), append(times, int64(e.At))
			leaves, public = append(leaves, packed.DigestPrefix(e.Leaf())), append(public, e.Public)
			details, private = append(details, e.Detail), append(private, e.Private)
			part, parts = append(part, int64(e.Part)), append(parts, int64(e.Parts))
			bytes += len(e.Public) + len(e.Detail) + len(e.Private)
		}
		b.Queue(queryAddEntries, string(t.name), seqs, kinds, times, leaves, public, details, private, part, parts)
	}
}

func (t *tx) queueTerms(b *pgx.Batch, list []history.Term) {
	for some := range slices.Chunk(list, addedRows) {
		n := len(some)
		indexes, keys, values := make([]int16, n), make([][]byte, n), make([][]byte, n)
		since, until := make([]int64, n), make([]int64, n)
		for i := range some {
			e := &some[i]
			indexes[i], keys[i], since[i], until[i], values[i] = int16(e.Index), packed.Blob(e.Key), int64(e.Since), int64(e.Until), packed.Blob(e.Value)
		}
		b.Queue(queryAddTerms, string(t.name), indexes, keys, since, until, values)
	}
}

// answer reads the entries and terms that a change needs, in one round trip.
func (t *tx) answer(n *history.Needs, k *history.State, tree *ledger.Tree) error {
	lists := make([][]history.Term, len(n.Ranges))
	k.Ranges = append(k.Ranges, lists...)
	if t.fresh {
		return nil
	}
	b := &pgx.Batch{}
	if n.Size {
		b.Queue(queryLog, string(t.name)).QueryRow(func(row pgx.Row) error {
			err := readTree(row, tree)
			k.Size = dag.Seq(tree.Size())
			return err
		})
	}
	if len(n.Turns) > 0 {
		b.Queue(queryFind, string(t.name), uuids(n.Turns)).Query(func(rows pgx.Rows) error {
			return eachFound(rows, func(id dag.TurnID, _ [16]byte, a history.Admitted) { k.Turns[id] = a })
		})
	}
	if len(n.Snapshots) > 0 {
		b.Queue(querySnapshotsOf, string(t.name), n.Snapshots).Query(func(rows pgx.Rows) error {
			list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[history.Snapshot])
			for _, s := range list {
				k.Snapshots[s.Name] = s.Value
			}
			return err
		})
	}
	for some := range slices.Chunk(n.Newest, lookupIDs) {
		indexes, names := make([]int16, len(some)), make([][]byte, len(some))
		for i := range some {
			indexes[i], names[i] = int16(some[i].Index), []byte(some[i].Key)
		}
		b.Queue(queryNewest, string(t.name), indexes, names).Query(func(rows pgx.Rows) error {
			return eachTerm(rows, false, func(n int, t *history.Term) {
				t.Index = some[n].Index
				k.AddNewest(*t)
			})
		})
	}
	if len(n.Ranges) > 0 {
		b.Queue(rangesQuery(n.Ranges), rangeArrays(t.name, n.Ranges)...).Query(func(rows pgx.Rows) error {
			return readRanges(rows, n.Ranges, k.Ranges[len(k.Ranges)-len(n.Ranges):])
		})
	}
	for stream, seqs := range map[history.Stream][]dag.Seq{history.Known: n.Entries, history.Record: n.Records} {
		if len(seqs) > 0 {
			_, at := entryQueries(stream)
			b.Queue(at, string(t.name), numbers(seqs)).Query(func(rows pgx.Rows) error {
				list, err := readEntries(stream, rows, nil)
				k.AddEntries(stream, list)
				return err
			})
		}
	}
	return t.SendBatch(t.ctx, b).Close()
}

// entryQueries returns the queries for the entries of a stream after a number, and at numbers.
func entryQueries(of history.Stream) (after, at string) {
	if of == history.Record {
		return queryRecords, queryRecordsAt
	}
	return queryEntries, queryEntriesAt
}

// rangesQuery returns the query for ranges.
func rangesQuery(ranges []history.Range) string {
	switch {
	case ranges[0].Last:
		return queryTermsLast
	case ranges[0].Entries:
		return queryTermsEntries
	}
	return queryTerms
}

// Entries returns the entries of a page, by ascending number.
func (rd *reader) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) (list []history.Entry, err error) {
	after, at := entryQueries(p.Stream)
	err = rd.read(ctx, "entries", func(ctx context.Context, db *pgxpool.Conn) error {
		var rows pgx.Rows
		if p.At != nil {
			rows, err = db.Query(ctx, at, string(tenant), numbers(p.At))
		} else {
			rows, err = db.Query(ctx, after, string(tenant), clipped(p.After), max(p.Limit, 0))
		}
		list, err = readEntries(p.Stream, rows, err)
		return err
	})
	return list, err
}

// clipped returns a number in the type of a statement's argument; no number is above dag.MaxSeq.
func clipped(seq dag.Seq) int64 { return int64(min(seq, dag.MaxSeq)) }

func numbers(seqs []dag.Seq) []int64 {
	list := make([]int64, len(seqs))
	for i, seq := range seqs {
		list[i] = clipped(seq)
	}
	return list
}

// Terms returns the terms of each range, in one query.
func (rd *reader) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) (lists [][]history.Term, err error) {
	if err := history.CheckRanges(ranges); err != nil {
		return nil, fmt.Errorf("postgres: terms: %w", err)
	}
	args := rangeArrays(tenant, ranges)
	err = rd.read(ctx, "terms", func(ctx context.Context, db *pgxpool.Conn) error {
		lists = make([][]history.Term, len(ranges))
		if len(ranges) == 0 {
			return nil
		}
		rows, err := db.Query(ctx, rangesQuery(ranges), args...)
		if err != nil {
			return err
		}
		return readRanges(rows, ranges, lists)
	})
	return intact(lists, err)
}

// rangeArrays returns ranges as the arguments of queryTerms, an array for each column.
func rangeArrays(tenant dag.Tenant, ranges []history.Range) []any {
	n := len(ranges)
	indexes, lower, upper := make([]int16, n), make([][]byte, n), make([][]byte, n)
	since, asOf, most := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range ranges {
		r := &ranges[i]
		from := r.Lower()
		indexes[i], lower[i], since[i], upper[i] = int16(r.Index), packed.Blob(from.Key), clipped(from.Since), r.Upper()
		if asOf[i] = clipped(r.AsOf); r.AsOf == 0 {
			asOf[i] = 1<<63 - 1
		}
		if most[i] = int64(r.Limit); r.Limit == 0 {
			most[i] = 1<<63 - 1
		}
	}
	return []any{string(tenant), indexes, lower, since, upper, asOf, most}
}

func readRanges(rows pgx.Rows, ranges []history.Range, lists [][]history.Term) error {
	return eachTerm(rows, len(ranges) > 0 && ranges[0].Entries, func(n int, t *history.Term) {
		t.Index = ranges[n].Index
		lists[n] = append(lists[n], *t)
	})
}

// eachTerm reads the rows of queryTerms and similar queries. It calls fn with each term and the
// position of the range or key that it answers; the term has its entry if the query has entries.
func eachTerm(rows pgx.Rows, entries bool, fn func(n int, t *history.Term)) error {
	var n, since, until int64
	var key, value pgtype.DriverBytes
	var e entryRow
	columns := []any{&n, &key, &since, &until, &value}
	if entries {
		columns = append(columns, &e.Kind, &e.At, &e.Leaf, &e.Public, &e.Detail, &e.Private, &e.Part, &e.Parts)
	}
	_, err := pgx.ForEachRow(rows, columns, func() (err error) {
		// One allocation for both.
		both := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
		t := history.Term{Key: both[:len(key):len(key)], Since: dag.Seq(since), Until: dag.Seq(until), Value: both[len(key):]}
		if entries {
			e.Seq = since
			if t.Entry, err = e.Checked(); err != nil {
				return err
			}
		}
		fn(int(n-1), &t)
		return nil
	})
	return err
}

type entryRow = packed.Row[pgtype.DriverBytes]

func readEntries(of history.Stream, rows pgx.Rows, err error) (list []history.Entry, _ error) {
	if err != nil {
		return nil, err
	}
	var r entryRow
	_, err = pgx.ForEachRow(rows, []any{&r.Seq, &r.Kind, &r.At, &r.Leaf, &r.Public, &r.Detail, &r.Private, &r.Part, &r.Parts}, func() error {
		list = append(list, r.Entry())
		if of == history.Record { // the ledger's hashes show whether the leaf has changed
			return nil
		}
		return packed.CheckLeaf(&list[len(list)-1], r.Leaf)
	})
	return list, err
}
