package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
)

// A BeliefAbstraction asks for something more general to be stated of what is believed.
type BeliefAbstraction struct {
	BeliefRequest                  // with its statements; the operator, the turns and the source are set, and so is a confidence of 0
	From          []belief.Address // the originals, each with the revision that is believed now, or with none
	Specificity   dag.PPM          // how much of the originals it says
}

// MaxOriginals bounds what one abstraction is made from.
const MaxOriginals = 64

// ErrOriginal is wrapped if what is to be abstracted from is an older revision, or its item is deprecated.
var ErrOriginal = errors.New("it is not what is believed of its item")

// An Abstracted is what became of it.
type Abstracted struct {
	*journal.Outcome
	From []belief.Address
	Kept bool // the originals are believed beside it; else they are deprecated
}

// Abstract proposes statements that are more general than those of some items, and links these to it with links abstracted_to. It rests on their turns, and its confidence is the least of theirs, unless one is given. If it is
// specific enough to take their place (rules.Specific), they are deprecated. All of it is one change; where the proposal is refused, it waits as a conflict and the originals stay.
func (k Beliefs) Abstract(ctx context.Context, tenant dag.Tenant, in BeliefAbstraction) (*Abstracted, error) {
	if err := mayBelieve(ctx, "state an abstraction"); err != nil {
		return nil, err
	}
	if n := len(in.From); n == 0 || n > MaxOriginals || in.Specificity > dag.One {
		return nil, fmt.Errorf("%w: an abstraction of %d items with the specificity %s, want 1 to %d and at most 1", belief.ErrForm, n, in.Specificity, MaxOriginals)
	}
	out := &Abstracted{Kept: rules.KeepsOriginal(in.Specificity)}
	r := in.BeliefRequest
	r.Operator, r.Source, r.Turns = journal.Propose, "inference", nil
	least := dag.One
	for i, a := range in.From {
		of, err := k.original(ctx, tenant, r.Space, a)
		if err != nil {
			return nil, fmt.Errorf("from[%d]: %w", i, err)
		}
		address := belief.Address{Item: of.Item, Revision: of.Number}
		if slices.Contains(out.From, address) {
			return nil, fmt.Errorf("%w: from[%d]: %s is there twice", belief.ErrForm, i, address)
		}
		out.From, least = append(out.From, address), min(least, of.Confidence)
		for n := range of.Statements {
			r.Turns = append(r.Turns, of.Statements[n].Turns...)
		}
	}
	slices.SortFunc(r.Turns, dag.TurnID.Compare)
	r.Turns = slices.Compact(r.Turns)
	if r.Confidence == 0 {
		r.Confidence = least
	}
	items := "items"
	if len(out.From) == 1 {
		items = "item"
	}
	said := fmt.Sprintf("abstracted from %d %s with the specificity %s", len(out.From), items, in.Specificity)
	if r.Reason != "" {
		said += ": " + r.Reason
	}
	r.Reason = said
	made, err := k.request(ctx, tenant, &r)
	if err != nil {
		return nil, err
	}
	made.Incoming = incoming(out.From, rules.AbstractedTo)
	err = k.underPolicy(ctx, tenant, r.Space, func(p kinds.Policy, id string) error {
		k.decideUnder(ctx, made, &r, p, id)
		out.Outcome, err = k.journal().Abstract(ctx, tenant, made.Request, !out.Kept)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Kept = out.Kept || out.Result != journal.Changed
	return out, nil
}

// original is the revision of an item of a space that is believed, which an address must lead to.
func (k Beliefs) original(ctx context.Context, tenant dag.Tenant, space belief.Space, a belief.Address) (*journal.Revision, error) {
	if a.Item.Space() != space {
		return nil, fmt.Errorf("%w: %s is not in the space %s", belief.ErrForm, a, space)
	}
	kref, err := k.Resolve(ctx, tenant, a)
	if err != nil {
		return nil, err
	}
	current := kref.Record.Tagged(journal.Current)
	if kref.Revision == nil || current == nil || current.Number != kref.Revision.Number || kref.Record.Deprecated {
		return nil, fmt.Errorf("%w: %s", ErrOriginal, a)
	}
	return current, nil
}
