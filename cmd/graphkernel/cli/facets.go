package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/internal/ready"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// A Session is what commands send requests to: the kernel over an open store, or a service. Both give the same answers to the same requests, and their errors
// wrap the same sentinels. Requests that need no facet are made with Do.
type Session struct {
	Tenant dag.Tenant

	Turns    Turns
	Slices   Slices
	Policies Policies
	Facts    Facts
	Contexts Contexts
	Beliefs  Beliefs
	Ledger   Ledger

	Kernel  *kernel.Kernel                                                   // nil for a service
	clock   func() time.Time                                                 // nil for a service
	ready   func(context.Context, dag.Tenant) (ready.Folder, dag.Seq, error) // nil for a service, and for a store without a file
	service *client.Client                                                   // nil for a kernel
	head    func(context.Context) (dag.Seq, error)
}

// Do carries out an operation: with the function by which a service answers it, or by asking a service.
func Do[In, Out any](ctx context.Context, s *Session, op api.Operation[In, Out], in In) (Out, error) {
	if s.service == nil {
		out, err := kernel.Ask(ctx, s.Kernel, s.Tenant, op, in)
		return out, answered(err)
	}
	return told(client.Do(ctx, s.service, op, in))
}

// Ready returns the folder of the contexts that are prepared for hooks, and the number of the tenant's last entry. It wraps errors.ErrUnsupported if nothing
// can be prepared: for a service, and for a store that has no file on this machine.
func (s *Session) Ready(ctx context.Context) (ready.Folder, dag.Seq, error) {
	if s.ready == nil {
		return ready.Folder{}, 0, fmt.Errorf("preparing contexts: %w", errors.ErrUnsupported)
	}
	return s.ready(ctx, s.Tenant)
}

// ReadyOver makes a session prepare contexts next to a store, if the store supports this.
func (s *Session) ReadyOver(backing store.Store) *Session {
	if over, ok := backing.(interface {
		Ready(ctx context.Context, tenant dag.Tenant) (ready.Folder, dag.Seq, error)
	}); ok {
		s.ready = over.Ready
	}
	return s
}

// Head returns the tenant's newest sequence number.
func (s *Session) Head(ctx context.Context) (dag.Seq, error) { return s.head(ctx) }

// HoldsTurns refuses a tenant for which nothing was ever admitted: a mistyped name must not look like an empty graph. The default tenant may be empty.
func (s *Session) HoldsTurns(ctx context.Context) error {
	head, err := s.Head(ctx)
	if err == nil && head == 0 && s.Tenant != dag.DefaultTenant {
		return fmt.Errorf("tenant %s: %w: this store has nothing of this tenant", s.Tenant, store.ErrNotFound)
	}
	return err
}

// A Turn is a stored turn. Redacted means that its text was erased or withheld.
type Turn struct {
	dag.Draft
	Seq dag.Seq
	Key string // the API key that brought the turn
}

// Body returns the text of a turn, or nil if it was erased or withheld.
func (t *Turn) Body() *dag.Body {
	if t.Redacted {
		return nil
	}
	return &dag.Body{Author: t.Author, Content: t.Content, Attrs: t.Attrs}
}

// Node returns a turn without its text.
func (t *Turn) Node() *dag.Turn {
	return &dag.Turn{ID: t.ID, Conversation: t.Conversation, Role: t.Role, Phase: t.Phase, Salience: t.Salience, CreatedAt: t.CreatedAt, BodyDigest: t.BodyDigest}
}

// Turns is the facet for importing and exporting turns.
type Turns interface {
	Admit(ctx context.Context, drafts []dag.Draft) (api.Receipt, error)
	Import(ctx context.Context, paths []string, opts ingest.Options) (admission.ImportReport, error)
	Export(ctx context.Context, only *dag.ConversationID, to io.Writer) (kernel.ExportReport, error)
}

// Slices is the facet for slices of turns.
type Slices interface {
	Cut(ctx context.Context, r client.Request) (client.Bundle, error)
	Replay(ctx context.Context, bundle []byte) (api.Replay, error)
	ReplayIssued(ctx context.Context, id slice.SliceID) (api.Replay, error)
	// Bundle computes the newest bundle of a slice id again: of turns, of facts, or a context.
	Bundle(ctx context.Context, id slice.SliceID, digest *dag.Digest) ([]byte, error)
}

// Policies is the facet for policies.
type Policies interface {
	All(ctx context.Context) (policy.Registry, error)
	Get(ctx context.Context, id policy.ID) (policy.Registered, error)
	Register(ctx context.Context, p policy.Registered) error
}

// Facts is the facet for facts.
type Facts interface {
	Slice(ctx context.Context, r api.FactSliceRequest) (client.FactBundle, error)
	// Learn records acts, at most knowledge.MaxBatch. If one is refused, the error is a *knowledge.ActError.
	Learn(ctx context.Context, acts []knowledge.Act) ([]knowledge.Outcome, error)
}

// Contexts is the facet for contexts.
type Contexts interface {
	Assemble(ctx context.Context, r api.ContextRequest) (client.Context, error)
}

// Beliefs is the facet for evidence of beliefs.
type Beliefs interface {
	Prove(ctx context.Context, r api.BeliefProofRequest) (client.BeliefProof, error)
}

// Ledger is the facet for the ledger and for evidence for third parties.
type Ledger interface {
	Attest(ctx context.Context, bundle []byte) (client.Evidence, error)
	Convert(ctx context.Context, bundle []byte, to string) (api.Converted, error)
	Located(ctx context.Context, bundle []byte) (uint64, error)
	Size(ctx context.Context) (uint64, error)
	// Leaves returns the leaves of the ledger at a size from index from up to, but excluding, index to.
	Leaves(ctx context.Context, size, from, to uint64) ([][]byte, error)
	Prove(ctx context.Context, index uint64) (*ledger.Proof, error)
	Consistency(ctx context.Context, from uint64, to ledger.Root) ([]ledger.Hash, error)
	monitor.Source // its checkpoint, and the hashes of its tree
}
