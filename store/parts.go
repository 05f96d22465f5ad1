package store

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Distinct returns the parts by ascending conversation, each conversation once:
// of several parts of one conversation the one that has least. Back ends call
// it so that a reader who asks twice is not answered twice.
func Distinct(parts []Part) []Part {
	sorted := slices.SortedFunc(slices.Values(parts), func(a, b Part) int {
		return cmp.Or(a.Conversation.Compare(b.Conversation), cmp.Compare(a.After, b.After))
	})
	return slices.CompactFunc(sorted, func(a, b Part) bool { return a.Conversation == b.Conversation })
}

// PrefixRange returns the first and the last id whose text form begins with a
// prefix of lowercase hex digits and dashes. It reports false if no id does.
func PrefixRange(prefix string) (first, last dag.TurnID, ok bool) {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(prefix) > len(form) {
		return first, last, false
	}
	for i := range last {
		last[i] = 0xff
	}
	digit := 0
	for i := 0; i < len(prefix); i++ {
		c := prefix[i]
		if (form[i] == '-') != (c == '-') {
			return first, last, false
		}
		if c == '-' {
			continue
		}
		value, isHex := hexDigit(c)
		if !isHex {
			return first, last, false
		}
		shift := 4 * (1 - digit%2)
		first[digit/2] |= value << shift
		last[digit/2] &^= (0xf ^ value) << shift
		digit++
	}
	return first, last, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}
