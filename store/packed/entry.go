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

// A Row is a row of entries or of the record. B is the type of a driver's bytes, which are valid until the next row.
type Row[B ~[]byte] struct {
	Seq, At, Leaf           int64
	Part, Parts             int64
	Kind                    string
	Public, Detail, Private B
}

// Entry returns the stored entry, with copies of its bytes.
func (r *Row[B]) Entry() history.Entry {
	return history.Entry{
		Seq: dag.Seq(r.Seq), Kind: history.Kind(r.Kind), At: dag.Time(r.At), Part: uint32(r.Part), Parts: uint32(r.Parts),
		Public: bytes.Clone(r.Public), Detail: bytes.Clone(r.Detail), Private: bytes.Clone(r.Private),
	}
}

// Checked returns the stored entry, or the error of CheckLeaf.
func (r *Row[B]) Checked() (*history.Entry, error) {
	e := r.Entry()
	if err := CheckLeaf(&e, r.Leaf); err != nil {
		return nil, err
	}
	return &e, nil
}

// CheckLeaf compares a stored entry with the part of its leaf that is stored with it.
func CheckLeaf(e *history.Entry, leaf int64) error {
	if got := e.Leaf(); DigestPrefix(got) != leaf {
		return fmt.Errorf("%w: the leaf computed from number %d is %s, but a different leaf is stored", store.ErrDamaged, e.Seq, got)
	}
	return nil
}

// Blob returns b, or empty bytes if b is nil: they are never NULL.
func Blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
