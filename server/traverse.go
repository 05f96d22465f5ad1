package server

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
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
