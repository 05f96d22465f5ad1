package oidc_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/server/oidc"
)

// TestKeyForms publishes a key in other forms than its own, beside one that counts. A form that is read verifies tokens, and a
// key of any other form is passed over.
func TestKeyForms(t *testing.T) {
	n := signers()["rsa"].Public().(*rsa.PublicKey).N.Bytes() //nolint:forcetypeassert // as it was made
	bytesOf := func(kid, member string) []byte {
		text, _ := published(t, kid, nil)[member].(string)
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	x, y, ed := bytesOf("p256", "x"), bytesOf("p256", "y"), bytesOf("ed", "x")
	zero := func(b []byte) []byte { return append([]byte{0}, b...) }
	absent := json.RawMessage(nil)
	null := json.RawMessage("null")
	for _, c := range []struct {
		kid    string
		read   bool
		change object
	}{
		{"rsa", true, object{"n": b64(zero(n))}},
		{"rsa", true, object{"n": base64.URLEncoding.EncodeToString(n)}},
		{"rsa", true, object{"n": base64.RawStdEncoding.EncodeToString(n)}},
		{"rsa", true, object{"n": b64(n)[:10] + "\n" + b64(n)[10:]}},
		{"rsa", false, object{"n": b64(n) + "!"}},
		{"rsa", false, object{"n": ""}},
		{"rsa", false, object{"n": 7}},
		{"rsa", false, object{"n": absent}},
		{"rsa", true, object{"e": "AAEAAQ"}},
		{"rsa", false, object{"e": absent}},
		{"rsa", false, object{"e": null}},
		{"rsa", false, object{"e": "AQ"}},
		{"rsa", false, object{"e": b64(new(big.Int).Lsh(big.NewInt(1), 64).Bytes())}},
		{"rsa", false, object{"kty": "rsa"}},
		{"rsa", false, object{"kty": absent}},
		{"rsa", false, object{"kty": null}},
		{"rsa", false, object{"kty": "EC"}},
		{"rsa", true, object{"exp": 1, "issuer": object{}}},
		{"rsa", false, object{"use": ""}},
		{"rsa", false, object{"use": 7}},
		{"rsa", false, object{"use": null}},
		{"rsa", false, object{"use": "signature"}},
		{"rsa", true, object{"key_ops": []string{"sign", "verify"}}},
		{"rsa", true, object{"key_ops": []string{"verify", "new"}}},
		{"rsa", false, object{"key_ops": []string{}}},
		{"rsa", false, object{"key_ops": []any{"verify", 1}}},
		{"rsa", false, object{"key_ops": "verify"}},
		{"rsa", false, object{"key_ops": null}},
		{"rsa", true, object{"alg": "RS256"}},
		{"rsa", false, object{"alg": "rs256"}},
		{"rsa", false, object{"alg": "RSA-OAEP"}},
		{"rsa", false, object{"alg": "new"}},
		{"rsa", false, object{"alg": ""}},
		{"rsa", false, object{"alg": 7}},
		{"rsa", false, object{"alg": null}},
		{"rsa", false, object{"kid": 7}},
		{"rsa", false, object{"kid": absent, "KID": "rsa"}},
		{"rsa", false, object{"d": "AQAB"}},
		{"rsa", false, object{"d": ""}},
		{"rsa", false, object{"d": null}},
		{"p256", false, object{"x": b64(zero(x))}},
		{"p256", false, object{"x": b64(zero(x)), "y": b64(zero(y))}},
		{"p256", false, object{"x": b64(x[1:]), "y": b64(y[1:])}},
		{"p256", false, object{"x": b64(append(x[:len(x):len(x)], y[0])), "y": b64(y[1:])}}, // as many bytes together
		{"p256", false, object{"x": b64(y), "y": b64(x)}},
		{"p256", false, object{"y": absent}},
		{"p256", false, object{"y": null}},
		{"p256", false, object{"crv": "P-384"}},
		{"p256", false, object{"crv": "secp256k1"}},
		{"p256", false, object{"crv": "new"}},
		{"p256", false, object{"crv": absent}},
		{"p256", false, object{"d": b64(x)}},
		{"p256", false, object{"kty": "OKP"}},
		{"p256", false, object{"alg": "EdDSA"}},
		{"p256", true, object{"alg": "ES256"}},
		{"ed", false, object{"x": b64(zero(ed))}},
		{"ed", false, object{"x": b64(ed[1:])}},
		{"ed", false, object{"crv": "X25519"}},
		{"ed", false, object{"crv": "Ed448"}},
		{"ed", false, object{"alg": "Ed25519"}},
		{"ed", true, object{"alg": "EdDSA"}},
		{"ed", true, object{"y": "AA"}},
		{"ed", false, object{"d": b64(ed)}},
	} {
		key := published(t, c.kid, c.change)
		for member, v := range c.change {
			if text, raw := v.(json.RawMessage); raw && text == nil {
				delete(key, member)
			}
		}
		f := newFixture(t, setOf(t, key, published(t, "p384", nil)), nil)
		token := signed(t, c.kid, fitting[c.kid][0], object{"alg": fitting[c.kid][0], "kid": c.kid}, claims(nil))
		name, err := json.Marshal(c.change)
		if err != nil {
			t.Fatal(err)
		}
		if c.read {
			accepted(t, c.kid+" with "+string(name), f.Issuer, token)
		} else {
			refused(t, c.kid+" with "+string(name), f.Issuer, token, "kid names no key")
		}
		accepted(t, "the key beside it", f.Issuer, signed(t, "p384", "ES384", object{"alg": "ES384", "kid": "p384"}, claims(nil)))
	}
}

// TestSetForms reads files in other forms than that of a key set.
func TestSetForms(t *testing.T) {
	one, err := json.Marshal(published(t, "ed", nil))
	if err != nil {
		t.Fatal(err)
	}
	key, set := string(one), string(setOf(t, published(t, "ed", nil)))
	const none, useless = "not a key set: ", "the key set has no key that signs tokens"
	for text, reason := range map[string]string{
		key:                           "", // one key alone
		`{"more":1,` + set[1:]:        "",
		`{"keys":[],` + set[1:]:       "",
		" \n" + set + "\n":            "",
		`{"keys":[null,` + key + `]}`: "",
		`{"keys":["x",` + key + `]}`:  "",
		`{"keys":[[],` + key + `]}`:   "",
		`{"keys":[{},` + key + `]}`:   "",
		strings.Replace(set, `"kid":"ed"`, `"kid":"x","kid":"ed"`, 1):             "",
		strings.Replace(set, `"kid":"ed"`, "\"kid\":\"ed\",\"more\":\"\xff\"", 1): "",
		strings.Replace(set, `"kid":"ed"`, `"KID":"ed"`, 1):                       useless,
		strings.Replace(set, "keys", "Keys", 1):                                   none,
		"[" + key + "]":                                                           none,
		`{"keys":` + key + `}`:                                                    none,
		`{"keys":null}`:                                                           none,
		`{"keys":[]}`:                                                             useless,
		"null":                                                                    none,
		"7":                                                                       none,
		set + " x":                                                                none,
		set + set:                                                                 none,
		"\ufeff" + set:                                                            none,
		"-----BEGIN PUBLIC KEY":                                                   none,
		"":                                                                        none,
	} {
		path := filepath.Join(t.TempDir(), "keys.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		i, err := oidc.New(t.Context(), oidc.Config{Issuer: issuer, Audience: audience, JWKS: "file:" + path, Clock: (&clock{}).now, Log: slog.New(slog.DiscardHandler)})
		if reason != "" {
			if err == nil || !strings.HasPrefix(err.Error(), "oidc: "+reason) {
				t.Errorf("%.80q: got %v, want %s", text, err, reason)
			}
		} else if err != nil {
			t.Errorf("%.80q: %v", text, err)
		} else {
			accepted(t, text, i, good(t, nil))
		}
	}
}

// TestSignatureForms presents signatures in other forms than that of RFC 7518.
func TestSignatureForms(t *testing.T) {
	f := newFixture(t, allKeys(t), nil)
	for kid, algorithms := range fitting {
		for _, algorithm := range algorithms {
			token := signed(t, kid, algorithm, object{"alg": algorithm, "kid": kid}, claims(nil))
			accepted(t, algorithm, f.Issuer, token)
			at := strings.LastIndex(token, ".") + 1
			raw, err := base64.RawURLEncoding.DecodeString(token[at:])
			if err != nil {
				t.Fatal(err)
			}
			half := len(raw) / 2
			for _, other := range [][]byte{
				raw[1:], raw[:len(raw)-1], append([]byte{0}, raw...), append(raw[:len(raw):len(raw)], 0), make([]byte, len(raw)), {0},
				append(append([]byte{0}, raw[:half]...), append([]byte{0}, raw[half:]...)...), // R and S, each with a zero before
				append(append(raw[:half:half], 0), raw[half:]...),                             // S has one more byte, and its value
				append(raw[half:len(raw):len(raw)], raw[:half]...),
			} {
				refused(t, algorithm, f.Issuer, token[:at]+b64(other), "the signature is not the issuer's")
			}
		}
	}
	input := part(t, object{"alg": "PS256", "kid": "rsa"}) + "." + part(t, claims(nil))
	digest := sha256.Sum256([]byte(input))
	for salt, reason := range map[int]string{32: "", 20: "the signature is not the issuer's", 1: "the signature is not the issuer's"} {
		signature, err := signers()["rsa"].Sign(rand.Reader, digest[:], &rsa.PSSOptions{SaltLength: salt, Hash: crypto.SHA256})
		if err != nil {
			t.Fatal(err)
		}
		if token := input + "." + b64(signature); reason == "" {
			accepted(t, "a salt as long as the hash", f.Issuer, token)
		} else {
			refused(t, "another salt", f.Issuer, token, reason)
		}
	}
}
