// Package overlap says how many words texts have in common.
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
	// leastShare is the least share of terms that is written down. Below it nothing is alike.
	leastShare = 300_000
	// leastTerms is the number of distinct terms that a text needs to be like another.
	leastTerms = 8
)

// Compare returns how alike texts are, from leastShare on: the terms that both have, of those that the shorter one has, each counted once.
// Each text is its distinct terms as small numbers, none for one that is not compared. The cost is one step for each pair of texts, and one for each
// term that two have in common, on every processor. What it returns does not depend on how many there are.
func Compare(texts [][]int32) []contexts.Overlap {
	c := newComparison(texts)
	rows := make([][]contexts.Overlap, len(texts))
	const portion = 16 // texts taken at once
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

// A comparison knows which texts have a term.
type comparison struct {
	texts [][]int32
	needs []int32 // so many terms in common are leastShare of a text; more than there are for one that is not compared
	first []int   // by text: where its terms begin in after
	after []int32 // by term of a text: where those that have it, and come after the text, begin in of
	until []int32 // and where they end
	of    []int32 // the texts that have a term, ascending, one term after the other
}

// A span is where the texts of a term are in of. Between two comparisons all spans are zero.
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
				by[term].end++ // how many have it, for now
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
			if at++; s.next == s.end { // the last one
				*s = span{}
			}
		}
	}
	return c
}

// row compares a text with those after it. common is zero for each text, and is so again afterwards.
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
