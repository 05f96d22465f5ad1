package bm25

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
			if _, err := x.Add(dag.Seq(n+1), dag.ExternalConversationID("bounds", fmt.Sprint(conversation)), r.IntN(2) == 0, NewTerms(terms...)); err != nil {
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
		lists, st := v.lists(terms, p, nil)
		exact := v.Score(terms, p, Need{}, nil)
		s := v.scoring(p, st)
		shift := s.bound(lists)
		if shift > 9 {
			short++
		}
		peaks := map[int32]int32{}
		for _, b := range s.blocks {
			peaks[b.at] = b.peak
		}
		for i, n := range exact.Places {
			looked++
			at := n + MaxReach
			sum := int32(s.bounds[at/lanes] >> (at % lanes * laneBits) & laneMask)
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
		for n, sums := range s.bounds {
			if sums != 0 {
				t.Fatalf("seed %d: word %d has %x left", seed, n, sums)
			}
		}
	}
	if looked < 1_000 || tight == 0 || short == 0 {
		t.Errorf("%d turns, %d near their bounds, %d times without many bits: too few to say anything", looked, tight, short)
	}
}

// TestHigher compares sums in words with sums alone, equal ones, too.
func TestHigher(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 1_000 {
		a, b, want := r.Uint64()&^highBits, r.Uint64()&^highBits, uint64(0)
		b = b&^laneMask | a&laneMask
		for lane := 0; lane < lanes*laneBits; lane += laneBits {
			want |= max(a>>lane&laneMask, b>>lane&laneMask) << lane
		}
		if got := higher(a, b); got != want {
			t.Fatalf("%016x and %016x: got %016x, want %016x", a, b, got, want)
		}
	}
}

// TestManyLists asks for as many terms as sums can be added up of, and for so many that the sum of the turn in the middle of those that have all of them would be 0 again.
func TestManyLists(t *testing.T) {
	x := New(MaxReach)
	var terms []string
	for n := range 1 << laneBits / (2 * MaxReach) {
		terms = append(terms, fmt.Sprintf("t%04d", n))
	}
	for n := range 1_000 {
		of := terms
		if n >= 2*MaxReach {
			of = []string{"another"}
		}
		if n > 50 {
			of = terms[n : n+100]
		}
		if _, err := x.Add(dag.Seq(n+1), dag.ExternalConversationID("many", ""), false, NewTerms(of...)); err != nil {
			t.Fatal(err)
		}
	}
	p := Params{K1: 900_000, Reach: MaxReach}
	need := Need{Best: 3, Rank: func(_ int32, score, _ int64) int64 { return score }, Most: func(score, _ int64) int64 { return score }}
	for _, terms := range [][]string{terms, terms[:mostLists]} {
		all, best := x.At(1_000).Score(terms, p, Need{}, nil), x.At(1_000).Score(terms, p, need, nil)
		ranks := slices.Sorted(slices.Values(all.Of))
		for i, n := range best.Places {
			if best.Of[i] != all.At(n) {
				t.Errorf("%d terms: turn %d has %d, want %d", len(terms), n, best.Of[i], all.At(n))
			}
		}
		got, want := slices.Sorted(slices.Values(best.Of)), ranks[len(ranks)-3:]
		if !slices.Equal(got[max(len(got)-3, 0):], want) || best.Most != all.Most {
			t.Errorf("%d terms: %d at the top, want %d", len(terms), got, want)
		}
	}
}
