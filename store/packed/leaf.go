package packed

import (
	"encoding/binary"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
)

// LeafPrefix is what the index on leaves holds of one: the first 8 bytes of its hash.
// Somebody can make leaves of one prefix, so who finds one compares the whole hash.
func LeafPrefix(h ledger.Hash) int64 { return int64(binary.BigEndian.Uint64(h[:8])) }

// Unlogged gives the leaves, by their hashes, that a ledger of a size lacks, each once,
// and where all of them stand when those are appended. Stands tells where those are that
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

// maxOrigin bounds the bytes of a log's origin.
const maxOrigin = 255

// CheckOrigin reports what cannot name a log that is witnessed.
func CheckOrigin(origin string) error {
	ok := origin != "" && len(origin) <= maxOrigin && utf8.ValidString(origin)
	for _, r := range origin {
		ok = ok && unicode.IsPrint(r)
	}
	if !ok {
		return fmt.Errorf("%w: the origin %.300q, want 1 to %d bytes of printable text", dag.ErrForm, origin, maxOrigin)
	}
	return nil
}

// CheckRoot gives a root in its one form: that of nothing may come as a zero one. What
// is no root of any log is dag.ErrForm.
func CheckRoot(r ledger.Root) (ledger.Root, error) {
	if r == (ledger.Root{}) {
		r.Hash = ledger.EmptyRoot()
	}
	if r.Size > ledger.MaxSize || r.Size == 0 && r.Hash != ledger.EmptyRoot() {
		return ledger.Root{}, fmt.Errorf("%w: a log of %d leaves with the root %s", dag.ErrForm, r.Size, r.Hash)
	}
	return r, nil
}
