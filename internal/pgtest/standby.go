package pgtest

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Standby starts a copy of this server that receives all its writes and can be read (a hot standby with streaming replication),
// and returns when the copy receives. o is applied on top of this server's options. The copies are named standby1, standby2 and
// so on.
func (s *Server) Standby(ctx context.Context, o Options) (*Server, error) {
	standby, err := s.workshop.newServer()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.standbys++
	standby.name = "standby" + strconv.Itoa(s.standbys)
	s.mu.Unlock()
	if err := standby.follow(ctx, s, o); err != nil {
		return nil, standby.discard(err)
	}
	return standby, nil
}

func (s *Server) follow(ctx context.Context, primary *Server, o Options) error {
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=%s application_name=%s", primary.port, superuser, s.name)
	err := within(ctx, func(ctx context.Context) error {
		return s.workshop.do(ctx, filepath.Join(s.workshop.bin, "pg_basebackup"),
			"-d", from, "-D", s.Folder(), "-R", "-X", "stream", "-c", "fast", "-N")
	})
	if err != nil {
		return err
	}
	// The copy has the primary's list of synchronous standbys, and would wait for itself after a promotion.
	if err := appendTo(filepath.Join(s.Folder(), "postgresql.auto.conf"), "synchronous_standby_names = ''\n"); err != nil {
		return err
	}
	if err := s.begin(ctx, o); err != nil {
		return err
	}
	return primary.await(ctx, fmt.Sprintf(
		"SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND application_name = '%s'", s.name))
}

// await repeats a query until it returns true.
func (s *Server) await(ctx context.Context, sql string) error {
	return within(ctx, func(ctx context.Context) error {
		return until(ctx, func() (bool, error) {
			yes, err := s.Value(ctx, superuser, sql)
			return yes == "t", err
		})
	})
}

// Synchronous makes every commit on this server wait until all the named standbys have it on their disks, and returns when that
// is in effect. Without names, commits do not wait for standbys.
func (s *Server) Synchronous(ctx context.Context, standbys ...string) error {
	list := ""
	if len(standbys) > 0 {
		var names []string
		for _, name := range standbys {
			names = append(names, pgx.Identifier{name}.Sanitize())
		}
		list = fmt.Sprintf("FIRST %d (%s)", len(names), strings.Join(names, ", "))
	}
	literal := "'" + strings.ReplaceAll(list, "'", "''") + "'"
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = " + literal, "SELECT pg_reload_conf()"} {
		if err := s.Exec(ctx, superuser, sql); err != nil {
			return err
		}
	}
	// A connection that sees the new list started after the server had told all its processes about it.
	if err := s.await(ctx, "SELECT current_setting('synchronous_standby_names') = "+literal); err != nil {
		return err
	}
	if err := s.await(ctx, fmt.Sprintf("SELECT count(*) = %d FROM pg_stat_replication WHERE sync_state = 'sync'", len(standbys))); err != nil {
		return err
	}
	// Commits begin to wait when the checkpointer has read the list, which no view shows. It reads the list between two
	// checkpoints.
	for range 2 {
		if err := s.Exec(ctx, superuser, "CHECKPOINT"); err != nil {
			return err
		}
	}
	return nil
}

// Promote makes a standby an independent server, and returns when it accepts writes.
func (s *Server) Promote(ctx context.Context) error {
	if err := s.Exec(ctx, superuser, "SELECT pg_promote(false)"); err != nil {
		return err
	}
	return s.await(ctx, "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'")
}
