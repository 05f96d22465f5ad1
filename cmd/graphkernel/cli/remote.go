package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// remoteSession asks a service. Whose graph it is, the API key says.
func remoteSession(ctx context.Context, c *client.Client, named dag.Tenant) (*Session, error) {
	who, err := told(c.Caller(ctx))
	if err != nil {
		return nil, err
	}
	if named != "" && string(named) != who.Tenant {
		return nil, Usagef("the API key is of tenant %s, and tenant %s is named", who.Tenant, named)
	}
	return &Session{
		Tenant: dag.Tenant(who.Tenant), Turns: remoteTurns{c}, Slices: remoteSlices{c.Slices()}, Policies: remotePolicies{c.Policies()}, Facts: remoteFacts{c.Facts()},
		Ledger: remoteLedger{c.Ledger()}, service: c,
		head: func(ctx context.Context) (dag.Seq, error) {
			who, err := told(c.Caller(ctx))
			return dag.Seq(who.Head), err
		},
	}, nil
}

// The facets of a service: the client's, whose errors are the kernel's.
type (
	remoteTurns    struct{ *client.Client }
	remoteSlices   struct{ client.Slices }
	remotePolicies struct{ client.Policies }
	remoteFacts    struct{ client.Facts }
	remoteLedger   struct{ client.Ledger }
)

func (r remoteTurns) List(ctx context.Context, q api.TurnQuery) ([]Turn, string, error) {
	page, err := told(r.Turns().List(ctx, q))
	if err != nil {
		return nil, "", err
	}
	turns, err := readTurns(page.Turns)
	return turns, page.Next, err
}

func (r remoteTurns) LookUp(ctx context.Context, ids []dag.TurnID) (turns []Turn, err error) {
	for len(ids) > 0 {
		n := min(len(ids), 1000)
		page, err := told(r.Turns().LookUp(ctx, ids[:n]))
		if err != nil {
			return nil, err
		}
		some, err := readTurns(page.Turns)
		if err != nil {
			return nil, err
		}
		turns, ids = append(turns, some...), ids[n:]
	}
	return turns, nil
}

// readTurns reads turns as a service shows them.
func readTurns(list []api.StoredTurn) ([]Turn, error) {
	turns := make([]Turn, len(list))
	for i := range list {
		d, err := ingest.ReadLine(list[i].Turn)
		if err != nil {
			return nil, fmt.Errorf("turn %d of the service: %w: %w", list[i].Seq, client.ErrAnswer, err)
		}
		if d.BodyDigest, err = dag.ParseDigest(list[i].BodyDigest); err != nil {
			return nil, fmt.Errorf("turn %s of the service: %w: %w", d.ID, client.ErrAnswer, err)
		}
		turns[i] = Turn{Draft: d, Seq: dag.Seq(list[i].Seq), Key: list[i].Key}
	}
	return turns, nil
}

func (r remoteTurns) Resolve(ctx context.Context, name string) (dag.TurnID, error) {
	return told(r.Turns().Resolve(ctx, name))
}

func (r remoteTurns) Conversations(ctx context.Context) iter.Seq2[api.Conversation, error] {
	return each(r.Turns().Conversations(ctx))
}

func (r remoteTurns) Admit(ctx context.Context, drafts []dag.Draft) (api.Receipt, error) {
	return told(r.Turns().Admit(ctx, drafts))
}

// Erase says of a turn that came without text what a kernel says of it, where a service says that
// there is nothing to erase.
func (r remoteTurns) Erase(ctx context.Context, id dag.TurnID, reason string) (api.Event, error) {
	e, err := r.Turns().Erase(ctx, id, reason)
	if errors.Is(err, api.CodeNotFound) {
		if here, lookErr := r.LookUp(ctx, []dag.TurnID{id}); lookErr == nil && len(here) == 1 && here[0].Redacted {
			return api.Event{At: dag.Time(0).String()}, nil
		}
	}
	return told(e, err)
}

func (r remoteTurns) Export(ctx context.Context, only *dag.ConversationID, to io.Writer) (report kernel.ExportReport, err error) {
	here := map[dag.TurnID]bool{} // parents come before their children
	for q := (api.TurnQuery{Conversation: only, Paging: api.Paging{Limit: 1000}}); ; {
		page, err := told(r.Turns().List(ctx, q))
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

func (r remoteFacts) History(ctx context.Context, id dag.Digest) iter.Seq2[api.KnowledgeAct, error] {
	return each(r.Facts.History(ctx, id))
}

// Acts reads as many pages as a limit takes.
func (r remoteFacts) Acts(ctx context.Context, after dag.Seq, limit int) (api.KnowledgeChanges, error) {
	const most = 1000
	var w api.KnowledgeChanges
	for {
		page, err := told(r.Facts.Acts(ctx, after, min(most, limit-len(w.Acts))))
		if err != nil {
			return w, err
		}
		w.Acts, w.Next = append(w.Acts, page.Acts...), page.Next
		if w.Next == "" || len(w.Acts) >= limit {
			return w, nil
		}
		after = dag.Seq(w.Acts[len(w.Acts)-1].Seq)
	}
}

func (r remoteFacts) Slice(ctx context.Context, q client.FactRequest) (client.FactBundle, error) {
	return told(r.Facts.Slice(ctx, q))
}

func (r remoteFacts) Aliases(ctx context.Context, asOf dag.Seq) (*normalize.Table, error) {
	var changes []normalize.Change
	for a, err := range each(r.Facts.Aliases(ctx, asOf)) {
		if err != nil {
			return nil, err
		}
		changes = append(changes, normalize.Change{Alias: a.Alias, Canonical: a.Canonical})
	}
	t, _, err := (*normalize.Table)(nil).With(changes...)
	if err != nil {
		return nil, fmt.Errorf("the service's aliases: %w: %w", client.ErrAnswer, err)
	}
	return t, nil
}

// Learn sends acts of one kind, which is what commands have, a request for each knowledge.MaxActs of them.
func (r remoteFacts) Learn(ctx context.Context, acts []knowledge.Act) (outcomes []knowledge.Outcome, err error) {
	for done := 0; done < len(acts); {
		some := acts[done:min(len(acts), done+knowledge.MaxActs)]
		list, err := r.learn(ctx, some)
		if err != nil {
			return nil, refusedAct(err, done, len(acts))
		}
		for _, o := range list {
			outcome := knowledge.Outcome{Result: knowledge.Result(o.Result), Seq: dag.Seq(o.Seq)}
			if o.Statement != "" {
				if outcome.Statement, err = dag.ParseDigest(o.Statement); err != nil {
					return nil, fmt.Errorf("%w: %w", client.ErrAnswer, err)
				}
			}
			outcomes = append(outcomes, outcome)
		}
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
		w, err := r.RemoveAlias(ctx, acts[0].Alias)
		return []api.KnowledgeOutcome{w}, err
	}
	panic("graphkernel: no command records acts of the kind " + string(acts[0].Kind))
}

// newFact is an assertion as a service takes it.
func newFact(a *knowledge.Act) api.NewFact {
	f := &a.Fact
	w := api.NewFact{Confidence: &f.Confidence, Source: f.Source, Slice: f.Slice, Supersedes: a.Supersedes}
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

// refusedAct says which act of a request was refused, if the service names one: facts[3] or aliases[3].
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
