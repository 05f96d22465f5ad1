package slice

import (
	"crypto/sha256"
	"hash"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A tree computes the Merkle tree hash of RFC 6962, section 2.1, leaf by leaf. It keeps the roots of the perfect
// subtrees into which the leaves so far are divided, the largest first: one for each set bit of their number. This
// yields the RFC's recursive split without knowing the number of leaves beforehand.
type tree struct {
	roots []tlog.Hash
	n     int // leaves so far
	hash  hash.Hash
	node  [1 + 2*tlog.HashSize]byte
}

func (t *tree) reset() { t.roots, t.n = t.roots[:0], 0 }

// add adds a leaf's hash.
func (t *tree) add(leaf *[tlog.HashSize]byte) {
	t.roots = append(t.roots, *leaf)
	t.n++
	for n := t.n; n&1 == 0; n >>= 1 {
		t.join()
	}
}

// root returns the hash over all leaves. No leaf can be added afterwards.
func (t *tree) root() tlog.Hash {
	if t.n == 0 {
		return tlog.Hash(sha256.Sum256(nil))
	}
	for len(t.roots) > 1 {
		t.join()
	}
	return t.roots[0]
}

// TreeHash returns the Merkle tree hash (RFC 6962, section 2.1) over leaf hashes.
func TreeHash(leaves []dag.Digest) dag.Digest {
	var t tree
	for i := range leaves {
		t.add((*[tlog.HashSize]byte)(&leaves[i]))
	}
	return dag.Digest(t.root())
}

// join replaces the last two roots by their parent node. All nodes share one hash and one buffer; tlog.NodeHash sets up
// new ones for each node, which takes a tenth of its time.
func (t *tree) join() {
	if t.hash == nil {
		t.hash = sha256.New()
		t.node[0] = 1
	}
	left, right := &t.roots[len(t.roots)-2], &t.roots[len(t.roots)-1]
	copy(t.node[1:], left[:])
	copy(t.node[1+tlog.HashSize:], right[:])
	t.hash.Reset()
	t.hash.Write(t.node[:])
	t.hash.Sum(left[:0])
	t.roots = t.roots[:len(t.roots)-1]
}

// LeafBytes returns the bytes of a leaf as they are hashed: after a zero byte (RFC 6962, section 2.1).
func LeafBytes(write func(*canon.Writer)) []byte {
	const most = 512 // bytes, enough for nearly all leaves
	w := canon.NewWriter(append(make([]byte, 0, most), 0))
	write(w)
	return w.Bytes
}

var leafWriters = sync.Pool{New: func() any { return canon.NewWriter(nil) }}

// HashLeaf returns the hash of a leaf.
func HashLeaf(write func(*canon.Writer)) dag.Digest {
	w := leafWriters.Get().(*canon.Writer)
	defer leafWriters.Put(w)
	w.Reset(append(w.Bytes[:0], 0))
	write(w)
	return sha256.Sum256(w.Bytes)
}
