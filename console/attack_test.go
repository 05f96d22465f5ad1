package console_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/console"
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
