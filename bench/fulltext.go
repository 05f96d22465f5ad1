package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// fulltext is PostgreSQL's index of words, with stems, ordered by ts_rank.
func fulltext(ctx context.Context, y *yard, name string) (*searcher, error) {
	if err := y.server.CreateDatabase(ctx, name, ""); err != nil {
		return nil, err
	}
	c, err := pgx.Connect(ctx, y.server.SocketURL(name))
	if err != nil {
		return nil, err
	}
	if _, err := c.Exec(ctx, "CREATE TABLE turns (id bigint PRIMARY KEY, words tsvector NOT NULL)"); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	return &searcher{
		name: "PostgreSQL full text",
		fill: func(ctx context.Context, l *library) error {
			if _, err := c.Exec(ctx, "CREATE TEMP TABLE texts (id bigint, text text)"); err != nil {
				return err
			}
			rows := pgx.CopyFromSlice(len(l.turns), func(i int) ([]any, error) { return []any{i + 1, l.turns[i].Content}, nil })
			if _, err := c.CopyFrom(ctx, pgx.Identifier{"texts"}, []string{"id", "text"}, rows); err != nil {
				return err
			}
			for _, statement := range [...]string{
				"INSERT INTO turns SELECT id, to_tsvector('english', text) FROM texts", "DROP TABLE texts", "CREATE INDEX ON turns USING gin (words)", "VACUUM ANALYZE turns",
			} {
				if _, err := c.Exec(ctx, statement); err != nil {
					return fmt.Errorf("%s: %w", statement, err)
				}
			}
			return nil
		},
		search: func(ctx context.Context, query string) (int, error) {
			const best = "SELECT id FROM turns, to_tsquery('english', $1) q WHERE words @@ q ORDER BY ts_rank(words, q) DESC, id LIMIT $2"
			rows, err := c.Query(ctx, best, strings.ReplaceAll(query, " ", " | "), searchHits)
			if err != nil {
				return 0, err
			}
			ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			return len(ids), err
		},
		close: func() error { return c.Close(context.WithoutCancel(ctx)) },
	}, nil
}
