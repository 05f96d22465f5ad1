package bm25

import (
	"cmp"
	"slices"
)

// length returns the length of a conversation's turns in the view, in terms.
func (v View) length(conversation int32) int64 {
	if v.whole() {
		return v.x.conversations[conversation].length
	}
	all := v.x.conversations[conversation].turns
	n, _ := slices.BinarySearch(all, v.cut)
	if n == 0 {
		return 0
	}
	last := &v.x.turns[all[n-1]]
	return last.earlier + int64(last.length)
}

// shares returns the conversations with a term in the view, ascending. The result is valid until the next call.
func (s *scoring) shares(term string) []share {
	x := s.v.x
	postings, r := s.v.having(term)
	if len(postings) == 0 {
		return nil
	}
	if len(postings) == r.of {
		return r.shares
	}
	s.shared = s.shared[:0]
	if !x.apart { // all conversations before the one in which the view ends are complete
		list, of := r.shares, x.of[s.v.cut-1]
		n, _ := slices.BinarySearchFunc(list, of, func(s share, of int32) int { return cmp.Compare(s.conversation, of) })
		s.shared = append(s.shared, list[:n]...)
		postings = postings[placeOf(postings, int(x.conversations[of].begin)):]
	}
	s.shared = x.of.shared(s.shared, postings)
	return s.shared
}

// ScoreConversations scores the conversations with any of some terms, as if each were one text. If given is not nil, it is used
// instead of the view's own statistics.
func (v View) ScoreConversations(terms []string, p Params, given *Statistics) *Scores {
	terms = distinct(terms)
	st := given
	if st == nil {
		sums := v.counted()
		st = &Statistics{Turns: sums.begun, Length: sums.length, With: make([]int64, len(terms))}
	}
	s := v.scoring(p, st)
	defer s.end()
	if need := len(v.x.conversations); len(s.totals) < need {
		s.totals = make([]total, need+need/4)
	}
	r := &Scores{}
	for i, term := range terms {
		shares := s.shares(term)
		if given == nil {
			st.With[i] = int64(len(shares))
		}
		weight := idf(st.Turns, st.With[i])
		for _, of := range shares {
			t := &s.totals[of.conversation]
			if t.norm == 0 {
				t.norm = 1 + norm(v.length(of.conversation), st.Length, st.Turns, p)
				r.Places = append(r.Places, of.conversation)
			}
			t.score += saturated(weight, of.count*unit, t.norm-1, p)
		}
	}
	all := len(v.x.conversations)
	if len(r.Places)*sparse > all {
		r.Places, r.dense = r.Places[:0], make([]int64, all)
		for n := range s.totals[:all] {
			if s.totals[n].norm != 0 {
				r.Places, r.dense[n] = append(r.Places, int32(n)), s.totals[n].score
			}
		}
	} else {
		slices.Sort(r.Places)
	}
	r.Of = make([]int64, len(r.Places))
	for i, n := range r.Places {
		r.Of[i], r.Most = s.totals[n].score, max(r.Most, s.totals[n].score)
		s.totals[n] = total{}
	}
	most := r.Most
	if r.Statistics = *st; given == nil {
		r.Most = most
	}
	return r
}
