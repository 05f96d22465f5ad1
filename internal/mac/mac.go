// Package mac owns the tag that tokens are: the first 16 bytes of HMAC-SHA256 (RFC 2104),
// and its comparison in constant time. It is separate from package token so that the
// vectors of others can drive the very functions that sign and verify.
package mac

import (
	"crypto/hmac"
	"crypto/sha256"
)

// A Tag is half an HMAC-SHA256.
type Tag [sha256.Size / 2]byte

// Sum returns the tag of a message.
func Sum(key, message []byte) (t Tag) {
	h := hmac.New(sha256.New, key)
	h.Write(message)
	copy(t[:], h.Sum(nil))
	return t
}

// Equal compares in constant time.
func (t Tag) Equal(other Tag) bool { return hmac.Equal(t[:], other[:]) }
