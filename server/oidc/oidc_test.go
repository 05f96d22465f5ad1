package oidc_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws/jwsbb"
	"go.uber.org/goleak"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/server/oidc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	issuer   = "https://issuer.example"
	audience = "graphkernel"
)

var start = time.Unix(1_780_000_000, 0)

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

// TestAlgorithms signs with every algorithm and names every key: a token is only
// when the two belong together and to anyone who signed.
func TestAlgorithms(t *testing.T) {
	f := newFixture(t, allKeys(t), nil)
	stood, fell := 0, 0
	for signer, algorithms := range fitting {
		for _, algorithm := range algorithms {
			for kid := range fitting {
				name := fmt.Sprintf("signed by %s with %s, kid %s", signer, algorithm, kid)
				token := signed(t, signer, algorithm, object{"alg": algorithm, "kid": kid}, claims(nil))
				if kid == signer {
					accepted(t, name, f.Issuer, token)
					stood++
				} else {
					refused(t, name, f.Issuer, token, "its key is not one for its algorithm")
					fell++
				}
				for _, other := range []string{"RS256", "PS256", "RS512", "ES256", "ES384", "ES512", "EdDSA"} {
					if other != algorithm { // the header says another than what signed
						refused(t, name+", alg "+other, f.Issuer, signed(t, signer, algorithm, object{"alg": other, "kid": kid}, claims(nil)), "")
						fell++
					}
				}
			}
		}
	}
	if stood != 10 || fell < 200 {
		t.Errorf("%d stood and %d fell, want 10 and 200", stood, fell)
	}
	if asked := f.publisher.asked.Load(); asked != 1 {
		t.Errorf("the keys were fetched %d times, want once", asked)
	}
}

// TestAttacks presents what has opened other people's doors.
func TestAttacks(t *testing.T) {
	f := newFixture(t, allKeys(t), nil)
	public := signers()["rsa"].Public()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	withHMAC := func(secret []byte, header object) string {
		input := part(t, header) + "." + part(t, claims(nil))
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(input))
		return input + "." + b64(mac.Sum(nil))
	}
	asPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	strange, err := jwk.Import(signers()["stranger"].Public())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := newPublisher(t, setOf(t, published(t, "stranger", object{"kid": "rsa"})))
	header := func(more object) object {
		h := object{"alg": "RS256", "kid": "rsa"}
		maps.Copy(h, more)
		return h
	}
	const none, wrong = "alg is none of", "the signature is not the issuer's"
	for name, c := range map[string]struct{ token, reason string }{
		"alg none":                {part(t, object{"alg": "none", "kid": "rsa"}) + "." + part(t, claims(nil)) + ".", "its signature is not base64url"},
		"alg none, signed":        {signed(t, "rsa", "RS256", header(object{"alg": "none"}), claims(nil)), none},
		"alg None":                {signed(t, "rsa", "RS256", header(object{"alg": "None"}), claims(nil)), none},
		"alg nOnE, A":             {part(t, object{"alg": "nOnE", "kid": "rsa"}) + "." + part(t, claims(nil)) + ".AA", none},
		"no alg":                  {signed(t, "rsa", "RS256", object{"kid": "rsa"}, claims(nil)), none},
		"alg is a list":           {signed(t, "rsa", "RS256", header(object{"alg": []string{"RS256"}}), claims(nil)), none},
		"alg rs256":               {signed(t, "rsa", "RS256", header(object{"alg": "rs256"}), claims(nil)), none},
		"alg ES256K":              {signed(t, "p256", "ES256", header(object{"alg": "ES256K", "kid": "p256"}), claims(nil)), none},
		"HS256 with the PEM":      {withHMAC(asPEM, header(object{"alg": "HS256"})), none},
		"HS256 with the DER":      {withHMAC(der, header(object{"alg": "HS256"})), none},
		"HMAC called RS256":       {withHMAC(asPEM, header(nil)), wrong},
		"no signature":            {part(t, header(nil)) + "." + part(t, claims(nil)) + ".", "its signature is not base64url"},
		"another's signature":     {signed(t, "stranger", "RS256", header(nil), claims(nil)), wrong},
		"kid of another issuer":   {signed(t, "stranger", "RS256", header(object{"kid": "stranger"}), claims(nil)), "kid names no key"},
		"no kid":                  {signed(t, "rsa", "RS256", object{"alg": "RS256"}, claims(nil)), "names no key with kid"},
		"empty kid":               {signed(t, "rsa", "RS256", header(object{"kid": ""}), claims(nil)), "names no key with kid"},
		"kid is a number":         {signed(t, "rsa", "RS256", header(object{"kid": 1}), claims(nil)), "names no key with kid"},
		"kid is a path":           {signed(t, "rsa", "RS256", header(object{"kid": "../../dev/null"}), claims(nil)), "kid names no key"},
		"jwk in the header":       {signed(t, "stranger", "RS256", header(object{"jwk": strange}), claims(nil)), wrong},
		"jku":                     {signed(t, "stranger", "RS256", header(object{"jku": elsewhere.URL}), claims(nil)), wrong},
		"x5u":                     {signed(t, "stranger", "RS256", header(object{"x5u": elsewhere.URL}), claims(nil)), wrong},
		"x5c":                     {signed(t, "stranger", "RS256", header(object{"x5c": []string{base64.StdEncoding.EncodeToString(der)}}), claims(nil)), wrong},
		"crit":                    {signed(t, "rsa", "RS256", header(object{"crit": []string{"exp"}, "exp": 1}), claims(nil)), "its header has crit"},
		"empty crit":              {signed(t, "rsa", "RS256", header(object{"crit": []string{}}), claims(nil)), "its header has crit"},
		"b64 false":               {signed(t, "rsa", "RS256", header(object{"b64": false}), claims(nil)), "its header has b64"},
		"typ of a logout token":   {signed(t, "rsa", "RS256", header(object{"typ": "logout+jwt"}), claims(nil)), "typ is neither"},
		"typ is a number":         {signed(t, "rsa", "RS256", header(object{"typ": 1}), claims(nil)), "typ is neither"},
		"alg twice":               {signed(t, "rsa", "RS256", `{"alg":"HS256","alg":"RS256","kid":"rsa"}`, claims(nil)), "its header is not one JSON object"},
		"kid twice":               {signed(t, "rsa", "RS256", `{"alg":"RS256","kid":"p256","kid":"rsa"}`, claims(nil)), "its header is not one JSON object"},
		"kid twice, escaped":      {signed(t, "rsa", "RS256", `{"alg":"RS256","k\u0069d":"p256","kid":"rsa"}`, claims(nil)), "its header is not one JSON object"},
		"role twice":              {signed(t, "rsa", "RS256", header(nil), `{"iss":"`+issuer+`","aud":"graphkernel","sub":"ci","exp":1780000300,"tenant":"acme","role":"agent","role":"admin"}`), "its claims are not one JSON object"},
		"claims are a list":       {signed(t, "rsa", "RS256", header(nil), `[]`), "its claims are not one JSON object"},
		"claims are not JSON":     {signed(t, "rsa", "RS256", header(nil), `{"iss":`), "its claims are not one JSON object"},
		"claims with a tail":      {signed(t, "rsa", "RS256", header(nil), `{} {}`), "its claims are not one JSON object"},
		"claims are not UTF-8":    {signed(t, "rsa", "RS256", header(nil), "{\"iss\":\"\xff\"}"), "its claims are not one JSON object"},
		"oversize":                {good(t, object{"pad": strings.Repeat("x", oidc.MaxToken)}), "bytes, more than"},
		"empty":                   {"", "it is not HEADER.CLAIMS.SIGNATURE"},
		"points":                  {"..", "is not"},
		"five parts, a JWE":       {"a.b.c.d.e", "it is not HEADER.CLAIMS.SIGNATURE"},
		"JSON serialization":      {`{"payload":"","signatures":[]}`, "it is not HEADER.CLAIMS.SIGNATURE"},
		"an API key":              {"gk1.acme.0102030405060708." + strings.Repeat("0", 64), "it is not HEADER.CLAIMS.SIGNATURE"},
		"a token within a token":  {signed(t, "rsa", "RS256", header(object{"cty": "JWT"}), good(t, nil)), "its claims are not one JSON object"},
		"padding":                 {good(t, nil) + "=", "its signature is not base64url"},
		"a line break":            {strings.Replace(good(t, nil), ".", "\n.", 1), "its header is not base64url"},
		"two tokens":              {good(t, nil) + "," + good(t, nil), "it is not HEADER.CLAIMS.SIGNATURE"},
		"a signature of zeros":    {part(t, object{"alg": "ES256", "kid": "p256"}) + "." + part(t, claims(nil)) + "." + b64(make([]byte, 64)), wrong},
		"an ASN.1 EC signature":   {asn1Signed(t), wrong},
		"claims of another token": {swapped(t), wrong},
	} {
		refused(t, name, f.Issuer, c.token, c.reason)
	}
	if asked := elsewhere.asked.Load(); asked != 0 {
		t.Errorf("a token made us ask elsewhere %d times", asked)
	}
	for name, token := range map[string]string{
		"no typ":     signed(t, "rsa", "RS256", header(nil), claims(nil)),
		"typ at+jwt": signed(t, "rsa", "RS256", header(object{"typ": "application/at+JWT"}), claims(nil)),
		"own jku":    signed(t, "rsa", "RS256", header(object{"jku": elsewhere.URL, "jwk": strange}), claims(nil)),
	} {
		accepted(t, name, f.Issuer, token)
	}
}

func asn1Signed(t *testing.T) string {
	input := part(t, object{"alg": "ES256", "kid": "p256"}) + "." + part(t, claims(nil))
	sum := sha256.Sum256([]byte(input))
	signature, err := signers()["p256"].Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + b64(signature)
}

func swapped(t *testing.T) string {
	a := strings.Split(good(t, nil), ".")
	b := strings.Split(good(t, object{"exp": start.Unix() + 301}), ".")
	return a[0] + "." + b[1] + "." + a[2]
}

// TestMangled changes every byte of a good token, takes each out and puts one in.
func TestMangled(t *testing.T) {
	f := newFixture(t, allKeys(t), nil)
	token := good(t, nil)
	accepted(t, "the token itself", f.Issuer, token)
	for i := range len(token) {
		for _, mangled := range []string{
			token[:i] + string(rune('A'+(token[i]+1)%26)) + token[i+1:], token[:i] + "." + token[i+1:], token[:i] + token[i+1:], token[:i] + "A" + token[i:], token[:i] + "\n" + token[i:],
		} {
			if mangled != token {
				refused(t, fmt.Sprintf("byte %d", i), f.Issuer, mangled, "")
			}
		}
	}
	// Four bits of the last digit are not the signature's; they have one spelling too.
	for _, digit := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		if mangled := token[:len(token)-1] + string(digit); mangled != token {
			refused(t, "the last digit", f.Issuer, mangled, "")
		}
	}
}

// TestClaims changes one claim of a good token at a time.
func TestClaims(t *testing.T) {
	f := newFixture(t, allKeys(t), nil)
	long := strings.Repeat("x", access.MaxSubject)
	for _, c := range []struct {
		name   string
		change object
		reason string // "": it is accepted
	}{
		{"nothing", nil, ""},
		{"another iss", object{"iss": issuer + "/"}, "iss is not"},
		{"no iss", object{"iss": nil}, "iss is not"},
		{"a list of iss", object{"iss": []string{issuer}}, "iss is not"},
		{"another aud", object{"aud": "other"}, "aud is not"},
		{"no aud", object{"aud": nil}, "aud is not"},
		{"a list of aud", object{"aud": []string{"other", audience}}, ""},
		{"a list without us", object{"aud": []string{"other", "graphkernel2"}}, "aud is not"},
		{"an empty list", object{"aud": []string{}}, "aud is not"},
		{"a list with a number", object{"aud": []any{audience, 1}}, "aud is not"},
		{"aud is an object", object{"aud": object{audience: true}}, "aud is not"},
		{"no exp", object{"exp": nil}, "exp is not a time"},
		{"exp is text", object{"exp": "1780000300"}, "exp is not a time"},
		{"exp is null", object{"exp": json.RawMessage("null")}, "exp is not a time"},
		{"exp in milliseconds", object{"exp": start.UnixMilli()}, "exp is not a time"},
		{"exp negative", object{"exp": -1}, "exp is not a time"},
		{"exp is infinite", object{"exp": json.RawMessage("1e999")}, "exp is not a time"},
		{"exp with an exponent", object{"exp": json.RawMessage("1.7800003e9")}, ""},
		{"expired", object{"exp": start.Unix() - 61}, "it has expired"},
		{"expired by the skew", object{"exp": start.Unix() - 60}, "it has expired"},
		{"expired within the skew", object{"exp": start.Unix() - 59}, ""},
		{"expired within the skew, in parts", object{"exp": json.RawMessage("1779999940.5")}, ""},
		{"not yet", object{"nbf": start.Unix() + 61}, "nbf is yet to come"},
		{"nearly", object{"nbf": start.Unix() + 60}, ""},
		{"nearly, in parts", object{"nbf": json.RawMessage("1780000060.5")}, "nbf is yet to come"},
		{"nbf is text", object{"nbf": "0"}, "nbf is not a time"},
		{"iat to come", object{"iat": start.Unix() + 61}, "iat is yet to come"},
		{"iat is a list", object{"iat": []int{1}}, "iat is not a time"},
		{"no sub", object{"sub": nil}, "sub is not"},
		{"empty sub", object{"sub": ""}, "sub is not"},
		{"sub is a number", object{"sub": 7}, "sub is not"},
		{"long sub", object{"sub": long + "x"}, "sub is not"},
		{"sub with a line break", object{"sub": "a\nb"}, "sub is not"},
		{"sub with a bell", object{"sub": "a\ab"}, "sub is not"},
		{"sub turns right to left", object{"sub": "a\u202eb"}, "sub is not"},
		{"no tenant", object{"tenant": nil}, "is not a tenant"},
		{"empty tenant", object{"tenant": ""}, "is not a tenant"},
		{"tenant is a list", object{"tenant": []string{"acme"}}, "is not a tenant"},
		{"tenant is a number", object{"tenant": 1}, "is not a tenant"},
		{"tenant with capitals", object{"tenant": "Acme"}, "is not a tenant"},
		{"tenant is a path", object{"tenant": "../acme"}, "is not a tenant"},
		{"no role", object{"role": nil}, "is none of agent"},
		{"role is a list", object{"role": []string{"agent"}}, "is none of agent"},
		{"role root", object{"role": "root"}, "is none of agent"},
		{"role Agent", object{"role": "Agent"}, "is none of agent"},
		{"empty role", object{"role": ""}, "is none of agent"},
		{"more", object{"scope": "x", "deep": object{"a": []any{object{}}}}, ""},
	} {
		if c.reason == "" {
			accepted(t, c.name, f.Issuer, good(t, c.change))
		} else {
			refused(t, c.name, f.Issuer, good(t, c.change), c.reason)
		}
	}
	for _, role := range access.Roles {
		for _, sub := range []string{long, "a b", "жук", "auth0|5f", "a/b"} {
			want := access.Identity{Tenant: "0", Role: role, Subject: "jwt:" + sub}
			if who, err := f.Authenticate(t.Context(), good(t, object{"role": role, "sub": sub, "tenant": "0"})); err != nil || who != want {
				t.Errorf("got %+v, %v, want %+v", who, err, want)
			}
		}
	}
}

// TestOwnClaims takes the tenant and the role from claims of other names.
func TestOwnClaims(t *testing.T) {
	f := newFixture(t, allKeys(t), func(c *oidc.Config) { c.TenantClaim, c.RoleClaim = "https://issuer.example/tenant", "gk_role" })
	accepted(t, "own names", f.Issuer, good(t, object{"tenant": "other", "role": "admin", "https://issuer.example/tenant": "acme", "gk_role": "agent"}))
	refused(t, "the usual names", f.Issuer, good(t, nil), "is not a tenant")
	refused(t, "no role", f.Issuer, good(t, object{"https://issuer.example/tenant": "acme"}), `claim "gk_role"`)
}

// TestExpires lets a token grow old.
func TestExpires(t *testing.T) {
	f := newFixture(t, allKeys(t), nil)
	token := good(t, nil)
	f.clock.advance(360*time.Second - 1)
	accepted(t, "in its last moment", f.Issuer, token)
	f.clock.advance(1)
	refused(t, "after it", f.Issuer, token, "it has expired")
}

// TestKeys publishes keys that must be passed over beside one that counts.
func TestKeys(t *testing.T) {
	private, err := jwk.Import(signers()["rsa"])
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(private)
	if err != nil {
		t.Fatal(err)
	}
	var whole object
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	whole["kid"] = "rsa"
	rs256 := object{"alg": "RS256", "kid": "rsa"}
	for name, c := range map[string]struct {
		key    object
		signer string
		header object
		reason string
	}{
		"sound":             {published(t, "rsa", object{"use": "sig", "alg": "RS256", "key_ops": []string{"verify"}}), "rsa", rs256, ""},
		"for encryption":    {published(t, "rsa", object{"use": "enc"}), "rsa", rs256, "kid names no key"},
		"only to sign":      {published(t, "rsa", object{"key_ops": []string{"sign"}}), "rsa", rs256, "kid names no key"},
		"for PS256 alone":   {published(t, "rsa", object{"alg": "PS256"}), "rsa", rs256, "not one for its algorithm"},
		"for another kind":  {published(t, "rsa", object{"alg": "ES256"}), "rsa", rs256, "kid names no key"},
		"for HMAC":          {published(t, "rsa", object{"alg": "HS256"}), "rsa", rs256, "kid names no key"},
		"without a kid":     {published(t, "rsa", object{"kid": ""}), "rsa", rs256, "kid names no key"},
		"too short":         {published(t, "small", nil), "small", object{"alg": "RS256", "kid": "small"}, "kid names no key"},
		"private":           {whole, "rsa", rs256, "kid names no key"},
		"symmetric":         {object{"kty": "oct", "kid": "rsa", "k": "AAAA"}, "rsa", rs256, "kid names no key"},
		"of a new kind":     {object{"kty": "new", "kid": "rsa"}, "rsa", rs256, "kid names no key"},
		"without a modulus": {object{"kty": "RSA", "kid": "rsa", "e": "AQAB"}, "rsa", rs256, "kid names no key"},
		"not on its curve":  {published(t, "p256", object{"x": b64(make([]byte, 32)), "y": b64(make([]byte, 32))}), "p256", object{"alg": "ES256", "kid": "p256"}, ""},
	} {
		f := newFixture(t, setOf(t, c.key, published(t, "ed", nil)), nil)
		accepted(t, name+", the key beside it", f.Issuer, good(t, nil))
		token := signed(t, c.signer, c.header["alg"].(string), c.header, claims(nil))
		if c.reason == "" && name == "sound" {
			accepted(t, name, f.Issuer, token)
		} else {
			refused(t, name, f.Issuer, token, c.reason)
		}
	}
}

// TestUnknownKid presents invented kids: the issuer is asked once in ten seconds, and
// a key that it has published since is found.
func TestUnknownKid(t *testing.T) {
	f := newFixture(t, setOf(t, published(t, "ed", nil)), nil)
	token := signed(t, "rsa", "RS256", object{"alg": "RS256", "kid": "rsa"}, claims(nil))
	f.publisher.gives(allKeys(t))
	refused(t, "too soon after the first fetch", f.Issuer, token, "kid names no key")
	f.clock.advance(10*time.Second - 1)
	refused(t, "still too soon", f.Issuer, token, "kid names no key")
	if asked := f.publisher.asked.Load(); asked != 1 {
		t.Fatalf("asked %d times, want once", asked)
	}
	f.clock.advance(1)
	refused(t, "another issuer's", f.Issuer, good(t, object{"iss": "https://other.example"}), "iss is not")
	if asked := f.publisher.asked.Load(); asked != 1 {
		t.Fatalf("a token for others made us ask, %d times in all", asked)
	}
	accepted(t, "a new key", f.Issuer, token)
	for n := range 100 {
		for _, kid := range []string{fmt.Sprint("invented", n), ""} {
			refused(t, "an invented kid", f.Issuer, signed(t, "ed", "EdDSA", object{"alg": "EdDSA", "kid": kid}, claims(nil)), "no key")
		}
		f.clock.advance(time.Second)
	}
	// 100 s hold ten fetches, which begin 10 s after the one that found the key.
	if asked := f.publisher.asked.Load(); asked != 2+9 {
		t.Errorf("asked %d times, want 11", asked)
	}
}

// TestOneFetchForMany has many callers wait for one fetch.
func TestOneFetchForMany(t *testing.T) {
	f := newFixture(t, setOf(t, published(t, "ed", nil)), nil)
	all, entered, open := allKeys(t), make(chan struct{}, 10), make(chan struct{})
	f.publisher.does(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-open
		_, _ = w.Write(all)
	})
	f.clock.advance(time.Minute)
	token := signed(t, "rsa", "RS256", object{"alg": "RS256", "kid": "rsa"}, claims(nil))
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() { accepted(t, "one of many", f.Issuer, token) })
	}
	<-entered
	accepted(t, "a key that is known, meanwhile", f.Issuer, good(t, nil))
	f.clock.advance(time.Minute) // the fetch is slow; another is not begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Authenticate(ctx, token); !errors.Is(err, context.Canceled) || errors.Is(err, access.ErrKey) {
		t.Errorf("a caller who left got %v, want context.Canceled", err)
	}
	close(open)
	callers.Wait()
	if asked := f.publisher.asked.Load(); asked != 2 {
		t.Errorf("asked %d times, want twice", asked)
	}
}

// TestFetchedMeanwhile has a fetch begin and end, and a minute pass, at each moment at
// which a caller reads the clock: what was fetched is used and not fetched again.
func TestFetchedMeanwhile(t *testing.T) {
	token := signed(t, "rsa", "RS256", object{"alg": "RS256", "kid": "rsa"}, claims(nil))
	for reading := 1; reading <= 3; reading++ {
		var f *fixture
		var left atomic.Int64 // readings until the fetch; zero and less: there is none
		f = newFixture(t, setOf(t, published(t, "ed", nil)), func(c *oidc.Config) {
			still := c.Clock
			c.Clock = func() time.Time {
				if left.Add(-1) == 0 {
					accepted(t, "the one that fetches", f.Issuer, token)
					f.clock.advance(time.Minute)
				}
				return still()
			}
		})
		f.publisher.gives(allKeys(t))
		f.clock.advance(time.Minute)
		left.Store(int64(reading))
		accepted(t, "the one that looked before", f.Issuer, token)
		if left.Load() > 0 {
			t.Errorf("the clock was read fewer than %d times", reading)
		}
		if asked := f.publisher.asked.Load(); asked != 2 {
			t.Errorf("a fetch at reading %d of the clock: asked %d times, want twice", reading, asked)
		}
	}
}

// TestRefresh follows the keys through a rotation and an outage.
func TestRefresh(t *testing.T) {
	f := newFixture(t, setOf(t, published(t, "ed", nil)), func(c *oidc.Config) { c.Refresh, c.MaxStale = time.Minute, time.Hour })
	token := func() string { return good(t, object{"exp": f.clock.now().Unix() + 60}) }
	asked := func(want int32) {
		t.Helper()
		if got := f.publisher.asked.Load(); got != want {
			t.Fatalf("asked %d times, want %d", got, want)
		}
	}
	f.clock.advance(time.Minute - 1)
	f.tick()
	asked(1)
	f.clock.advance(1)
	f.tick()
	asked(2)
	f.clock.advance(time.Minute)
	f.publisher.fails()
	f.tick()
	asked(3)
	f.tick() // at once again: no
	asked(3)
	f.clock.advance(10 * time.Second)
	f.tick()
	asked(4)
	accepted(t, "in the outage", f.Issuer, token())
	if n := strings.Count(f.log.String(), "cannot be fetched"); n != 1 {
		t.Errorf("the outage was logged %d times, want once: %s", n, f.log)
	}
	f.clock.advance(time.Hour - 70*time.Second)
	accepted(t, "in the last moment", f.Issuer, token())
	f.clock.advance(1)
	who, err := f.Authenticate(t.Context(), token())
	if !errors.Is(err, oidc.ErrUnavailable) || errors.Is(err, access.ErrKey) || who != (access.Identity{}) {
		t.Errorf("with stale keys: got %+v, %v, want ErrUnavailable", who, err)
	}
	asked(5) // the caller had it tried
	refused(t, "a bad token meanwhile", f.Issuer, good(t, object{"iss": "other"}), "iss is not")
	f.clock.advance(9 * time.Second)
	if _, err := f.Authenticate(t.Context(), token()); !errors.Is(err, oidc.ErrUnavailable) {
		t.Errorf("soon after: got %v, want ErrUnavailable", err)
	}
	asked(5)
	f.clock.advance(time.Second)
	f.publisher.gives(setOf(t, published(t, "ed", nil)))
	accepted(t, "after the outage", f.Issuer, token())
	asked(6)
	f.clock.advance(time.Minute)
	f.publisher.gives(setOf(t, published(t, "rsa", nil)))
	f.tick()
	asked(7)
	refused(t, "a key that was taken out", f.Issuer, token(), "kid names no key")
	if n := strings.Count(f.log.String(), "can be fetched again"); n != 1 {
		t.Errorf("the end of the outage was logged %d times, want once: %s", n, f.log)
	}
	f.clock.advance(-24 * time.Hour)
	f.tick() // a clock that was set back does not stop it
	asked(8)
}

// TestBadSets answers with what is no key set: the last one stays.
func TestBadSets(t *testing.T) {
	ed := published(t, "ed", nil)
	many := make([]map[string]any, 300)
	for n := range many {
		many[n] = published(t, "ed", object{"kid": fmt.Sprint(n)})
	}
	elsewhere := newPublisher(t, setOf(t, published(t, "rsa", nil)))
	for name, answer := range map[string]http.HandlerFunc{
		"a redirect": http.RedirectHandler(elsewhere.URL, http.StatusFound).ServeHTTP,
		"not found":  http.NotFound,
		"an error's body": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(setOf(t, ed))
		},
		"HTML":          func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"nothing":       func(http.ResponseWriter, *http.Request) {},
		"no keys":       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(setOf(t)) },
		"null":          func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "null") },
		"one kid twice": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(setOf(t, ed, ed)) },
		"too many keys": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(setOf(t, many...)) },
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(append(setOf(t, ed), bytes.Repeat([]byte(" "), 1<<20)...))
		},
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9999")
			_, _ = w.Write(setOf(t, ed))
		},
		"nothing of use":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(setOf(t, published(t, "small", nil))) },
		"no answer":       func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a 200 after 1xx": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	} {
		f := newFixture(t, setOf(t, ed), nil)
		f.publisher.does(answer)
		f.clock.advance(10 * time.Minute)
		token := good(t, object{"exp": f.clock.now().Unix() + 60})
		f.tick()
		if asked := f.publisher.asked.Load(); asked < 2 { // net/http asks again when a connection dies
			t.Errorf("%s: asked %d times, want twice", name, asked)
		}
		if !strings.Contains(f.log.String(), "cannot be fetched") {
			t.Errorf("%s: was taken", name)
		}
		accepted(t, name, f.Issuer, token)
	}
	if asked := elsewhere.asked.Load(); asked != 0 {
		t.Errorf("a redirect was followed")
	}
}

// TestLateIssuer starts while the issuer is down: nothing is accepted, and then it is.
func TestLateIssuer(t *testing.T) {
	p := newPublisher(t, nil)
	p.does(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	f := newFixture(t, nil, func(c *oidc.Config) { c.JWKS = p.URL + "/?token=hunter2" })
	if _, err := f.Authenticate(t.Context(), good(t, nil)); !errors.Is(err, oidc.ErrUnavailable) || errors.Is(err, access.ErrKey) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	p.gives(allKeys(t))
	f.clock.advance(10 * time.Second)
	f.tick()
	accepted(t, "once it is up", f.Issuer, good(t, nil))
	if !strings.Contains(f.log.String(), "cannot be fetched") || strings.Contains(f.log.String(), "hunter2") {
		t.Errorf("the log has no outage, or the URL: %s", f.log)
	}
}

// TestFile reads the keys from a file that is replaced.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	write := func(set []byte) {
		t.Helper()
		if err := os.WriteFile(path, set, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(setOf(t, published(t, "rsa", nil)))
	f := newFixture(t, nil, func(c *oidc.Config) { c.JWKS = "file:" + path })
	refused(t, "before", f.Issuer, good(t, nil), "kid names no key")
	write(setOf(t, published(t, "ed", nil)))
	f.clock.advance(10 * time.Second)
	accepted(t, "after", f.Issuer, good(t, nil))
	if asked := f.publisher.asked.Load(); asked != 0 {
		t.Error("the server was asked")
	}
}

// TestTLS fetches over TLS with a client that was handed in.
func TestTLS(t *testing.T) {
	set := allKeys(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(set) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // one handshake is to fail
	server.StartTLS()
	defer server.Close()
	f := newFixture(t, nil, func(c *oidc.Config) { c.JWKS, c.Client = server.URL, server.Client() })
	accepted(t, "over TLS", f.Issuer, good(t, nil))
	g := newFixture(t, nil, func(c *oidc.Config) { c.JWKS = server.URL }) // whose certificate is not trusted
	if _, err := g.Authenticate(t.Context(), good(t, nil)); !errors.Is(err, oidc.ErrUnavailable) {
		t.Errorf("an untrusted certificate: got %v, want ErrUnavailable", err)
	}
}

// TestEnded asks after the context of New has ended.
func TestEnded(t *testing.T) {
	p, c := newPublisher(t, allKeys(t)), &clock{}
	ctx, cancel := context.WithCancel(t.Context())
	i, err := oidc.New(ctx, oidc.Config{Issuer: issuer, Audience: audience, JWKS: p.URL, Clock: c.now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	accepted(t, "a known key", i, good(t, nil))
	c.advance(time.Minute)
	for range 3 {
		refused(t, "an unknown one", i, signed(t, "ed", "EdDSA", object{"alg": "EdDSA", "kid": "x"}, claims(nil)), "kid names no key")
	}
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	sound := filepath.Join(dir, "sound.json")
	for path, text := range map[string][]byte{bad: []byte("{}"), sound: allKeys(t)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := func() oidc.Config {
		return oidc.Config{Issuer: issuer, Audience: audience, JWKS: "file:" + sound, Clock: (&clock{}).now, Log: slog.New(slog.DiscardHandler)}
	}
	if _, err := oidc.New(t.Context(), config()); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*oidc.Config){
		"no issuer":           func(c *oidc.Config) { c.Issuer = "" },
		"no audience":         func(c *oidc.Config) { c.Audience = "" },
		"no key set":          func(c *oidc.Config) { c.JWKS = "" },
		"no clock":            func(c *oidc.Config) { c.Clock = nil },
		"no log":              func(c *oidc.Config) { c.Log = nil },
		"one claim for both":  func(c *oidc.Config) { c.TenantClaim = "role" },
		"stale before old":    func(c *oidc.Config) { c.Refresh, c.MaxStale = time.Hour, time.Minute },
		"a negative duration": func(c *oidc.Config) { c.Refresh = -1 },
		"plain HTTP":          func(c *oidc.Config) { c.JWKS = "http://issuer.example/keys" },
		"loopback's namesake": func(c *oidc.Config) { c.JWKS = "http://127.0.0.1.example/keys" },
		"a password":          func(c *oidc.Config) { c.JWKS = "https://user:hunter2@issuer.example/keys" },
		"another scheme":      func(c *oidc.Config) { c.JWKS = "ftp://issuer.example/keys" },
		"a bare path":         func(c *oidc.Config) { c.JWKS = "/etc/keys" },
		"no path":             func(c *oidc.Config) { c.JWKS = "file:" },
		"no host":             func(c *oidc.Config) { c.JWKS = "https:///keys" },
		"no file":             func(c *oidc.Config) { c.JWKS = "file:" + filepath.Join(dir, "absent") },
		"a folder":            func(c *oidc.Config) { c.JWKS = "file:" + dir },
		"a file of no keys":   func(c *oidc.Config) { c.JWKS = "file:" + bad },
	} {
		c := config()
		spoil(&c)
		i, err := oidc.New(t.Context(), c)
		if err == nil || i != nil {
			t.Errorf("%s: New gave no error", name)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error holds the password: %v", name, err)
		}
	}
}

// TestEither sends each kind of bearer where it belongs.
func TestEither(t *testing.T) {
	f := newFixture(t, allKeys(t), nil)
	byKey := access.Identity{Tenant: "t", Role: access.Admin, Subject: "k"}
	either := oidc.Either(func(_ context.Context, bearer string) (access.Identity, error) {
		if !strings.HasPrefix(bearer, "gk1.") {
			t.Errorf("%q went to the keys", bearer)
		}
		return byKey, nil
	}, f.Issuer)
	if who, err := either(t.Context(), "gk1.x"); err != nil || who != byKey {
		t.Errorf("a key gave %+v, %v", who, err)
	}
	if who, err := either(t.Context(), good(t, nil)); err != nil || who.Subject != "jwt:ci" {
		t.Errorf("a JWT gave %+v, %v", who, err)
	}
	for _, s := range []string{"", "gk1", "GK1.a.b", " gk1.a.b.c", "x"} {
		if _, err := either(t.Context(), s); !errors.Is(err, access.ErrKey) {
			t.Errorf("%q gave %v, want access.ErrKey", s, err)
		}
	}
}

// FuzzAuthenticate makes sure that nothing is but what was signed, and that every
// other text is its sender's fault and is not repeated.
func FuzzAuthenticate(f *testing.F) {
	i := newFixture(f, setOf(f, published(f, "ed", nil), published(f, "rsa", nil)), nil)
	genuine := map[string]bool{}
	for _, token := range []string{good(f, nil), good(f, object{"aud": []string{audience}}), signed(f, "rsa", "RS256", object{"alg": "RS256", "kid": "rsa"}, claims(nil))} {
		genuine[token] = true
		f.Add(token)
	}
	f.Add("")
	f.Add("..")
	f.Add(signed(f, "ed", "EdDSA", `{"alg":"none","kid":"ed"}`, claims(nil)))
	f.Add(signed(f, "ed", "EdDSA", `{"alg":"EdDSA","kid":"ed","crit":[]}`, claims(nil)))
	f.Add(signed(f, "ed", "EdDSA", object{"alg": "EdDSA", "kid": "ed"}, `{"iss":"a","iss":"b"}`))
	f.Fuzz(func(t *testing.T, bearer string) {
		who, err := i.Authenticate(t.Context(), bearer)
		if err == nil {
			if !genuine[bearer] || who.Tenant != "acme" {
				t.Fatalf("%q stands as %+v", bearer, who)
			}
			return
		}
		if genuine[bearer] || !errors.Is(err, access.ErrKey) || who != (access.Identity{}) {
			t.Fatalf("%q: got %+v, %v", bearer, who, err)
		}
		if len(err.Error()) > 300 {
			t.Fatalf("the error has %d bytes", len(err.Error()))
		}
	})
}

func BenchmarkAuthenticate(b *testing.B) {
	f := newFixture(b, allKeys(b), nil)
	for _, c := range []struct{ kid, algorithm string }{{"rsa", "RS256"}, {"p256", "ES256"}, {"ed", "EdDSA"}} {
		b.Run(c.algorithm, func(b *testing.B) {
			token := signed(b, c.kid, c.algorithm, object{"alg": c.algorithm, "kid": c.kid}, claims(nil))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Authenticate(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
