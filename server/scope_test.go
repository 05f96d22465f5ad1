package server_test

import (
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
)

// TestScope admits with keys what is outside of what they may bring, alone and after a
// good turn, as JSON and as lines: nothing of it is stored.
func TestScope(t *testing.T) {
	s := start(t)
	narrow, err := access.ParseScope(access.Scope{Roles: "assistant,tool", Authors: "agent:*,tool:*"})
	if err != nil {
		t.Fatal(err)
	}
	scoped, _, err := s.kernel.Keys().CreateScoped(t.Context(), tenantA, access.Agent, narrow, "")
	if err != nil {
		t.Fatal(err)
	}
	keys := func() map[string]string {
		return map[string]string{"agent": s.keys[tenantA][access.Agent], "admin": s.admin(), "scoped": scoped}
	}
	with := func(n int, role, author string) map[string]any {
		m := turn(n)
		m["role"], m["author"] = role, author
		delete(m, "parents")
		return m
	}
	for _, c := range []struct {
		key, role, author string
		want              []string // in the answer; none: it is admitted
	}{
		{"agent", "system", "agent:a", []string{"role", `"system"`, "user,assistant,tool"}},
		{"agent", "user", "anybody", nil},
		{"scoped", "user", "agent:a", []string{"role", `"user"`, "assistant,tool"}},
		{"scoped", "tool", "human:a", []string{"author", `"human:a"`, "agent:*,tool:*"}},
		{"scoped", "tool", "tool:a", nil},
		{"admin", "system", "anybody", nil},
	} {
		bad, good := with(101, c.role, c.author), with(100, "tool", "tool:a")
		for _, q := range []question{
			{body: map[string]any{"turns": []any{good, bad}}},
			{body: string(mustJSON(t, good)) + "\n" + string(mustJSON(t, bad)), media: "application/x-ndjson"},
		} {
			q.op, q.key = "admitTurns", keys()[c.key]
			if c.want == nil {
				s.expect(200, q)
				continue
			}
			before := s.ask(question{op: "listConversations", key: s.admin()}).body
			p := s.refused(403, "forbidden", q)
			for _, want := range append(c.want, turnID(101)) {
				if !strings.Contains(p.Detail, want) {
					t.Errorf("%s by %s: the answer %q does not hold %q", c.role, c.author, p.Detail, want)
				}
			}
			if p.Turn.String() != turnID(101) || p.Place != "turns[1]" && p.Place != "line 2" {
				t.Errorf("the answer names %q at %q", p.Turn, p.Place)
			}
			if after := s.ask(question{op: "listConversations", key: s.admin()}).body; string(after) != string(before) {
				t.Errorf("something was stored: %s", after)
			}
		}
		if c.want == nil {
			s = start(t) // an empty one
			if scoped, _, err = s.kernel.Keys().CreateScoped(t.Context(), tenantA, access.Agent, narrow, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestScopedKeyMakesNone holds that a key with a limit, or with authors for whom it speaks, makes no key, which could have more rights.
func TestScopedKeyMakesNone(t *testing.T) {
	s := start(t)
	body := api.NewAPIKey{Role: "admin"}
	for _, list := range []access.Scope{{Roles: "assistant"}, {Authors: "agent:*"}, {SpeaksFor: "human:lead"}, {SpeaksFor: "human:lead=owner"}} {
		narrow, err := access.ParseScope(list)
		if err != nil {
			t.Fatal(err)
		}
		scoped, _, err := s.kernel.Keys().CreateScoped(t.Context(), tenantA, access.Admin, narrow, "")
		if err != nil {
			t.Fatal(err)
		}
		s.refused(403, "forbidden", question{op: "createKey", key: scoped, body: body})
	}
	s.expect(200, question{op: "createKey", key: s.admin(), body: body})
}
