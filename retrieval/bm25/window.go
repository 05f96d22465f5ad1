package bm25

// unit is the weight of an occurrence of a term in the turn itself. In a neighbour at distance k it has 1/2 or 3/8 of 2^-(k-1) of this weight.
const unit = 8 << MaxReach

// before and after return the weight of a neighbour that is k turns before or after.
func before(k int) int64 { return unit >> k }
func after(k int) int64  { return unit * 3 / 4 >> k }

// weights contains the weight of a term's occurrence for the turns from MaxReach before to MaxReach after its turn.
var weights = func() (w [2*MaxReach + 1]int64) {
	w[MaxReach] = unit
	for k := 1; k <= MaxReach; k++ {
		w[MaxReach-k], w[MaxReach+k] = after(k), before(k)
	}
	return w
}()

// A window has the length of a turn together with its neighbours, in units: with all of them, and only with those of persons if a person wrote the turn.
// Both are -1 if the turn does not count.
type window struct{ all, people int64 }

// with returns the length with the neighbours that count.
func (w window) with(p Params) int64 {
	if p.People {
		return w.people
	}
	return w.all
}

// neighbours reports whether two turns of a conversation are neighbours if they are near enough.
func (p Params) neighbours(a, b *turn) bool { return !p.People || a.person && b.person }

// join makes the last turn of a conversation a neighbour of the turns before it.
func (x *layout) join(n int32) {
	t := &x.turns[n]
	all := x.conversations[x.of[n]].turns
	own := int64(t.length) * unit
	w := window{own, own}
	for k := 1; k <= x.reach && k <= int(t.place); k++ {
		at := all[int(t.place)-k]
		other := &x.turns[at]
		x.widen(at, t, int64(t.length)*after(k))
		w.all += int64(other.length) * before(k)
		if t.person && other.person {
			w.people += int64(other.length) * before(k)
		}
	}
	if !t.counted {
		w = window{-1, -1}
	}
	x.windows = append(x.windows, w)
}

// widen adds length to the window of a turn that counts, for a neighbour.
func (x *layout) widen(n int32, neighbour *turn, length int64) {
	if w := &x.windows[n]; w.all >= 0 {
		w.all += length
		if neighbour.person && x.turns[n].person {
			w.people += length
		}
	}
}

// part removes the length of a turn from the windows of its neighbours, and its own window.
func (x *layout) part(n int32) {
	t := &x.turns[n]
	all := x.conversations[x.of[n]].turns
	for k := 1; k <= x.reach; k++ {
		if at := int(t.place) - k; at >= 0 {
			x.widen(all[at], t, -int64(t.length)*after(k))
		}
		if at := int(t.place) + k; at < len(all) {
			x.widen(all[at], t, -int64(t.length)*before(k))
		}
	}
	x.windows[n] = window{-1, -1}
}

// brought returns the length that a turn adds to the sum of the windows of the turns up to it: its own length, those of its neighbours
// before it in its window, and its own in their windows.
func (x *layout) brought(n int32, p Params) (length int64) {
	t := &x.turns[n]
	all := x.conversations[x.of[n]].turns
	if t.counted {
		length = int64(t.length) * unit
	}
	for k := 1; k <= p.Reach && k <= int(t.place); k++ {
		other := &x.turns[all[int(t.place)-k]]
		if !p.neighbours(t, other) {
			continue
		}
		if t.counted {
			length += int64(other.length) * before(k)
		}
		if other.counted {
			length += int64(t.length) * after(k)
		}
	}
	return length
}

// windowed returns the sum of the lengths of the turns with their neighbours, in units.
func (v View) windowed(p Params) (length int64) {
	if p.Reach == v.x.reach {
		return v.counted().window.with(p)
	}
	for n := range v.cut {
		length += v.x.brought(n, p)
	}
	return length
}

// window returns the length of a turn with its neighbours in the view, in units; -1 if the turn does not count.
func (v View) window(n int32, p Params) int64 {
	length := v.x.windows[n].with(p)
	if length < 0 || p.Reach == v.x.reach && v.whole() {
		return length
	}
	t := &v.x.turns[n]
	length = int64(t.length) * unit
	v.around(n, p, func(other int32, at int) { length += int64(v.x.turns[other].length) * weights[2*MaxReach-at] })
	return length
}

// A run is the range of a conversation's turns in an index in which these are adjacent.
type run struct{ from, to int32 } // to is exclusive

// within returns the first and the last place among a turn and its neighbours in the view. r must be the run of an earlier turn, and becomes
// the run of this turn.
func (v View) within(r *run, n int32, reach int) (from, to int32) {
	if n >= r.to {
		c := &v.x.conversations[v.x.of[n]]
		*r = run{c.begin, min(c.begin+int32(len(c.turns)), v.cut)}
	}
	return max(n-int32(reach), r.from), min(n+int32(reach), r.to-1)
}

// around calls fn with each neighbour of a turn in the view, and with the index in weights of the weight that a term of the turn has in it.
func (v View) around(n int32, p Params, fn func(other int32, at int)) {
	t := &v.x.turns[n]
	if p.People && !t.person {
		return
	}
	all := v.x.conversations[v.x.of[n]].turns
	for k := 1; k <= p.Reach; k++ {
		if at := int(t.place) + k; at < len(all) && all[at] < v.cut && p.neighbours(t, &v.x.turns[all[at]]) {
			fn(all[at], MaxReach+k)
		}
		if at := int(t.place) - k; at >= 0 && p.neighbours(t, &v.x.turns[all[at]]) {
			fn(all[at], MaxReach-k)
		}
	}
}
