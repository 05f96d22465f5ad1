//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture/resident"
	"github.com/graphkernel/graphkernel/internal/ready"
	_ "modernc.org/sqlite" // the driver
)

// A working is a home in which an agent works with the small program and the kernel's program next to each other.
type working struct {
	t                    *testing.T
	home, project, spool string
	hook                 string
}

func newWorking(t *testing.T) *working {
	t.Helper()
	home, err := os.MkdirTemp("", "gk") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	w := &working{t: t, home: home, project: filepath.Join(home, "project"), spool: filepath.Join(home, ".local", "state", "graphkernel", "spool", "default")}
	t.Cleanup(func() {
		w.end()
		_ = os.RemoveAll(home) // what a process still writes goes with the temporary files
	})
	bin := filepath.Join(home, "bin")
	program, err := exec.LookPath("graphkernel")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{bin, w.project} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, filepath.Join(bin, "graphkernel")); err != nil {
		t.Fatal(err)
	}
	w.hook = filepath.Join(bin, "graphkernel-hook")
	if err := os.Rename(buildHook(t), w.hook); err != nil {
		t.Fatal(err)
	}
	return w
}

// resident starts the process that answers hooks, as a hook does, and waits until it answers.
func (w *working) resident() {
	w.t.Helper()
	c := exec.Command("graphkernel", "hook", "resident", w.spool, "--context", "default")
	c.Env = gkEnv(w.home)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	w.t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt) // it may have ended
		<-ended
	})
	w.answers()
}

func (w *working) answers() {
	w.t.Helper()
	w.until("a process answers hooks", func() bool { return resident.There(w.t.Context(), w.spool) })
}

func (w *working) until(what string, is func() bool) {
	w.t.Helper()
	for end := time.Now().Add(60 * time.Second); !is(); {
		if time.Now().After(end) {
			w.t.Fatalf("in vain waited until %s", what)
		}
		time.Sleep(20 * time.Millisecond) // another process decides when
	}
}

// end has the process end that a hook started: it sees that the store is another one.
func (w *working) end() {
	_ = os.Remove(w.spool + ".sock")
}

func (w *working) run(env []string, event map[string]string, args ...string) outcome {
	w.t.Helper()
	data, err := json.Marshal(event)
	if err != nil {
		w.t.Fatal(err)
	}
	c := exec.Command(w.hook, append([]string{"claude-code", w.spool}, args...)...)
	c.Env = append(gkEnv(w.home), env...)
	c.Stdin = bytes.NewReader(data)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		w.t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// unheard is run for an agent that has closed the pipe from which it reads.
func (w *working) unheard(env []string, event map[string]string, args ...string) outcome {
	w.t.Helper()
	data, err := json.Marshal(event)
	if err != nil {
		w.t.Fatal(err)
	}
	r, pipe, err := os.Pipe()
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	defer pipe.Close()
	c := exec.Command(w.hook, append([]string{"claude-code", w.spool}, args...)...)
	c.Env = append(gkEnv(w.home), env...)
	var stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(data), pipe, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		w.t.Fatal(err)
	}
	return outcome{code: c.ProcessState.ExitCode(), stderr: stderr.String()}
}

// notGiven begins a session whose agent does not read its hook. The context is on record as not given.
func (w *working) notGiven(env []string) {
	w.t.Helper()
	before := len(w.contexts().Contexts)
	if got := w.unheard(env, w.event("SessionStart", "z", ""), "--context", "default"); got.code != 0 || !strings.Contains(got.stderr, "pipe") {
		w.t.Errorf("a closed pipe: %+v", got)
	}
	w.until("the context is on record as not given", func() bool {
		list := w.contexts().Contexts
		return len(list) == before+1 && list[0].NotGiven != 0
	})
}

func (w *working) event(name, session, prompt string) map[string]string {
	return map[string]string{"hook_event_name": name, "source": "startup", "session_id": session, "transcript_path": filepath.Join(w.home, session+".jsonl"), "cwd": w.project, "prompt": prompt}
}

// session writes a transcript with one prompt.
func (w *working) session(n int, words string) string {
	w.t.Helper()
	path := filepath.Join(w.home, fmt.Sprintf("s%d.jsonl", n))
	line := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"cwd":%q,"sessionId":"3f3af1ec-ebbd-4410-ab41-%012d","type":"user","message":{"role":"user","content":%q},"uuid":"f64551fc-d6f0-4823-8b87-%012d","timestamp":"2026-03-01T10:00:%02dZ"}`+"\n", w.project, n, words, n, n)
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *working) contexts() (list struct{ Contexts []api.Issued }) {
	w.t.Helper()
	if err := json.Unmarshal(graphkernel(w.t, w.home, "--output", "json", "contexts"), &list); err != nil {
		w.t.Fatal(err)
	}
	return list
}

// TestHooksWithoutWaiting follows a project through its days: a session begins with what was prepared, a process that the hook started answers the next ones and takes in what
// they say, each answer is on record for its session, what was erased is told to nobody, and a rule that was made since keeps old texts from being given.
func TestHooksWithoutWaiting(t *testing.T) {
	t.Parallel()
	w := newWorking(t)
	alone := []string{"GRAPHKERNEL_RESIDENT=off"}
	graphkernel(t, w.home, "keys", "init")
	graphkernel(t, w.home, "setup", "claude-code", "--yes", "--settings", filepath.Join(w.home, "settings.json"))
	graphkernel(t, w.home, "import", w.session(1, "The login form rejects passwords of the merger team"))

	// With what an import prepared.
	if got := w.run(alone, w.event("SessionStart", "a", ""), "--context", "default"); got.code != 0 || !strings.Contains(got.stdout, "merger team") || got.stderr != "" {
		t.Fatalf("the first session: %+v", got)
	}
	if list := w.contexts(); len(list.Contexts) != 1 || list.Contexts[0].Recipient == nil || list.Contexts[0].Recipient.Session != "a" || list.Contexts[0].NotGiven != 0 {
		t.Fatalf("on record: %+v", list.Contexts)
	}

	w.notGiven(alone)
	graphkernel(t, w.home, "import", filepath.Join(w.home, "s1.jsonl")) // prepares more

	// The hook of the next one starts a process.
	if got := w.run(nil, w.event("SessionStart", "b", ""), "--context", "default"); !strings.Contains(got.stdout, "merger team") {
		t.Errorf("the second session: %+v", got)
	}
	w.answers()
	if got := w.run(nil, w.event("SessionStart", "c", ""), "--context", "default"); !strings.Contains(got.stdout, "merger team") || got.stderr != "" {
		t.Errorf("a session with a process: %+v", got)
	}
	if got := w.run(nil, w.event("UserPromptSubmit", "d", "what about the login form and passwords"), "--context", "default"); !strings.Contains(got.stdout, "merger team") || got.stderr != "" {
		t.Errorf("a prompt: %+v", got)
	}
	if got := w.run(nil, w.event("UserPromptSubmit", "d", "thanks a lot!"), "--context", "default"); got.stdout+got.stderr != "" {
		t.Errorf("small talk: %+v", got)
	}
	w.until("five contexts are on record", func() bool { return len(w.contexts().Contexts) == 5 })

	w.notGiven(nil)

	// The process takes in a session that goes on, without a command.
	stop := w.event("Stop", "s2", "")
	stop["transcript_path"] = w.session(2, "Invoices are rounded up in the basket")
	if got := w.run(nil, stop); got.stdout+got.stderr != "" {
		t.Errorf("a mark: %+v", got)
	}
	w.until("the next session is told of it", func() bool {
		return strings.Contains(w.run(nil, w.event("SessionStart", "e", ""), "--context", "default").stdout, "basket")
	})

	// Erased by another process: neither the process nor what was prepared has the words.
	graphkernel(t, w.home, "erase", "f64551fc-d6f0-4823-8b87-000000000001", "--reason", "asked", "--yes")
	for _, env := range [][]string{alone, nil} {
		for n := range 4 {
			if got := w.run(env, w.event("SessionStart", fmt.Sprint("f", n), ""), "--context", "default"); strings.Contains(got.stdout, "merger") {
				t.Errorf("after an erasure: %+v", got)
			}
		}
	}
	prepared := 0
	_ = filepath.WalkDir(w.home, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && filepath.Ext(path) != ".jsonl" {
			data, err := os.ReadFile(path)
			if text, failed := ready.Open(path); failed == nil { // which has it in another coding
				data, prepared = text, prepared+1
			}
			if err == nil && bytes.Contains(data, []byte("merger team")) {
				t.Errorf("%s has the words that were erased", path)
			}
		}
		return nil
	})

	if prepared == 0 {
		t.Error("no prepared text was looked at")
	}

	// A rule is told to the session that begins next.
	w.end()
	w.until("texts are prepared again", func() bool { return !resident.There(t.Context(), w.spool) })
	graphkernel(t, w.home, "import", w.session(3, "Deploys happen on Tuesdays"))
	graphkernel(t, w.home, "belief", "revise", "acme/desk", "agent", "keeps", "everything green", "--kind", "hard_rule", "--new-space")
	if got := w.run(alone, w.event("SessionStart", "g", ""), "--context", "default"); !strings.Contains(got.stdout, "everything-green") || got.stderr != "" {
		t.Errorf("after a rule: %+v", got)
	}
	// A rule that is made where nothing can be prepared: without the keys.
	graphkernel(t, w.home, "--keys", filepath.Join(w.home, "none.json"), "belief", "revise", "acme/desk", "agent", "keeps", "calm", "--kind", "hard_rule")
	if got := w.run(alone, w.event("SessionStart", "h", ""), "--context", "default"); got.stdout != "" || !strings.Contains(got.stderr, "older than a rule or an erasure") {
		t.Errorf("after another rule: %+v", got)
	}
	if out := graphkernel(t, w.home, "capture"); !bytes.Contains(out, []byte("went on without a context")) {
		t.Errorf("capture says\n%s", out)
	}
	w.resident()
	w.until("a session is told the rule", func() bool {
		return strings.Contains(w.run(alone, w.event("SessionStart", "h", ""), "--context", "default").stdout, "everything-green")
	})
}

// TestHooksBesideWriter holds the store's lock: a session is told at once all the same, and the record comes when the lock is free.
func TestHooksBesideWriter(t *testing.T) {
	t.Parallel()
	w := newWorking(t)
	graphkernel(t, w.home, "keys", "init")
	graphkernel(t, w.home, "import", w.session(1, "The login form rejects passwords of the merger team"))
	w.resident()
	w.until("texts are prepared", func() bool {
		found, _ := filepath.Glob(filepath.Join(w.home, "graphkernel", "graphkernel.db-ready", "*", "*.text")) // the pattern is well formed
		return len(found) > 0
	})
	db, err := sql.Open("sqlite", filepath.Join(w.home, "graphkernel", "graphkernel.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	lock, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string) {
		t.Helper()
		if _, err := lock.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("BEGIN IMMEDIATE")
	for n, event := range []map[string]string{w.event("SessionStart", "a", ""), w.event("UserPromptSubmit", "b", "what about the login form and passwords")} {
		if got := w.run(nil, event, "--context", "default"); !strings.Contains(got.stdout, "merger team") || got.stderr != "" {
			t.Errorf("event %d while another process writes: %+v", n, got)
		}
	}
	exec("ROLLBACK")
	w.until("both are on record", func() bool { return len(w.contexts().Contexts) == 2 })
	for _, c := range w.contexts().Contexts {
		if c.Recipient == nil || !strings.Contains("ab", c.Recipient.Session) || c.NotGiven != 0 {
			t.Errorf("on record: %+v", c)
		}
	}
	w.until("no mark is left", func() bool {
		found, _ := filepath.Glob(filepath.Join(w.spool, "*.given")) // the pattern is well formed
		return len(found) == 0
	})
}

// TestHooksBegin begins with nothing but setup: the first session makes the store of what waits, a key that is made later is used, and one that was replaced is not.
func TestHooksBegin(t *testing.T) {
	t.Parallel()
	w := newWorking(t)
	settings := filepath.Join(w.home, "settings.json")
	graphkernel(t, w.home, "setup", "claude-code", "--yes", "--settings", settings)
	stop := w.event("Stop", "s1", "")
	stop["transcript_path"] = w.session(1, "The login form rejects passwords of the merger team")
	if got := w.run(nil, stop); got.stdout+got.stderr != "" {
		t.Errorf("a mark: %+v", got)
	}
	if got := w.run(nil, w.event("SessionStart", "a", ""), "--context", "default"); got.code != 0 || got.stdout != "" {
		t.Errorf("without a store: %+v", got)
	}
	w.answers()
	if _, err := os.Stat(filepath.Join(w.home, "graphkernel", "graphkernel.db")); err != nil {
		t.Errorf("the process answers, and has made no store: %v", err)
	}
	if got := w.run(nil, w.event("SessionStart", "b", ""), "--context", "default"); got.stdout != "" || !strings.Contains(got.stderr, "key") {
		t.Errorf("without a key: %+v", got)
	}
	graphkernel(t, w.home, "keys", "init")
	told := func(what, key string) {
		t.Helper()
		w.until(what, func() bool {
			return strings.Contains(w.run(nil, w.event("SessionStart", "c", ""), "--context", "default").stdout, "merger team")
		})
		list := w.contexts().Contexts
		if len(list) == 0 || list[0].KeyID != key {
			t.Errorf("%s: on record %+v", what, list)
		}
	}
	told("a session is told with the key that was made", "k1")
	graphkernel(t, w.home, "keys", "rotate")
	w.until("the process with the old key ends", func() bool { return !resident.There(t.Context(), w.spool) })
	told("a session is told with the new key", "k2")
}

// TestRulesEverywhere holds that a rule is told to the first session in a folder in which none was held, from what is prepared as by a process that answers, and that
// nothing else is.
func TestRulesEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorking(t)
	alone := []string{"GRAPHKERNEL_RESIDENT=off"}
	graphkernel(t, w.home, "keys", "init")
	graphkernel(t, w.home, "setup", "claude-code", "--yes", "--settings", filepath.Join(w.home, "settings.json"))
	graphkernel(t, w.home, "import", w.session(1, "The login form rejects passwords of the merger team"))
	anew := w.event("SessionStart", "a", "")
	anew["cwd"] = filepath.Join(w.home, "new")
	for _, env := range [][]string{alone, nil} {
		if got := w.run(env, anew, "--context", "default"); got.stdout != "" {
			t.Errorf("without a rule: %+v", got)
		}
	}
	w.answers()
	if got := w.run(nil, anew, "--context", "default"); got.stdout+got.stderr != "" {
		t.Errorf("without a rule: %+v", got)
	}
	w.end()
	graphkernel(t, w.home, "belief", "revise", "my/rules", "main", "push", "after the tests", "--kind", "hard_rule", "--new-space")
	told := func(what string, env []string) {
		t.Helper()
		if got := w.run(env, anew, "--context", "default"); !strings.Contains(got.stdout, "after-the-tests") || strings.Contains(got.stdout, "merger") || got.stderr != "" {
			t.Errorf("%s: %+v", what, got)
		}
	}
	told("prepared", alone)
	w.resident()
	told("by a process", nil)
}
