package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

// The columns of a record. The key comes after the text, as in the table: a query for it reads through the text.
const recordColumns = `t.seq, t.kept, t.salt, t.external, t.body, t.key`

// A list of ids is passed as one JSON array of hex strings, since a statement has a fixed number of
// parameters. CROSS JOIN fixes the order of the look-ups; the planner does not know the array's length.
const (
	queryTurns = `SELECT ` + recordColumns + ` FROM json_each(?) j
		CROSS JOIN ids i ON i.tenant = ? AND i.id = unhex(j.value)
		CROSS JOIN turns t ON t.turn = i.turn`

	// The same without the text, in whose place one byte says that it exists, and without the key,
	// which is stored after it: SQLite does not touch the pages of a long text that is not selected.
	queryStored = `SELECT t.seq, t.kept, t.salt, NULL, iif(t.body IS NULL, NULL, x'00'), NULL FROM json_each(?) j
		CROSS JOIN ids i ON i.tenant = ? AND i.id = unhex(j.value)
		CROSS JOIN turns t ON t.turn = i.turn`

	queryPlaced = `SELECT ` + recordColumns + ` FROM json_each(?) j
		CROSS JOIN turns t ON t.tenant = ? AND t.seq BETWEEN j.value ->> 0 AND j.value ->> 1`

	queryParents = `SELECT i.id, substr(t.kept, 1, 16) FROM json_each(?) j
		CROSS JOIN ids i ON i.tenant = ? AND i.id = unhex(j.value)
		CROSS JOIN turns t ON t.turn = i.turn`

	queryScan = `SELECT ` + recordColumns + ` FROM turns t
		WHERE t.tenant = ? AND t.seq > ? AND t.seq <= ? ORDER BY t.seq LIMIT ?`

	// A conversation's turns are found by the numbers in its runs.
	queryRuns = `SELECT run FROM runs
		WHERE tenant = ? AND conversation = ? AND last > ? ORDER BY last`

	queryNumbered = `SELECT ` + recordColumns + ` FROM json_each(?) j
		CROSS JOIN turns t ON t.tenant = ? AND t.seq = j.value ORDER BY j.key`
)

// A reader answers from connections that only read.
type reader struct {
	gate
	path    string
	db      *sql.DB
	queries queries
	tenants sync.Map // dag.Tenant → int64, of committed rows, which never change
}

// queries are the prepared statements of the readers.
type queries struct {
	prepared                       []*sql.Stmt // all the statements below
	tenant, tenants, head          *sql.Stmt
	turns, placed, scan            *sql.Stmt
	runs, numbered                 *sql.Stmt
	segment, segments              *sql.Stmt
	match, conversations           *sql.Stmt
	external, externalPrefix       *sql.Stmt
	entries, entriesAt             *sql.Stmt
	records, recordsAt             *sql.Stmt
	terms, termsLast, termsEntries *sql.Stmt
	log, logHashes                 *sql.Stmt
	cells                          *sql.Stmt
	snapshots, snapshotNames       *sql.Stmt
}

func prepareQueries(ctx context.Context, db *sql.DB) (q queries, err error) {
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&q.tenant, `SELECT tenant FROM tenants WHERE name = ?`},
		{&q.tenants, queryTenants},
		{&q.head, `SELECT head FROM tenants WHERE tenant = ?`},
		{&q.turns, queryTurns},
		{&q.placed, queryPlaced},
		{&q.scan, queryScan},
		{&q.runs, queryRuns},
		{&q.numbered, queryNumbered},
		{&q.segment, querySegment},
		{&q.segments, querySegments},
		{&q.match, queryMatch},
		{&q.external, queryExternal},
		{&q.externalPrefix, queryExternalPrefix},
		{&q.conversations, queryConversations},
		{&q.entries, queryEntries},
		{&q.entriesAt, queryEntriesAt},
		{&q.records, queryRecords},
		{&q.recordsAt, queryRecordsAt},
		{&q.terms, queryTerms},
		{&q.termsLast, queryTermsLast},
		{&q.termsEntries, queryTermsEntries},
		{&q.log, queryLog},
		{&q.logHashes, queryLogHashes},
		{&q.cells, queryCells},
		{&q.snapshots, querySnapshots},
		{&q.snapshotNames, querySnapshotNames},
	} {
		if *p.into, err = db.PrepareContext(ctx, p.text); err != nil {
			return q, errors.Join(err, q.close())
		}
		q.prepared = append(q.prepared, *p.into)
	}
	return q, nil
}

func (q *queries) close() error {
	err := closeAll(q.prepared)
	*q = queries{}
	return err
}

func closeAll(prepared []*sql.Stmt) error {
	var errs []error
	for _, s := range prepared {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// read runs fn with the tenant's number, unless the tenant has no data.
func (rd *reader) read(ctx context.Context, what string, tenant dag.Tenant, fn func(tenant int64) error) error {
	return rd.while(ctx, what, func() error {
		number, ok, err := rd.tenant(ctx, tenant)
		if err != nil || !ok {
			return err
		}
		return fn(number)
	})
}

// intact returns a value, or no part of it if it could not be read to its end.
func intact[T any](v T, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

// Head returns the tenant's newest sequence number.
func (rd *reader) Head(ctx context.Context, tenant dag.Tenant) (head dag.Seq, err error) {
	err = rd.read(ctx, "head", tenant, func(n int64) error {
		return rd.queries.head.QueryRowContext(ctx, n).Scan(&head)
	})
	return intact(head, err)
}

// Turns returns the records of the selected turns.
func (rd *reader) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	if places, ok := of.(store.Places); ok {
		return rd.placed(ctx, tenant, places)
	}
	ids, _ := of.(store.IDs)
	return rd.named(ctx, tenant, ids)
}

// named returns the records of turns by their ids, each once, in one query.
func (rd *reader) named(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) (records []store.Record, err error) {
	err = rd.read(ctx, "turns", tenant, func(n int64) error {
		if len(ids) == 0 {
			return nil
		}
		ids = slices.Clone(ids)
		slices.SortFunc(ids, dag.TurnID.Compare)
		ids = slices.Compact(ids)
		rows, err := rd.queries.turns.QueryContext(ctx, idList(ids), n)
		if err != nil {
			return err
		}
		records = make([]store.Record, 0, len(ids))
		return eachRecord(rows, func(r *store.Record) error {
			records = append(records, *r)
			return nil
		})
	})
	return intact(records, err)
}

// placed returns the records at places, each once, in one query with one look-up for each
// run of neighbours. A turn is found by its number alone; its conversation is compared.
func (rd *reader) placed(ctx context.Context, tenant dag.Tenant, places []store.Place) (records []store.Record, err error) {
	err = rd.read(ctx, "placed", tenant, func(n int64) error {
		if len(places) == 0 {
			return nil
		}
		places = slices.Clone(places)
		slices.SortFunc(places, comparePlaces) // neighbours share pages
		places = slices.Compact(places)
		rows, err := rd.queries.placed.QueryContext(ctx, numberRanges(places), n)
		if err != nil {
			return err
		}
		records = make([]store.Record, 0, len(places))
		return eachRecord(rows, func(r *store.Record) error {
			_, asked := slices.BinarySearchFunc(places, store.Place{Conversation: r.Turn.Conversation, Seq: r.Seq}, comparePlaces)
			if asked {
				records = append(records, *r)
			}
			return nil
		})
	})
	return intact(records, err)
}

func comparePlaces(a, b store.Place) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Conversation.Compare(b.Conversation))
}

// numberRanges returns the numbers of places, which are sorted, in the form that the statement accepts: pairs of a first and a last number. A
// slice reads many neighbours, and a step from one to the next costs half as much as a look-up. Numbers above the last possible one are left out.
func numberRanges(places []store.Place) string {
	b := make([]byte, 0, 2+16*len(places))
	b = append(b, '[')
	for i := 0; i < len(places) && places[i].Seq <= dag.MaxSeq; {
		from, to := places[i].Seq, places[i].Seq
		for i++; i < len(places) && places[i].Seq <= min(to+1, dag.MaxSeq); i++ {
			to = places[i].Seq
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = strconv.AppendUint(b, uint64(from), 10)
		b = append(b, ',')
		b = strconv.AppendUint(b, uint64(to), 10)
		b = append(b, ']')
	}
	return string(append(b, ']'))
}

// idList returns ids in the form that the statements accept: a JSON array of hex strings.
func idList(ids []dag.TurnID) string {
	b := make([]byte, 0, 2+35*len(ids))
	b = append(b, '[')
	for i := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = hex.AppendEncode(b, ids[i][:])
		b = append(b, '"')
	}
	return string(append(b, ']'))
}

// Bounds of a page of a scan. Between pages nothing is kept open: fn may take as long
// as it likes and call the store, and no old snapshot keeps the log from being emptied.
const (
	pageRecords = 256
	pageBytes   = 4 << 20

	bytesOfParent = 65 // a turn with thousands of parents has more bytes of parents than of text
)

// Scan calls fn with records by ascending number. It has at most 256 of them in memory, and fewer if they have more than 4 MiB of text.
func (rd *reader) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*store.Record) error) error {
	head, err := rd.Head(ctx, tenant)
	if err != nil {
		return err
	}
	for after < head {
		page, err := rd.page(ctx, tenant, after, head, conversation)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		for i := range page {
			if err := fn(&page[i]); err != nil {
				return err
			}
		}
		after = page[len(page)-1].Seq
	}
	return nil
}

// errPageFull ends the reading of a page.
var errPageFull = errors.New("page is full")

func (rd *reader) page(ctx context.Context, tenant dag.Tenant, after, head dag.Seq, conversation *dag.ConversationID) (page []store.Record, err error) {
	err = rd.read(ctx, "scan", tenant, func(n int64) error {
		var rows *sql.Rows
		var err error
		if conversation == nil {
			rows, err = rd.queries.scan.QueryContext(ctx, n, int64(after), int64(head), pageRecords)
		} else {
			rows, err = rd.conversationRows(ctx, n, after, head, *conversation)
		}
		if err != nil {
			return err
		}
		size := 0
		err = eachRecord(rows, func(r *store.Record) error {
			page = append(page, *r)
			if size += len(r.Body) + len(r.Parents)*bytesOfParent; size >= pageBytes {
				return errPageFull
			}
			return nil
		})
		if errors.Is(err, errPageFull) {
			return nil
		}
		return err
	})
	if err != nil && (len(page) == 0 || !errors.Is(err, store.ErrDamaged)) { // a damaged record ends the page, and is the first of the next one
		return nil, err
	}
	return page, nil
}

// conversationRows returns the next records of one conversation, by the numbers in
// its runs.
func (rd *reader) conversationRows(ctx context.Context, tenant int64, after, head dag.Seq, conversation dag.ConversationID) (*sql.Rows, error) {
	rows, err := rd.queries.runs.QueryContext(ctx, tenant, conversation[:], int64(after))
	if err != nil {
		return nil, err
	}
	numbers := []byte{'['}
	found := 0
	var run sql.RawBytes
	err = each(rows, func() error {
		return packed.EachSkeleton(run, after, func(t dag.Skeleton) error {
			if t.Seq > head || found == pageRecords {
				return errPageFull
			}
			if found > 0 {
				numbers = append(numbers, ',')
			}
			numbers = strconv.AppendUint(numbers, uint64(t.Seq), 10)
			found++
			return nil
		})
	}, &run)
	if err != nil && !errors.Is(err, errPageFull) {
		return nil, err
	}
	return rd.queries.numbered.QueryContext(ctx, string(append(numbers, ']')), tenant)
}

// each scans the rows into dest one after the other, calls fn for each, and closes them.
func each(rows *sql.Rows, fn func() error, dest ...any) (err error) {
	defer func() {
		err = errors.Join(err, rows.Close())
	}()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := fn(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// eachRecord calls fn with rows of recordColumns. fn may use the record until it returns, and may keep its Body and Parents.
func eachRecord(rows *sql.Rows, fn func(*store.Record) error) error {
	var seq int64
	var kept, salt, external, body, key sql.RawBytes
	var r store.Record
	return each(rows, func() error {
		r = store.Record{Seq: dag.Seq(seq), Key: string(key)}
		if err := packed.ReadKept(&r, kept); err != nil {
			return err
		}
		if err := packed.ReadText(&r, salt, external, body); err != nil {
			return err
		}
		return fn(&r)
	}, &seq, &kept, &salt, &external, &body, &key)
}

// tenant returns a tenant's number, from memory, or by a query the first time. It reports false if the tenant has never written anything.
func (rd *reader) tenant(ctx context.Context, name dag.Tenant) (int64, bool, error) {
	if n, ok := rd.tenants.Load(name); ok {
		return n.(int64), true, nil
	}
	var n int64
	err := rd.queries.tenant.QueryRowContext(ctx, string(name)).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	rd.tenants.Store(name, n)
	return n, true, nil
}
