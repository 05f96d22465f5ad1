package atlas

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Without returns a set of turns whose removal changes a choice. The function cut chooses without some turns, and returns its
// choice in a comparable form. The set is minimal by inclusion: each of its turns is needed, though another set may be smaller.
// Without searches among all candidates, then among the last two, four and so on, so the candidates that matter most should be
// the last. The set is empty if no removal changes the choice. Each turn costs a cut, and another one after a turn was left out.
func Without[T comparable](candidates []dag.TurnID, cut func(without []dag.TurnID) (T, error)) ([]dag.TurnID, error) {
	whole, err := cut(nil)
	if err != nil {
		return nil, err
	}
	left := candidates
	for n := 2; ; n *= 2 {
		chosen, err := cut(left)
		if err != nil {
			return nil, err
		}
		if chosen != whole {
			break
		}
		if n >= len(candidates) {
			return nil, nil
		}
		left = candidates[len(candidates)-n:]
	}
	left = slices.Clone(left)
	for less := true; less; {
		less = false
		for i := 0; i < len(left); {
			fewer := slices.Delete(slices.Clone(left), i, i+1)
			chosen, err := cut(fewer)
			if err != nil {
				return nil, err
			}
			if chosen == whole {
				i++
				continue
			}
			left, less = fewer, true // the choice changes without this turn, too
		}
	}
	return left, nil
}

// InAll returns the members that all sets have in common, ascending.
func InAll(sets []Set) []int32 {
	if len(sets) == 0 {
		return nil
	}
	all := slices.Clone(sets[0].Members)
	for _, s := range sets[1:] {
		all = slices.DeleteFunc(all, func(n int32) bool {
			_, found := slices.BinarySearch(s.Members, n)
			return !found
		})
	}
	return all
}
