package retrieval

import (
	"sync"

	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// A reader makes terms of texts. It remembers those of words, and no word of an erased text.
type reader struct {
	analyzer analysis.Analyzer
	memory   map[string]string
}

func newReader(a analysis.Analyzer) reader {
	memory := map[string]string{}
	return reader{a.Remembering(memory), memory}
}

// parsed is what an index needs of a text. terms and dates are nil if it is withheld.
type parsed struct {
	terms, dates []string
	when, silent bool
}

func (r *reader) parse(t *Turn) (p parsed) {
	words := plainWords(t.Content)
	if !t.Withheld {
		p.terms, p.dates = r.analyzer.Terms([]string{}, t.Content), ownDate(dateWords([]string{}, words), t.CreatedAt)
	}
	p.when = saysWhen(words)
	p.silent = len(p.terms) == 0 && len(analysis.Words(t.Content)) == 0
	return p
}

// read reads texts on every processor.
func (x *Index) read(turns []Turn) []parsed {
	all := make([]parsed, len(turns))
	const least = 16 // texts for which a goroutine pays
	portion := max((len(turns)+len(x.readers)-1)/len(x.readers), least)
	var wg sync.WaitGroup
	for i, from := 0, 0; from < len(turns); i, from = i+1, from+portion {
		read := func() {
			for n := from; n < min(from+portion, len(turns)); n++ {
				all[n] = x.readers[i].parse(&turns[n])
			}
		}
		if from+portion >= len(turns) {
			read() // the last one here
		} else {
			wg.Go(read)
		}
	}
	wg.Wait()
	return all
}
