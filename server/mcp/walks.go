package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
)

func readDirection(in *canon.Cursor) knowledge.Direction {
	c := in.Optional("direction")
	if c == nil {
		return knowledge.Both
	}
	d := knowledge.Direction(c.String())
	if d != knowledge.Outgoing && d != knowledge.Incoming && d != knowledge.Both {
		c.Failf("want outgoing, incoming or both, got %.40q", d)
	}
	return d
}

type traversed struct {
	Cut     string    `json:"cut"`
	Looked  int       `json:"looked"`
	AsOf    uint64    `json:"as_of"`
	Reached []reached `json:"reached"`
}

type reached struct {
	Entity        string      `json:"entity"`
	Hops          int         `json:"hops"`
	MinConfidence json.Number `json:"min_confidence"`
	From          string      `json:"from"`
	Path          []shownEdge `json:"path"`
}

// cutText says whether an answer is whole.
func cutText(c knowledge.Cut) string {
	if c == knowledge.Whole {
		return "whole"
	}
	return string(c)
}

func (s *Server) traverse(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	t := kernel.Traversal{
		Start: readTerms(in, "start", 1, knowledge.MaxStarts), Predicates: readTerms(in, "predicates", 0, maxPredicates),
		Direction: readDirection(in), MaxHops: readCount(in, "max_hops", knowledge.MaxHops),
		MaxResults: cmp.Or(readCount(in, "max_results", knowledge.MaxResults), standardLimit), MinConfidence: readPPM(in, "min_confidence", 0),
		AsOf: readView(in), ValidAt: readTime(in, "valid_at"),
	}
	if err := read(in); err != nil {
		return answer{}, err
	}
	got, err := s.kernel.Traverse(ctx, who.Tenant, t)
	if err != nil {
		return answer{}, err
	}
	list, err := s.reachedBy(ctx, who, got)
	return answer{result: traversed{cutText(got.Cut), got.Looked, uint64(got.AsOf), list}, view: got.AsOf}, err
}

func (s *Server) reachedBy(ctx context.Context, who access.Identity, got *kernel.Traversed) ([]reached, error) {
	written, err := s.kernel.Written(ctx, who.Tenant, got)
	if err != nil {
		return nil, err
	}
	list := make([]reached, len(got.Reached))
	for i := range got.Reached {
		r := &got.Reached[i]
		list[i] = reached{r.Entity, r.Hops, ppm(r.MinConfidence), r.From, showPath(r.Path, got.Aliases, written)}
	}
	return list, nil
}

// A factsCut is what knowledge_slice says beside the evidence.
type factsCut struct {
	SliceID      string `json:"slice_id"`
	Entities     int    `json:"entities"`
	Facts        int    `json:"facts"`
	Turns        int    `json:"turns"`
	Cut          string `json:"cut"`
	AsOf         uint64 `json:"as_of"`
	PolicyID     string `json:"policy_id"`
	KeyID        string `json:"key_id"`
	Token        string `json:"token"`
	BundleSHA256 string `json:"bundle_sha256"`
}

func (s *Server) cutFacts(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	r := kernel.FactRequest{Start: readTerms(in, "start", 1, knowledge.MaxStarts), AsOf: readView(in), ValidAt: readTime(in, "valid_at")}
	if f := in.Optional("policy"); f != nil {
		r.Policy = canon.Parsed(f, policy.ParseID)
	}
	if err := read(in); err != nil {
		return answer{}, err
	}
	issued, err := s.kernel.FactSlice(ctx, who.Tenant, r)
	if err != nil {
		return answer{}, err
	}
	b := issued.Facts
	return answer{text: string(issued.Bundle), view: b.AsOf, about: factsCut{
		SliceID: string(b.Provenance.SliceID), Entities: len(b.Reached), Facts: len(b.Facts), Turns: len(b.Evidence), Cut: cutText(b.Cut),
		AsOf: uint64(b.AsOf), PolicyID: string(b.Provenance.PolicyID), KeyID: b.Seal.KeyID, Token: b.Seal.Token,
		BundleSHA256: issued.Record.Bundle.String(),
	}}, nil
}

type pathList struct {
	Cut    string    `json:"cut"`
	Looked int       `json:"looked"`
	AsOf   uint64    `json:"as_of"`
	Paths  []reached `json:"paths"`
}

func (s *Server) paths(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	p := kernel.PathQuery{
		From: readTerm(in.Field("from")), To: readTerm(in.Field("to")), Count: readCount(in, "count", knowledge.MaxPaths),
		Predicates: readTerms(in, "predicates", 0, maxPredicates), Direction: readDirection(in),
		MaxHops: readCount(in, "max_hops", knowledge.MaxHops), MinConfidence: readPPM(in, "min_confidence", 0),
		AsOf: readView(in), ValidAt: readTime(in, "valid_at"),
	}
	if err := read(in); err != nil {
		return answer{}, err
	}
	got, err := s.kernel.Paths(ctx, who.Tenant, p)
	if err != nil {
		return answer{}, err
	}
	list, err := s.reachedBy(ctx, who, got)
	return answer{result: pathList{cutText(got.Cut), got.Looked, uint64(got.AsOf), list}, view: got.AsOf}, err
}

type history struct {
	Statement string     `json:"statement"`
	Subject   string     `json:"subject"`
	Predicate string     `json:"predicate"`
	Object    string     `json:"object"`
	ValidFrom string     `json:"valid_from,omitempty"`
	Until     string     `json:"valid_until,omitempty"`
	Believed  bool       `json:"believed"`
	Total     int        `json:"total"`
	Acts      []shownAct `json:"acts"`
}

// readStatement reads which statement is meant: its id, or what it says. Names have other forms
// under earlier rules, so there may be several; the newest rule's is the first.
func readStatement(in *canon.Cursor) []knowledge.ID {
	if c := in.Optional("statement"); c != nil {
		for _, key := range [...]string{"subject", "predicate", "object", "valid_from", "valid_until"} {
			if in.Optional(key) != nil {
				in.Failf("want either statement or %s, not both", key)
			}
		}
		return []knowledge.ID{canon.Parsed(c, dag.ParseDigest)}
	}
	if in.Optional("subject") == nil && in.Optional("predicate") == nil && in.Optional("object") == nil {
		in.Failf("want statement, or subject, predicate and object")
	}
	f, err := knowledge.NewFact(in.Field("subject").String(), in.Field("predicate").String(), in.Field("object").String(), assertSource)
	if err != nil {
		in.Fail(err)
	}
	if t := readTime(in, "valid_from"); t != nil {
		f.From = *t
	}
	if t := readTime(in, "valid_until"); t != nil {
		f.Until = *t
	}
	ids := []knowledge.ID{f.ID()}
	or := func(name string, earlier []string) []string { return append([]string{name}, earlier...) }
	subject, predicate, object := f.Spelled()
	for _, f.Subject = range or(f.Subject, normalize.Earlier(subject)) {
		for _, f.Predicate = range or(f.Predicate, normalize.Earlier(predicate)) {
			for _, f.Object = range or(f.Object, normalize.Earlier(object)) {
				ids = append(ids, f.ID())
			}
		}
	}
	return ids
}

// historyOf returns the history of the first of some statements that has one. All but the first
// are of earlier rules, and must have been asserted under one.
func (s *Server) historyOf(ctx context.Context, who access.Identity, ids []knowledge.ID) (knowledge.ID, []knowledge.Recorded, error) {
	var missing error
	for n, id := range ids {
		acts, err := s.kernel.History(ctx, who.Tenant, id)
		switch {
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return id, nil, err
		case err != nil && n == 0:
			missing = err
		case n == 0, slices.ContainsFunc(acts, func(r knowledge.Recorded) bool {
			return r.Act.Kind == knowledge.Assert && r.Act.Fact.Rule != normalize.Newest
		}):
			return id, acts, nil
		}
	}
	return ids[0], nil, missing
}

func (s *Server) history(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	ids := readStatement(in)
	if err := read(in); err != nil {
		return answer{}, err
	}
	id, acts, err := s.historyOf(ctx, who, ids)
	if err != nil {
		return answer{}, err
	}
	w := history{Statement: id.String(), Total: len(acts), Acts: make([]shownAct, len(acts))}
	for i := range acts {
		r := &acts[i]
		if r.Act.Kind == knowledge.Assert {
			t := tripleOf(&r.Act.Fact.Statement, r.Act.Fact.Subject, r.Act.Fact.Object)
			w.Subject, w.Predicate, w.Object, w.ValidFrom, w.Until = t.Subject, t.Predicate, t.Object, t.ValidFrom, t.ValidUntil
			w.Believed = w.Believed || r.Until == dag.MaxSeq
		}
		w.Acts[i] = showAct(r)
	}
	return answer{result: w}, nil
}
