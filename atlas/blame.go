package atlas

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Without returns turns without which something else would have been chosen. Cut chooses again without some turns, and returns what it chose in a form that can be compared. The set is
// minimal by inclusion: with any one of its turns back, the choice is the old one again as far as the turns before it in the set are concerned. Another set may be smaller. It is found by leaving all
// candidates out and taking them back one after another, so the last ones are the likeliest to stay; one cut for each. It is empty if leaving all of them out changes nothing.
func Without[T comparable](candidates []dag.TurnID, cut func(without []dag.TurnID) (T, error)) ([]dag.TurnID, error) {
	whole, err := cut(nil)
	if err != nil {
		return nil, err
	}
	left := slices.Clone(candidates)
	if bare, err := cut(left); err != nil || bare == whole {
		return nil, err
	}
	for i := 0; i < len(left); {
		fewer := slices.Delete(slices.Clone(left), i, i+1)
		chosen, err := cut(fewer)
		if err != nil {
			return nil, err
		}
		if chosen != whole {
			left = fewer // it changes without this one, too
			continue
		}
		i++
	}
	return left, nil
}

// InAll returns the members of all sets, ascending.
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
