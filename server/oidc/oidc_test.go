package oidc_test

import (
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"
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
					refused(t, name, f.Issuer, token, "its key does not fit its algorithm")
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
	const none, wrong = "alg is not one of", "the signature is not the issuer's"
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
		"crit":                    {signed(t, "rsa", "RS256", header(object{"crit": []string{"exp"}, "exp": 1}), claims(nil)), "its header has the member crit"},
		"empty crit":              {signed(t, "rsa", "RS256", header(object{"crit": []string{}}), claims(nil)), "its header has the member crit"},
		"b64 false":               {signed(t, "rsa", "RS256", header(object{"b64": false}), claims(nil)), "its header has the member b64"},
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
		{"not yet", object{"nbf": start.Unix() + 61}, "nbf lies in the future"},
		{"nearly", object{"nbf": start.Unix() + 60}, ""},
		{"nearly, in parts", object{"nbf": json.RawMessage("1780000060.5")}, "nbf lies in the future"},
		{"nbf is text", object{"nbf": "0"}, "nbf is not a time"},
		{"iat to come", object{"iat": start.Unix() + 61}, "iat lies in the future"},
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
		{"no role", object{"role": nil}, "is not one of agent"},
		{"role is a list", object{"role": []string{"agent"}}, "is not one of agent"},
		{"role root", object{"role": "root"}, "is not one of agent"},
		{"role Agent", object{"role": "Agent"}, "is not one of agent"},
		{"empty role", object{"role": ""}, "is not one of agent"},
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
