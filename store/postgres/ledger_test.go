package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
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
	bundles := 0
	putIssued := func(n int) error {
		list := make([]issued.Record, n)
		for i := range list {
			bundles++
			list[i] = storetest.Issued(bundles, bundles)
		}
		stands, err := storetest.Bundles(s).Put(ctx, storetest.Tenant, list)
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
		{"PutIssued of recorded bundles", func(n int) error { bundles -= n; return putIssued(n) }, 4},
		{"PutLeaves", func(n int) error {
			list := make([][]byte, n)
			for i := range list {
				leaves++
				list[i] = filler(leaves)
			}
			_, err := storetest.PutLeaves(ctx, s, storetest.Tenant, list)
			return err
		}, 4},
		{"Swap", func(n int) error {
			old := witnessed
			witnessed = rootOf(int(old.Size) + n)
			return witness.Roots{Cells: s}.Replace(ctx, storetest.Tenant, "log.example", old, witnessed)
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
			_, err := storetest.Facts(s).Learn(ctx, storetest.Tenant, acts, 1)
			return err
		}, 5}, // one more than a new act, to see what names the superseded ones have
		{"PutActs of recorded acts", func(n int) error {
			outcomes, err := storetest.Facts(s).Learn(ctx, storetest.Tenant, acts[:n], 1)
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

// TestManyLeaves appends more than one statement takes in, some of them twice.
func TestManyLeaves(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := postgres.Open(ctx, pgstore.URL(t), postgres.Options{Timeout: 2 * time.Minute}) // in one transaction this process hashes for long, if others work, too
	must(t, err)
	defer s.Close()
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
		at, err := storetest.PutLeaves(ctx, s, storetest.Tenant, list)
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
		leaves, err := history.Leaves(ctx, s, storetest.Tenant, i, 1)
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
				err := witness.Roots{Cells: stores[w%2]}.Replace(t.Context(), storetest.Tenant, "log.example", old, next)
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
		stands, err := witness.Roots{Cells: stores[0]}.Last(t.Context(), storetest.Tenant, "log.example")
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
	err := witness.Roots{Cells: s}.Replace(ctx, storetest.Tenant, "log.example", ledger.Root{}, first)
	if err != nil || fired != 1 {
		t.Errorf("found again after the answer was lost: %v", err)
	}
	fired = 0
	overtake = func() {
		must(t, witness.Roots{Cells: n.direct}.Replace(ctx, storetest.Tenant, "log.example", second, third))
	}
	err = witness.Roots{Cells: s}.Replace(ctx, storetest.Tenant, "log.example", first, second)
	if !errors.Is(err, store.ErrMoved) || !errors.Is(err, store.ErrUncertain) || fired != 1 {
		t.Errorf("replaced after the answer was lost: %v, want %v and %v", err, store.ErrMoved, store.ErrUncertain)
	}
	err = witness.Roots{Cells: s}.Replace(ctx, storetest.Tenant, "log.example", second, third)
	if !errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrUncertain) {
		t.Errorf("what another call made already: %v, want %v", err, store.ErrMoved)
	}
	if stands, err := (witness.Roots{Cells: s}).Last(ctx, storetest.Tenant, "log.example"); err != nil || stands != third {
		t.Errorf("%+v stands, %v, want %+v", stands, err, third)
	}
}

// TestRecordedUnheard lets the answer to a commit of copied leaves be lost. The change is planned again
// where they are, and that is no fault of the source.
func TestRecordedUnheard(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	fired := 0
	s := n.open(postgres.Options{Connections: 1, Step: func(step string) error {
		if step != "committed" || fired > 0 {
			return nil
		}
		fired++
		return lostAnswer{}
	}})
	err := storetest.PutErased(t.Context(), s, storetest.Tenant, []erasures.Erasure{storetest.Erased(4, 1), storetest.Erased(5, 2)})
	if err != nil || fired != 1 {
		t.Errorf("put, and the answer lost %d times: %v", fired, err)
	}
	if tree, err := s.Log(t.Context(), storetest.Tenant); err != nil || tree.Size() != 2 {
		t.Errorf("%d leaves, %v", tree.Size(), err)
	}
}

// A lostAnswer is what the network says when an answer does not come.
type lostAnswer struct{}

func (lostAnswer) Error() string   { return "the answer was lost" }
func (lostAnswer) Timeout() bool   { return true }
func (lostAnswer) Temporary() bool { return true }
