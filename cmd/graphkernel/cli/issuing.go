package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store"
)

// MayGiveContext returns the error with which any context under a policy would be refused now: there is no such policy or key, or the store may not issue.
// For a service, which has its own keys, only the policy is checked.
func (st *Stores) MayGiveContext(ctx context.Context, id policy.ID) error {
	if _, err := st.signing.RingToSign(); err != nil {
		return err
	}
	err := st.WithoutTakingIn(ctx, func(s *Session) error {
		p, err := s.Policies.Get(ctx, cmp.Or(id, contexts.DefaultID))
		if err == nil {
			_, err = contexts.PolicyOf(p)
		}
		return err
	})
	if err != nil || st.settings.AsksService() {
		return err
	}
	return st.MayIssue(ctx)
}

// MayIssue opens the store and returns the error of MayIssueFrom.
func (st *Stores) MayIssue(ctx context.Context) (err error) {
	s, err := st.OpenStore(ctx, ToRead)
	if err != nil {
		return err
	}
	defer CloseStore(s, &err)
	return st.MayIssueFrom(ctx, s)
}

// MayIssueFrom returns an error that wraps notary.ErrForked if the tenant's ledger in a store is not the history that the identity has signed: everything
// that would be issued is refused then.
func (st *Stores) MayIssueFrom(ctx context.Context, s store.Store) error {
	id, err := st.signing.Identity()
	if err != nil {
		return err
	}
	history := st.signing.History(id)
	if history == nil {
		return nil
	}
	tenant, err := st.settings.Tenant()
	if err != nil {
		return err
	}
	last, ok, err := history.Last(id.Origin(tenant))
	if err != nil || !ok {
		return err
	}
	if err = notary.Continues(ctx, s, tenant, last); errors.Is(err, notary.ErrForked) {
		err = fmt.Errorf("%w; give this store an identity of its own, or run graphkernel identity adopt if this history is meant to go on", err)
	}
	return err
}
