// Package overlap computes which share of their words texts have in common.
package overlap

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

const (
	// leastShare is the smallest share of terms that is reported. Texts with a smaller share do not count as alike.
	leastShare = 300_000
	// leastTerms is the number of distinct terms that a text must have to be compared.
	leastTerms = 8
)

// Compare returns the overlaps of texts that are at least leastShare: the number of terms that both texts have, divided
// by the number of terms of the shorter text. A text is a list of its distinct terms, as small numbers; an empty list
// is not compared. The work is one step for each pair of texts, and one for each term that two texts have in common,
// divided among the processors. The result does not depend on their number.
func Compare(texts [][]int32) []contexts.Overlap {
	c := newComparison(texts)
	rows := make([][]contexts.Overlap, len(texts))
	const portion = 16 // texts that a worker takes at once
	var next atomic.Int64
	work := func() {
		common := make([]int32, len(texts))
		for {
			end := int(next.Add(portion))
			for i := end - portion; i < min(end, len(texts)); i++ {
				rows[i] = c.row(i, common)
			}
			if end >= len(texts) {
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0)-1, len(texts)/(4*portion)) {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return slices.Concat(rows...)
}

// A comparison contains, for each term, the texts that have it.
type comparison struct {
	texts [][]int32
	needs []int32 // the number of common terms that makes leastShare of a text; out of reach for a text that is not compared
	first []int   // by text: the index of its first term in after and until
	after []int32 // by term of a text: the index in of at which the later texts with the term begin
	until []int32 // the index at which they end
	of    []int32 // for each term, one after the other: the texts that have it, ascending
}

// A span is the range in of that a term's texts occupy. Between two comparisons all spans are zero.
type span struct{ next, end int32 }

var spans = sync.Pool{New: func() any { return &[]span{} }}

func newComparison(texts [][]int32) *comparison {
	c := &comparison{texts: texts, needs: make([]int32, len(texts)), first: make([]int, len(texts))}
	total, most := 0, int32(-1)
	for i, terms := range texts {
		c.needs[i] = math.MaxInt32
		if len(terms) < leastTerms {
			continue
		}
		c.needs[i] = int32((int64(len(terms))*leastShare + int64(dag.One) - 1) / int64(dag.One))
		c.first[i] = total
		total += len(terms)
		most = max(most, slices.Max(terms))
	}
	kept := spans.Get().(*[]span)
	defer spans.Put(kept)
	if int(most) >= len(*kept) {
		*kept = make([]span, most+most/4+1)
	}
	by := *kept
	for _, terms := range c.texts {
		if len(terms) >= leastTerms {
			for _, term := range terms {
				by[term].end++ // for now, the number of texts that have it
			}
		}
	}
	c.after, c.until, c.of = make([]int32, total), make([]int32, total), make([]int32, total)
	taken, at := int32(0), 0
	for i, terms := range c.texts {
		if len(terms) < leastTerms {
			continue
		}
		for _, term := range terms {
			s := &by[term]
			if s.next == 0 { // the first text that has it
				s.next, s.end = taken, taken+s.end
				taken = s.end
			}
			s.next++
			c.of[s.next-1] = int32(i)
			c.after[at], c.until[at] = s.next, s.end
			if at++; s.next == s.end { // the last text that has it
				*s = span{}
			}
		}
	}
	return c
}

// row compares a text with those after it. common must be zero for each text, and is zero again afterwards.
func (c *comparison) row(i int, common []int32) (overlaps []contexts.Overlap) {
	terms := c.texts[i]
	if len(terms) < leastTerms {
		return nil
	}
	for at := c.first[i]; at < c.first[i]+len(terms); at++ {
		for _, j := range c.of[c.after[at]:c.until[at]] {
			common[j]++
		}
	}
	need := c.needs[i]
	for j := i + 1; j < len(common); j++ {
		if n := common[j]; n >= min(need, c.needs[j]) {
			overlaps = append(overlaps, contexts.Overlap{First: i, Second: j, Share: dag.PPM(int64(n) * int64(dag.One) / int64(min(len(terms), len(c.texts[j]))))})
		}
	}
	clear(common[i+1:])
	return overlaps
}
