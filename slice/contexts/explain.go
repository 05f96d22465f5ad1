package contexts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// A Standing is the result for a turn, a fact or a belief in the choice of a context.
type Standing string

// The standings.
const (
	Chosen      Standing = "chosen"
	Required    Standing = "required"     // it was chosen first, regardless of the budget
	TooCostly   Standing = "too_costly"   // it cost more than was left of the budget
	Worthless   Standing = "worthless"    // its score was not above 0
	NoCandidate Standing = "no_candidate" // no source found it
)

// An Explanation is the reason why a turn, a fact or a belief is in a context or not. Scores are in 10^-12.
type Explanation struct {
	Standing   Standing
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
	e := Explanation{Standing: NoCandidate, Candidates: len(b.Candidates), Candidate: b.candidate(kind, id)}
	var before []Rival
	selectWith(&b.Policy, b.Request.Budget, b.Candidates, b.Overlaps, func(d decision) {
		c := &b.Candidates[d.index]
		if c == e.Candidate {
			e.Score, e.Alike, e.Left = d.score, d.alike, d.left
			switch {
			case d.owed:
				e.Standing, e.Rank = Required, len(before)+1
			case d.fits:
				e.Standing, e.Rank = Chosen, len(before)+1
			case d.score > 0:
				e.Standing, e.Before = TooCostly, slices.Clone(before)
			default:
				e.Standing = Worthless
			}
		}
		if d.fits {
			before = append(before, Rival{c.Kind, c.ID, d.score, c.Cost})
		}
	})
	e.Chosen = len(before)
	return e
}

// Sentence returns the explanation in words. subject names the explained turn, fact or belief.
func (e *Explanation) Sentence(subject string, p *Policy) string {
	switch e.Standing {
	case Required:
		return fmt.Sprintf("%s was chosen as number %d of %d, because every context of its space has it, whatever the budget: from %s", subject, e.Rank, e.Chosen, strings.Join(e.Candidate.Names(), ", "))
	case Chosen:
		return fmt.Sprintf("%s was chosen as number %d of %d, with a score of %s: %s", subject, e.Rank, e.Chosen, decimal(e.Score), e.reasons(p))
	case TooCostly:
		if len(e.Before) == 0 {
			return fmt.Sprintf("%s was left out: it costs %d tokens, but the budget is only %d: %s", subject, e.Candidate.Cost, e.Left, e.reasons(p))
		}
		last := e.Before[len(e.Before)-1]
		return fmt.Sprintf("%s was left out: it costs %d tokens, and the %d candidates chosen before it left only %d; the last one chosen was %s %s with a score of %s, against its score of %s: %s",
			subject, e.Candidate.Cost, len(e.Before), e.Left, last.Kind, last.ID, decimal(last.Score), decimal(e.Score), e.reasons(p))
	case Worthless:
		return fmt.Sprintf("%s was left out: its score of %s is not above 0: %s", subject, decimal(e.Score), e.reasons(p))
	}
	return fmt.Sprintf("%s was no candidate: at that time no source of the policy ranked it among the best", subject)
}

// ErrNoCandidate is wrapped if no candidate matches the id of a turn.
var ErrNoCandidate = errors.New("no turn among the candidates")

// leastPrefix is the minimum number of characters that identify a turn.
const leastPrefix = 4

// Named returns the id of the turn among the candidates whose id begins with prefix, in any case.
func (b *Bundle) Named(prefix string) (id string, err error) {
	for i := range b.Candidates {
		c := &b.Candidates[i]
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
		if worth := int64(p.Weights[i]) * int64(f); worth > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", features[i], decimal(worth)))
		}
	}
	if worth := int64(p.Contested) * int64(e.Candidate.Features[FeatureContested]); worth > 0 {
		parts = append(parts, "contested -"+decimal(worth))
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

// decimal formats a score with three digits after the point.
func decimal(score int64) string {
	sign := ""
	if score < 0 {
		sign, score = "-", -score
	}
	const thousandth = 1_000_000_000
	return fmt.Sprintf("%s%d.%03d", sign, score/(1000*thousandth), score/thousandth%1000)
}
