package kernel

import (
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
)

// worded answers a literal with how it was written, where that is known.
func worded(l belief.Literal, words journal.Wording) api.WrittenStatement {
	return api.WrittenStatement{BeliefStatement: l, Written: words[l]}
}

func wordedAll(list []belief.Literal, words journal.Wording) []api.WrittenStatement {
	all := make([]api.WrittenStatement, len(list))
	for i, l := range list {
		all[i] = worded(l, words)
	}
	return all
}

// outcomeOf answers an operation.
func outcomeOf(o *journal.Outcome, err error) (api.BeliefOutcome, error) {
	if err != nil {
		return api.BeliefOutcome{}, err
	}
	w := api.BeliefOutcome{
		Seq: o.Seq, Outcome: o.Result, Item: o.Item, Revision: o.Revision, Kept: o.Kept, Repeated: o.Again,
		GaveWay: []api.BeliefLoss{}, Fell: []api.WrittenStatement{}, Review: append([]string{}, o.Review...),
	}
	switch {
	case o.Result != journal.Refused:
	case o.Vouched:
		w.Reason = "vouched"
	case o.Protects:
		w.Reason = "protected"
	default:
		w.Reason = "conflict"
	}
	for i := range o.GaveWay {
		l := &o.GaveWay[i]
		s, words := l.Stated(), o.Wording.With(l.Revision.Wording)
		loss := api.BeliefLoss{
			Statement: worded(s.Literal, words), Premises: wordedAll(s.Premises, words), Item: l.Revision.Item, Revision: l.Revision.Number, Conflict: []api.WrittenStatement{},
		}
		for k := range l.Conflict {
			loss.Conflict = append(loss.Conflict, worded(l.Conflict[k].Literal, words))
		}
		if l.Until != 0 {
			loss.Until = &l.Until
		}
		w.GaveWay = append(w.GaveWay, loss)
	}
	for _, f := range o.Fell {
		w.Fell = append(w.Fell, worded(f.Literal, o.Wording))
	}
	return w, nil
}
