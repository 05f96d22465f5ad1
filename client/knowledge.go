package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"

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

// List reads a page of what is believed.
func (c Facts) List(ctx context.Context, q api.FactQuery) (api.Facts, error) {
	return call(ctx, c.conn, api.ListFacts, q)
}

// All returns every fact that is meant as of a sequence number, all of one view; 0 is the
// present. An error ends it.
func (c Facts) All(ctx context.Context, f api.FactFilter, asOf dag.Seq) iter.Seq2[api.Fact, error] {
	return all(func(p api.Paging) ([]api.Fact, string, error) {
		w, err := c.List(ctx, api.FactQuery{FactFilter: f, View: api.View{AsOf: asOf}, Paging: p})
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

// Traverse returns what can be reached, each with a way to it.
func (c Facts) Traverse(ctx context.Context, t api.TraverseRequest) (api.Traversal, error) {
	return call(ctx, c.conn, api.TraverseKnowledge, t)
}

// Acts reads up to limit acts numbered above after. If there is a Next, there are more.
func (c Facts) Acts(ctx context.Context, after dag.Seq, limit int) (api.KnowledgeChanges, error) {
	return call(ctx, c.conn, api.KnowledgeSince, api.Paging{After: strconv.FormatUint(uint64(after), 10), Limit: limit})
}

// Paths returns the best ways from one entity to another, each as something that was reached.
func (c Facts) Paths(ctx context.Context, q api.PathQuery) (api.Traversal, error) {
	return call(ctx, c.conn, api.FindPaths, q)
}

// Stats counts what is believed; 0 is the present.
func (c Facts) Stats(ctx context.Context, asOf dag.Seq) (api.KnowledgeStats, error) {
	return call(ctx, c.conn, api.CountKnowledge, api.View{AsOf: asOf})
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

// RemoveAlias ends that a name stands for another.
func (c Facts) RemoveAlias(ctx context.Context, alias string) (api.KnowledgeOutcome, error) {
	return call(ctx, c.conn, api.RemoveAlias, api.AliasNamed{Alias: alias})
}

// Graph draws what is around an entity as nodes and links, in the JSON that d3 takes.
func (c Facts) Graph(ctx context.Context, d api.Drawing) (api.D3Graph, error) {
	d.Format = ""
	return call(ctx, c.conn, api.DrawKnowledge, d)
}
