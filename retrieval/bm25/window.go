package bm25

// A window adds what is in a turn's neighbours to the turn.
type window struct {
	v       View
	reach   int
	counts  []int64 // by turn, in units; 0 outside touched
	touched []spread
}

// A spread is how often a term is in a turn and its neighbours, in units.
type spread struct {
	turn  int32
	count int64
}

func newWindow(v View, reach int) *window {
	return &window{v: v, reach: min(reach, MaxReach), counts: make([]int64, v.cut)}
}

// neighbours calls fn with the turns of the view that are within reach of a turn, and what counts of the turn at
// each.
func (w *window) neighbours(n int32, fn func(other int32, weight int64)) {
	t := &w.v.x.turns[n]
	all := w.v.x.conversations[t.conversation].turns
	for k := 1; k <= w.reach; k++ {
		if at := int(t.place) + k; at < len(all) && all[at] < w.v.cut {
			fn(all[at], before(k))
		}
		if at := int(t.place) - k; at >= 0 {
			fn(all[at], after(k))
		}
	}
}

// spread returns the turns that have a term, or are near one that has, until reset.
func (w *window) spread(list []posting) []spread {
	add := func(n int32, count int64) {
		if w.counts[n] == 0 {
			w.touched = append(w.touched, spread{turn: n})
		}
		w.counts[n] += count
	}
	for _, p := range list {
		add(p.turn, int64(p.count)*unit)
		w.neighbours(p.turn, func(other int32, weight int64) {
			if w.v.x.turns[other].counted {
				add(other, int64(p.count)*weight)
			}
		})
	}
	for i := range w.touched {
		w.touched[i].count = w.counts[w.touched[i].turn]
	}
	return w.touched
}

func (w *window) reset() {
	for i := range w.touched {
		w.counts[w.touched[i].turn] = 0
	}
	w.touched = w.touched[:0]
}

// length returns that of a turn with its neighbours, in units.
func (w *window) length(n int32) int64 {
	v := w.v
	t := &v.x.turns[n]
	all := v.x.conversations[t.conversation].turns
	length := int64(t.length) * unit
	for k := 1; k <= w.reach; k++ {
		if at := int(t.place) + k; at < len(all) && all[at] < v.cut {
			length += int64(v.x.turns[all[at]].length) * after(k)
		}
		if at := int(t.place) - k; at >= 0 {
			length += int64(v.x.turns[all[at]].length) * before(k)
		}
	}
	return length
}

// windowed returns the sum of the lengths of all turns with their neighbours, in units.
func (v View) windowed(all sums, reach int) int64 {
	w := newWindow(v, reach)
	total := int64(0)
	for n := range v.cut {
		if v.x.turns[n].counted {
			total += w.length(n)
		}
	}
	return total
}
