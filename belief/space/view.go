package space

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A Base contains the beliefs of a space as of a number.
type Base struct {
	AsOf     dag.Seq
	Policy   string
	Held     []journal.Believed // statements and rules
	Follows  []belief.Conclusion
	Elements belief.Base // the elements of Held
}

// Held returns the beliefs of a space as of a number; 0 is the present. If validAt is not nil, it returns only the elements whose span
// contains that instant.
func (k View) Held(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq, validAt *dag.Time) (_ *Base, err error) {
	ctx, observed := k.kernel.Observe(ctx, "belief base")
	defer func() { observed(err) }()
	b := &Base{}
	if b.AsOf, err = k.kernel.AsOf(ctx, tenant, asOf); err != nil {
		return nil, err
	}
	p, id, err := k.kindsOf(ctx, tenant, space, b.AsOf)
	if err != nil {
		return nil, err
	}
	b.Policy = id
	held, err := k.journal().Believed(ctx, tenant, space, b.AsOf)
	if err != nil {
		return nil, err
	}
	for i := range held {
		if e := held[i].Element(); validAt == nil || e.Span.Holds(*validAt) {
			b.Held, b.Elements = append(b.Held, held[i]), append(b.Elements, e)
		}
	}
	b.Follows = belief.Follows(p.Constraints(), b.Elements)
	return b, nil
}

// Base returns the beliefs of a space: the stated literals, and the literals that follow from them by rules and are not stated.
func (k View) Base(ctx context.Context, tenant dag.Tenant, in api.BaseQuery) (out api.BeliefBase, err error) {
	subject := ""
	if in.Subject != "" {
		if subject, err = normalize.Name(in.Subject); err != nil {
			return out, fmt.Errorf("subject: %w", err)
		}
	}
	b, err := k.Held(ctx, tenant, in.Space, in.AsOf, in.ValidAt)
	if err != nil {
		return out, err
	}
	if out, err = k.answer(ctx, tenant, b, in.Space); err != nil {
		return out, err
	}
	if subject == "" {
		return out, nil
	}
	aliases, err := k.kernel.Aliases(ctx, tenant, b.AsOf)
	if err != nil {
		return api.BeliefBase{}, err
	}
	subject = aliases.Resolve(subject)
	out.Statements = slices.DeleteFunc(out.Statements, func(h api.HeldStatement) bool { return aliases.Resolve(h.Subject) != subject })
	return out, nil
}

// Diff returns the statements that came to be believed in a space between two numbers, and those that ceased to be. Before the space was
// made, nothing was believed in it.
func (k View) Diff(ctx context.Context, tenant dag.Tenant, in api.BaseDiffQuery) (out api.BaseDiff, _ error) {
	after, err := k.Held(ctx, tenant, in.Space, in.To, nil)
	if err != nil {
		return out, err
	}
	before, err := k.Held(ctx, tenant, in.Space, in.From, nil)
	if errors.Is(err, journal.ErrSpace) {
		before = &Base{}
		before.AsOf, err = k.kernel.AsOf(ctx, tenant, in.From)
	}
	if err != nil {
		return out, err
	}
	was, err := k.answer(ctx, tenant, before, in.Space)
	if err != nil {
		return out, err
	}
	is, err := k.answer(ctx, tenant, after, in.Space)
	if err != nil {
		return out, err
	}
	old, now := was.Statements, is.Statements
	beyond := func(list, other []api.HeldStatement) []api.HeldStatement {
		return slices.DeleteFunc(slices.Clone(list), func(a api.HeldStatement) bool {
			return slices.ContainsFunc(other, func(b api.HeldStatement) bool {
				return a.BeliefStatement == b.BeliefStatement && a.Item == b.Item && a.Derived == b.Derived && belief.SpanOf(a.ValidFrom, a.ValidUntil) == belief.SpanOf(b.ValidFrom, b.ValidUntil)
			})
		})
	}
	return api.BaseDiff{From: before.AsOf, To: after.AsOf, Added: beyond(now, old), Removed: beyond(old, now)}, nil
}

// Rules returns all statements of the constraints of a space. The list is never shortened.
func (k View) Rules(ctx context.Context, tenant dag.Tenant, in api.RulesQuery) (api.BeliefBase, error) {
	b, err := k.Constraints(ctx, tenant, in.Space, in.AsOf)
	if err != nil {
		return api.BeliefBase{}, err
	}
	return k.answer(ctx, tenant, b, in.Space)
}

// Constraints returns the elements of the constraints of a space as of a number; 0 is the present. A statement of a lower standing than member is no constraint.
func (k View) Constraints(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (*Base, error) {
	b, err := k.Held(ctx, tenant, space, asOf, nil)
	if err != nil {
		return nil, err
	}
	p, _, err := k.kindsOf(ctx, tenant, space, b.AsOf)
	if err != nil {
		return nil, err
	}
	course, err := k.kernel.Course(ctx, tenant, b.AsOf)
	if err != nil {
		return nil, err
	}
	of, binding := &Base{AsOf: b.AsOf, Policy: b.Policy}, k.binding(p)
	for i := range b.Held {
		r := b.Held[i].Revision
		is, err := binding.Constrains(ctx, tenant, r, dag.ReadNow)
		if err != nil {
			return nil, err
		}
		if at, _ := course.OfBelief(r.Seq, r.By, r.Vouched()); is && at.Standing.Orders() {
			of.Held, of.Elements = append(of.Held, b.Held[i]), append(of.Elements, b.Elements[i])
		}
	}
	return of, nil
}

// Spaces returns the spaces that the caller may see, ascending, with the number and size of their constraints if the query asks for them.
func (k View) Spaces(ctx context.Context, tenant dag.Tenant, in api.SpacesQuery) (out api.Spaces, _ error) {
	head, err := k.kernel.AsOf(ctx, tenant, 0)
	if err != nil {
		return out, err
	}
	all, err := k.journal().Spaces(ctx, tenant, history.Forever-1)
	if err != nil {
		return out, err
	}
	out.Spaces = []api.Space{}
	for _, space := range slices.Sorted(maps.Keys(all)) {
		if !ScopeOf(ctx).Sees(string(space)) {
			continue
		}
		one := api.Space{Space: space, Policy: policy.ID(all[space])}
		if in.Constraints {
			if one.Constraints, err = k.load(ctx, tenant, &one, head); err != nil {
				return out, err
			}
		}
		out.Spaces = append(out.Spaces, one)
	}
	return out, nil
}

// load adds up the constraints of a space, and counts the other believed items of kinds that bind.
func (k View) load(ctx context.Context, tenant dag.Tenant, of *api.Space, asOf dag.Seq) (*api.ConstraintLoad, error) {
	p, err := k.kindPolicy(ctx, tenant, of.Policy)
	if err != nil {
		return nil, err
	}
	held, err := k.journal().Believed(ctx, tenant, of.Space, asOf)
	if err != nil {
		return nil, err
	}
	binding := k.binding(p)
	l := binding.Load(held)
	out := &api.ConstraintLoad{Count: l.Count, Bytes: l.Bytes, Longest: l.Longest, Over: l.Over()}
	seen := map[belief.Item]bool{}
	for i := range held {
		r := held[i].Revision
		kind := binding.kinds[r.Item.Kind()]
		if seen[r.Item] || !kind.Binds() {
			continue
		}
		seen[r.Item] = true
		is, err := binding.Constrains(ctx, tenant, r, dag.ReadNow)
		if err != nil {
			return nil, err
		}
		if !is {
			out.Proposed++
		}
	}
	return out, nil
}

// Conflicts returns the refused proposals of a space that wait for a decision.
func (k View) Conflicts(ctx context.Context, tenant dag.Tenant, in api.ConflictsQuery) (api.Conflicts, error) {
	list, err := k.conflicts(ctx, tenant, in.Space)
	out := api.Conflicts{Conflicts: []api.Conflict{}}
	for _, c := range list {
		one := api.Conflict{
			Seq: c.Seq, At: c.At, By: c.By, Item: c.Item, Statements: wordedAll(c.Statements, c.Wording), Premises: wordedAll(c.Premises, c.Wording), Confidence: c.Confidence, With: []string{}, Turns: c.Turns, Reason: c.Reason, Erased: c.Erased,
		}
		if !c.Erased {
			one.ValidFrom, one.ValidUntil = c.Span.Bounds()
		}
		for _, a := range c.With {
			one.With = append(one.With, a.String())
		}
		out.Conflicts = append(out.Conflicts, one)
	}
	return out, err
}

// Changes returns up to limit entries of beliefs numbered above after, ascending.
func (k View) Changes(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) (events []api.BeliefEvent, _ error) {
	list, err := k.journal().Recorded(ctx, tenant, after, limit)
	for i := range list {
		r := &list[i]
		kind, _, _ := strings.Cut(string(r.Kind), "/")
		events = append(events, api.BeliefEvent{Seq: r.Seq, At: r.At, Kind: kind, Space: r.Space, Item: r.Item, Revision: r.Revision, Tag: r.Tag, By: r.By, Erased: r.Erased})
	}
	return events, err
}

// A Binding says which kinds of a space bind. It contains the kinds of the space's policy, so the policy is read only once.
type Binding struct {
	reader
	kinds map[string]kinds.Kind // by name; an unlisted kind does not bind
}

// Binding returns the binding of a policy.
func (k View) Binding(ctx context.Context, tenant dag.Tenant, id policy.ID) (Binding, error) {
	p, err := k.kindPolicy(ctx, tenant, id)
	return k.binding(p), err
}

func (k reader) binding(p kinds.Policy) Binding {
	b := Binding{k, map[string]kinds.Kind{}}
	for _, kind := range p.Kinds() {
		b.kinds[kind.Name] = kind
	}
	return b
}

// Constrains reports whether a revision is a constraint. No other function decides this; a replay calls it with the reading of the record.
func (b Binding) Constrains(ctx context.Context, tenant dag.Tenant, r *journal.Revision, reading dag.Reading) (bool, error) {
	kind := b.kinds[r.Item.Kind()]
	if !kind.Binds() || reading >= dag.ReadVouched && !r.Vouched() {
		return false, nil
	}
	if reading < dag.ReadVouched || r.Withheld || r.Title == "" && r.Summary == "" {
		return true, nil
	}
	// In the past, a proposal could restate a person's statements in an item under a title and a summary of its own.
	agents, err := b.kernel.OfAgent(ctx, tenant, r.By)
	return !agents, err
}

// limits returns the limits on the constraints of a space.
func (b Binding) limits() journal.Limits {
	return journal.Limits{
		Binds: func(name string) bool { kind := b.kinds[name]; return kind.Binds() },
		Bytes: func(r *journal.Revision) int { return len(contexts.BeliefText(r)) },
	}
}

// Load adds up the constraints among believed elements.
func (b Binding) Load(held []journal.Believed) (load journal.Load) {
	limits := b.limits()
	for i := range held {
		if i == 0 || held[i-1].Revision != held[i].Revision {
			limits.Add(&load, held[i].Revision)
		}
	}
	return load
}

// Why returns the elements that support a literal, and the past periods in which it was believed, with who ended each. If the remaining
// records show no such period, it returns the erased revisions of the space, because one of them may have stated the literal. Names are
// returned as they were written.
func (k View) Why(ctx context.Context, tenant dag.Tenant, in api.WhyQuery) (out api.Why, _ error) {
	aliases, err := k.kernel.Aliases(ctx, tenant, 0)
	if err != nil {
		return out, err
	}
	named, wording, err := Literals(aliases, "statement", []belief.Literal{{Subject: in.Subject, Predicate: in.Predicate, Object: in.Object, Not: in.Not}}, nil)
	if err != nil {
		return out, err
	}
	b, err := k.Held(ctx, tenant, in.Space, in.AsOf, nil)
	if err != nil {
		return out, err
	}
	p, _, err := k.kindsOf(ctx, tenant, in.Space, b.AsOf)
	if err != nil {
		return out, err
	}
	out = api.Why{AsOf: b.AsOf, Statement: worded(named[0], wording), State: "never", Support: []api.Support{}, Ended: []api.EndedBelief{}}
	for _, i := range belief.Support(p.Constraints(), b.Elements, named[0], belief.Always) {
		out.Support = append(out.Support, supportOf(&b.Held[i]))
	}
	j := k.journal()
	under, err := j.Policies(ctx, tenant, in.Space, b.AsOf)
	if err != nil {
		return out, err
	}
	known := map[string]*belief.Constraints{}
	periods, err := j.Periods(ctx, tenant, in.Space, named[0], b.AsOf, under, func(id string) (*belief.Constraints, error) {
		if known[id] == nil {
			p, err := k.kindPolicy(ctx, tenant, policy.ID(id))
			if err != nil {
				return nil, err
			}
			known[id] = p.Constraints()
		}
		return known[id], nil
	})
	if err != nil {
		return out, err
	}
	for i := range periods {
		e := &periods[i]
		if e.Until == history.Forever {
			continue
		}
		one := api.EndedBelief{Since: e.Since, Until: e.Until, Derived: e.Derived, Ending: string(e.Ending), At: e.At, By: e.By, Reason: e.Why, Lost: []api.Support{}}
		for n := range e.Lost {
			one.Lost = append(one.Lost, supportOf(&e.Lost[n]))
		}
		if e.Instead != nil {
			one.Instead = new(worded(e.Instead.Stated().Literal, e.Instead.Revision.Wording))
		}
		out.Ended = append(out.Ended, one)
	}
	switch out.Believed = len(out.Support) > 0; {
	case out.Believed:
		out.State = "believed"
	case len(out.Ended) > 0:
		out.State = "ended"
	default:
		if out.Erased, err = k.erasedIn(ctx, tenant, in.Space, b.AsOf); len(out.Erased) > 0 {
			out.State = "erased"
		}
	}
	return out, err
}

// supportOf returns an element with its author in the form of the API.
func supportOf(h *journal.Believed) api.Support {
	s, r := h.Stated(), h.Revision
	return api.Support{
		Statement: worded(s.Literal, r.Wording), Premises: wordedAll(s.Premises, r.Wording), Item: r.Item, Revision: r.Number, Turns: s.Turns, By: r.By, Class: s.Rank.Class.String(), Since: h.Element().Rank.Event,
	}
}

// erasedIn returns the revisions of a space up to a number that are erased by now.
func (k View) erasedIn(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (list []api.ErasedRevision, _ error) {
	by := map[dag.TurnID]erasures.Erasure{}
	var turns []dag.TurnID
	const page = 1000
	for after := dag.Seq(0); ; {
		some, err := erasures.Base{History: k.journal().History}.After(ctx, tenant, after, page)
		if err != nil {
			return nil, err
		}
		for _, e := range some {
			by[e.Turn], after = e, e.Seq
			turns = append(turns, e.Turn)
		}
		if len(some) < page {
			break
		}
	}
	revisions, err := k.journal().Erased(ctx, tenant, space, turns, asOf)
	for _, r := range revisions {
		first := takenBy(r, by)
		list = append(list, api.ErasedRevision{Item: r.Item, Revision: r.Number, Seq: r.Seq, Turn: first.Turn, Erasure: first.Seq})
	}
	return list, err
}

// takenBy returns the erasure that erased a revision: the first after which all turns of one of its statements had lost their text.
func takenBy(r *journal.Revision, by map[dag.TurnID]erasures.Erasure) (first erasures.Erasure) {
	for i := range r.Statements {
		var last erasures.Erasure
		for _, turn := range r.Statements[i].Turns {
			e, ok := by[turn]
			if !ok {
				last = erasures.Erasure{}
				break
			}
			if e.Seq > last.Seq {
				last = e
			}
		}
		if last.Seq != 0 && (first.Seq == 0 || last.Seq < first.Seq) {
			first = last
		}
	}
	return first
}
