package console_test

import (
	"context"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/console"
	"github.com/graphkernel/graphkernel/internal/race"
)

// filled writes the path of a route with a text in place of each wildcard.
func filled(t *testing.T, pattern, text string) (method, path string) {
	t.Helper()
	method, path, found := strings.Cut(pattern, " ")
	if !found {
		t.Fatalf("the route %q names no method", pattern)
	}
	path = strings.ReplaceAll(path, "{$}", "")
	for {
		before, rest, found := strings.Cut(path, "{")
		if !found {
			return method, path
		}
		_, after, _ := strings.Cut(rest, "}")
		path = before + text + after
	}
}

// state is what forms change: the keys and the policies of the tenant.
func (s *site) state() (state string) {
	s.t.Helper()
	for _, path := range []string{"/api/keys", "/api/policies"} {
		r := s.browser().get(path, "Authorization", "Bearer "+s.keys[access.Admin])
		if r.status != http.StatusOK {
			s.t.Fatalf("%s: %d\n%s", path, r.status, r.body)
		}
		state += r.body
	}
	return state
}

// TestAttackForms sends every form in each way in which another site, or a page that is too old, could have the browser send it.
func TestAttackForms(t *testing.T) {
	s := open(t)
	victim := s.signedIn(access.Admin)
	own := victim.get("/keys").token()
	stranger := s.browser().get("/sign-in").token()
	other := s.signedIn(access.Admin).get("/keys").token()
	form := url.Values{"role": {"admin"}, "sure": {"yes"}, "key": {s.keys[access.Agent]}, "policy": {`{"policy_id":"evil@1","policy":{"type":"slice_policy_v1","max_nodes":8}}`}}
	attacks := map[string]struct {
		token  string
		header []string
	}{
		"no token": {"", nil}, "a stranger's token": {stranger, nil}, "another sign-in's token": {other, nil}, "a token with a byte more": {own + "0", nil}, "a token in capitals": {strings.ToUpper(own), nil},
		"another site": {own, []string{"Sec-Fetch-Site", "cross-site"}}, "another host of this site": {own, []string{"Sec-Fetch-Site", "same-site"}}, "typed": {own, []string{"Sec-Fetch-Site", "none"}},
		"another origin": {own, []string{"Origin", "https://evil.example"}}, "no origin": {own, []string{"Origin", "null"}}, "an origin that begins alike": {own, []string{"Origin", s.URL + ".evil.example"}},
		"the login of a proxy, and no token":      {"", []string{"Authorization", "Basic eDp5"}},
		"an empty key, and no token":              {"", []string{"Authorization", "Bearer "}},
		"an empty Authorization, and no token":    {"", []string{"Authorization", ""}},
		"bearer in small letters, and no token":   {"", []string{"Authorization", "bearer " + s.keys[access.Admin]}},
		"plain text, as forms can be sent":        {own, []string{"Content-Type", "text/plain"}},
		"a token, but of no content type":         {own, []string{"Content-Type", "application/json"}},
		"a token in the address and not the form": {"address", nil},
	}
	before, tried := s.state(), 0
	for _, pattern := range console.Patterns() {
		method, path := filled(t, pattern, s.ids[access.Verifier])
		if method != http.MethodPost {
			continue
		}
		for name, a := range attacks {
			tried++
			sent, at := maps.Clone(form), path
			if sent.Set("token", a.token); a.token == "address" {
				sent.Del("token")
				at += "?token=" + own
			}
			r := victim.do(method, at, sent, a.header...)
			if r.status < 400 || len(r.cookies) > 0 && r.status != http.StatusUnauthorized || s.state() != before {
				t.Errorf("%s with %s: %d, cookies %v", pattern, name, r.status, r.cookies)
			}
		}
	}
	if tried < 5*len(attacks) || !victim.enters() {
		t.Errorf("%d attacks; signed in: %v", tried, victim.enters())
	}
	if r := victim.do(http.MethodPost, "/policies", url.Values{"token": {own}, "policy": form["policy"]}, "Sec-Fetch-Site", "same-origin", "Origin", s.URL); r.to != "/policies/evil@1" || s.state() == before {
		t.Errorf("the same form, sent well: %d, so the attacks show nothing", r.status)
	}
}

// parameters are what pages read from the query of their addresses.
var parameters = []string{"to", "q", "after", "as_of", "kind", "bundle", "explain", "replay", "a", "b", "statement", "part", "by", "from", "leaf", "revoke", "all", "blame", "state", "code", "error", "since", "policy", "role", "conversation"}

// shown is a page as its reader sees it: without what was typed into fields, which stays as it was.
func (r reply) shown() string { return fieldValue.ReplaceAllString(r.body, "") }

// check holds any answer of the console to what it must never be.
func (s *site) check(what string, r reply) {
	s.t.Helper()
	if r.header.Get("Content-Type") == "application/problem+json" && r.header.Get("X-Content-Type-Options") == "nosniff" {
		return // it is no address of the console, and no page
	}
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if !strings.Contains(r.header.Get(name), want) {
			s.t.Errorf("%s: %d without %s: %v", what, r.status, name, r.header)
		}
	}
	if c := r.header.Get("Cache-Control"); c != "no-store" && !strings.Contains(what, "/assets/") {
		s.t.Errorf("%s: %d may be kept: %q", what, r.status, c)
	}
	if r.status >= 500 {
		s.t.Errorf("%s: %d\n%s", what, r.status, r.body)
	}
	if to, err := url.Parse(r.to); err != nil || to.Host != "" || to.Scheme != "" || r.to != "" && (r.to[0] != '/' || strings.HasPrefix(r.to, "//") || strings.Contains(r.to, "\\")) {
		s.t.Errorf("%s: %d leads to %q", what, r.status, r.to)
	}
	if found := runs.FindString(r.shown()); found != "" {
		s.t.Errorf("%s: %d would run %q", what, r.status, found)
	}
	if at := strings.IndexFunc(r.shown(), acts); at >= 0 {
		s.t.Errorf("%s: %d has a character that acts: %q", what, r.status, r.shown()[max(0, at-60):min(len(r.shown()), at+20)])
	}
	for role, key := range s.keys {
		if strings.Contains(r.body+quoted(r.header), strings.Split(key, ".")[3]) {
			s.t.Errorf("%s: %d shows the key of the %s", what, r.status, role)
		}
	}
}

// acts reports whether a character does something to a page, or is not seen.
func acts(c rune) bool {
	return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || strings.ContainsRune("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\u061c\ufeff\u2028\u2029\u034f\u180b\u2800\U000e0041", c)
}

// TestAttackAddresses asks every route for ids, names and parameters that lead elsewhere, that run, or that cannot be read.
func TestAttackAddresses(t *testing.T) {
	s := open(t)
	admin, stranger := s.signedIn(access.Admin), s.browser()
	evil := []string{
		"..", "..%2f..%2fapi%2fkeys", "%2e%2e", "%2f%2fevil.example", "%5cevil.example", "/evil.example", "//evil.example/..", "x%00y", "%ff", "%0d%0aSet-Cookie:%20a=b", "x%26a%3Db%23c", "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
		"%22%3E%3Csvg%20onload=alert(1)%3E", "javascript:alert(1)", "%E2%80%AEtxt.exe", "%F3%A0%81%81", "00000000-0000-4000-8000-00000000ffff", "0000000000000000", strings.Repeat("a", 5000), "https://evil.example/", "%7B%7B.%7D%7D",
	}
	least := 700
	if race.Enabled { // one request after the other: little for the race detector
		evil, least = evil[:3], 100
	}
	tried := 0
	for _, pattern := range console.Patterns() {
		if pattern == "GET /live" {
			continue // see TestAttackLive
		}
		for _, text := range evil {
			method, path := filled(t, pattern, text)
			tried++
			s.check(method+" "+path, admin.do(method, path, nil, "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "http"))
			s.check("as a stranger, "+method+" "+path, stranger.do(method, path, nil, "X-Original-URL", "/keys", "X-Forwarded-Host", "evil.example"))
		}
		method, path := filled(t, pattern, s.ids[access.Verifier])
		const text = "//evil.example/..%2F%5C%0D%0AX:y%22%3E%3Csvg%20onload=alert(1)%3E{{.}}%E2%80%AE%00"
		for i, parameter := range parameters {
			if i > 0 && strings.Contains(pattern, "{") {
				break // its id is refused before
			}
			tried++
			at := path + "?" + parameter + "=" + text
			s.check(method+" "+at, admin.do(method, at, nil, "Referer", "https://evil.example", "Accept-Language", text))
			s.check(method+" "+at+"%FF", admin.do(method, at+"%FF", nil))
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			_, path := filled(t, pattern, "x")
			s.check(method+" "+path, admin.do(method, path, nil))
			s.check(method+" "+path+"/", admin.do(method, strings.Replace(path, "/", "/x/", 1), nil, "Range", "bytes=0-1"))
		}
	}
	for _, path := range []string{"/facts/..//evil.example", "/turns//x", "/turns/a/b", "/turns/", "/assets/x", "/assets/..%2fconsole.go", "/search?q=%zz", "/search?a;b", "/slices/x/..%2fy"} {
		s.check(path, admin.get(path))
		s.check(path, stranger.get(path))
	}
	if tried < least {
		t.Errorf("%d attacks", tried)
	}
}

// TestAttackFormsCut sends forms that cannot be read whole: a key must not be made of what could be read.
func TestAttackFormsCut(t *testing.T) {
	s := open(t)
	for name, c := range map[string]struct {
		body, media string
		status      int
	}{
		"a bad escape": {"role=admin&note=%zz&authors=human:a", "application/x-www-form-urlencoded", http.StatusBadRequest},
		"a semicolon":  {"role=admin&authors=human:a;b", "application/x-www-form-urlencoded", http.StatusBadRequest},
		"no UTF-8":     {"role=admin&note=%ff", "application/x-www-form-urlencoded", http.StatusBadRequest},
		"too long":     {"role=admin&note=" + strings.Repeat("a", 1<<20), "application/x-www-form-urlencoded", http.StatusRequestEntityTooLarge},
		"parts":        {"--b\r\nContent-Disposition: form-data; name=role\r\n\r\nadmin\r\n--b\r\nContent-Disposition: form-data; na", "multipart/form-data; boundary=b", http.StatusUnsupportedMediaType},
		"plain text":   {"role=admin", "text/plain", http.StatusUnsupportedMediaType},
		"of no type":   {"role=admin", "", http.StatusUnsupportedMediaType},
	} {
		before := s.state()
		r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/keys", strings.NewReader(c.body)))
		r.Header.Set("Content-Type", c.media)
		r.Header.Set("Authorization", "Bearer "+s.keys[access.Admin])
		resp := must(http.DefaultClient.Do(r))
		_ = resp.Body.Close()
		if resp.StatusCode != c.status || s.state() != before {
			t.Errorf("%s: %d, want %d; made a key: %v", name, resp.StatusCode, c.status, s.state() != before)
		}
	}
}

// TestAttackNames learns facts whose names run, hide, reorder, or lead elsewhere, and follows every link to them.
func TestAttackNames(t *testing.T) {
	s := open(t)
	const hidden = "\u202e\u2066\u200b\ufeff\u034f\u180b\u2800\U000e0041"
	names := []string{
		"url:https://evil.example//a/../b?x=1#f", "file:/../../keys", "file:../../sign-out", "..", "/../keys", "a/", "url:javascript:alert(1)", "cmd:<img src=x onerror=alert(1)>\n\"'", "url:https://e.example/" + hidden, "branch:" + hidden,
		"https://e.example//", "cmd:a%2fb%00", "c#", "file:/a/./b", "version:\x1b[31m",
	}
	var facts []map[string]any
	for i, name := range names {
		facts = append(facts, map[string]any{"subject": name, "predicate": "uses " + hidden, "object": names[(i+1)%len(names)], "source": "<b>x</b>"})
	}
	s.post("/api/knowledge/batch", quoted(map[string]any{"facts": facts}))
	slice := s.post("/api/knowledge/slice", quoted(map[string]any{"start": names[0]})).Header.Get("Slice-Id")
	b := s.signedIn(access.Admin)
	links := map[string]bool{}
	for _, path := range []string{"/facts", "/atlas?part=facts", "/slices/" + slice} {
		r := b.get(path)
		s.check(path, r)
		for _, link := range entityLink.FindAllStringSubmatch(r.body, -1) {
			links[html.UnescapeString(link[1])] = true
		}
	}
	if len(links) < 2*len(names) {
		t.Errorf("%d links", len(links))
	}
	for link := range links {
		at := must(url.Parse(s.URL + "/")).ResolveReference(must(url.Parse(link))) // as a browser does it
		r := b.get(at.RequestURI())
		s.check(link, r)
		if r.status != http.StatusOK || !strings.Contains(r.body, "about it") && !strings.Contains(r.body, "as of") || strings.Contains(r.body, "Nothing is believed of this name") || !strings.HasPrefix(at.Path, "/facts/") {
			t.Errorf("the link %q leads to %s: %d to %q", link, at, r.status, r.to)
		}
	}
	for _, name := range names {
		r := b.get("/facts?" + url.Values{"q": {name}}.Encode())
		if r.status != http.StatusSeeOther {
			t.Errorf("%q: %d", name, r.status)
		} else if r = b.get(must(url.Parse(s.URL + "/")).ResolveReference(must(url.Parse(r.to))).RequestURI()); r.status != http.StatusOK || strings.Contains(r.body, "Nothing is believed") {
			t.Errorf("%q is not found by its name: %d to %q", name, r.status, r.to)
		}
	}
}

var entityLink = regexp.MustCompile(`href="(/facts/[^"]*)"`)

// TestAttackMarks admits texts whose letters have more marks than a letter has: they would be painted over the lines above, with the author and the role.
func TestAttackMarks(t *testing.T) {
	s := open(t)
	tower := "a" + strings.Repeat("\u0301\u030b\u0311", 200)
	vietnamese, hebrew := "e\u0302\u0301", "\u05e9\u05bc\u05c1\u05b8\u0591\u05bd" // letters as they are written
	family := "\U0001f468\u200d\U0001f469\u200d\U0001f467\ufe0f"
	s.post("/api/turns", quoted(map[string]any{"turns": []map[string]any{{
		"id": turnID(0), "conversation": conversation, "role": "user", "author": "human:eve", "created_at": "2026-01-02T03:04:05Z", "content": "before " + tower + " after " + vietnamese + hebrew + family + " x" + strings.Repeat("\u200d\u200c", 50),
		"attrs": map[string]string{"title": tower[:301]},
	}}}))
	b := s.signedIn(access.Auditor)
	for _, path := range []string{"/", "/conversations", "/conversations/" + conversation, "/turns/" + turnID(0), "/search?q=after"} {
		r := b.get(path)
		s.check(path, r)
		most, n := 0, 0
		for _, c := range r.body {
			if n++; !unicode.Is(unicode.M, c) && c != '\u200c' && c != '\u200d' {
				n = 0
			}
			most = max(most, n)
		}
		if r.status != http.StatusOK || most > 8 {
			t.Errorf("%s: %d with %d marks on a letter", path, r.status, most)
		}
		if strings.HasPrefix(path, "/turns/") && (!strings.Contains(r.body, "592 marks") || !strings.Contains(r.body, vietnamese+hebrew+family)) {
			t.Errorf("%s does not say how many marks there are, or changes letters as they are written", path)
		}
	}
}

// live opens a stream of events. What it returns waits until the stream ends, and reports whether it does.
func (b *browser) live(header ...string) (ends func() bool) {
	b.site.t.Helper()
	ctx, leave := context.WithTimeout(b.site.t.Context(), 5*time.Second)
	b.site.t.Cleanup(leave)
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, b.site.URL+"/live", http.NoBody))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp := must(b.Do(r))
	b.site.t.Cleanup(func() { _ = resp.Body.Close() })
	first := make([]byte, 1)
	if _, err := io.ReadFull(resp.Body, first); resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || err != nil {
		b.site.t.Fatalf("a stream: %d, %v", resp.StatusCode, err)
	}
	return func() bool {
		_, err := io.Copy(io.Discard, resp.Body)
		return err == nil
	}
}

// copied is a browser with the cookies of another, as somebody has who took them.
func (b *browser) copied() *browser {
	at, thief := must(url.Parse(b.site.URL)), b.site.browser()
	thief.Jar.SetCookies(at, b.Jar.Cookies(at))
	return thief
}

// TestAttackLive keeps streams of events open beyond the sign-in that opened them.
func TestAttackLive(t *testing.T) {
	s := open(t)
	for _, c := range []struct {
		name string
		end  func(b *browser)
	}{
		{"sign-out", func(b *browser) { b.do(http.MethodPost, "/sign-out", url.Values{"token": {b.get("/").token()}}) }},
		{"another sign-in", func(b *browser) {
			if r := b.signIn(s.keys[access.Agent]); r.to != "/ledger" {
				t.Errorf("signing in again: %d", r.status)
			}
		}},
		{"a key that is revoked", func(*browser) { // the last, since its key is gone
			if _, err := s.kernel.Keys().Revoke(t.Context(), tenant, s.ids[access.Auditor]); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := s.signedIn(access.Auditor)
			thief := b.copied()
			ends := thief.live()
			if c.end(b); !ends() || thief.enters() {
				t.Error("goes on")
			}
		})
	}
	b := s.signedIn(access.Admin)
	for range 2 { // a tab that nobody reads opens its stream again and again
		s.clock.pass(14 * time.Minute)
		b.live()
	}
	if s.clock.pass(14 * time.Minute); b.enters() {
		t.Error("a stream that is opened again renews the sign-in")
	}
	late := s.signedIn(access.Admin)
	s.clock.pass(30*time.Minute - 50*time.Millisecond)
	if !late.live()() {
		t.Error("a stream goes on after half an hour without a page")
	}
	r := s.browser().do(http.MethodHead, "/live", nil, "Authorization", "Bearer "+s.keys[access.Admin])
	if r.status != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %d", r.status)
	}
	own := must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/live", http.NoBody))
	own.Header.Set("Authorization", "Bearer "+s.keys[access.Admin])
	open := 0
	for range 40 {
		resp := must(http.DefaultClient.Do(own))
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode == http.StatusOK {
			open++
		} else if resp.StatusCode != http.StatusTooManyRequests {
			t.Errorf("one more stream: %d", resp.StatusCode)
		}
	}
	if open == 0 || open > 16 {
		t.Errorf("a key has %d streams", open)
	}
}

// TestAttackCookie uses a sign-in where it must not hold.
func TestAttackCookie(t *testing.T) {
	s := open(t)
	at := must(url.Parse(s.URL))
	b := s.signedIn(access.Admin)
	for _, path := range []string{"/api/turns", "/api/keys", "/api/whoami", "/api/slices", "/api/events", "/log/checkpoint", "/mcp"} {
		if r := b.copied().get(path); r.status < 400 || strings.Contains(r.body, s.ids[access.Admin]) {
			t.Errorf("%s takes the cookie of a page: %d", path, r.status)
		}
	}
	old := b.copied()
	if r := b.signIn(s.keys[access.Auditor]); r.to != "/ledger" || !b.enters() || old.enters() {
		t.Errorf("after another sign-in of the same browser, the one before it goes on: %d", r.status)
	}
	// Somebody who may set cookies for this host does not choose the id of a sign-in.
	victim := s.browser()
	before := s.signedIn(access.Agent)
	victim.Jar.SetCookies(at, before.Jar.Cookies(at))
	victim.signIn(s.keys[access.Admin])
	if r := before.get("/keys"); r.status == http.StatusOK || victim.get("/keys").status != http.StatusOK || before.get("/").token() == victim.get("/").token() {
		t.Errorf("a sign-in that was fixed: %d", r.status)
	}
	own := victim.Jar.Cookies(at)
	for _, set := range []string{"graphkernel=x", "graphkernel=", "graphkernel=" + strings.Repeat("A", 300)} {
		header := []string{set}
		for _, c := range own {
			header = append(header, c.Name+"="+c.Value)
		}
		if r := s.browser().get("/keys", "Cookie", strings.Join(header, "; ")); r.status != http.StatusOK {
			t.Errorf("a cookie that another service of the host set, %.20s, is in the way: %d", set, r.status)
		}
	}
	// Over TLS the cookie of plain HTTP is none.
	if r := victim.get("/keys", "X-Forwarded-Proto", "https"); r.status != http.StatusSeeOther {
		t.Errorf("over TLS, with the cookie of plain HTTP: %d", r.status)
	}
	for _, text := range []string{strings.Repeat("a", 4000), strings.Repeat("&b", 600), strings.Repeat("\"", 700), strings.Repeat("\u00e9", 600), "a"} {
		stranger := s.browser()
		first := stranger.get("/search?q=" + url.QueryEscape(text))
		if r := stranger.get(first.to); r.status != http.StatusOK || r.token() == "" {
			t.Errorf("a sign-in that began at the address of %.10q, of %d bytes: %d", text, len(text), r.status)
		}
		if r := stranger.get("/sign-in?" + url.Values{"to": {"/search?q=" + text}}.Encode()); r.status != http.StatusOK || r.token() == "" {
			t.Errorf("a sign-in to %.10q, of %d bytes: %d", text, len(text), r.status)
		}
	}
}

// TestAttackTenants reads every page and sends every form with keys of another tenant, of each role, and with the ids of this one.
func TestAttackTenants(t *testing.T) {
	s := open(t)
	paths := s.fill()
	secret := regexp.MustCompile(`alert\(1\)|deployment|` + conversation + `|` + s.ids[access.Admin])
	own := s.signedIn(access.Admin)
	before, seen := s.state(), 0
	for _, path := range paths {
		if r := own.get(path); r.status == http.StatusOK && secret.MatchString(r.body) {
			seen++
		}
	}
	if seen < 10 {
		t.Fatalf("only %d pages show what must not be seen", seen)
	}
	for _, role := range access.Roles {
		key, _, err := s.kernel.Keys().Create(t.Context(), "other", role, "")
		if err != nil {
			t.Fatal(err)
		}
		other := s.browser()
		if r := other.signIn(key); r.to != "/ledger" {
			t.Fatalf("%d", r.status)
		}
		for _, path := range paths {
			r := other.get(path)
			if at := must(url.Parse(path)); at.RawQuery != "" || strings.Contains(path, "javascript") {
				r.body = "" // it may show what was asked for
			}
			if r.status >= 500 || secret.MatchString(strings.ReplaceAll(r.body, path, "")) && !strings.Contains(path, conversation) || strings.Contains(r.body, "deployment") {
				t.Errorf("%s is shown to the %s of another tenant: %d, %q", path, role, r.status, secret.FindString(r.body))
			}
		}
		token := other.get("/").token()
		for _, pattern := range console.Patterns() {
			method, path := filled(t, pattern, s.ids[access.Verifier])
			if method == http.MethodPost && !strings.HasPrefix(path, "/sign-") {
				other.do(method, path, url.Values{"token": {token}, "role": {"admin"}, "sure": {"yes"}, "policy": {`{"policy_id":"evil@1","policy":{"type":"slice_policy_v1","max_nodes":8}}`}})
			}
		}
		mine := s.signedIn(role)
		if role != access.Admin {
			token := mine.get("/").token()
			for path, form := range map[string]url.Values{
				"/keys": {"token": {token}, "role": {"admin"}}, "/keys/" + s.ids[access.Verifier] + "/revoke": {"token": {token}, "sure": {"yes"}},
				"/policies": {"token": {token}, "policy": {`{"policy_id":"evil@1","policy":{"type":"slice_policy_v1","max_nodes":8}}`}},
			} {
				if r := mine.do(http.MethodPost, path, form); r.status != http.StatusForbidden && r.status != http.StatusUnprocessableEntity {
					t.Errorf("%s by the %s: %d", path, role, r.status)
				}
			}
		}
		if s.state() != before {
			t.Fatalf("the %s of another tenant, or of this one, changed something", role)
		}
	}
}

// TestAttackLog looks for keys, cookies, codes and queries in the log, where others read them who may not use them.
func TestAttackLog(t *testing.T) {
	s := open(t)
	b := s.signedIn(access.Admin)
	made := regexp.MustCompile(`gk1\.acme\.[0-9a-f]+\.[0-9a-f]+`).FindString(b.do(http.MethodPost, "/keys", url.Values{"token": {b.get("/").token()}, "role": {"agent"}}).body)
	wrong := "gk1.acme." + strings.Repeat("5", 16) + "." + strings.Repeat("5", 64)
	b.get("/search?q=mysecretword")
	b.get("/facts/%ff?q=mysecretword")
	b.get("/search?q=" + url.QueryEscape(made))
	b.get("/sign-in/return?code=mysecretcode&state=mysecretstate")
	b.get("/turns/mysecretword")
	for range 3 {
		b.copied().signIn(wrong)
		s.browser().get("/", "Authorization", "Bearer "+wrong, "Cookie", "graphkernel=mysecretcookie")
	}
	log := s.log.String()
	if len(log) < 1000 || !strings.Contains(log, `"reading"`) || !strings.Contains(log, `"createKey"`) || made == "" {
		t.Fatalf("the log has %d bytes, so it shows nothing", len(log))
	}
	secrets := []string{strings.Split(made, ".")[3], strings.Repeat("5", 64), "mysecret"}
	for _, c := range b.Jar.Cookies(must(url.Parse(s.URL))) {
		secrets = append(secrets, c.Value)
	}
	for _, key := range s.keys {
		secrets = append(secrets, strings.Split(key, ".")[3])
	}
	for _, secret := range secrets {
		if at := strings.Index(log, secret); at >= 0 {
			t.Errorf("the log has %.20q: %s", secret, log[max(0, at-300):min(len(log), at+100)])
		}
	}
}
