// Package admission is the room by which turns come into a kernel. It completes and checks drafts, marks turns in the name of a person for whom the caller does
// not speak, holds back the text of erased turns that comes again, and imports files.
//
//	receipt, err := k.Turns().AdmitWith(ctx, tenant, credential, drafts)
//	report, err := k.Turns().ImportAll(ctx, tenant, paths, ingest.Options{})
//
// The kernel implements [Kernel].
package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// A Kernel has the methods of the kernel that the room needs. The room returns the kernel's errors.
type Kernel interface {
	Desk
	Door
}

// A Desk has the methods that every operation needs.
type Desk interface {
	// Now returns the time of the kernel's clock.
	Now() (dag.Time, error)
	// Draw fills a slice with random bytes.
	Draw(b []byte) error
	// Observe is called before an operation; the function it returns is called after the operation.
	Observe(ctx context.Context, operation string) (context.Context, func(error))
}

// A Door has the methods that the kernel runs before and after turns are admitted.
type Door interface {
	// ScreenTurns refuses turns whose texts may not be kept.
	ScreenTurns(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) error
	// Changed wakes the goroutines that wait for a change of a tenant.
	Changed(tenant dag.Tenant)
	// Grew is called with the head after each attempt to append turns, and wakes what follows the tenant.
	Grew(tenant dag.Tenant, head dag.Seq)
	// Standing returns the decider of the standing policy in force.
	Standing(ctx context.Context, tenant dag.Tenant) (*standing.Decider, error)
	// Reading runs a function in the store's present epoch, and runs it again if the epoch ends meanwhile.
	Reading(fn func(*Kept) error) error
}

// Admissions admits turns to the histories of a kernel's tenants.
type Admissions struct {
	kernel Kernel
	store  projection.Checked
	erased Recognition
}

// New returns the room of a kernel. It admits turns to the store of r. The call is cheap.
func New(k Kernel, r Recognition) Admissions { return Admissions{k, r.Store, r} }

// Operations lists the operations of the room.
func (k Admissions) Operations() []api.Answer {
	return []api.Answer{api.ListHeldBack.By(k.listHeldBack), api.ReleaseTurns.By(k.releaseTurns)}
}

// MaxBatch is the maximum number of turns of one Admit.
const MaxBatch = 100_000

// page is how many turns one query reads by their ids.
const page = 1_000

// ErrBatch is wrapped when a batch is too large.
var ErrBatch = errors.New("batch is too large")

// Admit admits a batch of turns, all of them or none, in any order. A turn that is stored
// already counts as existing; see [store.Store.Append]. A new turn with the text of an erased turn is admitted without its text. The rules of
// package ingest assign a phase or salience that is absent: the newest rules, or, for a turn that is
// stored already, the rules that the stored turn names.
func (k Admissions) Admit(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) (api.Receipt, error) {
	return k.AdmitWith(ctx, tenant, "", drafts)
}

// AdmitWith is like Admit, for turns that a credential submits, see [access.Identity.Credential].
// New turns keep the name of the credential, outside their leaves; stored turns keep the name that
// they have. Turns in the name of a person for whom the caller, see [access.As], does not speak are marked with the caller, see [dag.AttrBroughtBy].
func (k Admissions) AdmitWith(ctx context.Context, tenant dag.Tenant, credential string, drafts []dag.Draft) (api.Receipt, error) {
	return k.admit(ctx, tenant, credential, drafts, func(ctx context.Context, batch store.Batch) (store.Receipt, error) {
		return k.appendJudged(ctx, tenant, []store.Batch{batch})
	})
}

// AdmitInOrder is like AdmitWith, but admits the turns one after the other in the given order, for example that of the lines
// of an export, so that they get the same numbers elsewhere. If a turn comes before its parent, the order
// is that of AdmitWith.
func (k Admissions) AdmitInOrder(ctx context.Context, tenant dag.Tenant, credential string, drafts []dag.Draft) (api.Receipt, error) {
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
func (k Admissions) admit(ctx context.Context, tenant dag.Tenant, credential string, drafts []dag.Draft, add func(context.Context, store.Batch) (store.Receipt, error)) (_ api.Receipt, err error) {
	ctx, observed := k.kernel.Observe(ctx, "admit")
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
func (k Admissions) arrivals(ctx context.Context, tenant dag.Tenant, credential string, drafts []dag.Draft) (batch store.Batch, marked []dag.TurnID, err error) {
	if len(drafts) > MaxBatch {
		return nil, nil, fmt.Errorf("%w: %d turns, at most %d", ErrBatch, len(drafts), MaxBatch)
	}
	if err := k.kernel.ScreenTurns(ctx, tenant, drafts); err != nil {
		return nil, nil, err
	}
	who := access.Asking(ctx)
	if err := brought(who, drafts); err != nil {
		return nil, nil, err
	}
	batch = make(store.Batch, len(drafts))
	names := make([]Names, len(drafts))
	for i := range drafts {
		a, n, err := Arrival(&drafts[i], k.kernel.Draw)
		if err != nil {
			return nil, nil, fmt.Errorf("turns[%d]: %w", i, err)
		}
		a.Key, n.credential = credential, credential
		a.Marks.Origin = originOf(who, &drafts[i])
		batch[i], names[i] = a, n
		if drafts[i].Attrs[dag.AttrBroughtBy] != "" {
			marked = append(marked, a.Turn.ID)
		}
	}
	return batch, marked, k.mark(ctx, tenant, batch, names, &marks.Names{})
}
