package ledger

import (
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// A Node is a hash that a log keeps so as to serve tiles and to prove: the root over
// 256^Level leaves. Level 0 are the leaves' own hashes.
type Node struct {
	Level int
	Index uint64
	Hash  Hash
}

// A Tree is the right edge of a log, all that it takes to append: the roots of the
// perfect subtrees that the leaves fall into, the largest first, one for each bit of
// their number. The zero Tree is empty. A Tree is a value; appending to a copy leaves
// the original as it was.
type Tree struct {
	size  uint64
	roots [48]Hash // the first bits.OnesCount64(size)
}

// RestoreTree returns the tree that had this size and these Edge bytes.
func RestoreTree(size uint64, edge []byte) (Tree, error) {
	if size > MaxSize || len(edge) != bits.OnesCount64(size)*tlog.HashSize {
		return Tree{}, fmt.Errorf("%w: %d bytes are not the edge of a log of %d leaves", ErrForm, len(edge), size)
	}
	t := Tree{size: size}
	for i := 0; len(edge) > 0; i++ {
		edge = edge[copy(t.roots[i][:], edge):]
	}
	return t, nil
}

// Size is the number of leaves.
func (t *Tree) Size() uint64 { return t.size }

// Edge returns the roots as bytes, 32 for each bit of the size that is set.
func (t *Tree) Edge() []byte {
	n := bits.OnesCount64(t.size)
	edge := make([]byte, 0, n*tlog.HashSize)
	for i := range n {
		edge = append(edge, t.roots[i][:]...)
	}
	return edge
}

// Root is the Merkle tree hash over all leaves. It costs a hash for each bit that is
// set in the size.
func (t *Tree) Root() Hash {
	n := bits.OnesCount64(t.size)
	if n == 0 {
		return EmptyRoot()
	}
	root := t.roots[n-1]
	for i := n - 2; i >= 0; i-- {
		root = tlog.NodeHash(t.roots[i], root)
	}
	return root
}

// EmptyRoot is the root of the tree without leaves: SHA-256 of nothing (RFC 6962,
// section 2.1).
func EmptyRoot() Hash {
	return Hash{0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
		0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55}
}

// LeafHash is the hash of a leaf: SHA-256 of 0x00 and its bytes.
func LeafHash(leaf []byte) Hash { return tlog.RecordHash(leaf) }

// Append adds a leaf's hash and appends to nodes those that are new: the leaf's own,
// and one for each tile that it fills. It reads nothing and costs at most 48 hashes,
// two on average. A log that is full is ErrForm.
func (t *Tree) Append(leaf Hash, nodes []Node) ([]Node, error) {
	if t.size >= MaxSize {
		return nodes, fmt.Errorf("%w: a log has at most %d leaves", ErrForm, uint64(MaxSize))
	}
	nodes = append(nodes, Node{0, t.size, leaf})
	n := bits.OnesCount64(t.size)
	root := leaf
	for height := 1; t.size>>(height-1)&1 == 1; height++ {
		n--
		root = tlog.NodeHash(t.roots[n], root)
		if height%8 == 0 {
			nodes = append(nodes, Node{height / 8, t.size >> height, root})
		}
	}
	clear(t.roots[n:bits.OnesCount64(t.size)]) // so that equal trees are equal values
	t.roots[n] = root
	t.size++
	return nodes, nil
}
