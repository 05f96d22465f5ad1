// Package query is the room of facts: what a kernel's callers learn, list, walk, count and retract, in the forms of package api.
//
//	found, err := k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{"orders"}, MaxHops: 2})
//
// The kernel implements [Kernel]. It signs slices of facts, and replays them.
package query

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A Kernel has the methods of the kernel that the room needs. The room returns the kernel's errors.
type Kernel interface {
	Desk
	Evidence
}

// A Desk has the methods that every request needs.
type Desk interface {
	// Observe is called before an operation; the function it returns is called after the operation.
	Observe(ctx context.Context, operation string) (context.Context, func(error))
	// Screen refuses texts that may not be stored. It calls texts only if a check needs them.
	Screen(ctx context.Context, tenant dag.Tenant, texts func() []dag.Text) error
	// Now returns the time.
	Now() (dag.Time, error)
	// Draw fills b with random bytes.
	Draw(b []byte) error
	// AsOf returns the number of the view as of a given number; 0 is now.
	AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (dag.Seq, error)
	// Knowledge returns the facts of the store, whatever its epoch.
	Knowledge() knowledge.Base
	// Changed is called after a change of a tenant's facts.
	Changed(tenant dag.Tenant)
	// Reading runs a function in the store's present epoch, and runs it again if the epoch ends meanwhile.
	Reading(fn func(Epoch) error) error
}

// Evidence has the methods that look for what facts rest on.
type Evidence interface {
	// Named returns the turn that a name identifies. It does not look up an id.
	Named(ctx context.Context, tenant dag.Tenant, name string) (dag.TurnID, error)
	// Turns returns the turns with the given ids in any order. It skips ids without a turn.
	Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]store.Record, error)
	// Issued returns an error that wraps store.ErrNotFound unless evidence with an id is on record.
	Issued(ctx context.Context, tenant dag.Tenant, id slice.SliceID) error
	// Boundary verifies a bundle and returns the boundary that limits a question to it.
	Boundary(tenant dag.Tenant, bundle []byte) (*token.Boundary, error)
}

// An Epoch reads facts in one epoch of the store. Its methods return an error if the result may belong to another epoch.
type Epoch interface {
	// AsOf returns the number of the view as of a given number, 0 for the present, and the head. It brings the cached facts up to the head.
	AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (asOf, head dag.Seq, err error)
	// Facts returns the cached facts of a tenant.
	Facts(tenant dag.Tenant) *projection.TenantFacts
	// Knowledge returns the facts of the store.
	Knowledge() knowledge.Base
	// Shows returns the function that reports whether the caller may see a fact with a source, or nil if the caller may see all facts.
	Shows(ctx context.Context) func(source string) bool
	// Still returns an error if the epoch has ended.
	Still() error
}

// Facts are the facts of a kernel's tenants.
type Facts struct{ kernel Kernel }

// New returns the room of a kernel. The call is cheap.
func New(k Kernel) Facts { return Facts{k} }

// Operations lists the operations of the facet.
func (k Facts) Operations() []api.Answer {
	return []api.Answer{
		api.ListFacts.By(k.List), api.RetractFacts.By(k.Retract), api.FactsHistory.By(k.History), api.TraverseKnowledge.By(k.Traverse), api.FindPaths.By(k.Paths),
		api.CountKnowledge.By(k.Count), api.KnowledgeSince.By(k.Changes), api.ListAliases.By(k.ListAliases),
	}
}

// An epoch answers questions in one epoch of the store.
type epoch struct{ Epoch }

// read runs a function in one epoch of the store and returns its result.
func read[T any](k Kernel, fn func(epoch) (T, error)) (v T, err error) {
	err = k.Reading(func(e Epoch) (err error) {
		v, err = fn(epoch{e})
		return err
	})
	return v, err
}

// viewAsOf returns the view as of a number from a caller, which may lie inside a change; 0 is now.
func viewAsOf(ctx context.Context, e Epoch, tenant dag.Tenant, given dag.Seq) (*projection.View, error) {
	at, _, err := e.AsOf(ctx, tenant, given)
	if err != nil {
		return nil, err
	}
	return e.Facts(tenant).View(ctx, at)
}
