package kernel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice/issued"
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

// TestScreenTexts has what is kept beside turns shown to Config.ScreenTexts, as it was written. What it refuses is not recorded.
func TestScreenTexts(t *testing.T) {
	refused := errors.New("refused")
	var shown []dag.Text
	k := must(kernel.Open(kernel.Config{
		Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: token.NewAuthority(ring(t, "k1")), Clock: func() time.Time { return time.Unix(1, 0) },
		ScreenTexts: func(_ context.Context, of dag.Tenant, texts []dag.Text) error {
			if of != tenant {
				t.Errorf("texts of %s", of)
			}
			shown = texts
			for _, t := range texts {
				if strings.Contains(t.Text, "no") {
					return refused
				}
			}
			return nil
		},
	}))
	ctx := t.Context()
	learn := func(object string) error {
		fact := must(knowledge.NewFact("The Shop", "Password", object, "user"))
		_, err := k.Facts().Learn(ctx, tenant, []knowledge.Act{{Kind: knowledge.Assert, Fact: fact}})
		return err
	}
	if err := learn("Big Value"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []dag.Text{{In: "acts[0].subject", Text: "The Shop"}, {In: "acts[0].object", Name: "password", Text: "Big Value"}} {
		if !slices.Contains(shown, want) {
			t.Errorf("shown %+v, want %+v among it", shown, want)
		}
	}
	head := must(k.Turns().Head(ctx, tenant))
	if err := learn("no"); !errors.Is(err, refused) || must(k.Turns().Head(ctx, tenant)) != head {
		t.Errorf("a fact that is refused: %v", err)
	}
	for _, c := range []struct {
		ask  func(text string) error
		want dag.Text
	}{
		{func(text string) error {
			_, err := k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{text}})
			return err
		}, dag.Text{In: "start[0]", Text: "The Shop"}},
		{func(text string) error {
			_, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: text})
			return err
		}, dag.Text{In: "task", Text: "The Shop"}},
		{func(text string) error {
			p, err := k.Contexts().Prepare(ctx, tenant, api.ContextRequest{Task: text})
			if err == nil {
				_, err = k.Contexts().HandOut(ctx, tenant, p, issued.Recipient{Agent: "a", Session: "s", Event: "e"})
			}
			return err
		}, dag.Text{In: "task", Text: "The Shop"}},
	} {
		before := must(k.Slices().Count(ctx, tenant))
		if err := c.ask("no"); !errors.Is(err, refused) || must(k.Slices().Count(ctx, tenant)) != before {
			t.Errorf("%s that is refused: %v", c.want.In, err)
		}
		if err := c.ask("The Shop"); err != nil || !slices.Contains(shown, c.want) || must(k.Slices().Count(ctx, tenant)) != before+1 {
			t.Errorf("%s: %v, shown %+v", c.want.In, err, shown)
		}
	}
}
