package oidc_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws/jwsbb"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/server/oidc"
)

// signers are the issuer's private keys by kid, and those of another issuer.
var signers = sync.OnceValue(func() map[string]crypto.Signer {
	must := func(s crypto.Signer, err error) crypto.Signer {
		if err != nil {
			panic(err)
		}
		return s
	}
	ec := func(c elliptic.Curve) crypto.Signer { return must(ecdsa.GenerateKey(c, rand.Reader)) }
	ed := func() crypto.Signer { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)) }
	return map[string]crypto.Signer{
		"rsa": must(rsa.GenerateKey(rand.Reader, 2048)), "p256": ec(elliptic.P256()), "p384": ec(elliptic.P384()), "p521": ec(elliptic.P521()), "ed": ed(),
		"small": must(rsa.GenerateKey(rand.Reader, 1024)), "stranger": must(rsa.GenerateKey(rand.Reader, 2048)),
	}
})

// fitting are the algorithms of each key.
var fitting = map[string][]string{
	"rsa": {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, "p256": {"ES256"}, "p384": {"ES384"}, "p521": {"ES512"}, "ed": {"EdDSA"},
}

// published returns a key as an issuer publishes it, with more members or other ones.
func published(t testing.TB, kid string, more map[string]any) map[string]any {
	t.Helper()
	if kid == "small" { // which jwk would not import
		public := signers()[kid].Public().(*rsa.PublicKey)
		return map[string]any{"kty": "RSA", "kid": kid, "n": b64(public.N.Bytes()), "e": "AQAB"}
	}
	k, err := jwk.Import(signers()[kid].Public())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	m["kid"] = kid
	maps.Copy(m, more)
	return m
}

func setOf(t testing.TB, keys ...map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func allKeys(t testing.TB) []byte {
	var keys []map[string]any
	for _, kid := range slices.Sorted(maps.Keys(fitting)) {
		keys = append(keys, published(t, kid, nil))
	}
	return setOf(t, keys...)
}

// A publisher is an issuer's server for key sets.
type publisher struct {
	*httptest.Server
	asked  atomic.Int32
	answer atomic.Pointer[http.HandlerFunc]
}

func newPublisher(t testing.TB, set []byte) *publisher {
	p := &publisher{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		(*p.answer.Load())(w, r)
	}))
	t.Cleanup(p.Close)
	p.gives(set)
	return p
}

func (p *publisher) does(h http.HandlerFunc) { p.answer.Store(&h) }

func (p *publisher) gives(set []byte) {
	p.does(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(set) })
}

func (p *publisher) fails() {
	p.does(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
}

// A clock does not move until it is set.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return start.Add(time.Duration(c.nanos.Load())) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// A fixture is an Issuer with its server, its clock and its ticks.
type fixture struct {
	*oidc.Issuer
	publisher *publisher
	clock     *clock
	ticks     chan time.Time
	log       *bytes.Buffer // read it after tick
}

// tick lets the issuer see whether its keys are due, and waits until it has.
func (f *fixture) tick() {
	f.ticks <- time.Time{}
	f.ticks <- time.Time{} // is taken when all of the first is done; no clock has moved, so it does nothing
}

func newFixture(t testing.TB, set []byte, change func(*oidc.Config)) *fixture {
	t.Helper()
	f := &fixture{publisher: newPublisher(t, set), clock: &clock{}, ticks: make(chan time.Time), log: &bytes.Buffer{}}
	c := oidc.Config{
		Issuer: issuer, Audience: audience, JWKS: f.publisher.URL, Clock: f.clock.now, Ticks: f.ticks, Log: slog.New(slog.NewTextHandler(f.log, nil)),
	}
	if change != nil {
		change(&c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	var err error
	if f.Issuer, err = oidc.New(ctx, c); err != nil {
		t.Fatal(err)
	}
	return f
}

type object = map[string]any

// claims returns good claims with some changed; a nil takes one out.
func claims(change object) object {
	c := object{"iss": issuer, "aud": audience, "sub": "ci", "exp": start.Unix() + 300, "tenant": "acme", "role": "agent"}
	for name, v := range change {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return c
}

func b64(text []byte) string { return base64.RawURLEncoding.EncodeToString(text) }

// signed signs any header and any claims, given as objects or as text.
func signed(t testing.TB, kid, algorithm string, header, payload any) string {
	t.Helper()
	input := part(t, header) + "." + part(t, payload)
	signature, err := jwsbb.Sign(signers()[kid], algorithm, []byte(input), rand.Reader)
	if err != nil {
		t.Fatalf("signing with %s, %s: %v", kid, algorithm, err)
	}
	return input + "." + b64(signature)
}

func part(t testing.TB, v any) string {
	t.Helper()
	if text, ok := v.(string); ok {
		return b64([]byte(text))
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b64(text)
}

// good is a token signed with Ed25519.
func good(t testing.TB, change object) string {
	return signed(t, "ed", "EdDSA", object{"alg": "EdDSA", "kid": "ed", "typ": "JWT"}, claims(change))
}

// refused fails the test unless a token is refused as the caller's fault, for the
// reason given, with an error that holds nothing of it.
func refused(t *testing.T, name string, i *oidc.Issuer, bearer, reason string) {
	t.Helper()
	who, err := i.Authenticate(t.Context(), bearer)
	if !errors.Is(err, access.ErrKey) || errors.Is(err, oidc.ErrUnavailable) || who != (access.Identity{}) {
		t.Errorf("%s: got %+v, %v, want access.ErrKey", name, who, err)
		return
	}
	if !strings.Contains(err.Error(), reason) {
		t.Errorf("%s: got %q, want it to say %q", name, err, reason)
	}
	tellsNothing(t, err, bearer)
}

func tellsNothing(t testing.TB, err error, bearer string) {
	t.Helper()
	for i := range len(bearer) - 12 {
		if strings.Contains(err.Error(), bearer[i:i+12]) {
			t.Errorf("the error holds %q of the token: %v", bearer[i:i+12], err)
			return
		}
	}
	if len(err.Error()) > 300 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func accepted(t *testing.T, name string, i *oidc.Issuer, bearer string) {
	t.Helper()
	who, err := i.Authenticate(t.Context(), bearer)
	if want := (access.Identity{Tenant: "acme", Role: access.Agent, Subject: "jwt:ci"}); err != nil || who != want {
		t.Errorf("%s: got %+v, %v, want %+v", name, who, err, want)
	}
}
