package slice

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/dag"
)

// TestAuditPaths compares the paths of every size up to 70 and every index, made one at a
// time, all at once and for every other leaf, with package tlog. Each path leads from its
// own leaf and index, and from no other.
func TestAuditPaths(t *testing.T) {
	var stored, leaves []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			hashes[i] = stored[at]
		}
		return hashes, nil
	})
	if root, paths := auditPaths(nil, nil); root != rfc6962(nil) || paths != nil {
		t.Errorf("of nothing: %s, %d paths", root, len(paths))
	}
	paths := 0
	for size := 1; size <= 70; size++ {
		record := binary.BigEndian.AppendUint64(nil, uint64(size))
		more, err := tlog.StoredHashes(int64(size-1), record, reader)
		if err != nil {
			t.Fatal(err)
		}
		stored, leaves = append(stored, more...), append(leaves, tlog.RecordHash(record))
		var all, even []int
		for i := range size {
			all = append(all, i)
			if i%2 == 0 {
				even = append(even, i)
			}
		}
		root, atOnce := auditPaths(leaves, all)
		if want := rfc6962(leaves); root != want {
			t.Fatalf("%d leaves: the root is %s, want %s", size, root, want)
		}
		if other, none := auditPaths(leaves, nil); other != root || len(none) != 0 {
			t.Errorf("%d leaves, no paths: the root is %s, want %s", size, other, root)
		}
		_, some := auditPaths(leaves, even)
		for i := range size {
			want, err := tlog.ProveRecord(int64(size), int64(i), reader)
			if err != nil {
				t.Fatal(err)
			}
			_, alone := auditPaths(leaves, []int{i})
			given := [][]dag.Digest{atOnce[i], alone[0]}
			if i%2 == 0 {
				given = append(given, some[i/2])
			}
			for _, path := range given {
				if len(path) != len(want) || slices.ContainsFunc(all[:len(path)], func(j int) bool { return tlog.Hash(path[j]) != want[j] }) {
					t.Fatalf("leaf %d of %d: got %s, want %v", i, size, path, want)
				}
				paths++
			}
			checkLeads(t, atOnce[i], leaves, i, dag.Digest(root))
		}
	}
	if want := 2*70*71/2 + 35*36; paths != want {
		t.Errorf("%d paths, want %d", paths, want)
	}
}

// checkLeads holds that a path leads from the leaf at an index, and that nothing else does.
func checkLeads(t *testing.T, path []dag.Digest, leaves []tlog.Hash, at int, root dag.Digest) {
	t.Helper()
	size, leaf := len(leaves), dag.Digest(leaves[at])
	if !leads(path, size, at, leaf, root) {
		t.Fatalf("leaf %d of %d: its path does not lead to the root", at, size)
	}
	refuse := func(what string, path []dag.Digest, index int, leaf, root dag.Digest) {
		if leads(path, size, index, leaf, root) {
			t.Errorf("leaf %d of %d: %s leads to the root", at, size, what)
		}
	}
	for i := -1; i <= size; i++ {
		if i == at {
			continue
		}
		refuse("another index", path, i, leaf, root)
		if i >= 0 && i < size {
			refuse("another leaf", path, at, dag.Digest(leaves[i]), root)
		}
	}
	refuse("a path with one hash more", append(slices.Clone(path), root), at, leaf, root)
	for i := range path {
		refuse("a path with one hash less", slices.Delete(slices.Clone(path), i, i+1), at, leaf, root)
		bent := slices.Clone(path)
		bent[i][31] ^= 1
		refuse("another path", bent, at, leaf, root)
		if i > 0 {
			swapped := slices.Clone(path)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			refuse("a path out of order", swapped, at, leaf, root)
		}
	}
	root[0] ^= 1
	refuse("a path to another root", path, at, leaf, root)
}

// TestInnerNodeAsLeaf offers a node as a leaf of a smaller tree. As a bare hash it leads to
// the root: what keeps it out is that a leaf is hashed here, after a zero byte, and is
// never taken as a hash.
func TestInnerNodeAsLeaf(t *testing.T) {
	leaves := make([]tlog.Hash, 4)
	for i := range leaves {
		leaves[i] = tlog.RecordHash([]byte{byte(i)})
	}
	root, paths := auditPaths(leaves, []int{0})
	node := tlog.NodeHash(leaves[0], leaves[1])
	if !leads(paths[0][1:], 2, 0, dag.Digest(node), dag.Digest(root)) {
		t.Fatal("the case is not the one that it should be")
	}
	for _, record := range [][]byte{slices.Concat(leaves[0][:], leaves[1][:]), slices.Concat([]byte{1}, leaves[0][:], leaves[1][:])} {
		if leads(paths[0][1:], 2, 0, dag.Digest(tlog.RecordHash(record)), dag.Digest(root)) {
			t.Error("the bytes of a node, as a leaf, lead to the root")
		}
	}
}

// BenchmarkAuditPaths proves 10 and all of the turns of a slice of 256 turns and 512 edges.
func BenchmarkAuditPaths(b *testing.B) {
	leaves := make([]tlog.Hash, 256+512+1)
	for i := range leaves {
		leaves[i] = tlog.RecordHash(binary.BigEndian.AppendUint64(nil, uint64(i)))
	}
	for _, bench := range []struct {
		name string
		step int
	}{{"10", 25}, {"256", 1}} {
		var indexes []int
		for i := 0; i < 250+bench.step && i < 256; i += bench.step {
			indexes = append(indexes, i)
		}
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				auditPaths(leaves, indexes)
			}
		})
	}
}
