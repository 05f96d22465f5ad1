package history

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// A Kind names the type of an entry, with a version, such as "fact/2".
type Kind string

// A Stream is one of the two sequences of a tenant's entries. Each stream numbers its own entries.
type Stream uint8

// The streams.
const (
	// Known is the stream of everything that is known. Turns have numbers of this stream, too, and an as-of number refers to it.
	Known Stream = 0
	// Record is the stream of what the kernel did and vouches for: its entries are the leaves of the ledger. The
	// leaf with the index i is the entry with the number i + 1. Adding to the record does not move the head.
	Record Stream = 1
)

// MaxPublic bounds the bytes of each half of an entry. The largest fact has 2 MB: three texts of
// 64 KiB, every byte of them escaped, superseding as many statements as one request can assert.
const MaxPublic = 16 << 20

// MaxKind bounds the bytes of a kind's name.
const MaxKind = 64

// An Entry is one thing that happened. It never changes.
type Entry struct {
	Seq    dag.Seq
	Kind   Kind
	At     dag.Time // when it was recorded, by the recorder's clock; 0 in the record, whose leaves contain the time
	Public []byte   // in the canonical form of its kind
	Detail []byte   // data stored with the leaf and not part of it, in the form of the kind; nil for none

	// Part is the entry's position in its change, from 1 to Parts. Both are 0 for the only entry of a change, for an entry of
	// the record, and for an entry that was stored before Part existed. They are stored with the entry, are in no leaf, and
	// kinds do not know them: the store sets them when it writes a change, and an adopted entry keeps those of its source.
	Part, Parts uint32

	// Private is the half that can be erased; nil: it never existed, or was erased.
	// Each kind decides whether its public half binds it by a salted digest.
	Private []byte
}

// Whole returns the number of the last entry of the entry's change.
func (e *Entry) Whole() dag.Seq { return e.Seq + dag.Seq(e.Parts-e.Part) }

// AsOf returns the newest number up to the entry's own at which a change ends: the entry's
// number if it is the last entry of its change, else the number before the change.
func (e *Entry) AsOf() dag.Seq {
	if e.Part == e.Parts {
		return e.Seq
	}
	return e.Seq - dag.Seq(e.Part)
}

// Continues reports whether the entry is the next part of the same change after before.
func (e *Entry) Continues(before *Entry) bool {
	return e.Seq == before.Seq+1 && e.Part == before.Part+1 && e.Parts == before.Parts
}

// Same reports whether two entries are the same in all fields.
func (e *Entry) Same(o *Entry) bool {
	return e.Part == o.Part && e.Parts == o.Parts && e.SameAlone(o)
}

// SameAlone is like Same, but ignores Part and Parts.
func (e *Entry) SameAlone(o *Entry) bool {
	return e.Seq == o.Seq && e.Kind == o.Kind && e.At == o.At && bytes.Equal(e.Public, o.Public) && bytes.Equal(e.Detail, o.Detail) && bytes.Equal(e.Private, o.Private)
}

// SameButErased is like Same for two entries, one of which may have been erased since the other was copied: a missing private half matches any.
func (e *Entry) SameButErased(o *Entry) bool {
	if e.Private != nil && o.Private != nil {
		return e.Same(o)
	}
	a, b := *e, *o
	a.Private, b.Private = nil, nil
	return a.Same(&b)
}

// Leaf returns the SHA-256 of a zero byte and the public half: the hash of a leaf of a Merkle tree (RFC 6962).
func (e *Entry) Leaf() dag.Digest {
	const few = 1 << 10
	if len(e.Public) < few { // avoids allocating a hash
		var b [few]byte
		return sha256.Sum256(b[:1+copy(b[1:], e.Public)])
	}
	return sha256.Sum256(append([]byte{0}, e.Public...))
}

// Check reports the first reason why no store accepts the entry, as dag.ErrForm.
func (e *Entry) Check() error {
	switch {
	case e.Seq == 0 || e.Seq > dag.MaxSeq:
		return fmt.Errorf("%w: an entry with the number %d, want 1 to %d", dag.ErrForm, e.Seq, dag.MaxSeq)
	case e.Kind == "" || len(e.Kind) > MaxKind:
		return fmt.Errorf("%w: number %d is of the kind %.80q, want 1 to %d bytes", dag.ErrForm, e.Seq, e.Kind, MaxKind)
	case !e.At.Valid():
		return fmt.Errorf("%w: number %d was recorded at %d, want a time from 1970 to 9999", dag.ErrForm, e.Seq, e.At)
	case len(e.Public) == 0 || max(len(e.Public), len(e.Detail), len(e.Private)) > MaxPublic:
		return fmt.Errorf("%w: number %d, of kind %s, has %d public bytes, %d bytes of detail and %d private bytes; want at least 1 public byte, and at most %d of each", dag.ErrForm, e.Seq, e.Kind, len(e.Public), len(e.Detail), len(e.Private), MaxPublic)
	case e.Part > e.Parts || e.Parts > 0 && e.Part == 0 || e.Parts == 1 || dag.Seq(e.Part) > e.Seq:
		return fmt.Errorf("%w: number %d is part %d of %d parts of its change, want 1 to the number of parts, or 0 of 0", dag.ErrForm, e.Seq, e.Part, e.Parts)
	case e.Private != nil && len(e.Private) == 0:
		return fmt.Errorf("%w: number %d, of kind %s, has an empty private half", dag.ErrForm, e.Seq, e.Kind)
	}
	return nil
}

// A Page selects entries of a stream: up to Limit entries numbered above After, ascending; or, if At is not nil, the entries with the numbers in At.
type Page struct {
	Stream Stream
	After  dag.Seq
	Limit  int
	At     []dag.Seq
}
