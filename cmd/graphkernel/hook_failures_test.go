package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// buildHook builds the small program that agents run.
func buildHook(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graphkernel-hook")
	if out, err := exec.Command("go", "build", "-o", path, "../graphkernel-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// An outcome is what a program did that an agent ran.
type outcome struct {
	code           int
	stdout, stderr string
}

func hooked(t *testing.T, folder, event, program string, args ...string) outcome {
	t.Helper()
	c := exec.Command(program, args...)
	c.Env = append(gkEnv(folder), "GRAPHKERNEL_KEY=gk1.default.0123456789abcdef."+strings.Repeat("0", 64)) // of no service
	c.Stdin = strings.NewReader(event)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// TestHookNeverBreaks has the hooks that capture fail in each way there is: the agent goes on, is told nothing, and a person can read why.
func TestHookNeverBreaks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	hook := buildHook(t)
	inTheWay := filepath.Join(folder, "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const event = `{"hook_event_name":"Stop","session_id":"s","transcript_path":"/t/s.jsonl","cwd":"/p","last_assistant_message":"Done."}`
	spool := filepath.Join(folder, "spool")
	for name, c := range map[string]struct {
		event, spool string
		limit        string // a command of the shell before the hook
		want         string
	}{
		"no event":               {"", spool, "", "nothing on standard input"},
		"not JSON":               {"hello", spool, "", "not an event"},
		"an event without name":  {`{"session_id":"s"}`, spool, "", "no hook_event_name"},
		"a relative transcript":  {`{"hook_event_name":"Stop","transcript_path":"s.jsonl"}`, spool, "", "is not absolute"},
		"a file in the way":      {event, inTheWay, "", "not a directory"},
		"a disk that is full":    {event, filepath.Join(folder, "full"), "ulimit -f 0; ", "file too large"},
		"no descriptors left":    {event, filepath.Join(folder, "few"), "exec 3<&-; ulimit -n 4; ", "too many open files"},
		"a process out of means": {event, "", "", "usage: graphkernel-hook"},
	} {
		args := []string{"-c", c.limit + `exec "$0" claude-code ` + c.spool, hook}
		got := hooked(t, folder, c.event, "sh", args...)
		if got.code != 0 || got.stdout != "" || !strings.Contains(got.stderr, c.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: %+v, want 0 and a line with %q", name, got, c.want)
		}
		marks, _ := filepath.Glob(filepath.Join(c.spool, "*.json")) // the pattern is well-formed
		if c.spool != "" && len(marks) > 0 {
			t.Errorf("%s: there is a mark", name)
		}
	}
	// The kernel's own program does the same where the small one is missing.
	if got := hooked(t, folder, "hello", "graphkernel", "hook", "claude-code", spool); got.code != 0 || got.stdout != "" || !strings.Contains(got.stderr, "not an event") {
		t.Errorf("graphkernel hook: %+v", got)
	}
}

// TestGuardBlocks has the guard fail to decide in each way there is: the call is blocked, with a reason.
func TestGuardBlocks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	rules := filepath.Join(folder, "rules.json")
	if err := os.WriteFile(rules, []byte(`{"policy_id":"deny@1","policy":{"type":"deny_rules_v1","rules":[{"tool":"Bash","reason":"no shell"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	graphkernel(t, folder, "policy", "add", rules)
	const call = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"Read","tool_input":{"file_path":"/p/x"}}`
	if got := hooked(t, folder, call, "graphkernel", "hook", "claude-code", "--guard", "deny@1"); got != (outcome{}) {
		t.Fatalf("a call that no rule denies: %+v, want nothing", got)
	}
	for name, c := range map[string]struct {
		event string
		args  []string
		want  string
	}{
		"no event":                       {"", nil, "nothing on standard input"},
		"another event":                  {`{"hook_event_name":"Stop"}`, nil, `the event is "Stop"`},
		"arguments that are no JSON":     {`{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{`, nil, "unexpected end"},
		"no tool":                        {`{"hook_event_name":"PreToolUse","tool_input":{}}`, nil, "tool"},
		"a service that is not there":    {call, []string{"--server", "http://127.0.0.1:1"}, "refused"},
		"a service that does not answer": {call, []string{"--server", "http://" + l.Addr().String()}, "no decision within 3s"},
		"a store that is not there":      {call, []string{"--store", "sqlite:" + filepath.Join(folder, "absent.db")}, "no store"},
		"a store that is none":           {call, []string{"--store", "sqlite:" + rules}, "not a database"},
	} {
		begun := time.Now()
		got := hooked(t, folder, c.event, "graphkernel", append(c.args, "hook", "claude-code", "--guard", "deny@1")...)
		if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, "this call is blocked") || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: %+v, want 2 and a line with %q", name, got, c.want)
		}
		if took := time.Since(begun); took > 9*time.Second { // an agent waits for ten
			t.Errorf("%s: decided after %s", name, took)
		}
	}
}
