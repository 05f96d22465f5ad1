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
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// A local is a tenant of the kernel over an open store. Each of its facets gives the same answers as the client's.
type local struct {
	*kernel.Kernel
	tenant dag.Tenant
}

// SessionOf returns a session of a kernel for a tenant. The clock limits the work that a command does in addition to its request.
func SessionOf(k *kernel.Kernel, tenant dag.Tenant, clock func() time.Time) *Session {
	l := local{k, tenant}
	return &Session{
		Tenant: tenant, Kernel: k, clock: clock, Turns: localTurns{l}, Slices: localSlices{l}, Policies: localPolicies{l}, Facts: localFacts{l}, Contexts: localContexts{l}, Beliefs: localBeliefs{l}, Ledger: localLedger{l},
		head: func(ctx context.Context) (dag.Seq, error) { return k.Turns().Head(ctx, tenant) },
	}
}

type (
	localTurns    struct{ local }
	localSlices   struct{ local }
	localPolicies struct{ local }
	localFacts    struct{ local }
	localContexts struct{ local }
	localBeliefs  struct{ local }
	localLedger   struct{ local }
)

func (l localTurns) Admit(ctx context.Context, drafts []dag.Draft) (api.Receipt, error) {
	return l.local.Turns().Admit(ctx, l.tenant, drafts)
}

func (l localTurns) Import(ctx context.Context, paths []string, opts ingest.Options) (admission.ImportReport, error) {
	return l.local.Turns().ImportAll(ctx, l.tenant, paths, opts)
}

func (l localTurns) Export(ctx context.Context, only *dag.ConversationID, to io.Writer) (kernel.ExportReport, error) {
	return l.local.Turns().Export(ctx, l.tenant, only, to)
}

func (l localSlices) Cut(ctx context.Context, r client.Request) (client.Bundle, error) {
	issued, err := l.local.Slices().Cut(ctx, l.tenant, kernel.Request(r))
	if err != nil {
		return client.Bundle{}, err
	}
	claim, err := slice.ParseBundle(issued.Bundle)
	return client.Bundle{Bytes: issued.Bundle, SHA256: issued.Record.Bundle, Claim: claim}, err
}

func (l localSlices) Replay(ctx context.Context, bundle []byte) (api.Replay, error) {
	return replayed(l.local.Slices().Replay(ctx, l.tenant, bundle))
}

func (l localSlices) ReplayIssued(ctx context.Context, id slice.SliceID) (api.Replay, error) {
	return replayed(l.local.Slices().ReplayIssued(ctx, l.tenant, id))
}

func (l localSlices) Bundle(ctx context.Context, id slice.SliceID, digest *dag.Digest) ([]byte, error) {
	return l.local.Slices().Bundle(ctx, l.tenant, id, digest)
}

func replayed(r *kernel.Replay, err error) (api.Replay, error) {
	if err != nil {
		return api.Replay{}, err
	}
	return r.Answer(), nil
}

func (l localPolicies) All(ctx context.Context) (policy.Registry, error) {
	return l.local.Policies().All(ctx, l.tenant)
}

func (l localPolicies) Get(ctx context.Context, id policy.ID) (policy.Registered, error) {
	return l.local.Policies().Get(ctx, l.tenant, id)
}

func (l localPolicies) Register(ctx context.Context, p policy.Registered) error {
	return l.local.Policies().Register(ctx, l.tenant, p)
}

func (l localFacts) Slice(ctx context.Context, r api.FactSliceRequest) (client.FactBundle, error) {
	issued, err := l.local.Facts().Slice(ctx, l.tenant, r)
	if err != nil {
		return client.FactBundle{}, err
	}
	claim, err := facts.Parse(issued.Bundle)
	return client.FactBundle{Bytes: issued.Bundle, SHA256: issued.Record.Bundle, Claim: claim}, err
}

func (l localBeliefs) Prove(ctx context.Context, r api.BeliefProofRequest) (client.BeliefProof, error) {
	issued, err := l.local.Beliefs().Prove(ctx, l.tenant, r)
	if err != nil {
		return client.BeliefProof{}, err
	}
	return client.BeliefProof{Bytes: issued.Bundle, SHA256: issued.Record.Bundle, Claim: issued.Belief}, nil
}

func (l localContexts) Assemble(ctx context.Context, r api.ContextRequest) (client.Context, error) {
	issued, err := l.local.Contexts().Assemble(ctx, l.tenant, r)
	if err != nil {
		return client.Context{}, err
	}
	return client.Context{Bytes: issued.Bundle, SHA256: issued.Record.Bundle, Claim: issued.Context}, nil
}

func (l localFacts) Learn(ctx context.Context, acts []knowledge.Act) ([]knowledge.Outcome, error) {
	outcomes, err := l.local.Facts().Learn(ctx, l.tenant, acts)
	if which := (*knowledge.ActError)(nil); errors.As(err, &which) {
		return nil, which // without the back end's details about the place
	}
	return outcomes, err
}

func (l localLedger) Attest(ctx context.Context, bundle []byte) (client.Evidence, error) {
	e, err := l.local.Ledger().Attest(ctx, l.tenant, bundle)
	if err != nil {
		return client.Evidence{}, err
	}
	return client.Evidence{Attestation: e.Envelope, Proof: e.Proof, Index: e.Statement.Index, Origin: e.Statement.Origin, SHA256: e.Record.Bundle,
		SliceID: e.Statement.Provenance.SliceID, KeyID: e.KeyID, IssuedAt: e.Record.At.String()}, nil
}

func (l localLedger) Convert(ctx context.Context, bundle []byte, to string) (api.Converted, error) {
	return l.local.Ledger().Convert(ctx, l.tenant, bundle, to)
}

func (l localLedger) Located(ctx context.Context, bundle []byte) (uint64, error) {
	return l.local.Ledger().Located(ctx, l.tenant, bundle)
}

func (l localLedger) Size(ctx context.Context) (uint64, error) {
	root, err := l.local.Ledger().Root(ctx, l.tenant)
	return root.Size, err
}

func (l localLedger) Leaves(ctx context.Context, size, from, to uint64) (leaves [][]byte, err error) {
	for to = min(to, size); from < to; {
		some, err := l.local.Ledger().Leaves(ctx, l.tenant, from, int(min(to-from, most))) //nolint:gosec // most is small
		if err != nil || len(some) == 0 {
			return leaves, err
		}
		leaves, from = append(leaves, some...), from+uint64(len(some))
	}
	return leaves, nil
}

func (l localLedger) Prove(ctx context.Context, index uint64) (*ledger.Proof, error) {
	return l.local.Ledger().Prove(ctx, l.tenant, index)
}

func (l localLedger) Consistency(ctx context.Context, from uint64, to ledger.Root) ([]ledger.Hash, error) {
	return l.local.Ledger().ProveConsistency(ctx, l.tenant, from, to)
}

func (l localLedger) Checkpoint(ctx context.Context) ([]byte, error) {
	now, err := l.local.Ledger().Checkpoint(ctx, l.tenant)
	return now.Note, err
}

func (l localLedger) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	hashes, err := l.local.Ledger().Hashes(ctx, l.tenant, level, from, n)
	if err == nil && len(hashes) < n {
		return nil, fmt.Errorf("want %d hashes of level %d from index %d on, but the ledger has only %d of them: %w", n, level, from, len(hashes), monitor.ErrAbsent)
	}
	return hashes, err
}
