package space

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
)

// MaxOriginals bounds the revisions from which one abstraction is made.
const MaxOriginals = 64

// ErrOriginal is wrapped if an original of an abstraction is not the current revision of its item, or if its item is deprecated.
var ErrOriginal = errors.New("it is not the believed revision of its item")

// Abstract proposes an abstraction: statements that are more general than those of some originals. Links abstracted_to lead from the
// originals to the abstraction. It rests on their turns, and its confidence is the least of theirs unless the request names one. If it is
// specific enough to replace them (rules.Specific), their items are deprecated. All of this is one change; if the proposal is refused, it
// waits as a conflict and the originals stay.
func (k Upkeep) Abstract(ctx context.Context, tenant dag.Tenant, in api.AbstractionRequest) (out api.Abstraction, _ error) {
	if err := k.mayBelieve(ctx, tenant, "state an abstraction"); err != nil {
		return out, err
	}
	if n := len(in.From); n == 0 || n > MaxOriginals || in.Specificity > dag.One {
		return out, fmt.Errorf("%w: the abstraction has %d items and the specificity %s, want 1 to %d items and at most 1", belief.ErrForm, n, in.Specificity, MaxOriginals)
	}
	out.Kept = rules.KeepsOriginal(in.Specificity)
	r := api.BeliefRequest{Space: in.Space, Item: in.Item, Kind: in.Kind, Statements: in.Statements, Title: in.Title, Summary: in.Summary, Confidence: in.Confidence, Key: in.Key, DryRun: in.DryRun}
	least := dag.One
	var from []belief.Address
	for i, ref := range in.From {
		of, err := k.original(ctx, tenant, r.Space, ref)
		if err != nil {
			return out, fmt.Errorf("from[%d]: %w", i, err)
		}
		address := belief.Address{Item: of.Item, Revision: of.Number}
		if slices.Contains(from, address) {
			return out, fmt.Errorf("%w: from[%d]: %s is listed twice", belief.ErrForm, i, address)
		}
		from, out.From, least = append(from, address), append(out.From, address.String()), min(least, of.Confidence)
		for n := range of.Statements {
			r.Turns = append(r.Turns, of.Statements[n].Turns...)
		}
	}
	slices.SortFunc(r.Turns, dag.TurnID.Compare)
	r.Turns = slices.Compact(r.Turns)
	if r.Confidence == nil {
		r.Confidence = &least
	}
	items := "items"
	if len(from) == 1 {
		items = "item"
	}
	r.Reason = fmt.Sprintf("abstracted from %d %s with the specificity %s", len(from), items, in.Specificity)
	if in.Reason != "" {
		r.Reason += ": " + in.Reason
	}
	made, err := k.statements().request(ctx, tenant, journal.Propose, &r, nil)
	if err != nil {
		return out, err
	}
	made.Incoming = incoming(from, rules.AbstractedTo)
	var done *journal.Outcome
	err = k.underPolicy(ctx, tenant, r.Space, func(p kinds.Policy, id string) error {
		k.statements().decideUnder(made, p, id)
		done, err = k.journal().Abstract(ctx, tenant, made.Request, !out.Kept)
		return err
	})
	if out.Outcome, err = outcomeIn(ctx)(done, err); err != nil {
		return api.Abstraction{}, err
	}
	out.Kept = out.Kept || done.Result != journal.Changed
	return out, nil
}

// original returns the revision that an address leads to. It must be the believed revision of an item of the space.
func (k Upkeep) original(ctx context.Context, tenant dag.Tenant, space belief.Space, ref string) (*journal.Revision, error) {
	a, err := belief.ParseAddress(ref)
	if err != nil {
		return nil, err
	}
	if a.Item.Space() != space {
		return nil, fmt.Errorf("%w: %s is not in the space %s", belief.ErrForm, a, space)
	}
	kref, err := k.catalog().Kref(ctx, tenant, a)
	if err != nil {
		return nil, err
	}
	current := kref.Record.Tagged(journal.Current)
	if kref.Revision == nil || current == nil || current.Number != kref.Revision.Number || kref.Record.Deprecated {
		return nil, fmt.Errorf("%w: %s", ErrOriginal, a)
	}
	return current, nil
}
