package contexts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// An Outcome is the result for a turn, a fact or a belief in the choice of a context.
type Outcome string

// The outcomes.
const (
	Chosen      Outcome = "chosen"
	Required    Outcome = "required"     // it was chosen first, regardless of the budget
	TooCostly   Outcome = "too_costly"   // it cost more than was left of the budget
	Worthless   Outcome = "worthless"    // its score was not above 0
	NoCandidate Outcome = "no_candidate" // no source found it
)

// An Explanation is the reason why a turn, a fact or a belief is in a context or not. Scores are in 10^-12.
type Explanation struct {
	Outcome    Outcome
	Rank       int        // if it was chosen: its place in the order of the choice, from 1
	Candidate  *Candidate // nil: none
	Score      int64      // at the time of the decision
	Alike      dag.PPM    // the largest share of words that it has in common with an earlier choice
	Left       int        // tokens left of the budget before the decision
	Before     []Rival    // if it was too costly: all earlier choices, in order
	Chosen     int        // the number of choices
	Candidates int
}

// A Rival is a candidate that was chosen before another.
type Rival struct {
	Kind  Kind
	ID    string
	Score int64
	Cost  int
}

// Explain repeats the choice and returns the result for a turn, by its id, a fact, by its statement, or a belief, by
// its address. It costs a selection.
func (b *Bundle) Explain(kind Kind, id string) Explanation {
	e := Explanation{Outcome: NoCandidate, Candidates: len(b.Candidates), Candidate: b.candidate(kind, id)}
	var before []Rival
	b.decide(func(d decision) {
		c := &b.Candidates[d.index]
		if c == e.Candidate {
			e.Score, e.Alike, e.Left = d.score, d.alike, d.left
			switch {
			case d.owed && !d.fits:
				e.Outcome, e.Before = TooCostly, slices.Clone(before)
			case d.owed:
				e.Outcome, e.Rank = Required, len(before)+1
			case d.fits:
				e.Outcome, e.Rank = Chosen, len(before)+1
			case d.score > 0:
				e.Outcome, e.Before = TooCostly, slices.Clone(before)
			default:
				e.Outcome = Worthless
			}
		}
		if d.fits {
			before = append(before, Rival{c.Kind, c.ID, d.score, c.Takes()})
		}
	})
	e.Chosen = len(before)
	return e
}

// Order returns the indexes of the chosen candidates, in the order of the choice.
func (b *Bundle) Order() (chosen []int) {
	b.decide(func(d decision) {
		if d.fits {
			chosen = append(chosen, d.index)
		}
	})
	return chosen
}

// decide repeats the choice.
func (b *Bundle) decide(decided func(decision)) {
	var in room = &texts{b.Request.Budget, b.Candidates}
	if b.Request.Counted() {
		in = newPrompt(&b.Policy, &b.Request, b.Candidates, b.newLooks())
	}
	selectWith(&b.Policy, b.Request.Budget, b.Candidates, b.Overlaps, in, decided)
}

// Sentence returns the explanation in words. subject names the explained turn, fact or belief.
func (e *Explanation) Sentence(subject string, p *Policy) string {
	switch e.Outcome {
	case Required:
		return fmt.Sprintf("%s was chosen as number %d of %d, because it binds, and so every context of its space or conversation has it, whatever the budget: from %s", subject, e.Rank, e.Chosen, strings.Join(e.Candidate.Names(), ", "))
	case Chosen:
		return fmt.Sprintf("%s was chosen as number %d of %d, with a score of %s: %s", subject, e.Rank, e.Chosen, decimal(e.Score), e.reasons(p))
	case TooCostly:
		if len(e.Before) == 0 {
			return fmt.Sprintf("%s was left out: it takes %d tokens, but only %d are left of the budget: %s", subject, e.Candidate.Takes(), e.Left, e.reasons(p))
		}
		last := e.Before[len(e.Before)-1]
		return fmt.Sprintf("%s was left out: it takes %d tokens, and the %d candidates chosen before it left only %d; the last one chosen was %s %s with a score of %s, against its score of %s: %s",
			subject, e.Candidate.Takes(), len(e.Before), e.Left, last.Kind, last.ID, decimal(last.Score), decimal(e.Score), e.reasons(p))
	case Worthless:
		return fmt.Sprintf("%s was left out: its score of %s is not above 0: %s", subject, decimal(e.Score), e.reasons(p))
	}
	return fmt.Sprintf("%s was no candidate: at that time no source of the policy ranked it among the best, or a newer turn of its conversation has the same text", subject)
}

// ErrNoCandidate is wrapped if no candidate matches the id of a turn.
var ErrNoCandidate = errors.New("no turn among the candidates")

// leastPrefix is the minimum number of characters that identify a turn.
const leastPrefix = 4

// Named returns the id of the turn among the candidates whose id begins with prefix, in any case.
func (ch *Choice) Named(prefix string) (id string, err error) {
	for i := range ch.Candidates {
		c := &ch.Candidates[i]
		if c.Kind != KindTurn || len(prefix) < leastPrefix || !strings.HasPrefix(c.ID, strings.ToLower(prefix)) {
			continue
		}
		if id != "" {
			return "", fmt.Errorf("%w: %s and %s both begin with %.40q", dag.ErrForm, id, c.ID, prefix)
		}
		id = c.ID
	}
	if id == "" {
		return "", fmt.Errorf("%w begins with %.40q (at least %d characters)", ErrNoCandidate, prefix, leastPrefix)
	}
	return id, nil
}

// Names returns the names of the sources that found a candidate, ascending.
func (c *Candidate) Names() (from []string) {
	for i, is := range c.From {
		if is {
			from = append(from, sources[i])
		}
	}
	return from
}

// reasons lists the parts of the score, and the sources of the candidate.
func (e *Explanation) reasons(p *Policy) string {
	var parts []string
	for i, f := range e.Candidate.Features {
		if worth := p.worth(Feature(i), f); worth != 0 {
			parts = append(parts, fmt.Sprintf("%s %s", features[i], decimal(worth)))
		}
	}
	if p.Novelty > 0 {
		parts = append(parts, "novelty "+decimal(int64(p.Novelty)*int64(dag.One-e.Alike)))
	}
	if e.Alike >= p.Alike && p.Overlap > 0 {
		parts = append(parts, "overlap -"+decimal(int64(p.Overlap)*int64(e.Alike)))
	}
	if p.Cost > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", e.Candidate.Cost))
	}
	from := e.Candidate.Names()
	if len(from) == 0 {
		from = []string{"no source within its quota"}
	}
	return strings.Join(append(parts, "from "+strings.Join(from, ", ")), "; ")
}

// Takes returns the tokens that a candidate takes of the budget; of one that was not looked at, those of its text, which are fewer.
func (c *Candidate) Takes() int { return max(c.Cost, c.Block) }

// decimal formats a score with three digits after the point.
func decimal(score int64) string {
	sign := ""
	if score < 0 {
		sign, score = "-", -score
	}
	const thousandth = 1_000_000_000
	return fmt.Sprintf("%s%d.%03d", sign, score/(1000*thousandth), score/thousandth%1000)
}
