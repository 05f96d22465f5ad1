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

// plainBM25 is the usual ranking by words, k1 = 1.2 and b = 0.75: no stems, no stop words, no neighbours. It shares no
// code with the kernel's search, which it is compared with.
func plainBM25(_ context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
	const k1, b = 1.2, 0.75
	past := c.until(q.AsOf)
	words := slices.Sorted(maps.Keys(countWords(q.Text)))
	having := make([]float64, len(words))
	lengths, total := make([]float64, len(past)), 0.0
	for i := range past {
		for _, n := range c.words[i] {
			lengths[i] += float64(n)
		}
		total += lengths[i]
		for k, w := range words {
			if c.words[i][w] > 0 {
				having[k]++
			}
		}
	}
	type scored struct {
		id    dag.TurnID
		score float64
	}
	var hits []scored
	average := total / float64(len(past))
	for i := range past {
		score := 0.0
		for k, w := range words {
			if n := float64(c.words[i][w]); n > 0 {
				rarity := math.Log(1 + (float64(len(past))-having[k]+0.5)/(having[k]+0.5))
				score += rarity * n * (k1 + 1) / (n + k1*(1-b+b*lengths[i]/average))
			}
		}
		if score > 0 {
			hits = append(hits, scored{past[i].ID, score})
		}
	}
	slices.SortFunc(hits, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), a.id.Compare(b.id)) })
	ids := make([]dag.TurnID, len(hits))
	for i := range hits {
		ids[i] = hits[i].id
	}
	return ids, nil
}
