package server

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/render"
)

// Media types of drawings.
const (
	typeLD       = "application/ld+json"
	typeGraphviz = "text/vnd.graphviz"
)

// drawings are the formats of a drawing.
var drawings = map[string]struct {
	media string
	draw  func(*render.Graph) ([]byte, error)
}{
	"d3":      {typeJSON, render.D3},
	"jsonld":  {typeLD, render.JSONLD},
	"mermaid": {typeText + "; charset=utf-8", render.Mermaid},
	"dot":     {typeGraphviz + "; charset=utf-8", render.DOT},
}

func drawKnowledge(c *call) error {
	in, err := readIn[api.Drawing](c)
	if err != nil {
		return err
	}
	t := kernel.Traversal{
		Start: []string{in.Entity}, Predicates: in.Predicates, Direction: in.Direction, MaxHops: in.MaxHops, MaxResults: in.MaxResults,
		MinConfidence: in.MinConfidence, AsOf: in.AsOf, ValidAt: in.ValidAt,
	}
	found, err := c.server.config.Kernel.Facts().Traverse(c.ctx, c.tenant(), t)
	if err != nil {
		return err
	}
	start, err := normalize.Name(t.Start[0])
	if err != nil {
		return err
	}
	as := drawings[cmp.Or(in.Format, "d3")]
	g := render.GraphOf(found.Aliases.Resolve(start), &found.Answer, found.Aliases.Resolve)
	g.AsOf = found.AsOf
	data, err := as.draw(g)
	if err != nil {
		return fmt.Errorf("drawing: %v", err) // not %w: the fault is ours
	}
	return c.write(http.StatusOK, []string{as.media}, data)
}

// mostCounts bounds the names of a count.
const mostCounts = 100

// statsPage is how many acts are read at once for counts.
const statsPage = 1000

func knowledgeStats(c *call, in api.View) (w api.KnowledgeStats, err error) {
	asOf := in.AsOf
	k := c.server.config.Kernel
	if asOf == 0 {
		head, err := k.Turns().Head(c.ctx, c.tenant())
		if err != nil {
			return w, err
		}
		asOf = head
	}
	aliases, err := k.Facts().Aliases(c.ctx, c.tenant(), asOf)
	if err != nil {
		return w, err
	}
	w = api.KnowledgeStats{Aliases: aliases.Len(), AsOf: uint64(asOf)}
	entities, predicates, sources := map[string]bool{}, map[string]int{}, map[string]int{}
	for after := dag.Seq(0); after < asOf; {
		list, err := k.Facts().Acts(c.ctx, c.tenant(), after, statsPage)
		if err != nil {
			return w, err
		}
		for i := range list {
			if v, ok := list[i].Version(); ok && v.Seen(asOf) {
				w.Facts++
				entities[aliases.Resolve(v.Subject)], entities[aliases.Resolve(v.Object)] = true, true
				predicates[v.Predicate]++
				sources[v.Source]++
			}
		}
		if len(list) < statsPage {
			break
		}
		after = list[len(list)-1].Seq
	}
	w.Entities = len(entities)
	w.Predicates, w.PredicatesTotal = counts(predicates), len(predicates)
	w.Sources, w.SourcesTotal = counts(sources), len(sources)
	return w, nil
}

// counts returns the names with the most facts, the most first.
func counts(of map[string]int) []api.NameCount {
	list := make([]api.NameCount, 0, len(of))
	for name, n := range of {
		list = append(list, api.NameCount{Name: name, Facts: n})
	}
	slices.SortFunc(list, func(a, b api.NameCount) int {
		return cmp.Or(cmp.Compare(b.Facts, a.Facts), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), mostCounts)]
}
