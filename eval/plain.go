package main

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/graphkernel/graphkernel/dag"
)

// countWords counts the words of a text: runs of letters and digits, in lower case.
func countWords(text string) map[string]int {
	counts := map[string]int{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		counts[w]++
	}
	return counts
}

// An index has the words of a corpus.
type index struct {
	postings map[string][]posting // by word, ascending by place
	lengths  []int                // the words of each turn
	totals   []int                // the words of the turns before each place
}

// A posting says how often a word occurs in a turn.
type posting struct{ place, count int }

func newIndex(turns []Turn) *index {
	x := &index{postings: map[string][]posting{}, lengths: make([]int, len(turns)), totals: make([]int, len(turns)+1)}
	for i := range turns {
		for w, n := range countWords(turns[i].Content) {
			x.postings[w] = append(x.postings[w], posting{i, n})
			x.lengths[i] += n
		}
		x.totals[i+1] = x.totals[i] + x.lengths[i]
	}
	return x
}

// indexed returns the words of the corpus, which are counted when they are asked for first.
func (c *Corpus) indexed() *index {
	if c.index == nil {
		c.index = newIndex(c.Turns)
	}
	return c.index
}

// plainBM25 is the usual ranking by words, k1 = 1.2 and b = 0.75: no stems, no stop words, no neighbours. It shares no
// code with the kernel's search, which it is compared with.
func plainBM25(_ context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
	const k1, b = 1.2, 0.75
	past := c.until(q.AsOf)
	x := c.indexed()
	average := float64(x.totals[len(past)]) / float64(len(past))
	scores := map[int]float64{} // by place
	for _, w := range slices.Sorted(maps.Keys(countWords(q.Text))) {
		having := x.postings[w]
		n, _ := slices.BinarySearchFunc(having, len(past), func(p posting, place int) int { return cmp.Compare(p.place, place) })
		rarity := math.Log(1 + (float64(len(past))-float64(n)+0.5)/(float64(n)+0.5))
		for _, p := range having[:n] {
			count := float64(p.count)
			scores[p.place] += rarity * count * (k1 + 1) / (count + k1*(1-b+b*float64(x.lengths[p.place])/average))
		}
	}
	places := slices.Collect(maps.Keys(scores))
	slices.SortFunc(places, func(i, j int) int {
		return cmp.Or(cmp.Compare(scores[j], scores[i]), past[i].ID.Compare(past[j].ID))
	})
	ids := make([]dag.TurnID, len(places))
	for i, place := range places {
		ids[i] = past[place].ID
	}
	return ids, nil
}
