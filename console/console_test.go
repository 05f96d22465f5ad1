package console_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/console"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

const tenant dag.Tenant = "acme"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A clock is set by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A site is a service with its console, over loopback.
type site struct {
	*httptest.Server
	t      *testing.T
	kernel *kernel.Kernel
	clock  *clock
	keys   map[access.Role]string
	ids    map[access.Role]string
	paths  []string
	log    logged
}

// logged keeps what the service writes to its log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func open(t *testing.T) *site {
	t.Helper()
	return openWith(t, func(*site, *console.Config) {}, "")
}

// openWith opens a site whose console is changed first. The service takes any text that ends with token as that of an auditor; "": none.
func openWith(t *testing.T, change func(*site, *console.Config), ending string) *site {
	t.Helper()
	s := &site{t: t, clock: &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, keys: map[access.Role]string{}, ids: map[access.Role]string{}}
	secret := must(token.NewSecret(bytes.Repeat([]byte{1}, token.MinSecret)))
	authority := token.NewAuthority(must(token.Keyring{}.Rotate("k1", secret, 1)))
	s.kernel = must(kernel.Open(kernel.Config{
		Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: authority, Clock: s.clock.Now, Identity: must(identity.New(rand.NewChaCha8([32]byte{1}), "kernel.example", 1)),
	}))
	s.Server = httptest.NewUnstartedServer(nil)
	s.URL = "http://" + s.Listener.Addr().String()
	service := must(server.New(t.Context(), server.Config{
		Authenticate: func(ctx context.Context, bearer string) (access.Identity, error) {
			if ending != "" && strings.HasSuffix(bearer, ending) {
				return access.Identity{Tenant: tenant, Role: access.Auditor, Subject: "anna"}, nil
			}
			return s.kernel.Keys().Authenticate(ctx, bearer)
		},
		Kernel: s.kernel, Log: slog.New(slog.NewJSONHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Readings: []dag.Tenant{tenant}, Clock: time.Now, Limits: server.Limits{Rate: -1, AuthFailures: -1},
		Pages: func(service http.Handler) ([]string, server.Pages, error) {
			config := console.Config{Service: service, Clock: s.clock.Now, Secret: must(authority.Secret("console")), Version: "test"}
			change(s, &config)
			c, err := console.New(config)
			if err != nil {
				return nil, nil, err
			}
			s.paths = c.Paths()
			return s.paths, c, nil
		},
	}))
	for _, role := range access.Roles {
		text, k, err := s.kernel.Keys().Create(t.Context(), tenant, role, "")
		if err != nil {
			t.Fatal(err)
		}
		s.keys[role], s.ids[role] = text, k.ID
	}
	s.Config.Handler = service
	s.URL = ""
	s.Start()
	t.Cleanup(func() {
		service.Stop()
		s.Close()
	})
	return s
}

// A browser keeps cookies and follows nothing by itself.
type browser struct {
	*http.Client
	site *site
}

func (s *site) browser() *browser {
	return &browser{&http.Client{Jar: must(cookiejar.New(nil)), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, s}
}

// A reply is what came back.
type reply struct {
	status   int
	header   http.Header
	body, to string
	cookies  []*http.Cookie
}

func (b *browser) do(method, path string, form url.Values, header ...string) reply {
	b.site.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := must(http.NewRequestWithContext(context.Background(), method, b.site.URL+path, body))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := b.Do(r)
	if err != nil {
		b.site.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text := must(io.ReadAll(resp.Body))
	return reply{resp.StatusCode, resp.Header, string(text), resp.Header.Get("Location"), resp.Cookies()}
}

func (b *browser) get(path string, header ...string) reply {
	b.site.t.Helper()
	return b.do(http.MethodGet, path, nil, header...)
}

var tokenField = regexp.MustCompile(`name="token" value="([0-9a-f]+)"`)

// tokenOf returns the token of the forms of a page.
func (r reply) token() string {
	if found := tokenField.FindStringSubmatch(r.body); found != nil {
		return found[1]
	}
	return ""
}

// signIn signs in with a key.
func (b *browser) signIn(key string) reply {
	b.site.t.Helper()
	form := b.get("/sign-in?to=/ledger")
	return b.do(http.MethodPost, "/sign-in", url.Values{"token": {form.token()}, "key": {key}, "to": {"/ledger"}})
}

// signedIn is a browser of somebody of a role.
func (s *site) signedIn(role access.Role) *browser {
	s.t.Helper()
	b := s.browser()
	if r := b.signIn(s.keys[role]); r.status != http.StatusSeeOther || r.to != "/ledger" {
		s.t.Fatalf("signing in: %d to %q\n%s", r.status, r.to, r.body)
	}
	return b
}

// enters reports whether a browser is signed in.
func (b *browser) enters() bool {
	b.site.t.Helper()
	r := b.get("/policies")
	if r.status != http.StatusOK && !strings.HasPrefix(r.to, "/sign-in?") {
		b.site.t.Fatalf("%d to %q\n%s", r.status, r.to, r.body)
	}
	return r.status == http.StatusOK
}

func TestSignIn(t *testing.T) {
	s := open(t)
	b := s.browser()
	if r := b.get("/turns/abcd?all=1"); r.status != http.StatusSeeOther || r.to != "/sign-in?to=%2Fturns%2Fabcd%3Fall%3D1" {
		t.Errorf("without a sign-in: %d to %q", r.status, r.to)
	}
	for name, key := range map[string]string{
		"none": "", "another": strings.Replace(s.keys[access.Admin], "gk1", "gk2", 1), "of nobody": s.keys[access.Admin][:len(s.keys[access.Admin])-4] + "0000", "with a space": "a b", "long": strings.Repeat("a", 5000),
	} {
		r := b.signIn(key)
		if r.status != http.StatusUnauthorized || strings.Contains(r.body, s.keys[access.Admin]) || b.enters() {
			t.Errorf("key %s: %d", name, r.status)
		}
	}
	r := b.signIn("  " + s.keys[access.Auditor] + "\n")
	if r.status != http.StatusSeeOther || r.to != "/ledger" || !b.enters() {
		t.Fatalf("%d to %q\n%s", r.status, r.to, r.body)
	}
	var c *http.Cookie
	for _, one := range r.cookies {
		if one.MaxAge > 0 {
			c = one
		}
	}
	if c == nil || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge > 1800 || strings.Contains(c.Value, s.keys[access.Auditor]) {
		t.Errorf("the cookie is %+v", c)
	}
}

// TestSecureCookie holds that over TLS the cookie is for TLS alone and for this host alone.
func TestSecureCookie(t *testing.T) {
	s := open(t)
	r := s.browser().get("/sign-in", "X-Forwarded-Proto", "https")
	if len(r.cookies) != 1 || !r.cookies[0].Secure || !strings.HasPrefix(r.cookies[0].Name, "__Host-") {
		t.Errorf("cookies are %v", r.cookies)
	}
}

// TestSignInEnds ends sign-ins in every way there is.
func TestSignInEnds(t *testing.T) {
	s := open(t)
	t.Run("idle", func(t *testing.T) {
		b := s.signedIn(access.Auditor)
		for range 3 {
			s.clock.pass(29 * time.Minute)
			if !b.enters() {
				t.Fatal("ended before half an hour without a page")
			}
		}
		s.clock.pass(30 * time.Minute)
		if b.enters() {
			t.Error("goes on after half an hour without a page")
		}
	})
	t.Run("old", func(t *testing.T) {
		b := s.signedIn(access.Auditor)
		for range 30 {
			s.clock.pass(24 * time.Minute)
			b.enters()
		}
		if b.enters() {
			t.Error("goes on after twelve hours")
		}
	})
	t.Run("sign-out", func(t *testing.T) {
		b := s.signedIn(access.Auditor)
		at := must(url.Parse(s.URL))
		thief := s.browser()
		thief.Jar.SetCookies(at, b.Jar.Cookies(at))
		if !thief.enters() {
			t.Fatal("a copy of a cookie does not work, so this shows nothing")
		}
		token := b.get("/").token()
		if r := b.do(http.MethodPost, "/sign-out", url.Values{"token": {token}}); r.status != http.StatusSeeOther || b.enters() {
			t.Errorf("%d", r.status)
		}
		if thief.enters() {
			t.Error("a copy of the cookie outlives the sign-out")
		}
	})
	t.Run("revoked", func(t *testing.T) {
		b := s.signedIn(access.Verifier)
		if _, err := s.kernel.Keys().Revoke(t.Context(), tenant, s.ids[access.Verifier]); err != nil {
			t.Fatal(err)
		}
		if b.enters() {
			t.Error("goes on with a key that was revoked")
		}
	})
}

// TestMangledCookie changes each character of a cookie, and gives each cookie for the other.
func TestMangledCookie(t *testing.T) {
	s := open(t)
	at := must(url.Parse(s.URL))
	b := s.signedIn(access.Auditor)
	b.get("/sign-in") // begins another, which has a cookie of its own
	cookies := b.Jar.Cookies(at)
	if len(cookies) != 2 {
		t.Fatalf("%d cookies", len(cookies))
	}
	tries := 0
	try := func(name, value string) {
		t.Helper()
		tries++
		forger := s.browser()
		forger.Jar.SetCookies(at, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
		if forger.enters() {
			t.Errorf("%s=%s is taken", name, value)
		}
	}
	for i, c := range cookies {
		if c.Name != "graphkernel" {
			try("graphkernel", c.Value)
			continue
		}
		for n := range c.Value {
			other := byte('A')
			if c.Value[n] == 'A' {
				other = 'Q'
			}
			try(c.Name, c.Value[:n]+string(other)+c.Value[n+1:])
		}
		try(c.Name, c.Value[:len(c.Value)-1])
		try(c.Name, "")
		_ = i
	}
	if tries < 100 {
		t.Errorf("%d tries", tries)
	}
}

// TestForms sends forms that another site could have made the browser send.
func TestForms(t *testing.T) {
	s := open(t)
	b := s.signedIn(access.Admin)
	own := b.get("/keys").token()
	other := s.signedIn(access.Admin).get("/keys").token()
	if own == "" || own == other {
		t.Fatalf("tokens %q and %q", own, other)
	}
	count := func() int { return strings.Count(b.get("/keys").body, "<code>") }
	before := count()
	for name, c := range map[string]struct {
		token  string
		header []string
	}{
		"no token": {"", nil}, "a token of another sign-in": {other, nil}, "another site": {own, []string{"Sec-Fetch-Site", "cross-site"}},
		"another host of this site": {own, []string{"Sec-Fetch-Site", "same-site"}}, "typed": {own, []string{"Sec-Fetch-Site", "none"}},
		"another origin": {own, []string{"Origin", "https://evil.example"}}, "no origin": {own, []string{"Origin", "null"}},
	} {
		r := b.do(http.MethodPost, "/keys", url.Values{"token": {c.token}, "role": {"admin"}}, c.header...)
		if r.status != http.StatusForbidden || count() != before {
			t.Errorf("%s: %d", name, r.status)
		}
	}
	r := b.do(http.MethodPost, "/keys", url.Values{"token": {own}, "role": {"verifier"}, "note": {"<script>alert(1)</script>"}}, "Sec-Fetch-Site", "same-origin", "Origin", s.URL)
	made := regexp.MustCompile(`gk1\.acme\.[0-9a-f]+\.[0-9a-f]+`).FindString(r.body)
	if r.status != http.StatusOK || made == "" || strings.Contains(r.body, "<script>alert") || strings.Contains(b.get("/keys").body, made) {
		t.Errorf("%d, key %q", r.status, made)
	}
	// Revoking asks first.
	id := strings.Split(made, ".")[2]
	if r := b.do(http.MethodPost, "/keys/"+id+"/revoke", url.Values{"token": {own}}); r.to != "/keys?revoke="+id {
		t.Errorf("revoking at once: %d to %q", r.status, r.to)
	}
	if s.browserEnters(made); !strings.Contains(b.get("/keys?revoke="+id).body, "cannot be undone") {
		t.Error("revoking does not ask")
	}
	if r := b.do(http.MethodPost, "/keys/"+id+"/revoke", url.Values{"token": {own}, "sure": {"yes"}}); r.to != "/keys" || s.browserEnters(made) {
		t.Errorf("revoking: %d to %q", r.status, r.to)
	}
	// A sign-in cannot be made by another site either.
	stranger := s.browser()
	if r := stranger.do(http.MethodPost, "/sign-in", url.Values{"key": {s.keys[access.Admin]}}); r.status != http.StatusForbidden || stranger.enters() {
		t.Errorf("a sign-in without a form: %d", r.status)
	}
	// Who brings a key in a header needs no token: no browser sends that by itself.
	program := s.browser()
	if r := program.do(http.MethodPost, "/policies", url.Values{"policy": {`{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":8}}`}}, "Authorization", "Bearer "+s.keys[access.Admin]); r.to != "/policies/narrow@1" {
		t.Errorf("a form of a program: %d to %q\n%s", r.status, r.to, r.body)
	}
}

func (s *site) browserEnters(key string) bool {
	return s.browser().get("/policies", "Authorization", "Bearer "+key).status == http.StatusOK
}

// TestRedirects gives a sign-in places that are not of this console.
func TestRedirects(t *testing.T) {
	s := open(t)
	for _, to := range []string{"https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "/\t/evil.example", "/\n/evil", "/sign-out", "", "evil", "/sign-in?to=//evil"} {
		b := s.browser()
		form := b.get("/sign-in?" + url.Values{"to": {to}}.Encode())
		r := b.do(http.MethodPost, "/sign-in", url.Values{"token": {form.token()}, "key": {s.keys[access.Auditor]}, "to": {to}})
		if r.status != http.StatusSeeOther || r.to != "/" {
			t.Errorf("to %q: %d to %q", to, r.status, r.to)
		}
	}
}

// hostile are texts that would run, hide or reorder something if a page let them.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `'-alert(1)-'`, `</title><script>alert(1)</script>`, `{{.}}`, `javascript:alert(1)`,
	"before \u202etxt.exe\u202c after", "zero\u200bwidth\ufeff", "\x1b[31mred\x1b[0m \x07", "tag \U000e0041\U000e0042", "line\u2028separator", "<!--", "&lt;script&gt;", "</textarea><script>alert(1)</script>",
}

// post asks the service itself.
func (s *site) post(path, body string) *http.Response {
	s.t.Helper()
	r := must(http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body)))
	r.Header.Set("Authorization", "Bearer "+s.keys[access.Admin])
	r.Header.Set("Content-Type", "application/json")
	resp := must(http.DefaultClient.Do(r))
	text := must(io.ReadAll(resp.Body))
	_ = resp.Body.Close()
	if resp.StatusCode >= 300 {
		s.t.Fatalf("POST %s: %d\n%s", path, resp.StatusCode, text)
	}
	return resp
}

func quoted(v any) string { return string(must(json.Marshal(v))) }

const beliefItem = "kref://acme/desk/made.fact"

const conversation = "00000000-0000-4000-8000-00000000000c"

func turnID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n+1) }

// fill admits turns with hostile texts, hands evidence of them out, and learns facts from them. It returns pages that show them.
func (s *site) fill() []string {
	s.t.Helper()
	var turns []map[string]any
	for i, text := range hostile {
		label := strings.Map(func(r rune) rune { // an attribute holds no control characters
			if r < ' ' {
				return -1
			}
			return r
		}, text)
		turn := map[string]any{
			"id": turnID(i), "conversation": conversation, "role": []string{"user", "assistant", "tool"}[i%3], "author": "human:<b>eve</b>", "created_at": fmt.Sprintf("2026-01-02T03:04:%02dZ", i),
			"content": text + " deployment", "attrs": map[string]string{"title": label, "cwd": label},
		}
		if i > 0 {
			turn["parents"] = []map[string]string{{"id": turnID(i - 1), "kind": "reply"}}
		}
		turns = append(turns, turn)
	}
	s.post("/api/turns", quoted(map[string]any{"turns": turns}))
	last := turnID(len(hostile) - 1)
	slice := s.post("/api/slice", quoted(map[string]string{"anchor": last})).Header.Get("Slice-Id")
	older := s.post("/api/slice", quoted(map[string]string{"anchor": turnID(3), "policy": "default@1"})).Header.Get("Slice-Id")
	context := s.post("/api/context", quoted(map[string]any{"task": "deployment " + hostile[0], "anchor": last, "format": "bundle", "budget": 60})).Header.Get("Slice-Id")
	s.post("/api/knowledge/batch", quoted(map[string]any{"facts": []map[string]any{
		{"subject": hostile[0], "predicate": "uses", "object": hostile[1], "source": hostile[0], "turn": last},
		{"subject": "url:javascript:alert(1)", "predicate": "calls", "object": hostile[0], "source": "x"},
	}}))
	s.post("/api/spaces", `{"space":"acme/desk"}`)
	believe := func(operator string, more map[string]any) {
		asked := map[string]any{"space": "acme/desk", "title": hostile[1], "summary": hostile[2], "reason": hostile[0], "keywords": []string{hostile[3]}}
		for name, value := range more {
			asked[name] = value
		}
		s.post("/api/beliefs/"+operator, quoted(asked))
	}
	claim := func(subject, object string, not bool) []map[string]any {
		return []map[string]any{{"subject": subject, "predicate": "is", "object": object, "not": not}}
	}
	believe("revise", map[string]any{"item": beliefItem, "statements": claim(hostile[0], "x", false), "turns": []string{turnID(1)}})
	believe("revise", map[string]any{"statements": claim("lamp", "red", false), "premises": claim(hostile[0], "x", false)})
	believe("revise", map[string]any{"item": beliefItem, "statements": append(claim(hostile[0], "x", false), claim(hostile[4], "y", true)...), "turns": []string{turnID(1), turnID(2)}})
	s.post("/api/krefs/tag", quoted(map[string]any{"ref": beliefItem, "tag": "published", "revision": 2}))
	s.post("/api/beliefs/propose", quoted(map[string]any{"space": "acme/desk", "statements": claim(hostile[4], "y", false), "reason": hostile[0]}))
	facts := s.post("/api/knowledge/slice", quoted(map[string]any{"start": hostile[0]})).Header.Get("Slice-Id")
	if slice == "" || older == "" || context == "" || facts == "" {
		s.t.Fatal("nothing was handed out")
	}
	paths := []string{
		"/", "/conversations", "/conversations/" + conversation, "/slices", "/slices?kind=context", "/slices/" + slice, "/slices/" + slice + "?replay=1&explain=" + turnID(0), "/contexts/" + context, "/slices/" + facts, "/facts",
		"/atlas", "/atlas?part=influence&by=rank", "/atlas?part=overlap", "/atlas?part=turns", "/atlas?part=facts", "/atlas?part=nothing", "/turns/" + last + "?blame=1",
		"/compare", "/compare?a=" + slice + "&b=" + older, "/ledger", "/ledger?from=1", "/ledger?leaf=0", "/ledger?leaf=x", "/policies", "/policies/default@2", "/keys", "/search",
		"/beliefs", "/beliefs?space=acme/desk", "/beliefs/item?ref=" + beliefItem, "/beliefs/item?ref=" + url.QueryEscape(beliefItem+"?r=1"),
		"/beliefs/why?space=acme/desk&subject=lamp&predicate=is&object=red", "/beliefs/why?space=acme/desk&subject=lamp&predicate=is&object=blue", "/beliefs/conflicts?space=acme/desk", "/beliefs/diff?space=acme/desk&from=0", "/beliefs/diff?space=acme/desk&from=1",
		"/facts/url:javascript:alert(1)", "/facts/" + url.PathEscape("script-alert-1-script"), "/slices/" + slice[:6], "/turns/" + last[:8],
	}
	for i, text := range hostile {
		paths = append(paths, "/turns/"+turnID(i), "/search?"+url.Values{"q": {text}, "author": {text}, "project": {text}, "explain": {"1"}}.Encode(), "/facts?"+url.Values{"q": {text}}.Encode())
	}
	return paths
}

// runs is what would run in a page: a script or a style that is not ours, a handler, an address that is a script.
var runs = regexp.MustCompile(`(?i)<script(?: [^>]*)?>[^<]|<script [^>]*src="[^/]|<[a-z]+ [^>]*\son[a-z]+\s*=|<style|\sstyle=|(?:href|src|action)="?\s*(?:javascript|data|vbscript):|<iframe|<object|<embed|<base|<meta http-equiv`)

var fieldValue = regexp.MustCompile(` value="[^"]*"`)

// TestHostileTexts reads every page with texts that would run, hide or reorder something.
func TestHostileTexts(t *testing.T) {
	s := open(t)
	paths := s.fill()
	b := s.signedIn(access.Admin)
	for _, path := range paths {
		r := b.get(path)
		if r.status != http.StatusOK && r.status != http.StatusSeeOther && (r.status != http.StatusConflict || path != "/turns/00000000") && path != "/atlas?part=nothing" {
			t.Errorf("%s: %d\n%s", path, r.status, r.body)
		}
		r.body = fieldValue.ReplaceAllString(r.body, "") // what was typed stays as it is
		if found := runs.FindString(r.body); found != "" {
			t.Errorf("%s would run %q", path, found)
		}
		if at := strings.IndexFunc(r.body, func(c rune) bool {
			return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || strings.ContainsRune("\u202e\u202c\u200b\ufeff\u2028\U000e0041", c)
		}); at >= 0 {
			t.Errorf("%s has a character that acts: %q", path, r.body[max(0, at-60):min(len(r.body), at+20)])
		}
	}
	whole := b.get("/conversations/" + conversation).body
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", "U+202E", "U+200B", "U+FEFF", "\u241b</span>[31m", "U+E0041", "U+2028", "{{.}}", "&amp;lt;script"} {
		if !strings.Contains(whole, want) {
			t.Errorf("the conversation does not show %q", want)
		}
	}
}

// TestRoles reads every page as each role: what the service refuses, a page does not show.
func TestRoles(t *testing.T) {
	s := open(t)
	paths := s.fill()
	seen := 0
	for _, role := range access.Roles {
		b := s.signedIn(role)
		for _, path := range paths {
			r := b.get(path)
			texts := strings.Contains(r.body, "deployment") && !strings.Contains(path, "deployment")
			switch {
			case r.status != http.StatusOK && r.status != http.StatusSeeOther && r.status != http.StatusForbidden && r.status != http.StatusNotFound && r.status != http.StatusConflict:
				t.Errorf("%s as %s: %d", path, role, r.status)
			case texts && !role.May(access.Read) && !role.May(access.Recall):
				t.Errorf("%s shows texts to a %s", path, role)
			case strings.HasPrefix(path, "/keys") && r.status == http.StatusOK && !role.May(access.ManageKeys):
				t.Errorf("%s shows keys to a %s", path, role)
			case texts:
				seen++
			}
		}
		if r := b.do(http.MethodPost, "/keys", url.Values{"token": {b.get("/").token()}, "role": {"admin"}}); (r.status == http.StatusOK) != role.May(access.ManageKeys) {
			t.Errorf("making a key as %s: %d", role, r.status)
		}
	}
	if seen == 0 {
		t.Error("nobody was shown anything")
	}
}

// TestHeaders holds every answer, errors too, to the policy of what a page may load and do.
func TestHeaders(t *testing.T) {
	s := open(t)
	paths := append(s.fill(), "/sign-in", "/turns/nothing", "/slices/0000000000000000", "/conversations/x", "/policies/none@1")
	b := s.signedIn(access.Admin)
	for _, who := range []*browser{b, s.browser()} {
		for _, path := range paths {
			r := who.get(path)
			csp := r.header.Get("Content-Security-Policy")
			for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"} {
				if !strings.Contains(csp, want) {
					t.Errorf("%s: the policy %q lacks %q", path, csp, want)
				}
			}
			if r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Cache-Control") != "no-store" || r.header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(csp, "unsafe") {
				t.Errorf("%s: headers are %v", path, r.header)
			}
		}
	}
	for _, name := range []string{"console.css", "console.mjs", "gkverify.mjs", "icon.svg"} {
		r := b.get("/assets/" + name)
		if r.status != http.StatusOK || r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Content-Type") == "" {
			t.Errorf("%s: %d, %v", name, r.status, r.header)
		}
		if r := b.get("/assets/"+name, "If-None-Match", r.header.Get("ETag")); r.status != http.StatusNotModified {
			t.Errorf("%s again: %d", name, r.status)
		}
	}
	if r := b.get("/assets/..%2fconsole.go"); r.status != http.StatusNotFound {
		t.Errorf("a file that is no asset: %d", r.status)
	}
}

// TestNoPage asks for paths without a page: a browser gets a page that says so, after it signed in, and programs get a problem.
func TestNoPage(t *testing.T) {
	s := open(t)
	b := s.signedIn(access.Auditor)
	const html = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
	for _, path := range []string{"/nope", "/turns", "/slices/1/2/3"} {
		if r := b.get(path, "Accept", html); r.status != http.StatusNotFound || !strings.Contains(r.body, "there is no page &#34;"+path+"&#34;") || r.header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d\n%s", path, r.status, r.body)
		}
	}
	if r := s.browser().get("/nope", "Accept", html); !strings.HasPrefix(r.to, "/sign-in") {
		t.Errorf("without signing in: %d to %q", r.status, r.to)
	}
	if r := b.get("/contexts"); r.to != "/slices" {
		t.Errorf("/contexts: %d to %q", r.status, r.to)
	}
	for path, accept := range map[string]string{"/nope": "*/*", "/api/nope": html} {
		if r := b.get(path, "Accept", accept); r.status != http.StatusNotFound || r.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", path, r.status, r.header.Get("Content-Type"))
		}
	}
}

// TestDownloads holds that files of evidence are what the service hands out, byte for byte.
func TestDownloads(t *testing.T) {
	s := open(t)
	s.fill()
	b := s.signedIn(access.Auditor)
	id := regexp.MustCompile(`/slices/([0-9a-f]{16})"`).FindStringSubmatch(b.get("/slices?kind=slice").body)[1]
	want := s.browser().get("/api/slices/"+id+"/bundle", "Authorization", "Bearer "+s.keys[access.Auditor])
	got := b.get("/slices/" + id + "/bundle.json")
	if got.body != want.body || len(got.body) < 100 || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%d bytes, want %d; %v", len(got.body), len(want.body), got.header)
	}
	for name, begins := range map[string]string{"attestation.json": `{"payload"`, "slice.tlog-proof": "c2sp.org/tlog-proof@v1", "trust": "# The keys", "prov.json": "{", "openlineage.json": "{"} {
		if r := b.get("/slices/" + id + "/" + name); r.status != http.StatusOK || !strings.HasPrefix(r.body, begins) {
			t.Errorf("%s: %d %.60q", name, r.status, r.body)
		}
	}
	if r := b.get("/slices/" + id + "/other"); r.status != http.StatusNotFound {
		t.Errorf("another file: %d", r.status)
	}
}

// TestErased reads pages of what was erased.
func TestErased(t *testing.T) {
	s := open(t)
	s.fill()
	b := s.signedIn(access.Admin)
	const erased = "-alert(1)-&#39; deployment"
	if !strings.Contains(b.get("/turns/"+turnID(3)).body, erased) {
		t.Fatal("the turn is not shown, so this shows nothing")
	}
	id, err := dag.ParseTurnID(turnID(3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.kernel.Turns().Erase(t.Context(), tenant, id, "asked to"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/turns/" + turnID(3), "/conversations/" + conversation, "/search?q=deployment"} {
		r := b.get(path)
		if r.status != http.StatusOK || strings.Contains(r.body, erased) {
			t.Errorf("%s: %d shows a text that was erased", path, r.status)
		}
		if path != "/search?q=deployment" && !strings.Contains(r.body, "The text was erased") {
			t.Errorf("%s does not say that a text was erased", path)
		}
	}
}

// TestPages compares the texts with what a reader of the page is to find.
func TestPages(t *testing.T) {
	s := open(t)
	s.fill()
	b := s.signedIn(access.Auditor)
	context := regexp.MustCompile(`/contexts/([0-9a-f]{16})"`).FindStringSubmatch(b.get("/slices").body)[1]
	for path, want := range map[string][]string{
		"/":                               {"Newest conversations", "acme.kernel.example", "by nobody"},
		"/search?q=0000":                  {"begins so"},
		"/search?q=deployment":            {"15 turns, the best first"},
		"/search?q=deployment&since=now":  {"is no date"},
		"/search?q=deployment&as_of=-1":   {"is no sequence number"},
		"/contexts/" + context:            {"The service: <strong>verified</strong>", "The prompt as the agent saw it", "What is not in it, and why", "Every candidate was chosen|was not chosen|passed over|too costly|budget"},
		"/turns/" + turnID(1):             {"What the agent was shown", "Who was handed it", "What follows it", `<span class="dim">reply</span> <span class="role role-user">`},
		"/ledger?from=1":                  {"begins with the one of size 1"},
		"/ledger?from=99999":              {"role=\"alert\""},
		"/facts":                          {"3 facts about"},
		"/beliefs":                        {"acme/desk", "beliefs@2"},
		"/beliefs?space=acme/desk":        {"3 statements", "by rule", "1 proposal was not taken", "not=1"},
		"/beliefs/item?ref=" + beliefItem: {"leads to revision 2", "Tags in time", "published", "Revision 1", "this would no longer follow", turnID(1)},
		"/beliefs/why?space=acme/desk&subject=lamp&predicate=is&object=red":  {"It follows from", turnID(1), "because"},
		"/beliefs/why?space=acme/desk&subject=lamp&predicate=is&object=blue": {"It is not believed", "Nobody stated it"},
		"/beliefs/conflicts?space=acme/desk":                                 {"Proposed", "made.fact"},
		"/beliefs/diff?space=acme/desk&from=1":                               {"Came"},
		"/beliefs/item?ref=" + url.QueryEscape(beliefItem+"?r=1"):            {"Tags in time"},
		"/beliefs?space=acme/desk&as_of=99999":                               {"99999"},
		"/beliefs/item?ref=%3Cb%3E":                                          {"kref://"},
		"/beliefs?space=none/such":                                           {"none/such"},
	} {
		r := b.get(path)
		for _, text := range want {
			if !regexp.MustCompile(strings.ReplaceAll(text, "(", `\(`)).MatchString(r.body) {
				t.Errorf("%s (%d) does not show %q", path, r.status, text)
			}
		}
	}
}

// TestSearchSessions searches two conversations: hits stand below the name of theirs with their ranks, under the question or above the answer, and nothing that somebody
// wrote runs.
func TestSearchSessions(t *testing.T) {
	s := open(t)
	const bad = `<img src=x onerror=alert(1)>`
	var turns []map[string]any
	add := func(conversation, role, author, content string) {
		n := len(turns)
		turn := map[string]any{
			"id": turnID(n), "conversation": conversation, "role": role, "author": author, "content": content, "created_at": fmt.Sprintf("2026-01-02T03:04:%02dZ", n),
			"attrs": map[string]string{"cwd": "/src/" + bad},
		}
		if role != "user" {
			turn["parents"] = []map[string]string{{"id": turnID(n - 1), "kind": "reply"}}
		}
		turns = append(turns, turn)
	}
	const other = "cccccccc-0000-4000-8000-000000000002"
	add(conversation, "user", "agent:<b>caller</b>", bad+" Where is the harbour?")
	add(conversation, "assistant", "agent:<b>eve</b>", bad+" By the lighthouse.")
	add(other, "user", "agent:caller", "Which lighthouse is lit?")
	add(other, "assistant", "agent:eve", "None.")
	s.post("/api/turns", quoted(map[string]any{"turns": turns}))
	b := s.signedIn(access.Auditor)
	for path, want := range map[string][]string{
		"/search?q=lighthouse&role=assistant": {`<a href="?/conversations/` + conversation + `"?><bdi>[^<]*Where is the harbour`, `>Question</span>.*agent:&lt;b&gt;caller.*Where is the harbour\?.*>1\.</span>.*By the lighthouse`},
		"/search?q=lighthouse&role=user":      {`<a href="?/conversations/` + other + `"?><bdi>Which lighthouse is lit`, `>1\.</span>.*lighthouse is lit.*>Answer</span>.*agent:eve.*None\.`},
	} {
		page := b.get(path).body
		for _, text := range want {
			if !regexp.MustCompile(`(?s)` + text).MatchString(page) {
				t.Errorf("%s does not show %s:\n%s", path, text, page)
			}
		}
		if strings.Contains(page, bad) || strings.Contains(page, "<b>") {
			t.Errorf("%s has what somebody wrote as it is:\n%s", path, page)
		}
	}
}

// TestSearchAddress leads from the address of an item in the search box to the item.
func TestSearchAddress(t *testing.T) {
	s := open(t)
	s.fill()
	r := s.signedIn(access.Auditor).get("/search?q=" + url.QueryEscape(beliefItem+"?r=1"))
	if want := "/beliefs/item?ref=" + url.QueryEscape(beliefItem+"?r=1"); r.status != http.StatusSeeOther || r.to != want {
		t.Errorf("%d to %q, want %q", r.status, r.to, want)
	}
}

// TestFaults lets the service answer what cannot be read, and panic: the page says that something failed and which request it was, and only the log says what.
func TestFaults(t *testing.T) {
	for cause, broken := range map[string]http.HandlerFunc{
		"breaks the contract": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "no JSON") },
		"the disk at slot 7":  func(http.ResponseWriter, *http.Request) { panic("the disk at slot 7") },
	} {
		t.Run(cause, func(t *testing.T) {
			s := openWith(t, func(_ *site, c *console.Config) {
				service := c.Service
				c.Service = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/api/policies" {
						broken(w, r)
						return
					}
					service.ServeHTTP(w, r)
				})
			}, "")
			b := s.signedIn(access.Auditor)
			r := b.get("/policies")
			id := r.header.Get("X-Request-Id")
			if r.status != http.StatusInternalServerError || id == "" || !strings.Contains(r.body, "request "+id) || !strings.Contains(r.body, "<h1>") {
				t.Errorf("%d, request %q\n%s", r.status, id, r.body)
			}
			for _, told := range []string{cause, "/api/", ".go:", "goroutine"} {
				if strings.Contains(r.body, told) {
					t.Errorf("the page tells %q\n%s", told, r.body)
				}
			}
			if n := strings.Count(s.log.String(), id); n != 1 {
				t.Fatalf("%d lines of the log name the request\n%s", n, s.log.String())
			}
			for line := range strings.Lines(s.log.String()) {
				var told struct{ Level, Error, Operation string }
				if strings.Contains(line, id) {
					if err := json.Unmarshal([]byte(line), &told); err != nil || told.Level != "ERROR" || told.Operation != "page" || !strings.Contains(told.Error, cause) {
						t.Errorf("%v: the log says\n%s", err, line)
					}
				}
			}
			if r := b.get("/ledger"); r.status != http.StatusOK { // and the sign-in goes on
				t.Errorf("the page after it: %d", r.status)
			}
		})
	}
}

// TestLive asks for the stream that the home page names after something happened: it begins where the page ends.
func TestLive(t *testing.T) {
	s := open(t)
	s.fill()
	b := s.signedIn(access.Auditor)
	named := regexp.MustCompile(`data-live="([^"]+=([0-9-]+))"`).FindStringSubmatch(b.get("/").body)
	if named == nil {
		t.Fatal("the home page names no stream")
	}
	const late = "00000000-0000-4000-8000-00000000000f"
	s.post("/api/turns", quoted(map[string]any{"turns": []map[string]any{{
		"id": late, "conversation": conversation, "role": "user", "author": "human:anna", "created_at": "2026-01-02T03:04:05Z", "content": "not on the page",
	}}}))
	slice := s.post("/api/slice", quoted(map[string]any{"anchor": late})).Header.Get("Slice-Id")
	resp := must(b.Get(s.URL + html.UnescapeString(named[1])))
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewScanner(resp.Body)
	if in.Scan(); in.Text() != "id: "+named[2] {
		t.Fatalf("the stream begins with %q, want the id %s", in.Text(), named[2])
	}
	for _, want := range []string{late, slice} {
		for in.Scan() && !strings.HasPrefix(in.Text(), "data: ") {
		}
		if !strings.Contains(in.Text(), want) {
			t.Errorf("the stream goes on with %q, want %s", in.Text(), want)
		}
	}
	if r := b.get("/live?last_event_id=9999-0"); r.status != http.StatusBadRequest {
		t.Errorf("an event that is yet to come: %d", r.status)
	}
}
