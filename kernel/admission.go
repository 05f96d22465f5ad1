package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/census"
	"github.com/graphkernel/graphkernel/working/session"
)

// recognition returns what recognises the text of erased turns.
func (k *engine) recognition() admission.Recognition {
	return admission.Recognition{Store: k.store, Secret: k.config.ErasureSecret}
}

// A door implements [admission.Kernel] with an engine.
type door struct{ desk }

// ScreenTurns implements [admission.Kernel] and [session.Kernel].
func (k door) ScreenTurns(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) error {
	return k.config.Screen(ctx, tenant, drafts)
}

// Grew implements [admission.Kernel].
func (k door) Grew(tenant dag.Tenant, head dag.Seq) { k.indexing.Grew(tenant, head) }

// Standing implements [admission.Kernel].
func (k door) Standing(ctx context.Context, tenant dag.Tenant) (*standing.Decider, error) {
	d, err := census.New(register(k)).Decider(ctx, tenant)
	return d, err
}

// Reading implements [admission.Kernel].
func (k door) Reading(fn func(*admission.Kept) error) error {
	return k.reading(func(c *cache) error { return fn(c.admissions) })
}

// Working returns the facet of working memory, which agents use during a session.
func (k *Kernel) Working() session.Sessions { return k.working() }

func (k *engine) working() session.Sessions {
	var memory session.Memory = k.store
	if k.config.WorkingInProcess != nil {
		memory = k.config.WorkingInProcess
	}
	return session.New(consolidation{door{desk{k}}}, memory, k.config.Working)
}

// A consolidation implements [session.Kernel] with an engine.
type consolidation struct{ door }

// CheckTurn implements [session.Kernel].
func (k consolidation) CheckTurn(d *dag.Draft) error {
	_, _, err := admission.Arrival(d, k.Draw)
	return err
}

// Admit implements [session.Kernel].
func (k consolidation) Admit(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) (api.Receipt, error) {
	return k.turns().AdmitWith(ctx, tenant, access.Asking(ctx).Credential(), drafts)
}

// Head implements [session.Kernel].
func (k consolidation) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	return k.store.Head(ctx, tenant)
}
