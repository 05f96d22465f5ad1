package service

import (
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// TestStandardSecrets has one default for commands and for the service.
func TestStandardSecrets(t *testing.T) {
	at := slices.IndexFunc(Settings[:], func(s setting) bool { return s.Key == "secrets" })
	if got := Settings[at].Standard; got != string(cli.StandardSecrets) {
		t.Errorf("serve has %s, commands have %s", got, cli.StandardSecrets)
	}
}
