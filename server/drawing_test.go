package server

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/render"
)

func step(t *testing.T, subject, predicate, object string, confidence dag.PPM, direction knowledge.Direction) api.Step {
	t.Helper()
	f, err := knowledge.NewFact(subject, predicate, object, "user")
	if err != nil {
		t.Fatal(err)
	}
	return api.Step{Statement: f.ID(), Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, Direction: string(direction), Confidence: confidence, Since: 1}
}

// small is the neighbourhood of Ada Lovelace.
func small(t *testing.T) *api.D3Graph {
	t.Helper()
	wrote := step(t, "countess", "wrote", "Note G", 900_000, knowledge.Outgoing)
	wrote.Subject, wrote.Asserted.Subject = "ada-lovelace", wrote.Subject
	about := step(t, "Note G", "about", "C#", dag.One, knowledge.Outgoing)
	knew := step(t, "Babbage", "knew", "Ada Lovelace", 500_000, knowledge.Incoming)
	return graphOf("ada-lovelace", &api.Traversal{Cut: string(knowledge.CutResults), AsOf: 7, Reached: []api.Reached{
		{Entity: "note-g", Hops: 1, Path: []api.Step{wrote}, From: "ada-lovelace"},
		{Entity: "babbage", Hops: 1, Path: []api.Step{knew}, From: "ada-lovelace"},
		{Entity: "c#", Hops: 2, Path: []api.Step{wrote, about}, From: "ada-lovelace"},
	}})
}

func drawn(t *testing.T, draw func(*api.D3Graph) ([]byte, error), g *api.D3Graph) string {
	t.Helper()
	text, err := draw(g)
	if err != nil {
		t.Fatal(err)
	}
	again, err := draw(g)
	if err != nil || string(again) != string(text) {
		t.Errorf("drawn again it is %s, %v", again, err)
	}
	return string(text)
}

func TestGraph(t *testing.T) {
	t.Parallel()
	g := small(t)
	if len(g.Nodes) != 4 || len(g.Links) != 3 {
		t.Fatalf("got %+v", g)
	}
	if got, want := drawn(t, drawMermaid, g), `flowchart LR
    n0["ada-lovelace"]
    n1["note-g"]
    n2["babbage"]
    n3["c#35;"]
    n0 -->|"wrote 0.9"| n1
    n2 -->|"knew 0.5"| n0
    n1 -->|"about 1"| n3
`; got != want {
		t.Errorf("got\n%s", got)
	}
	if got, want := drawn(t, drawDOT, g), `digraph knowledge {
    rankdir=LR;
    n0 [label="ada-lovelace"];
    n1 [label="note-g"];
    n2 [label="babbage"];
    n3 [label="c#"];
    n0 -> n1 [label="wrote 0.9"];
    n2 -> n0 [label="knew 0.5"];
    n1 -> n3 [label="about 1"];
}
`; got != want {
		t.Errorf("got\n%s", got)
	}
	first := g.Links[0].Statement.String()
	if got, want := drawn(t, drawD3, g), `{"as_of":7,"cut":"results","nodes":[{"id":"ada-lovelace","hops":0},{"id":"note-g","hops":1},{"id":"babbage","hops":1},{"id":"c#","hops":2}],"links":[`+
		`{"source":"ada-lovelace","target":"note-g","predicate":"wrote","confidence":0.9,"statement":"`+first+`","since":1},`; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	var ld struct {
		Graph []map[string]any `json:"@graph"`
	}
	text := drawn(t, drawJSONLD, g)
	if err := json.Unmarshal([]byte(text), &ld); err != nil || len(ld.Graph) != 7 {
		t.Fatalf("got %s, %v", text, err)
	}
	for _, want := range []string{`"@id":"urn:graphkernel:entity:c%23"`, `"urn:graphkernel:predicate:about":[{"@id":"urn:graphkernel:entity:c%23"}]`, `"@id":"urn:graphkernel:statement:` + first + `"`, `"@value":"0.9"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if alone := drawn(t, drawD3, graphOf("a", &api.Traversal{})); alone != "{\"as_of\":0,\"cut\":\"\",\"nodes\":[{\"id\":\"a\",\"hops\":0}],\"links\":[]}\n" {
		t.Errorf("got %s", alone)
	}
}

// TestGraphInjection draws names that would be more than names if they could. The graph is
// made by hand: no name that normalize lets through holds most of this.
func TestGraphInjection(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.SampledFrom([]rune("ab \"'\\`<>&;:#{}[]()|%=-\n\r\t\x00\x1b\u202e\u2028é界"))
		name := func(what string) string {
			return rapid.StringOfN(rapid.OneOf(evil, rapid.Rune()), 0, 30, -1).Draw(t, what)
		}
		one, two := name("one"), name("two")
		g := &api.D3Graph{
			Nodes: []api.D3Node{{ID: one}, {ID: two, Hops: 1}},
			Links: []api.D3Link{{Source: one, Target: two, Predicate: name("predicate"), Confidence: 1}},
		}
		mermaid, _ := drawMermaid(g)
		dot, _ := drawDOT(g)
		if n := strings.Count(string(mermaid), "\n"); n != 4 || strings.Count(string(mermaid), `"`) != 6 {
			t.Fatalf("%q", mermaid)
		}
		for _, line := range strings.Split(string(mermaid), "\n")[1:] {
			inside := between(line)
			if strings.ContainsAny(inside, "<>[](){}|`'%&\\") {
				t.Fatalf("%q", line)
			}
		}
		if read, err := readDOT(string(dot)); err != nil || len(read.names) != 2 || len(read.links) != 1 ||
			read.names[0] != oneName(one) || read.names[1] != oneName(two) || read.links[0].label != oneName(g.Links[0].Predicate+" 0.000001") {
			t.Fatalf("%q is read as %+v, %v", dot, read, err)
		}
		for _, text := range [][]byte{mermaid, dot} {
			if strings.ContainsFunc(string(text), acts) {
				t.Fatalf("%q acts", text)
			}
		}
		for _, draw := range []func(*api.D3Graph) ([]byte, error){drawD3, drawJSONLD} {
			text, err := draw(g)
			var v any
			if err != nil || json.Unmarshal(text, &v) != nil || strings.ContainsFunc(string(text), acts) {
				t.Fatalf("%q, %v", text, err)
			}
		}
	})
}

// acts reports whether a character acts on who looks at a text, except for those that format it.
func acts(r rune) bool { return r != '\n' && r != '\t' && render.Acts(r) }

// between returns what is between the first and the last quote.
func between(line string) string {
	_, rest, _ := strings.Cut(line, `"`)
	if i := strings.LastIndex(rest, `"`); i >= 0 {
		return rest[:i]
	}
	return ""
}
