package main

import (
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A row asks for a context or for a search, and ours is the column of the policy that people get for it.
const (
	ofContext = contexts.DefaultID
	ofSearch  = retrieval.FindPolicyID
)

// slack is by how much a simple rule may be better, as a share of the questions. One question is always allowed.
const slack = 0.02

// ErrBehind is wrapped when a simple rule is better than what people get.
var ErrBehind = errors.New("behind a simple rule")

// behind returns an error for each row in which the best simple rule is better than ours by more than the slack.
func (e *Evaluation) behind() error {
	var all []error
	for i := range e.rows {
		all = append(all, e.rows[i].behind(e.strategies))
	}
	return errors.Join(all...)
}

func (r *row) behind(strategies []Strategy) error {
	if r.of == "" || r.scores == nil || r.scores.questions == 0 {
		return nil
	}
	ours, best := -1, -1
	for n := range strategies {
		sum, asked := r.scores.sums[n]
		switch {
		case !asked:
		case strategies[n].Simple && (best < 0 || sum > r.scores.sums[best]):
			best = n
		case strategies[n].Policy == r.of:
			ours = n
		}
	}
	if best < 0 { // as under -ablate
		return nil
	}
	name := r.task + ", " + r.measure
	if ours < 0 {
		return fmt.Errorf("%s: no column is under the policy %s, which people get", name, r.of)
	}
	const rounding = 1e-6
	if r.scores.sums[best]-r.scores.sums[ours] <= max(1, slack*float64(r.scores.questions))+rounding {
		return nil
	}
	got, _ := r.scores.mean(ours)
	want, _ := r.scores.mean(best)
	return fmt.Errorf("%w: %s: %s %.3f, %s %.3f, %d questions", ErrBehind, name, strategies[ours].Name, got, strategies[best].Name, want, r.scores.questions)
}
