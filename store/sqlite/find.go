package sqlite

import (
	"context"
	"database/sql"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	queryTenants = `SELECT name FROM tenants WHERE name > ? ORDER BY name LIMIT ?`

	queryMatch = `SELECT id FROM ids WHERE tenant = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?`

	// Few turns have one name, so they may be sorted.
	queryExternal = `SELECT substr(kept, 49, 16) AS id FROM turns
		WHERE tenant = ? AND name = ? AND external = ? ORDER BY id LIMIT ?`

	// The key of a digest is its beginning.
	queryExternalPrefix = `SELECT substr(kept, 49, 16) AS id FROM turns
		WHERE tenant = ? AND name BETWEEN ? AND ? AND substr(external, 1, ?) = ?
			AND lower(hex(name)) = CAST(substr(external, 1, 16) AS TEXT) ORDER BY id LIMIT ?`

	queryConversations = `SELECT conversation, turns, first, last, first_at, last_at FROM conversations
		WHERE tenant = ? AND conversation > ? ORDER BY conversation LIMIT ?`
)

// Tenants lists tenants by ascending name. A tenant has a row from its first write on.
func (rd *reader) Tenants(ctx context.Context, after dag.Tenant, limit int) (list []dag.Tenant, err error) {
	err = rd.while(ctx, "tenants", func() error {
		if limit <= 0 {
			return nil
		}
		rows, err := rd.queries.tenants.QueryContext(ctx, string(after), limit)
		if err != nil {
			return err
		}
		var name dag.Tenant
		return each(rows, func() error {
			list = append(list, name)
			return nil
		}, &name)
	})
	return intact(list, err)
}

// Find returns the ids of the turns that match a name: a range of the primary key, or of the index of external ids.
func (rd *reader) Find(ctx context.Context, tenant dag.Tenant, name store.Name, limit int) (ids []dag.TurnID, err error) {
	err = rd.read(ctx, "find", tenant, func(n int64) (err error) {
		query, args := rd.queries.find(n, name)
		if query == nil || limit <= 0 {
			return nil
		}
		ids, err = readIDs(query.QueryContext(ctx, append(args, limit)...))
		return err
	})
	return intact(ids, err)
}

// find returns the query for the turns of a tenant that match a name, and its arguments without the limit; nil if there can be none.
func (q *queries) find(tenant int64, name store.Name) (query *sql.Stmt, args []any) {
	switch name := name.(type) {
	case store.Prefix:
		if first, last, some := store.PrefixRange(string(name)); some {
			return q.match, []any{tenant, first[:], last[:]}
		}
	case store.External:
		if name != "" {
			key := store.KeyOf(string(name))
			return q.external, []any{tenant, key[:], []byte(name)}
		}
	case store.ExternalPrefix:
		if first, last, some := name.Keys(); some {
			return q.externalPrefix, []any{tenant, first[:], last[:], len(name), []byte(name)}
		}
	}
	return nil, nil
}

func readIDs(rows *sql.Rows, err error) (ids []dag.TurnID, _ error) {
	if err != nil {
		return nil, err
	}
	var column sql.RawBytes
	err = each(rows, func() error {
		var id dag.TurnID
		if err := packed.Fill(id[:], column, "a turn's id"); err != nil {
			return err
		}
		ids = append(ids, id)
		return nil
	}, &column)
	return ids, err
}

// Conversations lists conversations by ascending id.
func (rd *reader) Conversations(ctx context.Context, tenant dag.Tenant, after dag.ConversationID, limit int) (list []store.Conversation, err error) {
	err = rd.read(ctx, "conversations", tenant, func(n int64) error {
		if limit <= 0 {
			return nil
		}
		rows, err := rd.queries.conversations.QueryContext(ctx, n, after[:], limit)
		if err != nil {
			return err
		}
		var id sql.RawBytes
		var c store.Conversation
		return each(rows, func() error {
			if err := packed.Fill(c.ID[:], id, "a conversation's id"); err != nil {
				return err
			}
			list = append(list, c)
			return nil
		}, &id, &c.Turns, &c.First, &c.Last, &c.FirstAt, &c.LastAt)
	})
	return intact(list, err)
}
