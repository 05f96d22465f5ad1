package store

import (
	"crypto/sha256"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// A Name is a condition by which turns are found: a Prefix, an External or an ExternalPrefix. Nil matches no turn.
type Name interface{ name() }

// A Prefix matches turns whose ids begin with it in text form: lowercase hex digits and dashes. The empty Prefix matches every turn.
type Prefix string

// An External matches turns that another system calls by this id. The empty External matches no turn.
type External string

// An ExternalPrefix matches turns whose external id is a digest that begins with it, such
// as a commit of git. A digest has 40 or 64 lowercase hex digits, a prefix at least one.
type ExternalPrefix string

func (Prefix) name()         {}
func (External) name()       {}
func (ExternalPrefix) name() {}

// PrefixRange returns the first and the last id whose text form begins with a
// prefix of lowercase hex digits and dashes. It reports false if no id does.
func PrefixRange(prefix string) (first, last dag.TurnID, ok bool) {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(prefix) > len(form) {
		return first, last, false
	}
	for i := range len(prefix) {
		if (form[i] == '-') != (prefix[i] == '-') {
			return first, last, false
		}
	}
	digits := strings.ReplaceAll(prefix, "-", "")
	if !isHex(digits) {
		return first, last, false
	}
	spread(first[:], last[:], digits)
	return first, last, true
}

// An ExternalKey represents an external id in the index of a back end, where the text itself could survive its erasure.
type ExternalKey [8]byte

// KeyOf returns the key of an external id: the first bytes of a digest, or the first bytes of the
// SHA-256 of any other text. So the keys of digests with the same beginning are next to each other.
func KeyOf(external string) ExternalKey {
	if !isDigest(external) {
		sum := sha256.Sum256([]byte(external))
		return ExternalKey(sum[:])
	}
	var key ExternalKey
	spread(key[:], make([]byte, len(key)), external[:2*len(key)])
	return key
}

// Keys returns the first and the last key of the digests that begin with the prefix. It reports false if no digest does.
func (p ExternalPrefix) Keys() (first, last ExternalKey, ok bool) {
	if p == "" || len(p) > longDigest || !isHex(string(p)) {
		return first, last, false
	}
	spread(first[:], last[:], string(p[:min(len(p), 2*len(first))]))
	return first, last, true
}

// Has reports whether an external id is a digest that begins with the prefix.
func (p ExternalPrefix) Has(external string) bool {
	return p != "" && isDigest(external) && strings.HasPrefix(external, string(p))
}

// spread sets first to the smallest and last to the greatest bytes that begin with lowercase hex digits.
func spread(first, last []byte, digits string) {
	for i := range last {
		last[i] = 0xff
	}
	for i := range len(digits) {
		value, shift := byte(strings.IndexByte(hexDigits, digits[i])), 4*(1-i%2)
		first[i/2] |= value << shift
		last[i/2] &^= (0xf ^ value) << shift
	}
}

const hexDigits = "0123456789abcdef"

// Digests of git are 40 or 64 hex digits long: SHA-1 or SHA-256.
const shortDigest, longDigest = 40, 64

func isDigest(s string) bool { return (len(s) == shortDigest || len(s) == longDigest) && isHex(s) }

func isHex(s string) bool { return strings.Trim(s, hexDigits) == "" }
