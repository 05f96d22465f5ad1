package store

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
)

// A HeadWhiler is a Store that asks a server for the head, and can let work run meanwhile.
type HeadWhiler interface {
	// HeadWhile is like Head, but runs work while waiting for the server's reply. The head includes everything that was acknowledged before the
	// call, however long work takes. work is called exactly once if the error is nil, and at most once otherwise. It must not use the store.
	HeadWhile(ctx context.Context, tenant dag.Tenant, work func()) (dag.Seq, error)
}

// HeadWhile runs work while a store asks a server for the head, or before Head if the store asks no server.
func HeadWhile(ctx context.Context, s Store, tenant dag.Tenant, work func()) (dag.Seq, error) {
	if far, ok := s.(HeadWhiler); ok {
		return far.HeadWhile(ctx, tenant, work)
	}
	work()
	return s.Head(ctx, tenant)
}
