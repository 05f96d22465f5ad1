package history

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// A Kind says what an entry is, with a version, such as "fact/2".
type Kind string

// A Stream is one of the two sequences of a tenant's entries. Each numbers its own.
type Stream uint8

// The streams.
const (
	// Known is what is known. Turns have their numbers in it, too, and an as-of number counts it.
	Known Stream = 0
	// Record is what the kernel did and vouches for: its entries are the leaves of the ledger,
	// that with the index i under the number i + 1. What is added to it does not move the head.
	Record Stream = 1
)

// MaxPublic bounds the bytes of each half of an entry. A fact of three texts of 64 KiB, every
// byte of them escaped, that supersedes as many statements as one request can assert has 2 MB.
const MaxPublic = 16 << 20

// MaxKind bounds the bytes of a kind's name.
const MaxKind = 64

// An Entry is one thing that happened. It never changes.
type Entry struct {
	Seq    dag.Seq
	Kind   Kind
	At     dag.Time // when it was recorded, by the recorder's clock; 0 in the record, whose leaves say it
	Public []byte   // in the canonical form of its kind
	Detail []byte   // what is kept beside the leaf and is not in it, in the form of the kind; nil for nothing

	// Part is the entry's position in its change, from 1 to Parts. Both are 0 for the entry of a change of one, for an entry of
	// the record, and for one that was stored before there was a Part. They are stored with the entry and are in no leaf; kinds
	// do not know them: the store sets them when it writes a change, and who adopts an entry keeps those of its source.
	Part, Parts uint32

	// Private is the half that can be erased; nil: there is none, or it was. The public half
	// binds it by a salted digest, if at all: that is the kind's own.
	Private []byte
}

// Whole returns the number of the last entry of the entry's change.
func (e *Entry) Whole() dag.Seq { return e.Seq + dag.Seq(e.Parts-e.Part) }

// AsOf returns the newest number up to the entry's own that is the end of a change: its own if it is the last entry of its
// change, else that before the change.
func (e *Entry) AsOf() dag.Seq {
	if e.Part == e.Parts {
		return e.Seq
	}
	return e.Seq - dag.Seq(e.Part)
}

// Continues reports whether the entry is the part of a change that comes after another one.
func (e *Entry) Continues(before *Entry) bool {
	return e.Seq == before.Seq+1 && e.Part == before.Part+1 && e.Parts == before.Parts
}

// Same reports whether two entries are the same in all fields.
func (e *Entry) Same(o *Entry) bool {
	return e.Part == o.Part && e.Parts == o.Parts && e.SameAlone(o)
}

// SameAlone is Same without regard to the changes that two entries are parts of.
func (e *Entry) SameAlone(o *Entry) bool {
	return e.Seq == o.Seq && e.Kind == o.Kind && e.At == o.At && bytes.Equal(e.Public, o.Public) && bytes.Equal(e.Detail, o.Detail) && bytes.Equal(e.Private, o.Private)
}

// SameButErased is Same for two entries, one of which may have been erased since the other was copied.
func (e *Entry) SameButErased(o *Entry) bool {
	if e.Private != nil && o.Private != nil {
		return e.Same(o)
	}
	a, b := *e, *o
	a.Private, b.Private = nil, nil
	return a.Same(&b)
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
	case len(e.Public) == 0 || max(len(e.Public), len(e.Detail), len(e.Private)) > MaxPublic:
		return fmt.Errorf("%w: number %d, of kind %s, has %d bytes, %d beside them and %d private ones, want 1 to %d", dag.ErrForm, e.Seq, e.Kind, len(e.Public), len(e.Detail), len(e.Private), MaxPublic)
	case e.Part > e.Parts || e.Parts > 0 && e.Part == 0 || e.Parts == 1 || dag.Seq(e.Part) > e.Seq:
		return fmt.Errorf("%w: number %d is part %d of the %d of its change, want 1 to the number of parts, or 0 of 0", dag.ErrForm, e.Seq, e.Part, e.Parts)
	case e.Private != nil && len(e.Private) == 0:
		return fmt.Errorf("%w: number %d, of kind %s, has a private half of no bytes", dag.ErrForm, e.Seq, e.Kind)
	}
	return nil
}

// A Page selects entries of a stream: those numbered above After, ascending, Limit at most; or, if
// At is not nil, those with the numbers in it.
type Page struct {
	Stream Stream
	After  dag.Seq
	Limit  int
	At     []dag.Seq
}
