package retrieval

import (
	"sort"

	"github.com/graphkernel/graphkernel/dag"
)

// A turnTable contains the turns of an index by their places, in parts. The turns of a segment stay where they were parsed, because
// moving them would take a large part of the time of loading.
type turnTable struct {
	parts [][]indexed
	first []int32 // by part: place of its first turn
	block []int32 // by place / blockTurns: the part of the block's first place
	n     int
}

// A part from a segment has at least blockTurns turns, so a block contains few parts. A part of other turns has room for
// as many turns as come before it, from blockTurns to partTurns.
const (
	blockTurns = 64
	partTurns  = 64 * blockTurns
)

// at returns the turn at a place.
func (t *turnTable) at(n int32) *indexed {
	p := t.block[n/blockTurns]
	for int(p)+1 < len(t.first) && t.first[p+1] <= n {
		p++
	}
	return &t.parts[p][n-t.first[p]]
}

// before returns how many turns have a number up to seq.
func (t *turnTable) before(seq dag.Seq) int {
	return sort.Search(t.n, func(n int) bool { return t.at(int32(n)).Seq > seq })
}

// add adds a turn after all others.
func (t *turnTable) add(turn indexed) {
	last := len(t.parts) - 1
	if last < 0 || len(t.parts[last]) == cap(t.parts[last]) {
		t.begin(make([]indexed, 0, min(max(t.n, blockTurns), partTurns)))
		last++
	}
	t.parts[last] = append(t.parts[last], turn)
	t.count(1)
}

// join adds turns after all others. If they are many, the slice itself becomes a part, so it must not be used again.
func (t *turnTable) join(turns []indexed) {
	if len(turns) < blockTurns {
		for _, turn := range turns {
			t.add(turn)
		}
		return
	}
	t.begin(turns)
	t.count(len(turns))
}

// begin adds a part.
func (t *turnTable) begin(part []indexed) {
	t.parts, t.first = append(t.parts, part), append(t.first, int32(t.n))
}

// count updates the table after turns were added to the last part.
func (t *turnTable) count(more int) {
	t.n += more
	for len(t.block)*blockTurns < t.n {
		t.block = append(t.block, int32(len(t.parts)-1))
	}
}
