package history

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// An Index is one of the orders in which terms are found. All kinds share the index
// numbers, so each kind has numbers of its own. An index belongs to one stream.
type Index uint8

// FirstOfRecord is the first index of the record; smaller indexes belong to the Known stream.
const FirstOfRecord Index = 128

// Stream returns the stream whose entries begin the terms of the index.
func (i Index) Stream() Stream {
	if i >= FirstOfRecord {
		return Record
	}
	return Known
}

// MaxKey bounds the bytes of a term's key.
const MaxKey = 4 << 10

// beyond is above all keys: no key may begin with these 40 bytes of ff.
var beyond = bytes.Repeat([]byte{0xff}, 40)

// Forever is the Until of a term that has not ended.
const Forever = dag.MaxSeq

// A Term is a row of an index. Two terms of one index differ in their keys or in Since.
type Term struct {
	Index Index
	Key   []byte
	Since dag.Seq // the number of the entry that began the term
	Until dag.Seq // the term counts before this number: that of the entry that ended it, or Forever
	Value []byte
	Entry *Entry // the entry that began the term; nil unless Range.Entries asked for it
}

// Compare orders terms by index, key and Since.
func (t *Term) Compare(o *Term) int {
	return cmp.Or(cmp.Compare(t.Index, o.Index), bytes.Compare(t.Key, o.Key), cmp.Compare(t.Since, o.Since))
}

// Seen reports whether the term counts as of a sequence number.
func (t *Term) Seen(asOf dag.Seq) bool { return t.Since <= asOf && asOf < t.Until }

// Check reports the first reason why no store accepts the term, as dag.ErrForm.
func (t *Term) Check() error {
	switch {
	case len(t.Key) > MaxKey || bytes.HasPrefix(t.Key, beyond):
		return fmt.Errorf("%w: a term of index %d has the key %.80x with %d bytes, want at most %d that do not begin with %x", dag.ErrForm, t.Index, t.Key, len(t.Key), MaxKey, beyond)
	case t.Since == 0 || t.Until <= t.Since || t.Until > Forever:
		return fmt.Errorf("%w: a term of index %d counts from %d to %d, want an end after the beginning", dag.ErrForm, t.Index, t.Since, t.Until)
	}
	return nil
}

// A Key names the terms of an index that have the same key.
type Key struct {
	Index Index
	Key   string
}

// A Place is a position between two terms of an index: after every term with a
// smaller key, and after the terms with the same key that begin at Since or earlier.
type Place struct {
	Key   []byte
	Since dag.Seq
}

// A Range selects terms of one index whose keys begin with a prefix, in the order of the terms.
type Range struct {
	Index  Index
	Prefix []byte
	After  *Place  // nil: from the first one; its key begins with Prefix
	AsOf   dag.Seq // terms that count as of this number; 0: all terms, including ended ones
	Limit  int     // the largest number of terms; 0: no limit
	Last   bool    // the last terms, in descending order; not with After, and set for all ranges of a call or none

	// Entries asks for the entry that began each term, as it was at the same moment. It is set
	// for all ranges of a call or none, not with Last, and only for indexes of the Known stream.
	Entries bool
}

// Lower returns the place after which the range begins.
func (r *Range) Lower() Place {
	if r.After != nil {
		return *r.After
	}
	return Place{Key: r.Prefix}
}

// Upper returns the smallest key that is greater than every key in the range.
func (r *Range) Upper() []byte {
	for i := len(r.Prefix) - 1; i >= 0; i-- {
		if r.Prefix[i] != 0xff {
			upper := bytes.Clone(r.Prefix[:i+1])
			upper[i]++
			return upper
		}
	}
	return beyond
}

// Holds reports whether a term is in the range, regardless of Limit.
func (r *Range) Holds(t *Term) bool {
	return t.Index == r.Index && bytes.HasPrefix(t.Key, r.Prefix) &&
		(r.After == nil || cmp.Or(bytes.Compare(t.Key, r.After.Key), cmp.Compare(t.Since, r.After.Since)) > 0) &&
		(r.AsOf == 0 || t.Seen(r.AsOf))
}

// MaxRanges bounds the ranges that are read at once.
const MaxRanges = 16 << 10

// CheckRanges refuses ranges that no store answers, as dag.ErrForm.
func CheckRanges(ranges []Range) error {
	if len(ranges) > MaxRanges {
		return fmt.Errorf("%w: there are %d ranges of terms in one call, at most %d", dag.ErrForm, len(ranges), MaxRanges)
	}
	for i := range ranges {
		switch r := &ranges[i]; {
		case r.Limit < 0 || len(r.Prefix) > MaxKey:
			return fmt.Errorf("%w: range %d of terms: the prefix %.40x is too long or the limit %d is negative", dag.ErrForm, i+1, r.Prefix, r.Limit)
		case r.Last != ranges[0].Last || r.Last && r.After != nil:
			return fmt.Errorf("%w: range %d of terms: all ranges of a call must ask for the last terms, or none, and the last terms cannot start after a place", dag.ErrForm, i+1)
		case r.Entries != ranges[0].Entries || r.Entries && (r.Last || r.Index.Stream() != Known):
			return fmt.Errorf("%w: range %d of terms, of index %d: all ranges of a call must ask for entries, or none, and not for the last terms or entries of the record", dag.ErrForm, i+1, r.Index)
		case r.After != nil && !bytes.HasPrefix(r.After.Key, r.Prefix):
			return fmt.Errorf("%w: range %d of terms: it starts after the key %.40x, which does not begin with the prefix %.40x", dag.ErrForm, i+1, r.After.Key, r.Prefix)
		}
	}
	return nil
}
