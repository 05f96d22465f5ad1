package postgres_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

const talks = 24

func talk(n int) dag.ConversationID { return dag.ExternalConversationID("spread", strconv.Itoa(n)) }

func said(n, turn int) dag.TurnID {
	return dag.ExternalTurnID("spread", fmt.Sprintf("%d/%d", n, turn))
}

// turnsOf returns drafts of each conversation, the first of which is numbered from, with
// an edge from each conversation to the next.
func turnsOf(from, to int) (drafts []dag.Draft) {
	for n := range talks {
		for turn := from; turn < to; turn++ {
			d := dag.Draft{
				ID: said(n, turn), Conversation: talk(n), Role: dag.RoleUser, CreatedAt: dag.Time(turn + 1), Author: "human:guest",
				Content: fmt.Sprintf("turn %d of %d", turn, n),
			}
			if turn < 2 { // each name is looked for on every server
				d.Attrs = map[string]string{dag.AttrExternalID: strconv.Itoa(n)}
			}
			if turn > 0 {
				d.Parents = append(d.Parents, dag.Parent{ID: said(n, turn-1), Kind: dag.Reply})
			}
			if turn == 5 && n > 0 {
				d.Parents = append(d.Parents, dag.Parent{ID: said(n-1, 3), Kind: dag.Reference})
			}
			drafts = append(drafts, d)
		}
	}
	return drafts
}

func ringOf(t *testing.T) token.Keyring {
	t.Helper()
	secret, err := token.NewSecret(bytes.Repeat([]byte("secret"), 8))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// cutAll cuts a slice at each of two turns of each conversation.
func cutAll(t *testing.T, k *kernel.Kernel) (bundles [][]byte) {
	t.Helper()
	for n := range talks {
		for _, turn := range []int{2, 9} {
			issued, err := k.Slices().Cut(t.Context(), dag.DefaultTenant, kernel.Request{Anchor: said(n, turn)})
			if err != nil {
				t.Fatal(err)
			}
			bundles = append(bundles, issued.Bundle)
		}
	}
	return bundles
}

// sameAgain replays bundles and wants the same bytes.
func sameAgain(t *testing.T, k *kernel.Kernel, bundles [][]byte) {
	t.Helper()
	for i, bundle := range bundles {
		r, err := k.Slices().Replay(t.Context(), dag.DefaultTenant, bundle)
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != kernel.Identical {
			t.Fatalf("bundle %d replays as %s: %s", i, r.Outcome, r.Reason)
		}
	}
	if len(bundles) != 2*talks {
		t.Fatalf("%d bundles, want %d", len(bundles), 2*talks)
	}
}

// TestSpread moves partitions to two other servers, by the SQL of docs/scaling.md, under
// a store that is at work, and looks at what a store owes there.
func TestSpread(t *testing.T) {
	s := newSpread(t)
	ring := ringOf(t)
	before := s.open(postgres.Options{})
	k := kernelOver(t, before, ring)
	if _, err := k.Turns().Admit(t.Context(), dag.DefaultTenant, turnsOf(0, 10)); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if _, err := k.Turns().Erase(t.Context(), dag.DefaultTenant, said(n, 4), "asked"); err != nil {
			t.Fatal(err)
		}
	}
	bundles := cutAll(t, k)
	s.moveUnder(k)
	if local, moved := s.local(), s.onShards("true"); local == 0 || moved == 0 {
		t.Fatalf("%d rows of turns are on the primary, and %d rows on the shards", local, moved)
	}
	s.check("after the move", before)
	sameAgain(t, k, bundles)
	sameAgain(t, kernelOver(t, s.open(postgres.Options{}), ring), bundles)

	t.Run("OneServer", func(t *testing.T) { s.testOneServer(t, ring) })
	t.Run("Unguarded", func(t *testing.T) { s.testUnguarded(t, ring) })
	t.Run("Late", func(t *testing.T) { s.testLate(t, ring, bundles) })
	t.Run("Torn", func(t *testing.T) { s.testTorn(t, ring, bundles) })
}

// TestSpreadContract runs the suite of stores on three servers.
func TestSpreadContract(t *testing.T) {
	if race.Enabled {
		t.Skip("TestContract runs it under the race detector; what differs here is SQL")
	}
	s := newSpread(t)
	s.move()
	fewerModels(t)
	storetest.RunWrites(t, s.writesElsewhere(t), fresh(s.url))
	storetest.RunLarge(t, fresh(s.url))
}

// writesElsewhere are those of the suite's writes that ask the other servers for anything. The
// rest is the same on one server, where TestContract lets each of its steps fail.
func (s *spread) writesElsewhere(t *testing.T) (elsewhere []storetest.Write) {
	s.logStatements(t, true)
	defer s.logStatements(t, false)
	logged := func() (n int) {
		for _, shard := range s.shards {
			n += strings.Count(shard.Log(), "statement: ") + strings.Count(shard.Log(), "execute ")
		}
		return n
	}
	var names []string
	all := storetest.Writes()
	for _, w := range all {
		pgstore.Empty(t, s.url)
		st, err := harness(s.url).Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Before(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		before := logged()
		if err := w.Do(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		if logged() > before {
			elsewhere = append(elsewhere, w)
			names = append(names, w.Name)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("the writes that ask other servers: %q", names)
	if len(elsewhere) == 0 || len(elsewhere) == len(all) {
		t.Errorf("%d of %d writes ask other servers, want some and not all", len(elsewhere), len(all))
	}
	return elsewhere
}

// logStatements sets whether the other servers log every statement of sessions that begin later.
func (s *spread) logStatements(t *testing.T, on bool) {
	t.Helper()
	sql := "ALTER ROLE graphkernel RESET log_statement"
	if on {
		sql = "ALTER ROLE graphkernel SET log_statement = 'all'"
	}
	for _, shard := range s.shards {
		if err := shard.Exec(t.Context(), "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
}

// fewerModels lets the suite's model run a fifth of its histories: each call goes to
// several servers here. No other test may run meanwhile.
func fewerModels(t *testing.T) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	n, err := strconv.Atoi(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := checks.Value.Set(strconv.Itoa(max(1, n/5))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := checks.Value.Set(before); err != nil {
			t.Error(err)
		}
	})
}

// moveUnder moves the partitions while turns are admitted and slices are cut, none of
// which may fail.
func (s *spread) moveUnder(k *kernel.Kernel) {
	s.t.Helper()
	stop := make(chan struct{})
	var admitted, cut int
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			n := admitted % talks
			d := dag.Draft{
				ID: said(n, 1000+admitted), Conversation: talk(n), Role: dag.RoleUser, CreatedAt: dag.Time(1000 + admitted), Author: "human:guest",
				Content: "meanwhile", Parents: []dag.Parent{{ID: said(n, 9), Kind: dag.Reply}},
			}
			if _, err := k.Turns().Admit(s.t.Context(), dag.DefaultTenant, []dag.Draft{d}); err != nil {
				s.t.Errorf("admitting during the move: %v", err)
				return
			}
			admitted++
		}
	})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := k.Slices().Cut(s.t.Context(), dag.DefaultTenant, kernel.Request{Anchor: said(cut%talks, 9)}); err != nil {
				s.t.Errorf("cutting during the move: %v", err)
				return
			}
			cut++
		}
	})
	s.move()
	close(stop)
	wg.Wait()
	if admitted == 0 || cut == 0 {
		s.t.Errorf("during the move %d turns were admitted and %d slices cut", admitted, cut)
	}
	s.t.Logf("during the move %d turns were admitted and %d slices cut", admitted, cut)
}

// local counts the turns on the primary itself.
func (s *spread) local() (count int) {
	s.t.Helper()
	for partition := local; partition < 16; partition++ {
		text, err := s.primary.Value(s.t.Context(), "kernel", fmt.Sprintf("SELECT count(*) FROM ONLY turns_%02d", partition))
		if err != nil {
			s.t.Fatal(err)
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			s.t.Fatal(err)
		}
		count += n
	}
	return count
}

// home returns the shard of a conversation, 2 for the primary.
func (s *spread) home(tenant dag.Tenant, n int) int {
	s.t.Helper()
	text, err := s.primary.Value(s.t.Context(), "kernel", fmt.Sprintf(
		`WITH part AS MATERIALIZED (SELECT right(relname, 2) AS n FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'turns'::regclass)
		SELECT n FROM part WHERE satisfies_hash_partition('turns'::regclass, 16, n::int, '%s'::text COLLATE "C", '%s'::uuid)`, tenant, talk(n))) // which is an error for names of other tables
	if err != nil {
		s.t.Fatal(err)
	}
	partition, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	if partition < local {
		return s.shard(partition)
	}
	return 2
}

// at returns a conversation that lies on a shard, 2 for the primary.
func (s *spread) at(tenant dag.Tenant, home int) int {
	s.t.Helper()
	for n := range talks {
		if s.home(tenant, n) == home {
			return n
		}
	}
	s.t.Fatalf("%s has no conversation on %d", tenant, home)
	return 0
}

// testOneServer cuts a slice of each conversation from nothing kept, and counts in the
// logs of the other servers what they were asked.
func (s *spread) testOneServer(t *testing.T, ring token.Keyring) {
	s.logStatements(t, true)
	defer s.logStatements(t, false)
	st := s.open(postgres.Options{})
	asked := func(shard int) (n int) {
		for line := range strings.Lines(s.shards[shard].Log()) {
			if strings.HasPrefix(line, "\tSELECT") && strings.Contains(line, " FROM public.") { // after the line of its cursor
				n++
			}
		}
		return n
	}
	var own [3]int
	for n := range talks {
		home := s.home(dag.DefaultTenant, n)
		own[home]++
		before := [2]int{asked(0), asked(1)}
		k := kernelOver(t, st, ring)
		if _, err := k.Slices().Cut(t.Context(), dag.DefaultTenant, kernel.Request{Anchor: said(n, 2), Policy: narrow(t, k)}); err != nil {
			t.Fatal(err)
		}
		for shard := range s.shards {
			if got := asked(shard) - before[shard]; (got > 0) != (shard == home) {
				t.Errorf("conversation %d lies on %d: shard %d was asked %d times", n, home, shard, got)
			}
		}
	}
	if own[0] == 0 || own[1] == 0 || own[2] == 0 {
		t.Errorf("the servers have %v conversations, want some on each", own)
	}
}

// narrow registers a policy whose slices at a conversation's beginning do not leave it.
func narrow(t *testing.T, k *kernel.Kernel) policy.ID {
	t.Helper()
	params := policy.DefaultV1()
	params.MaxRadius = 1
	p, err := policy.Bind("narrow@1", params)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Policies().Register(t.Context(), dag.DefaultTenant, p); err != nil {
		t.Fatal(err)
	}
	return p.ID()
}

// testUnguarded takes a server's guards away: nothing may be admitted then.
func (s *spread) testUnguarded(t *testing.T, ring token.Keyring) {
	st := s.open(postgres.Options{})
	k := kernelOver(t, st, ring)
	n := s.at(dag.DefaultTenant, 2)
	admit := func(turn int) error {
		_, err := k.Turns().Admit(t.Context(), dag.DefaultTenant, []dag.Draft{lone(n, turn)})
		return err
	}
	if err := admit(100); err != nil {
		t.Fatal(err)
	}
	if err := execute(t.Context(), s.url, "ALTER TABLE guards DETACH PARTITION shard1.guards"); err != nil {
		t.Fatal(err)
	}
	err := admit(101)
	if err == nil || !strings.Contains(err.Error(), `"shard1"`) || !strings.Contains(err.Error(), "docs/scaling.md") || errors.Is(err, store.ErrBusy) {
		t.Errorf("without the guards of shard1: %v", err)
	}
	if err := execute(t.Context(), s.url, "ALTER TABLE guards ATTACH PARTITION shard1.guards FOR VALUES IN ('shard1')"); err != nil {
		t.Fatal(err)
	}
	if err := admit(101); err != nil {
		t.Error(err)
	}
	s.check("with the guards back", st)
}

// lone returns a turn without parents.
func lone(n, turn int) dag.Draft {
	return dag.Draft{ID: said(n, turn), Conversation: talk(n), Role: dag.RoleUser, CreatedAt: 100, Author: "human:guest", Content: "alone"}
}

// testLate lets a shard lose its standby, so that a commit hangs there when the primary has
// given it up, and ends later. The tenant's writes must wait for it, wherever they go:
// those of a tenant that wrote before, and those of one whose first write is the one that hangs.
func (s *spread) testLate(t *testing.T, ring token.Keyring, bundles [][]byte) {
	hasty := s.open(postgres.Options{Timeout: 2 * time.Second, Patience: -1})
	st := s.open(postgres.Options{})
	for _, tenant := range []dag.Tenant{dag.DefaultTenant, "newcomer"} {
		k := kernelOver(t, st, ring)
		there, here := s.at(tenant, 0), s.at(tenant, 2)
		head, err := k.Turns().Head(t.Context(), tenant)
		if err != nil {
			t.Fatal(err)
		}
		if (head == 0) != (tenant == "newcomer") {
			t.Fatalf("the head of %s is %d", tenant, head)
		}
		loseStandby(t, s.shards[0])
		admit := func(st store.Store, n int) (api.Receipt, error) {
			a, err := kernelOver(t, st, ring).Turns().Admit(t.Context(), tenant, []dag.Draft{lone(n, 110)})
			return a, err
		}
		if _, err := admit(hasty, there); !errors.Is(err, store.ErrUncertain) {
			t.Fatalf("the write that hangs ended with %v, want ErrUncertain", err)
		}
		await(t, s.primary, "the primary to give up", "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'kernel' AND query = 'COMMIT' AND state = 'active'")
		await(t, s.shards[0], "the commit over there", "SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'graphkernel' AND wait_event = 'SyncRep'")
		start := time.Now()
		if r, err := admit(st, here); !errors.Is(err, store.ErrBusy) || !strings.Contains(err.Error(), "lock timeout") {
			t.Fatalf("%s: while a commit is under way: %+v, %v; want ErrBusy, of a lock", tenant, r, err)
		}
		t.Logf("%s: ErrBusy after %v", tenant, time.Since(start))
		outcome := make(chan error, 1)
		go func() {
			_, err := admit(st, here)
			outcome <- err
		}()
		await(t, s.shards[0], "a write that waits", "SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'graphkernel' AND wait_event_type = 'Lock'")
		undone := strings.Count(s.shards[0].Log(), "could not serialize access")
		if err := s.shards[0].Synchronous(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-outcome; err != nil {
			t.Fatalf("%s: when the commit over there has ended: %v", tenant, err)
		}
		if strings.Count(s.shards[0].Log(), "could not serialize access") == undone {
			t.Errorf("%s: the write did not begin anew", tenant)
		}
		seg, err := st.Segment(t.Context(), tenant, []store.Part{{Conversation: talk(there)}, {Conversation: talk(here)}})
		if err != nil || seg.Head != head+1 || len(seg.Turns) == 0 || seg.Turns[len(seg.Turns)-1].ID != said(here, 110) {
			t.Fatalf("%s: %+v, %v", tenant, seg, err)
		}
		s.checkTenant("after a late commit", st, tenant)
		if receipt, err := admit(st, there); err != nil || receipt.Admitted != 1 {
			t.Fatalf("%s: admitting again: %+v, %v", tenant, receipt, err)
		}
		for _, n := range []int{there, here} {
			if _, err := k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: said(n, 110)}); err != nil {
				t.Fatal(err)
			}
		}
		s.checkTenant("after the turn came again", st, tenant)
	}
	sameAgain(t, kernelOver(t, st, ring), bundles)
}

// loseStandby makes commits of a server wait for a standby that does not exist.
func loseStandby(t *testing.T, server *pgtest.Server) {
	t.Helper()
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = 'gone'", "SELECT pg_reload_conf()"} {
		if err := server.Exec(t.Context(), "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	await(t, server, "the new settings", "SELECT current_setting('synchronous_standby_names') = 'gone'")
	for range 2 { // see pgtest.Server.Synchronous
		if err := server.Exec(t.Context(), "postgres", "CHECKPOINT"); err != nil {
			t.Fatal(err)
		}
	}
}
