package packed

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// DigestPrefix returns the first 8 bytes of a digest, by which rows are found. The digests of the rows found are then compared in full.
func DigestPrefix(d dag.Digest) int64 { return int64(binary.BigEndian.Uint64(d[:8])) }

// Entry returns a stored entry, with copies of its bytes.
func Entry(seq, at, part, parts int64, kind string, public, detail, private []byte) history.Entry {
	return history.Entry{
		Seq: dag.Seq(seq), Kind: history.Kind(kind), At: dag.Time(at), Part: uint32(part), Parts: uint32(parts),
		Public: bytes.Clone(public), Detail: bytes.Clone(detail), Private: bytes.Clone(private),
	}
}

// CheckLeaf compares a stored entry with the part of its leaf that is stored with it.
func CheckLeaf(e *history.Entry, leaf int64) error {
	if got := e.Leaf(); DigestPrefix(got) != leaf {
		return fmt.Errorf("%w: the leaf computed from number %d is %s, but a different leaf is stored", store.ErrDamaged, e.Seq, got)
	}
	return nil
}

// Checked returns a stored entry, or the error of CheckLeaf.
func Checked(e history.Entry, leaf int64) (*history.Entry, error) {
	if err := CheckLeaf(&e, leaf); err != nil {
		return nil, err
	}
	return &e, nil
}
