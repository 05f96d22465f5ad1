package fsck

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// A half is the first half of a leaf's hash, which distinguishes it from all others.
type half [16]byte

func halfOf(h ledger.Hash) half { return half(h[:16]) }

// logPage bounds the leaves that are read at once, since a store returns no more hashes at once.
const logPage = 4096

// logLevels is the number of levels of hashes in a store.
const logLevels = 7

func leafName(n uint64) string { return fmt.Sprintf("leaf %d", n) }

// checkLedger checks the ledger on its own: it computes the hashes of all levels and the
// right edge again from the leaves. The content of leaves is checked with their entries.
func checkLedger(c *checker) error {
	tree, err := c.s.Log(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("ledger", err)
	}
	c.size = dag.Seq(tree.Size())
	c.leaves = make(map[half]uint64, min(tree.Size(), 1<<20))
	var again ledger.Tree
	for again.Size() < tree.Size() {
		first := again.Size()
		page, err := c.s.Entries(c.ctx, c.tenant, history.Page{Stream: history.Record, After: dag.Seq(first), Limit: int(min(tree.Size()-first, uint64(c.o.Page), logPage))})
		if err != nil {
			return c.unreadable(leafName(first)+" and on", err)
		}
		if len(page) == 0 {
			c.find(leafName(first), "number", "the leaf is missing, but the ledger has %d leaves", tree.Size())
			return nil
		}
		if err := leafPage(c, &again, page); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
		c.progress("ledger", int(again.Size()), int(tree.Size()))
	}
	if !bytes.Equal(again.Edge(), tree.Edge()) {
		c.find("ledger", "edge", "the stored edge is of %d leaves with the root %s, but the root computed from the leaves is %s", tree.Size(), tree.Root(), again.Root())
	}
	return beyondLedger(c, tree.Size())
}

// leafPage checks the next leaves of the ledger and appends them to the tree.
func leafPage(c *checker, tree *ledger.Tree, page []history.Entry) error {
	first := tree.Size()
	var nodes []ledger.Node
	forms := kinds.Leaves()
	for i := range page {
		leaf, n := page[i].Public, first+uint64(i)
		if page[i].Seq != dag.Seq(n)+1 {
			c.find(leafName(n), "number", "leaf %d is stored in its place", page[i].Seq-1)
			return errEnough
		}
		c.counts.Leaves++
		if _, err := ledger.ParseLeaf(leaf, forms...); err != nil {
			c.find(leafName(n), "form", "%v", err)
		}
		hash := ledger.LeafHash(leaf)
		if other, twice := c.leaves[halfOf(hash)]; twice {
			c.find(leafName(n), "twice", "leaf %d is the same", other)
		} else {
			c.leaves[halfOf(hash)] = n
		}
		var err error
		if nodes, err = tree.Append(hash, nodes); err != nil {
			c.find(leafName(n), "number", "%v", err)
			return nil
		}
	}
	return hashes(c, nodes)
}

// hashes compares the hashes computed from leaves with the stored ones. The nodes of each level are consecutive.
func hashes(c *checker, nodes []ledger.Node) error {
	for len(nodes) > 0 {
		level, first := nodes[0].Level, nodes[0].Index
		var row []ledger.Hash
		var others []ledger.Node
		for _, n := range nodes {
			if n.Level == level {
				row = append(row, n.Hash)
			} else {
				others = append(others, n)
			}
		}
		nodes = others
		stored, err := c.s.LogHashes(c.ctx, c.tenant, level, first, len(row))
		if err != nil {
			if err := c.unreadable(hashName(level, first)+" and on", err); err != nil {
				return err
			}
			continue
		}
		for i, want := range row {
			where := hashName(level, first+uint64(i))
			switch {
			case i >= len(stored):
				c.find(where, "hash", "the hash is missing, and the hash computed from the leaves is %s", want)
			case stored[i] != want:
				c.find(where, "hash", "the stored hash is %s, but the hash computed from the leaves is %s", stored[i], want)
			}
		}
	}
	return nil
}

func hashName(level int, n uint64) string {
	if level == 0 {
		return leafName(n)
	}
	return fmt.Sprintf("hash %d of level %d", n, level)
}

// beyondLedger checks that nothing follows the last leaf, except what was appended meanwhile.
func beyondLedger(c *checker, size uint64) error {
	var where []string
	leaves, err := c.s.Entries(c.ctx, c.tenant, history.Page{Stream: history.Record, After: dag.Seq(size), Limit: 1})
	if err != nil {
		return c.unreadable(leafName(size), err)
	}
	if len(leaves) > 0 {
		where = append(where, leafName(size))
	}
	for level := range logLevels {
		n := size >> (8 * level)
		hashes, err := c.s.LogHashes(c.ctx, c.tenant, level, n, 1)
		if err != nil {
			if err := c.unreadable(hashName(level, n), err); err != nil {
				return err
			}
			continue
		}
		if len(hashes) > 0 {
			where = append(where, hashName(level, n))
		}
	}
	if len(where) == 0 {
		return nil
	}
	now, err := c.s.Log(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("ledger", err)
	}
	if now.Size() > size {
		return nil
	}
	for _, where := range where {
		c.find(where, "size", "it is stored, but the ledger has only %d leaves", size)
	}
	return nil
}
