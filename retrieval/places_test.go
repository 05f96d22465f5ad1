package retrieval

import (
	"math/rand/v2"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// TestPlaces compares the table of ids with a map, of ids that are alike and of others, however they come.
func TestPlaces(t *testing.T) {
	found, missed := 0, 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 9))
		id := func() (id dag.TurnID) {
			for i := range id {
				if seed%2 == 0 || i >= 14 { // or all but two bytes are those of every other
					id[i] = byte(r.Uint32())
				}
			}
			return id
		}
		p, want, turns := newPlaces(), map[dag.TurnID]int32{}, turnTable{}
		for range r.IntN(12) {
			from := turns.n
			for range r.IntN(200) {
				of := id()
				if _, there := want[of]; there {
					continue
				}
				want[of] = int32(turns.n)
				turns.add(indexed{Turn: Turn{ID: of}})
			}
			if r.IntN(3) == 0 {
				p.reserve(&turns, from, turns.n+r.IntN(500))
			}
			p.add(&turns, from)
			for range 100 {
				of := id()
				if turns.n > 0 && r.IntN(2) == 0 {
					of = turns.at(int32(r.IntN(turns.n))).ID
				}
				n, ok := p.find(&turns, of)
				if place, there := want[of]; ok != there || ok && n != place {
					t.Fatalf("seed %d: %s is at %d, %t; want %d, %t", seed, of, n, ok, place, there)
				}
				if ok {
					found++
				} else {
					missed++
				}
			}
		}
		if turns.n > 0 && (len(p.slots) < 2*turns.n || len(p.slots)&(len(p.slots)-1) != 0) {
			t.Fatalf("seed %d: %d slots for %d turns", seed, len(p.slots), turns.n)
		}
	}
	if found < 1000 || missed < 1000 {
		t.Errorf("%d ids found and %d missed: too few to say anything", found, missed)
	}
}

// TestTurnTable compares the table of turns with a slice, of parts of every size.
func TestTurnTable(t *testing.T) {
	kept := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 10))
		var table turnTable
		var want []*indexed // where each turn is
		seq := dag.Seq(0)
		next := func() indexed {
			seq += 1 + dag.Seq(r.IntN(3))
			return indexed{Turn: Turn{Seq: seq}}
		}
		for range 1 + r.IntN(15) {
			part := make([]indexed, r.IntN([]int{2, 100, 2*blockTurns + 1, 9 * blockTurns}[r.IntN(4)]))
			for i := range part {
				part[i] = next()
			}
			if r.IntN(3) == 0 {
				for _, turn := range part {
					table.add(turn)
				}
			} else {
				table.join(part)
			}
			for n := len(want); n < table.n; n++ {
				want = append(want, table.at(int32(n)))
			}
			if len(part) >= blockTurns && &part[0] == table.at(int32(table.n-len(part))) {
				kept++
			}
		}
		if len(want) != table.n {
			t.Fatalf("seed %d: %d turns, want %d", seed, table.n, len(want))
		}
		last := dag.Seq(0)
		for n, there := range want {
			turn := table.at(int32(n))
			if turn != there || turn.Seq <= last {
				t.Fatalf("seed %d: turn %d has number %d after %d, moved: %t", seed, n, turn.Seq, last, turn != there)
			}
			if a, b := table.before(turn.Seq), table.before(turn.Seq-1); a != n+1 || b != n {
				t.Fatalf("seed %d: %d and %d turns before the numbers %d and the next, want %d and %d", seed, b, a, turn.Seq-1, n, n+1)
			}
			last = turn.Seq
		}
	}
	if kept < 100 {
		t.Errorf("%d parts stayed where they were: too few to say anything", kept)
	}
}

// TestLoadMakesRoom makes sure that an index which is told how much follows moves what it has seldom, and that it makes no room for what does not
// follow, nor for more than as many turns as there are if facts may.
func TestLoadMakesRoom(t *testing.T) {
	s := &scene{rand.New(rand.NewPCG(3, 8))}
	var turns []Turn
	for n := range 400 {
		turns = append(turns, s.turn(n, 5))
	}
	x := New(analysis.English, 0)
	if err := x.Add(turns, nil); err != nil {
		t.Fatal(err)
	}
	for _, more := range []dag.Seq{0, 1_000_000} {
		y := New(analysis.English, 0)
		moved, room, last := 0, 0, x.Last()
		for after := dag.Seq(0); after < last; after += 20 {
			upTo := min(after+20, last)
			segment, err := ParseSegment(x.AppendSegment(nil, after, upTo), analysis.English, after, upTo)
			if err != nil {
				t.Fatal(err)
			}
			if err := y.Load([]*Segment{segment}, last+more); err != nil {
				t.Fatal(err)
			}
			if y.room != room {
				moved, room = moved+1, y.room
				if most := 2 * y.turns.n; y.room > most+most/16 {
					t.Errorf("%d more numbers: room for %d turns when there are %d", more, y.room, y.turns.n)
				}
			}
		}
		if y.turns.n != x.turns.n || moved < 2 || moved > 6 {
			t.Errorf("%d more numbers: %d turns of %d, moved %d times", more, y.turns.n, x.turns.n, moved)
		}
		if most := x.turns.n + x.turns.n/8; more == 0 && y.room > most {
			t.Errorf("room for %d turns when %d are all", y.room, x.turns.n)
		}
	}
}
