package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	entryColumns = `e.seq, e.kind, e.at, e.leaf, e.public, e.detail, e.private, e.part, e.parts`

	queryEntries = `SELECT ` + entryColumns + ` FROM entries e WHERE e.tenant = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`

	queryEntriesAt = `SELECT ` + entryColumns + ` FROM json_each(?) j CROSS JOIN entries e ON e.tenant = ? AND e.seq = j.value ORDER BY e.seq`

	recordedColumns = `r.n + 1, r.kind, 0, 0, r.leaf, r.detail, r.private, 0, 0`

	queryRecords = `SELECT ` + recordedColumns + ` FROM records r WHERE r.tenant = ? AND r.n >= ? ORDER BY r.n LIMIT ?`

	queryRecordsAt = `SELECT ` + recordedColumns + ` FROM json_each(?) j CROSS JOIN records r ON r.tenant = ? AND r.n = j.value - 1 ORDER BY r.n`

	queryTerms = `SELECT t.indx, t.key, t.since, t.until, t.value FROM terms t` + termsIn + `t.key, t.since` + termsLimit

	queryTermsLast = `SELECT t.indx, t.key, t.since, t.until, t.value FROM terms t` + termsIn + `t.key DESC, t.since DESC` + termsLimit

	queryTermsEntries = `SELECT t.indx, t.key, t.since, t.until, t.value, coalesce(e.kind, ''), coalesce(e.at, 0), coalesce(e.leaf, 0), e.public, e.detail, e.private, coalesce(e.part, 0), coalesce(e.parts, 0)
		FROM terms t LEFT JOIN entries e ON e.tenant = ?1 AND e.seq = t.since` + termsIn + `t.key, t.since` + termsLimit

	termsIn = `
		WHERE t.tenant = ?1 AND t.indx = ?2 AND (t.key, t.since) > (?3, ?4) AND t.key < ?5 AND (?6 = 0 OR t.since <= ?6 AND t.until > ?6) ORDER BY `

	// SQLite plans a statement again whenever a limit that is a bare parameter changes, which takes as long as running the statement.
	termsLimit = ` LIMIT ?7 + 0`

	// The keys all have the same length and are concatenated; the list has one element for each. For an empty key substr returns NULL.
	queryNewest = `SELECT t.indx, t.key, t.since, t.until, t.value FROM json_each(?1) j CROSS JOIN terms t
		ON t.tenant = ?2 AND t.indx = ?3 AND t.key = coalesce(substr(?4, j.key * ?5 + 1, ?5), x'')
		AND t.since = (SELECT max(n.since) FROM terms n WHERE n.tenant = ?2 AND n.indx = ?3 AND n.key = coalesce(substr(?4, j.key * ?5 + 1, ?5), x''))`

	queryForget = `UPDATE entries SET private = NULL WHERE tenant = ? AND seq = ?`

	queryForgetRecord = `UPDATE records SET private = NULL WHERE tenant = ? AND n = ? - 1`

	queryTakeTerm = `DELETE FROM terms WHERE tenant = ? AND indx = ? AND key = ? AND since = ?`

	queryEndTerm = `UPDATE terms SET until = ?1 WHERE tenant = ?2 AND indx = ?3 AND key = ?4 AND since = ?5 AND until > ?1`
)

// Write carries out the plan of a change. If the plan erases, the log is emptied, so repeating an erasure that was cut short completes it.
func (s *Store) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	return s.while(ctx, "write", func() error {
		erases := false
		err := s.write(ctx, tenant, func(t *tx) error {
			var tree ledger.Tree
			p, err := t.plan(c, &tree)
			if err != nil {
				return err
			}
			erases = p.Erases
			if p.Empty() {
				return nil
			}
			if err := t.own(); err != nil {
				return err
			}
			if err := t.carryOut(p, tree); err != nil || len(p.Entries) == 0 {
				return err // adding to the record alone does not move the head
			}
			if err := t.exec("head", t.writer.head, int64(p.Head(t.head)), t.tenant); err != nil {
				return err
			}
			return t.moveReady(p.Entries[len(p.Entries)-1].Seq)
		})
		if err == nil && erases {
			err = errors.Join(s.emptyLog(ctx), s.ready(tenant).Drop())
		}
		return err
	})
}

// plan reads the entries and terms that a change needs, and returns its plan. It sets tree to the ledger's right edge, if the change asked for its size.
func (t *tx) plan(c history.Change, tree *ledger.Tree) (*history.Plan, error) {
	known, err := history.Know(c, t.name, t.head, func(n *history.Needs, k *history.State) error { return t.answer(n, k, tree) })
	if err != nil {
		return nil, err
	}
	p, err := history.PlanOf(c, known)
	if err != nil {
		return nil, err
	}
	return p, p.Check(t.head, dag.Seq(tree.Size()))
}

// carryOut carries out a plan, except moving the head.
func (t *tx) carryOut(p *history.Plan, tree ledger.Tree) error {
	var sorting sync.WaitGroup
	sorting.Go(p.Sort) // while entries are inserted
	err := t.insert("entries", &t.entries, len(p.Entries), func(args []any, i int) []any {
		e := &p.Entries[i]
		return append(args, t.tenant, int64(e.Seq), string(e.Kind), int64(e.At), packed.DigestPrefix(e.Leaf()), e.Public, e.Detail, e.Private, int64(e.Part), int64(e.Parts))
	})
	sorting.Wait()
	if err != nil {
		return err
	}
	if err := t.endTerms(p.End); err != nil {
		return err
	}
	if err := t.eraseTurns(p.Bodies); err != nil {
		return err
	}
	if err := t.forget(p); err != nil {
		return err
	}
	if err := t.snap(p.Snapshots); err != nil {
		return err
	}
	err = t.insert("terms", &t.terms, len(p.Begin), func(args []any, i int) []any {
		b := &p.Begin[i]
		return append(args, t.tenant, int64(b.Index), packed.Blob(b.Key), int64(b.Since), int64(b.Until), packed.Blob(b.Value))
	})
	if err == nil {
		err = t.addRecords(tree, p.Records)
	}
	return err
}

// forget removes private halves.
func (t *tx) forget(p *history.Plan) error {
	if len(p.Forget)+len(p.ForgetRecords) == 0 {
		return nil
	}
	if err := t.begin("private halves"); err != nil {
		return err
	}
	for _, of := range []struct {
		statement *sql.Stmt
		seqs      []dag.Seq
	}{{t.writer.forget, p.Forget}, {t.forgetRecord, p.ForgetRecords}} {
		for _, seq := range of.seqs {
			if _, err := of.statement.ExecContext(t.ctx, t.tenant, int64(seq)); err != nil {
				return err
			}
			if err := t.ended(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tx) endTerms(list []history.Ending) error {
	if len(list) == 0 {
		return nil
	}
	if err := t.begin("endings"); err != nil {
		return err
	}
	for i := range list {
		e := &list[i]
		statement, args := t.endTerm, []any{int64(e.Until), t.tenant, int64(e.Index), packed.Blob(e.Key), int64(e.Since)}
		if e.Until == 0 {
			statement, args = t.takeTerm, args[1:]
		}
		result, err := statement.ExecContext(t.ctx, args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			return errors.Join(err, fmt.Errorf("%w: a term of index %d that began with number %d should end but is missing", history.ErrDamaged, e.Index, e.Since))
		}
		if err := t.ended(); err != nil {
			return err
		}
	}
	return nil
}

// answer reads the entries and terms that a change needs, and the ledger's right edge if the change asks for its size.
func (t *tx) answer(n *history.Needs, k *history.State, tree *ledger.Tree) (err error) {
	if t.tenant == 0 {
		k.Ranges = append(k.Ranges, make([][]history.Term, len(n.Ranges))...)
		return nil
	}
	if n.Size {
		if *tree, err = t.tree(); err != nil {
			return err
		}
		k.Size = dag.Seq(tree.Size())
	}
	if err := t.admitted(n.Turns, k); err != nil {
		return err
	}
	if err := t.snapshots(n.Snapshots, k); err != nil {
		return err
	}
	if err := t.readNewest(n.Newest, k.AddNewest); err != nil {
		return err
	}
	query := t.termsIn
	if len(n.Ranges) > 0 && n.Ranges[0].Last {
		query = t.termsLast
	}
	lists, err := readRanges(t.ctx, query, t.tenant, n.Ranges)
	if err != nil {
		return err
	}
	k.Ranges = append(k.Ranges, lists...)
	for _, of := range []struct {
		stream history.Stream
		query  *sql.Stmt
		seqs   []dag.Seq
	}{{history.Known, t.entriesAt, n.Entries}, {history.Record, t.recordsAt, n.Records}} {
		if len(of.seqs) == 0 {
			continue
		}
		rows, err := of.query.QueryContext(t.ctx, numberList(of.seqs), t.tenant)
		list, err := readEntries(of.stream, rows, err)
		if err != nil {
			return err
		}
		k.AddEntries(of.stream, list)
	}
	return nil
}

func (t *tx) readNewest(keys []history.Key, fn func(history.Term)) error {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b history.Key) int { // in the order of the table, with the keys of one length together
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(len(a.Key), len(b.Key)), strings.Compare(a.Key, b.Key))
	})
	for all := []byte(nil); len(keys) > 0; {
		first, n := &keys[0], 0
		all = all[:0]
		for ; n < min(len(keys), lookupIDs) && keys[n].Index == first.Index && len(keys[n].Key) == len(first.Key); n++ {
			all = append(all, keys[n].Key...)
		}
		rows, err := t.newest.QueryContext(t.ctx, "["+strings.Repeat("0,", n-1)+"0]", t.tenant, int64(first.Index), packed.Blob(all), len(first.Key))
		if err := eachTerm(rows, err, false, fn); err != nil {
			return err
		}
		if err := t.ended(); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// Entries returns the entries of a page, by ascending number.
func (rd *reader) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) (list []history.Entry, err error) {
	err = rd.read(ctx, "entries", tenant, func(n int64) error {
		var rows *sql.Rows
		after, at := rd.queries.entries, rd.queries.entriesAt
		if p.Stream == history.Record {
			after, at = rd.queries.records, rd.queries.recordsAt
		}
		if p.At != nil {
			rows, err = at.QueryContext(ctx, numberList(p.At), n)
		} else {
			rows, err = after.QueryContext(ctx, n, clipped(p.After), max(p.Limit, 0))
		}
		list, err = readEntries(p.Stream, rows, err)
		return err
	})
	return intact(list, err)
}

// Terms returns the terms of each range, with a look-up for each.
func (rd *reader) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) (lists [][]history.Term, err error) {
	if err := history.CheckRanges(ranges); err != nil {
		return nil, failed("terms", err)
	}
	lists = make([][]history.Term, len(ranges))
	err = rd.read(ctx, "terms", tenant, func(n int64) error {
		query := rd.queries.terms
		switch {
		case len(ranges) == 0:
		case ranges[0].Last:
			query = rd.queries.termsLast
		case ranges[0].Entries:
			query = rd.queries.termsEntries
		}
		lists, err = readRanges(ctx, query, n, ranges)
		return err
	})
	return intact(lists, err)
}

func readRanges(ctx context.Context, query *sql.Stmt, tenant int64, ranges []history.Range) ([][]history.Term, error) {
	lists := make([][]history.Term, len(ranges))
	for i := range ranges {
		r := &ranges[i]
		lower, limit := r.Lower(), r.Limit
		if limit == 0 {
			limit = -1
		}
		rows, err := query.QueryContext(ctx, tenant, int64(r.Index), packed.Blob(lower.Key), clipped(lower.Since), r.Upper(), clipped(r.AsOf), limit)
		if err := eachTerm(rows, err, r.Entries, func(t history.Term) { lists[i] = append(lists[i], t) }); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// eachTerm calls fn with terms, each with its entry if the query has entries.
func eachTerm(rows *sql.Rows, err error, entries bool, fn func(history.Term)) error {
	if err != nil {
		return err
	}
	var index, since, until int64
	var key, value sql.RawBytes
	var e entryRow
	columns := []any{&index, &key, &since, &until, &value}
	if entries {
		columns = append(columns, &e.Kind, &e.At, &e.Leaf, &e.Public, &e.Detail, &e.Private, &e.Part, &e.Parts)
	}
	return each(rows, func() error {
		// One allocation for both.
		both := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
		t := history.Term{
			Index: history.Index(index), Since: dag.Seq(since), Until: dag.Seq(until),
			Key: both[:len(key):len(key)], Value: both[len(key):],
		}
		if entries {
			e.Seq = since
			if t.Entry, err = e.Checked(); err != nil {
				return err
			}
		}
		fn(t)
		return nil
	}, columns...)
}

type entryRow = packed.Row[sql.RawBytes]

func readEntries(of history.Stream, rows *sql.Rows, err error) (list []history.Entry, _ error) {
	if err != nil {
		return nil, err
	}
	var r entryRow
	err = each(rows, func() error {
		list = append(list, r.Entry())
		if of == history.Record { // the ledger's hashes show whether the leaf has changed
			return nil
		}
		return packed.CheckLeaf(&list[len(list)-1], r.Leaf)
	}, &r.Seq, &r.Kind, &r.At, &r.Leaf, &r.Public, &r.Detail, &r.Private, &r.Part, &r.Parts)
	return list, err
}

// clipped returns a number in the type of a statement's argument; no number is above dag.MaxSeq.
func clipped(seq dag.Seq) int64 { return int64(min(seq, dag.MaxSeq)) }

// numberList returns numbers in the form that a statement accepts: a JSON array without duplicates.
func numberList(seqs []dag.Seq) string {
	list := []byte{'['}
	for i, seq := range slices.Compact(slices.Sorted(slices.Values(seqs))) {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, clipped(seq), 10)
	}
	return string(append(list, ']'))
}
