package retrieval

import (
	"fmt"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// TestNames holds which words of a query are names, and which terms take the place of words that no turn has.
func TestNames(t *testing.T) {
	p := FindPolicy()
	p.Dense = Dense{Embedder: NoEmbedder}
	x := New(analysis.English, 0)
	add := func(role dag.Role, author, text string) {
		n := x.Last() + 1
		if err := x.Add([]Turn{{ID: dag.ExternalTurnID("names", fmt.Sprint(n)), Seq: n, Role: role, Author: author, Content: text}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	add(dag.RoleUser, "human:Marcos", "the lanterns are lit")
	add(dag.RoleUser, "human:Marcel", "the lecterns are old")
	add(dag.RoleUser, "human:marcoz", "paint the wall")
	for _, name := range []string{"marcoy", "marcov", "marcor", "marcop"} {
		add(dag.RoleAssistant, "agent:"+name, "paint the wall")
	}
	add(dag.RoleUser, "human:table", "clear the table")
	add(dag.RoleTool, "tool:Readme", "no such file")
	first := x.Last()
	add(dag.RoleUser, "human:marcel", "set the table, with lecterns")
	for _, c := range []struct {
		query string
		asOf  dag.Seq
		named string
		terms []string
	}{
		{"what did Marcel paint", 0, "marcel", []string{"paint"}},
		{"Marcel", 0, "marcel", []string{"marcel"}},
		{"Marcel and Marcos paint", 0, "", []string{"paint"}},
		{"marcox paint", 0, "marcop", []string{"paint"}}, // of several with one turn each the first
		{"Marcle paint", 0, "marcel", []string{"paint"}},
		{"table paint", first, "table", []string{"paint"}},
		{"table paint", 0, "", []string{"paint", "tabl"}}, // more turns have the word than are by table
		{"readme paint", 0, "", []string{"paint", "readm"}},
		{"lantenrs", 0, "", []string{"lantern"}},
		{"lecterm lanterm", 0, "", []string{"lantern", "lectern"}},
		{"lactern", first, "", []string{"lantern"}}, // of two with one turn each the first
		{"lactern", 0, "", []string{"lectern"}},
		{"lxntern", 0, "", []string{"lantern"}},
		{"wlal", 0, "", []string{"wlal"}},
	} {
		if c.asOf == 0 {
			c.asOf = x.Last()
		}
		q := &Query{Text: c.query, AsOf: c.asOf, Limit: 10}
		if got := x.Bare(&p, q); got != c.query {
			t.Errorf("%q: its vector is that of %q", c.query, got)
		}
		st := x.SearchWith(&p, q, nil).Statistics
		if st.Named != c.named || !slices.Equal(st.Terms, c.terms) {
			t.Errorf("%q as of %d: got the name %q and the terms %q, want %q and %q", c.query, c.asOf, st.Named, st.Terms, c.named, c.terms)
		}
	}
}

// TestTieOfTerms holds that of the terms with the same number of turns the first is near.
func TestTieOfTerms(t *testing.T) {
	p := FindPolicy()
	p.Dense = Dense{Embedder: NoEmbedder}
	x := New(analysis.English, 0)
	for n, text := range []string{"gardenz", "gardena", "gardenb gardenq", "gardenq"} {
		if err := x.Add([]Turn{{ID: dag.ExternalTurnID("ties", text), Seq: dag.Seq(n + 1), Content: text}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for asOf, want := range map[dag.Seq]string{1: "gardenz", 2: "gardena", 3: "gardena", 4: "gardenq"} {
		if got := x.SearchWith(&p, &Query{Text: "gardenx", AsOf: asOf, Limit: 1}, nil).Statistics.Terms; !slices.Equal(got, []string{want}) {
			t.Errorf("as of %d: got %q, want %q", asOf, got, want)
		}
	}
}
