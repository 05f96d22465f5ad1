package overlap_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/overlap"
)

// TestCompare compares each pair of texts by itself.
func TestCompare(t *testing.T) {
	alike, unlike, short := 0, 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		texts := make([][]int32, r.IntN(30))
		if seed%20 == 0 {
			texts = make([][]int32, 300) // on several processors
		}
		for i := range texts {
			for term := range int32(40) {
				if r.IntN(3) == 0 && r.IntN(1+i%4) == 0 {
					texts[i] = append(texts[i], term)
				}
			}
		}
		var want []contexts.Overlap
		for i := range texts {
			if len(texts[i]) < 8 {
				short++
			}
			for j := i + 1; j < len(texts); j++ {
				least := min(len(texts[i]), len(texts[j]))
				if least < 8 {
					continue
				}
				common := 0
				for _, term := range texts[i] {
					if slices.Contains(texts[j], term) {
						common++
					}
				}
				if share := common * 1_000_000 / least; share >= 300_000 {
					want = append(want, contexts.Overlap{First: i, Second: j, Share: dag.PPM(share)})
					alike++
				} else {
					unlike++
				}
			}
		}
		if got := overlap.Compare(texts); !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
	}
	if alike < 100 || unlike < 100 || short < 100 {
		t.Errorf("%d pairs alike, %d not, %d texts too short: too few to say anything", alike, unlike, short)
	}
}
