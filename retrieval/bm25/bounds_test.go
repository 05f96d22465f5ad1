package bm25

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestBounds holds that no turn scores more than the sum of what the terms near it give at most, and that each turn that has any of them is in a block.
func TestBounds(t *testing.T) {
	looked, tight, short := 0, 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		x := New(3)
		kinds := 6
		if seed%4 == 3 {
			kinds = 60
		}
		for n := range 200 {
			terms := []string{}
			for range r.IntN(4) {
				term := fmt.Sprint("t", r.IntN(kinds))
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
		terms := []string{"t0", "t1", "t2"}[:1+r.IntN(3)]
		if seed%4 == 3 { // the highest that a policy may have, and more terms than sums of so many bits hold
			p.K1, p.B = 10_000_000, 1_000_000
			for n := range kinds {
				terms = append(terms, fmt.Sprint("t", n))
			}
			terms = distinct(terms)
		}
		st := v.statistics(terms, p)
		lists := v.lists(terms, p, &st)
		exact := v.Score(terms, p, Need{}, nil)
		s := v.scoring(p, &st)
		shift := s.bound(lists)
		if shift > 0 {
			short++
		}
		peaks := map[int32]int32{}
		for _, b := range s.blocks {
			peaks[b.at] = b.peak
		}
		for i, n := range exact.Places {
			looked++
			sum := s.bounds[n+MaxReach]
			if most := int64(sum) << shift; exact.Of[i] > most {
				t.Fatalf("seed %d: turn %d scores %d, and can get %d", seed, n, exact.Of[i], most)
			} else if exact.Of[i] > most*9/10 {
				tight++
			}
			if peak := peaks[(n+MaxReach)/blockSize]; sum > peak {
				t.Fatalf("seed %d: turn %d can get %d, and its block has a peak of %d", seed, n, sum, peak)
			}
		}
		s.unbound()
		for n, sum := range s.bounds {
			if sum != 0 {
				t.Fatalf("seed %d: place %d has %d left", seed, n, sum)
			}
		}
	}
	if looked < 1_000 || tight == 0 || short == 0 {
		t.Errorf("%d turns, %d near their bounds, %d times without some bits: too few to say anything", looked, tight, short)
	}
}
