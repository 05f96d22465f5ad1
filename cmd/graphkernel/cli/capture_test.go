package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/secrets"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// session is a tenant of a kernel on an empty store.
func session(t *testing.T) *cli.Session {
	t.Helper()
	k, err := kernel.Open(kernel.Config{Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: token.NewAuthority(token.Keyring{}), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return cli.SessionOf(k, dag.DefaultTenant, time.Now)
}

// everything returns all turns as text, without what differs from store to store: the salt, the number, and when it was admitted.
func everything(t *testing.T, s *cli.Session) []string {
	t.Helper()
	var all []string
	err := s.EachTurn(t.Context(), api.TurnQuery{}, func(turn *cli.Turn) error {
		var edges []string
		for _, p := range turn.Parents {
			edges = append(edges, p.Kind.String()+" of "+p.ID.String())
		}
		attrs, err := json.Marshal(turn.Attrs)
		all = append(all, fmt.Sprintf("%s in %s at %s by %s, %s %q %q %s", turn.ID, turn.Conversation, turn.CreatedAt, turn.Author, turn.Role, edges, turn.Content, attrs))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// A record is a line of a transcript's file.
type record struct {
	file, at string
	line     []byte
}

// recordsOf returns the lines of a session's files in the order in which they were written.
func recordsOf(t *testing.T, files map[string][]byte) (list []record) {
	t.Helper()
	for _, file := range slices.Sorted(func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}) {
		at := ""
		for line := range bytes.Lines(files[file]) {
			var v struct {
				Timestamp string `json:"timestamp"`
			}
			if json.Unmarshal(line, &v) == nil && v.Timestamp > at {
				at = v.Timestamp // a record without a time was written after the one before it
			}
			list = append(list, record{file, at, line})
		}
	}
	slices.SortStableFunc(list, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	return list
}

// grow writes a session's files as its agent did, calls a hook after random records or watches their folder, and takes in at random moments, also while half a record is written and by a
// taker that ends before it is done. In the end the store must be that of an import of the whole.
func grow(t *testing.T, main string, files map[string][]byte, seed uint64, watch bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 16))
	folder := t.TempDir()
	spool := capture.At(filepath.Join(folder, "spool"))
	live := session(t)
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	path := func(name string) string { return filepath.Join(folder, "sessions", name) }
	hook := func(event string) {
		if watch {
			return
		}
		said, err := json.Marshal(map[string]string{"hook_event_name": event, "session_id": "s", "transcript_path": path(main), "cwd": folder})
		if err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		now = now.Add(time.Second)
		capture.Receive(spool, capture.ClaudeCode, bytes.NewReader(said), &told, now)
		if told.Len() > 0 {
			t.Fatal(told.String())
		}
	}
	screen := secrets.NewScreen(secrets.Redact, func() (secrets.Key, error) { return secrets.Key{1}, nil })
	planted := "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
	for name, data := range files {
		files[name] = bytes.ReplaceAll(data, []byte(`"type":"text","text":"`), []byte(`"type":"text","text":"`+planted+` `))
	}
	takes := 0
	watcher := capture.NewWatcher(filepath.Join(folder, "sessions"))
	take := func() {
		if watch {
			if r.IntN(3) == 0 {
				watcher = capture.NewWatcher(filepath.Join(folder, "sessions")) // it was killed, and started again
			}
			changed, err := watcher.Look()
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range changed {
				report, err := live.Turns.Import(t.Context(), []string{path}, ingest.Options{Secrets: screen})
				if err != nil && !errors.Is(err, ingest.ErrFormat) { // the first line of it may be half written
					t.Fatal(err)
				}
				if report.Admitted > 0 {
					takes++
				}
			}
			return
		}
		done, err := cli.TakeIn(t.Context(), spool, live, screen, now)
		if err != nil {
			t.Fatal(err)
		}
		if done.Turns > 0 {
			takes++
		}
	}
	write := func(name string, data []byte) {
		if err := os.MkdirAll(filepath.Dir(path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.Write(data)
			err = cmp.Or(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	records := recordsOf(t, files)
	events := capture.ClaudeCode.Events()
	rarely := max(1, len(records)/12)
	for _, rec := range records {
		half := r.IntN(len(rec.line))
		write(rec.file, rec.line[:half])
		if _, err := os.Stat(path(main)); err == nil && r.IntN(rarely) == 0 {
			hook("PostToolUse")
			take()
		}
		write(rec.file, rec.line[half:])
		if r.IntN(5) == 0 {
			hook(events[r.IntN(len(events))])
		}
	}
	hook(capture.SessionEnd)
	take()
	if pending, err := spool.Pending(); err != nil || len(pending) > 0 {
		t.Errorf("%d sessions still wait, %v", len(pending), err)
	}
	whole := session(t)
	if _, err := whole.Turns.Import(t.Context(), []string{path(main)}, ingest.Options{Secrets: screen}); err != nil {
		t.Fatal(err)
	}
	got, want := everything(t, live), everything(t, whole)
	if !slices.Equal(got, want) {
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Fatalf("seed %d, %s: %d turns, want %d; the first that differs:\ngot  %.1500s\nwant %.1500s", seed, main, len(got), len(want), slices.Concat(got, []string{"none"})[min(i, len(got))], want[i])
			}
		}
		t.Fatalf("seed %d, %s: %d turns, want %d", seed, main, len(got), len(want))
	}
	if strings.Contains(strings.Join(got, ""), planted) {
		t.Errorf("%s: a secret is in the store", main)
	}
	if len(want) == 0 || takes < 2 && len(want) > 20 {
		t.Errorf("%s: %d turns in %d portions say nothing", main, len(want), takes)
	}
}

// filesOf reads a session's file and those of its sub-agents.
func filesOf(t *testing.T, path string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	agents, err := filepath.Glob(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(agents, path) {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(filepath.Dir(path), p)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

// TestGrown captures transcripts while they are written.
func TestGrown(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	made := filepath.Join("..", "..", "..", "ingest", "testdata", "claude", "5e550000-0000-4000-8000-000000000000.jsonl")
	for n := range uint64(10) {
		grow(t, filepath.Base(made), filesOf(t, made), seed+n, n%2 == 1)
	}
	folder := os.Getenv("GRAPHKERNEL_DATA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	for _, pattern := range []string{"entire/claude-*.jsonl", "claude-code/*/*.jsonl", "claude-code/*.jsonl"} {
		sessions, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range sessions {
			if testing.Short() && i%4 != int(seed%4) || strings.HasPrefix(filepath.Base(path), "agent-") {
				continue
			}
			watch := rand.IntN(2) == 1
			t.Run(fmt.Sprintf("%s/%t", filepath.Base(path), watch), func(t *testing.T) { grow(t, filepath.Base(path), filesOf(t, path), seed, watch) })
		}
	}
}

// TestTakenByAll lets a taker end in the middle: what it claimed is taken in by the next one.
func TestTakenByAll(t *testing.T) {
	folder := t.TempDir()
	spool, s := capture.At(filepath.Join(folder, "spool")), session(t)
	for _, name := range []string{"a", "b"} {
		if err := spool.Add(capture.Mark{Agent: capture.ClaudeCode, Session: name, Transcript: filepath.Join(folder, name+".jsonl"), Event: capture.Stop, At: time.Unix(1, 0), Said: "It is done."}); err != nil {
			t.Fatal(err)
		}
	}
	if done, err := cli.TakeIn(t.Context(), spool, s, nil, time.Unix(2, 0)); err != nil || done.Turns != 0 {
		t.Errorf("transcripts that are not there: took in %+v, %v", done, err)
	}
	line := func(uuid, parent, text string) string {
		data, err := json.Marshal(map[string]any{"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "a", "timestamp": "2026-01-02T03:04:05Z", "message": map[string]any{"id": "m" + uuid, "content": []any{map[string]string{"type": "text", "text": text}}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(data) + "\n"
	}
	file := filepath.Join(folder, "a.jsonl")
	if err := os.WriteFile(file, []byte(line("5e550000-0000-4000-8000-000000000001", "", "I begin.")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{3, 4} { // the transcript does not show the last message yet
		if done, _ := cli.TakeIn(t.Context(), spool, s, nil, time.Unix(at, 0)); (done.Turns == 1) != (at == 3) {
			t.Errorf("at %d: took in %+v", at, done)
		}
	}
	if pending, err := spool.Pending(); err != nil || len(pending) != 2 {
		t.Fatalf("%d sessions wait, %v", len(pending), err)
	}
	both := line("5e550000-0000-4000-8000-000000000001", "", "I begin.") + line("5e550000-0000-4000-8000-000000000002", "5e550000-0000-4000-8000-000000000001", "Yes. It is done. And more.")
	if err := os.WriteFile(file, []byte(both), 0o600); err != nil {
		t.Fatal(err)
	}
	if done, _ := cli.TakeIn(t.Context(), spool, s, nil, time.Unix(5, 0)); done.Turns != 1 {
		t.Errorf("took in %+v", done)
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{capture.Patience, 1}, {capture.Patience + 1, 0}} { // nothing was ever said in session b
		if _, err := cli.TakeIn(t.Context(), spool, s, nil, time.Unix(1, 0).Add(c.after)); err != nil {
			t.Error(err)
		}
		if pending, err := spool.Pending(); err != nil || len(pending) != c.want || c.want > 0 && pending[0].Name != "b" {
			t.Errorf("after %s %d sessions wait, %v", c.after, len(pending), err)
		}
	}
	if err := errors.Join(os.Remove(file), os.Symlink(file, file)); err != nil {
		t.Fatal(err)
	}
	if err := spool.Add(capture.Mark{Agent: capture.ClaudeCode, Session: "a", Transcript: file, Event: capture.Stop, At: time.Unix(6, 0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := cli.TakeIn(t.Context(), spool, s, nil, time.Unix(7, 0)); err == nil || !strings.Contains(err.Error(), "session a") {
		t.Errorf("a transcript that cannot be read: %v", err)
	}
}
