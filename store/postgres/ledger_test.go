package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/packed"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// A meter counts what a store sends and waits for the answer to. Calls must not be made at
// once.
type meter struct {
	trips, prepared int
	statements      []string
}

func (m *meter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	m.trips++
	m.statements = append(m.statements, data.SQL)
	return ctx
}

func (m *meter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (m *meter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	m.trips++
	return ctx
}

func (m *meter) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	m.statements = append(m.statements, data.SQL)
}

func (m *meter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (m *meter) TracePrepareStart(ctx context.Context, _ *pgx.Conn, _ pgx.TracePrepareStartData) context.Context {
	m.prepared++
	return ctx
}

func (m *meter) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

// TestRoundTrips makes sure that a write's round trips do not grow with what it records,
// and that all is recorded in one transaction.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m := &meter{}
	s, err := postgres.Open(ctx, pgstore.URL(t), postgres.Options{Connections: 1, Trace: m})
	must(t, err)
	defer s.Close()
	issued := 0
	putIssued := func(n int) error {
		list := make([]store.Issued, n)
		for i := range list {
			issued++
			list[i] = storetest.Issued(issued, issued)
		}
		stands, err := s.PutIssued(ctx, storetest.Tenant, list)
		if err == nil && len(stands) != n {
			err = fmt.Errorf("%d records stand for %d bundles", len(stands), n)
		}
		return err
	}
	leaves, witnessed := 0, ledger.Root{}
	asserted, acts := 0, []knowledge.Act(nil)
	for _, c := range []struct {
		name string
		do   func(n int) error
		most int
	}{
		{"PutIssued", putIssued, 4},
		{"PutIssued of recorded bundles", func(n int) error { issued -= n; return putIssued(n) }, 3},
		{"PutLeaves", func(n int) error {
			list := make([][]byte, n)
			for i := range list {
				leaves++
				list[i] = filler(leaves)
			}
			_, err := s.PutLeaves(ctx, storetest.Tenant, list)
			return err
		}, 4},
		{"PutWitnessed", func(n int) error {
			old := witnessed
			witnessed = rootOf(int(old.Size) + n)
			return s.PutWitnessed(ctx, storetest.Tenant, "log.example", old, witnessed)
		}, 4},
		{"PutActs", func(n int) error {
			var superseded []knowledge.ID // all of the call before
			for i := range acts {
				superseded = append(superseded, acts[i].Fact.ID())
			}
			acts = make([]knowledge.Act, n)
			for i := range acts {
				asserted++
				acts[i] = storetest.Assertion(asserted, 1, 1, 500_000, "user")
			}
			acts[0].Supersedes = knowledge.SortIDs(superseded)
			_, err := s.PutActs(ctx, storetest.Tenant, acts, 1)
			return err
		}, 4},
		{"PutActs of recorded acts", func(n int) error {
			outcomes, err := s.PutActs(ctx, storetest.Tenant, acts[:n], 1)
			for _, o := range outcomes {
				if o.Result != knowledge.Existing {
					err = fmt.Errorf("an act that is recorded was %s", o.Result)
				}
			}
			return err
		}, 3},
	} {
		must(t, c.do(1))
		must(t, c.do(1)) // its statements are prepared by now
		for _, n := range []int{1, 16, 300} {
			*m = meter{}
			must(t, c.do(n))
			commits := 0
			for _, sql := range m.statements {
				if sql == "COMMIT" {
					commits++
				}
			}
			if m.trips == 0 || m.trips > c.most || m.prepared != 0 || commits != 1 {
				t.Errorf("%s of %d: %d round trips, %d commits, %d statements prepared anew; want at most %d, 1, 0:\n%s",
					c.name, n, m.trips, commits, m.prepared, c.most, strings.Join(m.statements, "\n"))
			}
		}
	}
	must(t, storetest.Check(ctx, s, storetest.Tenant))
}

// TestPrefix lets the index lead to leaves whose hashes only begin as another's do, as
// somebody who can make such leaves would.
func TestPrefix(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := pgstore.URL(t)
	s, err := harness(url).Open(nil)
	must(t, err)
	defer s.Close()
	first := [][]byte{filler(1), filler(2), filler(3)}
	_, err = s.PutLeaves(ctx, storetest.Tenant, first)
	must(t, err)
	conn, err := pgx.Connect(ctx, url)
	must(t, err)
	defer conn.Close(context.Background())
	for _, n := range []int{2, 4} { // one that is in the ledger, too, and one that is not
		for at := range first {
			_, err := conn.Exec(ctx, `INSERT INTO log_index VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
				string(storetest.Tenant), packed.LeafPrefix(ledger.LeafHash(filler(n))), at)
			must(t, err)
		}
	}
	if at, err := s.LogIndex(ctx, storetest.Tenant, filler(2)); err != nil || at != 1 {
		t.Errorf("the second leaf stands at %d, %v", at, err)
	}
	if at, err := s.LogIndex(ctx, storetest.Tenant, filler(4)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a leaf that is not there stands at %d, %v", at, err)
	}
	at, err := s.PutLeaves(ctx, storetest.Tenant, [][]byte{filler(4), filler(2), filler(4)})
	if want := []uint64{3, 1, 3}; err != nil || !slices.Equal(at, want) {
		t.Errorf("got the indexes %d, %v, want %d", at, err, want)
	}
}

// TestIssuedLeaves makes sure that leaves of issued slices are found by their records, so that
// log_index holds the others alone, and those that came before their records; and that a
// record that leads to another leaf is found out.
func TestIssuedLeaves(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := pgstore.URL(t)
	s, err := harness(url).Open(nil)
	must(t, err)
	defer s.Close()
	conn, err := pgx.Connect(ctx, url)
	must(t, err)
	defer conn.Close(context.Background())
	list := []store.Issued{storetest.Issued(1, 1), storetest.Issued(2, 1), storetest.Issued(3, 2)}
	_, err = s.PutIssued(ctx, storetest.Tenant, list[:1])
	must(t, err)
	must(t, s.PutPolicy(ctx, storetest.Tenant, storetest.Policy("p@1", 1)))
	_, err = s.PutLeaves(ctx, storetest.Tenant, [][]byte{store.IssuedLeaf(storetest.Tenant, &list[2]), store.IssuedLeaf(storetest.Tenant, &list[0])})
	must(t, err)
	_, err = s.PutIssued(ctx, storetest.Tenant, list)
	must(t, err)
	must(t, storetest.Check(ctx, s, storetest.Tenant))
	for query, want := range map[string]string{
		`SELECT string_agg(n::text, ' ' ORDER BY n) FROM log_index`:      "1 2",
		`SELECT string_agg(leaf::text, ' ' ORDER BY number) FROM issued`: "0 3 2",
		`SELECT string_agg(n::text, ' ' ORDER BY n) FROM log_leaves`:     "0 1 2 3",
	} {
		var got string
		must(t, conn.QueryRow(ctx, query).Scan(&got))
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, leaf := range []int{1, 3, 4, -1} { // of another act, of another record, and of none
		_, err := conn.Exec(ctx, `UPDATE issued SET leaf = $1 WHERE number = 1`, leaf)
		must(t, err)
		report, err := fsck.Tenant(ctx, s, storetest.Tenant, fsck.Options{Uncut: true})
		must(t, err)
		if report.Found != 1 || report.Findings[0].Where != "leaf 0" || report.Findings[0].Rule != "found by leaf" {
			t.Errorf("a record that leads to leaf %d: %v", leaf, report.Findings)
		}
	}
}

// TestManyLeaves appends more than one statement takes in, some of them twice.
func TestManyLeaves(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := pgstore.Open(t)
	const n = 10_000
	list := make([][]byte, 0, n+2)
	var want ledger.Tree
	for i := range n {
		list = append(list, filler(i))
		_, err := want.Append(ledger.LeafHash(filler(i)), nil)
		must(t, err)
	}
	list = append(list, list[5], list[n-1])
	for range 2 {
		at, err := s.PutLeaves(ctx, storetest.Tenant, list)
		if err != nil || len(at) != n+2 || at[0] != 0 || at[n-1] != n-1 || at[n] != 5 || at[n+1] != n-1 {
			t.Fatalf("%d indexes, %v", len(at), err)
		}
	}
	tree, err := s.Log(ctx, storetest.Tenant)
	if err != nil || tree.Size() != want.Size() || tree.Root() != want.Root() {
		t.Fatalf("the ledger has %d leaves and the root %s, want %d and %s; %v", tree.Size(), tree.Root(), want.Size(), want.Root(), err)
	}
	root := ledger.Root{Size: tree.Size(), Hash: tree.Root()}
	for _, i := range []uint64{0, 255, 256, n - 1} {
		proof, err := root.ProveInclusion(ctx, i, hashReader{s})
		must(t, err)
		leaves, err := s.LogLeaves(ctx, storetest.Tenant, i, 1)
		if err != nil || len(leaves) != 1 {
			t.Fatalf("%d leaves, %v", len(leaves), err)
		}
		must(t, root.CheckInclusion(i, ledger.LeafHash(leaves[0]), proof))
	}
}

// A hashReader is a store as ledger.Reader.
type hashReader struct{ store.Store }

func (r hashReader) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	return r.LogHashes(ctx, storetest.Tenant, level, from, n)
}

// TestWitnesses lets many replace the same root at once, through two stores: one does.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	stores := two(t)
	const writers = 8
	old := ledger.Root{}
	for round := range often(20) {
		start := make(chan struct{})
		var all sync.WaitGroup
		var mu sync.Mutex
		var done []ledger.Root
		for w := range writers {
			next := rootOf(1 + round*writers + w)
			all.Go(func() {
				<-start
				err := stores[w%2].PutWitnessed(t.Context(), storetest.Tenant, "log.example", old, next)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					done = append(done, next)
				} else if !errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrUncertain) {
					t.Error(err)
				}
			})
		}
		close(start)
		all.Wait()
		stands, err := stores[0].Witnessed(t.Context(), storetest.Tenant, "log.example")
		if err != nil || len(done) != 1 || stands != done[0] {
			t.Fatalf("%d of %d succeeded, and %+v stands, %v", len(done), writers, stands, err)
		}
		old = stands
	}
}

// TestWitnessedMeanwhile lets the answer to a commit be lost, and somebody else replace
// what was committed before it is tried again: that is not known to have changed nothing.
func TestWitnessedMeanwhile(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	ctx := t.Context()
	first, second, third := rootOf(1), rootOf(2), rootOf(3)
	overtake := func() {}
	fired := 0
	s := n.open(postgres.Options{Connections: 1, Step: func(step string) error {
		if step != "committed" || fired > 0 {
			return nil
		}
		fired++
		overtake()
		return lostAnswer{}
	}})
	err := s.PutWitnessed(ctx, storetest.Tenant, "log.example", ledger.Root{}, first)
	if err != nil || fired != 1 {
		t.Errorf("found again after the answer was lost: %v", err)
	}
	fired = 0
	overtake = func() { must(t, n.direct.PutWitnessed(ctx, storetest.Tenant, "log.example", second, third)) }
	err = s.PutWitnessed(ctx, storetest.Tenant, "log.example", first, second)
	if !errors.Is(err, store.ErrMoved) || !errors.Is(err, store.ErrUncertain) || fired != 1 {
		t.Errorf("replaced after the answer was lost: %v, want %v and %v", err, store.ErrMoved, store.ErrUncertain)
	}
	err = s.PutWitnessed(ctx, storetest.Tenant, "log.example", second, third)
	if !errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrUncertain) {
		t.Errorf("what another call made already: %v, want %v", err, store.ErrMoved)
	}
	if stands, err := s.Witnessed(ctx, storetest.Tenant, "log.example"); err != nil || stands != third {
		t.Errorf("%+v stands, %v, want %+v", stands, err, third)
	}
}

// A lostAnswer is what the network says when an answer does not come.
type lostAnswer struct{}

func (lostAnswer) Error() string   { return "the answer was lost" }
func (lostAnswer) Timeout() bool   { return true }
func (lostAnswer) Temporary() bool { return true }

// withoutLedgers takes out of a database what schema 3 and later ones brought.
const withoutLedgers = `DROP TABLE acts, edges, logs, log_leaves, log_hashes, log_index, witnessed; ALTER TABLE issued DROP COLUMN leaf, DROP COLUMN question; ALTER TABLE api_keys DROP COLUMN roles, DROP COLUMN authors; UPDATE graphkernel_schema SET version = 2`

// TestCompleteLedger brings a database of before there were ledgers to the newest schema:
// each tenant's ledger then has the leaves of all its acts, in the order that every back end
// gives them.
func TestCompleteLedger(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := pgtest.Run(t, pgtest.Options{})
	const database = "old"
	must(t, server.CreateDatabase(ctx, database, ""))
	url := server.URL(database)
	s, err := postgres.Open(ctx, url, postgres.Options{})
	must(t, err)
	want := map[dag.Tenant][][]byte{"empty": nil}
	for tenant, n := range map[dag.Tenant]int{"alpha": 3, "beta": 1050} { // of which the second takes several pages
		act(t, s, tenant, n)
		want[tenant] = history(t, s, tenant)
		if len(want[tenant]) != 4*n+(n+2)/3 {
			t.Fatalf("the history of %s has %d leaves", tenant, len(want[tenant]))
		}
		for _, leaf := range want[tenant] {
			if _, err := s.LogIndex(ctx, tenant, leaf); err != nil {
				t.Fatalf("tenant %s: %s: %v", tenant, leaf, err)
			}
		}
	}
	_, err = s.Append(ctx, "empty", []store.Batch{storetest.Chain(1, 1, 0)})
	must(t, err)
	must(t, s.Close())
	must(t, server.Exec(ctx, database, withoutLedgers))

	before := tables(t, server, database)
	for _, dry := range []bool{true, false} {
		m, err := postgres.Migrate(ctx, url, dry)
		if err != nil || m.From != 2 || m.To < 3 {
			t.Fatalf("dry %v: %+v, %v", dry, m, err)
		}
		if after := tables(t, server, database); (after == before) != dry {
			t.Fatalf("dry %v: %q became %q", dry, before, after)
		}
	}
	s, err = postgres.Open(ctx, url, postgres.Options{})
	must(t, err)
	defer s.Close()
	for tenant, leaves := range want {
		check := func(when string) {
			t.Helper()
			got, err := s.LogLeaves(ctx, tenant, 0, len(leaves)+10)
			must(t, err)
			for i := range min(len(got), len(leaves)) {
				if string(got[i]) != string(leaves[i]) {
					t.Fatalf("%s, tenant %s: leaf %d is %s, want %s", when, tenant, i, got[i], leaves[i])
				}
			}
			var tree ledger.Tree
			for _, leaf := range leaves {
				_, err := tree.Append(ledger.LeafHash(leaf), nil)
				must(t, err)
			}
			log, err := s.Log(ctx, tenant)
			if err != nil || len(got) != len(leaves) || log.Size() != tree.Size() || log.Root() != tree.Root() {
				t.Fatalf("%s, tenant %s: %d leaves, and an edge of %d, want %d; %v", when, tenant, len(got), log.Size(), len(leaves), err)
			}
			must(t, storetest.Check(ctx, s, tenant))
		}
		check("migrated")
		if tenant == "empty" {
			continue
		}
		act(t, s, tenant, 3) // which is there already
		check("the same acts again")
		more := storetest.Issued(9999, 9999)
		_, err := s.PutIssued(ctx, tenant, []store.Issued{more})
		must(t, err)
		leaves = append(leaves, store.IssuedLeaf(tenant, &more))
		check("an act more")
	}
}

// TestCompleteLedgerWaits migrates while a program that knows no ledger is amid a write:
// what it records is in the ledger, too.
func TestCompleteLedgerWaits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := pgtest.Run(t, pgtest.Options{})
	const database = "amid"
	must(t, server.CreateDatabase(ctx, database, ""))
	url := server.URL(database)
	s, err := postgres.Open(ctx, url, postgres.Options{})
	must(t, err)
	list := []store.Issued{storetest.Issued(1, 1), storetest.Issued(2, 2)}
	_, err = s.PutIssued(ctx, storetest.Tenant, list)
	must(t, err)
	must(t, s.Close())
	must(t, server.Exec(ctx, database, withoutLedgers))
	old, err := pgx.Connect(ctx, url)
	must(t, err)
	defer old.Close(context.Background())
	// The second record as if it were made only now.
	_, err = old.Exec(ctx, `CREATE TABLE later AS SELECT * FROM issued WHERE number = 2; DELETE FROM issued WHERE number = 2;
		BEGIN; UPDATE tenants SET issued = 2; INSERT INTO issued SELECT * FROM later`)
	must(t, err)
	migrated := make(chan error, 1)
	go func() {
		_, err := postgres.Migrate(ctx, url, false)
		migrated <- err
	}()
	for waits := "0"; waits != "1"; {
		waits, err = server.Value(ctx, database, "SELECT count(*) FROM pg_locks WHERE relation = 'tenants'::regclass AND NOT granted")
		must(t, err)
		select {
		case err := <-migrated:
			t.Fatalf("the migration did not wait for the writer: %v", err)
		default:
		}
	}
	_, err = old.Exec(ctx, "COMMIT")
	must(t, err)
	must(t, <-migrated)
	s, err = postgres.Open(ctx, url, postgres.Options{})
	must(t, err)
	defer s.Close()
	for i := range list {
		if at, err := s.LogIndex(ctx, storetest.Tenant, store.IssuedLeaf(storetest.Tenant, &list[i])); err != nil || at != uint64(i) {
			t.Errorf("the leaf of record %d is at %d, %v", i+1, at, err)
		}
	}
}

// act makes n acts of each kind, but revokes one key of three.
func act(t *testing.T, s store.Store, tenant dag.Tenant, n int) {
	t.Helper()
	ctx := t.Context()
	_, err := s.Append(ctx, tenant, []store.Batch{storetest.Chain(1, n+1, 0)})
	must(t, err)
	list := make([]store.Issued, n)
	for i := range list {
		list[i] = storetest.Issued(1+i, i)
		list[i].AsOf = 1
	}
	_, err = s.PutIssued(ctx, tenant, list)
	must(t, err)
	for i := range n {
		_, err := s.Erase(ctx, tenant, storetest.Erasure(1+i))
		must(t, err)
		key := storetest.Key(1 + i)
		key.Tenant, key.Admits = tenant, access.Scope{} // schemas without ledgers know no scope
		must(t, s.PutKey(ctx, key))
		if i%3 == 0 {
			_, err := s.RevokeKey(ctx, tenant, key.ID, storetest.RevokedAt(1))
			must(t, err)
		}
		must(t, s.PutPolicy(ctx, tenant, storetest.Policy(policy.ID(fmt.Sprintf("p%d@1", n-i)), 1)))
	}
}

// history gives the leaves of a tenant's acts, in the order of a migration.
func history(t *testing.T, s store.Store, tenant dag.Tenant) (leaves [][]byte) {
	t.Helper()
	ctx := t.Context()
	const all = 1 << 20
	policies, err := s.Policies(ctx, tenant)
	must(t, err)
	for _, p := range policies.All() {
		leaves = append(leaves, store.PolicyLeaf(tenant, p))
	}
	keys, err := s.Keys(ctx, tenant)
	must(t, err)
	for i := range keys {
		leaves = append(leaves, store.KeyLeaves(&keys[i])...)
	}
	events, err := s.Events(ctx, tenant, 0, all)
	must(t, err)
	for i := range events {
		leaves = append(leaves, store.EventLeaf(tenant, &events[i]))
	}
	issued, err := s.IssuedAfter(ctx, tenant, 0, all)
	must(t, err)
	for i := range issued {
		leaves = append(leaves, store.IssuedLeaf(tenant, &issued[i]))
	}
	return leaves
}
