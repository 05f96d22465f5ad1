package space

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/belief/said"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
)

// Literals returns literals with canonical names under the current aliases, and their wording, where it differs. given is the wording of
// literals that had canonical names already.
func Literals(aliases *normalize.Table, member string, list []belief.Literal, given journal.Wording) ([]belief.Literal, journal.Wording, error) {
	out, wording := make([]belief.Literal, len(list)), journal.Wording{}
	for i, l := range list {
		var as knowledge.Written
		was := given[l]
		for _, n := range [...]struct {
			what      string
			from, was string
			to, as    *string
		}{{"subject", l.Subject, was.Subject, &out[i].Subject, &as.Subject}, {"predicate", l.Predicate, was.Predicate, &out[i].Predicate, &as.Predicate}, {"object", l.Object, was.Object, &out[i].Object, &as.Object}} {
			name, err := normalize.Name(n.from)
			if err != nil {
				return nil, nil, fmt.Errorf("%s[%d].%s: %w", member, i, n.what, err)
			}
			*n.to, *n.as = name, cmp.Or(n.was, knowledge.Spelling(n.from, name))
			if n.what != "predicate" {
				*n.to = aliases.Resolve(name)
			}
			switch {
			case *n.as == *n.to:
				*n.as = ""
			case *n.as == "" && n.from == name && *n.to != name: // an alias in its canonical spelling
				*n.as = name
			}
		}
		if out[i].Not = l.Not; as != (knowledge.Written{}) {
			wording[out[i]] = as
		}
	}
	return out, wording, nil
}

// SetSpace makes a space of beliefs, or puts it under another policy of kinds. It refuses a policy under which the beliefs of the space
// contradict each other.
func (k Statements) SetSpace(ctx context.Context, tenant dag.Tenant, in api.NewSpace) (out api.Space, _ error) {
	space, id := in.Space, in.Policy
	if err := k.mayBelieve(ctx, tenant, "set the policy of a space"); err != nil {
		return out, err
	}
	has, err := k.spaceOf(ctx, tenant, space, history.Forever-1)
	if err != nil && !errors.Is(err, journal.ErrSpace) {
		return out, err
	}
	was := kinds.Policy{}
	if has != "" {
		if was, err = k.kindPolicy(ctx, tenant, policy.ID(has)); err != nil {
			return out, err
		}
	}
	if id == "" {
		id = cmp.Or(policy.ID(has), kinds.ID)
	}
	p, err := k.kindPolicy(ctx, tenant, id)
	if err != nil {
		return out, err
	}
	now, err := k.kernel.Now()
	if err != nil {
		return out, err
	}
	c := p.Constraints()
	s, err := k.journal().SetSpace(ctx, tenant, journal.SpacePolicy{Space: space, Policy: string(id), By: access.CallerIn(ctx), At: now}, func(held []journal.Believed) error {
		b := make(belief.Base, len(held))
		for i := range held {
			b[i] = held[i].Element()
		}
		if conflict, ok := belief.Consistent(c, b); !ok {
			return &belief.ConflictError{Err: belief.ErrConflict, Elements: conflict}
		}
		return k.binding(p).Load(held).Grown(k.binding(was).Load(held), space)
	})
	k.kernel.Changed(tenant)
	if err != nil {
		return out, err
	}
	return api.Space{Space: s.Space, Policy: policy.ID(s.Policy), Seq: s.Seq}, nil
}

// Revise makes statements believed; elements that contradict them give way.
func (k Statements) Revise(ctx context.Context, tenant dag.Tenant, in api.BeliefRequest) (api.BeliefOutcome, error) {
	return outcomeIn(ctx)(k.Operate(ctx, tenant, Operation{journal.Revise, in}))
}

// Contract gives up statements, and as many of the elements from which they follow as necessary.
func (k Statements) Contract(ctx context.Context, tenant dag.Tenant, in api.BeliefRequest) (api.BeliefOutcome, error) {
	return outcomeIn(ctx)(k.Operate(ctx, tenant, Operation{journal.Contract, in}))
}

// Expand makes statements believed if nothing contradicts them.
func (k Statements) Expand(ctx context.Context, tenant dag.Tenant, in api.BeliefRequest) (api.BeliefOutcome, error) {
	return outcomeIn(ctx)(k.Operate(ctx, tenant, Operation{journal.Expand, in}))
}

// Propose revises if everything that would give way is less entrenched and not protected. Otherwise the proposal waits as a conflict.
func (k Statements) Propose(ctx context.Context, tenant dag.Tenant, in api.BeliefRequest) (api.BeliefOutcome, error) {
	return outcomeIn(ctx)(k.Operate(ctx, tenant, Operation{journal.Propose, in}))
}

// An Operation is a request with its operator.
type Operation struct {
	Operator journal.Operator
	api.BeliefRequest
}

// Operate decides an operation with the beliefs at the time of the commit. The rank of the statements depends on the
// caller's role and on the turns that they rest on.
func (k Statements) Operate(ctx context.Context, tenant dag.Tenant, in Operation) (_ *journal.Outcome, err error) {
	ctx, observed := k.kernel.Observe(ctx, "believe")
	defer func() { observed(err) }()
	r, err := k.request(ctx, tenant, in.Operator, &in.BeliefRequest, nil)
	if err != nil {
		return nil, err
	}
	return k.decide(ctx, tenant, r, nil)
}

// decide decides a request under the policy of its space. A rank that is not nil replaces the rank that the caller's role gives the statements.
func (k Statements) decide(ctx context.Context, tenant dag.Tenant, r *beliefRequest, rank *journal.Rank) (o *journal.Outcome, err error) {
	err = k.underPolicyOf(ctx, tenant, r.Space, r.NewSpace, func(p kinds.Policy, id string) error {
		if k.decideUnder(r, p, id); rank != nil {
			r.Rank = *rank
		}
		o, err = k.journal().Operate(ctx, tenant, r.Request)
		return err
	})
	return o, err
}

// decideUnder sets the fields of a request that depend on the policy of the space and on the caller: the constraints, their limits, the
// allowed kinds, the number of waiting proposals, and the rank of the statements.
func (k Statements) decideUnder(r *beliefRequest, p kinds.Policy, id string) {
	b := k.binding(p)
	r.Policy, r.Constraints, r.Limits, r.Allow = id, p.Constraints(), b.limits(), p.Allow
	if !r.believes {
		r.Waiting = journal.MaxWaiting
	}
	kind := r.Kind
	if r.Item != "" {
		kind = r.Item.Kind()
	}
	of, ok := b.kinds[kind]
	if !ok {
		of = p.Kind(kind)
	}
	r.Rank = rankOf(of, r)
}

type beliefRequest struct {
	journal.Request
	units    uint64 // units of evidence
	believes bool   // the caller may revise beliefs
}

// request checks a request, and converts it to a request of the journal. given is the wording of statements and premises that have canonical
// names already.
func (k Statements) request(ctx context.Context, tenant dag.Tenant, op journal.Operator, in *api.BeliefRequest, given journal.Wording) (*beliefRequest, error) {
	may, err := k.believes(ctx, tenant)
	if err != nil {
		return nil, err
	}
	if op != journal.Propose && !may {
		return nil, fmt.Errorf("%w; propose instead", mayNotBelieve(ctx, string(op)))
	}
	kind, source, confidence := cmp.Or(in.Kind, "fact"), "manual", dag.One
	if op == journal.Propose {
		source = "inference"
	}
	if source = cmp.Or(in.Source, source); in.Confidence != nil {
		confidence = *in.Confidence
	}
	if !belief.IsTag(kind) {
		return nil, fmt.Errorf("%w: the kind %.40q, want [a-z][a-z0-9_-]{0,31}", belief.ErrForm, kind)
	}
	if !journal.IsSource(source) {
		return nil, fmt.Errorf("%w: the source %.80q, want observation, manual, external, inference, cross_agent or llm:MODEL", belief.ErrForm, source)
	}
	if err := k.kernel.Screen(ctx, tenant, func() []dag.Text { return statedTexts(in) }); err != nil {
		return nil, err
	}
	aliases, err := k.kernel.Aliases(ctx, tenant, 0)
	if err != nil {
		return nil, err
	}
	r := &beliefRequest{believes: may, Request: journal.Request{
		Operator: op, Space: in.Space, Item: in.Item, Adds: in.Beside, Kind: kind, Span: belief.SpanOf(in.ValidFrom, in.ValidUntil), Turns: in.Turns, Dry: in.DryRun, By: access.CallerIn(ctx),
		Revision: journal.Revision{Text: in.Text, Title: in.Title, Summary: in.Summary, Keywords: in.Keywords, Topics: in.Topics, Confidence: confidence, Source: source, Reason: in.Reason},
	}}
	if err := k.attached(ctx, tenant, in, r); err != nil {
		return nil, err
	}
	var stated journal.Wording
	if r.Statements, stated, err = Literals(aliases, "statements", in.Statements, given); err != nil {
		return nil, err
	}
	if in.Text != "" && len(in.Statements) == 0 {
		of, err := said.Of(in.Text, in.Slot)
		if err != nil {
			return nil, &api.Fault{Code: api.CodeInvalid, Err: fmt.Errorf("text: %w", err)}
		}
		r.Statements, stated = []belief.Literal{of}, journal.Wording{of: {Subject: in.Text}}
	}
	if r.Premises, r.Wording, err = Literals(aliases, "premises", in.Premises, given); err != nil {
		return nil, err
	}
	r.Wording = r.Wording.With(stated)
	slices.SortFunc(r.Premises, belief.Literal.Compare)
	r.Premises = slices.Compact(r.Premises)
	if len(r.Premises) == 0 {
		r.Premises = nil
	}
	r.Revision.Artifacts = slices.SortedFunc(slices.Values(in.Artifacts), func(a, b belief.Artifact) int { return strings.Compare(a.Name, b.Name) })
	if err := journal.CheckArtifacts(r.Revision.Artifacts); err != nil {
		return nil, err
	}
	if in.Key != "" {
		r.Key = sha256.Sum256([]byte(in.Key))
		if !may { // so that an agent cannot take the key of a person's request
			r.Key = sha256.Sum256(fmt.Appendf(nil, "proposed by %q: %s", r.By, in.Key))
		}
	}
	if r.units, err = k.evidence(ctx, tenant, in.Turns); err != nil {
		return nil, err
	}
	if r.At, err = k.kernel.Now(); err != nil {
		return nil, err
	}
	return r, k.kernel.Draw(r.Salt[:])
}

// statedTexts returns the texts of a request that are screened for secrets.
func statedTexts(in *api.BeliefRequest) (texts []dag.Text) {
	add := func(where, text string) {
		if text != "" {
			texts = append(texts, dag.Text{In: where, Text: text})
		}
	}
	for _, list := range []struct {
		name string
		of   []belief.Literal
	}{{"statements", in.Statements}, {"premises", in.Premises}} {
		for i, l := range list.of {
			add(fmt.Sprintf("%s[%d].subject", list.name, i), l.Subject)
			add(fmt.Sprintf("%s[%d].predicate", list.name, i), l.Predicate)
			add(fmt.Sprintf("%s[%d].object", list.name, i), l.Object)
		}
	}
	if in.Text != "" {
		texts = append(texts, dag.Text{In: "text", Text: in.Text, Told: true})
	}
	add("title", in.Title)
	add("summary", in.Summary)
	add("reason", in.Reason)
	add("keywords", strings.Join(in.Keywords, "\n"))
	add("topics", strings.Join(in.Topics, "\n"))
	for i, a := range in.Artifacts {
		add(fmt.Sprintf("artifacts[%d].location", i), a.Location)
	}
	return texts
}

// believes reports whether the caller may revise beliefs: the caller vouches, and requests of the caller count as a member's or more.
func (k reader) believes(ctx context.Context, tenant dag.Tenant) (bool, error) {
	if !access.Asking(ctx).Vouches() {
		return false, nil
	}
	of, err := k.kernel.Counts(ctx, tenant)
	return of >= standing.Member, err
}

// rankOf returns the rank of the statements of a request: callers who may revise count as people, and all others as sources that infer.
func rankOf(kind kinds.Kind, of *beliefRequest) journal.Rank {
	r := journal.Rank{Class: belief.Human}
	if !of.believes {
		r.Class = belief.Inferred
	}
	switch {
	case r.Class == belief.Inferred || kind.Entrenched == kinds.ByConfidence:
		r.Criterion = uint64(of.Revision.Confidence)
	case kind.Entrenched == kinds.ByEvidence:
		r.Criterion = of.units
	}
	if kind.Hard && r.Class == belief.Human {
		r.Class = belief.HardRule
	}
	return r
}

// mayBelieve refuses a caller who may only propose.
func (k reader) mayBelieve(ctx context.Context, tenant dag.Tenant, what string) error {
	may, err := k.believes(ctx, tenant)
	if err != nil || may {
		return err
	}
	return mayNotBelieve(ctx, "to "+what)
}

// mayNotBelieve returns the error for a caller who may only propose.
func mayNotBelieve(ctx context.Context, what string) error {
	if access.Asking(ctx).Vouches() {
		return fmt.Errorf("%w: %s needs a standing of member or owner, and the standing policy counts requests of %s as less", access.ErrMayNot, what, access.CallerIn(ctx))
	}
	return fmt.Errorf("%w: %s needs the permission to %s", access.ErrMayNot, what, access.Believe)
}

// ResolveConflict ends a waiting conflict: it revises the base with the proposal, with the caller's authority, or drops or defers the
// proposal. If the revision is refused, the conflict goes on waiting. The result always contains the advice of the rules.
func (k Statements) ResolveConflict(ctx context.Context, tenant dag.Tenant, in api.ConflictResolution) (out api.ResolvedConflict, _ error) {
	if err := k.mayBelieve(ctx, tenant, "resolve a conflict"); err != nil {
		return out, err
	}
	if err := k.kernel.Screen(ctx, tenant, func() []dag.Text { return []dag.Text{{In: "reason", Text: in.Reason}} }); err != nil {
		return out, err
	}
	now, err := k.kernel.Now()
	if err != nil {
		return out, err
	}
	r := journal.Resolution{Space: in.Space, Conflict: in.Conflict, How: in.How, Reason: in.Reason, By: access.CallerIn(ctx), At: now}
	err = k.underPolicy(ctx, tenant, r.Space, func(p kinds.Policy, id string) error {
		out = api.ResolvedConflict{Conflict: in.Conflict, How: in.How}
		c, err := k.journal().Conflict(ctx, tenant, r.Space, r.Conflict, history.Forever-1)
		if err != nil {
			return err
		}
		if out.Advice, err = k.advice(ctx, tenant, c, p.Constraints(), now); err != nil || r.How != journal.Taken && in.DryRun {
			return err
		}
		var request *journal.Request
		if r.How == journal.Taken {
			if request, err = k.taking(ctx, tenant, c, &in, p, id); err != nil {
				return err
			}
		}
		done, outcome, err := k.journal().Resolve(ctx, tenant, r, request)
		if err != nil {
			return err
		}
		if out.Seq = done.Seq; outcome != nil {
			o, _ := outcomeIn(ctx)(outcome, nil)
			out.Outcome = &o
		}
		return nil
	})
	return out, err
}

// taking returns the request to revise with the proposal of a conflict.
func (k Statements) taking(ctx context.Context, tenant dag.Tenant, c *journal.Conflict, r *api.ConflictResolution, p kinds.Policy, id string) (*journal.Request, error) {
	if c.Erased {
		return nil, fmt.Errorf("%w: the proposal of conflict %d was erased; drop the conflict", knowledge.ErrNoEvidence, c.Seq)
	}
	in := &api.BeliefRequest{Space: c.Space, Item: c.Item, Kind: c.Kind, Text: c.Text, Statements: c.Statements, Premises: c.Premises, Turns: c.Turns, Confidence: &c.Confidence, Reason: r.Reason, DryRun: r.DryRun}
	in.ValidFrom, in.ValidUntil = c.Span.Bounds()
	made, err := k.request(ctx, tenant, journal.Revise, in, c.Wording)
	if err != nil {
		return nil, err
	}
	k.decideUnder(made, p, id)
	made.Allow = nil // the kind was allowed when the proposal was recorded
	return &made.Request, nil
}

// advice judges a conflict against each revision that would have given way. Under the current constraints a space may be able to contain both.
func (k Statements) advice(ctx context.Context, tenant dag.Tenant, c *journal.Conflict, constraints *belief.Constraints, now dag.Time) ([]api.ConflictAdvice, error) {
	list := []api.ConflictAdvice{}
	for _, with := range c.With {
		record, err := k.journal().Item(ctx, tenant, with.Item, history.Forever-1)
		if err != nil {
			return nil, err
		}
		if old := record.Numbered(with.Revision); old != nil {
			v := rules.Judge(rules.Side{By: c.By, At: c.At, Confidence: c.Confidence}, rules.Side{By: old.By, At: old.At, Confidence: old.Confidence}, together(constraints, c, old), now)
			list = append(list, api.ConflictAdvice{Advice: string(v.Advice), Proposed: v.New, Believed: v.Old, Reason: v.Reason})
		}
	}
	return list, nil
}

// together reports whether a space can contain both the proposal of a conflict and a revision.
func together(constraints *belief.Constraints, c *journal.Conflict, old *journal.Revision) bool {
	var both belief.Base
	for _, l := range c.Statements {
		both = append(both, belief.Element{Literal: l, Premises: c.Premises, Span: c.Span})
	}
	for i := range old.Statements {
		s := &old.Statements[i]
		both = append(both, belief.Element{Literal: s.Literal, Premises: s.Premises, Span: s.Span})
	}
	_, ok := belief.Consistent(constraints, both)
	return ok && !c.Erased && !old.Erased
}
