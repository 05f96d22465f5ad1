// Package segments owns which segments of text indexes a store keeps, and how they are named. A segment covers 512 or 4096
// consecutive numbers of a history and begins after a multiple of its size. It is kept in a snapshot with a name such as
//
//	words/english/00000000001000-00000000002000
//	vectors/minilm-static@2/00000000001000-00000000002000
//
// which contains the analyzer of the words or the model of the vectors, and in hexadecimal the number above which the segment
// begins and its last number. Package retrieval owns the bytes. The erasure of a turn drops the segments that contain it.
package segments

import (
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/embed"
)

// The sizes of segments. Most is small enough that the texts of one segment are quickly read
// again after an erasure; Least is small enough that only few numbers are in no segment yet.
const (
	Least = 512
	Most  = 8 * Least
)

// TextsOfRequest is how many texts a request of a service reads at most for an index: those of a segment that an erasure dropped, and of those after the last
// segment. They take some 0.3 s.
const TextsOfRequest = Most + Least

// A Range is the numbers above After up to UpTo.
type Range struct{ After, UpTo dag.Seq }

// A Series is the segments of one kind: words as an analyzer cuts them, or vectors of a model. One of the two is "".
type Series struct{ Analyzer, Model string }

// The prefixes of the names of all segments of words, and of all segments of vectors.
const (
	AllWords   = "words/"
	AllVectors = "vectors/"
)

// Kept returns the series that stores keep. The only vectors kept are those of
// the table that ships with the program, since every process can compute them.
func Kept() []Series {
	list := []Series{{Model: embed.StaticID}}
	for _, analyzer := range analysis.Names() {
		list = append(list, Series{Analyzer: analyzer})
	}
	return list
}

// Filled returns the series whose segments are made in advance: the series of the policies that searches and contexts use by default.
func Filled() []Series {
	return []Series{{Analyzer: analysis.English.String()}, {Model: embed.StaticID}}
}

// Prefix returns the prefix of the names of the series.
func (s Series) Prefix() string {
	if s.Model != "" {
		return AllVectors + s.Model + "/"
	}
	return AllWords + s.Analyzer + "/"
}

// Name returns the name of a segment.
func (r Range) Name(of Series) string {
	return fmt.Sprintf("%s%014x-%014x", of.Prefix(), uint64(r.After), uint64(r.UpTo))
}

// From returns a string that sorts before the names of the series' segments
// that begin at after or above it, and after the names of its other segments.
func From(of Series, after dag.Seq) string { return fmt.Sprintf("%s%014x", of.Prefix(), uint64(after)) }

// Parse is the inverse of Name. It reports false for a string that Name returns for no segment of a kept series.
func Parse(name string) (of Series, r Range, ok bool) {
	for _, of := range Kept() {
		numbers, found := strings.CutPrefix(name, of.Prefix())
		if !found {
			continue
		}
		if n, err := fmt.Sscanf(numbers, "%x-%x", (*uint64)(&r.After), (*uint64)(&r.UpTo)); err == nil && n == 2 && r.Name(of) == name {
			return of, r, r.whole()
		}
	}
	return Series{}, Range{}, false
}

// whole reports whether a segment can have the range.
func (r Range) whole() bool {
	size := r.UpTo - r.After
	return r.UpTo > r.After && r.UpTo <= dag.MaxSeq && (size == Least || size == Most) && r.After%size == 0
}

// Of returns the ranges of the segments that contain a number, the largest first.
func Of(seq dag.Seq) (list []Range) {
	for _, size := range []dag.Seq{Most, Least} {
		after := (seq - 1) / size * size
		list = append(list, Range{after, after + size})
	}
	return list
}

// Within returns the ranges of the segments that should contain the numbers up to head,
// ascending and without overlap: every full range of Most, then the full ranges of Least.
func Within(head dag.Seq) (list []Range) {
	for _, size := range []dag.Seq{Most, Least} {
		after := dag.Seq(0)
		if n := len(list); n > 0 {
			after = list[n-1].UpTo
		}
		for ; after+size <= head; after += size {
			list = append(list, Range{after, after + size})
		}
	}
	return list
}

// Parts returns the smaller ranges that a range replaces.
func (r Range) Parts() (list []Range) {
	if r.UpTo-r.After == Most {
		for after := r.After; after < r.UpTo; after += Least {
			list = append(list, Range{after, after + Least})
		}
	}
	return list
}

// An Erasure is the change that drops the segments with a turn, as a part of the turn's erasure.
type Erasure struct{ Turn dag.TurnID }

// Needs asks for the turn's number.
func (e *Erasure) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		n.Turns = []dag.TurnID{e.Turn}
	}
	return n
}

// Plan drops the segments.
func (e *Erasure) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{}
	if turn, ok := k.Turns[e.Turn]; ok {
		for _, series := range Kept() {
			for _, r := range Of(turn.Seq) {
				p.Snapshots = append(p.Snapshots, history.Snapshot{Name: r.Name(series)})
			}
		}
	}
	return p, nil
}
