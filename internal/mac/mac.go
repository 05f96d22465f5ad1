// Package mac owns the tags of tokens: the first 16 bytes of HMAC-SHA256 (RFC 2104), compared in constant time. It is separate
// from package token so that published test vectors can call the same functions that sign and verify.
package mac

import (
	"crypto/hmac"
	"crypto/sha256"
)

// A Tag is the first half of an HMAC-SHA256.
type Tag [sha256.Size / 2]byte

// Sum returns the tag of a message.
func Sum(key, message []byte) (t Tag) {
	h := hmac.New(sha256.New, key)
	h.Write(message)
	copy(t[:], h.Sum(nil))
	return t
}

// Equal compares two tags in constant time.
func (t Tag) Equal(other Tag) bool { return hmac.Equal(t[:], other[:]) }
