package retrieval

import (
	"hash/maphash"

	"github.com/graphkernel/graphkernel/dag"
)

// places finds a turn of an index by its id: a hash table with linear probing, at most half full, which takes 8 to 16 bytes for a turn. Ids
// are with the turns, not in the table. The hash has a seed of its own, so that nobody can choose ids that fall together.
type places struct {
	seed  maphash.Seed
	slots []int32 // a power of two, or none: one more than the place of a turn; 0: nothing
}

func newPlaces() places { return places{seed: maphash.MakeSeed()} }

// slot returns where the search for an id begins.
func (p *places) slot(id *dag.TurnID) int {
	return int(maphash.Bytes(p.seed, id[:])) & (len(p.slots) - 1)
}

// find returns the place of the turn with an id.
func (p *places) find(turns *turnTable, id dag.TurnID) (int32, bool) {
	if len(p.slots) == 0 {
		return 0, false
	}
	for i := p.slot(&id); p.slots[i] != 0; i = (i + 1) & (len(p.slots) - 1) {
		if n := p.slots[i] - 1; turns.at(n).ID == id {
			return n, true
		}
	}
	return 0, false
}

// add adds the turns from a place on, whose ids are others than all before.
func (p *places) add(turns *turnTable, from int) {
	p.reserve(turns, from, turns.n)
	for n := int32(from); n < int32(turns.n); n++ {
		p.put(&turns.at(n).ID, n)
	}
}

// reserve makes room for some turns in all, if there is less. So many are there.
func (p *places) reserve(turns *turnTable, known, all int) {
	size := max(len(p.slots), 64)
	for size < 2*all {
		size *= 2
	}
	if size == len(p.slots) {
		return
	}
	p.slots = make([]int32, size)
	for n := range int32(known) {
		p.put(&turns.at(n).ID, n)
	}
}

func (p *places) put(id *dag.TurnID, n int32) {
	i := p.slot(id)
	for p.slots[i] != 0 {
		i = (i + 1) & (len(p.slots) - 1)
	}
	p.slots[i] = n + 1
}
