package packed

import (
	"encoding/binary"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
)

// LeafPrefix is what the index on leaves holds of one: the first 8 bytes of its hash.
// Somebody can make leaves of one prefix, so who finds one compares the whole hash.
func LeafPrefix(h ledger.Hash) int64 { return int64(binary.BigEndian.Uint64(h[:8])) }

// CheckLeaves reports the first leaf that cannot be in a ledger.
func CheckLeaves(leaves [][]byte) error {
	for i, leaf := range leaves {
		if err := ledger.CheckLeaf(leaf); err != nil {
			return fmt.Errorf("leaf %d of %d: %w", i+1, len(leaves), err)
		}
	}
	return nil
}

// Unlogged returns the leaves, by their hashes, that a ledger of a size lacks, each once,
// and where all of them are when those are appended. Stands tells where those are that
// it has, and in the end the others, too.
func Unlogged(hashes []ledger.Hash, stands map[ledger.Hash]uint64, size uint64) (fresh []int, at []uint64) {
	at = make([]uint64, len(hashes))
	for i, h := range hashes {
		n, ok := stands[h]
		if !ok {
			n = size + uint64(len(fresh))
			stands[h] = n
			fresh = append(fresh, i)
		}
		at[i] = n
	}
	return fresh, at
}

// MostHashes bounds the hashes of a ledger that are read at once: sixteen tiles.
const MostHashes = 4096

// CheckLevel reports a level of hashes that no ledger has.
func CheckLevel(level int) error {
	if most := 6; level < 0 || level > most { // 256^7 is more than ledger.MaxSize
		return fmt.Errorf("%w: level %d of a ledger, want 0 to %d", dag.ErrForm, level, most)
	}
	return nil
}
