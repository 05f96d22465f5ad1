package ledger_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/ledger"
)

// A built log keeps every hash that Append gives, as a store does.
type built struct {
	tree   ledger.Tree
	levels map[int][]ledger.Hash
	roots  []ledger.Hash // by size
}

func build(t testing.TB, n int) *built {
	t.Helper()
	b := &built{levels: map[int][]ledger.Hash{}}
	b.roots = append(b.roots, b.tree.Root())
	for i := range n {
		b.append(t, leafOf(i))
	}
	return b
}

func leafOf(i int) []byte { return fmt.Appendf(nil, "leaf %d", i) }

func (b *built) append(t testing.TB, leaf []byte) {
	t.Helper()
	nodes, err := b.tree.Append(ledger.LeafHash(leaf), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		if int(node.Index) != len(b.levels[node.Level]) {
			t.Fatalf("level %d: node %d came when %d were there", node.Level, node.Index, len(b.levels[node.Level]))
		}
		b.levels[node.Level] = append(b.levels[node.Level], node.Hash)
	}
	b.roots = append(b.roots, b.tree.Root())
}

func (b *built) root(size int) ledger.Root {
	return ledger.Root{Size: uint64(size), Hash: b.roots[size]}
}

func (b *built) Hashes(_ context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	all := b.levels[level]
	if from+uint64(n) > uint64(len(all)) {
		return nil, fmt.Errorf("level %d has %d hashes, not %d from %d on", level, len(all), n, from)
	}
	return slices.Clone(all[from : from+uint64(n)]), nil
}

// naive is the definition of RFC 6962, section 2.1, without any cleverness.
func naive(leaves []ledger.Hash) ledger.Hash {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	k := 1
	for k*2 < len(leaves) {
		k *= 2
	}
	left, right := naive(leaves[:k]), naive(leaves[k:])
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

func TestRootsAgree(t *testing.T) {
	b := build(t, 600)
	for n := range b.roots {
		if want := naive(b.levels[0][:n]); b.roots[n] != want {
			t.Fatalf("root of %d leaves is %s, want %s", n, b.roots[n], want)
		}
	}
	for i, h := range b.levels[1] {
		if want := naive(b.levels[0][i*256 : (i+1)*256]); h != want {
			t.Fatalf("node %d of level 1 is %s, want %s", i, h, want)
		}
	}
	if got := len(b.levels[1]); got != 600/256 {
		t.Fatalf("%d nodes of level 1", got)
	}
}

func TestUpperLevels(t *testing.T) {
	b := build(t, 1<<16+300)
	if got := len(b.levels[2]); got != 1 {
		t.Fatalf("%d nodes of level 2, want 1", got)
	}
	if want := b.roots[1<<16]; b.levels[2][0] != want {
		t.Fatalf("node 0 of level 2 is %s, want the root of 65536 leaves", b.levels[2][0])
	}
	ctx := context.Background()
	for _, size := range []int{255, 256, 257, 511, 65535, 65536, 65537, 1<<16 + 300} {
		for _, index := range []int{0, 1, 254, 255, 256, 65535, 65536, size - 1} {
			if index >= size {
				continue
			}
			path, err := b.root(size).ProveInclusion(ctx, uint64(index), b)
			if err == nil {
				err = b.root(size).CheckInclusion(uint64(index), b.levels[0][index], path)
			}
			if err != nil {
				t.Fatalf("leaf %d of %d: %v", index, size, err)
			}
		}
	}
}

func TestRestoreTree(t *testing.T) {
	b := build(t, 300)
	var tree ledger.Tree
	for n := range 300 {
		again, err := ledger.RestoreTree(tree.Size(), tree.Edge())
		if err != nil || again != tree || again.Root() != b.roots[n] {
			t.Fatalf("restored at %d: %v", n, err)
		}
		if _, err := again.Append(b.levels[0][n], nil); err != nil {
			t.Fatal(err)
		}
		if tree.Root() != b.roots[n] {
			t.Fatalf("appending to a copy changed the original at %d", n)
		}
		tree = again
	}
	edge := tree.Edge()
	for _, wrong := range [][]byte{nil, edge[1:], append(slices.Clone(edge), 0), append(slices.Clone(edge), make([]byte, 32)...)} {
		if _, err := ledger.RestoreTree(300, wrong); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("%d bytes as the edge of 300 leaves: %v", len(wrong), err)
		}
	}
	if _, err := ledger.RestoreTree(ledger.MaxSize+1, make([]byte, 64)); !errors.Is(err, ledger.ErrForm) {
		t.Errorf("a log above the bound: %v", err)
	}
	full := make([]byte, 32)
	tree, err := ledger.RestoreTree(ledger.MaxSize, full)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Append(ledger.Hash{}, nil); !errors.Is(err, ledger.ErrForm) {
		t.Errorf("appending to a full log: %v", err)
	}
}

// TestProofs proves and checks everything in every log of up to 80 leaves, and that nothing
// else passes: another leaf, another place, another root, another size, a path with
// a bit flipped, one that is longer or shorter.
func TestProofs(t *testing.T) {
	const most = 80
	b := build(t, most)
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	proofs, refused := 0, 0
	for size := 1; size <= most; size++ {
		root := b.root(size)
		for index := range size {
			path, err := root.ProveInclusion(ctx, uint64(index), b)
			if err != nil {
				t.Fatal(err)
			}
			leaf := b.levels[0][index]
			if err := root.CheckInclusion(uint64(index), leaf, path); err != nil {
				t.Fatal(err)
			}
			proofs++
			wrong := func(what string, err error) {
				t.Helper()
				refused++
				if !errors.Is(err, ledger.ErrNotIncluded) {
					t.Fatalf("leaf %d of %d with %s: %v", index, size, what, err)
				}
			}
			other := leaf
			other[rng.IntN(32)] ^= 1 << rng.IntN(8)
			wrong("another leaf", root.CheckInclusion(uint64(index), other, path))
			wrong("another place", root.CheckInclusion(uint64(size), leaf, path))
			wrong("another root", ledger.Root{Size: root.Size, Hash: other}.CheckInclusion(uint64(index), leaf, path))
			wrong("a longer path", root.CheckInclusion(uint64(index), leaf, append(slices.Clone(path), other)))
			if len(path) > 0 {
				wrong("a shorter path", root.CheckInclusion(uint64(index), leaf, path[1:]))
				bent := slices.Clone(path)
				bent[rng.IntN(len(bent))][rng.IntN(32)] ^= 1 << rng.IntN(8)
				wrong("a bent path", root.CheckInclusion(uint64(index), leaf, bent))
				wrong("the neighbour's place", root.CheckInclusion(uint64(index^1), leaf, path))
			}
		}
		for old := 0; old <= size; old++ {
			proof, err := root.ProveConsistency(ctx, uint64(old), b)
			if err == nil {
				err = root.CheckConsistency(b.root(old), proof)
			}
			if err != nil {
				t.Fatalf("%d in %d: %v", old, size, err)
			}
			if old == 0 {
				continue
			}
			forked := b.root(old)
			forked.Hash[rng.IntN(32)] ^= 1
			if err := root.CheckConsistency(forked, proof); !errors.Is(err, ledger.ErrInconsistent) {
				t.Fatalf("another root of %d in %d: %v", old, size, err)
			}
			if old < size {
				if err := b.root(old).CheckConsistency(root, proof); !errors.Is(err, ledger.ErrInconsistent) {
					t.Fatalf("%d after %d: %v", old, size, err)
				}
			}
			if err := root.CheckConsistency(b.root(old), append(slices.Clone(proof), ledger.Hash{})); !errors.Is(err, ledger.ErrInconsistent) {
				t.Fatalf("%d in %d with a hash more: %v", old, size, err)
			}
		}
	}
	if proofs != most*(most+1)/2 || refused < 6*proofs {
		t.Fatalf("%d proofs, %d refused", proofs, refused)
	}
}

// TestSizesAreCapped would not end if a size above 2^62 reached tlog.
func TestSizesAreCapped(t *testing.T) {
	for _, size := range []uint64{ledger.MaxSize + 1, 1<<62 + 1, 1<<63 + 1, 1<<64 - 1} {
		r := ledger.Root{Size: size}
		for what, err := range map[string]error{
			"CheckInclusion":   r.CheckInclusion(size-1, ledger.Hash{}, nil),
			"CheckConsistency": r.CheckConsistency(ledger.Root{Size: 1}, nil),
			"old":              (ledger.Root{Size: 3}).CheckConsistency(r, nil),
			"ProveInclusion":   second(r.ProveInclusion(context.Background(), 1, nil)),
			"ProveConsistency": second(r.ProveConsistency(context.Background(), 1, nil)),
		} {
			if !errors.Is(err, ledger.ErrForm) {
				t.Errorf("%s of %d leaves: %v", what, size, err)
			}
		}
	}
	if err := (ledger.Root{}).CheckConsistency(ledger.Root{Hash: ledger.EmptyRoot()}, nil); !errors.Is(err, ledger.ErrEmptyRoot) {
		t.Errorf("an empty log with another root: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestTilesAreChecked damages every hash that a proof reads.
func TestTilesAreChecked(t *testing.T) {
	b := build(t, 600)
	r := &reader{built: b}
	root := b.root(600)
	if _, err := root.ProveInclusion(context.Background(), 300, r); err != nil || r.reads == 0 {
		t.Fatalf("%d reads, %v", r.reads, err)
	}
	for read := range r.reads {
		bent := &reader{built: b, bend: read + 1}
		if _, err := root.ProveInclusion(context.Background(), 300, bent); !errors.Is(err, ledger.ErrInconsistent) {
			t.Errorf("with tile %d bent: %v", read, err)
		}
		short := &reader{built: b, cut: read + 1}
		if _, err := root.ProveInclusion(context.Background(), 300, short); !errors.Is(err, ledger.ErrForm) || errors.Is(err, ledger.ErrInconsistent) {
			t.Errorf("with tile %d cut short: %v", read, err)
		}
		gone := &reader{built: b, fail: read + 1}
		if _, err := root.ProveInclusion(context.Background(), 300, gone); !errors.Is(err, errGone) || errors.Is(err, ledger.ErrInconsistent) {
			t.Errorf("with tile %d out of reach: %v", read, err)
		}
	}
}

var errGone = errors.New("out of reach")

type reader struct {
	*built
	reads           int
	bend, cut, fail int // the number of the read
}

func (r *reader) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	r.reads++
	hashes, err := r.built.Hashes(ctx, level, from, n)
	switch r.reads {
	case r.bend:
		hashes[n/2][7] ^= 1
	case r.cut:
		hashes = hashes[:n-1]
	case r.fail:
		return nil, errGone
	}
	return hashes, err
}

// FuzzChecks lets anybody's proof at the checks, beside those of the library where sizes
// are safe for it.
func FuzzChecks(f *testing.F) {
	f.Add(uint64(5), uint64(3), []byte("01234567890123456789012345678901"))
	f.Fuzz(func(t *testing.T, size, other uint64, data []byte) {
		var hashes []ledger.Hash
		for len(data) >= 32 && len(hashes) < 70 {
			hashes = append(hashes, ledger.Hash(data[:32]))
			data = data[32:]
		}
		root := ledger.Root{Size: size, Hash: ledger.Hash{1}}
		err := root.CheckInclusion(other, ledger.Hash{2}, hashes)
		if size <= ledger.MaxSize && size > 0 && other < size {
			if (tlog.CheckRecord(hashes, int64(size), root.Hash, int64(other), ledger.Hash{2}) == nil) != (err == nil) {
				t.Fatalf("CheckInclusion gave %v", err)
			}
		} else if err == nil {
			t.Fatal("passed")
		}
		_ = root.CheckConsistency(ledger.Root{Size: other, Hash: ledger.Hash{3}}, hashes)
	})
}
