// Package find is the room of searches. It finds turns by words, lists the folders in which agents worked, and joins hits with the facts around them.
//
//	found, err := k.Turns().Search(ctx, tenant, find.Request{Query: retrieval.Query{Text: "why was the orders table deleted", Limit: 10}})
//
// The kernel implements [Kernel].
package find

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A Kernel has the methods of the kernel that the room needs. The room returns the kernel's errors.
type Kernel interface {
	// Observe is called before an operation; the function it returns is called after the operation.
	Observe(ctx context.Context, operation string) (context.Context, func(error))
	// Boundary verifies a bundle and returns the boundary that limits a question to it.
	Boundary(tenant dag.Tenant, bundle []byte) (*token.Boundary, error)
	// Rerankers returns the cross-encoders that policies may name.
	Rerankers() []Reranker
	// Reading runs a function in the store's present epoch, and runs it again if the epoch ends meanwhile.
	Reading(fn func(Epoch) error) error
}

// An Epoch reads in one epoch of the store. Its methods return an error if the result may belong to another epoch.
type Epoch interface {
	History
	Caches
	Visible
}

// A History reads the turns, facts and policies of tenants.
type History interface {
	// AsOf returns the number of the view as of a given number, 0 for the present, and the head. It brings the cached facts up to the head.
	AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (asOf, head dag.Seq, err error)
	// Head returns the number of a tenant's newest entry or turn.
	Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error)
	// Policy returns a registered policy.
	Policy(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error)
	// Turns returns the turns with the given ids in any order. It skips ids without a turn.
	Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]store.Record, error)
	// Knowledge returns the facts of the store.
	Knowledge() knowledge.Base
}

// Caches are the caches of a tenant.
type Caches interface {
	// Words returns the indexes of a tenant's texts.
	Words(tenant dag.Tenant) *projection.TenantWords
	// Texts returns the cached texts of a tenant.
	Texts(tenant dag.Tenant) *projection.TenantTexts
	// Facts returns the cached facts of a tenant.
	Facts(tenant dag.Tenant) *projection.TenantFacts
	// Standings returns the standings of turns as of a number that their numbers do not exceed, in the order of their places.
	Standings(ctx context.Context, tenant dag.Tenant, asOf dag.Seq, places []store.Place) ([]dag.Standing, error)
	// Conversation calls fn with a view that shows the turns of a conversation as of a number. fn may be called more than once, and must not keep the view.
	Conversation(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, asOf dag.Seq, fn func(dag.View)) error
	// SearchAmong searches some turns as if there were no others. It sets the query's vector.
	SearchAmong(ctx context.Context, turns []retrieval.Turn, p *retrieval.Policy, q *retrieval.Query) ([]retrieval.Hit, error)
}

// Visible has the facts and beliefs that a caller may see.
type Visible interface {
	// Shows returns the function that reports whether the caller may see a fact with a source, or nil if the caller may see all facts.
	Shows(ctx context.Context) func(source string) bool
	// RestsOn returns the turns that the beliefs of a space rest on, as of a number.
	RestsOn(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (map[dag.TurnID]bool, error)
}

// Turns finds the turns of a kernel's tenants.
type Turns struct{ kernel Kernel }

// New returns the room of a kernel. The call is cheap.
func New(k Kernel) Turns { return Turns{k} }

// Operations lists the operations of the room.
func (k Turns) Operations() []api.Answer {
	return []api.Answer{api.ListFolders.By(k.listFolders), api.SearchTurns.By(k.search), api.EnrichHits.By(k.Enrich)}
}

// An epoch answers questions in one epoch of the store.
type epoch struct {
	Epoch
	Kernel
}

// read runs a function in one epoch of the store and returns its result.
func read[T any](k Kernel, fn func(epoch) (T, error)) (v T, err error) {
	err = k.Reading(func(e Epoch) (err error) {
		v, err = fn(epoch{e, k})
		return err
	})
	return v, err
}
