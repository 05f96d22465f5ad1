package contexts

import (
	"cmp"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

const (
	// leastShare is the least share of words that is written down. Below it nothing is alike.
	leastShare = 300_000
	// leastWords is the number of different words that a text needs to be like another.
	leastWords = 8
)

// Compare returns how alike texts are, from leastShare on: the words that both have, of those that the shorter one
// has, each counted once. A word is a run of letters and digits of ASCII, in lower case, and of bytes beyond
// ASCII. text returns a candidate's text, "" for one that is not compared. The cost is one step for each word that
// two texts have in common.
func Compare(n int, text func(i int) string) (overlaps []Overlap) {
	sizes := make([]int, n)
	having := map[string][]int{}
	for i := range n {
		words := map[string]bool{}
		for w := range wordsOf(text(i)) {
			words[w] = true
		}
		if sizes[i] = len(words); sizes[i] < leastWords {
			continue
		}
		for w := range words {
			having[w] = append(having[w], i)
		}
	}
	common := map[[2]int]int{}
	for w := range having {
		in := having[w]
		slices.Sort(in)
		for at, i := range in {
			for _, j := range in[at+1:] {
				common[[2]int{i, j}]++
			}
		}
	}
	for _, pair := range slices.SortedFunc(maps.Keys(common), func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		share := common[pair] * int(dag.One) / min(sizes[pair[0]], sizes[pair[1]])
		if share >= leastShare {
			overlaps = append(overlaps, Overlap{pair[0], pair[1], dag.PPM(share)})
		}
	}
	return overlaps
}

// wordsOf yields the words of a text, as often as they occur.
func wordsOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var word []byte
		for i := 0; i <= len(text); i++ {
			if i < len(text) {
				switch b := text[i]; {
				case 'A' <= b && b <= 'Z':
					word = append(word, b+'a'-'A')
					continue
				case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b >= 0x80:
					word = append(word, b)
					continue
				}
			}
			if len(word) > 0 {
				if !yield(string(word)) {
					return
				}
				word = word[:0]
			}
		}
	}
}
