package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/faultproxy"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// A network is a database, a way there that is always well, and one that is not.
type network struct {
	t      *testing.T
	proxy  *faultproxy.Proxy
	url    string      // through the proxy
	direct store.Store // past it
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	socket := pgstore.URL(t)
	u, err := url.Parse(socket)
	if err != nil {
		t.Fatal(err)
	}
	n := &network{t: t}
	if n.proxy, err = faultproxy.New("127.0.0.1:" + u.Query().Get("port")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.proxy.Close() })
	n.url = (&url.URL{Scheme: "postgres", User: u.User, Host: n.proxy.Address(), Path: u.Path, RawQuery: "sslmode=disable"}).String()
	n.direct, err = harness(socket).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.direct.Close() })
	return n
}

// open opens a store through the proxy.
func (n *network) open(o postgres.Options) *postgres.Store {
	n.t.Helper()
	s, err := postgres.Open(n.t.Context(), n.url, o)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		n.proxy.Cut() // the driver takes its leave of what hangs
		if err := s.Close(); err != nil {
			n.t.Error(err)
		}
	})
	return s
}

// check is fsck of the tenant.
func (n *network) check() {
	n.t.Helper()
	if err := storetest.Check(context.Background(), n.direct, storetest.Tenant); err != nil {
		n.t.Error(err)
	}
}

// settle waits until there is no more than one connection: the driver asks the server to
// give up what a broken one asked for, by a connection of its own.
func (n *network) settle() {
	for end := time.Now().Add(5 * time.Second); n.proxy.Counts().Open > 1 && time.Now().Before(end); {
		time.Sleep(100 * time.Microsecond)
	}
}

// known reports whether an error is one that callers branch on when the database is out
// of reach.
func known(err error) bool {
	for _, known := range []error{store.ErrLost, store.ErrUncertain, store.ErrBusy, store.ErrUnwritable, context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// A swept write is one of those whose exchange with the server is cut at each byte. do
// makes the i-th and says whether the answer is right; there says whether it is kept.
type swept struct {
	name   string
	leaves uint64 // that it appends to the ledger
	do     func(ctx context.Context, s store.Store, i int) error
	there  func(ctx context.Context, s store.Store, i int) (bool, error)
	before func(ctx context.Context, s store.Store) error // nil: nothing
}

var errAnswer = errors.New("the answer is wrong")

// listed is how many bundles of one slice issuedList gives.
const listed = 3

func issuedList(i int) []issued.Record {
	list := make([]issued.Record, listed)
	for k := range list {
		list[k] = storetest.Issued(listed*i+k, i)
		list[k].AsOf = 1 // of as many digits in each leaf
	}
	return list
}

// superseded is how many statements are believed for superseding.
const superseded = 2000

// superseding makes two acts, the second of which ends what is believed of one statement.
func superseding(i int) []knowledge.Act {
	next := storetest.Assertion(1_000_000+i, 2, 1, 600_000, "user")
	ended := storetest.Assertion(1_000_000+i, 1, 1, 500_000, "user")
	next.Supersedes = []knowledge.ID{ended.Fact.ID()}
	return []knowledge.Act{storetest.Assertion(2_000_000+i, 1, 3_000_000+i, 500_000, "user"), next}
}

// filler makes a leaf; all are of one length.
func filler(n int) []byte {
	l := ledger.KeyLeaf{Tenant: storetest.Tenant, Purpose: ledger.PurposeToken, Event: ledger.KeyCreated, KeyID: fmt.Sprintf("%012d", n)}
	return l.Append(nil)
}

// rootOf makes up the root of a log.
func rootOf(size int) ledger.Root {
	return ledger.Root{Size: uint64(size), Hash: ledger.LeafHash(filler(size))}
}

// level appends leaves, past the proxy, until the next leaves take as many bytes as any: the
// ledger's edge is as long before as it was, and after, and no tile is filled by them.
func (n *network) level(leaves uint64) {
	n.t.Helper()
	if leaves == 0 {
		return
	}
	tree, err := n.direct.Log(n.t.Context(), storetest.Tenant)
	if err != nil {
		n.t.Fatal(err)
	}
	var fill [][]byte
	const ones = 6
	for size := tree.Size(); bits.OnesCount64(size) != ones || bits.OnesCount64(size+leaves) != ones || size>>8 != (size+leaves)>>8; size++ {
		fill = append(fill, filler(int(size)))
	}
	if _, err := storetest.PutLeaves(n.t.Context(), n.direct, storetest.Tenant, fill); err != nil {
		n.t.Fatal(err)
	}
}

func sweptWrites() []swept {
	const step = 3 // turns of an append
	ctx := context.Background()
	return []swept{{
		name: "Append",
		do: func(ctx context.Context, s store.Store, i int) error {
			first := 100_000 + step*i
			chain := storetest.Chain(first, step, 1000+i) // a new conversation: each exchange has as many bytes
			chain[0].Parents = []dag.Parent{{ID: storetest.TurnID(1), Kind: dag.Reply}}
			r, err := s.Append(ctx, storetest.Tenant, []store.Batch{chain})
			if err == nil && (r.Admitted != step || r.Existing != 0 || r.Edges != step) {
				err = fmt.Errorf("%w: %+v", errAnswer, r)
			}
			return err
		},
		there: func(ctx context.Context, s store.Store, i int) (bool, error) {
			ids := []dag.TurnID{storetest.TurnID(100_000 + step*i), storetest.TurnID(100_001 + step*i), storetest.TurnID(100_002 + step*i)}
			records, err := s.Turns(ctx, storetest.Tenant, store.IDs(ids))
			if err == nil && len(records)%step != 0 {
				err = fmt.Errorf("%d turns of %d are there", len(records), step)
			}
			return len(records) > 0, err
		},
	}, {
		name:   "PutIssued",
		leaves: listed,
		do: func(ctx context.Context, s store.Store, i int) error {
			asked := issuedList(i)
			got, err := storetest.Bundles(s).Put(ctx, storetest.Tenant, asked)
			if err != nil {
				return err
			}
			for k := range asked {
				asked[k].Number, asked[k].Leaf = got[0].Number+uint64(k), got[0].Leaf+uint64(k)
			}
			if !slices.Equal(got, asked) || got[0].Number == 0 {
				return fmt.Errorf("%w: %+v", errAnswer, got)
			}
			return nil
		},
		there: func(ctx context.Context, s store.Store, i int) (bool, error) {
			list, err := storetest.Bundles(s).ByID(ctx, storetest.Tenant, storetest.Issued(i, i).Provenance.SliceID)
			for k, asked := range issuedList(i) {
				if err != nil || k >= len(list) {
					break
				}
				leaves, leafErr := history.Leaves(ctx, s, storetest.Tenant, list[k].Leaf, 1)
				if err = leafErr; err == nil && (len(leaves) != 1 || string(leaves[0]) != string(issued.Leaf(storetest.Tenant, &asked))) {
					err = fmt.Errorf("the record leads to leaf %d, which is %q", list[k].Leaf, leaves)
				}
			}
			if err == nil && len(list)%listed != 0 {
				err = fmt.Errorf("%d records of %d are there", len(list), listed)
			}
			return len(list) > 0, err
		},
	}, {
		name: "PutActs",
		before: func(ctx context.Context, s store.Store) error {
			acts := make([]knowledge.Act, superseded)
			for i := range acts {
				acts[i] = storetest.Assertion(1_000_000+i, 1, 1, 500_000, "user")
			}
			_, err := storetest.Facts(s).Learn(ctx, storetest.Tenant, acts, 1)
			return err
		},
		do: func(ctx context.Context, s store.Store, i int) error {
			outcomes, err := storetest.Facts(s).Learn(ctx, storetest.Tenant, superseding(i), 1)
			if err == nil && (len(outcomes) != 2 || outcomes[0].Result != knowledge.Asserted || outcomes[1].Result != knowledge.Asserted || outcomes[1].Seq != outcomes[0].Seq+1) {
				err = fmt.Errorf("%w: %+v", errAnswer, outcomes)
			}
			return err
		},
		there: func(ctx context.Context, s store.Store, i int) (bool, error) {
			acts := superseding(i)
			list, err := storetest.Facts(s).ActsOf(ctx, storetest.Tenant, acts[1].Fact.ID(), 0, 9)
			if err != nil || len(list) == 0 {
				return false, err
			}
			// The ended version, and both edges of the new one.
			old, err := storetest.Facts(s).ActsOf(ctx, storetest.Tenant, acts[1].Supersedes[0], 0, 9)
			if err == nil && (len(list) != 1 || len(old) != 1 || old[0].Until != list[0].Seq) {
				err = fmt.Errorf("%+v are there, behind %+v", list, old)
			}
			lists, edgesErr := storetest.Facts(s).Edges(ctx, storetest.Tenant, []knowledge.Ask{
				{Name: acts[0].Fact.Subject, Limit: 9}, {Name: acts[0].Fact.Object, Incoming: true, Limit: 9},
				{Name: acts[1].Fact.Subject, Limit: 9},
			})
			if err = errors.Join(err, edgesErr); err == nil && (len(lists[0]) != 1 || len(lists[1]) != 1 || len(lists[2]) != 2 || lists[2][0].Since != list[0].Seq) {
				err = fmt.Errorf("the edges are %+v", lists)
			}
			return true, err
		},
	}, {
		name:   "PutLeaves",
		leaves: 2,
		do: func(ctx context.Context, s store.Store, i int) error {
			at, err := storetest.PutLeaves(ctx, s, storetest.Tenant, [][]byte{filler(1_000_000 + i), filler(2_000_000 + i)})
			if err == nil && (len(at) != 2 || at[1] != at[0]+1) {
				err = fmt.Errorf("%w: %v", errAnswer, at)
			}
			return err
		},
		there: func(ctx context.Context, s store.Store, i int) (bool, error) {
			at, err := storetest.LeafIndex(ctx, s, storetest.Tenant, filler(1_000_000+i))
			next, nextErr := storetest.LeafIndex(ctx, s, storetest.Tenant, filler(2_000_000+i))
			if nextErr == nil { // a commit whose answer was lost may have come between the two
				at, err = storetest.LeafIndex(ctx, s, storetest.Tenant, filler(1_000_000+i))
			}
			if errors.Is(err, store.ErrNotFound) && errors.Is(nextErr, store.ErrNotFound) {
				return false, nil
			}
			if err = errors.Join(err, nextErr); err == nil && next != at+1 {
				err = fmt.Errorf("the leaves stand at %d and %d", at, next)
			}
			return true, err
		},
	}, {
		name: "Swap",
		do: func(ctx context.Context, s store.Store, i int) error {
			return witness.Roots{Cells: s}.Replace(ctx, storetest.Tenant, fmt.Sprintf("log-%06d.example", i), ledger.Root{}, rootOf(1+i))
		},
		there: func(ctx context.Context, s store.Store, i int) (bool, error) {
			root, err := witness.Roots{Cells: s}.Last(ctx, storetest.Tenant, fmt.Sprintf("log-%06d.example", i))
			if err == nil && root.Size != 0 && root != rootOf(1+i) {
				err = fmt.Errorf("the root of %d leaves is witnessed", root.Size)
			}
			return root.Size != 0, err
		},
	}, {
		name:   "Erase",
		leaves: 1,
		do: func(ctx context.Context, s store.Store, i int) error {
			e, err := storetest.Erase(ctx, s, storetest.Tenant, storetest.Erasure(1+i))
			want := storetest.Erased(e.Seq, 1+i)
			if err == nil && (e != want || e.Seq == 0) {
				err = fmt.Errorf("%w: %+v", errAnswer, e)
			}
			return err
		},
		there: func(_ context.Context, s store.Store, i int) (bool, error) {
			records, err := s.Turns(ctx, storetest.Tenant, store.IDs{storetest.TurnID(1 + i)})
			if err != nil || len(records) != 1 {
				return false, errors.Join(err, fmt.Errorf("%d turns", len(records)))
			}
			return records[0].Body == nil, nil
		},
	}}
}

// TestCutAnywhere cuts the connection after each byte of a write's exchange with the
// server, in each direction; where the end of the commit is not near, after some of
// them, others each time. With patience the answer is the one that was lost. Without, it
// is an error that says what was kept.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	stride, seed := 23, rand.Uint64()
	if testing.Short() {
		stride = 211
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for _, w := range sweptWrites() {
		for _, direction := range []faultproxy.Direction{faultproxy.ToServer, faultproxy.ToClient} {
			phase := r.IntN(stride)
			t.Run(fmt.Sprintf("%s/%d", w.name, direction), func(t *testing.T) {
				t.Parallel()
				sweep(t, w, direction, stride, phase)
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			})
		}
	}
}

func sweep(t *testing.T, w swept, direction faultproxy.Direction, stride, phase int) {
	n := newNetwork(t)
	ctx := t.Context()
	if _, err := n.direct.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 2000, 0)}); err != nil {
		t.Fatal(err)
	}
	if w.before != nil {
		if err := w.before(ctx, n.direct); err != nil {
			t.Fatal(err)
		}
	}
	patient := n.open(postgres.Options{Connections: 1})
	i := 0
	calm := func(s store.Store) int { // makes a write in peace, and returns the bytes that it took
		t.Helper()
		n.level(w.leaves)
		n.settle()
		before := n.proxy.Counts()
		if err := w.do(ctx, s, i); err != nil {
			t.Fatalf("in peace: %v", err)
		}
		i++
		after := n.proxy.Counts()
		return int([]int64{after.ToServer - before.ToServer, after.ToClient - before.ToClient}[direction])
	}
	calm(patient)
	calm(patient) // its statements are prepared by now
	total := calm(patient)
	const commit = 40 // "COMMIT" and its answer are shorter
	var points []int
	for at := phase; at < total-commit; at += stride {
		points = append(points, at)
	}
	for at := max(total-commit, 0); at < total+3; at++ {
		points = append(points, at)
	}
	cut := 0
	for _, at := range points {
		n.level(w.leaves)
		n.settle()
		done := n.proxy.CutAfter(direction, int64(at))
		if err := w.do(ctx, patient, i); err != nil {
			t.Errorf("cut after %d of %d bytes: %v", at, total, err)
		}
		select {
		case <-done:
			cut++
		default:
			n.proxy.CutAfter(direction, 1<<40)
		}
		if there, err := w.there(ctx, n.direct, i); err != nil || !there {
			t.Errorf("cut after %d of %d bytes: acknowledged, and there is %v, %v", at, total, there, err)
		}
		i++
	}
	if cut < len(points)-20 {
		t.Errorf("of %d exchanges %d were cut", len(points), cut)
	}

	if err := patient.Close(); err != nil {
		t.Fatal(err)
	}
	hasty := n.open(postgres.Options{Connections: 1, Patience: -1})
	calm(hasty)
	calm(hasty)
	lost, kept, unkept := 0, 0, 0
	for _, at := range points {
		n.level(w.leaves)
		n.settle()
		done := n.proxy.CutAfter(direction, int64(at))
		err := w.do(ctx, hasty, i)
		there, thereErr := w.there(ctx, n.direct, i)
		if thereErr != nil {
			t.Errorf("cut after %d of %d bytes: %v", at, total, thereErr)
		}
		switch {
		case err == nil:
			if !there {
				t.Errorf("cut after %d of %d bytes: acknowledged, and not there", at, total)
			}
		case errors.Is(err, store.ErrUncertain):
			if there {
				kept++
			} else {
				unkept++
			}
		case errors.Is(err, store.ErrLost):
			if lost++; there {
				t.Errorf("cut after %d of %d bytes: there, and the error is %v", at, total, err)
			}
		default:
			t.Errorf("cut after %d of %d bytes: %v", at, total, err)
		}
		select {
		case <-done:
		default:
			n.proxy.CutAfter(direction, 1<<40)
		}
		i++
		soon(t, w, hasty, &i)
	}
	if lost == 0 || direction == faultproxy.ToClient && kept == 0 || direction == faultproxy.ToServer && unkept == 0 {
		t.Errorf("%d writes were lost, %d of unknown outcome were kept and %d not; want some of each that can be", lost, kept, unkept)
	}
	t.Logf("%d bytes, %d and %d cuts, %d lost, %d kept, %d not", total, cut, len(points), lost, kept, unkept)
	n.check()
}

// soon makes writes until one succeeds: without patience, one with a connection that was
// cut after the answer before fails.
func soon(t *testing.T, w swept, s store.Store, i *int) {
	t.Helper()
	for range 3 {
		err := w.do(t.Context(), s, *i)
		*i++
		if err == nil {
			return
		}
		if !errors.Is(err, store.ErrLost) && !errors.Is(err, store.ErrUncertain) {
			t.Fatal(err)
		}
	}
	t.Fatal("three writes in peace failed")
}

// timed calls fn and makes sure that it takes no longer than bound.
func timed(t *testing.T, what string, bound time.Duration, fn func() error) error {
	t.Helper()
	began := time.Now()
	err := fn()
	if took := time.Since(began); took > bound {
		t.Errorf("%s took %v, want at most %v (%v)", what, took, bound, err)
	}
	return err
}

// TestDeadline loses the server at each step of a write, and before a read, while the
// caller waits for so long and no longer.
func TestDeadline(t *testing.T) {
	t.Parallel()
	const waits = 600 * time.Millisecond
	n := newNetwork(t)
	if _, err := n.direct.Append(t.Context(), storetest.Tenant, []store.Batch{storetest.Chain(1, 50, 0)}); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for i, at := range []string{"", "turns", "entries", "head", "commit"} {
		for j, fault := range []faultproxy.Fault{faultproxy.HalfOpen(), {ToClient: faultproxy.Path{Swallow: true}}, {ToServer: faultproxy.Path{Swallow: true}}} {
			armed := false
			s := n.open(postgres.Options{Connections: 2, Step: func(step string) error {
				if armed && step == at {
					armed = false
					n.proxy.Set(fault)
				}
				return nil
			}})
			if armed = true; at == "" {
				n.proxy.Set(fault)
			}
			ctx, cancel := context.WithTimeout(t.Context(), waits)
			err := timed(t, "an erasure lost at "+at, waits+slack, func() error {
				_, err := storetest.Erase(ctx, s, storetest.Tenant, storetest.Erasure(1+3*i+j))
				return err
			})
			if at == "commit" && !errors.Is(err, store.ErrUncertain) || at != "commit" && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("lost at %q: %v", at, err)
			}
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), waits)
			err = timed(t, "a look-up", waits+slack, func() error {
				_, err := s.Head(ctx, storetest.Tenant)
				return err
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a look-up: %v", err)
			}
			cancel()
			tried++
			n.proxy.Set(faultproxy.Pass())
			n.proxy.Cut()
		}
	}
	n.proxy.Set(faultproxy.HalfOpen())
	err := timed(t, "to open a store", 1500*time.Millisecond, func() error {
		_, err := postgres.Open(t.Context(), n.url, postgres.Options{Timeout: 300 * time.Millisecond})
		return err
	})
	if !errors.Is(err, store.ErrLost) {
		t.Errorf("to open a store gave %v", err)
	}
	if tried == 0 {
		t.Error("nothing was tried")
	}
	n.check()
}

// TestHeadWhileBreaks loses the connection while the question for the head is on its way: it is
// asked again, and the work is not done again. A server that stays away is told of in time.
func TestHeadWhileBreaks(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	if _, err := n.direct.Append(t.Context(), storetest.Tenant, []store.Batch{storetest.Chain(1, 5, 0)}); err != nil {
		t.Fatal(err)
	}
	s := n.open(postgres.Options{Connections: 2, Timeout: chaosTimeout, Patience: chaosPatience})
	for range 3 { // the first prepares the statement
		worked := 0
		n.proxy.Set(faultproxy.Pass())
		head, err := s.HeadWhile(t.Context(), storetest.Tenant, func() { worked++ })
		if err != nil || head != 5 || worked != 1 {
			t.Errorf("the head is %d, %v, and the work was done %d times", head, err, worked)
		}
		n.proxy.Set(faultproxy.Fault{ToClient: faultproxy.Path{Swallow: true}})
		head, err = s.HeadWhile(t.Context(), storetest.Tenant, func() {
			worked++
			n.proxy.Set(faultproxy.Pass())
			n.proxy.Cut()
		})
		if err != nil || head != 5 || worked != 2 {
			t.Errorf("behind a cut the head is %d, %v, and the work was done %d times in all", head, err, worked)
		}
	}
	hasty := n.open(postgres.Options{Connections: 2, Timeout: chaosTimeout, Patience: -1})
	n.proxy.Set(faultproxy.HalfOpen())
	err := timed(t, "to ask a server that is away", chaosTimeout*9/8+slack/4, func() error {
		_, err := hasty.HeadWhile(t.Context(), storetest.Tenant, func() {})
		return err
	})
	if !errors.Is(err, store.ErrLost) {
		t.Errorf("a server that is away gave %v", err)
	}
	n.proxy.Set(faultproxy.Pass())
	n.proxy.Cut()
	n.check()
}

// Short times, as a test has them.
const (
	chaosTimeout  = 800 * time.Millisecond
	chaosPatience = 5 * time.Second
	slack         = 4 * time.Second // of a machine that has other work; what hangs, hangs for longer
)

// TestRecovery lets all connections of a pool hang, and the network heal: the next call
// is answered, though no connection ever says that it is dead.
func TestRecovery(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	s := n.open(postgres.Options{Connections: 8, Timeout: chaosTimeout, Patience: chaosPatience})
	for round, quiet := range []time.Duration{0, 1100 * time.Millisecond} {
		all := func(bound time.Duration, name string) (failed int) {
			var wait sync.WaitGroup
			var mu sync.Mutex
			for i := range 8 {
				wait.Go(func() {
					err := timed(t, name, bound, func() error {
						tenant := dag.Tenant(fmt.Sprintf("tenant-%d", i)) // writers of one would be in line with one connection
						_, err := s.Append(t.Context(), tenant, []store.Batch{{storetest.Arrival(1000*round+10*i+len(name), i, name)}})
						return err
					})
					if err != nil && !known(err) {
						t.Errorf("%s: %v", name, err)
					}
					if err != nil {
						mu.Lock()
						failed++
						mu.Unlock()
					}
				})
			}
			wait.Wait()
			return failed
		}
		if failed := all(chaosTimeout+chaosPatience+slack, "well"); failed > 0 {
			t.Errorf("%d calls failed before anything was wrong", failed)
		}
		n.proxy.Set(faultproxy.HalfOpen())
		if quiet == 0 {
			if failed := all(chaosTimeout+chaosPatience+slack, "half-open"); failed != 8 {
				t.Errorf("%d calls of 8 failed", failed)
			}
		} else {
			// Nobody asks while the network is broken: the connections die unseen.
			_, _ = s.Head(t.Context(), storetest.Tenant)
			time.Sleep(quiet)
		}
		n.proxy.Set(faultproxy.Pass())
		err := timed(t, "a look-up afterwards", chaosPatience, func() error {
			_, err := s.Head(t.Context(), storetest.Tenant)
			return err
		})
		if err != nil {
			t.Errorf("a look-up afterwards: %v", err)
		}
		for end := time.Now().Add(chaosPatience); all(chaosTimeout+chaosPatience+slack, "afterwards") > 0; {
			if time.Now().After(end) {
				t.Errorf("%v later writes still fail", chaosPatience)
				break
			}
		}
	}
	n.check()
}

// TestChaos lets clients of a kernel work while the network breaks in every way, at
// random. Whatever they were told is so. On a slow machine one time may not be enough for
// clients to be told everything that they can be.
func TestChaos(t *testing.T) {
	t.Parallel()
	lasts := 8 * time.Second
	if testing.Short() {
		lasts = 4 * time.Second
	}
	told := map[string]int{}
	for range 8 {
		chaos(t, lasts, told)
		if t.Failed() || told["kept"] > 0 && told["lost"] > 0 && told["sliced"] > 0 && told["erased"] > 0 {
			return
		}
	}
	t.Errorf("clients heard %v, want some of each", told)
}

// chaos lets it happen once, and adds to what clients were told.
func chaos(t *testing.T, lasts time.Duration, told map[string]int) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	n := newNetwork(t)
	s := n.open(postgres.Options{Connections: 8, Timeout: chaosTimeout, Patience: chaosPatience})
	secret, err := token.NewSecret(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	var work sync.WaitGroup
	clients := make([]*client, 6)
	for i := range clients {
		clients[i] = &client{t: t, k: k, number: i, rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		work.Go(func() {
			for ctx.Err() == nil {
				clients[i].act(t.Context())
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, 99))
	one := faultproxy.Path{Swallow: true}
	faults := []func() faultproxy.Fault{
		faultproxy.Refuse, faultproxy.HalfOpen,
		func() faultproxy.Fault { return faultproxy.Fault{ToServer: one} },
		func() faultproxy.Fault { return faultproxy.Fault{ToClient: one} },
		func() faultproxy.Fault { return faultproxy.Delay(time.Duration(r.IntN(200)) * time.Millisecond) },
		func() faultproxy.Fault {
			return faultproxy.Slow(1+r.IntN(500), time.Duration(r.IntN(5))*time.Millisecond)
		},
	}
	for ctx.Err() == nil {
		n.proxy.Set(faults[r.IntN(len(faults))]())
		if r.IntN(2) == 0 {
			n.proxy.Cut()
		}
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		n.proxy.Set(faultproxy.Pass())
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		for range r.IntN(5) {
			n.proxy.CutAfter(faultproxy.Direction(r.IntN(2)), int64(r.IntN(5000)))
			time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
		}
	}
	work.Wait()
	n.proxy.Set(faultproxy.Pass())
	for _, d := range []faultproxy.Direction{faultproxy.ToServer, faultproxy.ToClient} {
		n.proxy.CutAfter(d, 1<<40)
	}
	healed := time.Now()
	for _, c := range clients { // the same store, not opened again
		for !c.admit(t.Context()) {
			if time.Since(healed) > chaosPatience+slack {
				t.Fatalf("%v after the faults writes still fail", time.Since(healed))
			}
		}
	}
	for _, c := range clients {
		c.verify(n.direct, told)
	}
	report, err := fsck.Store(t.Context(), n.direct, fsck.Options{})
	if err != nil || !report.OK() {
		t.Errorf("fsck: %v, %v, %+v", err, report.Err(), report.Counts)
	}
	t.Logf("clients heard %v; proxy %+v", told, n.proxy.Counts())
}

// A client uses a kernel and keeps in mind what it was told.
type client struct {
	t      *testing.T
	k      *kernel.Kernel
	rand   *rand.Rand
	number int

	calls                         int
	kept, lost, uncertain, erased []dag.TurnID
	sliced                        int
}

// call bounds a call in time, by its context or without, and sorts its error.
func (c *client) call(ctx context.Context, what string, fn func(context.Context) error) error {
	bound := chaosTimeout + chaosPatience + slack
	if c.rand.IntN(2) == 0 {
		waits := time.Duration(1+c.rand.IntN(500)) * time.Millisecond
		limited, cancel := context.WithTimeout(ctx, waits)
		defer cancel()
		ctx, bound = limited, waits+slack
	}
	err := timed(c.t, what, bound, func() error { return fn(ctx) })
	if err != nil && !known(err) {
		c.t.Errorf("%s: %v", what, err)
	}
	return err
}

func (c *client) act(ctx context.Context) {
	switch {
	case len(c.kept) == 0 || c.rand.IntN(3) > 0:
		c.admit(ctx)
	case c.rand.IntN(2) == 0:
		anchor := c.kept[c.rand.IntN(len(c.kept))]
		err := c.call(ctx, "slice", func(ctx context.Context) error {
			_, err := c.k.Slices().Cut(ctx, storetest.Tenant, kernel.Request{Anchor: anchor})
			return err
		})
		if err == nil {
			c.sliced++
		}
	default:
		id := c.kept[c.rand.IntN(len(c.kept))]
		err := c.call(ctx, "erase", func(ctx context.Context) error {
			_, err := c.k.Turns().Erase(ctx, storetest.Tenant, id, "asked")
			return err
		})
		if err == nil {
			c.erased = append(c.erased, id)
		}
	}
}

// admit admits one new turn, and reports whether it was told so.
func (c *client) admit(ctx context.Context) bool {
	c.calls++
	d := dag.Draft{
		ID:           dag.ExternalTurnID("chaos", fmt.Sprint(c.number, "/", c.calls)),
		Conversation: dag.ExternalConversationID("chaos", fmt.Sprint(c.number%3)),
		Role:         dag.RoleUser, CreatedAt: dag.Time(c.calls), Author: "human:user", Content: fmt.Sprintf("turn %d", c.calls),
	}
	if len(c.kept) > 0 {
		d.Parents = []dag.Parent{{ID: c.kept[len(c.kept)-1], Kind: dag.Reply}}
	}
	err := c.call(ctx, "admit", func(ctx context.Context) error {
		_, err := c.k.Turns().Admit(ctx, storetest.Tenant, []dag.Draft{d})
		return err
	})
	switch {
	case err == nil:
		c.kept = append(c.kept, d.ID)
	case errors.Is(err, store.ErrUncertain):
		c.uncertain = append(c.uncertain, d.ID)
	default:
		c.lost = append(c.lost, d.ID)
	}
	return err == nil
}

// verify compares what the client was told with what is there.
func (c *client) verify(s store.Store, told map[string]int) {
	c.t.Helper()
	there := func(ids []dag.TurnID) []store.Record {
		records, err := s.Turns(context.Background(), storetest.Tenant, store.IDs(ids))
		if err != nil {
			c.t.Error(err)
		}
		return records
	}
	if n := len(there(c.kept)); n != len(c.kept) {
		c.t.Errorf("of %d acknowledged turns %d are there", len(c.kept), n)
	}
	if n := len(there(c.lost)); n != 0 {
		c.t.Errorf("of %d lost turns %d are there", len(c.lost), n)
	}
	for _, r := range there(c.erased) {
		if r.Body != nil {
			c.t.Errorf("turn %s was erased, and has its body", r.Turn.ID)
		}
	}
	told["kept"] += len(c.kept)
	told["lost"] += len(c.lost)
	told["uncertain"] += len(c.uncertain)
	told["erased"] += len(c.erased)
	told["sliced"] += c.sliced
}
