package server

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/server/view"
)

// readNames reads a name, or a list of names.
func readNames(at *canon.Cursor) (names []string) {
	if at.Is(canon.String) {
		return []string{canon.Parsed(at, checkName)}
	}
	for _, item := range at.Items() {
		names = append(names, canon.Parsed(item, checkName))
	}
	return names
}

func readTraversal(at *canon.Cursor) kernel.Traversal {
	t := kernel.Traversal{Start: readNames(at.Field("start"))}
	if f := at.Optional("predicates"); f != nil {
		t.Predicates = readNames(f)
	}
	if f := at.Optional("direction"); f != nil {
		t.Direction = knowledge.Direction(f.String())
	}
	if f := at.Optional("max_hops"); f != nil {
		t.MaxHops = int(f.Uint(knowledge.MaxHops))
	}
	if f := at.Optional("max_results"); f != nil {
		t.MaxResults = int(f.Uint(knowledge.MaxResults))
	}
	if f := at.Optional("min_confidence"); f != nil {
		t.MinConfidence = canon.ParsedNumber(f, dag.ReadPPM)
	}
	if f := at.Optional("as_of"); f != nil {
		t.AsOf = dag.Seq(f.Uint(canon.MaxInt))
	}
	if f := at.Optional("valid_at"); f != nil {
		v := canon.Parsed(f, dag.ReadTime)
		t.ValidAt = &v
	}
	at.Close()
	return t
}

func (c *call) traverseKnowledge() error {
	at := canon.Open(c.value)
	t := readTraversal(at)
	if err := at.Err(); err != nil {
		return err
	}
	found, err := c.server.config.Kernel.Traverse(c.ctx, c.tenant(), t)
	if err != nil {
		return err
	}
	return c.traversed(found)
}

// traversed answers with a traversal, or with paths.
func (c *call) traversed(found *kernel.Traversed) error {
	written, err := c.server.config.Kernel.Written(c.ctx, c.tenant(), found)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, view.Traversal(found, written))
}

func (c *call) findPaths() error {
	p := paramReader{c: c}
	q := kernel.PathQuery{
		From: p.name("from"), To: p.name("to"), Count: p.number("k"), MaxHops: p.number("max_hops"), Predicates: p.names("predicates"),
		Direction: knowledge.Direction(c.params["direction"]), MinConfidence: p.fraction("min_confidence"), AsOf: p.seq("as_of"), ValidAt: p.time("valid_at"),
	}
	if p.err != nil {
		return p.err
	}
	found, err := c.server.config.Kernel.Paths(c.ctx, c.tenant(), q)
	if err != nil {
		return err
	}
	return c.traversed(found)
}

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

func (c *call) drawKnowledge() error {
	p := paramReader{c: c}
	t := kernel.Traversal{
		Start: []string{p.name("entity")}, MaxHops: p.number("max_hops"), MaxResults: p.number("max_results"), Predicates: p.names("predicates"),
		Direction: knowledge.Direction(c.params["direction"]), MinConfidence: p.fraction("min_confidence"), AsOf: p.seq("as_of"), ValidAt: p.time("valid_at"),
	}
	if p.err != nil {
		return p.err
	}
	found, err := c.server.config.Kernel.Traverse(c.ctx, c.tenant(), t)
	if err != nil {
		return err
	}
	start, err := normalize.Name(t.Start[0])
	if err != nil {
		return err
	}
	as := drawings[cmp.Or(c.params["format"], "d3")]
	g := render.GraphOf(found.Aliases.Resolve(start), &found.Answer, found.Aliases.Resolve)
	g.AsOf = found.AsOf
	data, err := as.draw(g)
	if err != nil {
		return fmt.Errorf("drawing: %v", err) // not %w: it is nobody else's fault
	}
	return c.write(http.StatusOK, []string{as.media}, data)
}

// mostCounts bounds the names of a count.
const mostCounts = 100

// statsPage is how many acts are read at once for counts.
const statsPage = 1000

func (c *call) knowledgeStats() error {
	p := paramReader{c: c}
	asOf := p.seq("as_of")
	if p.err != nil {
		return p.err
	}
	k := c.server.config.Kernel
	if asOf == 0 {
		head, err := k.Head(c.ctx, c.tenant())
		if err != nil {
			return err
		}
		asOf = head
	}
	aliases, err := k.Aliases(c.ctx, c.tenant(), asOf)
	if err != nil {
		return err
	}
	w := api.KnowledgeStats{Aliases: aliases.Len(), AsOf: uint64(asOf)}
	entities, predicates, sources := map[string]bool{}, map[string]int{}, map[string]int{}
	for after := dag.Seq(0); after < asOf; {
		list, err := k.Acts(c.ctx, c.tenant(), after, statsPage)
		if err != nil {
			return err
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
	return c.json(http.StatusOK, w)
}

// counts gives the names with the most facts, the most first.
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
