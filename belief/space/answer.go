package space

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
)

// worded returns a literal with its wording, if that is known, in the form of the API.
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

// outcomeIn returns a function that converts an outcome to the form of the API. Its list of revisions to review contains only those in
// spaces that the caller may see.
func outcomeIn(ctx context.Context) func(*journal.Outcome, error) (api.BeliefOutcome, error) {
	return func(o *journal.Outcome, err error) (api.BeliefOutcome, error) {
		if err != nil {
			return api.BeliefOutcome{}, err
		}
		w := outcome(o)
		w.Review = append(w.Review, ScopeOf(ctx).addresses(slices.Clone(o.Review))...)
		return w, nil
	}
}

func outcome(o *journal.Outcome) api.BeliefOutcome {
	w := api.BeliefOutcome{
		Seq: o.Seq, Outcome: o.Result, Item: o.Item, Revision: o.Revision, Kept: o.Kept, Repeated: o.Again,
		GaveWay: []api.BeliefLoss{}, Fell: []api.WrittenStatement{}, Review: []string{},
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
	return w
}

// acted converts the result of an act to the form of the API.
func acted(a *journal.Acted, err error) (out api.KrefChange, _ error) {
	if err != nil {
		return out, err
	}
	out.Outcome, out.Seq = a.Result, a.Seq
	for i := range a.Conflict {
		out.Conflict = append(out.Conflict, worded(a.Conflict[i].Literal, a.Wording))
	}
	return out, nil
}

// answer returns the stated literals of a base, and the literals that follow by rules and are not stated, by ascending statement and item.
func (k View) answer(ctx context.Context, tenant dag.Tenant, b *Base, space belief.Space) (out api.BeliefBase, err error) {
	course, err := k.kernel.Course(ctx, tenant, b.AsOf)
	if err != nil {
		return out, err
	}
	countsAs := func(r *journal.Revision) standing.Standing {
		of, _ := course.OfBelief(r.Seq, r.By, r.Vouched())
		return of.Standing
	}
	list := []api.HeldStatement{}
	add := func(l belief.Literal, r *journal.Revision, span belief.Span) *api.HeldStatement {
		h := api.HeldStatement{WrittenStatement: worded(l, r.Wording), Item: r.Item, Revision: r.Number, Standing: countsAs(r).String()}
		if !r.Withheld {
			h.Text, h.Title, h.Summary = r.Text, r.Title, r.Summary
		}
		h.ValidFrom, h.ValidUntil = span.Bounds()
		list = append(list, h)
		return &list[len(list)-1]
	}
	for i := range b.Held {
		h := &b.Held[i]
		if s := h.Stated(); s.Premises == nil {
			add(s.Literal, h.Revision, s.Span).Since = h.Since
		}
	}
	for _, f := range b.Follows {
		if f.Stated {
			continue
		}
		for _, i := range f.Support { // find the rule that concludes the literal
			h := &b.Held[i]
			if s := h.Stated(); s.Literal == f.Literal && s.Premises != nil {
				derived := add(f.Literal, h.Revision, belief.Span{From: f.Spans[0].From, Until: f.Spans[len(f.Spans)-1].Until})
				least := standing.Owner
				for _, i := range f.Support {
					least = min(least, countsAs(b.Held[i].Revision))
				}
				derived.Derived, derived.Standing = true, least.String()
				break
			}
		}
	}
	slices.SortFunc(list, func(x, y api.HeldStatement) int {
		return cmp.Or(x.BeliefStatement.Compare(y.BeliefStatement), strings.Compare(string(x.Item), string(y.Item)), cmp.Compare(x.Revision, y.Revision))
	})
	return api.BeliefBase{AsOf: b.AsOf, Space: space, Policy: policy.ID(b.Policy), Statements: list}, nil
}

// itemRevision converts a revision to the form of the API. The statements of an erased revision are left out.
func itemRevision(r *journal.Revision) *api.ItemRevision {
	out := &api.ItemRevision{
		Revision: r.Number, Seq: r.Seq, At: r.At, By: r.By, Supersedes: r.Supersedes, Title: r.Title, Summary: r.Summary, Withheld: r.Withheld, Keywords: r.Keywords, Topics: r.Topics,
		Confidence: r.Confidence, Source: r.Source, Reason: r.Reason, Erased: r.Erased, Statements: []api.RevisionElement{}, Artifacts: r.Artifacts,
	}
	for i := range r.Statements {
		s := &r.Statements[i]
		if r.Erased {
			break
		}
		e := api.RevisionElement{WrittenStatement: worded(s.Literal, r.Wording), Premises: wordedAll(s.Premises, r.Wording), Turns: s.Turns, Class: s.Rank.Class.String()}
		e.ValidFrom, e.ValidUntil = s.Span.Bounds()
		out.Statements = append(out.Statements, e)
	}
	return out
}
