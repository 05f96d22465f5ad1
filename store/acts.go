package store

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// PrepareActs is the part of PutActs that depends on nothing stored.
func PrepareActs(acts []knowledge.Act, at dag.Time) (*knowledge.Prepared, error) {
	if !at.Valid() {
		return nil, fmt.Errorf("%w: acts of %d", dag.ErrForm, at)
	}
	return knowledge.Prepare(acts)
}

// MaxAsks bounds the questions of one call of Edges, and the spans of one of ActsIn.
const MaxAsks = 8 << 10

// CheckSpans refuses more spans than a back end answers at once.
func CheckSpans(spans []knowledge.Span) error {
	if len(spans) > MaxAsks {
		return fmt.Errorf("%w: the acts of %d spans at once, at most %d", dag.ErrForm, len(spans), MaxAsks)
	}
	return nil
}

// CheckAsks refuses questions that no back end answers.
func CheckAsks(asks []knowledge.Ask) error {
	if len(asks) > MaxAsks {
		return fmt.Errorf("%w: %d questions for edges at once, at most %d", dag.ErrForm, len(asks), MaxAsks)
	}
	for i := range asks {
		if asks[i].Limit <= 0 {
			return fmt.Errorf("%w: question %d for edges has the limit %d", dag.ErrForm, i+1, asks[i].Limit)
		}
	}
	return nil
}
