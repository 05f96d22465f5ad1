package mcp

import (
	"cmp"
	"context"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/knowledge"
)

func traverse(ctx context.Context, s *Server, who access.Identity, in api.TraverseRequest, from position) (_ answer, err error) {
	if in.AsOf, err = viewOf(ctx, s, who, in.AsOf, from); err != nil {
		return answer{}, err
	}
	in.MaxResults = cmp.Or(in.MaxResults, standardLimit)
	got, err := s.kernel.Facts().Traverse(ctx, who.Tenant, in)
	return answer{result: got, view: got.AsOf}, err
}

// A factsCut is the block next to the evidence in an answer of knowledge_slice.
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

func cutFacts(ctx context.Context, s *Server, who access.Identity, in api.FactSliceRequest, from position) (answer, error) {
	asOf, err := viewOf(ctx, s, who, in.AsOf, from)
	if err != nil {
		return answer{}, err
	}
	r := api.FactSliceRequest{Start: in.Start, Policy: in.Policy, AsOf: asOf, ValidAt: in.ValidAt}
	issued, err := s.kernel.Facts().Slice(ctx, who.Tenant, r)
	if err != nil {
		return answer{}, err
	}
	b := issued.Facts
	return answer{text: string(issued.Bundle), view: b.AsOf, about: factsCut{
		SliceID: string(b.Provenance.SliceID), Entities: len(b.Reached), Facts: len(b.Facts), Turns: len(b.Evidence), Cut: string(b.Cut),
		AsOf: uint64(b.AsOf), PolicyID: string(b.Provenance.PolicyID), KeyID: b.Seal.KeyID, Token: b.Seal.Token,
		BundleSHA256: issued.Record.Bundle.String(),
	}}, nil
}

func paths(ctx context.Context, s *Server, who access.Identity, in api.PathQuery, from position) (_ answer, err error) {
	if in.AsOf, err = viewOf(ctx, s, who, in.AsOf, from); err != nil {
		return answer{}, err
	}
	got, err := s.kernel.Facts().Paths(ctx, who.Tenant, in)
	return answer{result: got, view: got.AsOf}, err
}

// id returns the id of the statement that is named by its id or by its parts.
func (in *statement) id() (id knowledge.ID, err error) {
	says := [...]struct {
		key   string
		given bool
	}{
		{"subject", in.Subject != nil}, {"predicate", in.Predicate != nil}, {"object", in.Object != nil},
		{"valid_from", in.ValidFrom != nil}, {"valid_until", in.ValidUntil != nil},
	}
	for i, part := range says {
		switch {
		case in.Statement != nil && part.given:
			return id, refusef("the arguments: want either statement or %s, not both", part.key)
		case in.Statement == nil && in.Subject == nil && in.Predicate == nil && in.Object == nil:
			return id, refusef("the arguments: want statement, or subject, predicate and object")
		case in.Statement == nil && i < 3 && !part.given:
			return id, refusef("the arguments: %q is missing", part.key)
		}
	}
	if in.Statement != nil {
		return *in.Statement, nil
	}
	f, err := knowledge.NewFact(*in.Subject, *in.Predicate, *in.Object, assertSource)
	if err != nil {
		return id, refusef("the arguments: %v", err)
	}
	if in.ValidFrom != nil {
		f.From = *in.ValidFrom
	}
	if in.ValidUntil != nil {
		f.Until = *in.ValidUntil
	}
	return f.ID(), nil
}

func factHistory(ctx context.Context, s *Server, who access.Identity, in statement, _ position) (answer, error) {
	id, err := in.id()
	if err != nil {
		return answer{}, err
	}
	got, err := s.kernel.Facts().History(ctx, who.Tenant, api.HistoryOf{Statement: id, Paging: api.Paging{Limit: mostActs}})
	return answer{result: got.Short()}, err
}
