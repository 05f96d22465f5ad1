package oidc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/server/oidc"
)

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
		"for PS256 alone":   {published(t, "rsa", object{"alg": "PS256"}), "rsa", rs256, "does not fit its algorithm"},
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
