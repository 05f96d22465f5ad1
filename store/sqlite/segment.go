package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"slices"
	"strconv"

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

// The queries of a segment. Each is one statement, and so sees one moment, whether or not there are new
// turns. If there are none, the query reads only the tenant's head: seeking among the runs means reading
// whole runs to compare them. The query for one conversation, the usual one, saves reading a list.
const (
	querySegment = `WITH part (tenant, conversation, after) AS (SELECT ?, ?, ?)
		SELECT 0, head, NULL, NULL FROM part JOIN tenants USING (tenant)
		UNION ALL
		SELECT 1, p.after, r.run, NULL FROM part p
			CROSS JOIN tenants t ON t.tenant = p.tenant AND t.head > p.after
			CROSS JOIN runs r ON r.tenant = p.tenant AND r.conversation = p.conversation AND r.last > p.after
		UNION ALL
		SELECT 2, l.seq, l.link, NULL FROM part p
			CROSS JOIN tenants t ON t.tenant = p.tenant AND t.head > p.after
			CROSS JOIN links l ON l.tenant = p.tenant AND l.parent_conversation = p.conversation AND l.seq > p.after`

	querySegments = `WITH own (tenant) AS (SELECT ?), part (tenant, conversation, after) AS MATERIALIZED (
			SELECT tenant, unhex(value ->> 0), value ->> 1 FROM own CROSS JOIN json_each(?))
		SELECT 0, head, NULL, NULL FROM own JOIN tenants USING (tenant)
		UNION ALL
		SELECT 1, p.after, r.run, r.conversation FROM part p
			CROSS JOIN tenants t ON t.tenant = p.tenant AND t.head > p.after
			CROSS JOIN runs r ON r.tenant = p.tenant AND r.conversation = p.conversation AND r.last > p.after
		UNION ALL
		SELECT 2, l.seq, l.link, NULL FROM part p
			CROSS JOIN tenants t ON t.tenant = p.tenant AND t.head > p.after
			CROSS JOIN links l ON l.tenant = p.tenant AND l.parent_conversation = p.conversation AND l.seq > p.after`
)

// Segment returns the turns that a reader lacks of some conversations, in one query.
func (rd *reader) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (seg store.Segment, err error) {
	err = rd.read(ctx, "segment", tenant, func(n int64) error {
		rows, err := rd.segmentRows(ctx, n, parts)
		if err != nil {
			return err
		}
		return readSegment(rows, &seg, parts)
	})
	if err != nil {
		return store.Segment{}, err
	}
	if len(parts) > 1 {
		slices.SortFunc(seg.Turns, func(a, b dag.Skeleton) int { return cmp.Compare(a.Seq, b.Seq) })
		slices.SortFunc(seg.Links, func(a, b dag.Link) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Parent.Compare(b.Parent)) })
	}
	return seg, nil
}

// EachSkeleton implements [store.SkeletonReader]. It skips the links.
func (rd *reader) EachSkeleton(ctx context.Context, tenant dag.Tenant, parts []store.Part, fn func(*dag.Skeleton) error) (head dag.Seq, err error) {
	err = rd.read(ctx, "segment", tenant, func(n int64) error {
		rows, err := rd.segmentRows(ctx, n, parts)
		if err != nil {
			return err
		}
		var kind int
		var seq int64
		var column, conversation sql.RawBytes
		var one dag.Skeleton // of all turns, so that they are not allocated one by one
		return each(rows, func() error {
			switch kind {
			case rowHead:
				head = dag.Seq(seq)
			case rowRun:
				of := parts[0].Conversation
				if len(parts) > 1 {
					if err := packed.Fill(of[:], conversation, "a conversation's id"); err != nil {
						return err
					}
				}
				return packed.EachSkeleton(column, dag.Seq(seq), func(s dag.Skeleton) error {
					one = s
					one.Conversation = of
					return fn(&one)
				})
			}
			return nil
		}, &kind, &seq, &column, &conversation)
	})
	return intact(head, err)
}

func (rd *reader) segmentRows(ctx context.Context, tenant int64, parts []store.Part) (*sql.Rows, error) {
	if len(parts) == 1 {
		return rd.queries.segment.QueryContext(ctx, tenant, parts[0].Conversation[:], int64(min(parts[0].After, dag.MaxSeq)))
	}
	return rd.queries.segments.QueryContext(ctx, tenant, partList(store.Distinct(parts)))
}

// partList returns parts as a JSON array of pairs of a hex string and a number.
func partList(parts []store.Part) string {
	b := []byte{'['}
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `["`...)
		b = hex.AppendEncode(b, p.Conversation[:])
		b = append(b, `",`...)
		b = strconv.AppendUint(b, uint64(min(p.After, dag.MaxSeq)), 10)
		b = append(b, ']')
	}
	return string(append(b, ']'))
}

func readSegment(rows *sql.Rows, seg *store.Segment, parts []store.Part) error {
	var kind int
	var seq int64
	var column, conversation sql.RawBytes
	var runs [][]dag.Skeleton // joined at the end: a slice that grows is copied again and again
	err := each(rows, func() error {
		switch kind {
		case rowHead:
			seg.Head = dag.Seq(seq)
		case rowRun:
			of := parts[0].Conversation
			if len(parts) > 1 {
				if err := packed.Fill(of[:], conversation, "a conversation's id"); err != nil {
					return err
				}
			}
			run, err := packed.Read(column, of, dag.Seq(seq), dag.MaxSeq)
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
	}, &kind, &seq, &column, &conversation)
	if len(runs) > 0 {
		seg.Turns = slices.Concat(runs...)
	}
	return err
}
