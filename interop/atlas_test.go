package interop_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/graphkernel/graphkernel/atlas"
	"github.com/graphkernel/graphkernel/dag"
)

// TestAtlas compares the graph of what was used with gonum's algorithms on graphs like conversations and like groups: the modularity of communities is at least that of gonum's
// Louvain method, and betweenness is the same but for rounding.
func TestAtlas(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []struct {
		name                  string
		n, chains, more, near int
	}{{"chains", 2000, 20, 100, 2000}, {"one tree", 1500, 1, 50, 1500}, {"dense", 400, 4, 3000, 60}, {"random", 600, 60, 1500, 600}} {
		turns := make([]atlas.Turn, shape.n)
		g := simple.NewUndirectedGraph()
		for i := range turns {
			turns[i] = atlas.Turn{ID: dag.ExternalTurnID("gonum", string(rune(i+0x100))), Seq: dag.Seq(i + 1)}
			g.AddNode(simple.Node(i))
		}
		join := func(a, b int) {
			if a != b && !g.HasEdgeBetween(int64(a), int64(b)) {
				g.SetEdge(simple.Edge{F: simple.Node(a), T: simple.Node(b)})
				turns[max(a, b)].Parents = append(turns[max(a, b)].Parents, dag.Parent{ID: turns[min(a, b)].ID, Kind: dag.Reply})
			}
		}
		for i := shape.chains; i < shape.n; i++ {
			join(i, i-shape.chains)
		}
		for range shape.more {
			a := r.IntN(shape.n)
			join(a, max(0, min(shape.n-1, a+r.IntN(2*shape.near+1)-shape.near)))
		}
		ids := make([]dag.TurnID, len(turns))
		for i := range turns {
			ids[i] = turns[i].ID
		}
		ours := atlas.New(turns)
		of, err := ours.Communities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		louvain := community.Modularize(g, 1, nil)
		want := community.Q(g, louvain.Communities(), 1)
		t.Logf("%-9s modularity %.4f, gonum's %.4f; %d communities", shape.name, float64(of.Modularity)/1e6, want, len(of.List))
		if float64(of.Modularity)/1e6 < want-1e-5 {
			t.Errorf("%s: modularity %.6f, gonum's Louvain has %.6f", shape.name, float64(of.Modularity)/1e6, want)
		}
		between := network.Betweenness(g)
		got, _, err := ours.Betweenness(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			n, _ := ours.Number(id)
			is, want := float64(got[n])/(1<<20), between[int64(i)]/2 // gonum counts each pair from both ends
			if is > want*(1+1e-6)+1e-6 || is < want*(1-1e-4)-1e-2 {
				t.Fatalf("%s: turn %d has betweenness %f, gonum's %f", shape.name, i, is, want)
			}
		}
	}
}
