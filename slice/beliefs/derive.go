package beliefs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// ErrNotDerived is returned if the requested statement does not follow from the given elements.
var ErrNotDerived = errors.New("the statement does not follow from these beliefs")

// New makes a bundle, not yet sealed, from elements, in any order, from which the question's literal follows. leaves
// contains the leaf hash of every turn on which they rest. The elements that remain once the literal follows are left
// out.
func New(q Question, registered policy.Registered, asOf dag.Seq, support []journal.Part, leaves map[dag.TurnID]dag.Digest) (*Bundle, error) {
	p, err := kinds.Of(registered)
	if err != nil {
		return nil, err
	}
	b := &Bundle{AsOf: asOf, Policy: p, Question: q}
	order, err := b.derive(support)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, part := range order {
		if ref := part.Revision.Address().String(); at[ref] == 0 {
			b.Revisions = append(b.Revisions, *part.Revision)
			at[ref] = len(b.Revisions)
		}
	}
	slices.SortFunc(b.Revisions, byAddress)
	for i := range b.Revisions {
		at[b.Revisions[i].Address().String()] = i
	}
	for _, part := range order {
		b.Steps = append(b.Steps, Step{at[part.Revision.Address().String()], part.At})
	}
	for _, turn := range b.named() {
		leaf, ok := leaves[turn]
		if !ok {
			return nil, fmt.Errorf("beliefs: turn %s, which a belief rests on, is not known", turn)
		}
		b.Evidence = append(b.Evidence, Turn{turn, leaf})
	}
	b.Provenance = slice.Provenance{PolicyID: registered.ID()}
	b.Provenance = b.fingerprint()
	return b, nil
}

func byAddress(x, y journal.Revision) int {
	return cmp.Compare(x.Address().String(), y.Address().String())
}

// derive orders elements so that each follows from those before it, and the question's literal from the last.
func (b *Bundle) derive(support []journal.Part) (order []journal.Part, err error) {
	left := slices.Clone(support)
	slices.SortFunc(left, func(x, y journal.Part) int {
		return cmp.Or(byAddress(*x.Revision, *y.Revision), cmp.Compare(x.At, y.At))
	})
	d := derivation{constraints: b.Policy.Constraints(), span: b.Question.span()}
	for {
		at := slices.IndexFunc(left, func(p journal.Part) bool { return d.follows(p.Stated()) })
		if at < 0 {
			return nil, fmt.Errorf("%w: %s", ErrNotDerived, b.Question.Literal)
		}
		part := left[at]
		left = slices.Delete(left, at, at+1)
		d.take(part.Stated())
		order = append(order, part)
		if d.constraints.Entails(part.Stated().Literal, b.Question.Literal) {
			return order, nil
		}
	}
}

// span returns the time span in which a derivation must hold at some instant.
func (q *Question) span() belief.Span {
	if q.ValidAt == nil {
		return belief.Always
	}
	return belief.Span{From: *q.ValidAt, Until: *q.ValidAt + 1}
}

// A derivation is a sequence of steps.
type derivation struct {
	constraints *belief.Constraints
	literals    []belief.Literal
	span        belief.Span // the time in which all of them hold
}

// follows reports whether a statement can be the next step: all its premises follow from the steps, and there is a time
// at which it and the steps hold.
func (d *derivation) follows(s *journal.Stated) bool {
	for _, premise := range s.Premises {
		if !slices.ContainsFunc(d.literals, func(l belief.Literal) bool { return d.constraints.Entails(l, premise) }) {
			return false
		}
	}
	return d.span.Overlaps(s.Span)
}

func (d *derivation) take(s *journal.Stated) {
	d.literals = append(d.literals, s.Literal)
	d.span = belief.Span{From: max(d.span.From, s.Span.From), Until: min(d.span.Until, s.Span.Until)}
}

// named returns the turns on which the statements of the steps rest, ascending, without repetitions.
func (b *Bundle) named() (turns []dag.TurnID) {
	for _, s := range b.Steps {
		turns = append(turns, b.Revisions[s.Revision].Statements[s.Statement].Turns...)
	}
	slices.SortFunc(turns, dag.TurnID.Compare)
	return slices.Compact(turns)
}
