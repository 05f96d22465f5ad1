package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/faultproxy"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

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

// TestCutAnywhere cuts the connection after each byte near the commit of a write's exchange with the
// server, in each direction, and after some of the others; in the short form after every fifth near the
// commit. They are others each time. With patience the answer is the one that was lost. Without, it
// is an error that says what was kept.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	stride, near, seed := 23, 1, rand.Uint64()
	if testing.Short() {
		stride, near = 211, 5
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for _, w := range sweptWrites() {
		for _, direction := range []faultproxy.Direction{faultproxy.ToServer, faultproxy.ToClient} {
			phase := r.IntN(stride)
			t.Run(fmt.Sprintf("%s/%d", w.name, direction), func(t *testing.T) {
				t.Parallel()
				sweep(t, w, direction, cuts{stride, near, phase})
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			})
		}
	}
}

// cuts says after which bytes a connection is cut.
type cuts struct{ stride, near, phase int }

// points are the numbers of those bytes, of an exchange of so many.
func (c cuts) points(total int) (points []int) {
	const commit = 40 // "COMMIT" and its answer are shorter
	for at := c.phase; at < total-commit; at += c.stride {
		points = append(points, at)
	}
	for at := max(total-commit, 0) + c.phase%c.near; at < total+3; at += c.near {
		points = append(points, at)
	}
	return points
}

func sweep(t *testing.T, w swept, direction faultproxy.Direction, after cuts) {
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
	cut := 0
	points := after.points(total)
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
	const varies = 20 + 3 // exchanges may be 20 bytes shorter than total, and points go 3 bytes beyond it
	if cut < len(points)-(varies+after.near-1)/after.near {
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
	if lost == 0 || after.near == 1 && (direction == faultproxy.ToClient && kept == 0 || direction == faultproxy.ToServer && unkept == 0) {
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
