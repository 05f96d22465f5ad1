package store

import (
	"cmp"
	"slices"
)

// Distinct returns the parts by ascending conversation, each conversation once: of several parts of one conversation,
// the part with the smallest After. Back ends call it so that a conversation that is asked for twice is returned once.
func Distinct(parts []Part) []Part {
	sorted := slices.SortedFunc(slices.Values(parts), func(a, b Part) int {
		return cmp.Or(a.Conversation.Compare(b.Conversation), cmp.Compare(a.After, b.After))
	})
	return slices.CompactFunc(sorted, func(a, b Part) bool { return a.Conversation == b.Conversation })
}
