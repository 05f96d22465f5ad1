package admission_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
)

// A told is a record of a transcript: who speaks, and what.
type told struct{ who, text string }

// transcriptOf writes a transcript of Claude Code. Its name makes its ids; the times are the same under every name.
func transcriptOf(t testing.TB, name string, records []told) string {
	t.Helper()
	var b strings.Builder
	id := func(n int) string { return dag.ExternalTurnID("session", fmt.Sprint(name, "/", n)).String() }
	for n, r := range records {
		parent := "null"
		if n > 0 {
			parent = `"` + id(n-1) + `"`
		}
		content := fmt.Sprintf("%q", r.text)
		if r.who == "assistant" {
			content = fmt.Sprintf(`[{"type":"text","text":%q}]`, r.text)
		}
		fmt.Fprintf(&b, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":%q,"cwd":"/project","timestamp":"2026-03-14T02:%02d:01.000Z","message":{"role":%q,"content":%s}}`+"\n",
			r.who, id(n), parent, dag.ExternalConversationID("session", name), n, r.who, content)
	}
	path := filepath.Join(t.TempDir(), name+".jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// secretive is a session of which the turns with erasedWords are erased: prompts and answers, long and short, two of them after one another. They are in lower case, as
// holds looks for them.
var secretive = []told{
	{"user", "prompt zebra first"},
	{"assistant", "The okay answer"},
	{"user", "Set the password to quagga"},
	{"assistant", "Done, it is quagga"},
	{"user", "Explain it"},
	{"assistant", "A long answer about the okapi, which lives in forests, is seldom seen, and looks a little like a horse but is none."},
	{"user", "Thanks, that is all"},
	{"assistant", "you are welcome"},
}

var erasedWords = []string{"zebra first", "quagga", "okapi"}

// answersOf returns what a kernel tells of a tenant's turns: an export, what a search finds, and a slice and a context around each turn.
func answersOf(t testing.TB, k *kernel.Kernel, tenant dag.Tenant) string {
	t.Helper()
	var b bytes.Buffer
	must(k.Turns().Export(t.Context(), tenant, nil, &b))
	for _, word := range []string{"zebra", "quagga", "okapi", "answer"} {
		found := must(k.Turns().Search(t.Context(), tenant, find.Request{Query: retrieval.Query{Text: word, Limit: 10}}))
		for _, h := range found.Hits {
			fmt.Fprintln(&b, h.Content)
		}
	}
	turns, _, err := k.Turns().After(t.Context(), tenant, 0, nil, 100, 1<<20)
	if err != nil || len(turns) < len(secretive) {
		t.Fatalf("%d turns, %v", len(turns), err)
	}
	for i := range turns {
		anchor := turns[i].Turn.ID
		b.Write(must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: anchor})).Bundle)
		b.Write(must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "the answer", Anchor: anchor.String()})).Prompt)
	}
	return strings.ToLower(b.String())
}

// TestHeldBack erases turns of a session and imports a copy of it, under other ids and another name. No file has the erased words, and the rest of the copy is there.
func TestHeldBack(t *testing.T) {
	for name, opened := range readableStores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s, secret := opened(t), &kerneltest.Secret{}
			k := guarded(t, s, secret)
			load := func(k *kernel.Kernel, session string) admission.ImportReport {
				return must(k.Turns().Import(ctx, tenant, session, ingest.Options{}))
			}
			load(k, transcriptOf(t, "first", secretive))
			copied := transcriptOf(t, "second", secretive)
			ids := map[string][]dag.TurnID{}
			for n := range secretive {
				for _, name := range []string{"first", "second"} {
					ids[name] = append(ids[name], must(dag.ParseTurnID(dag.ExternalTurnID("session", fmt.Sprint(name, "/", n)).String())))
				}
			}
			gone := []int{0, 2, 3, 5}
			for _, word := range erasedWords {
				if !holds(s.Read(), word) || !strings.Contains(answersOf(t, k, tenant), word) {
					t.Fatalf("before the erasures neither files nor answers have %q: this test cannot fail", word)
				}
			}
			for _, n := range gone {
				e := must(k.Turns().Erase(ctx, tenant, ids["first"][n], "asked for"))
				if e.Unguarded != "" {
					t.Fatalf("turn %d: %s", n, e.Unguarded)
				}
			}
			if held := must(k.Turns().HeldBack(ctx, tenant, 0, 10)); len(held) != 0 {
				t.Fatalf("before: %+v", held)
			}

			r := load(k, copied)
			if r.HeldBack != len(gone) || r.ErasedBefore != 0 || r.Admitted != len(secretive) || r.Edges != len(secretive)-1 {
				t.Errorf("imported %+v, want %d turns of which %d are held back", r, len(secretive), len(gone))
			}
			read := s.Read()
			for _, word := range erasedWords {
				if holds(read, word) {
					t.Errorf("a file has %q", word)
				}
				if strings.Contains(answersOf(t, k, tenant), word) {
					t.Errorf("an answer has %q", word)
				}
			}
			if !holds(read, "you are welcome") || holds(read, string(must(secret.Get(false)))) {
				t.Error("the files lack what they must have, or have the secret")
			}
			held := must(k.Turns().HeldBack(ctx, tenant, 0, 10))
			for i, n := range gone {
				if h := held[i]; h.Turn != ids["second"][n] || h.Erased != ids["first"][n] || h.Released || h.Place == "" {
					t.Errorf("held back is %+v, want turn %d", h, n)
				}
			}
			if again := load(k, copied); again.Admitted != 0 || again.HeldBack != 0 || again.Existing != len(secretive) {
				t.Errorf("imported again: %+v", again)
			}

			other := inmem.Open(&inmem.Disk{}, inmem.Options{})
			must(transfer.Copy(ctx, other, s, transfer.Options{}))
			for where, s := range map[string]store.Store{"here": s, "in a copy": other} {
				if report, err := fsck.Store(ctx, s, fsck.Options{}); err != nil || !report.OK() {
					t.Errorf("%s: %v, %v", where, report.Findings, err)
				}
			}
			if r := load(guarded(t, other, secret), transcriptOf(t, "third", secretive)); r.HeldBack != len(gone) {
				t.Errorf("a copy of the store held back %d turns, want %d", r.HeldBack, len(gone))
			}

			if _, err := k.Turns().Release(ctx, tenant, []dag.TurnID{ids["second"][5], ids["second"][6]}); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("releasing a turn that was not held back: %v", err)
			}
			for _, want := range []int{1, 0} {
				if n, err := k.Turns().Release(ctx, tenant, []dag.TurnID{ids["second"][5]}); err != nil || n != want {
					t.Errorf("released %d, %v, want %d", n, err, want)
				}
			}
			for _, want := range []int{1, 0} {
				if r := load(k, copied); r.Admitted != want || r.HeldBack != 0 {
					t.Errorf("after the release: %+v, want %d admitted", r, want)
				}
			}
			back := must(k.Turns().Get(ctx, tenant, admission.ReleasedID(ids["second"][5])))
			if !bytes.Contains(back.Body, []byte("okapi")) || len(back.Parents) != 1 || back.Parents[0].ID != ids["second"][5] {
				t.Errorf("released: %q after %v", back.Body, back.Parents)
			}
			if answers := answersOf(t, k, tenant); strings.Contains(answers, "quagga") || !strings.Contains(answers, "okapi") {
				t.Error("the release freed more than one turn, or none")
			}
			if held := must(k.Turns().HeldBack(ctx, tenant, 0, 10)); !held[3].Released || held[2].Released {
				t.Errorf("after the release: %+v", held)
			}
			must(k.Turns().Erase(ctx, tenant, admission.ReleasedID(ids["second"][5]), "asked for again"))
			load(k, copied)
			if strings.Contains(answersOf(t, k, tenant), "okapi") {
				t.Error("what was released and erased has come back")
			}
			if report, err := fsck.Store(ctx, s, fsck.Options{}); err != nil || !report.OK() {
				t.Errorf("at the end: %v, %v", report.Findings, err)
			}
		})
	}
}

// TestSaidAnew types erased words again, at another time: they are admitted, and counted. An agent's are held back.
func TestSaidAnew(t *testing.T) {
	ctx := t.Context()
	secret := &kerneltest.Secret{}
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	k := guarded(t, s, secret)
	long := "Keep the phone number of the person who asked out of every log, please: it is 555 0100 OKAPI."
	turn := func(name string, author string, role dag.Role, at int, content string, parent dag.TurnID) dag.Draft {
		d := dag.Draft{ID: dag.ExternalTurnID("anew", name), Conversation: dag.ExternalConversationID("anew", name[:1]), Role: role, Author: author, Content: content, CreatedAt: dag.Time(at)}
		if parent != (dag.TurnID{}) {
			d.Parents = []dag.Parent{{ID: parent, Kind: dag.Reply}}
		}
		return d
	}
	root := turn("a0", "agent:x", dag.RoleAssistant, 1, "What is it?", dag.TurnID{})
	person := turn("a1", "human:user", dag.RoleUser, 2, "It is Q", root.ID)
	agent := turn("a2", "agent:x", dag.RoleAssistant, 3, "You said Q", person.ID)
	first := turn("a3", "human:user", dag.RoleUser, 4, long, agent.ID)
	must(k.Turns().Admit(ctx, tenant, []dag.Draft{root, person, agent, first}))
	for _, d := range []dag.Draft{person, agent, first} {
		must(k.Turns().Erase(ctx, tenant, d.ID, "asked for"))
	}
	for name, c := range map[string]struct {
		drafts               []dag.Draft
		held, before, erased int
	}{
		"a person, the same words":          {[]dag.Draft{turn("b0", "human:user", dag.RoleUser, 100, strings.ToUpper(long), dag.TurnID{})}, 0, 1, 0},
		"an agent, the same words":          {[]dag.Draft{turn("c0", "agent:x", dag.RoleAssistant, 100, "  "+strings.ToUpper(long), dag.TurnID{})}, 1, 0, 0},
		"a person, the same short answer":   {[]dag.Draft{turn("d0", "agent:x", dag.RoleAssistant, 100, "what IS it?", dag.TurnID{}), turn("d1", "human:user", dag.RoleUser, 101, "it is q", dag.ExternalTurnID("anew", "d0"))}, 0, 1, 0},
		"an agent, the same after the same": {[]dag.Draft{turn("e0", "human:user", dag.RoleUser, 100, "It is Q", dag.TurnID{}), turn("e1", "agent:x", dag.RoleAssistant, 101, "You said Q", dag.ExternalTurnID("anew", "e0"))}, 1, 0, 0},
		"an agent, short, after other":      {[]dag.Draft{turn("f0", "agent:x", dag.RoleAssistant, 100, "You said Q", dag.TurnID{})}, 0, 0, 0},
		"a person, in a copy":               {[]dag.Draft{turn("g0", "human:user", dag.RoleUser, 2, "It is Q", dag.TurnID{})}, 1, 0, 0},
		"an agent, other at that time":      {[]dag.Draft{turn("h0", "agent:x", dag.RoleAssistant, 3, "You said P", dag.TurnID{})}, 0, 0, 0},
		"the turn itself":                   {[]dag.Draft{first}, 0, 0, 1},
	} {
		for again := range 2 {
			r := must(k.Turns().Admit(ctx, tenant, c.drafts))
			if again == 1 {
				if r.Existing != len(c.drafts) || r.HeldBack+r.ErasedBefore != 0 {
					t.Errorf("%s, again: %+v", name, r)
				}
				continue
			}
			if r.HeldBack != c.held || r.ErasedBefore != c.before || r.Existing != c.erased || r.Admitted != len(c.drafts)-c.erased {
				t.Errorf("%s: %+v, want %d held back and %d said anew", name, r, c.held, c.before)
			}
			last := must(k.Turns().Get(ctx, tenant, c.drafts[len(c.drafts)-1].ID))
			if (last.Body == nil) != (c.held+c.erased > 0) {
				t.Errorf("%s: the turn has the body %q", name, last.Body)
			}
		}
	}

	// Another tenant erased nothing, and its digests are others.
	if r := must(k.Turns().Admit(ctx, "other", []dag.Draft{turn("c0", "agent:x", dag.RoleAssistant, 100, long, dag.TurnID{})})); r.HeldBack != 0 {
		t.Errorf("another tenant: %+v", r)
	}
	must(k.Turns().Erase(ctx, "other", dag.ExternalTurnID("anew", "c0"), "asked for"))
	digests := map[string]dag.Tenant{}
	for _, tenant := range []dag.Tenant{tenant, "other"} {
		for _, term := range must(s.Terms(ctx, tenant, []history.Range{{Index: 110}}))[0] {
			if was := digests[string(term.Key)]; was != "" && was != tenant {
				t.Errorf("digest %x is of %s and %s", term.Key, was, tenant)
			}
			digests[string(term.Key)] = tenant
		}
	}
	if len(digests) < 8 {
		t.Errorf("%d digests", len(digests))
	}
}

// TestUnguarded erases and imports without a secret: nothing is held back, and the erasure says so.
func TestUnguarded(t *testing.T) {
	ctx := t.Context()
	for name, secret := range map[string]func(bool) ([]byte, error){
		"none":       nil,
		"absent":     func(bool) ([]byte, error) { return nil, nil },
		"unreadable": func(bool) ([]byte, error) { return nil, errors.New("no such folder") },
		"short":      func(bool) ([]byte, error) { return []byte("short"), nil },
	} {
		k := must(kernel.Open(kernel.Config{Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: standing, ErasureSecret: secret}))
		turns := chain(t, k, 3)
		e, err := k.Turns().Erase(ctx, tenant, turns[1], "asked for")
		if err != nil || e.Seq == 0 || e.Unguarded == "" {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		d := dag.Draft{ID: dag.TurnID{1}, Conversation: dag.ConversationID{1}, Role: dag.RoleUser, CreatedAt: 1, Author: "human:user", Content: "turn 1"}
		if r, err := k.Turns().Admit(ctx, tenant, []dag.Draft{d}); err != nil || r.HeldBack != 0 || r.Admitted != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestReleasedOutOfOrder imports a released turn from lines that come before their parents, and so are looked at twice.
func TestReleasedOutOfOrder(t *testing.T) {
	ctx := t.Context()
	k := guarded(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), &kerneltest.Secret{})
	id := func(name string) dag.TurnID { return dag.ExternalTurnID("order", name) }
	line := func(name, content string, at int, parent string) string {
		d := dag.Draft{ID: id(name), Conversation: dag.ConversationID{1}, Role: dag.RoleAssistant, Author: "agent:x", CreatedAt: dag.Time(at), Content: content}
		if parent != "" {
			d.Parents = []dag.Parent{{ID: id(parent), Kind: dag.Reply}}
		}
		return string(must(ingest.AppendLine(nil, &d)))
	}
	load := func(lines ...string) admission.ImportReport {
		path := filepath.Join(t.TempDir(), "lines.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		return must(k.Turns().Import(ctx, tenant, path, ingest.Options{}))
	}
	load(line("a", "the secret", 1, ""), line("b", "more", 2, "a"))
	must(k.Turns().Erase(ctx, tenant, id("a"), "asked for"))
	copied := []string{line("child", "more", 2, "copy"), line("copy", "the secret", 1, "")}
	if r := load(copied...); r.HeldBack != 1 || r.Admitted != 2 {
		t.Errorf("%+v, want 1 held back of 2", r)
	}
	must(k.Turns().Release(ctx, tenant, []dag.TurnID{id("copy")}))
	for _, want := range []int{2, 0} {
		if r := load(append(copied, line("late", "x", 3, "later"), line("later", "y", 3, ""))...); r.HeldBack != 0 || r.Admitted != want+min(want, 1) {
			t.Errorf("after the release: %+v", r)
		}
	}
	if r := must(k.Turns().Get(ctx, tenant, admission.ReleasedID(id("copy")))); !bytes.Contains(r.Body, []byte("the secret")) {
		t.Errorf("released: %q", r.Body)
	}
}
