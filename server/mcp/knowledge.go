package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
)

// Limits of the tools about facts. The schemas repeat them.
const (
	MaxFacts      = 1000 // facts of one knowledge_assert
	maxPredicates = 256
	shownRetracts = 100 // maximum number of facts in an answer of knowledge_retract
	shownEvidence = 20  // maximum number of assertions of a fact in an answer of knowledge_find, the newest ones
	mostActs      = 1 << 20
	standardLimit = 20 // number of facts or entities shown by default

	factValues = 32 // values of one fact on average
	listValues = fewValues + knowledge.MaxStarts + maxPredicates
)

// assertSource is the source of facts that name no source.
const assertSource = "mcp"

type asserted struct {
	Asserted  int                    `json:"asserted"`
	Confirmed int                    `json:"confirmed"`
	Existing  int                    `json:"existing"`
	Results   []api.KnowledgeOutcome `json:"results"`
}

func assertFacts(ctx context.Context, s *Server, who access.Identity, in newFacts, _ position) (answer, error) {
	acts := make([]knowledge.Act, len(in.Facts))
	for i := range acts {
		var err error
		var malformed *canon.FieldError
		switch acts[i], err = s.kernel.Facts().Assertion(ctx, who.Tenant, &in.Facts[i], assertSource); {
		case errors.As(err, &malformed):
			return answer{}, refusef("the arguments: facts[%d]: %v", i, err)
		case err != nil:
			return answer{}, fmt.Errorf("facts[%d]: %w", i, err)
		}
	}
	outcomes, err := s.kernel.Facts().Learn(ctx, who.Tenant, acts)
	if err != nil {
		return answer{}, err
	}
	w := asserted{Results: outcomes}
	for _, o := range outcomes {
		switch o.Result {
		case knowledge.Asserted:
			w.Asserted++
		case knowledge.Confirmed:
			w.Confirmed++
		default:
			w.Existing++
		}
	}
	return answer{result: w}, nil
}

func findFacts(ctx context.Context, s *Server, who access.Identity, in factSearch, from position) (_ answer, err error) {
	q := turnedTo(api.FactQuery{FactFilter: in.FactFilter, Paging: api.Paging{Limit: cmp.Or(in.Limit, standardLimit)}}, from).(api.FactQuery)
	if q.AsOf, err = viewOf(ctx, s, who, in.AsOf, from); err != nil {
		return answer{}, err
	}
	page, err := s.kernel.Facts().List(ctx, who.Tenant, q)
	if err != nil {
		return answer{}, err
	}
	a, evidence := pageOf(page, from), 0
	if in.Evidence {
		evidence = shownEvidence
	}
	page.Next = "" // it is in the block next to the text
	a.view, a.result = page.AsOf, page.Short(evidence)
	return a, nil
}

func retractFacts(ctx context.Context, s *Server, who access.Identity, in api.Retracting, _ position) (answer, error) {
	got, err := s.kernel.Facts().Retract(ctx, who.Tenant, in)
	return answer{result: got.Short(shownRetracts)}, err
}
