package contexts

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

const (
	// leastShare is the least share of terms that is written down. Below it nothing is alike.
	leastShare = 300_000
	// leastTerms is the number of distinct terms that a text needs to be like another.
	leastTerms = 8
)

// Compare returns how alike texts are, from leastShare on: the terms that both have, of those that the shorter one has, each counted once.
// terms returns the distinct terms of a candidate's text as numbers, none for one that is not compared. The cost is one step for each term
// that two texts have in common.
func Compare(n int, terms func(i int) []int32) (overlaps []Overlap) {
	having := map[int32][]int32{} // ascending
	all := make([][]int32, n)
	for i := range n {
		if t := terms(i); len(t) >= leastTerms {
			all[i] = t
			for _, term := range t {
				having[term] = append(having[term], int32(i))
			}
		}
	}
	common := make([]int32, n)
	var seen []int32
	for i := range n {
		for _, term := range all[i] {
			list := having[term][1:] // the first is i itself: those below it were taken out
			having[term] = list
			for _, j := range list {
				if common[j] == 0 {
					seen = append(seen, j)
				}
				common[j]++
			}
		}
		first := len(overlaps)
		for _, j := range seen {
			if share := dag.PPM(int64(common[j]) * int64(dag.One) / int64(min(len(all[i]), len(all[j])))); share >= leastShare {
				overlaps = append(overlaps, Overlap{i, int(j), share})
			}
			common[j] = 0
		}
		seen = seen[:0]
		slices.SortFunc(overlaps[first:], func(a, b Overlap) int { return cmp.Compare(a.Second, b.Second) })
	}
	return overlaps
}
