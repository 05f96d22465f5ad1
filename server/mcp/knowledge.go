package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/server/view"
)

// Bounds of the tools about facts. The schemas say so too.
const (
	MaxFacts      = 1000 // facts of one knowledge_assert
	maxPredicates = 256
	shownRetracts = 100 // facts that knowledge_retract shows
	standardLimit = 20  // facts or entities that are shown if the caller names no number

	factValues = 32 // values of one fact on average
	listValues = fewValues + knowledge.MaxStarts + maxPredicates
)

// assertSource is the source of a fact for which none is named.
const assertSource = "mcp"

type asserted struct {
	Asserted  int            `json:"asserted"`
	Confirmed int            `json:"confirmed"`
	Existing  int            `json:"existing"`
	Results   []assertedFact `json:"results"`
}

type assertedFact struct {
	Statement string `json:"statement"`
	Result    string `json:"result"`
	Seq       uint64 `json:"seq,omitempty"`
}

func assertFacts(ctx context.Context, s *Server, who access.Identity, in newFacts, _ position) (answer, error) {
	acts := make([]knowledge.Act, len(in.Facts))
	for i := range acts {
		var err error
		var malformed *canon.FieldError
		switch acts[i], err = view.Assertion(ctx, s.kernel, who.Tenant, &in.Facts[i], assertSource); {
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
	w := asserted{Results: make([]assertedFact, len(outcomes))}
	for i, o := range outcomes {
		w.Results[i] = assertedFact{o.Statement.String(), string(o.Result), uint64(o.Seq)}
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

type found struct {
	Total int         `json:"total"`
	AsOf  uint64      `json:"as_of"`
	Facts []shownFact `json:"facts"`
}

func findFacts(ctx context.Context, s *Server, who access.Identity, in factSearch, from position) (answer, error) {
	q, err := view.FactQuery(ctx, s.kernel, who.Tenant, &in.FactFilter)
	if err != nil {
		return answer{}, err
	}
	q.After, q.Limit = dag.Seq(from.after), cmp.Or(in.Limit, standardLimit)
	if q.AsOf, err = viewOf(ctx, s, who, in.AsOf, from); err != nil {
		return answer{}, err
	}
	page, err := s.kernel.Facts().List(ctx, who.Tenant, q)
	if err != nil {
		return answer{}, err
	}
	w := found{Total: page.Total, AsOf: uint64(page.AsOf), Facts: make([]shownFact, len(page.Facts))}
	for i := range page.Facts {
		w.Facts[i] = showFact(&page.Facts[i], in.Evidence)
	}
	return answer{result: w, view: page.AsOf, after: from.after, more: uint64(page.Next)}, nil
}

type retracted struct {
	Retracted int         `json:"retracted"`
	DryRun    bool        `json:"dry_run"`
	Facts     []shownFact `json:"facts"`
}

func retractFacts(ctx context.Context, s *Server, who access.Identity, in api.Retracting, _ position) (answer, error) {
	q, err := view.FactQuery(ctx, s.kernel, who.Tenant, &in.FactFilter)
	if err != nil {
		return answer{}, err
	}
	list, err := s.kernel.Facts().Retract(ctx, who.Tenant, q, in.Reason, in.DryRun)
	if err != nil {
		return answer{}, err
	}
	w := retracted{Retracted: len(list), DryRun: in.DryRun, Facts: make([]shownFact, min(len(list), shownRetracts))}
	for i := range w.Facts {
		v, _ := list[i].Version()
		w.Facts[i] = shownFact{
			triple:     tripleOf(&v.Statement, v.Subject, v.Object),
			Confidence: ppm(v.Confidence), Source: v.Source, Turn: turnText(v.Turn), Since: uint64(v.Since),
		}
		w.Facts[i].Written = writtenIn(&list[i].Act.Fact)
	}
	return answer{result: w}, nil
}
