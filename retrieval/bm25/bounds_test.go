package bm25

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestBounds holds that no turn scores more than its block's sum, and that narrow drops no turn with the least score or more.
func TestBounds(t *testing.T) {
	looked, tight := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		x := New(3)
		for n := range 200 {
			terms := []string{}
			for range r.IntN(4) {
				term := fmt.Sprint("t", r.IntN(6))
				for range 1 + max(0, r.IntN(12)-8)*3 {
					terms = append(terms, term)
				}
			}
			conversation := n / 23
			if seed%2 == 1 {
				conversation = r.IntN(4)
			}
			if _, err := x.Add(dag.Seq(n+1), dag.ExternalConversationID("bounds", fmt.Sprint(conversation)), terms); err != nil {
				t.Fatal(err)
			}
			if r.IntN(20) == 0 {
				x.Erase(r.IntN(n + 1))
			}
		}
		v := x.At(dag.Seq(100 + r.IntN(101)))
		p := Params{K1: 900_000, B: 400_000, Reach: []int{0, 3, MaxReach}[seed%3]}
		if seed%4 == 3 { // the highest that a policy may have
			p.K1, p.B = 10_000_000, 1_000_000
		}
		terms := []string{"t0", "t1", "t2"}[:1+r.IntN(3)]
		st := v.statistics(terms, p)
		lists := v.lists(terms, p, &st)
		exact := v.Score(terms, p, Need{}, nil)
		s := v.scoring(p, &st)
		for b, sum := range s.sum(lists) {
			for n := b * blockSize; n < min((b+1)*blockSize, int(v.cut)); n++ {
				if score := exact.At(int32(n)); score > sum {
					t.Fatalf("seed %d: turn %d scores %d, and its block has %d", seed, n, score, sum)
				} else if score > sum*9/10 {
					tight++
				}
			}
		}
		for i, n := range exact.Places {
			looked++
			s.live[n>>6] |= 1 << (n & 63)
			s.narrow(lists, 1<<20, exact.Of[i])
			if !s.isLive(n) {
				t.Fatalf("seed %d: turn %d scores %d, and was dropped at that", seed, n, exact.Of[i])
			}
			clear(s.live)
		}
	}
	if looked < 1_000 || tight == 0 {
		t.Errorf("%d turns, %d near their bounds: too few to say anything", looked, tight)
	}
}
