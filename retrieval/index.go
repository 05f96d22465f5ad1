package retrieval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/bm25"
)

// A Turn is what an index is made of.
type Turn struct {
	ID           dag.TurnID
	Conversation dag.ConversationID
	Seq          dag.Seq
	Role         dag.Role
	Author       string
	CreatedAt    dag.Time
	Content      string
}

// An Index finds a tenant's turns by words.
type Index struct {
	analyzer analysis.Analyzer
	words    *bm25.Index
	dates    *bm25.Index
	turns    []kept
	authors  map[string]bool // parts of authors' names, in lower case
}

type kept struct {
	Turn // without Content
	when bool
}

// New returns an empty index.
func New(a analysis.Analyzer) *Index {
	return &Index{analyzer: a, words: bm25.New(), dates: bm25.New(), authors: map[string]bool{}}
}

// Add adds a turn after all others.
func (x *Index) Add(t Turn) error {
	if _, err := x.words.Add(t.Seq, t.Conversation, x.analyzer.Terms(nil, t.Content)); err != nil {
		return err
	}
	if _, err := x.dates.Add(t.Seq, t.Conversation, ownDate(dateWords(nil, t.Content), t.CreatedAt)); err != nil {
		return err
	}
	k := kept{Turn: t, when: saysWhen(t.Content)}
	k.Content = ""
	x.turns = append(x.turns, k)
	for _, part := range nameParts(t.Author) {
		x.authors[part] = true
	}
	return nil
}

// nameParts returns the words of an author's name; human:anna is anna.
func nameParts(author string) []string {
	if at := strings.LastIndexByte(author, ':'); at >= 0 {
		author = author[at+1:]
	}
	return plainWords(author)
}

// A Hit is a turn that was found.
type Hit struct {
	Turn  dag.TurnID
	Seq   dag.Seq
	Score int64
}

// Search returns the best hits for a query as of a number.
func (x *Index) Search(query string, asOf dag.Seq, limit int) []Hit {
	const one = int64(dag.One)
	terms, named := x.termsOf(query)
	view := x.words.At(asOf)
	b := view.Score(terms, bm25.Params{K1: 900_000, B: 400_000, Reach: 3})
	z, mostZ := view.ScoreConversations(terms, bm25.Params{K1: 1_200_000, B: 750_000})
	d := x.dates.At(asOf).Score(dateWords(nil, query), bm25.Params{K1: 900_000})
	when := asksWhen(query)
	seen := slices.Concat(b.Turns, d.Turns)
	slices.Sort(seen)
	seen = slices.Compact(seen)
	hits := make([]Hit, 0, len(seen))
	for _, n := range seen {
		score := part(b.Of(n), b.Most(), one) + part(z[x.words.Conversation(int(n))], mostZ, one/10) + part(d.Of(n), d.Most(), 3*one/10)
		if when && x.turns[n].when {
			score += one / 5
		}
		if named != "" && slices.Contains(nameParts(x.turns[n].Author), named) {
			score += score / 2
		}
		hits = append(hits, Hit{x.turns[n].ID, x.turns[n].Seq, score})
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), a.Turn.Compare(b.Turn)) })
	return hits[:min(len(hits), limit)]
}

// part is weight · score/most.
func part(score, most, weight int64) int64 {
	if most == 0 {
		return 0
	}
	return weight * score / most
}

// termsOf returns the terms of a query without authors' names, and the author if one alone is named.
func (x *Index) termsOf(query string) (terms []string, named string) {
	var rest []string
	names := map[string]bool{}
	for _, w := range strings.Fields(query) {
		bare := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(strings.Trim(w, ".,;:!?\"()")), "'s"), "\u2019s")
		if x.authors[bare] {
			names[bare] = true
			continue
		}
		rest = append(rest, w)
	}
	if len(names) == 1 {
		for n := range names {
			named = n
		}
	}
	return x.analyzer.Terms(nil, strings.Join(rest, " ")), named
}
