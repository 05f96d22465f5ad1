package standing_test

import (
	"math/rand/v2"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/standing"
)

// TestWords asks the words of a view again and again for the turns of a graph that has several times as many as there are cached rulings. Each answer is the answer
// of words that were asked for nothing before, also for the nodes of another graph with the same turns in another order.
func TestWords(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	const turns = 3000
	graph, other := dag.NewGraph(), dag.NewGraph()
	skeletons := make([]dag.Skeleton, turns)
	for i := range skeletons {
		skeletons[i] = dag.Skeleton{
			Seq: dag.Seq(i + 1), ID: dag.TurnID{14: byte(i >> 8), 15: byte(i + 1), 0: 1}, Conversation: dag.ConversationID{15: byte(1 + r.IntN(40))}, Role: dag.Role(1 + r.IntN(4)), Phase: dag.Phases[0],
			Marks: dag.Marks{Rules: dag.Marks2, Voice: dag.Voices[r.IntN(len(dag.Voices))], Cost: 1, Origin: dag.Origin{Channel: dag.Channel(1 + r.IntN(6)), Author: dag.Thing{byte(1 + r.IntN(3))}}},
		}
		if err := graph.Add(&skeletons[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range r.Perm(turns) {
		if err := other.Add(&skeletons[i]); err != nil {
			t.Fatal(err)
		}
	}
	view, there := graph.At(turns), other.At(turns)
	words := standing.WordsOf(view, nil)
	elsewhere := words.In(there)
	seen := map[dag.Standing]int{}
	for range 4 * turns {
		n := dag.Node(r.IntN(turns))
		if r.IntN(3) > 0 {
			n %= 1100 // so that most are asked for again, beside others of the same place
		}
		want, at := standing.WordsOf(view, nil).Of(n)
		if got, setting := words.Of(n); got != want || setting != at {
			t.Fatalf("node %d: %+v by %d, want %+v by %d", n, got, setting, want, at)
		}
		m, _ := there.Find(view.ID(n))
		if got, _ := elsewhere.Of(m); got != want {
			t.Fatalf("node %d of the other graph: %+v, want %+v", m, got, want)
		}
		seen[want.Standing]++
	}
	if len(seen) < 4 {
		t.Errorf("standings: %v", seen)
	}
}
