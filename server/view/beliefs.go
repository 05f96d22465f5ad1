package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
)

// statement shows a literal, as it was written where that is known.
func statement(l belief.Literal, words journal.Wording) api.WrittenStatement {
	return api.WrittenStatement{BeliefStatement: l, Written: words[l]}
}

func statements(list []belief.Literal, words journal.Wording) []api.WrittenStatement {
	all := make([]api.WrittenStatement, len(list))
	for i, l := range list {
		all[i] = statement(l, words)
	}
	return all
}

func premises(list []belief.Literal, words journal.Wording) []api.WrittenStatement {
	if len(list) == 0 {
		return nil
	}
	return statements(list, words)
}

func beliefBase(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.BaseQuery) (_ api.BeliefBase, err error) {
	subject := ""
	if in.Subject != "" {
		if subject, err = normalize.Name(in.Subject); err != nil {
			return api.BeliefBase{}, fmt.Errorf("subject: %w", err)
		}
	}
	b, err := k.Beliefs().Base(ctx, tenant, in.Space, in.AsOf, in.ValidAt)
	if err != nil {
		return api.BeliefBase{}, err
	}
	aliases, err := k.Facts().Aliases(ctx, tenant, b.AsOf)
	if err != nil {
		return api.BeliefBase{}, err
	}
	subject = aliases.Resolve(subject)
	w := api.BeliefBase{AsOf: b.AsOf, Space: in.Space, Policy: policy.ID(b.Policy), Statements: []api.HeldStatement{}}
	for _, h := range held(b) {
		if subject == "" || aliases.Resolve(h.Subject) == subject {
			w.Statements = append(w.Statements, h)
		}
	}
	return w, nil
}

// held lists what a base states, and what follows from it by rules and is stated nowhere, by ascending statement and item.
func held(b *kernel.BeliefBase) []api.HeldStatement {
	list := []api.HeldStatement{}
	add := func(l belief.Literal, r *journal.Revision, span belief.Span) *api.HeldStatement {
		w := api.HeldStatement{WrittenStatement: statement(l, r.Wording), Item: r.Item, Revision: r.Number}
		if !r.Withheld {
			w.Title, w.Summary = r.Title, r.Summary
		}
		w.ValidFrom, w.ValidUntil = span.Bounds()
		list = append(list, w)
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
		for _, i := range f.Support { // the rule whose literal it is
			h := &b.Held[i]
			if s := h.Stated(); s.Literal == f.Literal && s.Premises != nil {
				add(f.Literal, h.Revision, belief.Span{From: f.Spans[0].From, Until: f.Spans[len(f.Spans)-1].Until}).Derived = true
				break
			}
		}
	}
	slices.SortFunc(list, func(x, y api.HeldStatement) int {
		return cmp.Or(x.BeliefStatement.Compare(y.BeliefStatement), strings.Compare(string(x.Item), string(y.Item)), cmp.Compare(x.Revision, y.Revision))
	})
	return list
}

func explainBelief(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.WhyQuery) (api.Why, error) {
	why, err := k.Beliefs().Why(ctx, tenant, in.Space, belief.Literal{Subject: in.Subject, Predicate: in.Predicate, Object: in.Object, Not: in.Not}, in.AsOf)
	if err != nil {
		return api.Why{}, err
	}
	w := api.Why{AsOf: why.AsOf, Statement: statement(why.Of, why.Wording), Support: supports(why.Support), Ended: []api.EndedBelief{}}
	switch w.Believed = len(why.Support) > 0; {
	case w.Believed:
		w.State = "believed"
	case len(why.Ended) > 0:
		w.State = "ended"
	case len(why.Erased) > 0:
		w.State = "erased"
	default:
		w.State = "never"
	}
	for i := range why.Ended {
		e := &why.Ended[i]
		one := api.EndedBelief{Since: e.Since, Until: e.Until, Derived: e.Derived, Ending: string(e.Ending), At: e.At, By: e.By, Reason: e.Why, Lost: supports(e.Lost)}
		if e.Instead != nil {
			s := statement(e.Instead.Stated().Literal, e.Instead.Revision.Wording)
			one.Instead = &s
		}
		w.Ended = append(w.Ended, one)
	}
	for _, r := range why.Erased {
		w.Erased = append(w.Erased, api.ErasedRevision{Item: r.Item, Revision: r.Number, Seq: r.Seq, Turn: r.By.Turn, Erasure: r.By.Seq})
	}
	return w, nil
}

// supports shows elements with who wrote them.
func supports(list []journal.Believed) []api.Support {
	all := []api.Support{}
	for i := range list {
		h := &list[i]
		s := h.Stated()
		all = append(all, api.Support{
			Statement: statement(s.Literal, h.Revision.Wording), Premises: premises(s.Premises, h.Revision.Wording), Item: h.Revision.Item, Revision: h.Revision.Number, Turns: s.Turns,
			By: h.Revision.By, Class: s.Rank.Class.String(), Since: h.Element().Rank.Event,
		})
	}
	return all
}

func beliefImpact(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ImpactQuery) (api.Impact, error) {
	a, err := belief.ParseAddress(in.Ref)
	if err != nil {
		return api.Impact{}, err
	}
	of, err := k.Beliefs().Impact(ctx, tenant, a, cmp.Or(in.Depth, 10))
	if err != nil {
		return api.Impact{}, err
	}
	w := api.Impact{AsOf: of.AsOf, Ref: belief.Address{Item: a.Item, Revision: of.Revision.Number}.String(), Falls: []api.WrittenStatement{}, Links: []api.Dependent{}}
	for _, f := range of.Falls {
		w.Falls = append(w.Falls, statement(f.Literal, of.Wording))
	}
	for _, l := range of.Links {
		w.Links = append(w.Links, api.Dependent{Ref: l.From.String(), Type: l.Type, To: l.To, Depth: l.Depth, Deprecated: of.Deprecated[l.From.Item]})
	}
	return w, nil
}

func diffBeliefs(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.BaseDiffQuery) (api.BaseDiff, error) {
	before, after, err := k.Beliefs().Diff(ctx, tenant, in.Space, in.From, in.To)
	if err != nil {
		return api.BaseDiff{}, err
	}
	old, now := held(before), held(after)
	same := func(a api.HeldStatement) func(api.HeldStatement) bool {
		return func(b api.HeldStatement) bool {
			x, y := belief.SpanOf(a.ValidFrom, a.ValidUntil), belief.SpanOf(b.ValidFrom, b.ValidUntil)
			return a.BeliefStatement == b.BeliefStatement && a.Item == b.Item && a.Derived == b.Derived && x == y
		}
	}
	w := api.BaseDiff{From: before.AsOf, To: after.AsOf, Added: []api.HeldStatement{}, Removed: []api.HeldStatement{}}
	for _, h := range now {
		if !slices.ContainsFunc(old, same(h)) {
			w.Added = append(w.Added, h)
		}
	}
	for _, h := range old {
		if !slices.ContainsFunc(now, same(h)) {
			w.Removed = append(w.Removed, h)
		}
	}
	return w, nil
}

func listItems(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ItemsQuery) (api.Items, error) {
	limit := cmp.Or(in.Limit, 100)
	list, err := k.Beliefs().Items(ctx, tenant, in.Space, in.After, limit, in.AsOf)
	if err != nil {
		return api.Items{}, err
	}
	w := api.Items{Items: []api.ListedItem{}}
	for _, item := range list {
		if item.Deprecated && !in.Deprecated {
			w.LeftOut++
			continue
		}
		one := api.ListedItem{Item: item.Item, Deprecated: item.Deprecated, Statements: []api.RevisionElement{}}
		if item.Current != nil {
			r := itemRevision(item.Current)
			one.Revision, one.Statements, one.Title, one.Erased = r.Revision, r.Statements, r.Title, r.Erased
		}
		w.Items = append(w.Items, one)
	}
	if len(list) == limit {
		w.Next = list[limit-1].Item.Name()
	}
	return w, nil
}

func beliefConflicts(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ConflictsQuery) (api.Conflicts, error) {
	list, err := k.Beliefs().Conflicts(ctx, tenant, in.Space)
	w := api.Conflicts{Conflicts: []api.Conflict{}}
	for _, c := range list {
		one := api.Conflict{
			Seq: c.Seq, At: c.At, By: c.By, Item: c.Item, Statements: statements(c.Statements, c.Wording), Premises: premises(c.Premises, c.Wording), Confidence: c.Confidence, With: []string{}, Turns: c.Turns, Reason: c.Reason, Erased: c.Erased,
		}
		if !c.Erased {
			one.ValidFrom, one.ValidUntil = c.Span.Bounds()
		}
		for _, a := range c.With {
			one.With = append(one.With, a.String())
		}
		w.Conflicts = append(w.Conflicts, one)
	}
	return w, err
}

func resolveKref(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.KrefQuery) (api.ResolvedKref, error) {
	a, err := belief.ParseAddress(in.Ref)
	if err != nil {
		return api.ResolvedKref{}, err
	}
	kref, err := k.Beliefs().Resolve(ctx, tenant, a)
	if err != nil {
		return api.ResolvedKref{}, err
	}
	w := api.ResolvedKref{Ref: in.Ref, AsOf: kref.AsOf, Item: a.Item, Deprecated: kref.Record.Deprecated, Revisions: len(kref.Record.Revisions), Tags: []api.ItemTag{}, Artifact: kref.Artifact}
	for _, t := range kref.Record.Tags {
		one := api.ItemTag{Tag: t.Name, Revision: t.Number, Since: t.Since}
		if t.Until != journal.Forever {
			one.Until = t.Until
		}
		w.Tags = append(w.Tags, one)
	}
	if kref.Revision != nil {
		w.Revision = itemRevision(kref.Revision)
	}
	return w, nil
}

func itemRevision(r *journal.Revision) *api.ItemRevision {
	w := &api.ItemRevision{
		Revision: r.Number, Seq: r.Seq, At: r.At, By: r.By, Supersedes: r.Supersedes, Title: r.Title, Summary: r.Summary, Withheld: r.Withheld, Keywords: r.Keywords, Topics: r.Topics,
		Confidence: r.Confidence, Source: r.Source, Reason: r.Reason, Erased: r.Erased, Statements: []api.RevisionElement{}, Artifacts: r.Artifacts,
	}
	for i := range r.Statements {
		s := &r.Statements[i]
		if r.Erased {
			continue
		}
		e := api.RevisionElement{WrittenStatement: statement(s.Literal, r.Wording), Premises: premises(s.Premises, r.Wording), Turns: s.Turns, Class: s.Rank.Class.String()}
		e.ValidFrom, e.ValidUntil = s.Span.Bounds()
		w.Statements = append(w.Statements, e)
	}
	return w
}

func acted(a *journal.Acted, err error) (api.KrefChange, error) {
	if err != nil {
		return api.KrefChange{}, err
	}
	w := api.KrefChange{Outcome: a.Result, Seq: a.Seq}
	for i := range a.Conflict {
		w.Conflict = append(w.Conflict, statement(a.Conflict[i].Literal, a.Wording))
	}
	return w, nil
}

func tagKref(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.NewTag) (api.KrefChange, error) {
	return acted(k.Beliefs().Act(ctx, tenant, journal.Act{Item: in.Ref, Tag: in.Tag, Number: in.Revision, Reason: in.Reason}))
}

// deprecating answers deprecations and restorations.
func deprecating(deprecates bool) func(context.Context, *kernel.Kernel, dag.Tenant, api.Deprecation) (api.KrefChange, error) {
	return func(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.Deprecation) (api.KrefChange, error) {
		return acted(k.Beliefs().Act(ctx, tenant, journal.Act{Item: in.Ref, Deprecates: deprecates, Reason: in.Reason}))
	}
}

func linkKref(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.NewLink) (api.KrefChange, error) {
	from, err := belief.ParseAddress(in.From)
	if err != nil {
		return api.KrefChange{}, err
	}
	if from.Revision == 0 {
		return api.KrefChange{}, fmt.Errorf("%w: from: %s names no revision; add ?r=", belief.ErrForm, from)
	}
	l, err := k.Beliefs().Link(ctx, tenant, journal.Link{From: from, Type: in.Type, To: in.To})
	if err != nil {
		return api.KrefChange{}, err
	}
	outcome := journal.Changed
	if l.Known {
		outcome = journal.Unchanged
	}
	return api.KrefChange{Outcome: outcome, Seq: l.Seq}, nil
}

// BeliefEvent tells what was recorded of beliefs, in a few words.
func BeliefEvent(r *journal.Recorded) api.BeliefEvent {
	kind, _, _ := strings.Cut(string(r.Kind), "/")
	return api.BeliefEvent{Seq: r.Seq, At: r.At, Kind: kind, Space: r.Space, Item: r.Item, Revision: r.Revision, Tag: r.Tag, By: r.By, Erased: r.Erased}
}
