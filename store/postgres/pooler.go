package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/graphkernel/graphkernel/store"
)

// checkMode refuses a mode in which lists of ids cannot be sent.
func checkMode(mode pgx.QueryExecMode) error {
	switch mode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		return fmt.Errorf("default_query_exec_mode is %s, but lists of ids cannot be sent in this mode; with PgBouncer set it to cache_describe", mode)
	}
	return nil
}

// checkPooler refuses a pooler that uses statements on other connections than those on which they were
// prepared. Through a pooler, the process that answers is not the process that the handshake named.
func checkPooler(ctx context.Context, c *pgx.Conn) error {
	mode := c.Config().DefaultQueryExecMode
	if mode == pgx.QueryExecModeCacheDescribe {
		return nil
	}
	results, err := c.PgConn().Exec(ctx, `SELECT pg_backend_pid()`).ReadAll()
	if err != nil {
		return err
	}
	if pid := strconv.FormatUint(uint64(c.PgConn().PID()), 10); string(results[0].Rows[0][0]) != pid {
		return fmt.Errorf("the server is reached through a pooler such as PgBouncer, where prepared statements get lost between connections (default_query_exec_mode is %s): add default_query_exec_mode=cache_describe to the URL, see docs/scaling.md", mode)
	}
	return nil
}

// explainConnect adds the remedy to the error of a pooler that refuses the settings of a connection.
func explainConnect(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && strings.Contains(e.Message, "unsupported startup parameter") {
		return fmt.Errorf("%w; PgBouncer must name it in ignore_startup_parameters, see docs/scaling.md", err)
	}
	return err
}

// misput reports whether an error says that a query could not be sent: its arguments could not be
// encoded, or the server did not know the statement. Such an error says nothing about stored data.
func misput(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		for _, class := range []string{"0A", "26", "42"} { // not supported, unknown statement, syntax or access rule
			if strings.HasPrefix(e.Code, class) {
				return true
			}
		}
		return false
	}
	// The driver has no type for the argument, and sends nothing to the server.
	return strings.Contains(err.Error(), "failed to encode args[")
}

// unput wraps the error of a query that could not be sent in store.ErrQuery.
func unput(err error) error {
	if misput(err) {
		return fmt.Errorf("%w: %w", store.ErrQuery, err)
	}
	return err
}
