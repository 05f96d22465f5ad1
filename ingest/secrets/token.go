package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
)

// A Key is the key of the digests in tokens. All imports into a store must use the same key, or the same transcript becomes
// other turns.
type Key [32]byte

// For returns the key of one tenant, so that tenants cannot compare each other's secrets.
func (k Key) For(tenant string) (own Key) {
	h := hmac.New(sha256.New, k[:])
	h.Write([]byte("graphkernel/secrets/1\x00" + tenant))
	h.Sum(own[:0])
	return own
}

// digestBytes is the number of digest bytes in a token.
const digestBytes = 6

// token returns the token that replaces a secret.
func (k *Key) token(rule, secret string) string {
	h := hmac.New(sha256.New, k[:])
	h.Write([]byte(secret))
	return "[secret:" + rule + ":" + hex.EncodeToString(h.Sum(nil)[:digestBytes]) + "]"
}

var tokenForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[secret:[a-z0-9-]{1,64}:[0-9a-f]{12}\]`) })

// tokensIn returns the positions of the tokens in a text.
func tokensIn(text string) (list []window) {
	if !strings.Contains(text, "[secret:") {
		return nil
	}
	for _, m := range tokenForm().FindAllStringIndex(text, -1) {
		list = append(list, window{m[0], m[1]})
	}
	return list
}

// Redact returns a text with tokens in place of secrets, and the findings. It repeats the search until nothing is found outside
// of tokens, since replacing one secret may reveal another. So redacting a redacted text changes nothing.
func (s *Scanner) Redact(text string, key *Key) (string, []Finding) {
	return s.redactWithin("", text, "", s.Scan(text), key)
}

// scanWithin finds secrets in a text that stands between two others.
func (s *Scanner) scanWithin(before, text, after string) []Finding {
	if text == "" {
		return nil
	}
	if before == "" && after == "" {
		return s.Scan(text)
	}
	var inside []Finding
	for _, f := range s.Scan(before + text + after) {
		if start, end := f.Start-len(before), f.End-len(before); start >= 0 && end <= len(text) {
			inside = append(inside, Finding{f.Rule, start, end})
		}
	}
	return inside
}

// redactWithin replaces the findings, and repeats the search until it finds nothing.
func (s *Scanner) redactWithin(before, text, after string, found []Finding, key *Key) (string, []Finding) {
	var all []Finding
	for len(found) > 0 {
		all = append(all, found...)
		var b strings.Builder
		last := 0
		for _, f := range found {
			b.WriteString(text[last:f.Start])
			b.WriteString(key.token(f.Rule, text[f.Start:f.End]))
			last = f.End
		}
		b.WriteString(text[last:])
		text = b.String()
		found = s.scanWithin(before, text, after)
	}
	return text, all
}
