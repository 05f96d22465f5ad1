package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// Bounds of searches for the best 10 turns that have any of some words.
const (
	boundSearched    = 300 * time.Microsecond // 100 000 turns
	boundFasterBleve = 7
	boundIndexed     = 40_000 // turns a second
	searchHits       = 10
	searchWords      = 5
	searchQueries    = 200
)

// A library is turns whose words follow a power law, as the words of a language do without those of grammar, and queries
// of words that are in one turn.
type library struct {
	turns   []retrieval.Turn
	queries []string
}

// newLibrary makes the same turns for the same number: conversations of length turns, each of 20 to 60 words.
func newLibrary(turns, length int) *library {
	r := rand.New(rand.NewPCG(13, 14))
	zipf := rand.NewZipf(r, 1.1, 100, 50_000)
	l := &library{}
	for n := range turns {
		words := make([]string, 20+r.IntN(41))
		for i := range words {
			words[i] = wordOf(zipf.Uint64())
		}
		l.turns = append(l.turns, retrieval.Turn{
			ID: dag.ExternalTurnID("library", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("library", fmt.Sprint(n/length)), Seq: dag.Seq(n + 1),
			Role: dag.RoleUser, Author: fmt.Sprintf("agent:a%d", r.IntN(8)), CreatedAt: dag.Time(1_700_000_000_000_000 + int64(n)*1_000_000), Content: strings.Join(words, " "),
		})
	}
	for range searchQueries {
		words := strings.Fields(l.turns[r.IntN(turns)].Content)
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		slices.Sort(words[:searchWords])
		l.queries = append(l.queries, strings.Join(slices.Compact(words[:searchWords]), " "))
	}
	return l
}

// wordOf spells a number in syllables.
func wordOf(n uint64) string {
	const consonants, vowels = "bdfgklmnprtvz", "aiou"
	word := ""
	for n += 13 * 4; n > 0; n /= 13 * 4 {
		word += string(consonants[n%13]) + string(vowels[n/13%4])
	}
	return word
}

// A searcher finds turns by words. It is filled once.
type searcher struct {
	name   string
	fill   func(ctx context.Context, l *library) error
	search func(ctx context.Context, query string) (hits int, err error)
	close  func() error
	filled time.Duration
	bytes  uint64 // in memory
}

func ours() *searcher {
	x, policy := retrieval.New(analysis.English, 0), retrieval.DefaultPolicy()
	return &searcher{
		name: "retrieval, with neighbours",
		fill: func(_ context.Context, l *library) error {
			for some := range slices.Chunk(l.turns, 256) {
				if err := x.Add(some, nil); err != nil {
					return err
				}
			}
			return nil
		},
		search: func(_ context.Context, query string) (int, error) {
			return len(x.Search(&policy, &retrieval.Query{Text: query, AsOf: x.Last(), Limit: searchHits})), nil
		},
		close: func() error { return nil },
	}
}

// bleveSearcher is an index of bleve's default kind, in a folder, with its analyzer of English.
func bleveSearcher(folder string) (*searcher, error) {
	m := bleve.NewIndexMapping()
	document, text := mapping.NewDocumentStaticMapping(), mapping.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeInAll, text.IncludeTermVectors, text.DocValues = en.AnalyzerName, false, false, false, false
	document.AddFieldMappingsAt("text", text)
	m.DefaultMapping = document
	x, err := bleve.New(filepath.Join(folder, "bleve"), m)
	if err != nil {
		return nil, err
	}
	return &searcher{
		name: "bleve",
		fill: func(_ context.Context, l *library) error {
			for some := range slices.Chunk(l.turns, 1_000) {
				b := x.NewBatch()
				for i := range some {
					if err := b.Index(some[i].ID.String(), map[string]any{"text": some[i].Content}); err != nil {
						return err
					}
				}
				if err := x.Batch(b); err != nil {
					return err
				}
			}
			return nil
		},
		search: func(ctx context.Context, query string) (int, error) {
			q := bleve.NewMatchQuery(query)
			q.SetField("text")
			got, err := x.SearchInContext(ctx, bleve.NewSearchRequestOptions(q, searchHits, 0, false))
			if err != nil {
				return 0, err
			}
			return len(got.Hits), nil
		},
		close: x.Close,
	}, nil
}

// fts5 is SQLite's index of words, with stems.
func fts5(ctx context.Context, folder string) (*searcher, error) {
	db, err := sql.Open("sqlite", filepath.Join(folder, "fts5.db"))
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, "CREATE VIRTUAL TABLE turns USING fts5(text, content='', tokenize='porter unicode61')"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &searcher{
		name: "SQLite FTS5",
		fill: func(ctx context.Context, l *library) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }() // nothing after a commit
			insert, err := tx.PrepareContext(ctx, "INSERT INTO turns(rowid, text) VALUES (?, ?)")
			if err != nil {
				return err
			}
			for i := range l.turns {
				if _, err := insert.ExecContext(ctx, i+1, l.turns[i].Content); err != nil {
					return err
				}
			}
			return tx.Commit()
		},
		search: func(ctx context.Context, query string) (hits int, err error) {
			rows, err := db.QueryContext(ctx, "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?", strings.ReplaceAll(query, " ", " OR "), searchHits)
			if err != nil {
				return 0, err
			}
			defer func() { _ = rows.Close() }() // Err says what went wrong
			for rows.Next() {
				hits++
			}
			return hits, rows.Err()
		},
		close: db.Close,
	}, nil
}

// load fills a searcher, and measures that.
func (s *searcher) load(ctx context.Context, l *library) error {
	before := heap()
	began := time.Now()
	if err := s.fill(ctx, l); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.filled = time.Since(began)
	if after := heap(); after > before {
		s.bytes = after - before
	}
	return nil
}

// heap returns the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// candidate asks the queries one after the other.
func (s *searcher) candidate(l *library) *candidate {
	return &candidate{name: s.name, burst: 4, run: func(ctx context.Context, i int) error {
		hits, err := s.search(ctx, l.queries[i%len(l.queries)])
		if err == nil && hits == 0 {
			err = fmt.Errorf("nothing is found by %q", l.queries[i%len(l.queries)])
		}
		return err
	}}
}

// searching measures the building of indexes of words and their searches, at each size.
func searching(ctx context.Context, r *report, y *yard, sizes []int, length, rounds int) error {
	var smallest *candidate
	for _, turns := range sizes {
		l := newLibrary(turns, length)
		own, err := searchingAt(ctx, r, y, l, rounds)
		if err != nil {
			return err
		}
		if smallest == nil {
			smallest = own
			continue
		}
		grown := rowOf(own, smallest)
		grown.to = fmt.Sprintf("%d turns", sizes[0])
		r.table(fmt.Sprintf("Searching %d turns beside %d", turns, sizes[0]), []row{grown})
	}
	return nil
}

// searchingAt is searching at one size. It returns the kernel's searches.
func searchingAt(ctx context.Context, r *report, y *yard, l *library, rounds int) (own *candidate, err error) {
	name := fmt.Sprintf("search%d", len(l.turns))
	folder := filepath.Join(y.folder, name)
	if err := os.Mkdir(folder, 0o777); err != nil {
		return nil, err
	}
	b, err := bleveSearcher(folder)
	if err != nil {
		return nil, err
	}
	f, err := fts5(ctx, folder)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	all := []*searcher{ours(), b, f}
	if y.server != nil {
		p, err := fulltext(ctx, y, name)
		if err != nil {
			return nil, errors.Join(err, b.close(), f.close())
		}
		all = append(all, p)
	}
	defer func() {
		for _, s := range all {
			err = errors.Join(err, s.close())
		}
	}()
	var built []row
	var candidates []*candidate
	for _, s := range all {
		if err := s.load(ctx, l); err != nil {
			return nil, err
		}
		c := s.candidate(l)
		candidates = append(candidates, c)
		built = append(built, row{name: s.name, rate: float64(len(l.turns)) / s.filled.Seconds(), unit: "turns"})
	}
	own = candidates[0]
	built[0].name += fmt.Sprintf(", %d bytes of memory a turn", all[0].bytes/uint64(len(l.turns)))
	built[0].bounds = []bound{rateAtLeast(built[0].rate, boundIndexed)}
	r.table(fmt.Sprintf("Building an index of words of %d turns", len(l.turns)), built)
	for _, c := range candidates {
		if err := c.warm(ctx, 20); err != nil {
			return nil, err
		}
	}
	if err := inTurn(ctx, rounds, candidates); err != nil {
		return nil, err
	}
	bounds := []bound{faster(own.sample, candidates[1].sample, boundFasterBleve)}
	if len(l.turns) <= 100_000 {
		bounds = append(bounds, atMost(own.sample.p50(), boundSearched))
	}
	searched := []row{rowOf(own, candidates[1], bounds...)}
	for _, c := range candidates[1:] {
		searched = append(searched, rowOf(c, candidates[1]))
	}
	r.table(fmt.Sprintf("The best %d of %d turns that have any of %d words", searchHits, len(l.turns), searchWords), searched)
	return own, nil
}
