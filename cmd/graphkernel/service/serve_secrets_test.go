package service

import (
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/secrets"
)

// TestStandardSecrets has one default for commands and for the service.
func TestStandardSecrets(t *testing.T) {
	at := slices.IndexFunc(Settings[:], func(s setting) bool { return s.Key == "secrets" })
	if got := Settings[at].Standard; got != string(cli.StandardSecrets) {
		t.Errorf("serve has %s, commands have %s", got, cli.StandardSecrets)
	}
}

func TestScreenAdmitted(t *testing.T) {
	const secret = "8ae31cacf141669ddfb5da2f9a1c"
	drafts := func() []dag.Draft {
		return []dag.Draft{{ID: dag.ExternalTurnID("t", "0"), Content: "hello"}, {ID: dag.ExternalTurnID("t", "1"), Content: "api_key = '" + secret + "'"}}
	}
	run := func(p secrets.Policy, list []dag.Draft) (logged string, err error) {
		var out strings.Builder
		err = screenAdmitted(p, slog.New(slog.NewTextHandler(&out, nil)))(t.Context(), "a", list)
		return out.String(), err
	}
	list := drafts()
	logged, err := run(secrets.Report, list)
	if err != nil || !strings.Contains(logged, "generic-api-key:1") || !strings.Contains(logged, list[1].ID.String()) || strings.Contains(logged, secret) || !reflect.DeepEqual(list, drafts()) {
		t.Errorf("report: %v, %q, %+v", err, logged, list)
	}
	if logged, err := run(secrets.Report, drafts()[:1]); err != nil || logged != "" {
		t.Errorf("nothing to report: %v, %q", err, logged)
	}
	_, err = run(secrets.Refuse, drafts())
	if !errors.Is(err, ingest.ErrSecret) || !strings.Contains(err.Error(), "turns[1]") || !strings.Contains(err.Error(), "generic-api-key") || strings.Contains(err.Error(), secret) {
		t.Errorf("refuse: %v", err)
	}
	if _, err := run(secrets.Refuse, drafts()[:1]); err != nil {
		t.Errorf("nothing to refuse: %v", err)
	}
	if screenAdmitted(secrets.Off, nil) != nil {
		t.Error("somebody looks")
	}
	for text, want := range map[string]bool{"report": true, "refuse": true, "off": true, "redact": false, "": false} {
		if _, err := parseAdmitted(text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
