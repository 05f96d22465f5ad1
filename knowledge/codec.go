package knowledge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Codec is the codec of acts.
type Codec struct{}

// Kinds lists the kinds of acts.
func (Codec) Kinds() []history.Kind { return slices.Sorted(maps.Keys(kinds)) }

// Stream returns history.Known.
func (Codec) Stream() history.Stream { return history.Known }

// Erasable returns true: every act has a private half.
func (Codec) Erasable(history.Kind) bool { return true }

// Turns returns the turn that an assertion names as its evidence.
func (Codec) Turns(e *history.Entry) []dag.TurnID {
	r, err := FromEntry(e)
	if err != nil || r.Act.Fact.Turn == (dag.TurnID{}) {
		return nil
	}
	return []dag.TurnID{r.Act.Fact.Turn}
}

// Adopt returns a change that adopts recorded acts of another store.
func (Codec) Adopt(entries []history.Entry) (history.Change, error) {
	recorded := make([]Recorded, len(entries))
	for i := range entries {
		var err error
		if recorded[i], err = FromEntry(&entries[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", dag.ErrForm, err)
		}
	}
	p, err := PrepareHistory(recorded)
	if err != nil {
		return nil, err
	}
	return &change{Prepared: p, adopted: entries}, nil
}
