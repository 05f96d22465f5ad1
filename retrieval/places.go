package retrieval

import (
	"hash/maphash"

	"github.com/graphkernel/graphkernel/dag"
)

// places finds a turn of an index by its id. It is a hash table with linear probing, at most half full, which takes 8 to 16 bytes for a
// turn. Ids are stored with the turns, not in the table. The hash has a random seed, so that nobody can choose ids that collide.
type places struct {
	seed  maphash.Seed
	slots []int32 // the place of a turn plus one; 0: empty. The length is 0 or a power of two
}

func newPlaces() places { return places{seed: maphash.MakeSeed()} }

// slot returns the index in slots at which the search for an id begins.
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

// add adds the turns from a place on. Their ids must differ from all others.
func (p *places) add(turns *turnTable, from int) {
	p.reserve(turns, from, turns.n)
	for n := int32(from); n < int32(turns.n); n++ {
		p.put(&turns.at(n).ID, n)
	}
}

// reserve makes room for all turns, if there is less. known is the number of turns in the table.
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
