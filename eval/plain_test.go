package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// scanBM25 is plainBM25 without an index: it reads all turns for each question.
func scanBM25(c *Corpus, q Question) []dag.TurnID {
	const k1, b = 1.2, 0.75
	past := c.until(q.AsOf)
	words := slices.Sorted(maps.Keys(countWords(q.Text)))
	having, total := make([]float64, len(words)), 0.0
	for i := range past {
		counts := countWords(past[i].Content)
		for _, n := range counts {
			total += float64(n)
		}
		for k, w := range words {
			if counts[w] > 0 {
				having[k]++
			}
		}
	}
	scores := map[dag.TurnID]float64{}
	for i := range past {
		counts, length := countWords(past[i].Content), 0.0
		for _, n := range counts {
			length += float64(n)
		}
		for k, w := range words {
			if n := float64(counts[w]); n > 0 {
				rarity := math.Log(1 + (float64(len(past))-having[k]+0.5)/(having[k]+0.5))
				scores[past[i].ID] += rarity * n * (k1 + 1) / (n + k1*(1-b+b*length/(total/float64(len(past)))))
			}
		}
	}
	ids := slices.Collect(maps.Keys(scores))
	slices.SortFunc(ids, func(a, b dag.TurnID) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), a.Compare(b)) })
	return ids
}

// TestPlainBM25 compares the ranking with one that reads all turns, at every number of the corpus.
func TestPlainBM25(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := func(n int) string {
		var all []string
		for range n {
			all = append(all, fmt.Sprintf("w%d", r.IntN(1+r.IntN(30))))
		}
		return strings.Join(all, " ")
	}
	var turns []Turn
	for i := range 200 {
		turns = append(turns, Turn{dag.Draft{ID: dag.ExternalTurnID("plain", fmt.Sprint(i)), Content: words(r.IntN(12))}, dag.Seq(i + 1)})
	}
	c := &Corpus{Turns: turns}
	hits := 0
	for i := range turns {
		q := Question{Text: words(1 + r.IntN(6)), AsOf: turns[i].Seq}
		got, err := plainBM25(t.Context(), c, q)
		if want := scanBM25(c, q); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q at %d: got %v, %v, want %v", q.Text, q.AsOf, got, err, want)
		}
		hits += len(got)
	}
	if hits < 1000 {
		t.Errorf("%d turns were found", hits)
	}
}
