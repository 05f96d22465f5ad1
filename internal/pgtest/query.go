package pgtest

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// query runs SQL over the socket as one string, which may have several statements, unlike a prepared statement.
func (s *Server) query(ctx context.Context, database, sql string) (results []*pgconn.Result, err error) {
	err = within(ctx, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, s.SocketURL(database))
		if err != nil {
			return fmt.Errorf("pgtest: %w", err)
		}
		defer func() { _ = conn.Close(ctx) }()
		results, err = conn.PgConn().Exec(ctx, sql).ReadAll()
		if err != nil {
			return fmt.Errorf("pgtest: %w", err)
		}
		return nil
	})
	return results, err
}
