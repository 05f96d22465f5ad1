package store

// smallestOnCycle returns the turn with the smallest id among those that are their own ancestors. There must be one. Turns
// that merely descend from a cycle, or lead into one, do not count: an error about them would send people to the wrong line.
//
// It is Tarjan's algorithm with an explicit stack, since a batch can contain a chain of any length.
func smallestOnCycle(turns []*candidate, children [][]int) int {
	t := tarjan{children: children, number: make([]int, len(turns)), low: make([]int, len(turns)), open: make([]bool, len(turns))}
	best := -1
	for i := range turns {
		if t.number[i] != 0 {
			continue
		}
		t.visit(i, func(component []int) {
			for _, n := range component {
				if best < 0 || turns[n].Turn.ID.Compare(turns[best].Turn.ID) < 0 {
					best = n
				}
			}
		})
	}
	if best < 0 {
		panic("store: turns wait for each other without a cycle")
	}
	return best
}

type tarjan struct {
	children [][]int
	number   []int // order of discovery, from 1; 0: not seen
	low      []int // the smallest number reachable by one edge back
	open     []bool
	stack    []int // nodes whose component is not complete
	last     int
}

type frame struct{ node, next int }

func (t *tarjan) enter(n int) frame {
	t.last++
	t.number[n], t.low[n], t.open[n] = t.last, t.last, true
	t.stack = append(t.stack, n)
	return frame{node: n}
}

// visit walks everything below root, and calls cycle with each component that contains a cycle.
func (t *tarjan) visit(root int, cycle func([]int)) {
	frames := []frame{t.enter(root)}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		n := f.node
		if f.next < len(t.children[n]) {
			child := t.children[n][f.next]
			f.next++
			if t.number[child] == 0 {
				frames = append(frames, t.enter(child))
			} else if t.open[child] {
				t.low[n] = min(t.low[n], t.number[child])
			}
			continue
		}
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			above := frames[len(frames)-1].node
			t.low[above] = min(t.low[above], t.low[n])
		}
		if t.low[n] == t.number[n] {
			t.close(n, cycle)
		}
	}
}

func (t *tarjan) close(n int, cycle func([]int)) {
	at := len(t.stack) - 1
	for t.stack[at] != n {
		at--
	}
	component := t.stack[at:]
	t.stack = t.stack[:at]
	loop := len(component) > 1
	for _, m := range component {
		t.open[m] = false
	}
	for _, child := range t.children[n] {
		loop = loop || child == n
	}
	if loop {
		cycle(component)
	}
}
