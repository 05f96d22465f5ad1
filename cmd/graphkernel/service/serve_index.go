package service

import (
	"context"
	"log/slog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
)

// keepIndex updates the search index of every tenant while requests are served, until ctx ends.
func keepIndex(ctx context.Context, k *kernel.Kernel, s store.Store, log *slog.Logger) {
	const page = 1_000
	var tenants []dag.Tenant
	for after := dag.Tenant(""); ; after = tenants[len(tenants)-1] {
		some, err := s.Tenants(ctx, after, page)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "the index of search is made of tenants that are asked for alone", "error", err.Error())
		}
		tenants = append(tenants, some...)
		if len(some) < page {
			break
		}
	}
	k.Turns().KeepIndex(ctx, tenants, false, func(tenant dag.Tenant, err error) {
		log.WarnContext(ctx, "some of the index of search is not made, and is tried again when the tenant grows", "tenant", string(tenant), "error", err.Error())
	})
}
