package server

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
)

// A dotGraph is what Graphviz would make of a text.
type dotGraph struct {
	names []string // of the nodes n0, n1, …
	links []dotLink
}

type dotLink struct{ from, to, label string }

// readDOT reads a part of the DOT language (graphviz.org/doc/info/lang.html) strictly: one
// digraph of rankdir=LR, nodes, and edges between nodes that came before, each with a label
// that is quoted; no comments, no HTML, and no escape in a label except for a quote and a
// backslash. It stands for Graphviz, which few machines have: what this refuses may be good
// DOT, and what it takes is.
func readDOT(text string) (g dotGraph, err error) {
	r := &dotReader{rest: text}
	known := map[string]bool{}
	r.want("digraph", "knowledge", "{")
	for r.err == nil && !r.take("}") {
		id := r.word()
		switch {
		case id == "rankdir":
			r.want("=", "LR", ";")
		case r.take("->"):
			to := r.word()
			if !known[id] || !known[to] {
				r.fail("an edge from %s to %s, one of which is no node yet", id, to)
			}
			g.links = append(g.links, dotLink{id, to, r.label()})
		default:
			if known[id] || id != fmt.Sprintf("n%d", len(g.names)) {
				r.fail("node %q, want n%d", id, len(g.names))
			}
			known[id] = true
			g.names = append(g.names, r.label())
		}
	}
	if r.space(); r.err == nil && r.rest != "" {
		r.fail("behind the graph stands %.20q", r.rest)
	}
	return g, r.err
}

type dotReader struct {
	rest string
	err  error
}

func (r *dotReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *dotReader) space() { r.rest = strings.TrimLeft(r.rest, " \n") }

func (r *dotReader) take(token string) bool {
	r.space()
	rest, ok := strings.CutPrefix(r.rest, token)
	if ok {
		r.rest = rest
	}
	return ok
}

func (r *dotReader) want(tokens ...string) {
	for _, token := range tokens {
		if !r.take(token) {
			r.fail("%.20q, want %q", r.rest, token)
		}
	}
}

// word reads a name of small letters and digits that begins with a letter.
func (r *dotReader) word() string {
	r.space()
	n := strings.IndexFunc(r.rest, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	if n <= 0 || r.rest[0] < 'a' {
		r.fail("%.20q, want a name", r.rest)
		return ""
	}
	word := r.rest[:n]
	r.rest = r.rest[n:]
	return word
}

// label reads [label="…"]; and returns what is shown.
func (r *dotReader) label() string {
	r.want("[", "label", "=", `"`)
	if r.err != nil {
		return ""
	}
	var shown strings.Builder
	for i := 0; i < len(r.rest); i++ {
		switch c := r.rest[i]; c {
		case '"':
			r.rest = r.rest[i+1:]
			r.want("]", ";")
			text := shown.String()
			if strings.Contains(strings.ReplaceAll(text, "&amp;", ""), "&") {
				r.fail("an entity in %q", text)
			}
			return html.UnescapeString(text)
		case '\\':
			if i++; i == len(r.rest) || r.rest[i] != '\\' && r.rest[i] != '"' {
				r.fail("an escape in %.40q", r.rest)
				return ""
			}
			shown.WriteByte(r.rest[i])
		case '\n', '\r', 0:
			r.fail("the byte %#x in a label", c)
			return ""
		default:
			shown.WriteByte(c)
		}
	}
	r.fail("a label without an end: %.40q", r.rest)
	return ""
}

// rename gives the second node of a graph another name.
func rename(g *api.D3Graph, name string) {
	old := g.Nodes[1].ID
	g.Nodes[1].ID = name
	for i := range g.Links {
		for _, end := range []*string{&g.Links[i].Source, &g.Links[i].Target} {
			if *end == old {
				*end = name
			}
		}
	}
}

// TestDOT reads drawings: what is shown is what the names are, whatever these would be in DOT.
func TestDOT(t *testing.T) {
	t.Parallel()
	g := small(t)
	evil := []string{`"]; evil [label="\N &lt;b&gt;`, `\`, `\\"`, `<b>`, `a -> b`, `// no`, `&amp;amp;`, `}`, `""`, `\l\r\n`, `é界`}
	for _, name := range evil {
		rename(g, name)
		g.Links[1].Predicate = name
		text := drawn(t, drawDOT, g)
		got, err := readDOT(text)
		if err != nil || len(got.names) != len(g.Nodes) || len(got.links) != len(g.Links) {
			t.Errorf("%d nodes, %d links, %v of\n%s", len(got.names), len(got.links), err, text)
			continue
		}
		for i := range g.Nodes {
			if got.names[i] != g.Nodes[i].ID {
				t.Errorf("node %d shows %q, want %q", i, got.names[i], g.Nodes[i].ID)
			}
		}
		place := func(name string) int {
			return slices.IndexFunc(g.Nodes, func(n api.D3Node) bool { return n.ID == name })
		}
		for i := range g.Links {
			l := &g.Links[i]
			want := dotLink{fmt.Sprintf("n%d", place(l.Source)), fmt.Sprintf("n%d", place(l.Target)), l.Predicate + " " + l.Confidence.String()}
			if got.links[i] != want {
				t.Errorf("link %d is %+v, want %+v", i, got.links[i], want)
			}
		}
	}
}

// TestReadDOT makes sure that the reader is strict: with any byte of a drawing left out, or
// put twice, it reads another graph or none.
func TestReadDOT(t *testing.T) {
	t.Parallel()
	g := small(t)
	rename(g, `a\"b&`)
	text := drawn(t, drawDOT, g)
	good, err := readDOT(text)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range text {
		for _, mangled := range []string{text[:i] + text[i+1:], text[:i] + text[i:i+1] + text[i:]} {
			got, err := readDOT(mangled)
			if err != nil {
				refused++
			} else if text[i] != ' ' && text[i] != '\n' && fmt.Sprint(got) == fmt.Sprint(good) {
				t.Errorf("byte %d mangled, and the same graph: %q", i, mangled)
			}
		}
	}
	if refused < len(text) {
		t.Errorf("%d of %d were refused", refused, 2*len(text))
	}
	for _, bad := range []string{"", "digraph knowledge {", "graph knowledge {}", "digraph knowledge {} x", `digraph knowledge { n0 [label="\N"]; }`, `digraph knowledge { n0 [label="&lt;"]; }`, `digraph knowledge { n0 [label=<b>]; }`, `digraph knowledge { n0 -> n1 [label="a"]; }`, `digraph knowledge { n0 [label="a", URL="b"]; }`} {
		if got, err := readDOT(bad); err == nil {
			t.Errorf("%s is read as %+v", bad, got)
		}
	}
}
