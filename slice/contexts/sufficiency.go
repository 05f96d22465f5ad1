package contexts

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// The levels of sufficiency, and the shares in ppm that Healthy and Low must exceed.
const (
	Healthy  = "healthy"
	Low      = "low"
	Critical = "critical"

	aboveHealthy = 700_000
	aboveLow     = 400_000
)

// A Sufficiency says how well the chosen texts cover the words of the task.
type Sufficiency struct {
	Share   dag.PPM // the share of the task's distinct words that occur in a chosen text
	Level   string
	Missing []string // the words that occur in none, as written, in the order of the task
}

// Sufficiency looks for the words of the task in the chosen texts and in the names of their authors. Function words do
// not count, and forms of a word count as one word. A task without words is fully covered.
func (b *Bundle) Sufficiency() Sufficiency {
	a := analysis.English
	asked := a.Terms(nil, b.Request.Task)
	begins := map[byte]bool{} // a stem begins as its word does
	for _, term := range asked {
		begins[term[0]] = true
	}
	there, known := map[string]bool{}, map[analysis.Piece]bool{}
	add := func(text string) {
		for p := range analysis.Pieces(text) {
			if p.Text != "" && begins[p.Text[0]] && !known[p] { // most words come many times, and a stem costs more than a look
				known[p] = true
				there[a.Term(p)] = true
			}
		}
	}
	for i := range b.Turns {
		add(b.Turns[i].Body.Content)
		add(b.Turns[i].Body.Author)
	}
	for i := range b.Facts {
		add(FactText(&b.Facts[i]))
	}
	for i := range b.Beliefs {
		add(BeliefText(&b.Beliefs[i]))
	}
	delete(there, "")
	s := Sufficiency{Share: dag.One, Level: Healthy}
	all, found := 0, 0
	seen := map[string]bool{}
	for _, at := range analysis.Words(b.Request.Task) {
		word := b.Request.Task[at.From:at.To]
		terms := a.Terms(nil, word)
		if len(terms) == 0 || seen[terms[0]] {
			continue
		}
		seen[terms[0]] = true
		all++
		if slices.ContainsFunc(terms, func(t string) bool { return there[t] }) {
			found++
		} else {
			s.Missing = append(s.Missing, word)
		}
	}
	if all > 0 {
		s.Share = dag.PPM(int64(found) * int64(dag.One) / int64(all))
	}
	switch {
	case s.Share > aboveHealthy:
	case s.Share > aboveLow:
		s.Level = Low
	default:
		s.Level = Critical
	}
	return s
}
