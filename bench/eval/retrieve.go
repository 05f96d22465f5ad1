package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// A system ranks passages for a question, the best first, each once.
type system struct {
	name string
	rank func(ctx context.Context, q string) ([]int, error)
}

// supporting measures which share of the supporting passages is among the first ones.
func supporting(ctx context.Context, c *corpus, systems []system) error {
	depths := []int{2, 5, 10, 20, 100}
	header := table.Row{"supporting passages found among the first"}
	for _, d := range depths {
		header = append(header, d)
	}
	var rows []table.Row
	for _, s := range systems {
		found, all, complete := make([]int, len(depths)), 0, 0
		for _, q := range c.questions {
			ranked, err := s.rank(ctx, q.text)
			if err != nil {
				return err
			}
			all += len(q.support)
			hits := 0
			for i, d := range depths {
				hits = 0
				for _, p := range ranked[:min(len(ranked), d)] {
					if q.support[p] {
						hits++
					}
				}
				found[i] += hits
			}
			if hits == len(q.support) {
				complete++
			}
		}
		row := table.Row{s.name}
		for i := range depths {
			row = append(row, fmt.Sprintf("%.1f %%", 100*float64(found[i])/float64(all)))
		}
		rows = append(rows, append(row, fmt.Sprintf("%d of %d", complete, len(c.questions))))
	}
	printed(append(header, "questions with all"), rows)
	return nil
}

// passages walks from the entities that a question names.
func (x *index) passages(ctx context.Context, q string) ([]int, error) {
	start := x.mentioned(q)
	if len(start) == 0 {
		return nil, nil
	}
	got, err := x.k.Facts().Traverse(ctx, tenant, kernel.Traversal{Start: start, MaxResults: knowledge.MaxResults})
	if err != nil {
		return nil, err
	}
	var ranked []int
	seen := map[int]bool{}
	for _, r := range got.Reached {
		acts, err := x.k.Facts().Evidence(ctx, tenant, r.Path[len(r.Path)-1].ID, got.AsOf)
		if err != nil {
			return nil, err
		}
		for _, a := range acts {
			p, err := strconv.Atoi(strings.TrimPrefix(a.Act.Fact.Source, "passage:"))
			if err != nil {
				return nil, err
			}
			if !seen[p] {
				seen[p] = true
				ranked = append(ranked, p)
			}
		}
	}
	return ranked, nil
}

// mentioned returns the entities that a text names: of the runs of words that are names, the
// longest, which do not overlap.
func (x *index) mentioned(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '?' || r == ',' })
	var found []string
	for at := 0; at < len(words); at++ {
		for n := min(len(words)-at, 12); n > 0; n-- {
			run := strings.Join(words[at:at+n], " ")
			name, err := normalize.Name(x.spell(run))
			if err != nil || !x.names[name] || n == 1 && common(words[at]) {
				continue
			}
			found = append(found, name)
			at += n - 1
			break
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return found[:min(len(found), knowledge.MaxStarts)]
}

// common says that a single word is no name to start from: it begins small.
func common(word string) bool {
	for _, r := range word {
		return !unicode.IsUpper(r) && !unicode.IsDigit(r)
	}
	return true
}

// bm25 is the usual ranking by words (k1 = 1.2, b = 0.75).
type bm25 struct {
	counts  []map[string]int
	lengths []int
	average float64
	in      map[string]int
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func newBM25(c *corpus) *bm25 {
	b := &bm25{in: map[string]int{}}
	total := 0
	for _, p := range c.passages {
		counts := map[string]int{}
		words := wordsOf(p.Title + " " + p.Text)
		for _, w := range words {
			if counts[w]++; counts[w] == 1 {
				b.in[w]++
			}
		}
		b.counts, b.lengths = append(b.counts, counts), append(b.lengths, len(words))
		total += len(words)
	}
	b.average = float64(total) / float64(len(c.passages))
	return b
}

func (b *bm25) passages(_ context.Context, q string) ([]int, error) {
	const k1, slope = 1.2, 0.75
	scores := make([]float64, len(b.counts))
	order := make([]int, len(b.counts))
	for i := range b.counts {
		order[i] = i
		for _, w := range wordsOf(q) {
			if n := float64(b.counts[i][w]); n > 0 {
				rarity := math.Log(1 + (float64(len(b.counts))-float64(b.in[w])+0.5)/(float64(b.in[w])+0.5))
				scores[i] += rarity * n * (k1 + 1) / (n + k1*(1-slope+slope*float64(b.lengths[i])/b.average))
			}
		}
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y)) })
	return order[:100], nil
}

// A kindOf question is asked of an index under a name.
type kindOf struct {
	name string
	x    *index
}

// kinds asks five kinds of question that are made from the triples: each has an answer in
// them, and names are spelled as people do, in one case out of another.
func kinds(ctx context.Context, c *corpus, systems []kindOf) error {
	const each = 200
	ask := []struct {
		kind string
		hit  func(x *index, t, u *triple) (bool, error)
	}{
		{"attribute: what does SUBJECT PREDICATE?", func(x *index, t, _ *triple) (bool, error) { return x.reaches(ctx, t.subject, t.predicate, t.object, 1) }},
		{"relationship: how are SUBJECT and OBJECT connected?", func(x *index, t, _ *triple) (bool, error) { return x.connected(ctx, t.subject, t.object) }},
		{"multi-hop: SUBJECT to an entity two facts away", func(x *index, t, u *triple) (bool, error) { return x.reaches(ctx, t.subject, "", u.object, 2) }},
		{"fuzzy name: the subject in another spelling", func(x *index, t, _ *triple) (bool, error) {
			return x.reaches(ctx, respelled(t.subject), t.predicate, t.object, 1)
		}},
		{"predicate: who stands in PREDICATE to OBJECT?", func(x *index, t, _ *triple) (bool, error) { return x.reaches(ctx, t.object, t.predicate, t.subject, 1) }},
	}
	after := map[string]*triple{}
	for i := range c.triples {
		after[c.triples[i].subject] = &c.triples[i]
	}
	var pairs [][2]*triple
	for i := 0; i < len(c.triples) && len(pairs) < each; i += 17 {
		t := &c.triples[i]
		if u := after[t.object]; u != nil && u.object != t.subject {
			pairs = append(pairs, [2]*triple{t, u})
		}
	}
	header := table.Row{fmt.Sprintf("%d questions of a kind, answered", len(pairs))}
	for _, s := range systems {
		header = append(header, s.name)
	}
	var rows []table.Row
	for _, a := range ask {
		row := table.Row{a.kind}
		for _, s := range systems {
			hits := 0
			for _, p := range pairs {
				hit, err := a.hit(s.x, p[0], p[1])
				if err != nil {
					return err
				}
				if hit {
					hits++
				}
			}
			row = append(row, fmt.Sprintf("%.1f %%", 100*float64(hits)/float64(len(pairs))))
		}
		rows = append(rows, row)
	}
	printed(header, rows)
	return nil
}

// respelled writes a name as somebody else might: all small, without its dots.
func respelled(name string) string {
	return " " + strings.ReplaceAll(strings.ToLower(name), ".", "") + " "
}

// stored returns the entity that a name stands for, if there is one.
func (x *index) stored(ctx context.Context, name string) (string, bool, error) {
	stored, err := normalize.Name(x.spell(name))
	if err != nil {
		return "", false, nil
	}
	t, err := x.k.Facts().Aliases(ctx, tenant, 0)
	return t.Resolve(stored), x.names[stored], err
}

func (x *index) reaches(ctx context.Context, from, predicate, to string, hops int) (bool, error) {
	start, ok, err := x.stored(ctx, from)
	goal, there, goalErr := x.stored(ctx, to)
	if err = cmp.Or(err, goalErr); err != nil || !ok || !there {
		return false, err
	}
	t := kernel.Traversal{Start: []string{start}, MaxHops: hops, MaxResults: 100}
	if predicate != "" {
		t.Predicates = []string{x.spell(predicate)}
	}
	got, err := x.k.Facts().Traverse(ctx, tenant, t)
	if err != nil {
		return false, err
	}
	return start == goal || slices.ContainsFunc(got.Reached, func(r knowledge.Reached) bool { return r.Entity == goal }), nil
}

func (x *index) connected(ctx context.Context, from, to string) (bool, error) {
	start, ok, err := x.stored(ctx, from)
	goal, there, goalErr := x.stored(ctx, to)
	if err = cmp.Or(err, goalErr); err != nil || !ok || !there || start == goal {
		return start == goal && start != "", err
	}
	got, err := x.k.Facts().Paths(ctx, tenant, kernel.PathQuery{From: start, To: goal, AsOf: dag.Seq(0)})
	return err == nil && len(got.Reached) > 0, err
}
