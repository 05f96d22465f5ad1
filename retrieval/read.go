package retrieval

import (
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/bm25"
)

// A reader makes terms from texts for one index. It caches the terms of words, which take most of the time, and forgets them when a text
// is erased.
type reader struct {
	analyzer             analysis.Analyzer
	words, wholes, dates memory
}

// A memory maps a word, a whole or a date to its term; nil: it has no term.
type memory map[string]*bm25.Term

// maxRemembered bounds the words that a reader remembers.
const maxRemembered = 1 << 16

func newReader(a analysis.Analyzer) reader {
	return reader{a, memory{}, memory{}, memory{}}
}

// forget drops all words.
func (r *reader) forget() {
	clear(r.words)
	clear(r.wholes)
	clear(r.dates)
}

// term returns the term of a piece, or nil if it has none.
func (r *reader) term(p analysis.Piece) *bm25.Term {
	m := r.words
	if p.Whole {
		m = r.wholes
	}
	t, ok := m[p.Text]
	if !ok {
		p.Text = strings.Clone(p.Text) // because it may be part of a text
		t = m.keep(p.Text, r.analyzer.Term(p))
	}
	return t
}

// date returns the term of a date.
func (r *reader) date(text string) *bm25.Term {
	t, ok := r.dates[text]
	if !ok {
		text = strings.Clone(text)
		t = r.dates.keep(text, text)
	}
	return t
}

// keep caches and returns the term of a word, a whole or a date; "" is no term.
func (m memory) keep(of, term string) (t *bm25.Term) {
	if len(m) >= maxRemembered {
		clear(m)
	}
	if term != "" {
		t = bm25.NewTerm(term)
	}
	m[of] = t
	return t
}

// parsed contains what an index needs from a text. terms and dates are nil if the text is withheld.
type parsed struct {
	terms, dates []*bm25.Term
	when, silent bool
}

func (r *reader) parse(t *Turn) (p parsed) {
	words := plainWords(t.Content)
	dates := dateWords(nil, words)
	p.when = saysWhen(words, dates)
	if !t.Withheld {
		p.terms, p.dates = []*bm25.Term{}, []*bm25.Term{}
		for piece := range analysis.Pieces(t.Content) {
			if term := r.term(piece); term != nil {
				p.terms = append(p.terms, term)
			}
		}
		for _, d := range ownDate(dates, t.CreatedAt) {
			p.dates = append(p.dates, r.date(d))
		}
	}
	p.silent = len(p.terms) == 0 && len(analysis.Words(t.Content)) == 0
	return p
}

// readers read new texts, one for each goroutine.
type readers []reader

// read reads texts on every processor.
func (rs readers) read(turns []Turn) []parsed {
	all := make([]parsed, len(turns))
	const least = 16 // texts that are worth a goroutine
	portion := max((len(turns)+len(rs)-1)/len(rs), least)
	var wg sync.WaitGroup
	for i, from := 0, 0; from < len(turns); i, from = i+1, from+portion {
		read := func() {
			for n := from; n < min(from+portion, len(turns)); n++ {
				all[n] = rs[i].parse(&turns[n])
			}
		}
		if from+portion >= len(turns) {
			read() // the last portion on this goroutine
		} else {
			wg.Go(read)
		}
	}
	wg.Wait()
	return all
}
