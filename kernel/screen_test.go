package kernel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// TestScreen has what callers bring shown to Config.Screen, which may refuse it, and what an import reads not.
func TestScreen(t *testing.T) {
	refused := errors.New("refused")
	shown := 0
	k := must(kernel.Open(kernel.Config{
		Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: token.NewAuthority(token.Keyring{}), Clock: func() time.Time { return time.Unix(1, 0) },
		Screen: func(_ context.Context, of dag.Tenant, drafts []dag.Draft) error {
			if shown++; of != tenant || len(drafts) != 1 {
				t.Errorf("%d turns of %s", len(drafts), of)
			}
			if drafts[0].Content == "no" {
				return refused
			}
			return nil
		},
	}))
	turn := func(content string) []dag.Draft {
		return []dag.Draft{{ID: dag.ExternalTurnID("test", content), Conversation: dag.ExternalConversationID("test", "c"), Role: dag.RoleUser, CreatedAt: 1, Author: "human:user", Content: content}}
	}
	for content, want := range map[string]error{"yes": nil, "no": refused} {
		if _, err := k.Turns().Admit(t.Context(), tenant, turn(content)); !errors.Is(err, want) {
			t.Errorf("Admit %s: %v", content, err)
		}
		if _, err := k.Turns().AdmitInOrder(t.Context(), tenant, "", turn(content)); !errors.Is(err, want) {
			t.Errorf("AdmitInOrder %s: %v", content, err)
		}
	}
	d := turn("no")
	path := filepath.Join(t.TempDir(), "own.jsonl")
	if err := os.WriteFile(path, must(ingest.AppendLine(nil, &d[0])), 0o600); err != nil {
		t.Fatal(err)
	}
	if head := must(k.Turns().Head(t.Context(), tenant)); head != 1 || shown != 4 {
		t.Errorf("head %d, %d admissions shown", head, shown)
	}
	if r, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{}); err != nil || r.Admitted != 1 || shown != 4 {
		t.Errorf("an import: %+v, %v; %d admissions shown", r, err, shown)
	}
}
