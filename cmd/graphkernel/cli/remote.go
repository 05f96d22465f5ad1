package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// remoteSession returns a session with a service. The API key decides the tenant.
func remoteSession(ctx context.Context, c *client.Client, named dag.Tenant) (*Session, error) {
	who, err := told(c.Caller(ctx))
	if err != nil {
		return nil, err
	}
	if named != "" && string(named) != who.Tenant {
		return nil, Usagef("the API key belongs to tenant %s, but tenant %s is named", who.Tenant, named)
	}
	s := &Session{
		Tenant: dag.Tenant(who.Tenant), Slices: remoteSlices{c.Slices()}, Policies: remotePolicies{c.Policies()}, Facts: remoteFacts{c.Facts(), c}, Contexts: remoteContexts{c.Contexts()}, Beliefs: remoteBeliefs{c.Beliefs()},
		Ledger: remoteLedger{c.Ledger()}, service: c,
		head: func(ctx context.Context) (dag.Seq, error) {
			who, err := told(c.Caller(ctx))
			return who.Head, err
		},
	}
	s.Turns = remoteTurns{c, s}
	return s, nil
}

// The facets of a service are those of the client, with the errors of the kernel.
type (
	remoteTurns struct {
		*client.Client
		session *Session
	}
	remoteSlices   struct{ client.Slices }
	remotePolicies struct{ client.Policies }
	remoteFacts    struct {
		client.Facts
		client *client.Client
	}
	remoteLedger struct{ client.Ledger }
)

func (r remoteTurns) Admit(ctx context.Context, drafts []dag.Draft) (api.Receipt, error) {
	return told(r.Turns().Admit(ctx, drafts))
}

func (r remoteTurns) Export(ctx context.Context, only *dag.ConversationID, to io.Writer) (report kernel.ExportReport, err error) {
	here := map[dag.TurnID]bool{} // parents come before their children
	for q := (api.TurnQuery{Conversation: only, Paging: api.Paging{Limit: 1000}}); ; {
		page, err := told(client.Do(ctx, r.Client, api.ListTurns, q))
		if err != nil {
			return report, err
		}
		turns, err := readTurns(page.Turns)
		if err != nil {
			return report, err
		}
		for i := range turns {
			if _, err := to.Write(append(bytes.Clone(page.Turns[i].Turn), '\n')); err != nil {
				return report, fmt.Errorf("export: %w", err)
			}
			report.Turns, report.Head = report.Turns+1, turns[i].Seq
			if turns[i].Redacted {
				report.Redacted++
			}
			if only == nil {
				continue
			}
			here[turns[i].ID] = true
			for _, p := range turns[i].Parents {
				if !here[p.ID] {
					report.Outside++
				}
			}
		}
		if q.After = page.Next; q.After == "" {
			return report, nil
		}
	}
}

func (r remoteSlices) Cut(ctx context.Context, q client.Request) (client.Bundle, error) {
	return told(r.Slices.Cut(ctx, q))
}

func (r remoteSlices) Replay(ctx context.Context, bundle []byte) (api.Replay, error) {
	return told(r.Slices.Replay(ctx, bundle))
}

func (r remoteSlices) ReplayIssued(ctx context.Context, id slice.SliceID) (api.Replay, error) {
	return told(r.Slices.ReplayIssued(ctx, id))
}

func (r remoteSlices) Bundle(ctx context.Context, id slice.SliceID, digest *dag.Digest) ([]byte, error) {
	return told(r.Slices.Bundle(ctx, id, digest))
}

func (r remotePolicies) All(ctx context.Context) (policy.Registry, error) {
	return told(r.Policies.All(ctx))
}

func (r remotePolicies) Get(ctx context.Context, id policy.ID) (policy.Registered, error) {
	return told(r.Policies.Get(ctx, id))
}

func (r remotePolicies) Register(ctx context.Context, p policy.Registered) error {
	_, err := told(struct{}{}, r.Policies.Register(ctx, p))
	return err
}

type remoteBeliefs struct{ client.Beliefs }

func (r remoteBeliefs) Prove(ctx context.Context, q api.BeliefProofRequest) (client.BeliefProof, error) {
	return told(r.Beliefs.Prove(ctx, q))
}

type remoteContexts struct{ client.Contexts }

func (r remoteContexts) Assemble(ctx context.Context, q api.ContextRequest) (client.Context, error) {
	return told(r.Contexts.Assemble(ctx, q))
}

func (r remoteFacts) Slice(ctx context.Context, q api.FactSliceRequest) (client.FactBundle, error) {
	return told(r.Facts.Slice(ctx, q))
}

// Learn sends acts of one kind, as all commands have, in requests of up to knowledge.MaxActs.
func (r remoteFacts) Learn(ctx context.Context, acts []knowledge.Act) (outcomes []knowledge.Outcome, err error) {
	for done := 0; done < len(acts); {
		some := acts[done:min(len(acts), done+knowledge.MaxActs)]
		list, err := r.learn(ctx, some)
		if err != nil {
			return nil, refusedAct(err, done, len(acts))
		}
		outcomes = append(outcomes, list...)
		if done += len(some); len(outcomes) != done {
			return nil, fmt.Errorf("%w: %d outcomes of %d acts", client.ErrAnswer, len(outcomes), done)
		}
	}
	return outcomes, nil
}

func (r remoteFacts) learn(ctx context.Context, acts []knowledge.Act) ([]api.KnowledgeOutcome, error) {
	switch acts[0].Kind {
	case knowledge.Assert:
		facts := make([]api.NewFact, len(acts))
		for i := range acts {
			facts[i] = newFact(&acts[i])
		}
		w, err := r.LearnAll(ctx, api.Knowledge{Facts: facts})
		return w.Facts, err
	case knowledge.Alias:
		aliases := make([]api.Alias, len(acts))
		for i := range acts {
			aliases[i] = api.Alias{Alias: acts[i].Alias, Canonical: acts[i].Canonical}
		}
		w, err := r.AddAliases(ctx, aliases)
		return w.Outcomes, err
	case knowledge.Unalias:
		w, err := client.Do(ctx, r.client, api.RemoveAlias, api.AliasNamed{Alias: acts[0].Alias})
		return []api.KnowledgeOutcome{w}, err
	}
	panic("graphkernel: no command records acts of the kind " + string(acts[0].Kind))
}

// newFact returns an assertion in the form of a request.
func newFact(a *knowledge.Act) api.NewFact {
	f := &a.Fact
	w := api.NewFact{Confidence: &f.Confidence, Source: f.Source, Slice: slice.SliceID(f.Slice), Supersedes: a.Supersedes}
	w.Subject, w.Predicate, w.Object = f.Spelled()
	if name, err := normalize.Text(f.Written.Object); err == nil && name == f.Object {
		w.Object, w.ObjectText = name, &f.Written.Object
	}
	if f.Turn != (dag.TurnID{}) {
		w.Turn = f.Turn.String()
	}
	if f.From != 0 {
		w.ValidFrom = &f.From
	}
	if f.Until != knowledge.Forever {
		w.ValidUntil = &f.Until
	}
	return w
}

// refusedAct returns the act of a request that was refused, if the service names it: facts[3] or aliases[3].
func refusedAct(err error, before, of int) error {
	var p *client.Problem
	if !errors.As(err, &p) {
		return err
	}
	_, rest, found := strings.Cut(p.Place, "[")
	index, _, closed := strings.Cut(rest, "]")
	if n, wrong := strconv.Atoi(index); found && closed && wrong == nil {
		return &knowledge.ActError{Index: before + n, Of: of, Err: refused(err)}
	}
	return refused(err)
}

func (r remoteLedger) Attest(ctx context.Context, bundle []byte) (client.Evidence, error) {
	return told(r.Ledger.Attest(ctx, bundle))
}

func (r remoteLedger) Convert(ctx context.Context, bundle []byte, to string) (api.Converted, error) {
	return told(r.Ledger.Convert(ctx, bundle, to))
}

func (r remoteLedger) Located(ctx context.Context, bundle []byte) (uint64, error) {
	e, err := r.Attest(ctx, bundle)
	return e.Index, err
}

func (r remoteLedger) Size(ctx context.Context) (uint64, error) {
	text, err := r.Checkpoint(ctx)
	if err != nil {
		return 0, err
	}
	now, err := ledger.ReadCheckpoint(text)
	return now.Size, err
}

func (r remoteLedger) Leaves(ctx context.Context, size, from, to uint64) ([][]byte, error) {
	return told(r.Ledger.Leaves(ctx, size, from, to))
}

func (r remoteLedger) Prove(ctx context.Context, index uint64) (*ledger.Proof, error) {
	return told(r.Ledger.Prove(ctx, index))
}

func (r remoteLedger) Consistency(ctx context.Context, from uint64, to ledger.Root) ([]ledger.Hash, error) {
	return told(to.ProveConsistency(ctx, from, r.Source()))
}

func (r remoteLedger) Checkpoint(ctx context.Context) ([]byte, error) {
	return told(r.Ledger.Checkpoint(ctx))
}

func (r remoteLedger) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	return r.Source().Hashes(ctx, level, from, n)
}
