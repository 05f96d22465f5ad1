package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	// All questions at once. The limit leaves the server no other way than to descend the
	// primary key for each, one after the other, and to stop: so the rows come in order.
	queryEdges = `SELECT a.n, e.* FROM unnest($2::text[], $3::boolean[], $4::integer[], $5::bytea[], $6::bigint[], $7::bigint[])
			WITH ORDINALITY a (name, incoming, doubt, statement, since, most, n)
		CROSS JOIN LATERAL (SELECT doubt, statement, since, until, valid_from, valid_until, turn, predicate, other, source FROM edges
			WHERE tenant = $1 AND name = a.name AND incoming = a.incoming AND (doubt, statement, since) > (a.doubt, a.statement, a.since)
			ORDER BY doubt, statement, since LIMIT a.most) e`

	queryAddEdges = `INSERT INTO edges (tenant, name, incoming, doubt, statement, since, until, valid_from, valid_until, turn, predicate, other, source)
		SELECT $1, * FROM unnest($2::text[], $3::boolean[], $4::integer[], $5::bytea[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
			$10::uuid[], $11::text[], $12::text[], $13::text[])`

	// What is believed of one statement as of a number, one version at most. See queryActsOf.
	queryVersionsOf = `SELECT ` + actColumns + ` FROM acts WHERE tenant = $1 AND statement = $2 AND until > $3 AND seq <= $3`

	// Versions out of their edges, which have all that is asked for in columns; of acts the
	// server cannot read a member if there is U+0000 in any. Then the acts of those of the
	// page. Every edge is of another version. A null is a filter that is not there.
	versionsIn = `WITH found AS MATERIALIZED (SELECT since FROM %s
			WHERE since <= $2 AND until > $2 AND doubt <= $3::bigint
				AND ($4::text[] IS NULL OR predicate = ANY($4))
				AND ($5::text IS NULL OR source = $5)
				AND ($6::uuid IS NULL OR coalesce(turn, '00000000-0000-0000-0000-000000000000') = $6)
				AND ($7::bigint IS NULL OR valid_from <= $7 AND (valid_until > $7 OR valid_until = ` + endless + `))%s)
		SELECT c.total, p.since, i.at, i.opened, i.until, i.leaf, i.act FROM (SELECT count(*) AS total FROM found) c
		LEFT JOIN (SELECT since FROM found WHERE since > $8 ORDER BY since LIMIT $9) p ON true
		LEFT JOIN LATERAL (SELECT at, opened, until, leaf, act FROM acts WHERE tenant = $1 AND seq = p.since OFFSET 0) i ON true
		ORDER BY p.since`

	// See queryTurns.
	edgesOfNames = `(SELECT DISTINCT unnest($10::text[]) AS asked) a
		CROSS JOIN LATERAL (SELECT * FROM edges WHERE tenant = $1 AND name = a.asked AND %s OFFSET 0) e`

	// endless is knowledge.Forever.
	endless = `253402300799999999`
)

// A finder is the query for versions by some of their names.
type finder struct {
	from, names string
	args        int
}

var (
	findAll       = finder{`(SELECT * FROM edges WHERE tenant = $1 AND NOT incoming) e`, ``, 9}
	findBySubject = finder{fmt.Sprintf(edgesOfNames, `NOT incoming`),
		` AND ($11::text[] IS NULL OR other = ANY($11)) AND ($12::text[] IS NULL OR name = ANY($12) OR other = ANY($12))`, 12}
	findByObject = finder{fmt.Sprintf(edgesOfNames, `incoming`), ` AND ($11::text[] IS NULL OR name = ANY($11) OR other = ANY($11))`, 11}
	findByEither = finder{fmt.Sprintf(edgesOfNames, `true`), ` AND (NOT incoming OR other <> ALL($10))`, 10}

	queryVersions  = findAll.text()
	queryBySubject = findBySubject.text()
	queryByObject  = findByObject.text()
	queryByEither  = findByEither.text()
)

func (f *finder) text() string { return fmt.Sprintf(versionsIn, f.from, f.names) }

// textEarlier is the query with names of earlier rules among those that text finds. Four more
// arguments are the names without these: the subjects, predicates, objects, and either. A
// version that they do not admit must be one of an act that names no rule, which are those of
// the first. In the act's JSON a quotation mark within a string has a backslash before it, so
// what is searched for is a member.
func (f *finder) textEarlier() string {
	one := func(n int, columns ...string) string {
		return fmt.Sprintf(`($%d::text[] IS NULL OR %s)`, n, strings.Join(columns, fmt.Sprintf(` = ANY($%d) OR `, n))+fmt.Sprintf(` = ANY($%d)`, n))
	}
	newest := []string{
		one(f.args+1, `CASE WHEN incoming THEN other ELSE name END`), one(f.args+2, `predicate`),
		one(f.args+3, `CASE WHEN incoming THEN name ELSE other END`), one(f.args+4, `name`, `other`),
	}
	return fmt.Sprintf(versionsIn, f.from, f.names+` AND (`+strings.Join(newest, ` AND `)+
		` OR EXISTS (SELECT FROM acts WHERE tenant = $1 AND seq = e.since AND strpos(act, ',"normalize":"') = 0))`)
}

func (t *tx) queueEdges(b *pgx.Batch, ends []packed.End) {
	for some := range slices.Chunk(ends, addedRows) {
		n := len(some)
		names, incoming, doubts, statements := make([]string, n), make([]bool, n), make([]int32, n), make([][]byte, n)
		since, until, from, before := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
		turns := make([]*[16]byte, n)
		predicates, others, sources := make([]string, n), make([]string, n), make([]string, n)
		for i := range some {
			e := &some[i]
			names[i], incoming[i], doubts[i], statements[i], since[i] = e.Name(), e.Incoming, int32(dag.One-e.Confidence), e.ID[:], int64(e.Since)
			until[i], from[i], before[i] = int64(e.Version.Until), int64(e.From), int64(e.Statement.Until)
			if e.Turn != (dag.TurnID{}) {
				turns[i] = (*[16]byte)(&e.Turn)
			}
			predicates[i], others[i], sources[i] = e.Predicate, e.Other(), e.Source
		}
		b.Queue(queryAddEdges, string(t.name), names, incoming, doubts, statements, since, until, from, before, turns, predicates, others, sources)
	}
}

// storable reports whether a text can stand in a column. Nothing has a name that cannot, and
// it must not fail the question for the others.
func storable(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// Edges answers as knowledge.Graph says, in one query.
func (s *Store) Edges(ctx context.Context, tenant dag.Tenant, asks []knowledge.Ask) (lists [][]knowledge.Edge, err error) {
	if err := store.CheckAsks(asks); err != nil {
		return nil, fmt.Errorf("postgres: edges: %w", err)
	}
	args := askArrays(tenant, asks)
	err = s.read(ctx, "edges", func(ctx context.Context, db *pgxpool.Conn) error {
		lists = make([][]knowledge.Edge, len(asks))
		if len(asks) == 0 {
			return nil
		}
		rows, err := db.Query(ctx, queryEdges, args...)
		if err != nil {
			return err
		}
		return eachEdge(rows, asks, func(n int, e *knowledge.Edge) { lists[n] = append(lists[n], *e) })
	})
	if err != nil {
		return nil, err
	}
	return lists, nil
}

// askArrays gives questions as queryEdges takes them, an array for each column.
func askArrays(tenant dag.Tenant, asks []knowledge.Ask) []any {
	n := len(asks)
	names, incoming, doubts, statements, since, most := make([]string, n), make([]bool, n), make([]int32, n), make([][]byte, n), make([]int64, n), make([]int64, n)
	for i := range asks {
		a := &asks[i]
		names[i], incoming[i], doubts[i], statements[i], most[i] = a.Name, a.Incoming, -1, []byte{}, int64(a.Limit)
		if m := &a.After; m.Since != 0 { // else before all
			doubts[i], statements[i], since[i] = int32(max(int64(dag.One)-int64(m.Confidence), -1)), m.ID[:], clipped(m.Since)
		}
		if !storable(a.Name) {
			names[i], most[i] = "", 0
		}
	}
	return []any{string(tenant), names, incoming, doubts, statements, since, most}
}

// eachEdge reads rows of queryEdges.
func eachEdge(rows pgx.Rows, asks []knowledge.Ask, fn func(n int, e *knowledge.Edge)) error {
	var n, since, until, from, before int64
	var doubt int32
	var statement pgtype.DriverBytes
	var turn pgtype.UUID
	var predicate, other, source string
	_, err := pgx.ForEachRow(rows, []any{&n, &doubt, &statement, &since, &until, &from, &before, &turn, &predicate, &other, &source}, func() error {
		a := &asks[n-1]
		e := knowledge.Edge{Incoming: a.Incoming, Version: knowledge.Version{
			Statement:  knowledge.Statement{Subject: a.Name, Predicate: predicate, Object: other, From: dag.Time(from), Until: dag.Time(before)},
			Confidence: dag.One - dag.PPM(doubt), Source: source, Turn: turn.Bytes, Since: dag.Seq(since), Until: dag.Seq(until),
		}}
		if a.Incoming {
			e.Subject, e.Object = other, a.Name
		}
		if err := packed.Fill(e.ID[:], statement, "a statement's digest"); err != nil {
			return err
		}
		fn(int(n-1), &e)
		return nil
	})
	return err
}

// Versions gives the versions that are looked for. It reads the edges of the names that it is
// given, or all of the tenant.
func (s *Store) Versions(ctx context.Context, tenant dag.Tenant, f knowledge.Find) (list []knowledge.Recorded, total int, err error) {
	err = s.read(ctx, "versions", func(ctx context.Context, db *pgxpool.Conn) (err error) {
		list, total = nil, 0
		if f.Statement != nil {
			list, total, err = versionsOf(ctx, db, tenant, &f)
			return err
		}
		query, args := findQuery(tenant, &f)
		rows, err := db.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		list, total, err = readPage(rows)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return list, total, nil
}

// readPage reads rows of queryVersions and its like.
func readPage(rows pgx.Rows) (list []knowledge.Recorded, total int, err error) {
	var since, at, opened, until, leaf pgtype.Int8
	var text pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{&total, &since, &at, &opened, &until, &leaf, &text}, func() error {
		if !since.Valid { // the page is empty
			return nil
		}
		if text == nil {
			return fmt.Errorf("number %d began a version, and is no act; the store is damaged", since.Int64)
		}
		r, err := packed.Act(since.Int64, at.Int64, opened.Int64, until.Int64, leaf.Int64, text)
		list = append(list, r)
		return err
	})
	return list, total, err
}

func versionsOf(ctx context.Context, db *pgxpool.Conn, tenant dag.Tenant, f *knowledge.Find) (list []knowledge.Recorded, total int, err error) {
	all, err := readActs(db.Query(ctx, queryVersionsOf, string(tenant), packed.DigestPrefix(*f.Statement), clipped(f.AsOf)))
	for i := range all {
		if v, ok := all[i].Version(); ok && f.Matches(&v, all[i].Act.Fact.Rule) {
			if total++; v.Since > f.After && len(list) < f.Limit {
				list = append(list, all[i])
			}
		}
	}
	return list, total, err
}

// findQuery gives the query for a Find that is of no single statement.
func findQuery(tenant dag.Tenant, f *knowledge.Find) (query string, args []any) {
	var source *string
	if f.Source != "" {
		source = &f.Source
	}
	all := func(list, earlier []string) []string {
		if len(list) == 0 {
			return nil
		}
		return nameList(append(slices.Clip(list), earlier...))
	}
	subjects, objects, either := all(f.Subjects, f.Earlier.Subjects), all(f.Objects, f.Earlier.Objects), all(f.Either, f.Earlier.Either)
	args = []any{string(tenant), clipped(f.AsOf), int64(dag.One) - int64(f.MinConfidence), all(f.Predicates, f.Earlier.Predicates), source,
		(*[16]byte)(f.Turn), (*int64)(f.ValidAt), clipped(f.After), max(f.Limit, 0)}
	by := &findAll
	switch {
	case len(f.Subjects) > 0:
		by, args = &findBySubject, append(args, subjects, objects, either)
	case len(f.Objects) > 0:
		by, args = &findByObject, append(args, objects, either)
	case len(f.Either) > 0:
		by, args = &findByEither, append(args, either)
	}
	if f.Earlier.Any() {
		return by.textEarlier(), append(args, nameList(f.Subjects), nameList(f.Predicates), nameList(f.Objects), nameList(f.Either))
	}
	return by.text(), args
}

// nameList gives those of the names that a column can hold; nil is null, where any will do.
func nameList(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !storable(name) })
}
