package bm25

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A lexicon has the terms of turns, and the turns with each term.
type lexicon struct {
	terms    map[string]int32
	names    []string     // by term
	lists    []*someLists // by term
	runs     []*Run       // ascending
	lazy     sync.RWMutex // guards terms, lists and runs while the index is read
	unpacked atomic.Int64 // bytes unpacked from runs
	forward  []int32      // the numbers of the distinct terms of each turn that is in no run, ascending, one turn after the other
}

// A termList contains the turns with a term.
type termList struct {
	postings []posting // ascending; without those of runs that have not been unpacked for the term
	read     atomic.Pointer[reading]
}

// A reading describes a list at the time when it was last read. It is immutable.
type reading struct {
	runs   int     // number of the index's runs whose postings are in the list
	of     int     // number of postings
	peak   int32   // greatest count of the term in a turn
	shares []share // the conversations with the term, ascending
}

// someLists is a block of lists. A block stays where it is when more are added.
type someLists [1 << 10]termList

// listOf returns the list of the term with a number.
func (x *lexicon) listOf(id int32) *termList {
	return &x.lists[id/int32(len(someLists{}))][id%int32(len(someLists{}))]
}

// A posting says how often a term occurs in a turn.
type posting struct{ turn, count int32 }

// Bytes of an unpacked posting in a list, and of an unpacked term of a turn.
const sizeOfPosting, sizeOfTerm = 8, 4

// Unpacked returns the number of bytes that the index has unpacked from its runs.
func (x *lexicon) Unpacked() int { return int(x.unpacked.Load()) }

// A share says how often a term occurs in a conversation.
type share struct {
	conversation int32
	count        int64
}

// list returns the postings of a term and a reading of them; nil if no turn has the term. They must not be changed.
func (x *lexicon) list(name string, of conversationsOf) ([]posting, *reading) {
	if len(x.runs) == 0 {
		if id, ok := x.terms[name]; ok {
			return x.complete(id, of)
		}
		return nil, nil
	}
	x.lazy.RLock()
	id, ok := x.terms[name]
	if ok {
		l := x.listOf(id)
		if r := l.read.Load(); x.current(l, r) {
			x.lazy.RUnlock()
			return l.postings, r
		}
	}
	x.lazy.RUnlock()
	x.lazy.Lock()
	defer x.lazy.Unlock()
	if !ok {
		if !has(x.runs, name) {
			return nil, nil
		}
		id = x.idOf(name)
	}
	return x.complete(id, of)
}

// current reports whether a reading includes all postings of a list.
func (x *lexicon) current(l *termList, r *reading) bool {
	return r != nil && r.runs == len(x.runs) && r.of == len(l.postings)
}

// complete returns the postings of the term with a number, and a reading of them. It unpacks postings of runs if necessary; if the index
// has runs, the caller must hold lazy.
func (x *lexicon) complete(id int32, of conversationsOf) ([]posting, *reading) {
	l := x.listOf(id)
	last := l.read.Load()
	if x.current(l, last) {
		return l.postings, last
	}
	r := &reading{runs: len(x.runs), peak: 1}
	if last == nil {
		last = &reading{}
	}
	if last.runs < r.runs {
		all := l.postings
		for _, run := range x.runs[last.runs:] {
			if i, ok := run.find(x.names[id]); ok {
				all = run.appendPostings(all, i)
			}
		}
		if byTurn := func(a, b posting) int { return cmp.Compare(a.turn, b.turn) }; !slices.IsSortedFunc(all, byTurn) { // other turns were added between runs
			slices.SortFunc(all, byTurn)
		}
		x.unpacked.Add(int64(sizeOfPosting * (len(all) - len(l.postings))))
		l.postings = slices.Clip(all)
	}
	r.of, r.shares = len(l.postings), of.shared(nil, l.postings)
	for _, p := range l.postings {
		r.peak = max(r.peak, p.count)
	}
	l.read.Store(r)
	return l.postings, r
}

// widest returns an upper bound of the term's count in a turn with its neighbours, in units.
func (r *reading) widest(reach int) int64 {
	weight := int64(0)
	for _, w := range weights[MaxReach-reach : MaxReach+reach+1] {
		weight += w
	}
	return weight * int64(r.peak)
}

// shared appends the shares of the conversations of some postings. None of these conversations may be in the list already.
func (of conversationsOf) shared(list []share, postings []posting) []share {
	begin := len(list)
	for _, p := range postings {
		c := of[p.turn]
		if last := len(list) - 1; last >= begin && list[last].conversation == c {
			list[last].count += int64(p.count)
		} else {
			list = append(list, share{c, int64(p.count)})
		}
	}
	some := list[begin:]
	slices.SortFunc(some, func(a, b share) int { return cmp.Compare(a.conversation, b.conversation) })
	kept := list[:begin]
	for _, next := range some {
		if last := len(kept) - 1; last >= begin && kept[last].conversation == next.conversation {
			kept[last].count += next.count
		} else {
			kept = append(kept, next)
		}
	}
	return kept
}

// idOf returns the number of a term. A new term gets a number.
func (x *lexicon) idOf(name string) int32 {
	id, ok := x.terms[name]
	if !ok {
		name = strings.Clone(name) // because it may be part of a run's names
		id = int32(len(x.names))
		x.terms[name], x.names = id, append(x.names, name)
		if int(id)%len(someLists{}) == 0 {
			x.lists = append(x.lists, &someLists{})
		}
	}
	return id
}

// post counts an occurrence of a term in the last turn.
func (x *lexicon) post(n int32, term *Term) {
	if term.id == 0 {
		term.id = x.idOf(term.text) + 1
	}
	id := term.id - 1
	l := x.listOf(id)
	last := len(l.postings) - 1
	if last < 0 || l.postings[last].turn != n {
		l.postings = append(l.postings, posting{turn: n})
		x.forward = append(x.forward, id)
		last++
	}
	l.postings[last].count++
}

// unpost removes a turn from the unpacked postings of a term, and removes the term from the index if no other turn has it.
func (x *lexicon) unpost(n, id int32) {
	l, runs := x.listOf(id), 0
	if r := l.read.Load(); r != nil {
		runs = r.runs
	}
	if at := placeOf(l.postings, int(n)); at < len(l.postings) && l.postings[at].turn == n {
		l.postings = slices.Delete(l.postings, at, at+1)
		l.read.Store(&reading{runs: runs, of: -1})
	}
	if len(l.postings) == 0 && !has(x.runs[runs:], x.names[id]) {
		delete(x.terms, x.names[id])
		x.names[id], l.postings = "", nil
	}
}

// has reports whether one of some runs contains a term.
func has(runs []*Run, name string) bool {
	return slices.ContainsFunc(runs, func(r *Run) bool { _, ok := r.find(name); return ok })
}
