package history

import (
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// A Kind says what an entry is, with a version, such as "fact/1".
type Kind string

// MaxPublic bounds the bytes of an entry's public half. A fact of three texts of 64 KiB, every
// byte of them escaped, that supersedes as many statements as one request can assert has 2 MB.
const MaxPublic = 16 << 20

// MaxKind bounds the bytes of a kind's name.
const MaxKind = 64

// An Entry is one thing that happened. It never changes.
type Entry struct {
	Seq    dag.Seq
	Kind   Kind
	At     dag.Time // when it was recorded, by the recorder's clock
	Public []byte   // in the canonical form of its kind
}

// Leaf is the SHA-256 of a zero byte and the public half: a leaf of a Merkle tree (RFC 6962).
func (e *Entry) Leaf() dag.Digest {
	const few = 1 << 10
	if len(e.Public) < few { // without a hash on the heap
		var b [few]byte
		return sha256.Sum256(b[:1+copy(b[1:], e.Public)])
	}
	return sha256.Sum256(append([]byte{0}, e.Public...))
}

// Check reports the first thing about an entry that no store keeps.
func (e *Entry) Check() error {
	switch {
	case e.Seq == 0 || e.Seq > dag.MaxSeq:
		return fmt.Errorf("%w: an entry with the number %d, want 1 to %d", dag.ErrForm, e.Seq, dag.MaxSeq)
	case e.Kind == "" || len(e.Kind) > MaxKind:
		return fmt.Errorf("%w: number %d is of the kind %.80q, want 1 to %d bytes", dag.ErrForm, e.Seq, e.Kind, MaxKind)
	case !e.At.Valid():
		return fmt.Errorf("%w: number %d was recorded at %d, which is no time", dag.ErrForm, e.Seq, e.At)
	case len(e.Public) == 0 || len(e.Public) > MaxPublic:
		return fmt.Errorf("%w: number %d, of kind %s, has %d bytes, want 1 to %d", dag.ErrForm, e.Seq, e.Kind, len(e.Public), MaxPublic)
	}
	return nil
}

// A Page selects entries: those numbered above After, ascending, Limit at most; or, if At is
// not nil, those with the numbers in it.
type Page struct {
	After dag.Seq
	Limit int
	At    []dag.Seq
}
