package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	actColumns = `seq, at, opened, until, leaf, act`

	queryActs = `SELECT ` + actColumns + ` FROM acts WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3`

	queryActsAt = `SELECT ` + actColumns + ` FROM acts WHERE tenant = $1 AND seq = ANY($2::bigint[]) ORDER BY seq`

	// OFFSET 0 keeps the planner from walking all acts in their order until enough of them
	// are of the statement.
	queryActsOf = `SELECT * FROM (SELECT ` + actColumns + ` FROM acts WHERE tenant = $1 AND statement = $2 AND seq > $3 OFFSET 0) a
		ORDER BY seq LIMIT $4`

	// All spans at once.
	queryActsIn = `SELECT a.n, i.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY a (statement, after, up_to, n)
		CROSS JOIN LATERAL (SELECT ` + actColumns + ` FROM acts WHERE tenant = $1 AND statement = a.statement AND seq > a.after AND seq <= a.up_to OFFSET 0) i
		ORDER BY a.n, i.seq`

	queryAliases = `SELECT ` + actColumns + ` FROM acts WHERE tenant = $1 AND statement IS NULL AND seq > $2 ORDER BY seq`

	// forever is dag.MaxSeq: a version that counts still.
	forever = `9007199254740991`

	// What is believed of statements.
	queryBelieved = `SELECT i.* FROM (SELECT DISTINCT unnest($2::bigint[]) AS statement) a
		CROSS JOIN LATERAL (SELECT ` + actColumns + ` FROM acts WHERE tenant = $1 AND statement = a.statement AND until = ` + forever + ` OFFSET 0) i`

	// The assertions with these leaves that count for what is believed of their statements,
	// but for those that queryBelieved gives.
	queryAsserted = `SELECT i.* FROM (SELECT DISTINCT * FROM unnest($2::bigint[], $3::bigint[])) a (statement, leaf)
		CROSS JOIN LATERAL (SELECT opened FROM acts WHERE tenant = $1 AND statement = a.statement AND until = ` + forever + ` OFFSET 0) b
		CROSS JOIN LATERAL (SELECT ` + actColumns + ` FROM acts
			WHERE tenant = $1 AND statement = a.statement AND leaf = a.leaf AND seq >= b.opened AND until <> ` + forever + ` OFFSET 0) i`

	queryAddActs = `INSERT INTO acts (tenant, seq, at, opened, until, statement, leaf, act)
		SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[])`

	// For one, though many may end at once: a join with a list leaves the planner a choice.
	queryEndAct  = `UPDATE acts SET until = $3 WHERE tenant = $1 AND seq = $2`
	queryEndEdge = `UPDATE edges SET until = $7
		WHERE tenant = $1 AND name = $2 AND incoming = $3 AND doubt = $4 AND statement = $5 AND since = $6`
)

// PutActs records acts of knowledge. Hashing is done before the tenant's row is locked; then
// there are four round trips, however many acts there are, and two more where partitions lie
// on other servers.
func (s *Store) PutActs(ctx context.Context, tenant dag.Tenant, acts []knowledge.Act, at dag.Time) ([]knowledge.Outcome, error) {
	prepared, err := store.PrepareActs(acts, at)
	if err != nil {
		return nil, fmt.Errorf("postgres: put acts: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("postgres: put acts: %w", err)
	}
	defer s.gate.RUnlock()
	var outcomes []knowledge.Outcome
	err = s.write(ctx, tenant, func(t *tx) error {
		if t.mine { // all was recorded, only the answer was lost: outcomes holds it
			return nil
		}
		planned, err := t.putActs(prepared, at)
		if err == nil {
			outcomes = planned.Outcomes
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: put acts: %w", err)
	}
	return outcomes, nil
}

func (t *tx) putActs(p *knowledge.Prepared, at dag.Time) (*knowledge.Planned, error) {
	recalled, err := t.recall(p)
	if err != nil {
		return nil, err
	}
	planned, err := p.Plan(recalled.Known, at)
	if err != nil || len(planned.Recorded) == 0 {
		return planned, err
	}
	if err := t.sweep(); err != nil {
		return nil, err
	}
	b := &pgx.Batch{}
	if err := t.learn(b, recalled, p, planned); err != nil {
		return nil, err
	}
	if err := t.begin("head"); err != nil {
		return nil, err
	}
	b.Queue(queryMove, string(t.name), int64(planned.Head), t.writer)
	return planned, t.SendBatch(t.ctx, b).Close()
}

// recall reads what planning acts asks for, and what ending versions does, in one round trip.
func (t *tx) recall(p *knowledge.Prepared) (*packed.Recall, error) {
	r := packed.NewRecall(p, t.head)
	if t.fresh {
		return r, nil
	}
	var aliases []knowledge.Recorded
	b := &pgx.Batch{}
	take := func(rows pgx.Rows) error { return eachAct(rows, r.Add) }
	for some := range slices.Chunk(p.Touched(), lookupIDs) {
		b.Queue(queryBelieved, string(t.name), digestPrefixes(some)).Query(take)
	}
	var statements, leaves []int64
	for id, leaf := range p.Asserted {
		statements, leaves = append(statements, packed.DigestPrefix(id)), append(leaves, packed.DigestPrefix(leaf))
	}
	for from := 0; from < len(leaves); from += lookupIDs {
		to := min(from+lookupIDs, len(leaves))
		b.Queue(queryAsserted, string(t.name), statements[from:to], leaves[from:to]).Query(take)
	}
	if p.Aliases() {
		b.Queue(queryAliases, string(t.name), 0).Query(func(rows pgx.Rows) (err error) {
			aliases, err = readActs(rows, nil)
			return err
		})
	}
	if b.Len() == 0 {
		return r, nil
	}
	if err := t.SendBatch(t.ctx, b).Close(); err != nil {
		return nil, err
	}
	var err error
	r.Known.Aliases, err = knowledge.AliasesOf(nil, aliases, dag.MaxSeq)
	return r, err
}

// learn queues the steps that do what was planned, but for the head's.
func (t *tx) learn(b *pgx.Batch, r *packed.Recall, prepared *knowledge.Prepared, p *knowledge.Planned) error {
	if len(p.Ended) > 0 {
		ended, err := r.Ended(p.Ended)
		if err != nil {
			return err
		}
		if err := t.begin("endings"); err != nil {
			return err
		}
		t.queueEndings(b, ended)
	}
	if len(p.Recorded) == 0 {
		return nil
	}
	if err := t.begin("acts"); err != nil {
		return err
	}
	t.queueActs(b, prepared, p)
	began := packed.Began(prepared, p)
	if len(began) == 0 {
		return nil
	}
	if err := t.begin("edges"); err != nil {
		return err
	}
	t.queueEdges(b, packed.Ends(began))
	return nil
}

func (t *tx) queueActs(b *pgx.Batch, prepared *knowledge.Prepared, p *knowledge.Planned) {
	for from := 0; from < len(p.Recorded); {
		var seqs, times, opened, until, leaves []int64
		var statements []*int64
		var texts []string
		for bytes := 0; from < len(p.Recorded) && len(texts) < addedRows && bytes < addedBytes; from++ {
			r, which := &p.Recorded[from], p.Which[from]
			seqs, times, opened, until = append(seqs, int64(r.Seq)), append(times, int64(r.At)), append(opened, int64(p.Opened[from])), append(until, int64(r.Until))
			var statement *int64
			if id, ok := prepared.About(which); ok {
				prefix := packed.DigestPrefix(id)
				statement = &prefix
			}
			text := string(prepared.Text(which))
			statements, leaves, texts = append(statements, statement), append(leaves, packed.DigestPrefix(r.Leaf)), append(texts, text)
			bytes += len(text)
		}
		b.Queue(queryAddActs, string(t.name), seqs, times, opened, until, statements, leaves, texts)
	}
}

// queueEndings ends stored versions, in their acts and at both ends.
func (t *tx) queueEndings(b *pgx.Batch, ended []knowledge.Version) {
	one := func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != 1 {
			return errors.New("a version that ends has no act, or no edge; the store is damaged")
		}
		return nil
	}
	for i := range ended {
		b.Queue(queryEndAct, string(t.name), int64(ended[i].Since), int64(ended[i].Until)).Exec(one)
	}
	for _, e := range packed.Ends(ended) {
		b.Queue(queryEndEdge, string(t.name), e.Name(), e.Incoming, int32(dag.One-e.Confidence), e.ID[:], int64(e.Since), int64(e.Version.Until)).Exec(one)
	}
}

// Acts gives acts by ascending number.
func (s *Store) Acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) (list []knowledge.Recorded, err error) {
	err = s.read(ctx, "acts", func(ctx context.Context, db *pgxpool.Conn) (err error) {
		list, err = readActs(db.Query(ctx, queryActs, string(tenant), clipped(after), max(limit, 0)))
		return err
	})
	return list, err
}

// ActsAt gives the acts of some numbers.
func (s *Store) ActsAt(ctx context.Context, tenant dag.Tenant, seqs []dag.Seq) (list []knowledge.Recorded, err error) {
	numbers := make([]int64, len(seqs))
	for i, seq := range seqs {
		numbers[i] = clipped(seq)
	}
	err = s.read(ctx, "acts", func(ctx context.Context, db *pgxpool.Conn) (err error) {
		list, err = readActs(db.Query(ctx, queryActsAt, string(tenant), numbers))
		return err
	})
	return list, err
}

// clipped is a number as a statement takes it; nothing is above dag.MaxSeq.
func clipped(seq dag.Seq) int64 { return int64(min(seq, dag.MaxSeq)) }

// ActsOf gives the acts about a statement. Where others' digests begin like its own it asks
// again, until it has enough of them.
func (s *Store) ActsOf(ctx context.Context, tenant dag.Tenant, id knowledge.ID, after dag.Seq, limit int) (list []knowledge.Recorded, err error) {
	for {
		var page []knowledge.Recorded
		lacking := max(limit-len(list), 0)
		err = s.read(ctx, "acts of a statement", func(ctx context.Context, db *pgxpool.Conn) (err error) {
			page, err = readActs(db.Query(ctx, queryActsOf, string(tenant), packed.DigestPrefix(id), clipped(after), lacking))
			return err
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

// ActsIn gives the acts of spans, in one query.
func (s *Store) ActsIn(ctx context.Context, tenant dag.Tenant, spans []knowledge.Span) (lists [][]knowledge.Recorded, err error) {
	if err := store.CheckSpans(spans); err != nil {
		return nil, fmt.Errorf("postgres: acts of statements: %w", err)
	}
	statements, after, upTo := make([]int64, len(spans)), make([]int64, len(spans)), make([]int64, len(spans))
	for i := range spans {
		statements[i], after[i], upTo[i] = packed.DigestPrefix(spans[i].Statement), clipped(spans[i].After), clipped(spans[i].UpTo)
	}
	err = s.read(ctx, "acts of statements", func(ctx context.Context, db *pgxpool.Conn) error {
		lists = make([][]knowledge.Recorded, len(spans))
		if len(spans) == 0 {
			return nil
		}
		rows, err := db.Query(ctx, queryActsIn, string(tenant), statements, after, upTo)
		if err != nil {
			return err
		}
		var n int64
		return eachAct(rows, func(r *knowledge.Recorded) { lists[n-1] = append(lists[n-1], *r) }, &n)
	})
	if err != nil {
		return nil, err
	}
	for i := range lists {
		lists[i] = packed.About(lists[i], spans[i].Statement)
	}
	return lists, nil
}

// Aliases gives the acts about aliases.
func (s *Store) Aliases(ctx context.Context, tenant dag.Tenant, after dag.Seq) (list []knowledge.Recorded, err error) {
	err = s.read(ctx, "aliases", func(ctx context.Context, db *pgxpool.Conn) (err error) {
		list, err = readActs(db.Query(ctx, queryAliases, string(tenant), clipped(after)))
		return err
	})
	return list, err
}

func readActs(rows pgx.Rows, err error) (list []knowledge.Recorded, _ error) {
	if err != nil {
		return nil, err
	}
	err = eachAct(rows, func(r *knowledge.Recorded) { list = append(list, *r) })
	return list, err
}

// eachAct reads rows of actColumns, and of what stands before these.
func eachAct(rows pgx.Rows, fn func(r *knowledge.Recorded), before ...any) error {
	var seq, at, opened, until, leaf int64
	var text pgtype.DriverBytes
	_, err := pgx.ForEachRow(rows, append(before, &seq, &at, &opened, &until, &leaf, &text), func() error {
		r, err := packed.Act(seq, at, opened, until, leaf, text)
		if err == nil {
			fn(&r)
		}
		return err
	})
	return err
}

func digestPrefixes(ids []knowledge.ID) []int64 {
	list := make([]int64, len(ids))
	for i := range ids {
		list[i] = packed.DigestPrefix(ids[i])
	}
	return list
}
