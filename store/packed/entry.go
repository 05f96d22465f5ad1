package packed

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// DigestPrefix is the first 8 bytes of a digest, by which rows are found. What is found so is
// compared whole.
func DigestPrefix(d dag.Digest) int64 { return int64(binary.BigEndian.Uint64(d[:8])) }

// Record reads a stored entry of the record, of which it copies the bytes. The ledger's hashes say
// whether the leaf is what it was.
func Record(seq int64, kind string, public, detail []byte) history.Entry {
	return history.Entry{Seq: dag.Seq(seq), Kind: history.Kind(kind), Public: bytes.Clone(public), Detail: bytes.Clone(detail)}
}

// Entry reads a stored entry, of which it copies the bytes. The stored part of the leaf must match them.
func Entry(seq, at, leaf int64, kind string, public []byte) (history.Entry, error) {
	e := history.Entry{Seq: dag.Seq(seq), Kind: history.Kind(kind), At: dag.Time(at), Public: bytes.Clone(public)}
	if got := e.Leaf(); DigestPrefix(got) != leaf {
		return history.Entry{}, fmt.Errorf("number %d is damaged: its bytes give the leaf %s, and another is kept", seq, got)
	}
	return e, nil
}
