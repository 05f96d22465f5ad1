package vector

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Bytes of a node without its links and branches, including the slices of its lowest level, and bytes of a link.
const ofNode, ofLink = 96, 4

// Link links a batch of places, if enough wait. The Flat must not be changed meanwhile. The goroutines read the graph as it was before, and each
// writes only nodes of its own.
func (h *HNSW) Link() {
	if !h.Waits() {
		return
	}
	var fresh []int32
	for range batch {
		n := len(h.nodes)
		at := node{parent: none}
		if h.flat.Has(n) {
			at.links = make([][]int32, levelOf(h.id(int32(n)))+1)
			fresh = append(fresh, int32(n))
		}
		h.nodes = append(h.nodes, at)
	}
	h.size += batch*ofNode + len(fresh)*(linksMost+branchesMost/2)*ofLink
	h.each(len(fresh), func(i int) { h.choose(fresh[i], fresh[:i]) })
	type end struct {
		node  int32
		level int
	}
	var ends []end
	back := map[end][]int32{}
	for _, n := range fresh {
		for level, list := range h.nodes[n].links {
			for _, to := range list {
				e := end{to, level}
				if back[e] == nil {
					ends = append(ends, e)
				}
				back[e] = append(back[e], n)
			}
		}
		h.grow(n)
		if h.entry == none || h.nodes[n].level() > h.nodes[h.entry].level() {
			h.entry = n
		}
	}
	h.each(len(ends), func(i int) { h.relink(ends[i].node, ends[i].level, back[ends[i]]) })
}

// each calls fn with 0 … n-1, in any order.
func (h *HNSW) each(n int, fn func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(h.workers, n) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				fn(i)
			}
		})
	}
	group.Wait()
}

// choose picks the links of a node from the graph and from the nodes before it in its batch.
func (h *HNSW) choose(n int32, earlier []int32) {
	m := h.marks.Get().(*marks)
	defer h.marks.Put(m)
	at, v := &h.nodes[n], h.vector(n)
	beside := h.candidates(v, earlier)
	var found []candidate
	top := none
	if h.entry != none {
		found, top = h.start(v), h.nodes[h.entry].level()
	}
	for level := max(top, at.level()); level >= 0; level-- {
		if level <= top {
			width := widthBuild
			if level > at.level() {
				width = widthAbove
			}
			found = h.beam(m, v, found, level, width)
		}
		if level > at.level() {
			continue
		}
		var near []candidate
		if level <= top {
			near = slices.Clone(found)
		}
		for _, c := range beside {
			if h.nodes[c.place].level() >= level {
				near = append(near, c)
			}
		}
		slices.SortFunc(near, nearer)
		near = near[:min(len(near), widthBuild)]
		at.links[level] = h.pick(near, linksPicked)
		if level == 0 && len(near) > 0 {
			at.parent = near[0].place
		}
	}
}

// relink adds links to a node, and drops links if there are too many.
func (h *HNSW) relink(n int32, level int, more []int32) {
	at := &h.nodes[n]
	links := slices.Clone(at.links[level])
	for _, m := range more {
		if m != n && !slices.Contains(links, m) {
			links = append(links, m)
		}
	}
	most := linksAbove
	if level == 0 {
		most = linksMost
	}
	if len(links) > most {
		links = h.pick(h.candidates(h.vector(n), links), most)
	}
	at.links[level] = links
}

// grow adds a node to the tree: under its nearest node or, if that has no room, under the nearest of its children, and so on.
func (h *HNSW) grow(n int32) {
	at := &h.nodes[n]
	for at.parent != none && len(h.nodes[at.parent].children) == branchesMost {
		at.parent = h.candidates(h.vector(n), h.nodes[at.parent].children)[0].place
	}
	if at.parent != none {
		above := &h.nodes[at.parent]
		above.children = append(above.children, n)
	}
}

// Erase removes a place from the graph. The Flat must erase its vector before or after. Nodes with a link to it get its links instead.
func (h *HNSW) Erase(place int) {
	if place >= len(h.nodes) || h.nodes[place].links == nil {
		return
	}
	gone := int32(place)
	left := h.nodes[gone]
	h.nodes[gone] = node{parent: none}
	h.cut(gone, &left)
	for n := range h.nodes {
		for level, links := range h.nodes[n].links {
			if i := slices.Index(links, gone); i >= 0 {
				h.nodes[n].links[level] = slices.Delete(slices.Clone(links), i, i+1)
				h.relink(int32(n), level, left.links[level])
			}
		}
	}
	if h.entry == gone {
		h.entry = none
		for n := range h.nodes {
			if at := &h.nodes[n]; at.links != nil && (h.entry == none || at.level() > h.nodes[h.entry].level()) {
				h.entry = int32(n)
			}
		}
	}
}

// cut removes a node from the tree. Its first child takes its place, and the other children are added under that child.
func (h *HNSW) cut(gone int32, left *node) {
	if left.parent != none {
		above := &h.nodes[left.parent]
		above.children = slices.DeleteFunc(above.children, func(n int32) bool { return n == gone })
	}
	heir := left.parent
	for i, n := range left.children {
		h.nodes[n].parent = heir
		h.grow(n)
		if i == 0 {
			heir = n
		}
	}
}
