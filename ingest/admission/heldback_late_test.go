package admission_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store/inmem"
)

// A door is a way by which turns are admitted. It returns how many were admitted, held back and said before.
type door func(t *testing.T, k *kernel.Kernel, drafts []dag.Draft) (admitted, held, before int)

func admitted(a api.Receipt, err error) (int, int, int) {
	must(a, err)
	return a.Admitted, a.HeldBack, a.ErasedBefore
}

var doors = map[string]door{
	"admit": func(t *testing.T, k *kernel.Kernel, drafts []dag.Draft) (int, int, int) {
		return admitted(k.Turns().Admit(t.Context(), tenant, drafts))
	},
	"in order": func(t *testing.T, k *kernel.Kernel, drafts []dag.Draft) (int, int, int) {
		return admitted(k.Turns().AdmitInOrder(t.Context(), tenant, "", drafts))
	},
	"lines": func(t *testing.T, k *kernel.Kernel, drafts []dag.Draft) (int, int, int) {
		var lines []byte
		for i := range drafts {
			lines = must(ingest.AppendLine(lines, &drafts[i]))
		}
		path := filepath.Join(t.TempDir(), "lines.jsonl")
		if err := os.WriteFile(path, lines, 0o600); err != nil {
			t.Fatal(err)
		}
		r := must(k.Turns().Import(t.Context(), tenant, path, ingest.Options{}))
		return r.Admitted, r.HeldBack, r.ErasedBefore
	},
}

// TestErasedMeanwhile erases texts after an admission has read which texts are erased and before its commit: the first ones that ever are, and later ones;
// one at a time, and again when the admission is decided again. No copy of them is admitted with its text, by whichever door, and the rest is.
func TestErasedMeanwhile(t *testing.T) {
	for name, open := range stores {
		for way, through := range doors {
			for _, early := range []bool{false, true} { // whether a text is erased before the admission, too
				t.Run(fmt.Sprint(name, "/", way, "/", early), func(t *testing.T) {
					ctx := t.Context()
					inner, secret := open(t), &kerneltest.Secret{}
					s := &kerneltest.Racing{Store: inner}
					k, other := guarded(t, s, secret), guarded(t, inner, secret)
					turns := func(session string) (drafts []dag.Draft) {
						for n, content := range []string{"the zebra", "the okapi", "the quagga", "the horse"} {
							d := dag.Draft{
								ID: dag.ExternalTurnID(session, fmt.Sprint(n)), Conversation: dag.ExternalConversationID("session", session),
								Role: dag.RoleAssistant, Author: "agent:x", CreatedAt: dag.Time(n + 1), Content: content,
							}
							if n > 0 {
								d.Parents = []dag.Parent{{ID: drafts[n-1].ID, Kind: dag.Reply}}
							}
							drafts = append(drafts, d)
						}
						return drafts
					}
					first, second := turns("first"), turns("second")
					must(other.Turns().Admit(ctx, tenant, first))
					erase := func(n int) { must(other.Turns().Erase(ctx, tenant, first[n].ID, "asked for")) }
					if early {
						erase(0)
					}
					interruptions := 0
					s.Before = func() {
						interruptions++
						if !early {
							erase(0)
						}
						erase(1)
						s.Before = func() { interruptions++; erase(2) }
					}
					a, held, before := through(t, k, second)
					if a != 4 || held != 3 || before != 0 || interruptions != 2 {
						t.Errorf("%d admitted, %d held back, %d said before, %d interruptions; want 4, 3, 0 and 2", a, held, before, interruptions)
					}
					for n, d := range second {
						r := must(k.Turns().Get(ctx, tenant, d.ID))
						if (r.Body == nil) != (n < 3) || n == 3 && !bytes.Contains(r.Body, []byte("the horse")) {
							t.Errorf("turn %d has the body %q", n, r.Body)
						}
					}
					if list := must(k.Turns().HeldBack(ctx, tenant, 0, 9)); len(list) != 3 {
						t.Errorf("on record are %+v", list)
					}
				})
			}
		}
	}
}

// TestTranscriptErasedMeanwhile is TestErasedMeanwhile for a transcript some of whose records are stored.
func TestTranscriptErasedMeanwhile(t *testing.T) {
	ctx := t.Context()
	inner, secret := inmem.Open(&inmem.Disk{}, inmem.Options{}), &kerneltest.Secret{}
	s := &kerneltest.Racing{Store: inner}
	k, other := guarded(t, s, secret), guarded(t, inner, secret)
	must(other.Turns().Import(ctx, tenant, transcriptOf(t, "first", secretive), ingest.Options{}))
	must(other.Turns().Import(ctx, tenant, transcriptOf(t, "second", secretive[:2]), ingest.Options{}))
	interruptions := 0
	s.Before = func() {
		interruptions++
		for n := 2; n < 6; n++ {
			if n != 4 {
				must(other.Turns().Erase(ctx, tenant, must(dag.ParseTurnID(dag.ExternalTurnID("session", fmt.Sprint("first/", n)).String())), "asked for"))
			}
		}
	}
	r := must(k.Turns().Import(ctx, tenant, transcriptOf(t, "second", secretive), ingest.Options{}))
	if r.Admitted != len(secretive)-2 || r.Existing != 2 || r.HeldBack != 3 || r.Changed != 0 || interruptions != 1 {
		t.Errorf("imported %+v with %d interruptions, want %d admitted, 2 that exist, 3 held back, 1 interruption", r, interruptions, len(secretive)-2)
	}
	if answers := answersOf(t, k, tenant); strings.Contains(answers, "quagga") || strings.Contains(answers, "okapi") || !strings.Contains(answers, "you are welcome") {
		t.Errorf("the answers have an erased word, or lack the rest: %s", answers)
	}
}

// TestSaidMeanwhile lets a person say words while they are erased: the turn keeps them, and is counted.
func TestSaidMeanwhile(t *testing.T) {
	ctx := t.Context()
	inner, secret := inmem.Open(&inmem.Disk{}, inmem.Options{}), &kerneltest.Secret{}
	s := &kerneltest.Racing{Store: inner}
	k, other := guarded(t, s, secret), guarded(t, inner, secret)
	words := strings.Repeat("remember the okapi ", 4)
	say := func(name string, at dag.Time) dag.Draft {
		return dag.Draft{ID: dag.ExternalTurnID("said", name), Conversation: dag.ConversationID{1}, Role: dag.RoleUser, Author: "human:user", CreatedAt: at, Content: words}
	}
	first, again := say("first", 1), say("again", 2)
	must(other.Turns().Admit(ctx, tenant, []dag.Draft{first}))
	s.Before = func() { must(other.Turns().Erase(ctx, tenant, first.ID, "asked for")) }
	a := must(k.Turns().Admit(ctx, tenant, []dag.Draft{again}))
	if a.Admitted != 1 || a.HeldBack != 0 || a.ErasedBefore != 1 || s.Before != nil {
		t.Errorf("%+v, want 1 admitted that was erased before", a)
	}
	if r := must(k.Turns().Get(ctx, tenant, again.ID)); !bytes.Contains(r.Body, []byte("okapi")) {
		t.Errorf("the turn has the body %q", r.Body)
	}
}

// TestNilTurnIsNotHeldBack brings an erased text in a turn of the nil UUID, which is refused: so it is not on record either.
func TestNilTurnIsNotHeldBack(t *testing.T) {
	ctx := t.Context()
	k := guarded(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), &kerneltest.Secret{})
	d := dag.Draft{ID: dag.TurnID{1}, Conversation: dag.ConversationID{1}, Role: dag.RoleAssistant, Author: "agent:x", CreatedAt: 1, Content: "the okapi"}
	must(k.Turns().Admit(ctx, tenant, []dag.Draft{d}))
	must(k.Turns().Erase(ctx, tenant, d.ID, "asked for"))
	d.ID = dag.TurnID{}
	if a, err := k.Turns().Admit(ctx, tenant, []dag.Draft{d}); err == nil {
		t.Errorf("admitted: %+v", a)
	}
	if list, err := k.Turns().HeldBack(ctx, tenant, 0, 9); err != nil || len(list) != 0 {
		t.Errorf("held back: %+v, %v", list, err)
	}
}
