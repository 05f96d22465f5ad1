package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// Learn records a fact. The same again changes nothing. Evidence that is not there is
// api.CodeEvidence, a statement to supersede that is not believed api.CodeNotBelieved.
func (c Facts) Learn(ctx context.Context, f api.NewFact) (api.KnowledgeOutcome, error) {
	return call(ctx, c.conn, api.LearnFact, f)
}

// LearnAll records retractions, then facts, all of them or none.
func (c Facts) LearnAll(ctx context.Context, k api.Knowledge) (api.KnowledgeOutcomes, error) {
	w, err := call(ctx, c.conn, api.LearnFacts, k)
	if err == nil && (len(w.Retractions) != len(k.Retractions) || len(w.Facts) != len(k.Facts)) {
		err = fmt.Errorf("client: %w: %d and %d outcomes of %d retractions and %d facts", ErrAnswer, len(w.Retractions), len(w.Facts), len(k.Retractions), len(k.Facts))
	}
	return w, err
}

// LearnLines records lines of JSON, each a fact or a retraction, in their order, all of them or
// none. The Problem of a line that is refused has its number as Place. Nothing is sent twice:
// the lines can be read only once. They may be read for a moment longer than a failed call
// takes.
func (c Facts) LearnLines(ctx context.Context, lines io.Reader) (api.KnowledgeOutcomes, error) {
	return get[api.KnowledgeOutcomes](ctx, c.conn, &request{method: http.MethodPost, path: "/api/knowledge/batch", stream: io.NopCloser(lines)})
}

// All returns every fact that is meant as of a sequence number, all of one view; 0 is the
// present. An error ends it.
func (c Facts) All(ctx context.Context, f api.FactFilter, asOf dag.Seq) iter.Seq2[api.Fact, error] {
	return all(func(p api.Paging) ([]api.Fact, string, error) {
		w, err := call(ctx, c.conn, api.ListFacts, api.FactQuery{FactFilter: f, View: api.View{AsOf: asOf}, Paging: p})
		return w.Facts, w.Next, err
	})
}

// Retract ends the belief in every fact that is meant, all of them or none, or with dry says
// what those are. AsOf must be 0, and something must limit. Sent again because the
// connection broke, it may give nothing: what it ended is ended.
func (c Facts) Retract(ctx context.Context, f api.FactFilter, reason string, dry bool) (api.Retracted, error) {
	w, err := call(ctx, c.conn, api.RetractFacts, api.Retracting{FactFilter: f, Reason: reason, DryRun: dry})
	if err == nil && w.DryRun != dry {
		err = fmt.Errorf("client: %w: dry_run is %t, and %t was asked for", ErrAnswer, w.DryRun, dry)
	}
	return w, err
}

// History returns all that was said of a statement, by ascending number. An error ends it.
func (c Facts) History(ctx context.Context, statement dag.Digest) iter.Seq2[api.KnowledgeAct, error] {
	return all(func(p api.Paging) ([]api.KnowledgeAct, string, error) {
		w, err := call(ctx, c.conn, api.FactsHistory, api.HistoryOf{Statement: statement, Paging: p})
		return w.Acts, w.Next, err
	})
}

// Aliases returns the alias table, ascending; 0 is the present. An error ends it.
func (c Facts) Aliases(ctx context.Context, asOf dag.Seq) iter.Seq2[api.Alias, error] {
	return all(func(p api.Paging) ([]api.Alias, string, error) {
		w, err := call(ctx, c.conn, api.ListAliases, api.AliasesOf{View: api.View{AsOf: asOf}, Paging: p})
		return w.Aliases, w.Next, err
	})
}

// AddAliases adds aliases, all of them or none. One that stands for another name is api.CodeAlias.
func (c Facts) AddAliases(ctx context.Context, aliases []api.Alias) (api.AliasesAdded, error) {
	return call(ctx, c.conn, api.AddAliases, api.NewAliases{Aliases: aliases})
}
