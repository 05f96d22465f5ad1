package space

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/embed/static"
	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// The search of memories adds two shares: of the words that are asked for, each weighted by how rare it is among the memories and by the length
// of the memory as in BM25 (Robertson and Zaragoza 2009), and of the likeness in meaning by the built-in table of word vectors. A memory that
// shares no word and is not likely enough is no match.
const (
	lengthWeight = 0.4 // b of BM25; memories are short, and most of their words matter
	meaning      = 2   // weight of the likeness beside the words
	leastLike    = 0.3 // the least likeness of a memory that shares no word
)

// search returns the memories that match some words, the best first. Of equal ones the newer comes first.
func (k Memories) search(ctx context.Context, tenant dag.Tenant, words string, list []heldMemory) ([]heldMemory, error) {
	scores, err := k.scores(ctx, tenant, words, list)
	if err != nil {
		return nil, err
	}
	var order []int
	for i := range list {
		if scores[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	found := make([]heldMemory, len(order))
	for i, n := range order {
		found[i] = list[n]
	}
	return found, nil
}

// scores returns the score of each memory for some words; 0 is no match.
func (k reader) scores(ctx context.Context, tenant dag.Tenant, words string, list []heldMemory) ([]float64, error) {
	terms, vectors := make([][]string, len(list)), make([][]int8, len(list))
	err := k.kernel.Reading(func(e Epoch) (err error) {
		for i := range list {
			m := &list[i]
			if m.revision == nil { // a proposal that waits
				terms[i] = termsOf(m.Text)
				continue
			}
			terms[i] = e.Kept().Terms(tenant, m.revision)
			if vectors[i], err = e.Kept().Vector(ctx, tenant, m.revision); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	asked, err := static.Load().Embed(ctx, []string{words})
	if err != nil {
		return nil, err
	}
	shares := shares(termsOf(words), terms)
	for i := range shares {
		like := likeness(vectors[i], asked[0])
		if shares[i] > 0 || like >= leastLike {
			shares[i] += meaning * max(like, 0)
		}
	}
	return shares, nil
}

// termsOf returns the search terms of a text, ascending.
func termsOf(text string) []string {
	return slices.Compact(slices.Sorted(slices.Values(analysis.English.Terms(nil, text))))
}

// likeness returns the cosine of the angle between two vectors; 0 if there is nothing to compare.
func likeness(a, b []int8) float64 {
	if a == nil || b == nil {
		return 0
	}
	return float64(vector.Dot(a, b)) / float64(len(a)*embed.RMS*embed.RMS)
}

// shares returns the share of the asked words that each memory has. A word of which nothing has a spelling counts for none of them, and a word
// with one letter wrong counts as the word that is near.
func shares(asked []string, terms [][]string) []float64 {
	n, length := float64(len(terms)), 0
	for _, t := range terms {
		length += len(t)
	}
	average := max(1, float64(length)/max(1, n))
	list, total := make([]float64, len(terms)), 0.0
	for _, word := range asked {
		has := having(terms, func(t string) bool { return t == word })
		if len(has) == 0 && analysis.NearWords.Possible(word) {
			has = having(terms, func(t string) bool { return analysis.NearWords.Near(t, word) })
		}
		weight := math.Log(1 + (n-float64(len(has))+0.5)/(float64(len(has))+0.5))
		total += weight
		for _, i := range has {
			list[i] += weight / (1 - lengthWeight + lengthWeight*float64(len(terms[i]))/average)
		}
	}
	for i := range list {
		list[i] /= max(total, 1e-9)
	}
	return list
}

func having(terms [][]string, is func(string) bool) (list []int) {
	for i := range terms {
		if slices.ContainsFunc(terms[i], is) {
			list = append(list, i)
		}
	}
	return list
}

// alike is the least likeness of a memory that is shown as the nearest to a new text.
const alike = 1.2

// nearest returns the memory that is most like a text; nil: none is.
func (k Memories) nearest(ctx context.Context, tenant dag.Tenant, text string, list []heldMemory) (*api.Memory, error) {
	if len(list) == 0 {
		return nil, nil
	}
	scores, err := k.scores(ctx, tenant, text, list)
	if err != nil {
		return nil, err
	}
	best := 0
	for i := range scores {
		if scores[i] > scores[best] {
			best = i
		}
	}
	if scores[best] < alike {
		return nil, nil
	}
	return &list[best].Memory, nil
}
