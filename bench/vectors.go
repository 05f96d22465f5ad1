package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/embed/static"
	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// What the graph is held to.
const (
	vectorsMost    = 50_000
	vectorsAsked   = 500
	vectorsWidth   = 64
	boundRecall    = 0.95
	boundFasterRow = 5 // than comparing all vectors
)

// vectors measures the graph of vectors beside an exact search, on messages of people: most of them are in it, and the ones after them are asked.
func vectors(ctx context.Context, r *report, path string, most, rounds int) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	drafts, err := readIRC(file)
	if err != nil {
		return err
	}
	table := static.Load()
	type item struct {
		ID     dag.TurnID
		Vector []int8
	}
	var items []item
	var bytes int
	began := time.Now()
	for i := range drafts {
		v, err := table.Embed(ctx, []string{drafts[i].Content})
		if err != nil {
			return err
		}
		if bytes += len(drafts[i].Content); v[0] != nil {
			items = append(items, item{drafts[i].ID, v[0]})
		}
	}
	embedded := row{name: fmt.Sprintf("the table's vectors of texts, of %d bytes on average", bytes/len(drafts)), rate: float64(len(drafts)) / time.Since(began).Seconds(), unit: "texts"}
	most = min(most, len(items)-vectorsAsked)
	if most <= 0 {
		return fmt.Errorf("%s has %d messages, want more than %d", path, len(items), vectorsAsked)
	}
	items, queries := items[:most], items[most:most+vectorsAsked]
	flat := vector.NewFlat(table.Model().Dimensions)
	graph := vector.NewHNSW(flat, runtime.GOMAXPROCS(0))
	for i, it := range items {
		if _, err := flat.Add(it.ID, dag.Seq(i+1), it.Vector); err != nil {
			return err
		}
	}
	began = time.Now()
	for graph.Waits() {
		graph.Link()
	}
	built := row{name: "the graph", rate: float64(most) / time.Since(began).Seconds(), unit: "vectors"}
	r.table(fmt.Sprintf("Building an index of %d vectors of messages", most), []row{embedded, built})

	good, hits := 0, 0
	for _, q := range queries {
		exact := flat.Search(q.Vector, dag.Seq(most), searchHits)
		for _, h := range graph.Search(q.Vector, searchHits, vectorsWidth) {
			if hits++; h.Score >= exact[len(exact)-1].Score {
				good++
			}
		}
	}
	recall := float64(good) / float64(vectorsAsked*searchHits)
	all := &candidate{name: "all vectors compared", run: func(_ context.Context, i int) error {
		flat.Search(queries[i%vectorsAsked].Vector, dag.Seq(most), searchHits)
		return nil
	}}
	walked := &candidate{name: fmt.Sprintf("the graph, width %d, recall %.4f", vectorsWidth, recall), burst: 4, run: func(_ context.Context, i int) error {
		graph.Search(queries[i%vectorsAsked].Vector, searchHits, vectorsWidth)
		return nil
	}}
	if err := inTurn(ctx, rounds, []*candidate{all, walked}); err != nil {
		return err
	}
	r.table(fmt.Sprintf("The best %d of %d vectors", searchHits, most), []row{
		rowOf(all, all), rowOf(walked, all, bound{fmt.Sprintf("recall ≥ %.2f", boundRecall), recall >= boundRecall}, faster(walked.sample, all.sample, boundFasterRow)),
	})
	return nil
}
