package interop_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/graphkernel/graphkernel/ledger"
)

var hasher = rfc6962.DefaultHasher

// TestRoots compares the roots of all sizes with those of compact.Range.
func TestRoots(t *testing.T) {
	const most = 66_000
	l := numbered(most)
	r := (&compact.RangeFactory{Hash: hasher.HashChildren}).NewEmptyRange(0)
	if !bytes.Equal(l.roots[0][:], hasher.EmptyRoot()) {
		t.Errorf("the empty root is %s", l.roots[0])
	}
	for i, leaf := range l.leaves {
		if err := r.Append(hasher.HashLeaf(leaf), nil); err != nil {
			t.Fatal(err)
		}
		if want := must(r.GetRootHash(nil)); !bytes.Equal(l.roots[i+1][:], want) {
			t.Fatalf("root of %d leaves: %s, want %x", i+1, l.roots[i+1], want)
		}
	}
}

// TestSmallProofs proves each leaf in each size, and each size in each other, up to 300.
func TestSmallProofs(t *testing.T) {
	const most = 300
	l := numbered(most)
	proofs := 0
	for n := 1; n <= most; n++ {
		for m := range n {
			checkInclusion(t, l, n, m)
			checkConsistency(t, l, n, m+1)
			proofs += 2
		}
	}
	if proofs != most*(most+1) {
		t.Errorf("%d proofs", proofs)
	}
}

// TestLargeProofs does so where tiles of the first and second level fill up.
func TestLargeProofs(t *testing.T) {
	l := numbered(66_000)
	sizes := []int{1, 2, 255, 256, 257, 511, 512, 513, 32768, 65279, 65280, 65281, 65535, 65536, 65537, 65791, 65792, 65793, 66_000}
	for _, n := range sizes {
		for _, m := range sizes {
			if m <= n {
				checkInclusion(t, l, n, m-1)
				checkConsistency(t, l, n, m)
			}
		}
	}
}

func checkInclusion(t *testing.T, l *log, size, index int) {
	t.Helper()
	root, leaf := l.root(size), ledger.LeafHash(l.leaves[index])
	path, err := root.ProveInclusion(context.Background(), uint64(index), l)
	if err != nil {
		t.Fatalf("leaf %d of %d: %v", index, size, err)
	}
	if err := proof.VerifyInclusion(hasher, uint64(index), uint64(size), leaf[:], pieces(path), root.Hash[:]); err != nil {
		t.Errorf("leaf %d of %d: our path does not verify with transparency-dev/merkle: %v", index, size, err)
	}
	if err := root.CheckInclusion(uint64(index), leaf, path); err != nil {
		t.Errorf("leaf %d of %d: our path does not verify: %v", index, size, err)
	}
	agree := func(how string, index int, path []ledger.Hash) {
		ours := root.CheckInclusion(uint64(index), leaf, path)
		their := proof.VerifyInclusion(hasher, uint64(index), uint64(size), leaf[:], pieces(path), root.Hash[:])
		if (ours == nil) != (their == nil) {
			t.Errorf("leaf %d of %d, %s: we say %v, transparency-dev/merkle says %v", index, size, how, ours, their)
		}
	}
	agree("another index", index+1, path)
	agree("a hash more", index, append(path[:len(path):len(path)], leaf))
	if len(path) > 0 {
		agree("a hash less", index, path[1:])
		agree("another hash", index, append([]ledger.Hash{{}}, path[1:]...))
	}
}

func checkConsistency(t *testing.T, l *log, size, old int) {
	t.Helper()
	now, then := l.root(size), l.root(old)
	hashes, err := now.ProveConsistency(context.Background(), uint64(old), l)
	if err != nil {
		t.Fatalf("%d in %d: %v", old, size, err)
	}
	if err := proof.VerifyConsistency(hasher, uint64(old), uint64(size), pieces(hashes), then.Hash[:], now.Hash[:]); err != nil {
		t.Errorf("%d in %d: our proof does not verify with transparency-dev/merkle: %v", old, size, err)
	}
	if err := now.CheckConsistency(then, hashes); err != nil {
		t.Errorf("%d in %d: our proof does not verify: %v", old, size, err)
	}
	agree := func(how string, then ledger.Root, hashes []ledger.Hash) {
		ours := now.CheckConsistency(then, hashes)
		their := proof.VerifyConsistency(hasher, then.Size, now.Size, pieces(hashes), then.Hash[:], now.Hash[:])
		if (ours == nil) != (their == nil) {
			t.Errorf("%d in %d, %s: we say %v, transparency-dev/merkle says %v", old, size, how, ours, their)
		}
	}
	agree("another root", ledger.Root{Size: uint64(old), Hash: ledger.Hash{1}}, hashes)
	agree("a hash more", then, append(hashes[:len(hashes):len(hashes)], ledger.Hash{}))
	if len(hashes) > 0 {
		agree("a hash less", then, hashes[1:])
		agree("another hash", then, append([]ledger.Hash{{}}, hashes[1:]...))
	}
}

func pieces(path []ledger.Hash) [][]byte {
	list := make([][]byte, len(path))
	for i := range path {
		list[i] = path[i][:]
	}
	return list
}
