package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// testTorn kills the primary when one of the other servers has committed, or is bound to,
// and the primary has not. It freezes each shard in turn as the commit is sent: so once
// the one commits alone, and once both do, whichever the primary asks first.
func (s *spread) testTorn(t *testing.T, ring token.Keyring, bundles [][]byte) {
	for round, frozen := range s.shards {
		fresh := turnsOf(10+5*round, 15+5*round)
		s.tear(t, frozen, func(k *kernel.Kernel) error {
			_, err := k.Turns().Admit(t.Context(), dag.DefaultTenant, fresh)
			return err
		})
		st := s.open(postgres.Options{})
		k := kernelOver(t, st, ring)
		head, err := k.Turns().Head(t.Context(), dag.DefaultTenant)
		if err != nil {
			t.Fatal(err)
		}
		above := fmt.Sprintf("NUMBER > %d", head)
		torn := s.onShards(above)
		if torn == 0 {
			t.Fatalf("round %d: nothing is torn", round)
		}
		t.Logf("round %d: %d rows are numbered above the head", round, torn)
		s.check("with remains", st)
		sameAgain(t, k, bundles)
		if _, err := k.Slices().Cut(t.Context(), dag.DefaultTenant, kernel.Request{Anchor: fresh[0].ID}); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("a slice at a turn that was not admitted: %v", err)
		}
		// One turn of one conversation is enough to take all remains away, or an act, which
		// is no turn.
		if round == 0 {
			_, err = k.Turns().Admit(t.Context(), dag.DefaultTenant, fresh[:1])
			fresh = fresh[1:]
		} else {
			_, err = storetest.Facts(st).Learn(t.Context(), dag.DefaultTenant, []knowledge.Act{storetest.Assertion(1, 1, 2, 500_000, "user")}, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		if left := s.onShards(fmt.Sprintf("NUMBER > %d", head+1)); left != 0 {
			t.Fatalf("round %d: %d rows are still there", round, left)
		}
		receipt, err := k.Turns().Admit(t.Context(), dag.DefaultTenant, fresh)
		if err != nil || receipt.Admitted != len(fresh) {
			t.Fatalf("admitting again: %+v, %v", receipt, err)
		}
		s.check("after the batch came again", st)
		sameAgain(t, kernelOver(t, st, ring), bundles)
	}
	s.testTornErasure(t, ring)
}

// testTornErasure tears the erasure of a turn on each shard.
func (s *spread) testTornErasure(t *testing.T, ring token.Keyring) {
	for shard, frozen := range s.shards {
		id := s.turnOn(t, shard)
		s.tear(t, frozen, func(k *kernel.Kernel) error {
			_, err := k.Turns().Erase(t.Context(), dag.DefaultTenant, id, "asked")
			return err
		})
		st := s.open(postgres.Options{})
		k := kernelOver(t, st, ring)
		records, err := st.Turns(t.Context(), dag.DefaultTenant, store.IDs{id})
		if err != nil || len(records) != 1 || records[0].Body != nil {
			t.Fatalf("the torn erasure left %d records, with text: %t, %v", len(records), len(records) > 0 && records[0].Body != nil, err)
		}
		report, err := fsck.Tenant(t.Context(), st, dag.DefaultTenant, fsck.Options{})
		if err != nil || report.Found != 1 || report.Findings[0].Where != "turn "+id.String() || report.Findings[0].Rule != "body" {
			t.Fatalf("with a torn erasure: %v, %v, want that the text is gone without an erasure", report.Findings, err)
		}
		head, err := k.Turns().Head(t.Context(), dag.DefaultTenant)
		if err != nil {
			t.Fatal(err)
		}
		e, err := k.Turns().Erase(t.Context(), dag.DefaultTenant, id, "asked again")
		if err != nil || e.Seq != head+1 || e.Turn != id {
			t.Fatalf("erasing again: %+v, %v", e, err)
		}
		s.check("after erasing again", st)
	}
}

// turnOn returns a turn with text that lies on a shard.
func (s *spread) turnOn(t *testing.T, shard int) dag.TurnID {
	t.Helper()
	for partition := shard; partition < local; partition += 2 {
		text, err := s.shards[shard].Value(t.Context(), "graphkernel", fmt.Sprintf(
			"SELECT encode(substr(kept, 49, 16), 'hex')::uuid FROM turns_%02d WHERE body IS NOT NULL ORDER BY seq DESC LIMIT 1", partition))
		if err != nil {
			t.Fatal(err)
		}
		if text != "" {
			id, err := dag.ParseTurnID(text)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
	}
	t.Fatalf("shard %d holds no turn", shard)
	return dag.TurnID{}
}

// tear does a write whose commit hangs on a frozen shard, kills the primary, lets the
// shard go on, and starts the primary again.
func (s *spread) tear(t *testing.T, frozen *pgtest.Server, write func(*kernel.Kernel) error) {
	t.Helper()
	st := s.open(postgres.Options{Patience: -1, Timeout: time.Minute, Step: func(step string) error {
		if step != "commit" {
			return nil
		}
		return frozen.Freeze()
	}})
	k := kernelOver(t, st, token.Keyring{})
	outcome := make(chan error, 1)
	go func() { outcome <- write(k) }()
	await(t, s.primary, "a commit that hangs", `SELECT count(*) = 1 FROM pg_stat_activity
		WHERE usename = 'kernel' AND state = 'active' AND query = 'COMMIT' AND clock_timestamp() - query_start > interval '300 ms'`)
	if err := errors.Join(s.primary.Kill(), frozen.Thaw()); err != nil {
		t.Fatal(err)
	}
	if err := <-outcome; !errors.Is(err, store.ErrUncertain) {
		t.Fatalf("the torn write ended with %v, want ErrUncertain", err)
	}
	if err := s.primary.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, shard := range s.shards {
		await(t, shard, "the end of what the old primary had begun", "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'graphkernel'")
	}
}

// await asks a server until it says yes.
func await(t *testing.T, server *pgtest.Server, what, sql string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		yes, err := server.Value(t.Context(), "postgres", sql)
		if err != nil {
			t.Fatal(err)
		}
		if yes == "t" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s for a minute", what)
		}
	}
}
