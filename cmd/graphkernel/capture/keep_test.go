package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/internal/ready"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// TestKeepingFollowsKeys prepares again when a service has taken a keyring over, though the file of the keys, the history and the policies are as they were, and does nothing when nothing
// changed.
func TestKeepingFollowsKeys(t *testing.T) {
	ctx, home := t.Context(), t.TempDir()
	s, err := sqlite.Create(ctx, filepath.Join(home, "graphkernel.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // nothing is written after the test
	authority := token.NewAuthority(kerneltest.Ring(t, "k1"))
	now := kerneltest.Standing()
	session := cli.SessionOf(kerneltest.Over(t, s, authority), kerneltest.Tenant, func() time.Time { return now }).ReadyOver(s)
	folder := filepath.Join(home, "project")
	if _, err := session.Turns.Admit(ctx, []dag.Draft{{
		ID: dag.ExternalTurnID("test", "1"), Conversation: dag.ExternalConversationID("test", "c"), Role: dag.RoleUser, Author: "human:user",
		CreatedAt: dag.Time(1_700_000_000_000_000), Content: "The login form rejects passwords.", Attrs: map[string]string{"cwd": folder},
	}}); err != nil {
		t.Fatal(err)
	}
	spool := capture.At(filepath.Join(home, "spool"))
	k := keeping{teller: &teller{session: session, spool: spool, now: func() time.Time { return now }, keys: func() capture.KeyFile { return capture.KeyFile{} }}}
	k.ask("")
	place, _, err := session.Ready(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// signed takes a text, and reports whether its context has the name of a key.
	signed := func(key string) bool {
		t.Helper()
		text, _, err := place.Take(capture.ReadyKey(folder), func([]byte) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		var p capture.Prepared
		var context struct {
			Bundle []byte `json:"bundle"`
		}
		if err := errors.Join(json.Unmarshal(text, &p), json.Unmarshal(p.Context, &context)); err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(context.Bundle, []byte(`"`+key+`"`))
	}
	look := func() {
		t.Helper()
		now = now.Add(keepPause)
		if err := k.look(ctx); err != nil {
			t.Fatal(err)
		}
	}
	look()
	if !signed("k1") {
		t.Error("k1 did not sign")
	}
	look() // nothing has changed, so nothing replaces the text that was taken
	if !signed("k1") {
		t.Error("k1 did not sign the second text")
	}
	if _, _, err := place.Take(capture.ReadyKey(folder), func([]byte) error { return nil }); !errors.Is(err, ready.ErrNone) {
		t.Errorf("without a change: %v", err)
	}
	authority.Replace(kerneltest.Ring(t, "k1", "k2"))
	look()
	if !signed("k2") {
		t.Error("k2 did not sign")
	}
}
