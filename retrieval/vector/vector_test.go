package vector

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/race"
)

const dims = 24

// A cloud draws vectors around a few centres. Some are equal and some almost.
type cloud struct {
	*rand.Rand
	centres [][]int8
	drawn   [][]int8
}

func newCloud(seed uint64, centres int) *cloud {
	c := &cloud{Rand: rand.New(rand.NewPCG(seed, 7))}
	for range centres {
		c.centres = append(c.centres, c.around(make([]int8, dims), 90))
	}
	return c
}

func (c *cloud) around(centre []int8, spread int) []int8 {
	v := slices.Clone(centre)
	for i := range v {
		v[i] = int8(max(-127, min(127, int(v[i])+c.IntN(2*spread+1)-spread)))
	}
	return v
}

func (c *cloud) vector() []int8 {
	v := c.around(c.centres[c.IntN(len(c.centres))], 30)
	if len(c.drawn) > 0 {
		some := c.drawn[c.IntN(len(c.drawn))]
		switch c.IntN(8) {
		case 0:
			v = some
		case 1:
			v = slices.Clone(some)
			v[c.IntN(dims)] ^= 1
		}
	}
	c.drawn = append(c.drawn, v)
	return v
}

func id(n int) dag.TurnID { return dag.ExternalTurnID("vector", fmt.Sprint(n)) }

// An item is a vector of a turn, nil if it has none.
type item struct {
	ID     dag.TurnID
	Vector []int8
}

func items(c *cloud, n int) []item {
	list := make([]item, n)
	for i := range list {
		list[i] = item{id(i), c.vector()}
	}
	return list
}

// add adds vectors to an index, and links those of which there are enough.
func add(t *testing.T, h *HNSW, list ...item) {
	t.Helper()
	for _, it := range list {
		if _, err := h.flat.Add(it.ID, dag.Seq(h.flat.Len()+1), it.Vector); err != nil {
			t.Fatal(err)
		}
		if h.Waits() {
			h.Link()
		}
	}
}

func erase(h *HNSW, place int) {
	h.flat.Erase(place)
	h.Erase(place)
}

// brute finds what Flat has to find.
func brute(all []item, erased map[int]bool, query []int8, upTo, limit int) (hits []Hit) {
	for i, it := range all[:upTo] {
		if erased[i] || it.Vector == nil {
			continue
		}
		score := int64(0)
		for k := range query {
			score += int64(query[k]) * int64(it.Vector[k])
		}
		hits = append(hits, Hit{i, it.ID, score})
	}
	for i := range hits { // by insertion
		for k := i; k > 0 && (hits[k].Score > hits[k-1].Score || hits[k].Score == hits[k-1].Score && bytes.Compare(hits[k].ID[:], hits[k-1].ID[:]) < 0); k-- {
			hits[k], hits[k-1] = hits[k-1], hits[k]
		}
	}
	return hits[:min(limit, len(hits))]
}

// TestFlat compares Flat with a search that counts each score anew, while it grows and vectors are erased.
func TestFlat(t *testing.T) {
	ties := 0
	for seed := range uint64(12) {
		c := newCloud(seed, 3)
		f, erased := NewFlat(dims), map[int]bool{}
		var all []item
		for n := range 250 {
			it := item{ID: id(n)}
			if c.IntN(8) > 0 {
				it.Vector = c.vector()
			}
			place, err := f.Add(it.ID, dag.Seq(2*n+1), it.Vector)
			if err != nil || place != n {
				t.Fatalf("place %d, %v; want %d", place, err, n)
			}
			all = append(all, it)
			if c.IntN(6) == 0 {
				gone := c.IntN(n + 1)
				f.Erase(gone)
				erased[gone] = true
				if slices.ContainsFunc(f.At(gone), func(x int8) bool { return x != 0 }) || f.Has(gone) {
					t.Fatalf("the vector of %d is still in memory", gone)
				}
				with := 0
				for i, it := range all {
					with += map[bool]int{true: 1}[it.Vector != nil && !erased[i]]
				}
				if f.Count() != with || f.Len() != n+1 {
					t.Fatalf("%d vectors in %d places, want %d in %d", f.Count(), f.Len(), with, n+1)
				}
			}
			upTo, limit := c.IntN(n+2), c.IntN(12)
			query := c.vector()
			got, want := f.Search(query, dag.Seq(2*upTo), limit), brute(all, erased, query, upTo, limit)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, up to %d of %d: got %v, want %v", seed, upTo, n+1, got, want)
			}
			for i := range len(want) - 1 {
				if want[i].Score == want[i+1].Score {
					ties++
				}
			}
		}
	}
	if ties < 20 {
		t.Errorf("%d equal scores, too few to say anything", ties)
	}
}

// TestFlatTies holds that of many equal vectors those with the lowest ids are returned.
func TestFlatTies(t *testing.T) {
	f := NewFlat(1)
	var ids []dag.TurnID
	for n := range 400 {
		if _, err := f.Add(id(n), dag.Seq(n+1), []int8{1}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id(n))
	}
	slices.SortFunc(ids, dag.TurnID.Compare)
	for i, h := range f.Search([]int8{1}, 400, 7) {
		if h.ID != ids[i] {
			t.Errorf("hit %d is not the one with the lowest id", i)
		}
	}
}

// TestFlatRefuses holds that vectors of another length and numbers out of order are errors, and change nothing.
func TestFlatRefuses(t *testing.T) {
	f := NewFlat(2)
	if _, err := f.Add(id(0), 5, []int8{1, 2}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"shorter": second(f.Add(id(1), 6, []int8{1})), "empty": second(f.Add(id(1), 6, []int8{})), "the same number": second(f.Add(id(1), 5, []int8{1, 2})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if hits := f.Search([]int8{1, 1}, 100, 10); len(hits) != 1 {
		t.Errorf("found %v", hits)
	}
}

func second[T any](_ T, err error) error { return err }

// bytesOf writes all that a graph is, and the vectors in it.
func bytesOf(h *HNSW) []byte {
	var out []byte
	number := func(n int) { out = binary.BigEndian.AppendUint32(out, uint32(n)) }
	number(len(h.nodes))
	number(int(h.entry))
	for i := range h.flat.Len() {
		at := node{parent: none}
		var id dag.TurnID
		var v []int8
		if h.flat.Has(i) {
			id, v = h.id(int32(i)), h.flat.At(i)
			at.links = make([][]int32, levelOf(id)+1)
		}
		if i < len(h.nodes) {
			at = h.nodes[i]
		}
		out = append(out, id[:]...)
		number(len(v))
		for _, x := range v {
			out = append(out, byte(x))
		}
		number(int(at.parent))
		number(len(at.links))
		for _, list := range append(slices.Clone(at.links), at.children) {
			number(len(list))
			for _, n := range list {
				number(int(n))
			}
		}
	}
	return out
}

// TestSameGraph holds that the graph follows from what was added and erased, and in which order: not from the number of workers, from how calls
// divide it, or from the processor. The digest is golden.
func TestSameGraph(t *testing.T) {
	const golden = "8afd870d05acb4b890c0858092105a27f27641538868ea6d3ae1ee30bf1bd4e0"
	total := 1_700
	all := items(newCloud(1, 12), total)
	var first []byte
	for run, workers := range []int{1, 2, 8, 3, 1} {
		r := rand.New(rand.NewPCG(uint64(run), 1))
		h := NewHNSW(NewFlat(dims), workers)
		for at := 0; at < total; {
			n := min(total-at, 1+r.IntN(700))
			if at < 1_000 {
				n = min(n, 1_000-at)
			}
			add(t, h, all[at:at+n]...)
			if at += n; at == 1_000 {
				for gone := 0; gone < 1_000; gone += 37 {
					erase(h, gone)
				}
			}
		}
		if got := bytesOf(h); first == nil {
			first = got
			if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != golden {
				t.Errorf("the graph is %x, want %s", sum, golden)
			}
		} else if !bytes.Equal(got, first) {
			t.Errorf("%d workers, partition %d: another graph", workers, run)
		}
		connected(t, h)
	}
}

// connected holds what must be true of every graph: all vectors are in one tree, links lead to vectors that are on the level, and no node has
// too many of them.
func connected(t *testing.T, h *HNSW) {
	t.Helper()
	live, roots := 0, 0
	for i := range h.nodes {
		at := &h.nodes[i]
		if !h.flat.Has(i) {
			if at.links != nil || at.children != nil || at.parent != none {
				t.Fatalf("node %d was erased, and is %+v", i, at)
			}
			continue
		}
		live++
		if at.parent == none {
			roots++
		} else if !slices.Contains(h.nodes[at.parent].children, int32(i)) {
			t.Fatalf("node %d is no child of its parent", i)
		}
		if len(at.children) > branchesMost {
			t.Fatalf("node %d has %d children", i, len(at.children))
		}
		for level, links := range at.links {
			if most := map[bool]int{true: linksMost, false: linksAbove}[level == 0]; len(links) > most {
				t.Fatalf("node %d has %d links on level %d", i, len(links), level)
			}
			for _, n := range links {
				if int(n) == i || !h.flat.Has(int(n)) || h.nodes[n].level() < level {
					t.Fatalf("node %d has a link to %d on level %d", i, n, level)
				}
			}
		}
	}
	if live == 0 {
		if h.entry != none {
			t.Fatalf("an entry into an empty graph")
		}
		return
	}
	reached := map[int32]bool{}
	for next := []int32{h.entry}; len(next) > 0; {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		if n == none || reached[n] {
			continue
		}
		reached[n] = true
		next = append(append(next, h.nodes[n].children...), h.nodes[n].parent)
	}
	if roots != 1 || len(reached) != live {
		t.Fatalf("%d roots; %d of %d nodes can be reached", roots, len(reached), live)
	}
}

// TestErase erases vector after vector, and looks for each in the memory of the graph.
func TestErase(t *testing.T) {
	for seed := range uint64(4) {
		c := newCloud(seed, 4)
		n := 2*batch + 40
		all := items(c, n)
		h := NewHNSW(NewFlat(dims), 2)
		add(t, h, all...)
		for left, place := range c.Perm(n) {
			erase(h, place)
			erase(h, place) // again is nothing
			for i := range h.nodes {
				for _, list := range append(slices.Clone(h.nodes[i].links), h.nodes[i].children, []int32{h.nodes[i].parent}) {
					if whole := list[:cap(list)]; slices.Contains(list, int32(place)) || place != 0 && slices.Contains(whole, int32(place)) {
						t.Fatalf("node %d still has a link to %d, in %v", i, place, whole)
					}
				}
			}
			if left%16 == 0 || n-left < 20 {
				connected(t, h)
			}
			for _, hit := range h.Search(all[place].Vector, 5, 64) {
				if hit.Place == place {
					t.Fatalf("%d is found", place)
				}
			}
		}
		add(t, h, items(c, 2*batch)...) // it begins anew
		connected(t, h)
		if hits := h.Search(all[0].Vector, 5, 64); len(hits) != 5 {
			t.Errorf("found %v", hits)
		}
	}
}

// TestRecall compares the graph with Flat on overlapping clouds, on a cloud of vectors that differ in one bit, and after erasures.
func TestRecall(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine")
	}
	total := 6_000
	if testing.Short() {
		total = 3_000
	}
	for name, draw := range map[string]func(c *cloud) []int8{
		"clouds": (*cloud).vector,
		"half almost equal": func(c *cloud) []int8 {
			if c.IntN(2) == 0 {
				return c.vector()
			}
			return c.around(c.centres[0], 1)
		},
		"half equal": func(c *cloud) []int8 {
			if c.IntN(2) == 0 {
				return c.vector()
			}
			return c.centres[0]
		},
		"equal first": func(c *cloud) []int8 {
			if len(c.drawn) < total/3 {
				c.drawn = append(c.drawn, c.centres[0])
				return c.centres[0]
			}
			return c.vector()
		},
		"two distant points": func(c *cloud) []int8 {
			v := slices.Clone(c.centres[0])
			if c.IntN(2) == 0 {
				for i := range v {
					v[i] = -v[i]
				}
			}
			return v
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(5, 40)
			f := NewFlat(dims)
			h := NewHNSW(f, 1)
			for n := range total {
				add(t, h, item{id(n), draw(c)})
			}
			connected(t, h)
			for range total / 20 {
				erase(h, c.IntN(total))
			}
			if got := recall(t, c, f, h); got < 0.95 {
				t.Errorf("recall %.3f", got)
			}
		})
	}
}

// recall returns the share of hits among 10 that are at least as good as the tenth of an exact search.
func recall(t *testing.T, c *cloud, f *Flat, h *HNSW) float64 {
	t.Helper()
	found, wanted := 0, 0
	for range 200 {
		query := c.around(c.centres[c.IntN(len(c.centres))], 30)
		exact := f.Search(query, dag.Seq(f.Len()), 10)
		wanted += len(exact)
		for _, hit := range h.Search(query, 10, 64) {
			if hit.Score >= exact[len(exact)-1].Score {
				found++
			}
		}
	}
	if wanted != 2_000 {
		t.Fatalf("%d hits of the exact search", wanted)
	}
	return float64(found) / float64(wanted)
}
