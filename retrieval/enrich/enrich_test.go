package enrich

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestCombine compares scores with those in fractions, which nothing rounds: they are within a few millionths, and the order follows from them.
func TestCombine(t *testing.T) {
	moved := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		hits := make([]Hit, 1+r.IntN(12))
		for i := range hits {
			h := &hits[i]
			h.Turn, h.Found = dag.TurnID{byte(r.IntN(256)), byte(i)}, r.Int64N(1<<40)>>r.IntN(41)
			for range r.IntN(6) {
				h.Facts = append(h.Facts, Fact{dag.PPM(r.IntN(1_000_001)), 1 + r.IntN(2), dag.PPM(r.IntN(3)) * 500_000})
			}
		}
		alpha := dag.PPM(r.IntN(1_000_001))
		before := slices.Clone(hits)
		Combine(hits, alpha)
		exact := exactly(before, alpha)
		for i := range hits {
			got, want := int64(hits[i].Combined), exact[hits[i].Turn]
			if difference := new(big.Rat).Sub(big.NewRat(got, 1), want); difference.Abs(difference).Cmp(big.NewRat(12, 1)) > 0 {
				t.Fatalf("seed %d, turn %s: got %d, want %s", seed, hits[i].Turn, got, want.FloatString(2))
			}
			if i > 0 && (hits[i-1].Combined < hits[i].Combined || hits[i-1].Combined == hits[i].Combined && hits[i-1].Turn.Compare(hits[i].Turn) > 0) {
				t.Fatalf("seed %d: hit %d is out of order", seed, i)
			}
			if hits[i].Turn != before[i].Turn {
				moved++
			}
		}
	}
	if moved < 100 {
		t.Errorf("%d hits moved: too few to say anything", moved)
	}
}

func exactly(hits []Hit, alpha dag.PPM) map[dag.TurnID]*big.Rat {
	weights := make([]*big.Rat, len(hits))
	most, found := big.NewRat(1, 1), int64(1)
	for i, h := range hits {
		var parts []*big.Rat
		for _, f := range h.Facts {
			p := new(big.Rat).Mul(big.NewRat(int64(f.Confidence), 1), big.NewRat(int64(f.Fit), 1_000_000))
			parts = append(parts, p.Quo(p, big.NewRat(1<<(f.Hops-1), 1)))
		}
		slices.SortFunc(parts, func(a, b *big.Rat) int { return b.Cmp(a) })
		weights[i] = new(big.Rat)
		for n, p := range parts {
			weights[i].Add(weights[i], new(big.Rat).Quo(p, big.NewRat(1<<n, 1)))
		}
		if weights[i].Cmp(most) > 0 {
			most = weights[i]
		}
		found = max(found, h.Found)
	}
	scores := map[dag.TurnID]*big.Rat{}
	for i, h := range hits {
		a := new(big.Rat).Mul(big.NewRat(h.Found, found), big.NewRat(1_000_000-int64(alpha), 1))
		b := new(big.Rat).Mul(new(big.Rat).Quo(weights[i], most), big.NewRat(int64(alpha), 1))
		scores[h.Turn] = a.Add(a, b)
	}
	return scores
}
