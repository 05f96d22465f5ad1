package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/render"
)

// graphOf returns the graph of the entities that a traversal from one entity reached, with each fact on the paths to
// them once. It is in the order of the answer, so drawings of the same answer have the same bytes.
func graphOf(start string, found *api.Traversal) *api.D3Graph {
	g := &api.D3Graph{AsOf: found.AsOf, Cut: found.Cut, Nodes: []api.D3Node{{ID: start}}, Links: []api.D3Link{}}
	for i := range found.Reached {
		g.Nodes = append(g.Nodes, api.D3Node{ID: found.Reached[i].Entity, Hops: found.Reached[i].Hops})
	}
	index := numbers(g)
	type version struct {
		id    knowledge.ID
		since dag.Seq
	}
	drawn := map[version]bool{}
	for i := range found.Reached {
		for k := range found.Reached[i].Path {
			e := &found.Reached[i].Path[k]
			v := version{e.Statement, e.Since}
			_, hasFrom := index[e.Subject]
			_, hasTo := index[e.Object]
			if drawn[v] || !hasFrom || !hasTo {
				continue
			}
			drawn[v] = true
			g.Links = append(g.Links, api.D3Link{Source: e.Subject, Target: e.Object, Predicate: e.Predicate, Confidence: e.Confidence, Statement: e.Statement, Since: e.Since})
		}
	}
	return g
}

// numbers returns the index of each node.
func numbers(g *api.D3Graph) map[string]int {
	index := make(map[string]int, len(g.Nodes))
	for i := range g.Nodes {
		index[g.Nodes[i].ID] = i
	}
	return index
}

// oneName returns a name on one line, without characters that could affect the reader's screen.
func oneName(s string) string { return render.OneLine(s, 200) }

// encoded returns JSON without escapes for HTML.
func encoded(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return render.EscapeJSON(out.Bytes()), nil
}

// drawD3 writes the JSON that d3-force and similar libraries accept: nodes with an id, and links between ids.
func drawD3(g *api.D3Graph) ([]byte, error) { return encoded(g) }

// Names in a JSON-LD document. Entities, predicates and statements are URNs; RDF's own terms are used where they
// exist.
const (
	urnEntity    = "urn:graphkernel:entity:"
	urnPredicate = "urn:graphkernel:predicate:"
	urnStatement = "urn:graphkernel:statement:"
	urnTerm      = "urn:graphkernel:term:"
	rdf          = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	rdfLabel     = "http://www.w3.org/2000/01/rdf-schema#label"
)

// drawJSONLD writes JSON-LD 1.1 with expanded names: each entity with its label and its facts, then each fact as an
// rdf:Statement with its confidence.
func drawJSONLD(g *api.D3Graph) ([]byte, error) {
	entity := func(name string) map[string]string {
		return map[string]string{"@id": urnEntity + url.PathEscape(name)}
	}
	index := numbers(g)
	all := make([]map[string]any, 0, len(g.Nodes)+len(g.Links))
	for i := range g.Nodes {
		all = append(all, map[string]any{"@id": entity(g.Nodes[i].ID)["@id"], rdfLabel: g.Nodes[i].ID})
	}
	for i := range g.Links {
		l := &g.Links[i]
		predicate := urnPredicate + url.PathEscape(l.Predicate)
		subject := all[index[l.Source]]
		objects, _ := subject[predicate].([]map[string]string)
		subject[predicate] = append(objects, entity(l.Target))
		all = append(all, map[string]any{
			"@id": urnStatement + l.Statement.String(), "@type": rdf + "Statement",
			rdf + "subject": entity(l.Source), rdf + "predicate": map[string]string{"@id": predicate}, rdf + "object": entity(l.Target),
			urnTerm + "confidence": map[string]string{"@type": "http://www.w3.org/2001/XMLSchema#decimal", "@value": l.Confidence.String()},
		})
	}
	return encoded(map[string]any{"@graph": all})
}

// drawMermaid writes a flowchart. In names only letters, digits and spaces are written unchanged; any other character
// is written as a numeric entity, which has no other effect.
func drawMermaid(g *api.D3Graph) ([]byte, error) {
	var out strings.Builder
	index := numbers(g)
	fmt.Fprintf(&out, "flowchart LR\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&out, "    n%d[\"%s\"]\n", i, mermaidText(n.ID))
	}
	for i := range g.Links {
		l := &g.Links[i]
		fmt.Fprintf(&out, "    n%d -->|\"%s %s\"| n%d\n", index[l.Source], mermaidText(l.Predicate), mermaidText(l.Confidence.String()), index[l.Target])
	}
	return []byte(out.String()), nil
}

func mermaidText(s string) string {
	var out strings.Builder
	for _, r := range oneName(s) {
		switch {
		case r >= 0x80, r == ' ', r == '-', r == '.', '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, "#%d;", r)
		}
	}
	return out.String()
}

// drawDOT writes a digraph for Graphviz.
func drawDOT(g *api.D3Graph) ([]byte, error) {
	var out strings.Builder
	index := numbers(g)
	fmt.Fprintf(&out, "digraph knowledge {\n    rankdir=LR;\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&out, "    n%d [label=%s];\n", i, dotText(n.ID))
	}
	for i := range g.Links {
		l := &g.Links[i]
		fmt.Fprintf(&out, "    n%d -> n%d [label=%s];\n", index[l.Source], index[l.Target], dotText(l.Predicate+" "+l.Confidence.String()))
	}
	fmt.Fprintf(&out, "}\n")
	return []byte(out.String()), nil
}

// dotText returns a quoted string. A backslash would begin an escape, and an ampersand an entity, so both are escaped
// too.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`).Replace(oneName(s)) + `"`
}
