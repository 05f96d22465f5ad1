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

// MaxBatch bounds the turns of one Admit.
const MaxBatch = 100_000

// ErrBatch is wrapped when a batch is too large.
var ErrBatch = errors.New("batch is too large")

// Admit admits a batch of turns, all of them or none, in any order. What is
// there already counts as existing; see [store.Store.Append]. A new turn with the text of a turn that was erased is admitted without it. A phase or
// salience that is absent is assigned by the rules of package ingest: the
// newest, or, of a turn that is stored, those that it names.
func (k Turns) Admit(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) (api.Receipt, error) {
	return k.turns().AdmitWith(ctx, tenant, "", drafts)
}

// AdmitWith is Admit for turns that a credential brings, see [access.Identity.Credential].
// Those that are new keep its name, outside their leaves; those that are there keep what they
// have. Turns in the name of a person for whom the caller, see [access.As], does not speak are marked as brought by it, see [dag.AttrBroughtBy].
func (k Turns) AdmitWith(ctx context.Context, tenant dag.Tenant, credential string, drafts []dag.Draft) (api.Receipt, error) {
	return k.admit(ctx, tenant, credential, drafts, func(ctx context.Context, batch store.Batch) (store.Receipt, error) {
		return k.appendJudged(ctx, tenant, []store.Batch{batch})
	})
}

// AdmitInOrder is AdmitWith for turns that are admitted one after the other, in the order of their lines in an
// export: so they get the same numbers elsewhere. If a turn comes before its parent, the order
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

// admit finishes the drafts of one admission and appends them.
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

// arrivals finishes the drafts of one admission, and names those that are marked as brought.
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

// arrival finishes a draft: fills in what is absent, checks every form, and
// computes the digest and the marks, except for the things that the turn touched, which it names.
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
