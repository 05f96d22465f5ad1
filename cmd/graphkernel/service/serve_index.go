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
			log.WarnContext(ctx, "the search index is built only for tenants that are queried", "error", err.Error())
		}
		tenants = append(tenants, some...)
		if len(some) < page {
			break
		}
	}
	k.Turns().KeepIndex(ctx, tenants, false, func(tenant dag.Tenant, err error) {
		log.WarnContext(ctx, "a part of the search index could not be built; the next attempt follows when the tenant grows", "tenant", string(tenant), "error", err.Error())
	})
}
