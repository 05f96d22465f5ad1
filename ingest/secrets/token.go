package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
)

// A Key is what digests in tokens are made with. It has to be the same for all imports into a store, or the same transcript gives other turns.
type Key [32]byte

// For returns the key of one tenant, so that tenants cannot compare each other's secrets.
func (k Key) For(tenant string) (own Key) {
	h := hmac.New(sha256.New, k[:])
	h.Write([]byte("graphkernel/secrets/1\x00" + tenant))
	h.Sum(own[:0])
	return own
}

// digestBytes is how much of the digest is in a token.
const digestBytes = 6

// token returns what takes the place of a secret.
func (k *Key) token(rule, secret string) string {
	h := hmac.New(sha256.New, k[:])
	h.Write([]byte(secret))
	return "[secret:" + rule + ":" + hex.EncodeToString(h.Sum(nil)[:digestBytes]) + "]"
}

var tokenForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[secret:[a-z0-9-]{1,64}:[0-9a-f]{12}\]`) })

// tokensIn returns where a text has tokens.
func tokensIn(text string) (list []window) {
	if !strings.Contains(text, "[secret:") {
		return nil
	}
	for _, m := range tokenForm().FindAllStringIndex(text, -1) {
		list = append(list, window{m[0], m[1]})
	}
	return list
}

// Redact returns a text with tokens in place of secrets, and what was found. It goes on until nothing is found that is not in a token: a secret may come to
// light only when another one is gone. So redacting again changes nothing.
func (s *Scanner) Redact(text string, key *Key) (string, []Finding) {
	return s.redactWithin("", text, "", s.Scan(text), key)
}

// scanWithin finds secrets in a text that has others before and after it.
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

// redactWithin replaces what was found, and what is found then.
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
