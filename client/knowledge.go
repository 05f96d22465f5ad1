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

// Learn records a fact. Recording it again changes nothing. If the evidence does not exist, the error is
// api.CodeEvidence; if a statement to supersede is not believed, it is api.CodeNotBelieved.
func (c Facts) Learn(ctx context.Context, f api.NewFact) (api.KnowledgeOutcome, error) {
	return call(ctx, c.conn, api.LearnFact, f)
}

// LearnAll records retractions, then facts: either all of them or none.
func (c Facts) LearnAll(ctx context.Context, k api.Knowledge) (api.KnowledgeOutcomes, error) {
	w, err := call(ctx, c.conn, api.LearnFacts, k)
	if err == nil && (len(w.Retractions) != len(k.Retractions) || len(w.Facts) != len(k.Facts)) {
		err = fmt.Errorf("client: %w: %d and %d outcomes of %d retractions and %d facts", ErrAnswer, len(w.Retractions), len(w.Facts), len(k.Retractions), len(k.Facts))
	}
	return w, err
}

// LearnLines records lines of JSON, each a fact or a retraction, in order: either all of them or none. If a line is
// refused, the Problem has its number as Place. Nothing is sent twice, because the lines can be read only once. After
// a failed call, the lines may still be read for a moment.
func (c Facts) LearnLines(ctx context.Context, lines io.Reader) (api.KnowledgeOutcomes, error) {
	return get[api.KnowledgeOutcomes](ctx, c.conn, &request{method: http.MethodPost, path: "/api/knowledge/batch", stream: io.NopCloser(lines)})
}

// All returns every fact that matches the filter as of a sequence number, all of one view; 0 is the present. An error
// ends it.
func (c Facts) All(ctx context.Context, f api.FactFilter, asOf dag.Seq) iter.Seq2[api.Fact, error] {
	return all(func(p api.Paging) ([]api.Fact, string, error) {
		w, err := call(ctx, c.conn, api.ListFacts, api.FactQuery{FactFilter: f, View: api.View{AsOf: asOf}, Paging: p})
		return w.Facts, w.Next, err
	})
}

// Retract ends the belief in every fact that matches the filter: either all of them or none. If dry is set, it
// changes nothing and returns these facts. AsOf must be 0, and the filter must not be empty. If the request is
// repeated because the connection broke, the result may be empty, since the first request ended the belief.
func (c Facts) Retract(ctx context.Context, f api.FactFilter, reason string, dry bool) (api.Retracted, error) {
	w, err := call(ctx, c.conn, api.RetractFacts, api.Retracting{FactFilter: f, Reason: reason, DryRun: dry})
	if err == nil && w.DryRun != dry {
		err = fmt.Errorf("client: %w: dry_run is %t, but %t was requested", ErrAnswer, w.DryRun, dry)
	}
	return w, err
}

// History returns the whole history of a statement, by ascending number. The iteration ends with the first error.
func (c Facts) History(ctx context.Context, statement dag.Digest) iter.Seq2[api.KnowledgeAct, error] {
	return all(func(p api.Paging) ([]api.KnowledgeAct, string, error) {
		w, err := call(ctx, c.conn, api.FactsHistory, api.HistoryOf{Statement: statement, Paging: p})
		return w.Acts, w.Next, err
	})
}

// Aliases returns the alias table in ascending order as of a sequence number; 0 is the present. The iteration ends with the first error.
func (c Facts) Aliases(ctx context.Context, asOf dag.Seq) iter.Seq2[api.Alias, error] {
	return all(func(p api.Paging) ([]api.Alias, string, error) {
		w, err := call(ctx, c.conn, api.ListAliases, api.AliasesOf{View: api.View{AsOf: asOf}, Paging: p})
		return w.Aliases, w.Next, err
	})
}

// AddAliases adds aliases: either all of them or none. If an alias already means another name, the error is
// api.CodeAlias.
func (c Facts) AddAliases(ctx context.Context, aliases []api.Alias) (api.AliasesAdded, error) {
	return call(ctx, c.conn, api.AddAliases, api.NewAliases{Aliases: aliases})
}
