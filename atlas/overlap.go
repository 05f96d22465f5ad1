package atlas

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// A Set contains the turns of a slice or a context, as numbers.
type Set struct {
	Members []int32 // ascending, without duplicates
}

// A Pair is two sets and how alike they are.
type Pair struct {
	A, B    int32 // numbers of sets, A below B
	Shared  int32 // members of both
	Jaccard int   // millionths: members of both sets, as a share of the members of either
}

// How Overlaps compares many sets.
const (
	AllPairs = 10_000 // up to this many sets, all pairs are compared
	hashes   = 128    // of MinHash
	rows     = 4      // hashes of a band
)

// Overlaps returns the pairs of sets that share most, at most as many as most: by Jaccard index, then by shared members, then by their numbers.
// Pairs that share nothing are left out. Of up to 10 000 sets, all pairs are compared. Of more sets, only the pairs are compared that may be alike
// according to MinHash with 128 hashes of a fixed seed, in 32 bands of 4: the returned values are exact, and a pair with the index s is missed with
// a probability of (1-s⁴)³²: 1 in 8 at 0.5, 1 in 10 000 at 0.7. Equal sets are compared with others only once. It ends early if the context does.
func Overlaps(ctx context.Context, sets []Set, most, workers int) (pairs []Pair, sampled bool, err error) {
	if most <= 0 {
		return nil, false, nil
	}
	sampled = len(sets) > AllPairs
	equal := grouped(sets)
	distinct := make([]Set, len(equal))
	for i, numbers := range equal {
		distinct[i] = sets[numbers[0]]
	}
	var found candidates
	if sampled {
		found.bands = signatures(distinct, workers)
	}
	found.index(distinct)
	workers = max(1, min(workers, len(distinct)))
	parts := make([][]Pair, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			shared, seen := make([]int32, len(distinct)), []int32(nil)
			for i := w; i < len(distinct) && ctx.Err() == nil; i += workers {
				members := distinct[i].Members
				parts[w] = appendWithin(parts[w], equal[i], int32(len(members)), most)
				seen = found.before(distinct, i, shared, seen[:0])
				for _, j := range seen {
					both := shared[j]
					if shared[j] = 0; sampled {
						both = common(members, distinct[j].Members)
					}
					if both > 0 {
						parts[w] = appendBetween(parts[w], equal[j], equal[i], both, jaccard(both, len(members), len(distinct[j].Members)), most)
					}
					if len(parts[w]) > 4*most+1000 {
						parts[w] = best(parts[w], most)
					}
				}
			}
		})
	}
	wait.Wait()
	return best(slices.Concat(parts...), most), sampled, ctx.Err()
}

// jaccard returns, in millionths, the members of both sets as a share of the members of either.
func jaccard(both int32, a, b int) int {
	return int(int64(both) * int64(million) / int64(a+b-int(both)))
}

// grouped returns lists of the numbers of equal sets. Each list ascends, and the lists ascend by their first numbers.
func grouped(sets []Set) (equal [][]int32) {
	known := make(map[uint64][]int32, len(sets)) // from a hash of the members to indexes of equal
	for i, s := range sets {
		hash := uint64(len(s.Members))
		for _, n := range s.Members {
			hash = mix(hash ^ uint64(n))
		}
		at := slices.IndexFunc(known[hash], func(list int32) bool { return slices.Equal(sets[equal[list][0]].Members, s.Members) })
		if at < 0 {
			known[hash] = append(known[hash], int32(len(equal)))
			equal = append(equal, []int32{int32(i)})
			continue
		}
		list := known[hash][at]
		equal[list] = append(equal[list], int32(i))
	}
	return equal
}

// appendWithin appends the first pairs of equal sets, up to most.
func appendWithin(pairs []Pair, equal []int32, size int32, most int) []Pair {
	if size == 0 {
		return pairs
	}
	for i, a := range equal {
		for _, b := range equal[i+1:] {
			if most--; most < 0 {
				return pairs
			}
			pairs = append(pairs, Pair{a, b, size, int(million)})
		}
	}
	return pairs
}

// appendBetween appends the first pairs of a set of one list with a set of the other, up to most. All these pairs are equally alike.
func appendBetween(pairs []Pair, a, b []int32, both int32, index, most int) []Pair {
	for len(a) > 0 && len(b) > 0 {
		if a[0] > b[0] {
			a, b = b, a
		}
		for _, n := range b { // all above a[0]
			if most--; most < 0 {
				return pairs
			}
			pairs = append(pairs, Pair{a[0], n, both, index})
		}
		a = a[1:]
	}
	return pairs
}

// candidates finds the sets that may share something with a given set.
type candidates struct {
	bands   [][]uint64         // the bands of each set; nil: all pairs are compared
	alike   map[uint64][]int32 // from a band to the sets with it, ascending
	holding map[int32][]int32  // from a member to the sets with it, ascending
}

func (c *candidates) index(sets []Set) {
	c.alike, c.holding = map[uint64][]int32{}, map[int32][]int32{}
	for i, list := range c.bands {
		for _, b := range list {
			c.alike[b] = append(c.alike[b], int32(i))
		}
	}
	if c.bands != nil {
		return
	}
	for i, s := range sets {
		for _, n := range s.Members {
			c.holding[n] = append(c.holding[n], int32(i))
		}
	}
}

// before appends the sets before set i that may share something with it, and counts the members, or bands, that each has in common with set i.
func (c *candidates) before(sets []Set, i int, shared, seen []int32) []int32 {
	see := func(others []int32) {
		for _, j := range others {
			if j >= int32(i) {
				break
			}
			if shared[j]++; shared[j] == 1 {
				seen = append(seen, j)
			}
		}
	}
	if c.bands != nil {
		for _, b := range c.bands[i] {
			see(c.alike[b])
		}
		return seen
	}
	for _, n := range sets[i].Members {
		see(c.holding[n])
	}
	return seen
}

// compare orders pairs: the most alike first.
func (p Pair) compare(q Pair) int {
	return cmp.Or(cmp.Compare(q.Jaccard, p.Jaccard), cmp.Compare(q.Shared, p.Shared), cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B))
}

// best returns the pairs that are most alike, up to most.
func best(pairs []Pair, most int) []Pair {
	slices.SortFunc(pairs, Pair.compare)
	return slices.Clip(pairs[:min(len(pairs), most)])
}

// common counts the members that both lists have.
func common(a, b []int32) (n int32) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

// signatures returns a number for each band of each set. Sets with the same number have the same smallest hashes in that band.
func signatures(sets []Set, workers int) [][]uint64 {
	all := make([][]uint64, len(sets))
	workers = max(1, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(sets); i += workers {
				var least [hashes]uint64
				for h := range least {
					least[h] = ^uint64(0)
				}
				for _, n := range sets[i].Members {
					for h := range least {
						least[h] = min(least[h], mix(mix(uint64(h))^uint64(n)))
					}
				}
				if len(sets[i].Members) == 0 {
					continue
				}
				for band := 0; band < hashes; band += rows {
					sum := uint64(band)
					for _, h := range least[band : band+rows] {
						sum = mix(sum ^ h)
					}
					all[i] = append(all[i], sum)
				}
			}
		})
	}
	wait.Wait()
	return all
}
