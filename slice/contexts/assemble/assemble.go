// Package assemble is the room of contexts. A context is the evidence that an agent gets for a task. The package reads the requests of package api, gathers
// candidates from a tenant's history as of a number, has package contexts choose among them, and explains the choice.
//
//	made, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "why was the orders table deleted", Budget: 4000})
//
// The kernel implements [Kernel]. It signs and records contexts, and replays them by calling [Again].
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
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
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
	// Draw fills b with random bytes.
	Draw(b []byte) error
	// Resolve returns the id of the turn with a name: an id or a prefix of one, an external id, or the address of a belief that rests on the turn.
	Resolve(ctx context.Context, tenant dag.Tenant, name string) (dag.TurnID, error)
	// Reading runs a function in the store's present epoch, and runs it again if the epoch ends meanwhile.
	Reading(fn func(Epoch) error) error
}

// Evidence has the methods by which a kernel makes contexts evidence.
type Evidence interface {
	// MayIssue returns an error if the kernel must not issue contexts of a tenant.
	MayIssue(tenant dag.Tenant) error
	// Salt returns a salt that is derived from asked and from the signing key.
	Salt(tenant dag.Tenant, asked []byte) (dag.Salt, error)
	// Recorded assembles the newest recorded context with an id again.
	Recorded(ctx context.Context, tenant dag.Tenant, id slice.SliceID) (*contexts.Bundle, error)
}

// An Epoch reads in one epoch of the store. Its methods return an error if the result may belong to another epoch.
type Epoch interface {
	History
	Sources
	Beliefs
	Issuing
}

// A History reads the turns and policies of tenants.
type History interface {
	// AsOf returns the number of the view as of a given number, 0 for the present, and the head.
	AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (asOf, head dag.Seq, err error)
	// Policy returns a registered policy.
	Policy(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error)
	// Turns returns the turns with the given ids in any order. It skips ids without a turn.
	Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]store.Record, error)
	// Conversation returns the conversation of a turn.
	Conversation(ctx context.Context, tenant dag.Tenant, turn dag.TurnID) (dag.ConversationID, error)
	// Texts returns turns with their texts as of a head, in the order of turns. places are the places of the turns. The results may be shared and must not be
	// changed. If a text was erased, the error is an [issued.ErasedError].
	Texts(ctx context.Context, tenant dag.Tenant, head dag.Seq, turns []dag.TurnID, places store.Places) ([]*contexts.ChosenTurn, error)
}

// Sources find turns and facts.
type Sources interface {
	// Words returns the index that a policy searches.
	Words(tenant dag.Tenant, p *retrieval.Policy) (Words, error)
	// Slice returns the slice around an anchor.
	Slice(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, from issued.Vantage) (*slice.Slice, error)
	// Spoken returns the facts from which the standings of a conversation's turns follow. last is the sequence number of the last turn to include.
	Spoken(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, last dag.Seq, reading dag.Reading) (*standing.Spoken, error)
	// Calls returns the calls of a conversation, the newest first, up to a number. They may be shared and must not be changed.
	Calls(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, last dag.Seq) ([]slice.Call, error)
	// Course returns the settings of the standing policy as of a number.
	Course(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (standing.Course, error)
	// Names returns the names in a text that had a fact by a number, longer names first.
	Names(ctx context.Context, tenant dag.Tenant, text string, asOf dag.Seq) ([]string, error)
	// Around answers a query of facts. The map has the assertions of the answer's edges by number.
	Around(ctx context.Context, tenant dag.Tenant, q knowledge.Query) (*knowledge.Answer, map[dag.Seq]*knowledge.Recorded, error)
}

// Words is an index of a tenant's texts.
type Words interface {
	// Read calls a function with an index that has every turn up to asOf, and no text that was erased up to head. The function must not keep the index.
	Read(ctx context.Context, asOf, head dag.Seq, fn func(*retrieval.Index)) error
	// Vector returns the vector of a query; nil if the index has no vectors.
	Vector(ctx context.Context, bare string) ([]int8, error)
	// LeftOut counts the turns up to a number that the index lacks because they cannot be read.
	LeftOut(asOf dag.Seq) int
}

// Beliefs reads the beliefs that a caller may see.
type Beliefs interface {
	// Journal returns the records of beliefs.
	Journal() journal.Base
	// Spaces returns the spaces of a caller's request: the named spaces, or all spaces that the caller sees if none are named. It refuses a named space that
	// the caller does not see. nil means all spaces.
	Spaces(ctx context.Context, tenant dag.Tenant, named []string, asOf dag.Seq) ([]string, error)
	// Binding returns the rules for constraints in the spaces of a policy.
	Binding(ctx context.Context, tenant dag.Tenant, id policy.ID) (Binding, error)
	// Terms returns the terms in the text of a revision, ascending.
	Terms(tenant dag.Tenant, r *journal.Revision) []string
}

// A Binding decides which beliefs are constraints.
type Binding interface {
	// Constrains reports whether a revision is a constraint under a reading.
	Constrains(ctx context.Context, tenant dag.Tenant, r *journal.Revision, reading dag.Reading) (bool, error)
	// Load returns the number and size of the constraints among the beliefs of a space.
	Load(held []journal.Believed) journal.Load
}

// Issuing signs and records contexts.
type Issuing interface {
	// Seal signs a context, and returns its canonical bytes.
	Seal(ctx context.Context, tenant dag.Tenant, b *contexts.Bundle) ([]byte, error)
	// Handed reports whether the bytes of a context are on record.
	Handed(ctx context.Context, tenant dag.Tenant, made *Issued) (bool, error)
	// Record records a context that was chosen when the history had the given head. If a turn that the context rests on was erased since, the error is an
	// [issued.ErasedError].
	Record(ctx context.Context, tenant dag.Tenant, made *Issued, p policy.Registered, to issued.Delivery, head dag.Seq) (issued.Record, error)
}

// Contexts assembles contexts for a kernel's callers.
type Contexts struct {
	kernel  Kernel
	reading dag.Reading
}

// New returns the room of a kernel, which reads marks of turns for new contexts in one way. The call is cheap.
func New(k Kernel, reading dag.Reading) Contexts { return Contexts{k, reading} }

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

// read runs a function in one epoch of the store and returns its result.
func read[T any](k Kernel, fn func(Epoch) (T, error)) (v T, err error) {
	err = k.Reading(func(e Epoch) (err error) {
		v, err = fn(e)
		return err
	})
	return v, err
}
