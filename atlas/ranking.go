package atlas

import (
	"context"
	"math"
	"slices"
)

// A Ranking is the beginning of the list of all pairs of some sets, the most alike first. It can be updated
// when sets are added and removed: the list is then the same, byte for byte, as that of a new ranking.
type Ranking struct {
	Sampled bool // as Overlaps returns it
	Pairs   []Pair
	names   []uint64
	most    int
	whole   bool // Pairs contains all pairs
}

// Rank returns a ranking of up to most pairs. The names of the sets ascend; they identify the sets in later calls of On.
func Rank(ctx context.Context, names []uint64, sets []Set, most, workers int) (*Ranking, error) {
	pairs, sampled, err := Overlaps(ctx, sets, most, workers)
	if err != nil {
		return nil, err
	}
	return &Ranking{Sampled: sampled, Pairs: pairs, names: slices.Clone(names), most: most, whole: len(pairs) < most}, nil
}

// First returns the first n pairs, or all if there are fewer. It reports false if the ranking does not contain all of them.
func (r *Ranking) First(n int) ([]Pair, bool) {
	return r.Pairs[:min(n, len(r.Pairs))], r.whole || n <= len(r.Pairs)
}

// On returns the ranking of other sets, where sets with the same name are the same. It compares only the new sets with all others.
// It returns nil if that would not save much, or if too many pairs were lost with removed sets: then a new ranking must be made.
func (r *Ranking) On(ctx context.Context, names []uint64, sets []Set) (*Ranking, error) {
	if r.Sampled || len(sets) > AllPairs {
		return nil, nil
	}
	is := make([]int32, len(r.names)) // the present number of each earlier set; -1: removed
	isNew := make([]bool, len(sets))
	added, at := 0, 0
	for i := range is {
		is[i] = -1
	}
	for i, name := range names {
		for at < len(r.names) && r.names[at] < name {
			at++
		}
		if at < len(r.names) && r.names[at] == name {
			is[at] = int32(i)
			continue
		}
		isNew[i] = true
		added++
	}
	if added > len(sets)/4 {
		return nil, nil
	}
	next := &Ranking{names: slices.Clone(names), most: r.most, whole: r.whole}
	for _, p := range r.Pairs {
		if p.A, p.B = is[p.A], is[p.B]; p.A >= 0 && p.B >= 0 {
			next.Pairs = append(next.Pairs, p)
		}
	}
	if !next.whole && 2*len(next.Pairs) < r.most {
		return nil, nil
	}
	var more []Pair
	held := newMarks(sets)
	for i := range sets {
		if !isNew[i] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		held.set(sets[i].Members)
		for j := range sets {
			if j == i || isNew[j] && j > i { // set j compares itself with set i
				continue
			}
			if both := held.count(sets[j].Members); both > 0 {
				more = append(more, Pair{int32(min(i, j)), int32(max(i, j)), both, jaccard(both, len(sets[i].Members), len(sets[j].Members))})
			}
		}
		held.unset(sets[i].Members)
		if !next.whole { // pairs after the last known one may come after unknown pairs
			last := next.Pairs[len(next.Pairs)-1]
			more = slices.DeleteFunc(more, func(p Pair) bool { return p.compare(last) > 0 })
		}
		if len(more) > 4*r.most+1000 {
			more = best(more, r.most)
		}
	}
	all := slices.Concat(next.Pairs, more)
	next.whole = next.whole && len(all) < r.most
	next.Pairs = best(all, r.most)
	return next, nil
}

// marks records which numbers are members of a set.
type marks []bool

func newMarks(sets []Set) marks {
	most := int32(math.MinInt32)
	for _, s := range sets {
		if n := len(s.Members); n > 0 {
			most = max(most, s.Members[n-1])
		}
	}
	return make(marks, max(0, int(most)+1))
}

func (m marks) set(members []int32) {
	for _, n := range members {
		m[n] = true
	}
}

func (m marks) unset(members []int32) {
	for _, n := range members {
		m[n] = false
	}
}

func (m marks) count(members []int32) (n int32) {
	for _, at := range members {
		if m[at] {
			n++
		}
	}
	return n
}
