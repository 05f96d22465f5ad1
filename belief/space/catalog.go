package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/slice"
)

// A Kref is the item, revision and artifact that an address leads to.
type Kref struct {
	AsOf     dag.Seq
	Record   *journal.ItemRecord
	Revision *journal.Revision // nil: the tag points to no revision
	Artifact *belief.Artifact  // the artifact that the address names; nil: it names none
}

// follow is like Kref, but parses the address first.
func (k Catalog) follow(ctx context.Context, tenant dag.Tenant, ref string) (a belief.Address, kref *Kref, err error) {
	if a, err = belief.ParseAddress(ref); err == nil {
		kref, err = k.Kref(ctx, tenant, a)
	}
	return a, kref, err
}

// Resolve returns the item, revision and artifact that an address leads to.
func (k Catalog) Resolve(ctx context.Context, tenant dag.Tenant, in api.KrefQuery) (out api.ResolvedKref, _ error) {
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

// Kref follows an address to the revision that it names or that its tag pointed to as of its number or time, and to the artifact that it names.
func (k Catalog) Kref(ctx context.Context, tenant dag.Tenant, a belief.Address) (*Kref, error) {
	return read(k.kernel, func(e Epoch) (*Kref, error) { return resolve(ctx, e, tenant, a) })
}

func resolve(ctx context.Context, e Epoch, tenant dag.Tenant, a belief.Address) (*Kref, error) {
	if err := ScopeOf(ctx).Check(a.Item.Space()); err != nil {
		return nil, err
	}
	h, asOf, err := e.Item(ctx, tenant, a.Item, a.Seq)
	if err != nil {
		return nil, err
	}
	r, err := h.AsOf(asOf)
	if err == nil && a.At != 0 {
		if asOf, err = e.Kept().Journal().Upto(ctx, tenant, r, a.At); err == nil {
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
			return nil, fmt.Errorf("%w: %s: the revision has no artifact with this name", journal.ErrNoItem, a)
		}
	}
	return kref, nil
}

// Items returns a page of the items of a space, ascending, each with its current revision.
func (k Catalog) Items(ctx context.Context, tenant dag.Tenant, in api.ItemsQuery) (out api.Items, _ error) {
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

// items returns up to limit items of a space with names above after, ascending, each with its current revision. It includes deprecated items.
func (k Catalog) items(ctx context.Context, tenant dag.Tenant, space belief.Space, after string, limit int, asOf dag.Seq) ([]journal.ItemNow, error) {
	asOf, err := k.kernel.AsOf(ctx, tenant, asOf)
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

// Tag points a tag of an item to a revision, or removes it.
func (k Catalog) Tag(ctx context.Context, tenant dag.Tenant, in api.NewTag) (api.KrefChange, error) {
	return acted(k.Act(ctx, tenant, journal.Act{Item: in.Ref, Tag: in.Tag, Number: in.Revision, Reason: in.Reason}))
}

// Deprecate marks an item as deprecated: its statements are no longer believed.
func (k Catalog) Deprecate(ctx context.Context, tenant dag.Tenant, in api.Deprecation) (api.KrefChange, error) {
	return acted(k.Act(ctx, tenant, journal.Act{Item: in.Ref, Deprecates: true, Reason: in.Reason}))
}

// Restore makes a deprecated item believed again. It is refused if the item contradicts the base of the space.
func (k Catalog) Restore(ctx context.Context, tenant dag.Tenant, in api.Deprecation) (api.KrefChange, error) {
	return acted(k.Act(ctx, tenant, journal.Act{Item: in.Ref, Reason: in.Reason}))
}

// Act moves a tag of an item, or deprecates or restores the item. Everything except moving a tag other than current and published needs
// the permission to revise.
func (k Catalog) Act(ctx context.Context, tenant dag.Tenant, a journal.Act) (*journal.Acted, error) {
	if a.Tag == "" || !isFree(a.Tag) {
		if may, err := k.believes(ctx, tenant); err != nil {
			return nil, err
		} else if !may {
			return nil, mayNotBelieve(ctx, "this act")
		}
	}
	return k.act(ctx, tenant, a)
}

// act performs an act for a caller who may do it.
func (k Catalog) act(ctx context.Context, tenant dag.Tenant, a journal.Act) (done *journal.Acted, err error) {
	if a.At, err = k.kernel.Now(); err != nil {
		return nil, err
	}
	a.By = access.CallerIn(ctx)
	if err := k.kernel.Draw(a.Salt[:]); err != nil {
		return nil, err
	}
	err = k.underPolicy(ctx, tenant, a.Item.Space(), func(p kinds.Policy, id string) error {
		a.Policy, a.Constraints, a.Limits = id, p.Constraints(), k.binding(p).limits()
		done, err = k.journal().Do(ctx, tenant, a)
		return err
	})
	return done, err
}

// Used records a use of the revision that an address leads to, and returns how often its item was used.
func (k Catalog) Used(ctx context.Context, tenant dag.Tenant, in api.BeliefUse) (out api.UseRecord, _ error) {
	a, kref, err := k.follow(ctx, tenant, in.Ref)
	if err != nil {
		return out, err
	}
	if kref.Revision == nil {
		return out, fmt.Errorf("%w: %s: the item has no such revision", journal.ErrNoItem, a)
	}
	now, err := k.kernel.Now()
	if err != nil {
		return out, err
	}
	u, err := k.journal().AddUse(ctx, tenant, journal.Use{Of: belief.Address{Item: a.Item, Revision: kref.Revision.Number}, Success: in.Success, By: access.CallerIn(ctx), At: now})
	if err != nil {
		return out, err
	}
	k.kernel.Changed(tenant)
	used, err := k.journal().Used(ctx, tenant, []belief.Item{a.Item}, history.Forever-1)
	if err != nil {
		return out, err
	}
	r := rules.Rate(usesOf(used[0]))
	return api.UseRecord{Seq: u.Seq, Ref: u.Of.String(), Uses: r.Uses, Successes: r.Successes, Rate: r.Rate}, nil
}

func usesOf(list []*journal.Use) (uses []rules.Use) {
	for _, u := range list {
		uses = append(uses, rules.Use{ID: fmt.Sprint(u.Seq), By: u.By, At: u.At, Success: u.Success})
	}
	return uses
}

// isFree reports whether a caller who may propose, but not revise, may move a tag: any but current and published.
func isFree(tag string) bool { return tag != journal.Current && tag != journal.Published }

// Link adds a link from a revision to another, to a turn or to a slice.
func (k Catalog) Link(ctx context.Context, tenant dag.Tenant, in api.NewLink) (out api.KrefChange, _ error) {
	from, err := belief.ParseAddress(in.From)
	if err != nil {
		return out, err
	}
	if from.Revision == 0 {
		return out, fmt.Errorf("%w: from: %s does not name a revision; add ?r= and its number", belief.ErrForm, from)
	}
	l, err := k.link(ctx, tenant, journal.Link{From: from, Type: in.Type, To: in.To})
	if err != nil {
		return out, err
	}
	if out = (api.KrefChange{Outcome: journal.Changed, Seq: l.Seq}); l.Known {
		out.Outcome = journal.Unchanged
	}
	return out, nil
}

func (k Catalog) link(ctx context.Context, tenant dag.Tenant, l journal.Link) (*journal.Link, error) {
	now, err := k.kernel.Now()
	if err != nil {
		return nil, err
	}
	if err := ScopeOf(ctx).Check(l.From.Item.Space()); err != nil {
		return nil, err
	}
	if err := k.linked(ctx, tenant, &l); err != nil {
		return nil, err
	}
	if err := k.speaks(ctx, tenant, &l); err != nil {
		return nil, err
	}
	if l.From.Artifact != "" {
		return nil, fmt.Errorf("%w: from: %s names an artifact; links lead from revisions", belief.ErrForm, l.From)
	}
	l.By, l.At = access.CallerIn(ctx), now
	done, err := k.journal().AddLink(ctx, tenant, l)
	k.kernel.Changed(tenant)
	return done, err
}

// speaks refuses a link from a revision to its evidence if a person vouches for a statement of the revision and the caller may not revise.
func (k Catalog) speaks(ctx context.Context, tenant dag.Tenant, l *journal.Link) error {
	if !slices.Contains(evidential, l.Type) {
		return nil
	}
	if may, err := k.believes(ctx, tenant); err != nil || may {
		return err
	}
	from := l.From
	record, err := k.journal().Item(ctx, tenant, from.Item, history.Forever-1)
	if err != nil {
		return err
	}
	if r := record.Numbered(from.Revision); r != nil && slices.ContainsFunc(r.Statements, func(s journal.Stated) bool { return s.Rank.Class >= belief.Human }) {
		return mayNotBelieve(ctx, fmt.Sprintf("a person vouches for the source of the link %s from %s, so the link", l.Type, from))
	}
	return nil
}

// lends reports whether a link counts when the rules change a revision. If persons vouch for the revision, a link that an agent recorded
// does not count, and neither does a link from a proposed revision that a JWT recorded, because the role of a JWT is not recorded.
func (k Upkeep) lends(ctx context.Context, tenant dag.Tenant, w *web, r *journal.Revision, l *journal.Link) (bool, error) {
	if !r.Vouched() {
		return true, nil
	}
	if agents, err := k.kernel.OfAgent(ctx, tenant, l.By); err != nil || agents {
		return false, err
	}
	at, ok := w.at[l.From.String()]
	return !strings.HasPrefix(l.By, access.JWT) || ok && w.revisions[at].Vouched(), nil
}

// errLink is wrapped if the target of a link is malformed.
var errLink = errors.New("want a link to the address of a revision, to turn:ID or to slice:ID")

// linked refuses a link whose type callers may not use, or whose target does not exist. The journal checks that a target revision exists.
func (k Catalog) linked(ctx context.Context, tenant dag.Tenant, l *journal.Link) error {
	if l.Type == rules.DecayedFrom {
		return fmt.Errorf("%w: only decay makes links of the type %s", belief.ErrForm, l.Type)
	}
	if turn, ok := strings.CutPrefix(l.To, "turn:"); ok {
		id, err := dag.ParseTurnID(turn)
		if err != nil {
			return err
		}
		_, err = k.evidence(ctx, tenant, []dag.TurnID{id})
		return err
	}
	if id, ok := strings.CutPrefix(l.To, "slice:"); ok {
		s, err := slice.ParseSliceID(id)
		if err != nil {
			return err
		}
		err = k.kernel.Issued(ctx, tenant, s)
		return err
	}
	a, err := belief.ParseAddress(l.To)
	if err != nil || a.Revision == 0 {
		return fmt.Errorf("%w: to: %.200q: %w", belief.ErrForm, l.To, errLink)
	}
	if err = ScopeOf(ctx).Check(a.Item.Space()); err == nil && a.Artifact != "" {
		_, err = k.Kref(ctx, tenant, a)
	}
	return err
}

// attached copies links, tags and a new space from a request, if the caller may make them.
func (k Statements) attached(ctx context.Context, tenant dag.Tenant, in *api.BeliefRequest, r *beliefRequest) error {
	if in.NewSpace && !r.believes {
		return mayNotBelieve(ctx, "to make a space")
	}
	for _, tag := range in.Tags {
		if !isFree(tag) && !r.believes {
			return mayNotBelieve(ctx, "the tag "+tag)
		}
	}
	r.NewSpace, r.Tags = in.NewSpace, in.Tags
	for _, l := range in.Links {
		r.Links = append(r.Links, journal.Link{Type: l.Type, To: l.To})
	}
	if err := r.CheckAttached(); err != nil {
		return err
	}
	for i := range r.Links {
		if err := k.catalog().linked(ctx, tenant, &r.Links[i]); err != nil {
			return fmt.Errorf("links[%d]: %w", i, err)
		}
	}
	return nil
}

// An impact contains the conclusions and links that depend on a revision.
type impact struct {
	Kref
	Falls   []belief.Conclusion // conclusions that would not follow without it; their Support is nil
	Wording journal.Wording     // of Falls
	Links   []journal.Dependent

	Deprecated map[belief.Item]bool // by item of Links
}

// Impact returns the conclusions that would not follow without a revision, and the links that lead to it over some steps.
func (k Catalog) Impact(ctx context.Context, tenant dag.Tenant, in api.ImpactQuery) (out api.Impact, _ error) {
	a, err := belief.ParseAddress(in.Ref)
	if err != nil {
		return out, err
	}
	of, err := k.impact(ctx, tenant, a, cmp.Or(in.Depth, 10))
	if err != nil {
		return out, err
	}
	out = api.Impact{AsOf: of.AsOf, Ref: of.Revision.Address().String(), Falls: []api.WrittenStatement{}, Links: []api.Dependent{}}
	for _, f := range of.Falls {
		out.Falls = append(out.Falls, worded(f.Literal, of.Wording))
	}
	for _, l := range of.Links {
		out.Links = append(out.Links, api.Dependent{Ref: l.From.String(), Type: l.Type, To: l.To, Depth: l.Depth, Deprecated: of.Deprecated[l.From.Item]})
	}
	return out, nil
}

func (k Catalog) impact(ctx context.Context, tenant dag.Tenant, a belief.Address, depth int) (*impact, error) {
	return read(k.kernel, func(e Epoch) (*impact, error) {
		kref, err := resolve(ctx, e, tenant, a)
		if err != nil {
			return nil, err
		}
		if kref.Revision == nil {
			return nil, fmt.Errorf("%w: %s: the item has no such revision", journal.ErrNoItem, a)
		}
		of := &impact{Kref: *kref}
		if of.Falls, of.Wording, err = k.falls(ctx, e, tenant, kref); err != nil {
			return nil, err
		}
		root := belief.Address{Item: a.Item, Revision: kref.Revision.Number}
		of.Links, err = e.Kept().links.dependents(ctx, tenant, root, depth, kref.AsOf)
		of.Links = ScopeOf(ctx).dependents(root, of.Links, depth)
		if err == nil {
			of.Deprecated, err = deprecated(ctx, e, tenant, of.Links, kref.AsOf)
		}
		return of, err
	})
}

// falls returns the conclusions that would no longer follow without a revision, with their wording. It examines the elements that rules connect with the
// statements of the revision.
func (k Catalog) falls(ctx context.Context, e Epoch, tenant dag.Tenant, kref *Kref) ([]belief.Conclusion, journal.Wording, error) {
	space := kref.Record.Item.Space()
	p, _, err := k.kindsOf(ctx, tenant, space, kref.AsOf)
	if err != nil {
		return nil, nil, err
	}
	held, err := e.Kept().Journal().Near(ctx, tenant, space, kref.Revision.Statements, kref.AsOf)
	if err != nil {
		return nil, nil, err
	}
	var all, without belief.Base
	for i := range held {
		e := held[i].Element()
		if all = append(all, e); held[i].Revision.Seq != kref.Revision.Seq {
			without = append(without, e)
		}
	}
	if len(all) == len(without) {
		return nil, nil, nil
	}
	falls := belief.Fallen(p.Constraints(), all, without)
	for i := range falls {
		falls[i].Support = nil
	}
	return falls, journal.Worded(func(yield func(journal.Part) bool) {
		for i := range held {
			if !yield(held[i].Part) {
				return
			}
		}
	}), nil
}

// deprecated reports for each item of dependents whether it is deprecated as of a number.
func deprecated(ctx context.Context, e Epoch, tenant dag.Tenant, list []journal.Dependent, asOf dag.Seq) (map[belief.Item]bool, error) {
	all := map[belief.Item]bool{}
	for _, l := range list {
		all[l.From.Item] = false
	}
	now, err := e.Kept().Journal().Now(ctx, tenant, slices.Sorted(maps.Keys(all)), asOf)
	for _, item := range now {
		all[item.Item] = item.Deprecated
	}
	return all, err
}
