package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

const (
	queryMatch = `SELECT id FROM ids WHERE tenant = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT $4`

	// Few turns have one name, so they may be sorted.
	queryExternal = `SELECT encode(substr(kept, 49, 16), 'hex')::uuid AS id FROM turns
		WHERE tenant = $1 AND name = $2 AND external = $3 AND seq <= (SELECT head FROM tenants WHERE tenant = $1) ORDER BY id LIMIT $4`

	// The key of a digest is its beginning.
	queryExternalPrefix = `SELECT encode(substr(kept, 49, 16), 'hex')::uuid AS id FROM turns
		WHERE tenant = $1 AND name BETWEEN $2 AND $3 AND substr(external, 1, $4) = $5
			AND convert_to(encode(name, 'hex'), 'UTF8') = substr(external, 1, 16)
			AND seq <= (SELECT head FROM tenants WHERE tenant = $1) ORDER BY id LIMIT $6`

	queryConversations = `SELECT conversation, turns, first, last, first_at, last_at FROM conversations
		WHERE tenant = $1 AND conversation > $2 ORDER BY conversation LIMIT $3`
)

// Find returns the ids of the turns that match a name, which are a range of an index.
func (rd *reader) Find(ctx context.Context, tenant dag.Tenant, name store.Name, limit int) (ids []dag.TurnID, err error) {
	query, args := nameQuery(tenant, name, limit)
	err = rd.read(ctx, "find", func(ctx context.Context, db *pgxpool.Conn) (err error) {
		if query == "" || limit <= 0 {
			return nil
		}
		ids, err = readIDs(db.Query(ctx, query, args...))
		return err
	})
	return ids, err
}

// nameQuery returns the query for the turns that match a name; "" if there can be none.
func nameQuery(tenant dag.Tenant, name store.Name, limit int) (query string, args []any) {
	switch name := name.(type) {
	case store.Prefix:
		if first, last, some := store.PrefixRange(string(name)); some {
			return queryMatch, []any{string(tenant), uuid(first), uuid(last), limit}
		}
	case store.External:
		if name != "" {
			key := store.KeyOf(string(name))
			return queryExternal, []any{string(tenant), key[:], []byte(name), limit}
		}
	case store.ExternalPrefix:
		if first, last, some := name.Keys(); some {
			return queryExternalPrefix, []any{string(tenant), first[:], last[:], len(name), []byte(name), limit}
		}
	}
	return "", nil
}

func readIDs(rows pgx.Rows, err error) ([]dag.TurnID, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (dag.TurnID, error) {
		var id [16]byte
		err := row.Scan(&id)
		return id, err
	})
}

// Conversations lists conversations by ascending id.
func (rd *reader) Conversations(ctx context.Context, tenant dag.Tenant, after dag.ConversationID, limit int) (list []store.Conversation, err error) {
	err = rd.read(ctx, "conversations", func(ctx context.Context, db *pgxpool.Conn) error {
		if limit <= 0 {
			return nil
		}
		rows, err := db.Query(ctx, queryConversations, string(tenant), uuid(after), limit)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c store.Conversation, err error) {
			err = row.Scan((*[16]byte)(&c.ID), &c.Turns, (*uint64)(&c.First), (*uint64)(&c.Last), (*int64)(&c.FirstAt), (*int64)(&c.LastAt))
			return c, err
		})
		return err
	})
	return list, err
}
