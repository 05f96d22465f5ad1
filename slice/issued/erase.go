package issued

import (
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// ErrErasedSince is wrapped when a bundle cannot be made again because some of its text
// was erased after it was issued. Anyone who holds the bundle can have it attested.
var ErrErasedSince = errors.New("a text was erased since that is in it, or was counted when it was chosen")

// An ErasedError says that texts were erased while evidence was made of them. It wraps ErrErasedSince.
type ErasedError struct{ Turns []dag.TurnID } // at least one

func (e *ErasedError) Error() string {
	return fmt.Sprintf("turn %s: its text was erased while the evidence was made", e.Turns[0])
}

// Unwrap returns ErrErasedSince.
func (e *ErasedError) Unwrap() error { return ErrErasedSince }

// ErasedMeanwhile reports whether an error says that something was erased while evidence was made of it. Made again, it rests on less.
func ErasedMeanwhile(err error) bool {
	var gone *ErasedError
	return errors.As(err, &gone) || errors.Is(err, knowledge.ErrErased)
}

// A Forgetting is the part of an erasure that is about questions: those that start from a lost name, those about beliefs that rest on the turn, and requests for
// contexts that showed it, lose their private halves. The rest of the records stays.
type Forgetting struct {
	Turn dag.TurnID
	Lost func() []knowledge.NameKey // when all is known that the parts before this one ask for
	at   []dag.Seq
}

// Needs asks for the records whose questions start from a lost name, and for those of contexts that showed the turn.
func (c *Forgetting) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		c.at = nil
		n.Ranges = []history.Range{{Index: indexShown, Prefix: c.Turn[:]}, {Index: indexTaskOf, Prefix: c.Turn[:]}}
		return n
	}
	for _, list := range k.Ranges {
		for i := range list {
			if of := list[i].Index; of != indexStart && of != indexShown && of != indexTaskOf || slices.Contains(c.at, list[i].Since) {
				continue
			}
			c.at = append(c.at, list[i].Since)
			n.Records = append(n.Records, list[i].Since)
		}
	}
	if k.Round == knowledge.LostRound {
		for _, name := range c.Lost() {
			n.Ranges = append(n.Ranges, history.Range{Index: indexStart, Prefix: name[:]})
		}
	}
	return n
}

// Plan takes the questions away, and the terms by which they were found.
func (c *Forgetting) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{}
	slices.Sort(c.at)
	for _, seq := range slices.Compact(c.at) {
		e := k.Records[seq]
		if len(e.Private) == 0 {
			continue // it was forgotten with another turn
		}
		p.ForgetRecords = append(p.ForgetRecords, seq)
		for _, t := range startTerms(nil, string(e.Private), seq) {
			p.End = append(p.End, history.Ending{Index: t.Index, Key: t.Key, Since: t.Since})
		}
	}
	return p, nil
}

// startTerms appends the terms of the names that a question starts from, each once.
func startTerms(dst []history.Term, question string, since dag.Seq) []history.Term {
	if question == "" {
		return dst
	}
	q, err := facts.ParseQuestion(question)
	if err != nil {
		return dst
	}
	for _, name := range q.Start {
		key := knowledge.KeyOf(name)
		dst = append(dst, history.Term{Index: indexStart, Key: key[:], Since: since, Until: history.Forever})
	}
	return dst
}
