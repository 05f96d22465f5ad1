package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

const (
	// See queryTurns.
	queryFind = `SELECT i.id, i.conversation, t.seq, t.body IS NOT NULL, t.body IS NULL AND coalesce(t.salt = '\x00', false)
		FROM (SELECT DISTINCT unnest($2::uuid[]) AS id) a
		CROSS JOIN LATERAL (SELECT id, conversation, seq FROM ids WHERE tenant = $1 AND id = a.id OFFSET 0) i
		CROSS JOIN LATERAL (SELECT seq, salt, body FROM turns WHERE tenant = $1 AND conversation = i.conversation AND seq = i.seq OFFSET 0) t`

	queryErase = `UPDATE turns SET name = NULL, salt = NULL, external = NULL, body = NULL WHERE tenant = $1 AND conversation = $2 AND seq = $3`
)

// eachFound calls fn with the rows of queryFind.
func eachFound(rows pgx.Rows, fn func(id dag.TurnID, conversation [16]byte, a history.Admitted)) error {
	var id dag.TurnID
	var conversation [16]byte
	var a history.Admitted
	_, err := pgx.ForEachRow(rows, []any{(*[16]byte)(&id), &conversation, (*uint64)(&a.Seq), &a.Body, &a.Withheld}, func() error {
		fn(id, conversation, a)
		return nil
	})
	return err
}

// eraseTurns deletes the bodies of stored turns, in two round trips. The package documentation says which copies PostgreSQL keeps, and for how long.
func (t *tx) eraseTurns(ids []dag.TurnID) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := t.Query(t.ctx, queryFind, string(t.name), uuids(ids))
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	err = eachFound(rows, func(_ dag.TurnID, conversation [16]byte, a history.Admitted) {
		b.Queue(queryErase, string(t.name), conversation, int64(a.Seq))
	})
	if err != nil {
		return err
	}
	if err := t.begin("turns"); err != nil {
		return err
	}
	return t.SendBatch(t.ctx, b).Close()
}
