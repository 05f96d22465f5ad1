package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	recordColumns = `t.seq, t.kept, t.salt, t.external, t.body, t.key`

	queryHead = `SELECT head FROM tenants WHERE tenant = $1`

	queryTenants = `SELECT tenant FROM tenants WHERE tenant > $1 ORDER BY tenant LIMIT $2`

	// Each id, and then each turn, is looked up in the one partition that contains it. OFFSET 0 keeps
	// the planner from making a join of it, which reads every turn of the tenant. The tenant is compared
	// with its parameter, since other servers are sent that condition, and none that follows from it.
	queryTurns = `SELECT ` + recordColumns + ` FROM (SELECT DISTINCT unnest($2::uuid[]) AS id) a
		CROSS JOIN LATERAL (SELECT conversation, seq FROM ids WHERE tenant = $1 AND id = a.id OFFSET 0) i
		CROSS JOIN LATERAL (SELECT * FROM turns WHERE tenant = $1 AND conversation = i.conversation AND seq = i.seq OFFSET 0) t`

	// The same without the text: one byte in its place says that it exists.
	queryStored = `SELECT t.seq, t.kept, t.salt, NULL::bytea, CASE WHEN t.body IS NOT NULL THEN '\x00'::bytea END, t.key
		FROM (SELECT DISTINCT unnest($2::uuid[]) AS id) a
		CROSS JOIN LATERAL (SELECT conversation, seq FROM ids WHERE tenant = $1 AND id = a.id OFFSET 0) i
		CROSS JOIN LATERAL (SELECT * FROM turns WHERE tenant = $1 AND conversation = i.conversation AND seq = i.seq OFFSET 0) t`

	// Of one conversation, and so of one partition.
	queryPlaced = `SELECT ` + recordColumns + ` FROM turns t WHERE t.tenant = $1 AND t.conversation = $2 AND t.seq = ANY($3)`

	// A page ends after so many records, or before the record whose text would make it exceed so many bytes. octet_length does not read a long text.
	queryScan = `SELECT seq, kept, salt, external, body, key FROM (
			SELECT *, coalesce(sum(octet_length(kept) + coalesce(octet_length(body), 0)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
			FROM (SELECT ` + recordColumns + ` FROM turns t WHERE %s t.seq > $2 AND t.seq <= $3 ORDER BY t.seq LIMIT %d) page
		) sized WHERE before < 4194304 ORDER BY seq`
)

const (
	ofTenant       = `t.tenant = $1 AND`
	ofConversation = `t.tenant = $1 AND t.conversation = $4 AND`
	pageRecords    = 512 // the most records that a scan reads at once
)

var (
	queryScanTenant         = fmt.Sprintf(queryScan, ofTenant, pageRecords)
	queryScanConversation   = fmt.Sprintf(queryScan, ofConversation, pageRecords)
	queryNextOfTenant       = fmt.Sprintf(queryScan, ofTenant, 1)
	queryNextOfConversation = fmt.Sprintf(queryScan, ofConversation, 1)
)

// A reader reads, each time again from the beginning if the connection broke.
type reader struct {
	connections
	bound bound // of the time of a short read
}

// Head returns the tenant's newest sequence number.
func (rd *reader) Head(ctx context.Context, tenant dag.Tenant) (head dag.Seq, err error) {
	err = rd.read(ctx, "head", func(ctx context.Context, db *pgxpool.Conn) error {
		return optional(db.QueryRow(ctx, queryHead, string(tenant)).Scan((*uint64)(&head)))
	})
	return head, err
}

// HeadWhile sends the query, runs work, and then reads the answer, which has come meanwhile: no goroutine has to wake another.
func (rd *reader) HeadWhile(ctx context.Context, tenant dag.Tenant, work func()) (head dag.Seq, err error) {
	worked := false
	err = rd.read(ctx, "head", func(ctx context.Context, db *pgxpool.Conn) error {
		if worked { // the connection broke after work was called
			return optional(db.QueryRow(ctx, queryHead, string(tenant)).Scan((*uint64)(&head)))
		}
		var b pgx.Batch
		b.Queue(queryHead, string(tenant))
		sent := db.SendBatch(ctx, &b)
		worked = true
		work()
		err := optional(sent.QueryRow().Scan((*uint64)(&head)))
		return errors.Join(err, sent.Close())
	})
	return head, err
}

// intact returns a value, or no part of it if it could not be read to its end.
func intact[T any](v T, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

// optional accepts a missing row as an answer.
func optional(err error) error {
	if err == pgx.ErrNoRows { //nolint:errorlint // it is never wrapped by Scan
		return nil
	}
	return err
}

// Tenants lists tenants by ascending name.
func (rd *reader) Tenants(ctx context.Context, after dag.Tenant, limit int) (list []dag.Tenant, err error) {
	err = rd.read(ctx, "tenants", func(ctx context.Context, db *pgxpool.Conn) error {
		rows, err := db.Query(ctx, queryTenants, string(after), max(limit, 0))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowTo[dag.Tenant])
		return err
	})
	return list, err
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
	err = rd.read(ctx, "turns", func(ctx context.Context, db *pgxpool.Conn) error {
		if len(ids) == 0 {
			return nil
		}
		rows, err := db.Query(ctx, queryTurns, string(tenant), uuids(ids))
		if err != nil {
			return err
		}
		records, err = collectRecords(rows, len(ids))
		return err
	})
	return records, err
}

// placed returns the records of turns by their places, with one statement for each conversation, all in one round trip.
func (rd *reader) placed(ctx context.Context, tenant dag.Tenant, places []store.Place) (records []store.Record, err error) {
	if len(places) == 0 {
		return nil, rd.read(ctx, "placed", func(context.Context, *pgxpool.Conn) error { return nil })
	}
	of := map[dag.ConversationID][]int64{}
	for _, p := range places {
		of[p.Conversation] = append(of[p.Conversation], int64(min(p.Seq, dag.MaxSeq)))
	}
	err = rd.read(ctx, "placed", func(ctx context.Context, db *pgxpool.Conn) error {
		records = make([]store.Record, 0, len(places))
		if len(of) == 1 {
			rows, err := db.Query(ctx, queryPlaced, string(tenant), uuid(places[0].Conversation), of[places[0].Conversation])
			if err != nil {
				return err
			}
			records, err = collectRecords(rows, len(places))
			return err
		}
		b := &pgx.Batch{}
		for conversation, seqs := range of {
			b.Queue(queryPlaced, string(tenant), uuid(conversation), seqs).Query(func(rows pgx.Rows) error {
				return eachRecord(rows, func(r *store.Record) { records = append(records, *r) })
			})
		}
		return db.SendBatch(ctx, b).Close()
	})
	return records, err
}

func (rd *reader) scanPage(ctx context.Context, query string, args []any) (page []store.Record, err error) {
	err = rd.read(ctx, "scan", func(ctx context.Context, db *pgxpool.Conn) error {
		rows, err := db.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		page, err = collectRecords(rows, pageRecords)
		return err
	})
	return page, err
}

func collectRecords(rows pgx.Rows, about int) ([]store.Record, error) {
	records := make([]store.Record, 0, about)
	err := eachRecord(rows, func(r *store.Record) { records = append(records, *r) })
	return records, err
}

// eachRecord calls fn with rows of recordColumns. fn may use the record until it returns, and may keep its Body and Parents.
func eachRecord(rows pgx.Rows, fn func(*store.Record)) error {
	var seq int64
	var kept, salt, external, body, key pgtype.DriverBytes // the driver's own memory, until the next row
	var r store.Record
	_, err := pgx.ForEachRow(rows, []any{&seq, &kept, &salt, &external, &body, &key}, func() error {
		r = store.Record{Seq: dag.Seq(seq), Key: string(key)}
		if err := packed.ReadKept(&r, kept); err != nil {
			return err
		}
		if err := packed.ReadText(&r, salt, external, body); err != nil {
			return err
		}
		fn(&r)
		return nil
	})
	return err
}

// Scan returns records by ascending number, in pages of up to 512 or some 4 MiB of text.
func (rd *reader) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*store.Record) error) error {
	head, err := rd.Head(ctx, tenant)
	if err != nil {
		return err
	}
	ofAll, ofOne, args := queryScanTenant, queryNextOfTenant, []any{string(tenant), nil, int64(head)}
	if conversation != nil {
		ofAll, ofOne, args = queryScanConversation, queryNextOfConversation, append(args, uuid(*conversation))
	}
	for after < head {
		args[1] = int64(after)
		page, err := rd.scanPage(ctx, ofAll, args)
		if errors.Is(err, store.ErrDamaged) { // records before a damaged record are read one by one
			page, err = rd.scanPage(ctx, ofOne, args)
		}
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
