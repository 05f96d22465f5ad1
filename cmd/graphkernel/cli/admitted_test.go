package cli

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/secrets"
	"github.com/graphkernel/graphkernel/kernel"
)

// TestAdmitted has secrets in turns and in texts beside them reported and refused. Nothing is changed, and no message has the secret.
func TestAdmitted(t *testing.T) {
	const secret = "8ae31cacf141669ddfb5da2f9a1c"
	drafts := func() []dag.Draft {
		return []dag.Draft{{ID: dag.ExternalTurnID("t", "0"), Content: "hello"}, {ID: dag.ExternalTurnID("t", "1"), Content: "api_key = '" + secret + "'"}}
	}
	texts := func() []dag.Text {
		return []dag.Text{{In: "acts[0].subject", Text: "the shop"}, {In: "acts[0].object", Name: "api_key", Text: secret}, {In: "task", Text: "use api_key = '" + secret + "'"}}
	}
	var told []Kept
	screened := func(p secrets.Policy) kernel.Config {
		told = nil
		var c kernel.Config
		NewAdmitted(p, func(_ context.Context, in Kept) { told = append(told, in) }).Apply(&c)
		return c
	}
	c, turns, beside := screened(secrets.Report), drafts(), texts()
	if err := errors.Join(c.Screen(t.Context(), "a", turns), c.ScreenTexts(t.Context(), "a", beside), c.Screen(t.Context(), "a", turns[:1]), c.ScreenTexts(t.Context(), "a", beside[:1])); err != nil {
		t.Error(err)
	}
	want := []Kept{{"a", "turns", turns[1].ID.String(), map[string]int{"generic-api-key": 1}}, {"a", "texts", "acts[0].object", map[string]int{"generic-api-key": 2}}}
	if !reflect.DeepEqual(told, want) || told[1].Counts() != "generic-api-key:2" {
		t.Errorf("told %+v, want %+v", told, want)
	}
	if !reflect.DeepEqual(turns, drafts()) || !slices.Equal(beside, texts()) {
		t.Error("what was brought was changed")
	}
	c = screened(secrets.Refuse)
	for place, err := range map[string]error{"turns[1]": c.Screen(t.Context(), "a", drafts()), "acts[0].object": c.ScreenTexts(t.Context(), "a", texts()), "task": c.ScreenTexts(t.Context(), "a", texts()[2:])} {
		if !errors.Is(err, ingest.ErrSecret) || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), "generic-api-key") || strings.Contains(err.Error(), secret) {
			t.Errorf("refuse, %s: %v", place, err)
		}
	}
	if err := errors.Join(c.Screen(t.Context(), "a", drafts()[:1]), c.ScreenTexts(t.Context(), "a", texts()[:1])); err != nil || len(told) > 0 {
		t.Errorf("nothing to refuse: %v, %v", err, told)
	}
	if c := screened(secrets.Off); c.Screen != nil || c.ScreenTexts != nil {
		t.Error("somebody looks")
	}
}

// TestAdmittedSecrets reads the policy from the flag, then from the environment. Nothing can be redacted.
func TestAdmittedSecrets(t *testing.T) {
	for _, c := range []struct{ flag, env, want string }{
		{"", "", "report"}, {"", "refuse", "refuse"}, {"off", "refuse", "off"}, {"report", "", "report"}, {"redact", "", ""}, {"", "redact", ""}, {"", "none", ""},
	} {
		env := map[string]string{AdmittedVariable: c.env}
		s := Settings{AdmittedFlag: c.flag, Getenv: func(name string) string { return env[name] }}
		if got, err := s.AdmittedSecrets(); string(got) != c.want && err == nil || (err == nil) != (c.want != "") {
			t.Errorf("flag %q, variable %q: got %q, %v, want %q", c.flag, c.env, got, err, c.want)
		}
	}
}
