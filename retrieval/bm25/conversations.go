package bm25

import "slices"

// length returns that of the turns of a conversation in the view, in terms.
func (v View) length(conversation int32) int64 {
	all := v.x.conversations[conversation].turns
	n := len(all)
	if !v.whole() {
		n, _ = slices.BinarySearch(all, v.cut)
	}
	if n == 0 {
		return 0
	}
	last := &v.x.turns[all[n-1]]
	return last.earlier + int64(last.length)
}

// ScoreConversations scores the conversations that have any of some terms, as if each were one text.
func (v View) ScoreConversations(terms []string, p Params) *Scores {
	s := v.scoring(p)
	defer s.end()
	if need := len(v.x.conversations); len(s.totals) < need {
		s.totals = make([]total, need+need/4)
	}
	r := &Scores{}
	for _, term := range distinct(terms) {
		for _, posting := range v.having(term) {
			of := v.x.of[posting.turn]
			if s.totals[of].count == 0 {
				s.touched = append(s.touched, of)
			}
			s.totals[of].count += int64(posting.count)
		}
		weight := idf(s.sums.begun, int64(len(s.touched)))
		for _, n := range s.touched {
			t := &s.totals[n]
			if t.norm == 0 {
				t.norm = 1 + norm(v.length(n), s.sums.length, s.sums.begun, p)
				r.Places = append(r.Places, n)
			}
			t.score += saturated(weight, t.count*unit, t.norm-1, p)
			t.count = 0
		}
		s.touched = s.touched[:0]
	}
	slices.Sort(r.Places)
	for _, n := range r.Places {
		r.Of, r.Most = append(r.Of, s.totals[n].score), max(r.Most, s.totals[n].score)
		s.totals[n] = total{}
	}
	return r
}
