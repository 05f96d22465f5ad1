package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// A Graph is what is drawn of knowledge: entities, and the facts between them. Its order is
// that of the answer it was made of, so drawings of the same answer are the same bytes.
type Graph struct {
	AsOf  dag.Seq
	Cut   knowledge.Cut
	Nodes []GraphNode
	Links []GraphLink
}

// A GraphNode is an entity.
type GraphNode struct {
	Name string // canonical
	Hops int    // from the start, which has 0
}

// A GraphLink is a fact between two nodes, given by their indexes.
type GraphLink struct {
	From, To   int // of the subject and the object
	Predicate  string
	Statement  knowledge.ID
	Confidence dag.PPM
	Since      dag.Seq
}

// GraphOf makes a graph of what a traversal from one entity reached: every entity, and each
// fact of the ways to them once. canonical resolves names.
func GraphOf(start string, a *knowledge.Answer, canonical func(string) string) *Graph {
	g := &Graph{Cut: a.Cut, Nodes: []GraphNode{{Name: start}}}
	index := map[string]int{start: 0}
	for i := range a.Reached {
		index[a.Reached[i].Entity] = len(g.Nodes)
		g.Nodes = append(g.Nodes, GraphNode{Name: a.Reached[i].Entity, Hops: a.Reached[i].Hops})
	}
	type version struct {
		id    knowledge.ID
		since dag.Seq
	}
	drawn := map[version]bool{}
	for i := range a.Reached {
		for _, e := range a.Reached[i].Path {
			v := version{e.ID, e.Since}
			from, hasFrom := index[canonical(e.Subject)]
			to, hasTo := index[canonical(e.Object)]
			if drawn[v] || !hasFrom || !hasTo {
				continue
			}
			drawn[v] = true
			g.Links = append(g.Links, GraphLink{From: from, To: to, Predicate: e.Predicate, Statement: e.ID, Confidence: e.Confidence, Since: e.Since})
		}
	}
	return g
}

// oneName shows a name in one line, without the characters that could act on anyone who looks at it.
func oneName(s string) string { return OneLine(s, 200) }

// encoded writes JSON as it is, without escapes for HTML.
func encoded(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return EscapeJSON(out.Bytes()), nil
}

// D3 writes the JSON that d3-force and its relatives take: nodes with an id, and links
// between ids.
func D3(g *Graph) ([]byte, error) {
	type node struct {
		ID   string `json:"id"`
		Hops int    `json:"hops"`
	}
	type link struct {
		Source     string      `json:"source"`
		Target     string      `json:"target"`
		Predicate  string      `json:"predicate"`
		Confidence json.Number `json:"confidence"`
		Statement  string      `json:"statement"`
		Since      uint64      `json:"since"`
	}
	w := struct {
		AsOf  uint64 `json:"as_of"`
		Cut   string `json:"cut"`
		Nodes []node `json:"nodes"`
		Links []link `json:"links"`
	}{AsOf: uint64(g.AsOf), Cut: string(g.Cut), Nodes: []node{}, Links: []link{}}
	for _, n := range g.Nodes {
		w.Nodes = append(w.Nodes, node{n.Name, n.Hops})
	}
	for i := range g.Links {
		l := &g.Links[i]
		w.Links = append(w.Links, link{
			g.Nodes[l.From].Name, g.Nodes[l.To].Name, l.Predicate, json.Number(l.Confidence.String()), l.Statement.String(), uint64(l.Since),
		})
	}
	return encoded(w)
}

// Names of a JSON-LD document. Entities, predicates and statements are URNs; what RDF has
// words for is named in them.
const (
	urnEntity    = "urn:graphkernel:entity:"
	urnPredicate = "urn:graphkernel:predicate:"
	urnStatement = "urn:graphkernel:statement:"
	urnTerm      = "urn:graphkernel:term:"
	rdf          = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	rdfLabel     = "http://www.w3.org/2000/01/rdf-schema#label"
)

// JSONLD writes JSON-LD 1.1 in its expanded names: each entity with its label and its facts,
// then each fact as an rdf:Statement with its confidence.
func JSONLD(g *Graph) ([]byte, error) {
	entity := func(i int) map[string]string {
		return map[string]string{"@id": urnEntity + url.PathEscape(g.Nodes[i].Name)}
	}
	all := make([]map[string]any, 0, len(g.Nodes)+len(g.Links))
	for i := range g.Nodes {
		all = append(all, map[string]any{"@id": entity(i)["@id"], rdfLabel: g.Nodes[i].Name})
	}
	for i := range g.Links {
		l := &g.Links[i]
		predicate := urnPredicate + url.PathEscape(l.Predicate)
		objects, _ := all[l.From][predicate].([]map[string]string)
		all[l.From][predicate] = append(objects, entity(l.To))
		all = append(all, map[string]any{
			"@id": urnStatement + l.Statement.String(), "@type": rdf + "Statement",
			rdf + "subject": entity(l.From), rdf + "predicate": map[string]string{"@id": predicate}, rdf + "object": entity(l.To),
			urnTerm + "confidence": map[string]string{"@type": "http://www.w3.org/2001/XMLSchema#decimal", "@value": l.Confidence.String()},
		})
	}
	return encoded(map[string]any{"@graph": all})
}

// Mermaid writes a flowchart. Of names only letters, digits and spaces are as they are;
// all else is written as a number that means the character and does nothing.
func Mermaid(g *Graph) ([]byte, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "flowchart LR\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&out, "    n%d[\"%s\"]\n", i, mermaidText(n.Name))
	}
	for i := range g.Links {
		l := &g.Links[i]
		fmt.Fprintf(&out, "    n%d -->|\"%s %s\"| n%d\n", l.From, mermaidText(l.Predicate), mermaidText(l.Confidence.String()), l.To)
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

// DOT writes a digraph for Graphviz.
func DOT(g *Graph) ([]byte, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "digraph knowledge {\n    rankdir=LR;\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&out, "    n%d [label=%s];\n", i, dotText(n.Name))
	}
	for i := range g.Links {
		l := &g.Links[i]
		fmt.Fprintf(&out, "    n%d -> n%d [label=%s];\n", l.From, l.To, dotText(l.Predicate+" "+l.Confidence.String()))
	}
	fmt.Fprintf(&out, "}\n")
	return []byte(out.String()), nil
}

// dotText writes a quoted string. A backslash would begin an escape, and an ampersand an
// entity, so both are escaped too.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`).Replace(oneName(s)) + `"`
}
