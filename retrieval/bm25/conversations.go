package bm25

import "slices"

// length returns that of the turns of a conversation in the view, in terms.
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

// total adds to how often the term at hand is in a conversation.
func (s *scoring) total(conversation int32, count int64) {
	if count == 0 {
		return
	}
	if s.totals[conversation].count == 0 {
		s.touched = append(s.touched, conversation)
	}
	s.totals[conversation].count += count
}

// ScoreConversations scores the conversations that have any of some terms, as if each were one text. Statistics that are given
// are taken in place of the view's own.
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
		of, count := int32(-1), int64(0)
		for _, p := range v.having(term) {
			if next := v.x.of[p.turn]; next != of {
				s.total(of, count)
				of, count = next, 0
			}
			count += int64(p.count)
		}
		s.total(of, count)
		if given == nil {
			st.With[i] = int64(len(s.touched))
		}
		weight := idf(st.Turns, st.With[i])
		for _, n := range s.touched {
			t := &s.totals[n]
			if t.norm == 0 {
				t.norm = 1 + norm(v.length(n), st.Length, st.Turns, p)
				r.Places = append(r.Places, n)
			}
			t.score += saturated(weight, t.count*unit, t.norm-1, p)
			t.count = 0
		}
		s.touched = s.touched[:0]
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
