package bm25

import (
	"cmp"
	"slices"
	"strings"
)

// A termList is the turns that have a term.
type termList struct {
	name     string
	postings []posting // ascending; those of the runs after the first few are not among them
	runs     int       // so many of the index's runs are
	peak     int32     // no turn has it more often
	shares   []share   // the conversations that have it, ascending
}

// A posting says how often a term is in a turn.
type posting struct{ turn, count int32 }

// A share says how often a term is in a conversation.
type share struct {
	conversation int32
	count        int64
}

// list returns the list of a term, nil if no turn has it. It must not be changed.
func (x *Index) list(name string) *termList {
	if len(x.runs) == 0 {
		if id, ok := x.terms[name]; ok {
			return x.lists[id]
		}
		return nil
	}
	if l := x.read(name); l != nil {
		return l
	}
	x.lazy.Lock()
	defer x.lazy.Unlock()
	id, ok := x.terms[name]
	if !ok {
		if !slices.ContainsFunc(x.runs, func(r *Run) bool { _, ok := r.find(name); return ok }) {
			return nil
		}
		id = x.idOf(name)
	}
	x.complete(x.lists[id])
	return x.lists[id]
}

// read returns the list of a term if it was read from the runs.
func (x *Index) read(name string) *termList {
	x.lazy.RLock()
	defer x.lazy.RUnlock()
	if id, ok := x.terms[name]; ok && x.lists[id].runs == len(x.runs) {
		return x.lists[id]
	}
	return nil
}

// complete reads the postings of a term that runs have.
func (x *Index) complete(l *termList) {
	if l.runs == len(x.runs) {
		return
	}
	all := l.postings
	for _, r := range x.runs[l.runs:] {
		if i, ok := r.find(l.name); ok {
			all = r.appendPostings(all, i)
		}
	}
	if byTurn := func(a, b posting) int { return cmp.Compare(a.turn, b.turn) }; !slices.IsSortedFunc(all, byTurn) { // other turns came between runs
		slices.SortFunc(all, byTurn)
	}
	l.postings, l.runs, l.shares = slices.Clip(all), len(x.runs), nil
	l.raise()
	for n := 0; n < len(all); {
		of, count := x.of[all[n].turn], int64(0)
		for ; n < len(all) && x.of[all[n].turn] == of; n++ {
			count += int64(all[n].count)
		}
		l.share(of, count)
	}
}

// raise finds out the peak.
func (l *termList) raise() {
	l.peak = 1
	for _, p := range l.postings {
		l.peak = max(l.peak, p.count)
	}
}

// widest returns a count of the term, in units, that it exceeds in no turn with its neighbours.
func (l *termList) widest(reach int) int64 {
	weight := int64(0)
	for _, w := range weights[MaxReach-reach : MaxReach+reach+1] {
		weight += w
	}
	return weight * int64(l.peak)
}

// share adds to how often a conversation has the term.
func (l *termList) share(conversation int32, count int64) {
	at := len(l.shares) - 1
	if at < 0 || l.shares[at].conversation != conversation {
		var ok bool
		at, ok = slices.BinarySearchFunc(l.shares, conversation, func(s share, conversation int32) int { return cmp.Compare(s.conversation, conversation) })
		if !ok {
			l.shares = slices.Insert(l.shares, at, share{conversation: conversation})
		}
	}
	if l.shares[at].count += count; l.shares[at].count == 0 {
		l.shares = slices.Delete(l.shares, at, at+1)
	}
}

// idOf returns the number of a term, which it has from then on.
func (x *Index) idOf(name string) int32 {
	id, ok := x.terms[name]
	if !ok {
		name = strings.Clone(name) // which may be a part of a run's names
		id = int32(len(x.lists))
		x.terms[name], x.lists = id, append(x.lists, &termList{name: name, peak: 1})
	}
	return id
}

// post counts a term of the last turn.
func (x *Index) post(n int32, term *Term) {
	if term.id == 0 {
		term.id = x.idOf(term.text) + 1
	}
	id := term.id - 1
	l := x.lists[id]
	last := len(l.postings) - 1
	if last < 0 || l.postings[last].turn != n {
		l.postings = append(l.postings, posting{turn: n})
		x.forward = append(x.forward, id)
		last++
	}
	l.postings[last].count++
	l.peak = max(l.peak, l.postings[last].count)
	l.share(x.of[n], 1)
}

// unpost takes a turn out of the postings of a term, and the term out of the index if no other turn has it.
func (x *Index) unpost(n, id int32) {
	l := x.lists[id]
	x.complete(l)
	at, ok := slices.BinarySearchFunc(l.postings, n, func(p posting, n int32) int { return int(p.turn) - int(n) })
	if !ok {
		return
	}
	l.share(x.of[n], -int64(l.postings[at].count))
	l.postings = slices.Delete(l.postings, at, at+1)
	l.raise()
	if len(l.postings) == 0 {
		delete(x.terms, l.name)
		*l = termList{runs: l.runs}
	}
}
