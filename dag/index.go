package dag

import (
	"hash/maphash"
	"math/bits"
	"unsafe"
)

// An index maps ids to nodes: a table of node numbers with open addressing and linear probing, at most three quarters
// full. The ids are stored in the nodes and not in the table, so the table takes 5 to 8 bytes per node; a map takes 45.
//
// Ids come from clients. The hash has a random seed for each graph, so that nobody can choose ids that crowd one place.
// No result of a graph depends on the order of the table.
type index struct {
	seed maphash.Seed
	// A slot is 0 if it is free. Otherwise its low bits, those in numbers, contain a node's number + 1, and the bits above
	// contain as much of the id's hash as fits. Comparing that part avoids nearly all looks at nodes with other ids.
	slots   []uint32
	numbers uint32
}

// A slot is the place of an id in an index, or the place where it would be inserted.
type slot struct {
	at   int
	hash uint32 // the lower half of the id's hash; the bits outside numbers are kept in the slot
}

const fewestSlots = 8

func newIndex() index {
	x := index{seed: maphash.MakeSeed()}
	x.clear(fewestSlots)
	return x
}

// clear empties the table and sets its size.
func (x *index) clear(size int) {
	x.slots = make([]uint32, size)
	x.numbers = 1<<bits.Len(uint(size)) - 1
}

// slot returns the place at which probing for an id begins: the upper half of the
// hash scaled to the size of the table, which need not be a power of two.
func (x *index) slot(id *TurnID) slot {
	h := maphash.Bytes(x.seed, id[:])
	return slot{at: int((h >> 32) * uint64(len(x.slots)) >> 32), hash: uint32(h)}
}

// find returns the node of an id, or the free slot for it.
func (x *index) find(id *TurnID, nodes []node) (Node, slot, bool) {
	s := x.slot(id)
	for {
		have := x.slots[s.at]
		if have == 0 {
			return 0, s, false
		}
		if (have^s.hash)&^x.numbers == 0 {
			if n := have&x.numbers - 1; nodes[n].id == *id {
				return Node(n), s, true
			}
		}
		s.next(len(x.slots))
	}
}

func (s *slot) next(slots int) {
	if s.at++; s.at == slots {
		s.at = 0
	}
}

// put fills a free slot with a node.
func (x *index) put(s slot, n Node) {
	x.slots[s.at] = s.hash&^x.numbers | uint32(n) + 1
}

// grow makes room for count nodes in total. The table grows by half or, if that is not enough, until it is two thirds
// full with that many.
func (x *index) grow(count int, nodes []node) {
	if count <= len(x.slots)*3/4 {
		return
	}
	x.clear(max(len(x.slots), count) / 2 * 3)
	for n := range nodes {
		s := x.slot(&nodes[n].id)
		for x.slots[s.at] != 0 {
			s.next(len(x.slots))
		}
		x.put(s, Node(n))
	}
}

func (x *index) size() int { return cap(x.slots) * int(unsafe.Sizeof(x.slots[0])) }
