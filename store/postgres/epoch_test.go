package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestEpoch restarts a server, which is no new epoch, and promotes its standby, which is.
func TestEpoch(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	primary := pgtest.Run(t, pgtest.Options{})
	must(t, primary.CreateDatabase(ctx, "kernel", ""))
	standby := primary.RunStandby(t, pgtest.Options{})
	must(t, primary.Synchronous(ctx, standby.Name()))
	url := fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/kernel?sslmode=disable&target_session_attrs=read-write", primary.Port(), standby.Port())
	s, err := postgres.Open(ctx, url, postgres.Options{Patience: time.Minute})
	must(t, err)
	defer s.Close()
	_, err = s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 3, 0)})
	must(t, err)
	epoch := func(when string, want uint64) {
		t.Helper()
		head, err := s.Head(ctx, storetest.Tenant)
		if got := s.Epoch(); err != nil || head != 3 || got != want {
			t.Errorf("%s: head %d, %v, in epoch %d, want 3 in %d", when, head, err, got, want)
		}
	}
	epoch("at first", 0)
	must(t, primary.Kill())
	must(t, primary.Restart(ctx))
	epoch("after a restart", 0)
	must(t, primary.Kill())
	must(t, standby.Promote(ctx))
	epoch("after a failover", 1)
	epoch("again", 1)
}

// TestEpochWithoutRights takes away what tells timelines apart. Then a restart counts.
func TestEpochWithoutRights(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := pgtest.Run(t, pgtest.Options{})
	must(t, server.CreateDatabase(ctx, "kernel", ""))
	must(t, server.Exec(ctx, "kernel", "CREATE ROLE plain LOGIN; ALTER DATABASE kernel OWNER TO plain"))
	must(t, server.Exec(ctx, "kernel", "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC"))
	url := fmt.Sprintf("postgres://plain@127.0.0.1:%d/kernel?sslmode=disable", server.Port())
	s, err := postgres.Open(ctx, url, postgres.Options{Patience: time.Minute})
	must(t, err)
	defer s.Close()
	_, err = s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 3, 0)})
	must(t, err)
	if got := s.Epoch(); got != 0 {
		t.Errorf("epoch %d at first", got)
	}
	must(t, server.Kill())
	must(t, server.Restart(ctx))
	if head, err := s.Head(ctx, storetest.Tenant); err != nil || head != 3 || s.Epoch() != 1 {
		t.Errorf("after a restart: head %d, %v, in epoch %d", head, err, s.Epoch())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
