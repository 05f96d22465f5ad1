package slice

import (
	"crypto/sha256"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/dag"
)

// auditPaths returns the root of the tree over some leaf hashes and, for each of the ascending indexes, the audit path
// of that leaf (RFC 6962, section 2.1.1): from the leaf's sibling up to the root's child. Every node is hashed once,
// however many paths there are.
func auditPaths(leaves []tlog.Hash, indexes []int) (root tlog.Hash, paths [][]dag.Digest) {
	if len(leaves) == 0 {
		return tlog.Hash(sha256.Sum256(nil)), nil
	}
	p := prover{leaves: leaves, indexes: indexes, paths: make([][]dag.Digest, len(indexes))}
	return p.climb(0, len(leaves), 0, len(indexes)), p.paths
}

type prover struct {
	leaves  []tlog.Hash
	indexes []int
	paths   [][]dag.Digest // in the order of indexes
}

// climb returns the root over leaves[lo:hi], and extends the paths of indexes[from:to], which lie in that range, up to
// it.
func (p *prover) climb(lo, hi, from, to int) tlog.Hash {
	if hi-lo == 1 {
		return p.leaves[lo]
	}
	split := lo + splitOf(hi-lo)
	at := from // the first index right of the split
	for at < to && p.indexes[at] < split {
		at++
	}
	left, right := p.climb(lo, split, from, at), p.climb(split, hi, at, to)
	for i := from; i < at; i++ {
		p.paths[i] = append(p.paths[i], dag.Digest(right))
	}
	for i := at; i < to; i++ {
		p.paths[i] = append(p.paths[i], dag.Digest(left))
	}
	return tlog.NodeHash(left, right)
}

// splitOf returns the largest power of two below n. n must be above 1.
func splitOf(n int) int {
	k := 1
	for k < n-k {
		k *= 2
	}
	return k
}

// leads reports whether a path leads from the leaf at an index to the root of a tree. The caller must limit the sizes
// before: tlog does not terminate for huge ones.
func leads(path []dag.Digest, size, index int, leaf, root dag.Digest) bool {
	proof := make(tlog.RecordProof, len(path))
	for i := range path {
		proof[i] = tlog.Hash(path[i])
	}
	return tlog.CheckRecord(proof, int64(size), tlog.Hash(root), int64(index), tlog.Hash(leaf)) == nil
}
