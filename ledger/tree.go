package ledger

import (
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// A Node is a hash that a log stores to serve tiles and to compute proofs: the root over 256^Level leaves. Level 0 has
// the hashes of the leaves themselves.
type Node struct {
	Level int
	Index uint64
	Hash  Hash
}

// A Tree is the right edge of a log, which suffices to append: the roots of the perfect subtrees into which the leaves
// are divided, the largest first, one for each set bit of their number. The zero Tree is empty. A Tree is a value;
// appending to a copy does not change the original.
type Tree struct {
	size  uint64
	roots [48]Hash // only the first bits.OnesCount64(size) are used
}

// RestoreTree returns the tree with this size and these bytes from Edge.
func RestoreTree(size uint64, edge []byte) (Tree, error) {
	if size > MaxSize || len(edge) != bits.OnesCount64(size)*tlog.HashSize {
		return Tree{}, fmt.Errorf("%w: an edge of %d bytes does not fit a log of %d leaves", ErrForm, len(edge), size)
	}
	t := Tree{size: size}
	for i := 0; len(edge) > 0; i++ {
		edge = edge[copy(t.roots[i][:], edge):]
	}
	return t, nil
}

// Size returns the number of leaves.
func (t *Tree) Size() uint64 { return t.size }

// Edge returns the roots as bytes, 32 for each set bit of the size.
func (t *Tree) Edge() []byte {
	n := bits.OnesCount64(t.size)
	edge := make([]byte, 0, n*tlog.HashSize)
	for i := range n {
		edge = append(edge, t.roots[i][:]...)
	}
	return edge
}

// Root returns the Merkle tree hash over all leaves. It computes one hash fewer than the size has set bits.
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

// EmptyRoot returns the root of the tree without leaves: the SHA-256 of the empty string (RFC 6962, section 2.1).
func EmptyRoot() Hash {
	return Hash{0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
		0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55}
}

// LeafHash returns the hash of a leaf: SHA-256 of 0x00 and the leaf's bytes.
func LeafHash(leaf []byte) Hash { return tlog.RecordHash(leaf) }

// Append adds a leaf's hash to the tree and appends the new nodes to nodes: the leaf's own, and one for each tile that
// is now full. It reads nothing and computes at most 48 hashes, one on average. The error for a full log is ErrForm.
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
	clear(t.roots[n:bits.OnesCount64(t.size)]) // equal trees must be equal values
	t.roots[n] = root
	t.size++
	return nodes, nil
}
