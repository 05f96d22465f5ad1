package contexts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// TestExplain explains every candidate of random choices, and holds each standing against the choice made by the slow way: what was chosen has
// its rank, what was too costly does not fit into what those before it left, and what was worthless has no score above 0.
func TestExplain(t *testing.T) {
	seen := map[contexts.Outcome]int{}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 16))
		b := &contexts.Bundle{Policy: contexts.DefaultV1()}
		b.Policy.Overlap, b.Policy.Novelty, b.Policy.Alike = dag.PPM(r.IntN(2_000_000)), dag.PPM(r.IntN(300_000)), dag.PPM(r.IntN(1_000_000))
		b.Policy.Cost = dag.PPM(r.IntN(1_000_000))
		b.Request.Budget = 1 + r.IntN(200)
		b.Candidates = make([]contexts.Candidate, r.IntN(30))
		for i := range b.Candidates {
			c := &b.Candidates[i]
			c.Kind, c.ID, c.Cost = contexts.KindTurn, dag.ExternalTurnID("explain", fmt.Sprint(seed, i)).String(), r.IntN(60)
			c.From[contexts.FromSearch], c.Features[contexts.FeatureTask] = true, dag.PPM(r.IntN(5))*250_000
			if r.IntN(15) == 0 {
				c.Kind, c.From = contexts.KindTurn, [contexts.Sources]bool{contexts.FromConstraints: true}
			}
		}
		slices.SortFunc(b.Candidates, func(x, y contexts.Candidate) int { return strings.Compare(x.ID, y.ID) })
		for i := range b.Candidates {
			for j := i + 1; j < len(b.Candidates); j++ {
				if r.IntN(5) == 0 {
					b.Overlaps = append(b.Overlaps, contexts.Overlap{First: i, Second: j, Share: dag.PPM(300_000 + r.IntN(700_001))})
				}
			}
		}
		chosen := slowly(&b.Policy, b.Request.Budget, b.Candidates, b.Overlaps)
		for i := range b.Candidates {
			c := &b.Candidates[i]
			e := b.Explain(contexts.KindTurn, c.ID)
			seen[e.Outcome]++
			text := e.Sentence("turn 1", &b.Policy)
			if e.Candidate != c || e.Chosen != len(chosen) || e.Candidates != len(b.Candidates) || !strings.HasPrefix(text, "turn 1 was ") {
				t.Fatalf("seed %d: %+v: %s", seed, e, text)
			}
			rank := slices.Index(chosen, i) + 1
			spent := 0
			for n, rival := range e.Before {
				if rival.ID != b.Candidates[chosen[n]].ID || rival.Score < e.Score && !b.Candidates[chosen[n]].Mandatory() {
					t.Fatalf("seed %d: %s was chosen before %s with a score of %d against %d", seed, rival.ID, c.ID, rival.Score, e.Score)
				}
				spent += rival.Cost
			}
			switch e.Outcome {
			case contexts.Required:
				if rank == 0 || e.Rank != rank || !c.Mandatory() {
					t.Fatalf("seed %d: %s is number %d of the choice: %+v", seed, c.ID, rank, e)
				}
			case contexts.Chosen:
				if rank == 0 || e.Rank != rank || e.Score <= 0 {
					t.Fatalf("seed %d: %s is number %d of the choice: %+v", seed, c.ID, rank, e)
				}
			case contexts.TooCostly:
				if rank > 0 || e.Score <= 0 || b.Request.Budget-spent != e.Left || c.Cost <= e.Left {
					t.Fatalf("seed %d: %s is number %d of the choice, %d were spent before it: %+v", seed, c.ID, rank, spent, e)
				}
			default:
				if rank > 0 || e.Score > 0 {
					t.Fatalf("seed %d: %s is number %d of the choice: %+v", seed, c.ID, rank, e)
				}
			}
		}
		if e := b.Explain(contexts.KindFact, strings.Repeat("0", 64)); e.Outcome != contexts.NoCandidate || e.Chosen != len(chosen) {
			t.Fatalf("seed %d: a fact that is no candidate: %+v", seed, e)
		}
	}
	if len(seen) != 4 || seen[contexts.Required] < 100 || seen[contexts.Chosen] < 100 || seen[contexts.TooCostly] < 100 || seen[contexts.Worthless] < 100 {
		t.Errorf("%v: too few to tell", seen)
	}
}

// TestExplainSentence holds the parts of a score against the sentence.
func TestExplainSentence(t *testing.T) {
	p := contexts.DefaultV1()
	p.Novelty, p.Overlap, p.Alike = 500_000, 700_000, 850_000
	c := contexts.Candidate{Kind: contexts.KindTurn, ID: "x", Cost: 90}
	c.From[contexts.FromSearch], c.From[contexts.FromSlice] = true, true
	c.Features[contexts.FeatureTask], c.Features[contexts.FeatureSlice] = 250_000, 600_000
	e := contexts.Explanation{Outcome: contexts.Worthless, Candidate: &c, Score: -1_234_567_890_123, Alike: 900_000}
	const want = "turn x was left out: its score of -1.234 is not above 0: slice 1.200; task 0.250; novelty 0.050; overlap -0.630; 90 tokens; from search, slice"
	if got := e.Sentence("turn x", &p); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
