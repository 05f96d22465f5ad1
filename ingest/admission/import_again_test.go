package admission_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// session writes a transcript of n prompts, each by what text says of its number.
func session(name string, n int, text func(int) string) string {
	var out strings.Builder
	parent := "null"
	for i := range n {
		id := fmt.Sprintf("%s-%d", name, i)
		fmt.Fprintf(&out, `{"type":"user","uuid":%q,"parentUuid":%s,"sessionId":%q,"timestamp":"2026-01-02T03:04:%02dZ","message":{"content":%q}}`+"\n", id, parent, name, i, text(i))
		parent = `"` + id + `"`
	}
	return out.String()
}

// TestChangedRecord imports sessions of which one has a line that was edited
// since: that costs the line, and the sessions that follow are imported.
func TestChangedRecord(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		folder := t.TempDir()
		put := func(name, text string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(folder, name+".jsonl"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		plain := func(i int) string { return fmt.Sprint("prompt ", i) }
		put("b", session("b", 3, plain))
		must(k.Turns().Import(t.Context(), tenant, folder, ingest.Options{}))
		put("a", session("a", 2, plain))
		put("b", session("b", 5, func(i int) string {
			if i == 1 {
				return "edited"
			}
			return plain(i)
		}))
		for c := 'c'; c < 'w'; c++ {
			put(string(c), session(string(c), 2, plain))
		}
		r, err := k.Turns().Import(t.Context(), tenant, folder, ingest.Options{})
		want := []admission.ChangedTurn{{ID: dag.ExternalTurnID("claude-code", "b-1"), Place: filepath.Join(folder, "b.jsonl") + ":2", Field: "content"}}
		if err != nil || r.Admitted != 2+2+20*2 || r.Existing != 2 || r.Changed != 1 || !cmp.Equal(r.ChangedTurns, want) {
			t.Errorf("%+v, %v", r, err)
		}
		if r.Admitted+r.Existing+r.Changed != r.Read.Turns {
			t.Errorf("%d turns read, %d admitted, %d existing, %d changed", r.Read.Turns, r.Admitted, r.Existing, r.Changed)
		}
	})
}

// judgedBefore is a draft with values that rules of another number assigned, as a store may hold it.
func judgedBefore(d dag.Draft) dag.Draft {
	d.Attrs = maps.Clone(d.Attrs)
	d.Phase, d.Attrs[ingest.AttrPhaseBy] = dag.Consolidation, "rules/1"
	d.Salience, d.HasSalience, d.Attrs[ingest.AttrSalienceBy] = 123_456, true, "rules/1"
	return d
}

// TestJudgedAsStored admits turns again that the store holds with the values of
// other rules: they exist, in a batch with new ones, as drafts and as lines.
func TestJudgedAsStored(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		draft := func(n byte, content string) dag.Draft {
			return dag.Draft{ID: dag.TurnID{n}, Conversation: dag.ConversationID{9}, Role: dag.RoleAssistant, Author: "agent:a", Content: content,
				Attrs: map[string]string{"blocks": "thinking"}, CreatedAt: dag.Time(n)}
		}
		said := []string{"[thinking]\nLet me look at it.", "[thinking]\nHm.", "[thinking]\nLet me update it."}
		var old, again []dag.Draft
		for i, s := range said {
			old = append(old, judgedBefore(draft(byte(i+1), s)))
			again = append(again, draft(byte(i+1), s))
		}
		fresh := again[0]
		if err := ingest.Assign(&fresh); err != nil || fresh.Phase == old[0].Phase {
			t.Fatalf("the rules do not differ on the first turn: %s, %s, %v", fresh.Phase, old[0].Phase, err)
		}
		must(k.Turns().Admit(t.Context(), tenant, old))
		r, err := k.Turns().Admit(t.Context(), tenant, append(again, draft(7, "[thinking]\nNew.")))
		if err != nil || r.Existing != 3 || r.Admitted != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		var lines [][]byte
		for i, s := range said {
			d := draft(byte(i+1), s)
			lines = append(lines, must(ingest.AppendLine(nil, &d)))
		}
		if r, err := k.Turns().Import(t.Context(), tenant, file(t, "again.jsonl", lines), ingest.Options{}); err != nil || r.Existing != 3 {
			t.Errorf("lines: %+v, %v", r, err)
		}
		by := map[dag.TurnID]string{}
		if err := k.Turns().Each(t.Context(), tenant, dag.ConversationID{9}, func(_ dag.Seq, d *dag.Draft) error {
			by[d.ID] = d.Attrs[ingest.AttrPhaseBy]
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if by[dag.TurnID{1}] != "rules/1" || by[dag.TurnID{7}] != ingest.Rules {
			t.Errorf("judged by %v", by)
		}

		// What differs in more than the rules is a conflict, as before.
		other := draft(1, "[thinking]\nSomething else.")
		var conflict *store.ConflictError
		if _, err := k.Turns().Admit(t.Context(), tenant, []dag.Draft{other}); !errors.As(err, &conflict) || conflict.ID != other.ID {
			t.Errorf("another text: %v", err)
		}
		own := draft(1, said[0])
		own.Phase, own.Attrs = dag.Synthesis, map[string]string{"blocks": "thinking", ingest.AttrPhaseBy: ingest.Rules}
		if _, err := k.Turns().Admit(t.Context(), tenant, []dag.Draft{own}); !errors.As(err, &conflict) {
			t.Errorf("a phase that no rule assigned: %v", err)
		}
		own = again[0]
		own.Phase, own.Salience, own.HasSalience, own.Attrs = fresh.Phase, fresh.Salience, true, map[string]string{"blocks": "thinking"}
		if _, err := k.Turns().Admit(t.Context(), tenant, []dag.Draft{own}); !errors.As(err, &conflict) {
			t.Errorf("values of its own that rules would assign as well: %v", err)
		}
	})
}

// A failingStore fails from its n-th Append on, and then says nothing more.
type failingStore struct {
	store.Store
	left   int
	failed bool
}

var errDisk = errors.New("the disk is full")

func (s *failingStore) Append(ctx context.Context, tenant dag.Tenant, batches []store.Batch) (store.Receipt, error) {
	if s.left--; s.left < 0 {
		s.failed = true
		return store.Receipt{}, errDisk
	}
	return s.Store.Append(ctx, tenant, batches)
}

func (s *failingStore) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	if s.failed {
		return 0, errDisk
	}
	return s.Store.Head(ctx, tenant)
}

// TestFailedImportNamesItsHead fails after any number of sessions.
func TestFailedImportNamesItsHead(t *testing.T) {
	folder := t.TempDir()
	for c := 'a'; c < 'f'; c++ {
		text := session(string(c), 3, func(i int) string { return fmt.Sprint("prompt ", i) })
		if err := os.WriteFile(filepath.Join(folder, string(c)+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for left := range 5 {
		k := over(t, &failingStore{Store: stores["memory"](t), left: left}, token.NewAuthority(ring(t, "k1")))
		r, err := k.Turns().Import(t.Context(), tenant, folder, ingest.Options{})
		if !errors.Is(err, errDisk) || r.Admitted != 3*left || r.Head != dag.Seq(3*left) {
			t.Errorf("after %d sessions: admitted %d, head %d, %v", left, r.Admitted, r.Head, err)
		}
	}
}
