package kernel

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
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
)

// Beliefs is what agents hold to be true.
type Beliefs struct{ *engine }

// Beliefs returns the facet of what agents hold to be true.
func (k *Kernel) Beliefs() Beliefs { return Beliefs(*k) }

// ErrMayNot is wrapped if a caller's role does not let it do what was asked.
var ErrMayNot = errors.New("the role of the key does not permit it")

func (k *engine) journal() journal.Base {
	return journal.Base{History: k.store, Kept: (*keptRevisions)(k.kept.Load())}
}

// revisionBytes bounds the revisions of beliefs that are kept.
const revisionBytes = 64 << 20

// termBytes bounds the terms of revisions that are kept, for contexts.
const termBytes = 32 << 20

// keptRevisions are the revisions of beliefs in a cache, as long as its epoch lasts.
type keptRevisions cache

type revisionKey struct {
	tenant dag.Tenant
	seq    dag.Seq
}

func (c *keptRevisions) Revision(tenant dag.Tenant, seq dag.Seq) *journal.Revision {
	if c.k.store.Epoch() != c.store.epoch {
		return nil
	}
	r, _ := c.revisions.Get(revisionKey{tenant, seq})
	return r
}

func (c *keptRevisions) Keep(tenant dag.Tenant, r *journal.Revision) {
	if c.k.store.Epoch() == c.store.epoch {
		c.revisions.Put(revisionKey{tenant, r.Seq}, r, r.Size())
	}
}

// kindsOf returns the policy of a space, and its id.
func (k *engine) kindsOf(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (kinds.Policy, string, error) {
	id, err := k.spaceOf(ctx, tenant, space, asOf)
	if err != nil {
		return kinds.Policy{}, "", err
	}
	p, err := k.kindPolicy(ctx, tenant, policy.ID(id))
	return p, id, err
}

func (k *engine) kindPolicy(ctx context.Context, tenant dag.Tenant, id policy.ID) (kinds.Policy, error) {
	r, err := Policies{k}.Get(ctx, tenant, id)
	if err != nil {
		return kinds.Policy{}, err
	}
	return kinds.Of(r)
}

// literals brings literals into canonical names under the aliases of now, and returns how they were written, where that differs. given is how some of
// them were written before they got their names.
func (k *engine) literals(aliases *normalize.Table, member string, list []belief.Literal, given journal.Wording) ([]belief.Literal, journal.Wording, error) {
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
			case *n.as == "" && n.from == name && *n.to != name: // an alias, written as its own name is
				*n.as = name
			}
		}
		if out[i].Not = l.Not; as != (knowledge.Written{}) {
			wording[out[i]] = as
		}
	}
	return out, wording, nil
}

// SetSpace makes a space of beliefs, or puts it under another policy of kinds. A policy under which what is believed
// contradicts itself is refused.
func (k Beliefs) SetSpace(ctx context.Context, tenant dag.Tenant, in api.NewSpace) (out api.Space, _ error) {
	space, id := in.Space, in.Policy
	if err := mayBelieve(ctx, "set the policy of a space"); err != nil {
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
	now, err := k.now()
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
		return loadOf(kindsByName(p), held).Grown(loadOf(kindsByName(was), held), space)
	})
	k.changes.tell(tenant)
	if err != nil {
		return out, err
	}
	return api.Space{Space: s.Space, Policy: policy.ID(s.Policy), Seq: s.Seq}, nil
}

// Revise believes statements, and what contradicts them gives way.
func (k Beliefs) Revise(ctx context.Context, tenant dag.Tenant, in api.BeliefRequest) (api.BeliefOutcome, error) {
	return outcomeIn(ctx)(k.operate(ctx, tenant, journal.Revise, &in))
}

// Contract gives statements up, and as much of what they follow from as is needed.
func (k Beliefs) Contract(ctx context.Context, tenant dag.Tenant, in api.BeliefRequest) (api.BeliefOutcome, error) {
	return outcomeIn(ctx)(k.operate(ctx, tenant, journal.Contract, &in))
}

// Expand believes statements if nothing contradicts them.
func (k Beliefs) Expand(ctx context.Context, tenant dag.Tenant, in api.BeliefRequest) (api.BeliefOutcome, error) {
	return outcomeIn(ctx)(k.operate(ctx, tenant, journal.Expand, &in))
}

// Propose revises if everything that would give way is less entrenched and not protected. Otherwise the proposal waits as a conflict.
func (k Beliefs) Propose(ctx context.Context, tenant dag.Tenant, in api.BeliefRequest) (api.BeliefOutcome, error) {
	return outcomeIn(ctx)(k.operate(ctx, tenant, journal.Propose, &in))
}

// operate decides on an operation with what is believed at the commit. What the statements are worth follows from the
// caller's role and from the turns that they rest on.
func (k Beliefs) operate(ctx context.Context, tenant dag.Tenant, op journal.Operator, in *api.BeliefRequest) (_ *journal.Outcome, err error) {
	ctx, observed := k.observe(ctx, "believe")
	defer func() { observed(err) }()
	r, err := k.request(ctx, tenant, op, in, nil)
	if err != nil {
		return nil, err
	}
	var o *journal.Outcome
	err = k.underPolicyOf(ctx, tenant, in.Space, in.NewSpace, func(p kinds.Policy, id string) error {
		k.decideUnder(ctx, r, p, id)
		o, err = k.journal().Operate(ctx, tenant, r.Request)
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// underPolicy calls do with the policy of a space, and again if the space was put under another one meanwhile.
func (k Beliefs) underPolicy(ctx context.Context, tenant dag.Tenant, space belief.Space, do func(p kinds.Policy, id string) error) error {
	return k.underPolicyOf(ctx, tenant, space, false, do)
}

// underPolicyOf is like underPolicy, but takes the policy of new spaces for a space that is not there and that do makes.
func (k Beliefs) underPolicyOf(ctx context.Context, tenant dag.Tenant, space belief.Space, makes bool, do func(p kinds.Policy, id string) error) error {
	defer k.changes.tell(tenant)
	const most = 5
	for tries := 1; ; tries++ {
		p, id, err := k.kindsOf(ctx, tenant, space, history.Forever-1)
		if makes && errors.Is(err, journal.ErrSpace) {
			id = string(kinds.ID)
			p, err = k.kindPolicy(ctx, tenant, kinds.ID)
		}
		if err == nil {
			err = do(p, id)
		}
		if !errors.Is(err, journal.ErrMoved) || tries == most {
			return err
		}
	}
}

// decideUnder sets what follows from the policy of the space: the constraints, and what the statements are worth.
func (k Beliefs) decideUnder(ctx context.Context, r *beliefRequest, p kinds.Policy, id string) {
	named := kindsByName(p)
	r.Policy, r.Constraints, r.Limits, r.Allow = id, p.Constraints(), limitsOf(named), p.Allow
	if !believes(ctx) {
		r.Waiting = journal.MaxWaiting
	}
	kind := r.Kind
	if r.Item != "" {
		kind = r.Item.Kind()
	}
	of, ok := named[kind]
	if !ok {
		of = p.Kind(kind)
	}
	r.Rank = k.rank(ctx, of, r)
}

type beliefRequest struct {
	journal.Request
	units uint64 // of evidence
}

// request checks a request, and brings it into the form of the journal. given is how statements and premises were written that have canonical
// names already.
func (k Beliefs) request(ctx context.Context, tenant dag.Tenant, op journal.Operator, in *api.BeliefRequest, given journal.Wording) (*beliefRequest, error) {
	if op != journal.Propose && !believes(ctx) {
		return nil, fmt.Errorf("%w: %s needs the permission to %s; propose instead", ErrMayNot, op, access.Believe)
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
	if err := k.screen(ctx, tenant, func() []Text { return statedTexts(in) }); err != nil {
		return nil, err
	}
	aliases, err := k.facts().Aliases(ctx, tenant, 0)
	if err != nil {
		return nil, err
	}
	r := &beliefRequest{Request: journal.Request{
		Operator: op, Space: in.Space, Item: in.Item, Kind: kind, Span: belief.SpanOf(in.ValidFrom, in.ValidUntil), Turns: in.Turns, Dry: in.DryRun, By: access.CallerIn(ctx),
		Revision: journal.Revision{Title: in.Title, Summary: in.Summary, Keywords: in.Keywords, Topics: in.Topics, Confidence: confidence, Source: source, Reason: in.Reason},
	}}
	if err := k.attached(ctx, tenant, in, r); err != nil {
		return nil, err
	}
	var stated journal.Wording
	if r.Statements, stated, err = k.literals(aliases, "statements", in.Statements, given); err != nil {
		return nil, err
	}
	if r.Premises, r.Wording, err = k.literals(aliases, "premises", in.Premises, given); err != nil {
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
		if !believes(ctx) { // so that an agent answers no request of a person by having its key
			r.Key = sha256.Sum256(fmt.Appendf(nil, "proposed by %q: %s", r.By, in.Key))
		}
	}
	if r.units, err = k.evidence(ctx, tenant, in.Turns); err != nil {
		return nil, err
	}
	if r.At, err = k.now(); err != nil {
		return nil, err
	}
	return r, k.draw(r.Salt[:])
}

// statedTexts are the texts of a request that are screened for secrets.
func statedTexts(in *api.BeliefRequest) (texts []Text) {
	add := func(where, text string) {
		if text != "" {
			texts = append(texts, Text{In: where, Text: text})
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

// believes reports whether a caller may say what is believed.
func believes(ctx context.Context) bool { return access.Asking(ctx).Vouches() }

// rank is what the statements are worth by who wrote them: people who may revise count as people, and agents as sources that infer.
func (k Beliefs) rank(ctx context.Context, kind kinds.Kind, of *beliefRequest) journal.Rank {
	r := journal.Rank{Class: belief.Human}
	if !believes(ctx) {
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

// evidence makes sure that turns are here and have their text, and counts the units of evidence: what a person said 3, what a tool
// answered 2, and what the agent said itself 1.
func (k *engine) evidence(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) (units uint64, _ error) {
	if len(turns) == 0 {
		return 0, nil
	}
	records, err := k.store.Turns(ctx, tenant, store.IDs(turns))
	if err != nil {
		return 0, err
	}
	there := map[dag.TurnID]bool{}
	for i := range records {
		r := &records[i]
		if r.Body == nil && !r.Withheld {
			return 0, fmt.Errorf("%w: the text of turn %s was erased", ErrNoEvidence, r.Turn.ID)
		}
		there[r.Turn.ID] = true
		switch {
		case r.Marks.Voice == dag.VoicePerson && (r.Turn.Role != dag.RoleTool || r.Marks.Rules != dag.Marks1):
			units += 3
		case r.Turn.Role == dag.RoleTool:
			units += 2
		default:
			units++
		}
	}
	for _, id := range turns {
		if !there[id] {
			return 0, fmt.Errorf("%w: turn %s of tenant %s", ErrNoEvidence, id, tenant)
		}
	}
	return units, nil
}

// Tag points a tag of an item to a revision, or takes it away.
func (k Beliefs) Tag(ctx context.Context, tenant dag.Tenant, in api.NewTag) (api.KrefChange, error) {
	return acted(k.act(ctx, tenant, journal.Act{Item: in.Ref, Tag: in.Tag, Number: in.Revision, Reason: in.Reason}))
}

// Deprecate takes an item out of what is believed.
func (k Beliefs) Deprecate(ctx context.Context, tenant dag.Tenant, in api.Deprecation) (api.KrefChange, error) {
	return acted(k.act(ctx, tenant, journal.Act{Item: in.Ref, Deprecates: true, Reason: in.Reason}))
}

// Restore puts an item back that was deprecated. It is refused if that would contradict what is believed.
func (k Beliefs) Restore(ctx context.Context, tenant dag.Tenant, in api.Deprecation) (api.KrefChange, error) {
	return acted(k.act(ctx, tenant, journal.Act{Item: in.Ref, Reason: in.Reason}))
}

// act moves a tag of an item, or deprecates or restores it. Moving current or published needs the permission to revise, and so does the rest.
func (k Beliefs) act(ctx context.Context, tenant dag.Tenant, a journal.Act) (*journal.Acted, error) {
	if free := a.Tag != "" && isFree(a.Tag); !free && !believes(ctx) {
		return nil, fmt.Errorf("%w: it needs the permission to %s", ErrMayNot, access.Believe)
	}
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	a.By, a.At = access.CallerIn(ctx), now
	if err := k.draw(a.Salt[:]); err != nil {
		return nil, err
	}
	var done *journal.Acted
	err = k.underPolicy(ctx, tenant, a.Item.Space(), func(p kinds.Policy, id string) error {
		a.Policy, a.Constraints, a.Limits = id, p.Constraints(), limitsOf(kindsByName(p))
		done, err = k.journal().Do(ctx, tenant, a)
		return err
	})
	return done, err
}

// A BeliefBase is what is believed in a space as of a number.
type BeliefBase struct {
	AsOf     dag.Seq
	Policy   string
	Held     []journal.Believed // statements and rules
	Follows  []belief.Conclusion
	Elements belief.Base // of Held
}

// Held returns what is believed in a space as of a number, 0 is now, at an instant or, with nil, at any time.
func (k Beliefs) Held(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq, validAt *dag.Time) (_ *BeliefBase, err error) {
	ctx, observed := k.observe(ctx, "belief base")
	defer func() { observed(err) }()
	b := &BeliefBase{}
	if b.AsOf, err = k.asOfHead(ctx, tenant, asOf); err != nil {
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

// Base answers what is believed in a space: what is stated, and what follows from it by rules and is stated nowhere.
func (k Beliefs) Base(ctx context.Context, tenant dag.Tenant, in api.BaseQuery) (out api.BeliefBase, err error) {
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
	out = b.answer(in.Space)
	if subject == "" {
		return out, nil
	}
	aliases, err := k.facts().Aliases(ctx, tenant, b.AsOf)
	if err != nil {
		return api.BeliefBase{}, err
	}
	subject = aliases.Resolve(subject)
	out.Statements = slices.DeleteFunc(out.Statements, func(h api.HeldStatement) bool { return aliases.Resolve(h.Subject) != subject })
	return out, nil
}

// Diff answers what came to be believed in a space between two numbers, and what no longer is. Before there was the space nothing was.
func (k Beliefs) Diff(ctx context.Context, tenant dag.Tenant, in api.BaseDiffQuery) (out api.BaseDiff, _ error) {
	after, err := k.Held(ctx, tenant, in.Space, in.To, nil)
	if err != nil {
		return out, err
	}
	before, err := k.Held(ctx, tenant, in.Space, in.From, nil)
	if errors.Is(err, journal.ErrSpace) {
		before = &BeliefBase{}
		before.AsOf, err = k.asOfHead(ctx, tenant, in.From)
	}
	if err != nil {
		return out, err
	}
	old, now := before.answer(in.Space).Statements, after.answer(in.Space).Statements
	beyond := func(list, other []api.HeldStatement) []api.HeldStatement {
		return slices.DeleteFunc(slices.Clone(list), func(a api.HeldStatement) bool {
			return slices.ContainsFunc(other, func(b api.HeldStatement) bool {
				return a.BeliefStatement == b.BeliefStatement && a.Item == b.Item && a.Derived == b.Derived && belief.SpanOf(a.ValidFrom, a.ValidUntil) == belief.SpanOf(b.ValidFrom, b.ValidUntil)
			})
		})
	}
	return api.BaseDiff{From: before.AsOf, To: after.AsOf, Added: beyond(now, old), Removed: beyond(old, now)}, nil
}

// A Kref is what an address leads to.
type Kref struct {
	AsOf     dag.Seq
	Record   *journal.ItemRecord
	Revision *journal.Revision // nil: the tag points to none
	Artifact *belief.Artifact  // that the address names; nil: it names none
}

// follow is Kref of an address as it is written.
func (k Beliefs) follow(ctx context.Context, tenant dag.Tenant, ref string) (a belief.Address, kref *Kref, err error) {
	if a, err = belief.ParseAddress(ref); err == nil {
		kref, err = k.Kref(ctx, tenant, a)
	}
	return a, kref, err
}

// Resolve answers where an address leads.
func (k Beliefs) Resolve(ctx context.Context, tenant dag.Tenant, in api.KrefQuery) (out api.ResolvedKref, _ error) {
	a, kref, err := k.follow(ctx, tenant, in.Ref)
	if err != nil {
		return out, err
	}
	out = api.ResolvedKref{Ref: in.Ref, AsOf: kref.AsOf, Item: a.Item, Deprecated: kref.Record.Deprecated, Artifact: kref.Artifact, Revisions: len(kref.Record.Revisions), Tags: []api.ItemTag{}}
	for _, t := range kref.Record.Tags {
		one := api.ItemTag{Tag: t.Name, Revision: t.Number, Since: t.Since}
		if t.Until != journal.Forever {
			one.Until = t.Until
		}
		out.Tags = append(out.Tags, one)
	}
	if kref.Revision != nil {
		out.Revision = itemRevision(kref.Revision)
	}
	return out, nil
}

// Kref follows an address: to the revision that it names, or that its tag pointed to as of its number or its time, and to the artifact of it.
func (k Beliefs) Kref(ctx context.Context, tenant dag.Tenant, a belief.Address) (*Kref, error) {
	return steady(k.engine, func(c *cache) (*Kref, error) { return c.resolve(ctx, tenant, a) })
}

func (c *cache) resolve(ctx context.Context, tenant dag.Tenant, a belief.Address) (*Kref, error) {
	if err := scopeOf(ctx).check(a.Item.Space()); err != nil {
		return nil, err
	}
	head, err := c.store.Head(ctx, tenant)
	if err != nil {
		return nil, err
	}
	asOf, err := c.ends.upTo(ctx, tenant, a.Seq, head)
	if err != nil {
		return nil, err
	}
	h, err := c.beliefItem(ctx, tenant, a.Item, head)
	if err != nil {
		return nil, err
	}
	r, err := h.AsOf(asOf)
	if err == nil && a.At != 0 {
		if asOf, err = c.journal().Upto(ctx, tenant, r, a.At); err == nil {
			r, err = h.AsOf(asOf)
		}
	}
	if err != nil {
		return nil, err
	}
	kref := &Kref{AsOf: asOf, Record: r}
	if a.Revision == 0 {
		kref.Revision = r.Tagged(cmp.Or(a.Tag, journal.Current))
	} else if kref.Revision = r.Numbered(a.Revision); kref.Revision == nil {
		return nil, fmt.Errorf("%w: %s", journal.ErrNoItem, a)
	}
	if a.Artifact != "" {
		if kref.Revision != nil {
			kref.Artifact = kref.Revision.Artifact(a.Artifact)
		}
		if kref.Artifact == nil {
			return nil, fmt.Errorf("%w: %s has no artifact of that name", journal.ErrNoItem, a)
		}
	}
	return kref, nil
}

// Items answers a page of the items of a space, ascending, with what is current of them.
func (k Beliefs) Items(ctx context.Context, tenant dag.Tenant, in api.ItemsQuery) (out api.Items, _ error) {
	limit := cmp.Or(in.Limit, 100)
	list, err := k.items(ctx, tenant, in.Space, in.After, limit, in.AsOf)
	if err != nil {
		return out, err
	}
	out.Items = []api.ListedItem{}
	for _, item := range list {
		if item.Deprecated && !in.Deprecated {
			out.LeftOut++
			continue
		}
		one := api.ListedItem{Item: item.Item, Deprecated: item.Deprecated, Statements: []api.RevisionElement{}}
		if item.Current != nil {
			r := itemRevision(item.Current)
			one.Revision, one.Statements, one.Title, one.Erased = r.Revision, r.Statements, r.Title, r.Erased
		}
		out.Items = append(out.Items, one)
	}
	if len(list) == limit {
		out.Next = list[limit-1].Item.Name()
	}
	return out, nil
}

// items returns up to limit items of a space above a name, ascending, with what is current of them. Deprecated ones are among them.
func (k Beliefs) items(ctx context.Context, tenant dag.Tenant, space belief.Space, after string, limit int, asOf dag.Seq) ([]journal.ItemNow, error) {
	asOf, err := k.asOfHead(ctx, tenant, asOf)
	if err != nil {
		return nil, err
	}
	if _, err := k.spaceOf(ctx, tenant, space, asOf); err != nil {
		return nil, err
	}
	names, err := k.journal().Names(ctx, tenant, space, after, limit, asOf)
	if err != nil {
		return nil, err
	}
	return k.journal().Now(ctx, tenant, names, asOf)
}

// Conflicts answers the proposals that were not taken and wait.
func (k Beliefs) Conflicts(ctx context.Context, tenant dag.Tenant, in api.ConflictsQuery) (api.Conflicts, error) {
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

func (k Beliefs) conflicts(ctx context.Context, tenant dag.Tenant, space belief.Space) ([]*journal.Conflict, error) {
	if _, err := k.spaceOf(ctx, tenant, space, history.Forever-1); err != nil {
		return nil, err
	}
	return k.journal().Conflicts(ctx, tenant, space, history.Forever-1)
}

// Changes returns up to limit of what was recorded of beliefs above a number, ascending.
func (k Beliefs) Changes(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) (events []api.BeliefEvent, _ error) {
	list, err := k.journal().Recorded(ctx, tenant, after, limit)
	for i := range list {
		r := &list[i]
		kind, _, _ := strings.Cut(string(r.Kind), "/")
		events = append(events, api.BeliefEvent{Seq: r.Seq, At: r.At, Kind: kind, Space: r.Space, Item: r.Item, Revision: r.Revision, Tag: r.Tag, By: r.By, Erased: r.Erased})
	}
	return events, err
}
