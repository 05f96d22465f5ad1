package projection

import (
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// Bounds of the search for names in a text.
const (
	mostWords = 64 // words of the text that are searched
	mostRun   = 4  // the most words of a name
)

// MostNames is the maximum number of names that NamesIn returns.
const MostNames = 8

// NamesIn returns the names in a text that had a fact by the number of the view, longer names first. Later facts do not change the result.
func (v *View) NamesIn(ctx context.Context, text string) (names []string, err error) {
	words := analysis.Words(text)
	words = words[:min(len(words), mostWords)]
	var asks []knowledge.Ask
	for run := mostRun; run >= 1; run-- {
		for at := 0; at+run <= len(words); at++ {
			name, err := normalize.Name(text[words[at].From:words[at+run-1].To])
			if err != nil {
				continue
			}
			name = v.Aliases.Resolve(name)
			asks = append(asks, knowledge.Ask{Name: name, Limit: 1}, knowledge.Ask{Name: name, Incoming: true, Limit: 1})
		}
	}
	if len(asks) == 0 {
		return nil, nil
	}
	known := make([]bool, len(asks))
	for of, more := []int(nil), asks; len(more) > 0; {
		runs, err := v.Edges(ctx, more)
		if err != nil {
			return nil, err
		}
		var next []knowledge.Ask
		var left []int
		for i := range more {
			at := i
			if of != nil {
				at = of[i]
			}
			edges := runs[i].Edges
			known[at] = slices.ContainsFunc(edges, func(e knowledge.Edge) bool { return e.Since <= v.AsOf })
			if n := len(edges); n > 0 && !known[at] && !runs[i].Whole { // all of these edges came later, and more edges follow
				ask := more[i]
				ask.After, ask.Limit = edges[n-1].Mark(), 256
				next, left = append(next, ask), append(left, at)
			}
		}
		of, more = left, next
	}
	for i := range asks {
		if known[i] && !slices.Contains(names, asks[i].Name) && len(names) < MostNames {
			names = append(names, asks[i].Name)
		}
	}
	return names, nil
}
