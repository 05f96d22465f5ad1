package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	actColumns = `seq, at, act, leaf, opened, until`

	queryActs = `SELECT ` + actColumns + ` FROM acts WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?`

	queryActsAt = `SELECT a.seq, a.at, a.act, a.leaf, a.opened, a.until FROM json_each(?) j CROSS JOIN acts a ON a.tenant = ? AND a.seq = j.value ORDER BY a.seq`

	// The index has the numbers, in another order: they are sorted out of it, and only the
	// acts of the page are read.
	queryActsOf = `SELECT ` + actColumns + ` FROM acts WHERE tenant = ?1 AND seq IN (SELECT seq FROM acts INDEXED BY acts_by_statement
		WHERE tenant = ?1 AND statement = ?2 AND seq > ?3 AND seq <= ?5 ORDER BY seq LIMIT ?4) ORDER BY seq`

	queryAliases = `SELECT ` + actColumns + ` FROM acts INDEXED BY acts_by_statement WHERE tenant = ? AND statement IS NULL AND seq > ?`

	// What is believed of statements.
	queryBelieved = `SELECT a.seq, a.at, a.act, a.leaf, a.opened, a.until FROM json_each(?) j
		CROSS JOIN acts a INDEXED BY acts_by_statement ON a.tenant = ? AND a.statement = j.value AND a.until = ` + forever
	// The assertions with these leaves that count for what is believed of their statements, but
	// for those that queryBelieved gives. First those that began no version: the index leads
	// straight to them, however many there are. Then those that began one which a surer one
	// ended: they are found by its end, and are as many as the confidence rose in this belief.
	queryAsserted = `SELECT a.seq, a.at, a.act, a.leaf, a.opened, a.until FROM json_each(?1) j
		CROSS JOIN acts b INDEXED BY acts_by_statement ON b.tenant = ?2 AND b.statement = j.value ->> 0 AND b.until = ` + forever + `
		CROSS JOIN acts a INDEXED BY acts_by_statement ON a.tenant = ?2 AND a.statement = b.statement AND a.until = 0 AND a.leaf = j.value ->> 1 AND a.seq >= b.opened
		UNION ALL SELECT a.seq, a.at, a.act, a.leaf, a.opened, a.until FROM json_each(?1) j
		CROSS JOIN acts b INDEXED BY acts_by_statement ON b.tenant = ?2 AND b.statement = j.value ->> 0 AND b.until = ` + forever + `
		CROSS JOIN acts i INDEXED BY acts_by_statement ON i.tenant = ?2 AND i.statement = b.statement AND i.until > b.opened AND i.until < ` + forever + ` AND i.leaf = j.value ->> 1
		CROSS JOIN acts a ON a.tenant = ?2 AND a.seq = i.seq`

	queryEdges = `SELECT doubt, statement, since, until, predicate, other, valid_from, valid_until, source, turn FROM edges
		WHERE tenant = ? AND name = ? AND incoming = ? AND (doubt, statement, since) > (?, ?, ?) ORDER BY doubt, statement, since LIMIT ?`

	// forever is dag.MaxSeq: a version that counts still.
	forever = `9007199254740991`
)

// PutActs records acts of knowledge.
func (s *Store) PutActs(ctx context.Context, tenant dag.Tenant, acts []knowledge.Act, at dag.Time) ([]knowledge.Outcome, error) {
	prepared, err := store.PrepareActs(acts, at)
	if err != nil {
		return nil, fmt.Errorf("sqlite: put acts: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("sqlite: put acts: %w", err)
	}
	defer s.gate.RUnlock()
	var outcomes []knowledge.Outcome
	err = s.write(ctx, tenant, func(t *tx) error {
		planned, err := t.learn(prepared, at)
		if err != nil {
			return err
		}
		if outcomes = planned.Outcomes; len(planned.Recorded) == 0 {
			return nil
		}
		return t.exec("head", t.writer.head, int64(planned.Head), t.tenant)
	})
	if err != nil {
		return nil, fmt.Errorf("sqlite: put acts: %w", err)
	}
	return outcomes, nil
}

// learn plans acts and writes all but the head.
func (t *tx) learn(p *knowledge.Prepared, at dag.Time) (*knowledge.Planned, error) {
	recalled, err := t.recall(p)
	if err != nil {
		return nil, err
	}
	planned, err := p.Plan(recalled.Known, at)
	if err != nil || len(planned.Recorded) == 0 {
		return planned, err
	}
	if err := t.own(); err != nil {
		return nil, err
	}
	ended, err := recalled.Ended(planned.Ended)
	if err != nil {
		return nil, err
	}
	if err := t.endVersions(ended); err != nil {
		return nil, err
	}
	var ends []packed.End
	var sorting sync.WaitGroup
	sorting.Go(func() { ends = packed.Ends(packed.Began(p, planned)) }) // while acts are inserted
	err = t.insert("acts", &t.acts, len(planned.Recorded), func(args []any, i int) []any {
		r, which := &planned.Recorded[i], planned.Which[i]
		var statement any
		if id, ok := p.About(which); ok {
			statement = packed.DigestPrefix(id)
		}
		return append(args, t.tenant, int64(r.Seq), int64(r.At), string(p.Text(which)), statement, packed.DigestPrefix(r.Leaf), int64(planned.Opened[i]), int64(r.Until))
	})
	sorting.Wait()
	if err != nil {
		return nil, err
	}
	return planned, t.insertEdges(ends)
}

// recall reads what planning acts asks for.
func (t *tx) recall(p *knowledge.Prepared) (*packed.Recall, error) {
	r := packed.NewRecall(p, t.head)
	if t.tenant == 0 {
		return r, nil
	}
	touched := make([]int64, 0, len(p.Touched()))
	for _, id := range p.Touched() {
		touched = append(touched, packed.DigestPrefix(id))
	}
	slices.Sort(touched)
	for some := range slices.Chunk(slices.Compact(touched), lookupIDs) {
		list := make([]string, len(some))
		for i, n := range some {
			list[i] = strconv.FormatInt(n, 10)
		}
		if err := t.eachAct(t.believed, r, "["+strings.Join(list, ",")+"]"); err != nil {
			return nil, err
		}
	}
	var pairs []string
	for id, leaf := range p.Asserted {
		if _, ok := r.Believed[id]; ok { // else no assertion of it counts
			pairs = append(pairs, fmt.Sprintf("[%d,%d]", packed.DigestPrefix(id), packed.DigestPrefix(leaf)))
		}
	}
	for some := range slices.Chunk(pairs, lookupIDs) {
		if err := t.eachAct(t.asserted, r, "["+strings.Join(some, ",")+"]"); err != nil {
			return nil, err
		}
	}
	if !p.Aliases() {
		return r, nil
	}
	rows, err := t.aliasActs.QueryContext(t.ctx, t.tenant, 0)
	acts, err := readActs(rows, err)
	if err != nil {
		return nil, err
	}
	sortActs(acts)
	r.Known.Aliases, err = knowledge.AliasesOf(nil, acts, dag.MaxSeq)
	return r, err
}

func (t *tx) eachAct(s *sql.Stmt, r *packed.Recall, list string) error {
	rows, err := s.QueryContext(t.ctx, list, t.tenant)
	if err == nil {
		err = eachAct(rows, r.Add)
	}
	if err != nil {
		return err
	}
	return t.ended()
}

// endVersions ends versions that are stored, in their acts and at both ends.
func (t *tx) endVersions(list []knowledge.Version) error {
	if len(list) == 0 {
		return nil
	}
	if err := t.begin("endings"); err != nil {
		return err
	}
	for i := range list {
		if _, err := t.endAct.ExecContext(t.ctx, int64(list[i].Until), t.tenant, int64(list[i].Since)); err != nil {
			return err
		}
	}
	for _, e := range packed.Ends(list) {
		if _, err := t.endEdge.ExecContext(t.ctx, int64(e.Version.Until), t.tenant, e.Name(), e.Incoming, int64(dag.One-e.Confidence), e.ID[:], int64(e.Since)); err != nil {
			return err
		}
		if err := t.ended(); err != nil {
			return err
		}
	}
	return nil
}

// insertEdges inserts ends in the order of the table: a page that takes several is changed
// once.
func (t *tx) insertEdges(ends []packed.End) error {
	return t.insert("edges", &t.edges, len(ends), func(args []any, i int) []any {
		e := &ends[i]
		var turn []byte
		if e.Turn != (dag.TurnID{}) {
			turn = e.Turn[:]
		}
		return append(args, t.tenant, e.Name(), e.Incoming, int64(dag.One-e.Confidence), e.ID[:], int64(e.Since), int64(e.Version.Until), e.Predicate, e.Other(),
			int64(e.From), int64(e.Statement.Until), e.Source, turn)
	})
}

// Acts gives acts by ascending number.
func (s *Store) Acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	return s.readActs(ctx, "acts", tenant, func(n int64) (*sql.Rows, error) {
		return s.queries.acts.QueryContext(ctx, n, clipped(after), max(limit, 0))
	})
}

// ActsAt gives the acts of some numbers.
func (s *Store) ActsAt(ctx context.Context, tenant dag.Tenant, seqs []dag.Seq) ([]knowledge.Recorded, error) {
	list := []byte{'['}
	for i, seq := range slices.Compact(slices.Sorted(slices.Values(seqs))) {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, clipped(seq), 10)
	}
	list = append(list, ']')
	return s.readActs(ctx, "acts", tenant, func(n int64) (*sql.Rows, error) { return s.queries.actsAt.QueryContext(ctx, string(list), n) })
}

// clipped is a number that a statement can take; nothing is above dag.MaxSeq.
func clipped(seq dag.Seq) int64 { return int64(min(seq, dag.MaxSeq)) }

// ActsOf gives the acts about a statement. Where others' digests begin like its own it asks
// again, until it has enough of them.
func (s *Store) ActsOf(ctx context.Context, tenant dag.Tenant, id knowledge.ID, after dag.Seq, limit int) (list []knowledge.Recorded, err error) {
	for {
		lacking := max(limit-len(list), 0)
		page, err := s.readActs(ctx, "acts of a statement", tenant, func(n int64) (*sql.Rows, error) {
			return s.queries.actsOf.QueryContext(ctx, n, packed.DigestPrefix(id), clipped(after), lacking, clipped(dag.MaxSeq))
		})
		if err != nil {
			return nil, err
		}
		for i := range page {
			if own, ok := page[i].Act.About(); ok && own == id {
				list = append(list, page[i])
			}
			after = page[i].Seq
		}
		if len(page) < lacking || len(list) >= limit {
			return list, nil
		}
	}
}

// ActsIn gives the acts of spans, with a look-up for each.
func (s *Store) ActsIn(ctx context.Context, tenant dag.Tenant, spans []knowledge.Span) ([][]knowledge.Recorded, error) {
	if err := store.CheckSpans(spans); err != nil {
		return nil, fmt.Errorf("sqlite: acts of statements: %w", err)
	}
	lists := make([][]knowledge.Recorded, len(spans))
	err := s.read(ctx, "acts of statements", tenant, func(n int64) error {
		for i := range spans {
			span := &spans[i]
			list, err := readActs(s.queries.actsOf.QueryContext(ctx, n, packed.DigestPrefix(span.Statement), clipped(span.After), -1, clipped(span.UpTo)))
			if err != nil {
				return err
			}
			lists[i] = packed.About(list, span.Statement)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lists, nil
}

// Aliases gives the acts about aliases.
func (s *Store) Aliases(ctx context.Context, tenant dag.Tenant, after dag.Seq) ([]knowledge.Recorded, error) {
	list, err := s.readActs(ctx, "aliases", tenant, func(n int64) (*sql.Rows, error) { return s.queries.aliases.QueryContext(ctx, n, clipped(after)) })
	sortActs(list)
	return list, err
}

// sortActs sorts by number: an index by statement has other orders.
func sortActs(list []knowledge.Recorded) {
	slices.SortFunc(list, func(a, b knowledge.Recorded) int { return cmp.Compare(a.Seq, b.Seq) })
}

func (s *Store) readActs(ctx context.Context, what string, tenant dag.Tenant, query func(tenant int64) (*sql.Rows, error)) (list []knowledge.Recorded, err error) {
	err = s.read(ctx, what, tenant, func(n int64) (err error) {
		list, err = readActs(query(n))
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func readActs(rows *sql.Rows, err error) (list []knowledge.Recorded, _ error) {
	if err != nil {
		return nil, err
	}
	err = eachAct(rows, func(r *knowledge.Recorded) { list = append(list, *r) })
	return list, err
}

// eachAct reads rows of actColumns, and closes them.
func eachAct(rows *sql.Rows, fn func(r *knowledge.Recorded)) error {
	var seq, at, leaf, opened, until int64
	var text sql.RawBytes
	return each(rows, func() error {
		r, err := packed.Act(seq, at, opened, until, leaf, text)
		if err == nil {
			fn(&r)
		}
		return err
	}, &seq, &at, &text, &leaf, &opened, &until)
}

// Edges answers as knowledge.Graph says, with a look-up for each question.
func (s *Store) Edges(ctx context.Context, tenant dag.Tenant, asks []knowledge.Ask) (lists [][]knowledge.Edge, err error) {
	if err := store.CheckAsks(asks); err != nil {
		return nil, fmt.Errorf("sqlite: edges: %w", err)
	}
	lists = make([][]knowledge.Edge, len(asks))
	err = s.read(ctx, "edges", tenant, func(n int64) (err error) {
		for i := range asks {
			if lists[i], err = s.edges(ctx, n, &asks[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lists, nil
}

func (s *Store) edges(ctx context.Context, tenant int64, a *knowledge.Ask) (list []knowledge.Edge, err error) {
	doubt, after := int64(dag.One-a.After.Confidence), a.After.ID[:]
	if a.After.Since == 0 {
		doubt, after = -1, nil
	}
	rows, err := s.queries.edges.QueryContext(ctx, tenant, a.Name, a.Incoming, doubt, append([]byte{}, after...), clipped(a.After.Since), a.Limit)
	if err != nil {
		return nil, err
	}
	var since, until, from, before int64
	var statement, turn sql.RawBytes
	var predicate, other, source string
	err = each(rows, func() error {
		e := knowledge.Edge{Incoming: a.Incoming, Version: knowledge.Version{
			Statement:  knowledge.Statement{Subject: a.Name, Predicate: predicate, Object: other, From: dag.Time(from), Until: dag.Time(before)},
			Confidence: dag.One - dag.PPM(doubt), Source: source, Since: dag.Seq(since), Until: dag.Seq(until),
		}}
		if a.Incoming {
			e.Subject, e.Object = other, a.Name
		}
		if err := packed.Fill(e.ID[:], statement, "a statement's digest"); err != nil {
			return err
		}
		if turn != nil {
			if err := packed.Fill(e.Turn[:], turn, "a turn's id"); err != nil {
				return err
			}
		}
		list = append(list, e)
		return nil
	}, &doubt, &statement, &since, &until, &predicate, &other, &from, &before, &source, &turn)
	return list, err
}

// Versions gives the versions that are looked for. It walks the acts, or the edges of the
// names that it is given.
func (s *Store) Versions(ctx context.Context, tenant dag.Tenant, f knowledge.Find) (list []knowledge.Recorded, total int, err error) {
	where, args := findClause(&f)
	err = s.read(ctx, "versions", tenant, func(n int64) (err error) {
		args = append([]any{n}, args...)
		const from = ` FROM acts WHERE tenant = ?1 AND `
		if err := s.readers.QueryRowContext(ctx, `SELECT count(*)`+from+where, args...).Scan(&total); err != nil {
			return err
		}
		rows, err := s.readers.QueryContext(ctx, `SELECT `+actColumns+from+where+` AND seq > `+strconv.FormatInt(clipped(f.After), 10)+
			` ORDER BY seq LIMIT `+strconv.Itoa(max(f.Limit, 0)), args...)
		list, err = readActs(rows, err)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return list, total, nil
}

// findClause writes a Find as a condition on acts; its arguments begin with number 2.
func findClause(f *knowledge.Find) (string, []any) {
	var args []any
	arg := func(v any) string {
		args = append(args, v)
		return "?" + strconv.Itoa(1+len(args))
	}
	asOf := arg(clipped(f.AsOf))
	all := []string{`until > ` + asOf, `seq <= ` + asOf}
	add := func(text string) { all = append(all, text) }
	names := func(list []string) string { return `(SELECT value FROM json_each(` + arg(packed.NameList(list)) + `))` }
	// either adds a condition on names, and as another way the same condition on names of
	// earlier rules. An act of the first rule does not name it.
	either := func(list, earlier []string, condition func(list []string) string) {
		switch {
		case len(list) == 0:
		case len(earlier) == 0:
			add(condition(list))
		default:
			add(`(` + condition(list) + ` OR act ->> '$.normalize' IS NULL AND ` + condition(earlier) + `)`)
		}
	}
	end := func(which string) func(list []string) string {
		return func(list []string) string {
			return `seq IN (SELECT since FROM edges WHERE tenant = ?1 AND name IN ` + names(list) + ` AND incoming ` + which + `)`
		}
	}
	either(f.Subjects, f.Earlier.Subjects, end(`= 0`))
	either(f.Objects, f.Earlier.Objects, end(`= 1`))
	either(f.Either, f.Earlier.Either, end(`IN (0, 1)`))
	either(f.Predicates, f.Earlier.Predicates, func(list []string) string { return `act ->> '$.predicate' IN ` + names(list) })
	if f.MinConfidence > 0 {
		add(`CAST(round((act ->> '$.confidence') * 1000000) AS INTEGER) >= ` + arg(int64(f.MinConfidence)))
	}
	if f.ValidAt != nil {
		at := arg(f.ValidAt.String())
		add(`coalesce(act ->> '$.valid_from', '') <= ` + at + ` AND coalesce(act ->> '$.valid_until', '~') > ` + at)
	}
	if f.Source != "" {
		add(`act ->> '$.source' = ` + arg(f.Source))
	}
	if f.Turn != nil && *f.Turn == (dag.TurnID{}) {
		add(`act ->> '$.turn' IS NULL`)
	} else if f.Turn != nil {
		add(`act ->> '$.turn' = ` + arg(f.Turn.String()))
	}
	if f.Statement != nil {
		add(`statement = ` + arg(packed.DigestPrefix(*f.Statement)) + ` AND seq IN (SELECT since FROM edges WHERE tenant = ?1 AND name = acts.act ->> '$.subject' AND incoming = 0
			AND doubt = 1000000 - CAST(round((acts.act ->> '$.confidence') * 1000000) AS INTEGER) AND statement = ` + `unhex(` + arg(hex.EncodeToString(f.Statement[:])) + `))`)
	}
	return strings.Join(all, ` AND `), args
}
