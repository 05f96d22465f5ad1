package contexts

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// An Overlap is the share of words that two candidates have in common, in ppm. First and Second are their indexes.
// Package overlap computes overlaps.
type Overlap struct {
	First, Second int // First < Second
	Share         dag.PPM
}

// Select chooses candidates. The mandatory ones come first, in their order, even if they exceed the budget, see [Owed];
// then the best first, each if its score is above 0 and its cost fits into the rest of the budget. The score of a
// candidate depends on the choices before it and is recomputed after each choice. Of equal scores the earlier candidate
// comes first. Select returns the indexes of the choices in their order.
//
// Scores only fall as more is chosen, so a candidate whose score is up to date and the highest is the best (lazy
// greedy, Minoux 1978). The cost is O(n log n) steps plus one step for each overlap.
func Select(p *Policy, budget int, candidates []Candidate, overlaps []Overlap) (chosen []int) {
	selectWith(p, budget, candidates, overlaps, &texts{budget, candidates}, func(d decision) {
		if d.fits {
			chosen = append(chosen, d.index)
		}
	})
	return chosen
}

// Blocks measures candidates for [Choose].
type Blocks interface {
	// Block returns the tokens that a candidate adds to the prompt, after those that were taken.
	Block(i int) (int, error)
	// Take takes a candidate into the prompt.
	Take(i int)
}

// Choose selects candidates for a prompt of gkc/2. It is like [Select], but the cost of a candidate is its block, and the cost of the frame is taken from the
// budget first, and if the policy limits the tokens of constraints, those that do not fit are not chosen. Choose asks for the block of a candidate only if its score is above 0 and the cost of its text fits into the rest of the budget; to the text of a
// turn it adds turnMarkup. If the mandatory candidates exceed the budget, the error is an *OwedError.
func Choose(p *Policy, r *Request, candidates []Candidate, overlaps []Overlap, blocks Blocks) (chosen []int, err error) {
	in := newPrompt(p, r, candidates, blocks)
	selectWith(p, r.Budget, candidates, overlaps, in, func(d decision) {
		if d.fits {
			chosen = append(chosen, d.index)
		}
	})
	if in.err == nil && in.left < 0 {
		in.err = &OwedError{Need: r.Budget - in.left, Budget: r.Budget}
	}
	return chosen, in.err
}

// turnMarkup is a lower bound of the cost of a turn's markup in tokens, in any format.
const turnMarkup = 8

// An OwedError says that the frame and the mandatory candidates of a prompt exceed its budget. It wraps ErrRequest.
type OwedError struct{ Need, Budget int }

func (e *OwedError) Error() string {
	return fmt.Sprintf("what every context includes, the note, the rules and the constraints, takes %d tokens, and the budget is %d", e.Need, e.Budget)
}

// Unwrap returns ErrRequest.
func (*OwedError) Unwrap() error { return ErrRequest }

// A room is the rest of a budget during a selection.
type room interface {
	// rest returns the tokens that are left for a mandatory candidate, or for any other.
	rest(owed bool) int
	// place takes the cost of a candidate from the budget if it fits, and reports whether it does. A mandatory candidate always fits, unless the policy limits the tokens
	// of constraints.
	place(i int, owed bool) bool
	// over reports whether the selection must end because of an error.
	over() bool
}

// texts is the room of gkc/1, in which a candidate costs its text.
type texts struct {
	left       int
	candidates []Candidate
}

func (t *texts) rest(bool) int { return t.left }

func (t *texts) place(i int, owed bool) bool {
	if cost := t.candidates[i].Cost; owed || cost <= t.left {
		t.left -= cost
		return true
	}
	return false
}

func (*texts) over() bool { return false }

// A prompt is the room of gkc/2.
type prompt struct {
	left       int
	rules      int  // left for constraints
	limited    bool // constraints are left out if they do not fit
	others     int  // left for other candidates
	candidates []Candidate
	blocks     Blocks
	err        error
}

func newPrompt(p *Policy, r *Request, candidates []Candidate, blocks Blocks) *prompt {
	left := r.Budget - NewLayout(r, p).Frame()
	in := &prompt{left: left, rules: p.Sections.Rules, limited: p.Sections.Rules > 0, others: p.Sections.Others, candidates: candidates, blocks: blocks}
	if in.others == 0 {
		in.others = left
	}
	return in
}

func (p *prompt) rest(owed bool) int {
	switch {
	case !owed:
		return min(p.left, p.others)
	case p.limited:
		return min(p.left, p.rules)
	}
	return p.left
}

func (p *prompt) place(i int, owed bool) bool {
	least := p.candidates[i].Cost
	if p.candidates[i].Kind == KindTurn {
		least += turnMarkup
	}
	most := p.rest(owed)
	if least > most && !owed {
		return false
	}
	block, err := p.blocks.Block(i)
	if err != nil {
		p.err = err
		return false
	}
	if always := owed && !p.limited; block > most && !always {
		return false
	}
	p.blocks.Take(i)
	p.left -= block
	if owed {
		p.rules -= block
	} else {
		p.others -= block
	}
	return true
}

func (p *prompt) over() bool { return p.err != nil }

// Owed returns the cost of the mandatory candidates in tokens. A context with a smaller budget is not valid.
func Owed(candidates []Candidate) (tokens int) {
	for i := range candidates {
		if candidates[i].Mandatory() {
			tokens += candidates[i].Cost
		}
	}
	return tokens
}

// A decision is the result for one candidate.
type decision struct {
	index int
	score int64
	alike dag.PPM // the largest share of words that it has in common with an earlier choice
	left  int     // tokens left of the budget before the decision
	fits  bool    // it was chosen
	owed  bool    // it was chosen because it is mandatory
}

// selectWith is Select, but calls decided for each candidate, including those whose score is not above 0.
func selectWith(p *Policy, budget int, candidates []Candidate, overlaps []Overlap, in room, decided func(decision)) {
	s := &selection{policy: p, budget: budget, candidates: candidates, alike: map[int][]Overlap{}, most: make([]dag.PPM, len(candidates))}
	for _, o := range overlaps {
		s.alike[o.First] = append(s.alike[o.First], o)
		s.alike[o.Second] = append(s.alike[o.Second], Overlap{First: o.Second, Second: o.First, Share: o.Share})
	}
	take := func(i int) {
		for _, o := range s.alike[i] {
			s.most[o.Second] = max(s.most[o.Second], o.Share)
		}
	}
	for _, i := range mandatoryOf(p, candidates) {
		if in.over() {
			break
		}
		d := decision{i, s.score(i), s.most[i], in.rest(true), true, true}
		if d.fits = in.place(i, true); d.fits {
			take(i)
		}
		if !in.over() {
			decided(d)
		}
	}
	for i := range candidates {
		if !candidates[i].Mandatory() {
			s.queue = append(s.queue, waiting{i, s.score(i)})
		}
	}
	heap.Init(s)
	for len(s.queue) > 0 && !in.over() {
		next := s.queue[0]
		if now := s.score(next.index); now != next.score {
			s.queue[0].score = now
			heap.Fix(s, 0)
			continue
		}
		heap.Pop(s)
		left := in.rest(false)
		fits := next.score > 0 && in.place(next.index, false)
		decided(decision{next.index, next.score, s.most[next.index], left, fits, false})
		if fits {
			take(next.index)
		}
	}
}

// mandatoryOf returns the indexes of the mandatory candidates: in their order, or, if the policy limits the tokens of constraints, by descending standing and then by
// ascending number, so that what an owner said first is left out last.
func mandatoryOf(p *Policy, candidates []Candidate) (all []int) {
	for i := range candidates {
		if candidates[i].Mandatory() {
			all = append(all, i)
		}
	}
	if p.Sections.Rules > 0 {
		slices.SortStableFunc(all, func(i, j int) int {
			return cmp.Or(cmp.Compare(candidates[j].Standing, candidates[i].Standing), cmp.Compare(candidates[i].Seq, candidates[j].Seq))
		})
	}
	return all
}

// A selection is a heap of the candidates that are not decided yet, the best first.
type selection struct {
	policy     *Policy
	budget     int
	candidates []Candidate
	alike      map[int][]Overlap
	most       []dag.PPM // by candidate: the largest share of words that it has in common with a choice
	queue      []waiting
}

type waiting struct {
	index int
	score int64
}

// score returns the current score of a candidate, in 10^-12.
func (s *selection) score(i int) int64 {
	return s.policy.Score(&s.candidates[i], s.budget, s.most[i])
}

// Score returns the score of a candidate, in 10^-12: its weighted features less the penalties. alike is the largest
// share of words that it has in common with a choice.
func (p *Policy) Score(c *Candidate, budget int, alike dag.PPM) int64 {
	score := int64(0)
	for i, f := range c.Features {
		score += p.worth(Feature(i), f)
	}
	score += int64(p.Novelty) * int64(dag.One-alike)
	if alike >= p.Alike {
		score -= int64(p.Overlap) * int64(alike)
	}
	share := min(int64(c.Cost)*int64(dag.One)/int64(budget), int64(dag.One)) // a candidate above the budget is never chosen
	return score - int64(p.Cost)*share
}

// worth returns what a feature adds to a score, in 10^-12; it is negative if the feature lowers the score.
func (p *Policy) worth(f Feature, v dag.PPM) int64 {
	worth := int64(p.Weights[f]) * int64(v)
	if f.lowers() {
		return -worth
	}
	return worth
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (s *selection) Len() int { return len(s.queue) }
func (s *selection) Less(i, j int) bool {
	a, b := s.queue[i], s.queue[j]
	return a.score > b.score || a.score == b.score && a.index < b.index
}
func (s *selection) Swap(i, j int) { s.queue[i], s.queue[j] = s.queue[j], s.queue[i] }
func (s *selection) Push(x any)    { s.queue = append(s.queue, x.(waiting)) }
func (s *selection) Pop() any {
	last := s.queue[len(s.queue)-1]
	s.queue = s.queue[:len(s.queue)-1]
	return last
}
