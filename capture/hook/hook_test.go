//go:build unix

package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/capture/hook"
	"github.com/graphkernel/graphkernel/capture/resident"
	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/internal/ready"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A home is a folder with a spool, and with a script in place of the kernel's program. The script writes its arguments and its input into a file.
type home struct {
	t              *testing.T
	folder, called string
	spool          *capture.Spool
	env            map[string]string
	keys           capture.KeyFile // that sign what is kept
	room           int             // bytes that the agent reads before it closes the pipe
}

func newHome(t *testing.T) *home {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	folder, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, folder: folder, called: filepath.Join(folder, "called"), spool: capture.At(filepath.Join(folder, "spool")), env: map[string]string{hook.ResidentVariable: "off"}, room: 1 << 20}
	program := "#!/bin/sh\necho \"$@\" >> " + h.called + "\ncat >> " + h.called + "\necho from the kernel\nexit ${CODE:-0}\n"
	if err := os.WriteFile(filepath.Join(folder, "graphkernel"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

type pipe struct {
	bytes.Buffer
	room int
}

func (p *pipe) Write(b []byte) (int, error) {
	if len(b) > p.room {
		return 0, errors.New("the pipe is closed")
	}
	return p.Buffer.Write(b)
}

func (h *home) run(event map[string]any, args ...string) (code int, stdout, stderr string) {
	h.t.Helper()
	data, err := json.Marshal(event)
	if err != nil {
		h.t.Fatal(err)
	}
	out := &pipe{room: h.room}
	var errs bytes.Buffer
	p := hook.Program{
		Args: append([]string{"claude-code", h.spool.Folder()}, args...), Stdin: bytes.NewReader(data), Stdout: out, Stderr: &errs,
		Getenv: func(name string) string { return h.env[name] }, Now: func() time.Time { return noon }, Self: filepath.Join(h.folder, "graphkernel-hook"),
	}
	code = p.Run()
	return code, out.String(), errs.String()
}

func (h *home) start(session string) map[string]any {
	return map[string]any{"hook_event_name": "SessionStart", "source": "startup", "session_id": session, "transcript_path": "/t/" + session + ".jsonl", "cwd": h.folder}
}

func (h *home) prompt(text string) map[string]any {
	e := h.start("s")
	e["hook_event_name"], e["prompt"] = "UserPromptSubmit", text
	return e
}

// prepared returns a file of a text.
func (h *home) prepared(text string) []byte {
	h.t.Helper()
	data, err := json.Marshal(capture.Prepared{Text: text, Context: json.RawMessage(`{"n":1}`), Keys: h.keys})
	if err != nil {
		h.t.Fatal(err)
	}
	return data
}

// keep prepares texts for the project.
func (h *home) keep(texts ...string) ready.Folder {
	h.t.Helper()
	f := ready.At(filepath.Join(h.folder, "ready"))
	var files [][]byte
	for _, text := range texts {
		files = append(files, h.prepared(text))
	}
	if err := errors.Join(f.Make(), f.Move(1), f.Keep(capture.ReadyKey(h.folder), 1, "", files...), h.spool.SetReadyIn(capture.ReadyIn{Folder: f.Path(), Policies: []string{""}})); err != nil {
		h.t.Fatal(err)
	}
	return f
}

func (h *home) unread() string {
	h.t.Helper()
	list, err := h.spool.Unread()
	if err != nil {
		h.t.Fatal(err)
	}
	var all []string
	for _, u := range list {
		all = append(all, fmt.Sprintf("%s %d %s", u.Hook, u.Count, u.Error))
	}
	return strings.Join(all, "; ")
}

// TestPrepared gives each text that was prepared to one session, with a mark that it was given, and says when it gives none.
func TestPrepared(t *testing.T) {
	h := newHome(t)
	f := h.keep("one", "two", "three")
	for n, session := range []string{"a", "b"} {
		code, out, errs := h.run(h.start(session), "--context", []string{"default", "context@2"}[n]) // the policy is for prompts
		if code != 0 || errs != "" || !strings.Contains(out, []string{"one", "two"}[n]) {
			t.Fatalf("session %s: %d %q %q", session, code, out, errs)
		}
	}
	givens, err := h.spool.Givens()
	if err != nil || len(givens) != 2 {
		t.Fatalf("%d marks, %v", len(givens), err)
	}
	for _, g := range givens {
		if data, err := ready.Open(g.File); err != nil || !bytes.Contains(data, []byte(`{"n":1}`)) || g.Failed != "" || !g.At.Equal(noon) || g.Event != "SessionStart" {
			t.Errorf("%+v, %s, %v", g, data, err)
		}
		if err := g.Done(); err != nil {
			t.Error(err)
		}
	}

	// A prompt, a session that goes on and another folder get none, whatever the policy.
	elsewhere, resumed := h.start("c"), h.start("d")
	elsewhere["cwd"], resumed["source"] = t.TempDir(), "resume"
	for name, c := range map[string]struct {
		event  map[string]any
		policy string
	}{"prompt": {h.prompt("why does it fail"), "default"}, "resumed": {resumed, "default"}, "elsewhere": {elsewhere, "default"}, "prompt, another policy": {h.prompt("why does it fail"), "context@2"}} {
		if code, out, errs := h.run(c.event, "--context", c.policy); code != 0 || out != "" || !strings.Contains(errs, "without a context") {
			t.Errorf("%s: %d %q %q", name, code, out, errs)
		}
	}
	if got := h.unread(); !strings.HasPrefix(got, "context 4 ") {
		t.Errorf("recorded: %q", got)
	}

	// What cannot be written is marked as not given.
	h.room = 10
	if code, _, errs := h.run(h.start("f"), "--context", "default"); code != 0 || !strings.Contains(errs, "the pipe is closed") {
		t.Errorf("%d %q", code, errs)
	}
	h.room = 1 << 20
	if givens, err := h.spool.Givens(); err != nil || len(givens) != 1 || !strings.Contains(givens[0].Failed, "the pipe is closed") {
		t.Errorf("%+v, %v", givens, err)
	}

	// A text from before a rule or an erasure is not given.
	if err := errors.Join(f.Keep(capture.ReadyKey(h.folder), 1, "", []byte(`{"text":"old"}`)), f.Move(2)); err != nil {
		t.Fatal(err)
	}
	if _, out, errs := h.run(h.start("g"), "--context", "default"); out != "" || !strings.Contains(errs, "older than a rule or an erasure") {
		t.Errorf("%q %q", out, errs)
	}
	// Nor is one that was signed with other keys.
	keys := filepath.Join(h.folder, "keys.json")
	if err := os.WriteFile(keys, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.keys = capture.KeyFileAt(keys)
	h.keep("signed", "signed too")
	if err := os.Remove(keys); err != nil {
		t.Fatal(err)
	}
	if _, out, errs := h.run(h.start("g2"), "--context", "default"); out != "" || !strings.Contains(errs, "the keys have changed") {
		t.Errorf("%q %q", out, errs)
	}
	if err := os.WriteFile(keys, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(keys, h.keys.ModTime, h.keys.ModTime); err != nil {
		t.Fatal(err)
	}
	if _, out, errs := h.run(h.start("g2"), "--context", "default"); !strings.Contains(out, "signed") || errs != "" {
		t.Errorf("with the keys that signed: %q %q", out, errs)
	}
	// While texts are prepared again, some are still of the keys before.
	if err := os.Chtimes(keys, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	before := h.prepared("before")
	h.keys = capture.KeyFileAt(keys)
	if err := f.Keep(capture.ReadyKey(h.folder), 1, "", before, h.prepared("signed")); err != nil {
		t.Fatal(err)
	}
	if _, out, errs := h.run(h.start("g3"), "--context", "default"); !strings.Contains(out, "signed") || errs != "" {
		t.Errorf("with the keys that signed: %q %q", out, errs)
	}
	h.keep("fresh")
	if _, out, errs := h.run(h.start("h"), "--context", "default"); !strings.Contains(out, "fresh") || errs != "" || h.unread() != "" {
		t.Errorf("%q %q %q", out, errs, h.unread())
	}
}

// TestResidentAnswers runs hooks while a process answers them: in time, too late, and with nothing.
func TestResidentAnswers(t *testing.T) {
	h := newHome(t)
	h.keep("prepared")
	l, err := resident.Listen(t.Context(), h.spool.Folder(), false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	answer := resident.Answer{Text: []byte("from the resident process")}
	dones := make(chan error, 9)
	ended := make(chan error)
	var got resident.Request
	go func() {
		ended <- l.Serve(ctx, []string{"--store", "sqlite:/x"}, func(_ context.Context, r *resident.Request) (*resident.Answer, func(error)) {
			got = *r
			return &answer, func(err error) { dones <- err }
		})
	}()
	args := []string{"--context", "default", "--store", "sqlite:/x"}
	for _, e := range []map[string]any{h.start("a"), h.prompt("why does it fail")} {
		if code, out, errs := h.run(e, args...); code != 0 || out != "from the resident process" || errs != "" {
			t.Errorf("%d %q %q", code, out, errs)
		}
		if err := <-dones; err != nil {
			t.Error(err)
		}
		if event, err := json.Marshal(e); err != nil || !bytes.Equal(got.Event, event) || got.Policy != "" || got.Agent != "claude-code" {
			t.Errorf("it was asked %+v", got)
		}
	}
	if code, out, errs := h.run(h.prompt("thanks!"), args...); code != 0 || out+errs != "" || len(dones) != 0 {
		t.Errorf("small talk: %d %q %q", code, out, errs)
	}
	h.room = 5
	if _, _, errs := h.run(h.start("b"), args...); !strings.Contains(errs, "the pipe is closed") || <-dones == nil {
		t.Errorf("a closed pipe: %q", errs)
	}
	h.room = 1 << 20
	answer = resident.Answer{Late: "the store was busy"}
	if _, out, errs := h.run(h.start("c"), args...); !strings.Contains(out, "prepared") || errs != "" {
		t.Errorf("too late: %q %q", out, errs)
	}
	<-dones
	if _, out, errs := h.run(h.start("d"), args...); out != "" || !strings.Contains(errs, "the store was busy") || !strings.Contains(h.unread(), "the store was busy") {
		t.Errorf("too late, and nothing is prepared: %q %q", out, errs)
	}
	<-dones
	answer = resident.Answer{}
	if _, out, errs := h.run(h.start("e"), args...); out+errs != "" || h.unread() != "" {
		t.Errorf("nothing to tell: %q %q %q", out, errs, h.unread())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestGuardAlone judges by rules that are kept, and has the kernel's program judge without them.
func TestGuardAlone(t *testing.T) {
	h := newHome(t)
	call := func(command string) map[string]any {
		e := h.start("s")
		e["hook_event_name"], e["tool_name"], e["tool_input"] = "PreToolUse", "Bash", map[string]string{"command": command}
		return e
	}
	called := func() string {
		data, _ := os.ReadFile(h.called) // absent: it was not called
		_ = os.Remove(h.called)
		return string(data)
	}
	if code, out, errs := h.run(call("ls"), "--guard", "deny@1", "--store", "sqlite:/x"); code != 0 || out != "from the kernel\n" || errs != "" {
		t.Errorf("without rules: %d %q %q", code, out, errs)
	}
	if got := called(); !strings.HasPrefix(got, "hook claude-code "+h.spool.Folder()+" --guard deny@1 --store sqlite:/x\n{") {
		t.Errorf("the kernel's program was called with %q", got)
	}
	for code, want := range map[string]int{"2": 2, "1": 2, "13": 2} { // an error blocks, whatever it is
		t.Setenv("CODE", code)
		if got, _, _ := h.run(call("ls"), "--guard", "deny@1"); got != want {
			t.Errorf("the kernel's program ends with %s: %d", code, got)
		}
	}
	called()

	rules := guard.NewDenyRules(guard.Rule{Tool: "Bash", Argument: `rm -rf`, Reason: "deletes folders"})
	if err := hook.KeepRules(h.spool, "deny@1", rules); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := h.run(call("ls"), "--guard", "deny@1"); code != 0 || out+errs != "" {
		t.Errorf("a call that passes: %d %q %q", code, out, errs)
	}
	if code, out, errs := h.run(call("rm -rf x"), "--guard", "deny@1"); code != 0 || !strings.Contains(out, `"permissionDecision":"deny"`) || !strings.Contains(out, "deletes folders (rule 1 of deny@1, at command)") || errs != "" {
		t.Errorf("a call that is denied: %d %q %q", code, out, errs)
	}
	h.room = 3
	if code, _, errs := h.run(call("rm -rf x"), "--guard", "deny@1"); code != 2 || !strings.Contains(errs, "could not be told") {
		t.Errorf("a refusal that cannot be written: %d %q", code, errs)
	}
	h.room = 1 << 20
	broken := call("ls")
	delete(broken, "tool_name")
	if code, out, errs := h.run(broken, "--guard", "deny@1"); code != 2 || out != "" || !strings.Contains(errs, "tool_name") || !strings.HasPrefix(h.unread(), "guard 1 ") {
		t.Errorf("an event without a tool: %d %q %q", code, out, errs)
	}
	if got := called(); got != "" {
		t.Errorf("the kernel's program was called: %q", got)
	}

	// Rules that are damaged, of another policy or open to others are as if there were none.
	files, err := filepath.Glob(h.spool.Folder() + ".rules-*")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"cut": string(whole[:len(whole)-9]), "another policy": strings.Replace(string(whole), "deny@1", "deny@2", 1), "no rule": `{"policy":"deny@1","rules":[]}`, "a bad pattern": strings.Replace(string(whole), "rm -rf", "(", 1)} {
		t.Setenv("CODE", "0")
		if err := os.WriteFile(files[0], []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, out, _ := h.run(call("rm -rf x"), "--guard", "deny@1"); out != "from the kernel\n" {
			t.Errorf("%s: %q", name, out)
		}
	}
}

// TestArguments refuses command lines that setup does not write: capture goes on for the agent, a guard blocks.
func TestArguments(t *testing.T) {
	h := newHome(t)
	for _, c := range []struct {
		args string
		code int
	}{
		{"--context", 0}, {"--guard", 2}, {"--guard deny@1 --context default", 2}, {"default --context", 0}, {"--store", 0},
	} {
		if code, out, errs := h.run(h.start("s"), strings.Fields(c.args)...); code != c.code || out != "" || !strings.Contains(errs, "usage: graphkernel-hook") {
			t.Errorf("%s: %d %q %q", c.args, code, out, errs)
		}
	}
	h.env = map[string]string{hook.ResidentVariable: "off"}
	if _, out, _ := h.run(h.start("s"), "--context", "default", "--tenant", "t"); out != "from the kernel\n" {
		t.Errorf("without anything at hand: %q", out)
	}
}
