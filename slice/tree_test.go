package slice

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// rfc6962 is the definition of section 2.1, word for word, over leaf hashes.
func rfc6962(leaves []tlog.Hash) tlog.Hash {
	switch n := len(leaves); n {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	default:
		k := 1
		for 2*k < n {
			k *= 2
		}
		left, right := rfc6962(leaves[:k]), rfc6962(leaves[k:])
		return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
	}
}

// TestTree compares the tree of every size up to 300 with the definition and
// with package tlog, whether the leaves come all at once or in portions.
func TestTree(t *testing.T) {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			hashes[i] = stored[at]
		}
		return hashes, nil
	})
	var leaves []tlog.Hash
	var reused tree
	for n := range 301 {
		want, err := tlog.TreeHash(int64(n), reader)
		if err != nil {
			t.Fatal(err)
		}
		if got := rfc6962(leaves); got != want && n > 0 {
			t.Fatalf("%d leaves: the two oracles differ", n)
		}
		reused.reset()
		addAll(&reused, leaves)
		if got := reused.root(); got != rfc6962(leaves) {
			t.Errorf("%d leaves: got %s, want %s", n, got, rfc6962(leaves))
		}
		var portions tree
		for at := 0; at < n; at += 7 {
			addAll(&portions, leaves[at:min(at+7, n)])
		}
		if got := portions.root(); got != rfc6962(leaves) {
			t.Errorf("%d leaves in portions: got %s, want %s", n, got, rfc6962(leaves))
		}
		record := binary.BigEndian.AppendUint64(nil, uint64(n))
		more, err := tlog.StoredHashes(int64(n), record, reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
		leaves = append(leaves, tlog.RecordHash(record))
	}
	if len(leaves) != 301 {
		t.Errorf("%d sizes", len(leaves))
	}
	kept := append([]tlog.Hash(nil), leaves...)
	reused.reset()
	addAll(&reused, leaves)
	reused.root()
	for i := range leaves {
		if leaves[i] != kept[i] {
			t.Fatal("the leaves were changed")
		}
	}
}

func addAll(t *tree, leaves []tlog.Hash) {
	for i := range leaves {
		t.add((*[tlog.HashSize]byte)(&leaves[i]))
	}
}
