package server

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/normalize"
)

// Media types of drawings.
const (
	typeLD       = "application/ld+json"
	typeGraphviz = "text/vnd.graphviz"
)

// drawings are the formats of a drawing.
var drawings = map[string]struct {
	media string
	draw  func(*api.D3Graph) ([]byte, error)
}{
	"d3":      {typeJSON, drawD3},
	"jsonld":  {typeLD, drawJSONLD},
	"mermaid": {typeText + "; charset=utf-8", drawMermaid},
	"dot":     {typeGraphviz + "; charset=utf-8", drawDOT},
}

func drawKnowledge(c *call) error {
	in, err := readIn[api.Drawing](c)
	if err != nil {
		return err
	}
	found, err := c.server.config.Kernel.Facts().Traverse(c.ctx, c.tenant(), api.TraverseRequest{
		Start: []string{in.Entity}, Predicates: in.Predicates, Direction: in.Direction, MaxHops: in.MaxHops, MaxResults: in.MaxResults,
		MinConfidence: in.MinConfidence, AsOf: in.AsOf, ValidAt: in.ValidAt,
	})
	if err != nil {
		return err
	}
	aliases, err := c.server.config.Kernel.Facts().Aliases(c.ctx, c.tenant(), found.AsOf)
	if err != nil {
		return err
	}
	start, err := normalize.Name(in.Entity)
	if err != nil {
		return err
	}
	as := drawings[cmp.Or(in.Format, "d3")]
	data, err := as.draw(graphOf(aliases.Resolve(start), &found))
	if err != nil {
		return fmt.Errorf("drawing: %v", err) // not %w: the fault is ours
	}
	return c.write(http.StatusOK, []string{as.media}, data)
}
