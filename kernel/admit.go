package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// MaxBatch is the maximum number of turns of one Admit.
const MaxBatch = 100_000

// ErrBatch is wrapped when a batch is too large.
var ErrBatch = errors.New("batch is too large")

// Admit admits a batch of turns, all of them or none, in any order. A turn that is stored
// already counts as existing; see [store.Store.Append]. A new turn with the text of an erased turn is admitted without its text. The rules of
// package ingest assign a phase or salience that is absent: the newest rules, or, for a turn that is
// stored already, the rules that the stored turn names.
func (k Turns) Admit(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) (api.Receipt, error) {
	return k.turns().AdmitWith(ctx, tenant, "", drafts)
}

// AdmitWith is like Admit, for turns that a credential submits, see [access.Identity.Credential].
// New turns keep the name of the credential, outside their leaves; stored turns keep the name that
// they have. Turns in the name of a person for whom the caller, see [access.As], does not speak are marked with the caller, see [dag.AttrBroughtBy].
func (k Turns) AdmitWith(ctx context.Context, tenant dag.Tenant, credential string, drafts []dag.Draft) (api.Receipt, error) {
	return k.admit(ctx, tenant, credential, drafts, func(ctx context.Context, batch store.Batch) (store.Receipt, error) {
		return k.appendJudged(ctx, tenant, []store.Batch{batch})
	})
}

// AdmitInOrder is like AdmitWith, but admits the turns one after the other in the given order, for example that of the lines
// of an export, so that they get the same numbers elsewhere. If a turn comes before its parent, the order
// is that of AdmitWith.
func (k Turns) AdmitInOrder(ctx context.Context, tenant dag.Tenant, credential string, drafts []dag.Draft) (api.Receipt, error) {
	return k.admit(ctx, tenant, credential, drafts, func(ctx context.Context, batch store.Batch) (store.Receipt, error) {
		receipt, err := k.appendJudged(ctx, tenant, oneByOne(batch))
		var orphan *store.ParentError
		if errors.As(err, &orphan) {
			return k.appendJudged(ctx, tenant, []store.Batch{batch})
		}
		return receipt, err
	})
}

// admit completes the drafts of one admission and appends them with add.
func (k *engine) admit(ctx context.Context, tenant dag.Tenant, credential string, drafts []dag.Draft, add func(context.Context, store.Batch) (store.Receipt, error)) (_ api.Receipt, err error) {
	ctx, observed := k.observe(ctx, "admit")
	defer func() { observed(err) }()
	batch, marked, err := k.arrivals(ctx, tenant, credential, drafts)
	if err != nil {
		return api.Receipt{}, err
	}
	var added store.Receipt
	done, err := k.decided(ctx, tenant, []store.Batch{batch}, func() (err error) {
		added, err = add(ctx, batch)
		return err
	})
	if err != nil {
		return api.Receipt{}, err
	}
	receipt := done.receipt(added)
	receipt.Brought, err = k.countBrought(ctx, tenant, marked, added.Existing > 0)
	return receipt, err
}

// arrivals completes the drafts of one admission, and returns the ids of the turns that are marked with [dag.AttrBroughtBy].
func (k *engine) arrivals(ctx context.Context, tenant dag.Tenant, credential string, drafts []dag.Draft) (batch store.Batch, marked []dag.TurnID, err error) {
	if len(drafts) > MaxBatch {
		return nil, nil, fmt.Errorf("%w: %d turns, at most %d", ErrBatch, len(drafts), MaxBatch)
	}
	if err := k.config.Screen(ctx, tenant, drafts); err != nil {
		return nil, nil, err
	}
	if err := brought(access.Asking(ctx), drafts); err != nil {
		return nil, nil, err
	}
	batch = make(store.Batch, len(drafts))
	touched := make([][]string, len(drafts))
	for i := range drafts {
		a, names, err := k.arrival(&drafts[i])
		if err != nil {
			return nil, nil, fmt.Errorf("turns[%d]: %w", i, err)
		}
		a.Key = credential
		batch[i], touched[i] = a, names
		if drafts[i].Attrs[dag.AttrBroughtBy] != "" {
			marked = append(marked, a.Turn.ID)
		}
	}
	return batch, marked, k.mark(ctx, tenant, batch, touched)
}

// arrival completes a draft: it fills in absent values, checks the form of every value, and
// computes the digest and the marks. The marks lack the things that the turn touched; touched has their names.
func (k *engine) arrival(d *dag.Draft) (a store.Arrival, touched []string, err error) {
	if d.Redacted {
		a, err = withheld(d)
		return a, nil, err
	}
	if err := ingest.Assign(d); err != nil {
		return store.Arrival{}, nil, fmt.Errorf("turn %s: %w", d.ID, err)
	}
	body := dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs}
	if err := body.Check(); err != nil {
		return store.Arrival{}, nil, fmt.Errorf("turn %s: %w", d.ID, err)
	}
	a = store.Arrival{
		Turn:     turnOf(d),
		Parents:  d.Parents,
		Body:     slice.AppendBody(make([]byte, 0, len(d.Content)+len(d.Content)/16+len(d.Author)+64*len(d.Attrs)+64), &body),
		External: d.Attrs[dag.AttrExternalID],
	}
	if d.Salt != nil {
		a.Salt = *d.Salt
	} else {
		a.SaltDrawn = true
		if err := k.draw(a.Salt[:]); err != nil {
			return store.Arrival{}, nil, err
		}
	}
	a.Turn.BodyDigest = slice.DigestBody(a.Body, a.Salt)
	a.Marks, touched = marks.Of(d)
	return a, touched, a.Turn.Check()
}

func withheld(d *dag.Draft) (store.Arrival, error) {
	if d.Phase == 0 || !d.HasSalience {
		return store.Arrival{}, fmt.Errorf("turn %s: %w: a redacted turn needs its phase and salience, since no text is left to assign them by", d.ID, dag.ErrForm)
	}
	a := store.Arrival{Turn: turnOf(d), Parents: d.Parents}
	a.Turn.BodyDigest = d.BodyDigest
	a.Marks, _ = marks.Of(d)
	return a, a.Turn.Check()
}

func turnOf(d *dag.Draft) dag.Turn {
	return dag.Turn{ID: d.ID, Conversation: d.Conversation, Role: d.Role, Phase: d.Phase, Salience: d.Salience, CreatedAt: d.CreatedAt}
}
