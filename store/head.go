package store

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
)

// A HeadWhiler is a Store that asks a server for the head, and can let work be done meanwhile.
type HeadWhiler interface {
	// HeadWhile is Head, and calls work at most once, while the question is on its way. What
	// Head promises of the time of the call holds, however long work takes. If there is no
	// error, work was called. It must not use the store.
	HeadWhile(ctx context.Context, tenant dag.Tenant, work func()) (dag.Seq, error)
}

// HeadWhile does work while a store is asked for the head, or before it where nothing is sent.
func HeadWhile(ctx context.Context, s Store, tenant dag.Tenant, work func()) (dag.Seq, error) {
	if far, ok := s.(HeadWhiler); ok {
		return far.HeadWhile(ctx, tenant, work)
	}
	work()
	return s.Head(ctx, tenant)
}
