package secrets

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/race"
)

// secret returns one that the rule github-pat knows, made of parts.
func secret(n int) string { return "ghp_" + fmt.Sprintf("wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0p%04d", n) }

func TestRedact(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	s := Standard()
	shapes := parsed(t, s)
	random := rand.New(rand.NewPCG(7, 9))
	key := Key{1}
	changed, again := 0, 0
	for range 500 {
		text := mix(s, shapes, random)
		got, found := s.Redact(text, &key)
		if left := s.Scan(got); len(left) > 0 {
			t.Fatalf("%q has %v yet, redacted from %q", got, left, text)
		}
		if twice, more := s.Redact(got, &key); twice != got || len(more) > 0 {
			t.Fatalf("redacting %q again gives %q", got, twice)
		}
		first := s.Scan(text)
		for _, f := range first {
			if len(f.Rule) > 64 {
				t.Fatalf("rule %s is too long for a token", f.Rule)
			}
		}
		if len(found) > 0 {
			changed++
		}
		if len(found) > len(first) {
			again++
		}
	}
	if changed < 200 || again == 0 {
		t.Errorf("%d texts were changed, %d of them more than once", changed, again)
	}
}

func TestTokens(t *testing.T) {
	a, b := Key{1}.For("a"), Key{1}.For("b")
	text := "one " + secret(1) + " two " + secret(2) + " one " + secret(1)
	token := func(key *Key, n int) string { return key.token("github-pat", secret(n)) }
	for _, key := range []*Key{&a, &b} {
		got, found := Standard().Redact(text, key)
		if want := "one " + token(key, 1) + " two " + token(key, 2) + " one " + token(key, 1); got != want || len(found) != 3 {
			t.Errorf("got %q, want %q", got, want)
		}
		if len(tokensIn(got)) != 3 || token(key, 1) == token(key, 2) {
			t.Errorf("tokens of %q", got)
		}
	}
	if token(&a, 1) == token(&b, 1) {
		t.Error("two tenants have the same token")
	}
	if got, want := token(&a, 1), "[secret:github-pat:c29a7907184b]"; got != want { // what is stored must not change
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTokenOfAnother has tokens that somebody else wrote: what is in one is no secret, and what only begins like one is.
func TestTokenOfAnother(t *testing.T) {
	for _, c := range []struct {
		text  string
		found int
	}{
		{"key = [secret:github-pat:0123456789ab] ", 0},
		{"key = '[secret:github-pat:0123456789ab]'", 0},
		{"[secret:" + secret(1) + ":0123456789ab]", 1},
		{"[secret:github-pat:" + secret(1) + "]", 1},
		{"[secret:github-pat:0123456789ab]" + secret(1), 1},
	} {
		if got := Standard().Scan(c.text); len(got) != c.found {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}

func TestScreen(t *testing.T) {
	key := Key{1}
	s := secret(1)
	token := key.token("github-pat", s)
	draft := func() *dag.Draft {
		return &dag.Draft{Author: "human:" + s, Content: "a " + s + " b " + s, Attrs: map[string]string{"title": s, "api_key": "8ae31cacf141669ddfb5da2f9a1c", "other": "x"}}
	}
	all := []Found{{"github-pat", "content"}, {"github-pat", "content"}, {"github-pat", "author"}, {"generic-api-key", "attr api_key"}, {"github-pat", "attr title"}}
	asked := 0
	give := func() (Key, error) { asked++; return key, nil }
	for _, p := range []Policy{Report, Refuse} {
		d := draft()
		found, err := NewScreen(p, give).Draft(d)
		if err != nil || !slices.Equal(found, all) || !reflect.DeepEqual(d, draft()) {
			t.Errorf("%s: %v, %v, %v", p, found, d, err)
		}
	}
	if NewScreen(Off, give) != nil || (*Screen)(nil).Policy() != Off {
		t.Error("a screen that does nothing is one")
	}
	if found, err := (*Screen)(nil).Draft(draft()); found != nil || err != nil || asked != 0 {
		t.Errorf("%v, %v; the key was asked for %d times", found, err, asked)
	}

	screen := NewScreen(Redact, give)
	d, shared := draft(), draft().Attrs
	d.Attrs = shared
	found, err := screen.Draft(d)
	if err != nil || !slices.Equal(found, all) {
		t.Errorf("%v, %v", found, err)
	}
	if d.Content != "a "+token+" b "+token || d.Author != "human:"+token || d.Attrs["title"] != token || d.Attrs["other"] != "x" || !strings.HasPrefix(d.Attrs["api_key"], "[secret:generic-api-key:") {
		t.Errorf("%+v", d)
	}
	if !maps.Equal(shared, draft().Attrs) {
		t.Error("attributes that others may share were changed")
	}
	if found, err := screen.Draft(d); err != nil || len(found) > 0 {
		t.Errorf("again: %v, %v", found, err)
	}
	salted := draft()
	salted.Salt = &dag.Salt{}
	if found, err := screen.Draft(salted); err != nil || len(found) != len(all) || salted.Content != draft().Content {
		t.Errorf("with a salt: %v, %v", found, err)
	}
	if found, err := screen.Draft(&dag.Draft{Redacted: true}); err != nil || found != nil {
		t.Errorf("erased: %v, %v", found, err)
	}
	if asked != 1 {
		t.Errorf("the key was asked for %d times", asked)
	}

	broken := NewScreen(Redact, func() (Key, error) { return Key{}, errors.New("no key") })
	if _, err := broken.Draft(&dag.Draft{Content: "nothing"}); err != nil {
		t.Errorf("a text without secrets: %v", err)
	}
	d = draft()
	if _, err := broken.Draft(d); err == nil || err.Error() != "no key" {
		t.Errorf("without a key: %v", err)
	}
}

func TestParsePolicy(t *testing.T) {
	for _, p := range Policies {
		if got, err := ParsePolicy(string(p)); err != nil || got != p {
			t.Errorf("%s: %v, %v", p, got, err)
		}
	}
	for _, s := range []string{"", "Redact", "none", "redact "} {
		if _, err := ParsePolicy(s); err == nil {
			t.Errorf("%q is a policy", s)
		}
	}
}
