package console_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/console"
)

// A provider stands in for an OpenID provider: it knows one client and one person, and holds each code to its challenge.
type provider struct {
	*httptest.Server
	t         *testing.T
	says      string // its issuer, in its description
	ask       string // where it is asked, if not at its own URL
	token     string // where it exchanges codes, likewise
	challenge string
	nonce     string
	issues    func(nonce string) (identity, access string)
	exchanges int
}

const clientSecret = "of the client"

func startProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{t: t}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(quoted(map[string]string{"issuer": p.says, "authorization_endpoint": cmp.Or(p.ask, p.URL+"/ask"), "token_endpoint": cmp.Or(p.token, p.URL+"/token")})))
	})
	mux.HandleFunc("GET /ask", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("response_type") != "code" || q.Get("client_id") != "pages" || q.Get("code_challenge_method") != "S256" || !strings.Contains(q.Get("scope"), "openid") {
			t.Errorf("asked for %v", q)
		}
		p.challenge, p.nonce = q.Get("code_challenge"), q.Get("nonce")
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c0de"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		p.exchanges++
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		id, secret, ok := r.BasicAuth()
		if !ok {
			id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
		}
		if r.PostFormValue("code") != "c0de" || base64.RawURLEncoding.EncodeToString(sum[:]) != p.challenge || id != "pages" || secret != clientSecret {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		identity, access := p.issues(p.nonce)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(quoted(map[string]string{"token_type": "Bearer", "access_token": access, "id_token": identity})))
	})
	p.Server = httptest.NewServer(mux)
	p.says = p.URL
	t.Cleanup(p.Close)
	return p
}

// jwt writes what looks like a token with a nonce. The service of these tests takes the one that good names.
func jwt(nonce, name string) string {
	return "h." + base64.RawURLEncoding.EncodeToString([]byte(quoted(map[string]string{"nonce": nonce}))) + "." + name
}

// TestProvider signs in with a provider: well, and in each way in which that must fail.
func TestProvider(t *testing.T) {
	p := startProvider(t)
	s := openWith(t, func(s *site, c *console.Config) {
		c.SignIn = &console.Provider{Issuer: p.URL, Client: "pages", Secret: clientSecret, URL: s.URL, HTTP: p.Client()}
	}, ".good")
	begin := func(b *browser) (state, back string) {
		r := b.get("/sign-in/provider?to=/ledger")
		if r.status != http.StatusSeeOther || !strings.HasPrefix(r.to, p.URL+"/ask?") {
			t.Fatalf("%d to %q\n%s", r.status, r.to, r.body)
		}
		for _, c := range r.cookies {
			if c.SameSite != http.SameSiteLaxMode || !c.HttpOnly || c.MaxAge > 600 {
				t.Errorf("the cookie is %+v", c)
			}
		}
		asked := must(http.NewRequestWithContext(t.Context(), http.MethodGet, r.to, http.NoBody))
		answer := must(b.Do(asked))
		_ = answer.Body.Close()
		at := must(url.Parse(answer.Header.Get("Location")))
		return at.Query().Get("state"), at.RequestURI()
	}
	if !strings.Contains(s.browser().get("/sign-in").body, "Sign in with 127.0.0.1") {
		t.Error("the form does not offer the provider")
	}
	for name, issues := range map[string]func(nonce string) (string, string){
		"an identity token": func(nonce string) (string, string) { return jwt(nonce, "good"), "opaque" },
		"an access token":   func(string) (string, string) { return jwt("other", "good"), jwt("", "good") },
	} {
		p.issues = issues
		b := s.browser()
		_, back := begin(b)
		thief := s.browser()
		at := must(url.Parse(s.URL + "/sign-in"))
		thief.Jar.SetCookies(at, b.Jar.Cookies(at))
		r := b.get(back)
		if r.status != http.StatusOK || !strings.Contains(r.body, `content="0;url=/ledger"`) || !b.enters() {
			t.Errorf("%s: %d\n%s", name, r.status, r.body)
		}
		if again := thief.get(back); again.status != http.StatusForbidden || thief.enters() {
			t.Errorf("%s: the same answer again, with a copy of the cookie: %d", name, again.status)
		}
	}
	good := func(nonce string) (string, string) { return jwt(nonce, "good"), "opaque" }
	for name, c := range map[string]struct {
		issues func(string) (string, string)
		change func(b *browser, back string) (*browser, string)
	}{
		"what the service does not take": {func(nonce string) (string, string) { return jwt(nonce, "bad"), "opaque" }, nil},
		"another sign-in's identity":     {func(string) (string, string) { return jwt("other", "good"), "opaque" }, nil},
		"another browser":                {good, func(_ *browser, back string) (*browser, string) { return s.browser(), back }},
		"another state": {good, func(b *browser, back string) (*browser, string) {
			return b, strings.Replace(back, "state=", "state=0", 1)
		}},
		"no state":                  {good, func(b *browser, _ string) (*browser, string) { return b, "/sign-in/return?code=c0de" }},
		"another code":              {good, func(b *browser, back string) (*browser, string) { return b, strings.Replace(back, "c0de", "c1de", 1) }},
		"another provider's answer": {good, func(b *browser, back string) (*browser, string) { return b, back + "&iss=https%3A%2F%2Fevil.example" }},
		"a state of a form": {good, func(b *browser, back string) (*browser, string) {
			return b, back[:strings.Index(back, "state=")] + "state=" + b.get("/sign-in").token()
		}},
		"no code": {good, func(b *browser, back string) (*browser, string) { return b, strings.Replace(back, "c0de", "", 1) }},
		"the sign-in's state and another's cookie": {good, func(_ *browser, back string) (*browser, string) {
			other := s.browser()
			begin(other)
			return other, back
		}},
		"after ten minutes":              {good, func(b *browser, back string) (*browser, string) { s.clock.pass(10 * time.Minute); return b, back }},
		"no identity, no token":          {func(string) (string, string) { return "", "" }, nil},
		"an identity token that is none": {func(string) (string, string) { return "good.good.good", "a.b.bad" }, nil},
		"a refusal": {good, func(b *browser, back string) (*browser, string) {
			return b, back + "&error=access_denied&error_description=<script>"
		}},
		"a form in place of the provider": {good, func(_ *browser, back string) (*browser, string) { b := s.browser(); b.get("/sign-in"); return b, back }},
	} {
		p.issues = c.issues
		b := s.browser()
		_, back := begin(b)
		if c.change != nil {
			b, back = c.change(b, back)
		}
		if r := b.get(back); r.status < 400 || b.enters() || strings.Contains(r.body, "<script>") || strings.Contains(r.body, clientSecret) {
			t.Errorf("%s: %d\n%s", name, r.status, r.body)
		}
	}
	for name, c := range map[string][2]string{
		"asks in the clear": {"http://evil.example/ask", ""}, "exchanges in the clear": {"", "http://evil.example/token"}, "asks a script": {"javascript:alert(1)", ""}, "has a password": {"", "https://a:b@evil.example/token"},
	} {
		p.ask, p.token = c[0], c[1]
		fresh := openWith(t, func(s *site, c *console.Config) {
			c.SignIn = &console.Provider{Issuer: p.URL, Client: "pages", URL: s.URL}
		}, ".good")
		if r := fresh.browser().get("/sign-in/provider"); r.status != http.StatusBadGateway || r.to != "" {
			t.Errorf("a provider that %s: %d to %q", name, r.status, r.to)
		}
	}
	p.ask, p.token = "", ""
	p.says = "https://another.example"
	other := openWith(t, func(s *site, c *console.Config) {
		c.SignIn = &console.Provider{Issuer: p.URL, Client: "pages", URL: s.URL}
	}, ".good")
	if r := other.browser().get("/sign-in/provider"); r.status != http.StatusBadGateway {
		t.Errorf("a provider that says it is another: %d", r.status)
	}
	if p.exchanges == 0 {
		t.Error("no code was exchanged")
	}
}

// TestProviderConfig refuses providers that would be asked in the clear, or are not known.
func TestProviderConfig(t *testing.T) {
	for name, p := range map[string]console.Provider{
		"no client":    {Issuer: "https://a.example", URL: "https://b.example"},
		"plain HTTP":   {Issuer: "http://a.example", URL: "https://b.example", Client: "c"},
		"a plain URL":  {Issuer: "https://a.example", URL: "http://b.example", Client: "c"},
		"no URL":       {Issuer: "https://a.example", Client: "c"},
		"a password":   {Issuer: "https://a:b@a.example", URL: "https://b.example", Client: "c"},
		"no authority": {Issuer: "https:a", URL: "https://b.example", Client: "c"},
	} {
		if err := p.Check(); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := (&console.Provider{Issuer: "https://a.example", URL: "http://127.0.0.1:8080", Client: "c"}).Check(); err != nil {
		t.Error(err)
	}
}

// TestAttackSlowProvider begins two sign-ins with a provider that answers neither before it was asked for both: one that waits does not hold up another.
func TestAttackSlowProvider(t *testing.T) {
	var asked sync.WaitGroup
	asked.Add(2)
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Done()
		asked.Wait()
		_, _ = w.Write([]byte(quoted(map[string]string{"issuer": "http://" + r.Host, "authorization_endpoint": "https://a.example/ask", "token_endpoint": "https://a.example/token"})))
	}))
	t.Cleanup(p.Close)
	s := openWith(t, func(s *site, c *console.Config) {
		c.SignIn = &console.Provider{Issuer: p.URL, Client: "pages", URL: s.URL, HTTP: &http.Client{Timeout: 2 * time.Second}}
	}, ".good")
	var done sync.WaitGroup
	for range 2 {
		done.Go(func() {
			if r := s.browser().get("/sign-in/provider"); r.status != http.StatusSeeOther {
				t.Errorf("%d", r.status)
			}
		})
	}
	done.Wait()
	if console.Patience(&console.Provider{}) <= 0 {
		t.Error("a provider is waited for without an end")
	}
}

var goesOn = regexp.MustCompile(`http-equiv="refresh" content="0;url=([^"]*)"`)

// TestAttackReturn begins sign-ins with a provider that are to lead elsewhere at their end.
func TestAttackReturn(t *testing.T) {
	p := startProvider(t)
	p.issues = func(nonce string) (string, string) { return jwt(nonce, "good"), "opaque" }
	s := openWith(t, func(s *site, c *console.Config) {
		c.SignIn = &console.Provider{Issuer: p.URL, Client: "pages", Secret: clientSecret, URL: s.URL, HTTP: p.Client()}
	}, ".good")
	for _, to := range []string{
		"https://evil.example", "//evil.example", "/\\evil.example", "/\t/evil.example", "/\x00/evil.example", "javascript:alert(1)", "/..//evil.example", "/.//evil.example", "/;url=//evil.example", `/"><script>alert(1)</script>`, "'//evil.example'", "/sign-out",
		"/x\" http-equiv=\"refresh", "/%2f/evil.example", " //evil.example", "/" + strings.Repeat("a", 9000),
	} {
		b := s.browser()
		r := b.get("/sign-in/provider?" + url.Values{"to": {to}}.Encode())
		asked := must(b.Do(must(http.NewRequestWithContext(t.Context(), http.MethodGet, r.to, http.NoBody))))
		_ = asked.Body.Close()
		r = b.get(must(url.Parse(asked.Header.Get("Location"))).RequestURI())
		found := goesOn.FindStringSubmatch(r.body)
		if r.status != http.StatusOK || found == nil || strings.Contains(r.body, "<script>alert") {
			t.Errorf("%.40q: %d\n%s", to, r.status, r.body)
			continue
		}
		at, err := url.Parse(s.URL)
		if err == nil {
			at, err = at.Parse(html.UnescapeString(found[1]))
		}
		if err != nil || "http://"+at.Host != s.URL || at.Scheme != "http" || !strings.HasPrefix(found[1], "/") || strings.HasPrefix(found[1], "//") || strings.ContainsAny(found[1], "\\\t\n\x00") || len(found[1]) > 3000 {
			t.Errorf("%.40q leads to %q", to, found[1])
		}
	}
}
