package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/working/session"
)

// Working returns the facet of working memory, which agents use during a session.
func (k *Kernel) Working() session.Sessions { return k.working() }

func (k *engine) working() session.Sessions {
	var memory session.Memory = k.store
	if k.config.WorkingInProcess != nil {
		memory = k.config.WorkingInProcess
	}
	return session.New(admission{desk{k}}, memory, k.config.Working)
}

// An admission makes an engine a [session.Kernel].
type admission struct{ desk }

// ScreenTurns implements [session.Kernel].
func (k admission) ScreenTurns(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) error {
	return k.config.Screen(ctx, tenant, drafts)
}

// CheckTurn implements [session.Kernel].
func (k admission) CheckTurn(d *dag.Draft) error {
	_, _, err := k.arrival(d)
	return err
}

// Admit implements [session.Kernel].
func (k admission) Admit(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) (api.Receipt, error) {
	return k.turns().AdmitWith(ctx, tenant, access.Asking(ctx).Credential(), drafts)
}

// Head implements [session.Kernel].
func (k admission) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	return k.store.Head(ctx, tenant)
}
