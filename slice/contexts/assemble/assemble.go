// Package assemble is the room of contexts: what an agent may be given for a task. It reads the requests of package api, gathers candidates from a tenant's history as of a number, has package
// contexts choose among them, and explains what was chosen.
//
//	made, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "why was the orders table deleted", Budget: 4000})
//
// The kernel is handed to it as a [Kernel]. It signs and records contexts; replays of it assemble them [Again].
package assemble

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// A Kernel has the methods of the kernel that the room needs. Errors are the kernel's.
type Kernel interface {
	Desk
	Evidence
}

// A Desk has the methods that every request needs.
type Desk interface {
	// Observe is called before an operation, and what it returns is called after it.
	Observe(ctx context.Context, operation string) (context.Context, func(error))
	// Screen refuses texts that may not be kept. The function is called if anything looks at them.
	Screen(ctx context.Context, tenant dag.Tenant, texts func() []dag.Text) error
	// Draw fills a slice at random.
	Draw(b []byte) error
	// Resolve returns the id of a turn by its name: the id or the beginning of one, an external id, or the address of a belief that rests on it.
	Resolve(ctx context.Context, tenant dag.Tenant, name string) (dag.TurnID, error)
	// Reading runs a function in the store's present epoch, and again if that ends meanwhile.
	Reading(fn func(Epoch) error) error
}

// Evidence is made of contexts by a kernel.
type Evidence interface {
	// MayIssue returns an error if the kernel hands out nothing for a tenant.
	MayIssue(tenant dag.Tenant) error
	// Salt returns a salt that follows from what is asked and from the key that signs.
	Salt(tenant dag.Tenant, asked []byte) (dag.Salt, error)
	// Recorded makes the newest context on record again that has an id.
	Recorded(ctx context.Context, tenant dag.Tenant, id slice.SliceID) (*contexts.Bundle, error)
}

// An Epoch reads in one epoch of the store. An answer that may be of another one is an error.
type Epoch interface {
	History
	Sources
	Beliefs
	Issuing
}

// A History has the turns and policies of tenants.
type History interface {
	// AsOf returns the number of the view that a number means, where 0 is the present, and the head.
	AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (asOf, head dag.Seq, err error)
	// Policy returns a registered policy.
	Policy(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error)
	// Turns returns the turns of a list in any order, without those that are not there.
	Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]store.Record, error)
	// Conversation returns the conversation of a turn.
	Conversation(ctx context.Context, tenant dag.Tenant, turn dag.TurnID) (dag.ConversationID, error)
	// Texts returns turns with their texts as of a head, in the order of their places. They may be shared and must not be changed. If a text was erased, the error is an [issued.ErasedError].
	Texts(ctx context.Context, tenant dag.Tenant, head dag.Seq, turns []dag.TurnID, places store.Places) ([]*contexts.ChosenTurn, error)
}

// Sources find turns and facts.
type Sources interface {
	// Words returns the index that a policy searches.
	Words(tenant dag.Tenant, p *retrieval.Policy) (Words, error)
	// Slice returns the slice around an anchor.
	Slice(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, from issued.Vantage) (*slice.Slice, error)
	// Names returns the names in a text of which something was known by a number, the longer ones first.
	Names(ctx context.Context, tenant dag.Tenant, text string, asOf dag.Seq) ([]string, error)
	// Around answers a query of facts, with the assertions of the answer's edges by their numbers.
	Around(ctx context.Context, tenant dag.Tenant, q knowledge.Query) (*knowledge.Answer, map[dag.Seq]*knowledge.Recorded, error)
}

// Words are an index of a tenant's texts.
type Words interface {
	// Read calls a function with an index that has every turn up to asOf, and no text that was erased up to head. The function must not keep the index.
	Read(ctx context.Context, asOf, head dag.Seq, fn func(*retrieval.Index)) error
	// Vector returns the vector of a query, nil if the index has none.
	Vector(ctx context.Context, bare string) ([]int8, error)
	// LeftOut counts the turns up to a number that the index lacks, since they cannot be read.
	LeftOut(asOf dag.Seq) int
}

// Beliefs are the beliefs that a caller sees.
type Beliefs interface {
	// Journal returns the records of beliefs.
	Journal() journal.Base
	// Spaces returns the spaces of a request by a caller: the named ones if the caller sees them all, or those that the caller sees; none is all.
	Spaces(ctx context.Context, tenant dag.Tenant, named []string, asOf dag.Seq) ([]string, error)
	// Binding returns what binds in spaces under a policy.
	Binding(ctx context.Context, tenant dag.Tenant, id policy.ID) (Binding, error)
	// Terms returns the terms in the words of a revision, ascending.
	Terms(tenant dag.Tenant, r *journal.Revision) []string
}

// A Binding tells the constraints among beliefs.
type Binding interface {
	// Constrains reports whether a revision is a constraint under a reading.
	Constrains(ctx context.Context, tenant dag.Tenant, r *journal.Revision, reading dag.Reading) (bool, error)
	// Load adds up the constraints among what is believed in a space.
	Load(held []journal.Believed) journal.Load
}

// Issuing signs and records contexts.
type Issuing interface {
	// Seal signs a context, and returns its canonical bytes.
	Seal(ctx context.Context, tenant dag.Tenant, b *contexts.Bundle) ([]byte, error)
	// Record puts a context on record that was chosen when the history had a head. If a turn that it rests on was erased meanwhile, the error is an [issued.ErasedError].
	Record(ctx context.Context, tenant dag.Tenant, made *Issued, p policy.Registered, to issued.Delivery, head dag.Seq) (issued.Record, error)
}

// Contexts are assembled for a kernel's callers.
type Contexts struct{ kernel Kernel }

// New returns the room of a kernel. It costs nothing.
func New(k Kernel) Contexts { return Contexts{k} }

// Operations lists the operations of the room.
func (k Contexts) Operations() []api.Answer {
	return []api.Answer{api.AssembleContext.By(k.assemble), api.ExplainContext.By(k.explain)}
}

func (k Contexts) assemble(ctx context.Context, tenant dag.Tenant, in api.ContextRequest) (w api.Context, err error) {
	made, err := k.Assemble(ctx, tenant, in)
	if err != nil {
		return w, err
	}
	return made.Answer(), nil
}

// read returns what a function returns that reads in one epoch.
func read[T any](k Kernel, fn func(Epoch) (T, error)) (v T, err error) {
	err = k.Reading(func(e Epoch) (err error) {
		v, err = fn(e)
		return err
	})
	return v, err
}
