package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/store"
)

// A local is a tenant of the kernel over an open store. Each facet of it answers as the client's does.
type local struct {
	*kernel.Kernel
	tenant dag.Tenant
}

// SessionOf asks a kernel for a tenant.
func SessionOf(k *kernel.Kernel, tenant dag.Tenant) *Session {
	l := local{k, tenant}
	return &Session{
		Tenant: tenant, Kernel: k, Turns: localTurns{l}, Slices: localSlices{l}, Policies: localPolicies{l}, Facts: localFacts{l}, Ledger: localLedger{l},
		head: func(ctx context.Context) (dag.Seq, error) { return k.Turns().Head(ctx, tenant) },
	}
}

type (
	localTurns    struct{ local }
	localSlices   struct{ local }
	localPolicies struct{ local }
	localFacts    struct{ local }
	localLedger   struct{ local }
)

// pageBytes is after how many bytes of text a page of turns ends.
const pageBytes = 16 << 20

func (l localTurns) List(ctx context.Context, q api.TurnQuery) (turns []Turn, next string, err error) {
	after := uint64(0)
	if q.After != "" {
		if after, err = strconv.ParseUint(q.After, 10, 64); err != nil {
			return nil, "", fmt.Errorf("where a page begins: %w", err)
		}
	}
	only := kernel.TurnFilter{Credential: q.Key}
	if q.Role != "" {
		if only.Role, err = dag.ParseRole(q.Role); err != nil {
			return nil, "", err
		}
	}
	records, last, more, err := l.local.Turns().By(ctx, l.tenant, only, dag.Seq(after), q.Conversation, q.Limit, pageBytes)
	if err != nil {
		return nil, "", err
	}
	if more {
		next = strconv.FormatUint(uint64(last), 10)
	}
	turns = make([]Turn, len(records))
	for i := range records {
		if turns[i], err = turnOf(&records[i]); err != nil {
			return nil, "", err
		}
	}
	return turns, next, nil
}

// turnOf returns a record as commands see it.
func turnOf(r *store.Record) (Turn, error) {
	n := &r.Turn
	t := Turn{Seq: r.Seq, Key: r.Key, Draft: dag.Draft{
		ID: n.ID, Conversation: n.Conversation, Role: n.Role, Phase: n.Phase, Salience: n.Salience, HasSalience: true, CreatedAt: n.CreatedAt,
		Redacted: r.Body == nil, BodyDigest: n.BodyDigest, Parents: make([]dag.Parent, len(r.Parents)),
	}}
	for i := range r.Parents {
		t.Parents[i] = dag.Parent{ID: r.Parents[i].ID, Kind: r.Parents[i].Kind}
	}
	if r.Body != nil {
		body, err := slice.ParseBody(r.Body)
		if err != nil {
			return t, fmt.Errorf("stored turn %s: %w", n.ID, err)
		}
		t.Author, t.Content, t.Attrs = body.Author, body.Content, body.Attrs
	}
	return t, nil
}

func (l localTurns) LookUp(ctx context.Context, ids []dag.TurnID) (turns []Turn, err error) {
	for _, id := range ids {
		r, err := l.local.Turns().Get(ctx, l.tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		t, err := turnOf(&r)
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	return turns, nil
}

func (l localTurns) Resolve(ctx context.Context, name string) (dag.TurnID, error) {
	return l.local.Turns().Resolve(ctx, l.tenant, name)
}

func (l localTurns) Conversations(ctx context.Context) iter.Seq2[api.Conversation, error] {
	return func(yield func(api.Conversation, error) bool) {
		const page = 500
		for after := (dag.ConversationID{}); ; {
			some, err := l.local.Turns().Conversations(ctx, l.tenant, after, page)
			if err != nil {
				yield(api.Conversation{}, err)
				return
			}
			for i := range some {
				if after = some[i].ID; !yield(view.Conversation(&some[i]), nil) {
					return
				}
			}
			if len(some) < page {
				return
			}
		}
	}
}

func (l localTurns) Admit(ctx context.Context, drafts []dag.Draft) (api.Receipt, error) {
	r, err := l.local.Turns().Admit(ctx, l.tenant, drafts)
	return view.Receipt(r), err
}

func (l localTurns) Erase(ctx context.Context, id dag.TurnID, reason string) (api.Event, error) {
	e, err := l.local.Turns().Erase(ctx, l.tenant, id, reason)
	return view.Event(&e), err
}

func (l localTurns) Import(ctx context.Context, path string, opts ingest.Options) (kernel.ImportReport, error) {
	return l.local.Turns().Import(ctx, l.tenant, path, opts)
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

func replayed(r *kernel.Replay, err error) (api.Replay, error) {
	if err != nil {
		return api.Replay{}, err
	}
	return view.Replay(r), nil
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

func (l localFacts) History(ctx context.Context, id dag.Digest) iter.Seq2[api.KnowledgeAct, error] {
	return func(yield func(api.KnowledgeAct, error) bool) {
		list, err := l.local.Facts().History(ctx, l.tenant, id)
		if err != nil {
			yield(api.KnowledgeAct{}, err)
			return
		}
		for i := range list {
			if !yield(view.Act(&list[i]), nil) {
				return
			}
		}
	}
}

func (l localFacts) Acts(ctx context.Context, after dag.Seq, limit int) (api.KnowledgeChanges, error) {
	return view.Changes(ctx, l.Kernel, l.tenant, uint64(after), limit)
}

func (l localFacts) Slice(ctx context.Context, r client.FactRequest) (client.FactBundle, error) {
	issued, err := l.local.Facts().Slice(ctx, l.tenant, kernel.FactRequest(r))
	if err != nil {
		return client.FactBundle{}, err
	}
	claim, err := facts.Parse(issued.Bundle)
	return client.FactBundle{Bytes: issued.Bundle, SHA256: issued.Record.Bundle, Claim: claim}, err
}

func (l localFacts) Aliases(ctx context.Context, asOf dag.Seq) (*normalize.Table, error) {
	return l.local.Facts().Aliases(ctx, l.tenant, asOf)
}

func (l localFacts) Learn(ctx context.Context, acts []knowledge.Act) ([]knowledge.Outcome, error) {
	outcomes, err := l.local.Facts().Learn(ctx, l.tenant, acts)
	if which := (*knowledge.ActError)(nil); errors.As(err, &which) {
		return nil, which // without what the back end says of where it was
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
	return view.Convert(ctx, l.Kernel, l.tenant, bundle, to)
}

func (l localLedger) Located(ctx context.Context, bundle []byte) (uint64, error) {
	return l.local.Ledger().Located(ctx, l.tenant, bundle)
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
		return nil, fmt.Errorf("%d hashes of level %d from %d on, of which %d are there: %w", n, level, from, len(hashes), monitor.ErrAbsent)
	}
	return hashes, err
}
