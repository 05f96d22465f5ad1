package bm25

import (
	"cmp"
	"slices"
)

// A nearby is a turn and its neighbours.
type nearby struct {
	run
	n        int32
	from, to int32  // the first and the last place among them
	people   []turn // nil: all turns between from and to count; otherwise, besides n, only those of persons, by place
	turns    []near // used if other turns can be between them; ascending
}

// A near is a turn, and the weight that its terms have in another turn.
type near struct {
	turn   int32
	weight int64
}

// around finds the neighbours of a turn. Turns must be given in ascending order.
func (w *nearby) around(v View, n int32, p Params) {
	w.n = n
	if !v.x.apart {
		if p.People && !v.x.turns[n].person {
			w.from, w.to, w.people = n, n, nil
			return
		}
		if w.from, w.to = v.within(&w.run, n, p.Reach); p.People {
			w.people = v.x.turns
		}
		return
	}
	w.turns = append(w.turns[:0], near{n, unit})
	v.around(n, p, func(other int32, at int) { w.turns = append(w.turns, near{other, weights[2*MaxReach-at]}) })
	slices.SortFunc(w.turns, func(a, b near) int { return cmp.Compare(a.turn, b.turn) })
}

// count returns the count of a list's term in the turn with its neighbours, in units.
func (w *nearby) count(l *list) (count int64) {
	if w.turns == nil {
		l.at = seek(l.postings, l.at, w.from)
		for _, p := range l.postings[l.at:] {
			if p.turn > w.to {
				break
			}
			if w.people == nil || w.people[p.turn].person {
				count += int64(p.count) * weights[MaxReach+w.n-p.turn]
			}
		}
		return count
	}
	for _, of := range w.turns {
		l.at = seek(l.postings, l.at, of.turn)
		if l.at < len(l.postings) && l.postings[l.at].turn == of.turn {
			count += int64(l.postings[l.at].count) * of.weight
		}
	}
	return count
}

// seek returns the index of the first posting of a turn or of a later one. The search is fastest if this is soon after at.
func seek(postings []posting, at int, turn int32) int {
	if at > 0 && postings[at-1].turn >= turn {
		at = 0
	}
	const near = 8
	for end := min(at+near, len(postings)); at < end; at++ {
		if postings[at].turn >= turn {
			return at
		}
	}
	step := near
	for at+step <= len(postings) && postings[at+step-1].turn < turn {
		at, step = at+step, 2*step
	}
	return at + placeOf(postings[at:min(at+step, len(postings))], int(turn))
}
