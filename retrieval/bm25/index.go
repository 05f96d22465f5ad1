package bm25

import (
	"fmt"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
)

// MaxReach bounds the neighbours on either side that count as part of a turn.
const MaxReach = 8

// An Index contains the terms of a tenant's turns. It must not be changed while it is read; several goroutines may read it at once.
type Index struct {
	lexicon
	layout
	scratch sync.Pool
}

// New returns an empty index. Searches with this reach, at most MaxReach, are fast; searches with another reach
// visit all turns.
func New(reach int) *Index {
	if reach < 0 || reach > MaxReach {
		panic(fmt.Sprintf("bm25: a reach of %d turns", reach))
	}
	x := &Index{lexicon: lexicon{terms: map[string]int32{}}, layout: layout{reach: reach, placed: map[dag.ConversationID]int32{}}}
	x.scratch.New = func() any { return &scratch{} }
	return x
}

// A Term is a term of texts for one index. It caches its number in that index, so a Term that was given to the index before an Erase
// must not be used after it.
type Term struct {
	text string
	id   int32 // the number of the term plus one; 0: not looked up yet
}

// NewTerm returns a term that has not been given to an index.
func NewTerm(text string) *Term { return &Term{text: text} }

// NewTerms returns terms that have not been given to an index.
func NewTerms(texts ...string) []*Term {
	terms := make([]*Term, len(texts))
	for i, text := range texts {
		terms[i] = NewTerm(text)
	}
	return terms
}

// String returns the text of the term.
func (t *Term) String() string { return t.text }

// Add adds a turn after all others, and returns its place. person says whether a person wrote it. If terms is nil, its text is not known and
// the turn does not count, as if it had been erased.
func (x *Index) Add(seq dag.Seq, of dag.ConversationID, person bool, terms []*Term) (int, error) {
	n, err := x.place(Placed{seq, of, person, terms != nil}, int32(len(terms)))
	if err != nil {
		return 0, err
	}
	from := len(x.forward)
	for _, term := range terms {
		x.post(n, term)
	}
	slices.Sort(x.forward[from:])
	x.turns[n].from, x.turns[n].kinds = from, int32(len(x.forward)-from)
	return int(n), nil
}

// Terms returns the distinct terms of a turn as numbers of this index, ascending. The result must not be changed.
func (x *Index) Terms(turn int32) []int32 {
	if r := x.runOf(turn); r != nil {
		return x.termsIn(r, turn)
	}
	t := &x.turns[turn]
	return x.forward[t.from : t.from+int(t.kinds)]
}

// HasTerm reports whether a turn has a term.
func (x *Index) HasTerm(turn int32, term string) bool {
	all := x.Terms(turn) // makes the numbers of its terms known
	x.lazy.RLock()
	id, known := x.terms[term]
	x.lazy.RUnlock()
	_, has := slices.BinarySearch(all, id)
	return known && has
}

// Erase removes a turn's terms. Later searches have the results that they would have if the turn had never had a text. No posting of the
// turn remains, and no term that no other turn has. The cost is one pass over the postings of its terms and over all turns from it on.
func (x *Index) Erase(n int) {
	t := &x.turns[n]
	if !t.counted {
		return
	}
	terms := x.Terms(int32(n))
	if r := x.runOf(int32(n)); r != nil {
		x.unpacked.Add(int64(-sizeOfTerm * len(r.forward)))
		r.erase(int32(n))
	}
	for _, id := range terms {
		x.unpost(int32(n), id)
	}
	clear(terms)
	t.kinds = 0
	x.empty(int32(n))
}

// A View is an index as of a sequence number.
type View struct {
	x   *Index
	cut int32 // number of turns in the view
}

// At returns the view as of a number.
func (x *Index) At(asOf dag.Seq) View {
	cut, _ := slices.BinarySearchFunc(x.turns, asOf+1, func(t turn, seq dag.Seq) int {
		if t.seq < seq {
			return -1
		}
		return 1
	})
	return View{x, int32(cut)}
}

// whole reports whether the view contains all turns of the index.
func (v View) whole() bool { return int(v.cut) == len(v.x.turns) }

// Has reports whether a turn is in the view.
func (v View) Has(turn int32) bool { return turn < v.cut }

// counted returns the sums over the turns of the view.
func (v View) counted() sums {
	if v.cut == 0 {
		return sums{}
	}
	return v.x.sums[v.cut-1]
}

// having returns the postings of a term in the view, and the reading of all its postings in the index; nil if the index has no such term.
func (v View) having(term string) ([]posting, *reading) {
	all, r := v.x.list(term, v.x.of)
	if n := len(all); n == 0 || all[n-1].turn < v.cut {
		return all, r
	}
	return all[:placeOf(all, int(v.cut))], r
}
