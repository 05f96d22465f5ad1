package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/slice"
)

// isFree reports whether a caller who may propose, but not revise, may move a tag: any but current and published.
func isFree(tag string) bool { return tag != journal.Current && tag != journal.Published }

// Link adds a link from a revision to another, to a turn or to a slice.
func (k Beliefs) Link(ctx context.Context, tenant dag.Tenant, in api.NewLink) (out api.KrefChange, _ error) {
	from, err := belief.ParseAddress(in.From)
	if err != nil {
		return out, err
	}
	if from.Revision == 0 {
		return out, fmt.Errorf("%w: from: %s names no revision; add ?r=", belief.ErrForm, from)
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

func (k Beliefs) link(ctx context.Context, tenant dag.Tenant, l journal.Link) (*journal.Link, error) {
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	if err := scopeOf(ctx).check(l.From.Item.Space()); err != nil {
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
	k.changes.tell(tenant)
	return done, err
}

// speaks refuses a link that says on what a revision rests, if a person vouches for something that the revision states and the word of the caller is not a person's.
func (k Beliefs) speaks(ctx context.Context, tenant dag.Tenant, l *journal.Link) error {
	if believes(ctx) || !slices.Contains(evidential, l.Type) {
		return nil
	}
	from := l.From
	record, err := k.journal().Item(ctx, tenant, from.Item, history.Forever-1)
	if err != nil {
		return err
	}
	if r := record.Numbered(from.Revision); r != nil && slices.ContainsFunc(r.Statements, func(s journal.Stated) bool { return s.Rank.Class >= belief.Human }) {
		return fmt.Errorf("%w: a link %s from %s, for which a person vouches, needs the permission to %s", ErrMayNot, l.Type, from, access.Believe)
	}
	return nil
}

// lends reports whether a link counts for what becomes of a revision. For one that a person vouches for, a link that an agent recorded does not, nor one
// that a JWT recorded from what was proposed, for the role of the JWT is not on record.
func (k Beliefs) lends(ctx context.Context, tenant dag.Tenant, w *web, r *journal.Revision, l *journal.Link) (bool, error) {
	if !r.Vouched() {
		return true, nil
	}
	if agents, err := k.ofAgent(ctx, tenant, l.By); err != nil || agents {
		return false, err
	}
	at, ok := w.at[l.From.String()]
	return !strings.HasPrefix(l.By, access.JWT) || ok && w.revisions[at].Vouched(), nil
}

// errLink is wrapped if a link leads to nothing that there can be.
var errLink = errors.New("a link leads to the address of a revision, to turn:ID or to slice:ID")

// linked makes sure that callers may make links of the type, and that what the link leads to is there; of a revision, the journal does.
func (k Beliefs) linked(ctx context.Context, tenant dag.Tenant, l *journal.Link) error {
	if l.Type == rules.DecayedFrom {
		return fmt.Errorf("%w: links of the type %s are made by decay alone", belief.ErrForm, l.Type)
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
		_, err = k.slices().Issued(ctx, tenant, s)
		return err
	}
	a, err := belief.ParseAddress(l.To)
	if err != nil || a.Revision == 0 {
		return fmt.Errorf("%w: to: %.200q: %w", belief.ErrForm, l.To, errLink)
	}
	if err = scopeOf(ctx).check(a.Item.Space()); err == nil && a.Artifact != "" {
		_, err = k.Kref(ctx, tenant, a)
	}
	return err
}

// attached takes over what a request asks for beside its revision, if the caller may: links, tags and a new space.
func (k Beliefs) attached(ctx context.Context, tenant dag.Tenant, in *api.BeliefRequest, r *beliefRequest) error {
	if in.NewSpace && !believes(ctx) {
		return fmt.Errorf("%w: to make a space needs the permission to %s", ErrMayNot, access.Believe)
	}
	for _, tag := range in.Tags {
		if !isFree(tag) && !believes(ctx) {
			return fmt.Errorf("%w: the tag %s needs the permission to %s", ErrMayNot, tag, access.Believe)
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
		if err := k.linked(ctx, tenant, &r.Links[i]); err != nil {
			return fmt.Errorf("links[%d]: %w", i, err)
		}
	}
	return nil
}
