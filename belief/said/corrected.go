package said

import (
	"regexp"

	"github.com/graphkernel/graphkernel/belief"
)

// The forms of a correction that names the old value: "npm, not pnpm", and "not 8080 but 8443".
var (
	notBehind = regexp.MustCompile(`(?is)^(.*\s)(\S*[^\s,;])[,;]?\s+(?:and\s+)?not\s+(?:with\s+|on\s+|in\s+|by\s+)?(\S*[^\s.!])[.!]?\s*$`)
	notBefore = regexp.MustCompile(`(?is)^(.*\s)not\s+(?:with\s+|on\s+|in\s+|by\s+)?(\S*[^\s,]),?\s+but\s+(\S*[^\s.!])([.!]?\s*|\s.*)$`)
)

// opens matches an opening word without meaning, such as "actually".
var opens = regexp.MustCompile(`(?i)^\s*(?:actually|correction|update|fyi|oh|well|okay|ok|sorry)\b[,:]?\s+`)

// corrected returns the statement of a text that says one value of a slot and denies another: the statement of the first value. Both values must belong to one slot and one
// topic; otherwise ok is false.
func corrected(text string) (belief.Literal, bool) {
	var says, denies string
	if m := notBehind.FindStringSubmatch(text); m != nil {
		says, denies = m[1]+m[2], m[1]+m[3]
	} else if m := notBefore.FindStringSubmatch(text); m != nil {
		says, denies = m[1]+m[3]+m[4], m[1]+m[2]+m[4]
	} else {
		return belief.Literal{}, false
	}
	l, ok := slotted(read(says))
	if !ok {
		return belief.Literal{}, false
	}
	other, ok := slotted(read(denies))
	return l, ok && l.Subject == other.Subject && l.Predicate == other.Predicate && l.Object != other.Object && l.Not == other.Not
}
