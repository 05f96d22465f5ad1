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
var ErrErasedSince = errors.New("since then a text was erased that the bundle contains, or that was counted when its content was chosen")

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

// A Forgetting is the part of an erasure that erases questions. The private half of a record is erased if its question
// starts from a lost name, if its belief rests on the turn, or if its context showed the turn or has its words in the
// task. The rest of the record stays.
type Forgetting struct {
	Turn dag.TurnID
	Lost func() []knowledge.NameKey // called once all data that the earlier parts of the erasure ask for is known
	at   []dag.Seq
}

// Needs asks for the records whose questions start from a lost name, that show the turn or rest on it, or whose task
// contains its words.
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

// Plan erases the questions, and the terms that lead to them.
func (c *Forgetting) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{}
	slices.Sort(c.at)
	for _, seq := range slices.Compact(c.at) {
		e := k.Records[seq]
		if len(e.Private) == 0 {
			continue // it was erased with another turn
		}
		p.ForgetRecords = append(p.ForgetRecords, seq)
		for _, t := range startTerms(nil, string(e.Private), seq) {
			p.End = append(p.End, history.Ending{Index: t.Index, Key: t.Key, Since: t.Since})
		}
	}
	return p, nil
}

// startTerms appends the terms of the names from which a question starts.
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
