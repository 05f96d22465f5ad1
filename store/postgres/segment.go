package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

// The kinds of rows of a segment.
const (
	rowHead = 0
	rowRun  = 1
	rowLink = 2
)

// The queries of a segment. Each is one statement, and so sees one moment. If nothing was appended for the
// tenant, it reads only the tenant's head. The query for one conversation, the usual one, names its partition.
const (
	querySegment = `SELECT 0, head, NULL::uuid, NULL::bytea FROM tenants WHERE tenant = $1
		UNION ALL
		SELECT 1, $3::bigint, conversation, run FROM runs WHERE tenant = $1 AND conversation = $2 AND last > $3
			AND (SELECT head FROM tenants WHERE tenant = $1) > $3
		UNION ALL
		SELECT 2, seq, NULL, link FROM links WHERE tenant = $1 AND parent_conversation = $2 AND seq > $3
			AND (SELECT head FROM tenants WHERE tenant = $1) > $3`

	querySegments = `WITH part (conversation, after) AS (SELECT * FROM unnest($2::uuid[], $3::bigint[]))
		SELECT 0, head, NULL::uuid, NULL::bytea FROM tenants WHERE tenant = $1
		UNION ALL
		SELECT 1, p.after, p.conversation, r.run FROM part p CROSS JOIN LATERAL
			(SELECT run FROM runs WHERE tenant = $1 AND conversation = p.conversation AND last > p.after OFFSET 0) r
			WHERE (SELECT head FROM tenants WHERE tenant = $1) > p.after
		UNION ALL
		SELECT 2, l.seq, NULL, l.link FROM part p
			JOIN links l ON l.tenant = $1 AND l.parent_conversation = p.conversation AND l.seq > p.after
			WHERE (SELECT head FROM tenants WHERE tenant = $1) > p.after`
)

// Segment returns the turns that a reader lacks of some conversations, in one query.
func (rd *reader) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (seg store.Segment, err error) {
	parts = store.Distinct(parts)
	err = rd.read(ctx, "segment", func(ctx context.Context, db *pgxpool.Conn) error {
		rows, err := segmentRows(ctx, db, tenant, parts)
		if err != nil {
			return err
		}
		seg, err = readSegment(rows)
		return err
	})
	return seg, err
}

func segmentRows(ctx context.Context, db *pgxpool.Conn, tenant dag.Tenant, parts []store.Part) (pgx.Rows, error) {
	if len(parts) == 1 {
		return db.Query(ctx, querySegment, string(tenant), uuid(parts[0].Conversation), int64(min(parts[0].After, dag.MaxSeq)))
	}
	conversations, after := make([][16]byte, len(parts)), make([]int64, len(parts))
	for i, p := range parts {
		conversations[i], after[i] = p.Conversation, int64(min(p.After, dag.MaxSeq))
	}
	return db.Query(ctx, querySegments, string(tenant), conversations, after)
}

func readSegment(rows pgx.Rows) (seg store.Segment, err error) {
	var kind int32
	var seq int64
	var conversation pgtype.UUID
	var column pgtype.DriverBytes
	var runs [][]dag.Skeleton // joined at the end: a slice that grows is copied again and again
	_, err = pgx.ForEachRow(rows, []any{&kind, &seq, &conversation, &column}, func() error {
		switch kind {
		case rowHead:
			seg.Head = dag.Seq(seq)
		case rowRun:
			run, err := packed.Read(column, conversation.Bytes, dag.Seq(seq), dag.MaxSeq)
			runs = append(runs, run)
			return err
		case rowLink:
			l := dag.Link{Seq: dag.Seq(seq)}
			if err := packed.ReadLink(&l, column); err != nil {
				return err
			}
			seg.Links = append(seg.Links, l)
		}
		return nil
	})
	if err != nil {
		return store.Segment{}, err
	}
	slices.SortFunc(runs, func(a, b []dag.Skeleton) int { return cmp.Compare(firstSeq(a), firstSeq(b)) })
	seg.Turns = slices.Concat(runs...)
	if !slices.IsSortedFunc(seg.Turns, bySeq) { // they are of several conversations
		slices.SortFunc(seg.Turns, bySeq)
	}
	slices.SortFunc(seg.Links, func(a, b dag.Link) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Parent.Compare(b.Parent)) })
	// Rows that a torn write left on another server are numbered above the head, see sweep.
	for len(seg.Turns) > 0 && seg.Turns[len(seg.Turns)-1].Seq > seg.Head {
		seg.Turns = seg.Turns[:len(seg.Turns)-1]
	}
	return seg, nil
}

func bySeq(a, b dag.Skeleton) int { return cmp.Compare(a.Seq, b.Seq) }

func firstSeq(run []dag.Skeleton) dag.Seq {
	if len(run) == 0 {
		return 0
	}
	return run[0].Seq
}
