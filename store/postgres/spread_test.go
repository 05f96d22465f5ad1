package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// A spread is a store whose partitions lie on three servers, by the SQL of
// docs/scaling.md.
type spread struct {
	t       *testing.T
	primary *pgtest.Server
	shards  []*pgtest.Server
	blocks  []string // of the document
	url     string   // of the primary's database, as a role that is no superuser
}

// The places that the document names for its blocks.
const (
	blockShardOnce = iota
	blockShardGuards
	blockPrimaryOnce
	blockShardTables
	blockMove
	blocks
)

// local is the number of the first partition that stays; the others go to the shards by turns.
const local = 4

func newSpread(t *testing.T) *spread {
	t.Helper()
	pgtest.Need(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "scaling.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut("\n"+string(text), "\n## Partitions on other servers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	s := &spread{t: t}
	for _, found := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(section, -1) {
		s.blocks = append(s.blocks, found[1])
	}
	if len(s.blocks) != blocks {
		t.Fatalf("docs/scaling.md has %d blocks of SQL on partitions, want %d", len(s.blocks), blocks)
	}
	settings := map[string]string{"max_connections": "200"}
	s.primary = pgtest.Run(t, pgtest.Options{Settings: settings})
	if err := execute(t.Context(), s.primary.URL("postgres"), "CREATE ROLE kernel LOGIN;\nCREATE DATABASE kernel OWNER kernel"); err != nil {
		t.Fatal(err)
	}
	s.url = as("kernel", s.primary.URL("kernel"))
	if _, err := postgres.Migrate(t.Context(), s.url, false); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		shard := pgtest.Run(t, pgtest.Options{Settings: settings})
		askPassword(t, shard)
		s.shards = append(s.shards, shard)
		s.run(blockShardOnce, shard.URL("postgres"), 0)
		s.run(blockShardGuards, as("graphkernel", shard.URL("graphkernel")), 0)
		s.run(blockPrimaryOnce, s.primary.URL("kernel"), 0)
	}
	return s
}

// as returns a URL with another user, and the password.
func as(user, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	u.User = url.UserPassword(user, "secret")
	return u.String()
}

// askPassword makes a server ask the role graphkernel for its password, as one of
// another machine would.
func askPassword(t *testing.T, s *pgtest.Server) {
	t.Helper()
	file := filepath.Join(s.Folder(), "pg_hba.conf")
	rules, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte("host all graphkernel 127.0.0.1/32 scram-sha-256\n"), rules...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Exec(t.Context(), "postgres", "SELECT pg_reload_conf()"); err != nil {
		t.Fatal(err)
	}
}

// shard returns the shard of a partition, or the last one that was started.
func (s *spread) shard(partition int) int {
	if len(s.shards) < 2 {
		return 0
	}
	return partition % 2
}

// run runs a block of the document, with its placeholders filled in.
func (s *spread) run(block int, address string, partition int) {
	s.t.Helper()
	n := s.shard(partition)
	if block == blockPrimaryOnce { // of the last one that was started
		n = len(s.shards) - 1
	}
	filled := map[string]string{
		"SHARD": fmt.Sprintf("shard%d", n+1), "HOST": "127.0.0.1", "PORT": strconv.Itoa(s.shards[n].Port()),
		"KERNEL": "kernel", "SECRET": "secret", "NN": fmt.Sprintf("%02d", partition), "N": strconv.Itoa(partition),
	}
	text := placeholders.ReplaceAllStringFunc(s.blocks[block], func(name string) string { return filled[name] })
	if err := execute(s.t.Context(), address, text); err != nil {
		s.t.Fatalf("block %d of docs/scaling.md, partition %d: %v\n%s", block, partition, err, text)
	}
}

var placeholders = regexp.MustCompile(`SHARD|\bHOST\b|\bPORT\b|KERNEL|SECRET|NN|\bN\b`)

// move moves all partitions below local.
func (s *spread) move() {
	s.t.Helper()
	for partition := range local {
		s.run(blockShardTables, as("graphkernel", s.shards[s.shard(partition)].URL("graphkernel")), partition)
		s.run(blockMove, s.url, partition)
	}
}

// execute runs statements one after the other, as psql does: each ends with a
// semicolon at the end of its line.
func execute(ctx context.Context, address, sql string) error {
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	for statement := range strings.SplitAfterSeq(sql, ";\n") {
		if _, failed := c.Exec(ctx, statement); failed != nil {
			err = fmt.Errorf("%w in %s", failed, statement)
			break
		}
	}
	return errors.Join(err, c.Close(ctx))
}

// onShards counts the rows of turns and runs on the shards that a condition on their
// numbers meets.
func (s *spread) onShards(condition string) (count int) {
	s.t.Helper()
	for partition := range local {
		for _, table := range []struct{ name, number string }{{"turns", "seq"}, {"runs", "last"}} {
			sql := fmt.Sprintf("SELECT count(*) FROM %s_%02d WHERE %s", table.name, partition, strings.ReplaceAll(condition, "NUMBER", table.number))
			text, err := s.shards[s.shard(partition)].Value(s.t.Context(), "graphkernel", sql)
			if err != nil {
				s.t.Fatal(err)
			}
			n, err := strconv.Atoi(text)
			if err != nil {
				s.t.Fatal(err)
			}
			count += n
		}
	}
	return count
}

func (s *spread) open(o postgres.Options) *postgres.Store {
	s.t.Helper()
	o.Connections = 8
	st, err := postgres.Open(s.t.Context(), s.url, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = st.Close() })
	return st
}

// check looks at all there is.
func (s *spread) check(when string, st store.Store) {
	s.t.Helper()
	s.checkTenant(when, st, dag.DefaultTenant)
}

func (s *spread) checkTenant(when string, st store.Store, tenant dag.Tenant) {
	s.t.Helper()
	report, err := fsck.Tenant(s.t.Context(), st, tenant, fsck.Options{})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		s.t.Fatalf("%s: %v", when, err)
	}
}

// kernelOver returns a kernel that has nothing in its caches.
func kernelOver(t *testing.T, st store.Store, ring token.Keyring) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(kernel.Config{Store: st, Authority: token.NewAuthority(ring), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

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
	t.Run("Contract", func(t *testing.T) {
		if testing.Short() {
			t.Skip("TestContract runs it under the race detector; what differs here is SQL")
		}
		fewerModels(t)
		storetest.RunWrites(t, s.writesElsewhere(t), func(t *testing.T) storetest.Harness {
			pgstore.Empty(t, s.url)
			return harness(s.url)
		})
	})
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
		`SELECT right(relname, 2) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'turns'::regclass
		AND satisfies_hash_partition('turns'::regclass, 16, right(relname, 2)::int, '%s'::text COLLATE "C", '%s'::uuid)`, tenant, talk(n)))
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
	params := policy.Default()
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
		admit := func(st store.Store, n int) (store.Receipt, error) {
			return kernelOver(t, st, ring).Turns().Admit(t.Context(), tenant, []dag.Draft{lone(n, 110)})
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
