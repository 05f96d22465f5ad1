package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/graphkernel/graphkernel/capture/resident"
)

// hookTurns are the sizes of the store that hooks are measured over.
var hookTurns = []int{2_000, 80_000}

// hookBounds are the most that a hook may take, as multiples of starting the small program, at the median and the 95th percentile: with a process that
// answers, and without.
var hookBounds = map[string][2][2]float64{
	"capture": {{1.3, 2}, {1.3, 2}},
	"guard":   {{2, 4}, {8, 15}},
	"prompt":  {{3, 6}, {6, 12}},
	"start":   {{6, 12}, {12, 25}},
}

// A hookHome is the home folder of a person whose agent calls hooks. Its path is short, since the path of a socket has a limit.
type hookHome struct {
	folder, project, spool string
	env                    []string
}

// hooking measures the small program for each kind of event and for an empty event, in turn.
func hooking(ctx context.Context, r *report, folder string, rounds int) error {
	bin := filepath.Join(folder, "bin")
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/graphkernel/graphkernel").Output()
	if err != nil {
		return err
	}
	for _, program := range []string{"graphkernel", "graphkernel-hook"} {
		c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(bin, program), "./cmd/"+program)
		c.Dir = string(bytes.TrimSpace(root))
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	for _, turns := range hookTurns {
		home, err := os.MkdirTemp("", "gk")
		if err != nil {
			return err
		}
		err = hooksOver(ctx, r, bin, home, turns, rounds)
		if err = errors.Join(err, os.RemoveAll(home)); err != nil {
			return err
		}
	}
	return nil
}

func hooksOver(ctx context.Context, r *report, bin, folder string, turns, rounds int) error {
	h := &hookHome{folder: folder, project: filepath.Join(folder, "project"), spool: filepath.Join(folder, ".local", "state", "graphkernel", "spool", "default")}
	h.env = append(os.Environ(), "HOME="+folder, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
	if err := os.Mkdir(h.project, 0o700); err != nil {
		return err
	}
	lines, rules, session := filepath.Join(folder, "turns.jsonl"), filepath.Join(folder, "rules.json"), filepath.Join(folder, "session.jsonl")
	if _, err := writeTurns(lines, turns, 1_000); err != nil {
		return err
	}
	if err := errors.Join(
		os.WriteFile(rules, []byte(`{"policy_id":"deny@1","policy":{"type":"deny_rules_v1","rules":[{"tool":"Bash","argument":"\\brm\\s+-rf\\b","reason":"deletes folders"}]}}`), 0o600),
		os.WriteFile(session, h.session(40), 0o600),
	); err != nil {
		return err
	}
	kernel := filepath.Join(bin, "graphkernel")
	for _, args := range [][]string{
		{"keys", "init"}, {"import", lines}, {"policy", "add", rules}, {"setup", "claude-code", "--yes", "--each-prompt", "--guard", "deny@1", "--settings", filepath.Join(folder, "settings.json")}, {"import", session},
	} {
		if err := h.run(ctx, kernel, nil, args...); err != nil {
			return err
		}
	}
	title := func(how string) string { return fmt.Sprintf("Hooks over %d turns, %s", turns, how) }
	program := filepath.Join(bin, "graphkernel-hook")
	if err := h.measure(ctx, r, title("without a process that answers"), program, without, rounds, "GRAPHKERNEL_RESIDENT=off", "capture", "guard", "prompt"); err != nil {
		return err
	}
	if err := h.measure(ctx, r, title("right after an import, without a process that answers"), program, without, min(rounds, 100), "GRAPHKERNEL_RESIDENT=off", "start"); err != nil {
		return err
	}
	answers := exec.CommandContext(ctx, kernel, "hook", "resident", h.spool, "--context", "default")
	answers.Env = h.env
	if err := answers.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- answers.Wait() }()
	defer func() { _ = answers.Process.Signal(os.Interrupt); <-ended }()
	for !resident.There(ctx, h.spool) {
		select {
		case err := <-ended:
			return fmt.Errorf("the process that answers hooks has ended: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := h.measure(ctx, r, title("with a process that answers"), program, with, rounds, "", "capture", "guard", "prompt", "start"); err != nil {
		return err
	}

	// Another process imports into the same store, again and again.
	writing, stop := context.WithCancel(ctx)
	written := make(chan int)
	go func() {
		n := 0
		for ; writing.Err() == nil; n++ {
			path := filepath.Join(folder, "more.jsonl")
			if _, err := writeTurnsFrom(path, 2_000, 500, uint64(1_000+n)); err != nil {
				break
			}
			_ = h.run(writing, kernel, nil, "import", "--no-index", path) // the last one is cut short
		}
		written <- n
	}()
	err := h.measure(ctx, r, title("with a process that answers, while another one imports"), program, with, max(1, rounds/4), "", "capture", "guard", "prompt", "start")
	stop()
	r.note("%d imports of 2000 turns were made meanwhile", <-written)
	return err
}

// session returns a transcript of prompts in the project.
func (h *hookHome) session(prompts int) []byte {
	var b bytes.Buffer
	for n := range prompts {
		fmt.Fprintf(&b, `{"parentUuid":null,"isSidechain":false,"cwd":%q,"sessionId":"3f3af1ec-ebbd-4410-ab41-000000000001","type":"user","message":{"role":"user","content":"In step %d the login form rejects the passwords of the merger team"},"uuid":"f64551fc-d6f0-4823-8b87-%012d","timestamp":"2026-03-01T10:%02d:00Z"}`+"\n", h.project, n, n, n)
	}
	return b.Bytes()
}

func (h *hookHome) run(ctx context.Context, program string, stdin []byte, args ...string) error {
	c := exec.CommandContext(ctx, program, args...)
	c.Env, c.Stdin = h.env, bytes.NewReader(stdin)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return nil
}

// The columns of hookBounds.
const (
	with = iota
	without
)

// measure runs the hooks of some kinds of events in turn, and prints their times as multiples of the time that an empty event takes.
func (h *hookHome) measure(ctx context.Context, r *report, title, program string, column, rounds int, env string, kinds ...string) error {
	var all []*candidate
	told := map[string]int{}
	for _, kind := range append([]string{"empty"}, kinds...) {
		args := []string{"claude-code", h.spool}
		switch kind {
		case "guard":
			args = append(args, "--guard", "deny@1")
		case "prompt", "start":
			args = append(args, "--context", "default")
		}
		var prepare func(context.Context, int) error
		if kind == "start" && column == without { // a prepared context is given once, and an import prepares more
			prepare = func(ctx context.Context, _ int) error {
				return h.run(ctx, filepath.Join(filepath.Dir(program), "graphkernel"), nil, "import", filepath.Join(h.folder, "session.jsonl"))
			}
		}
		all = append(all, &candidate{name: kind, prepare: prepare, run: func(ctx context.Context, i int) error {
			event, err := h.event(kind, i)
			if err != nil {
				return err
			}
			c := exec.CommandContext(ctx, program, args...)
			c.Env, c.Stdin = append(h.env, env), bytes.NewReader(event)
			out, err := c.Output()
			if len(out) > 0 {
				told[kind]++
			}
			return err
		}})
	}
	for _, c := range all {
		if err := c.warm(ctx, 3); err != nil {
			return err
		}
	}
	clear(told)
	if err := inTurn(ctx, rounds, all); err != nil {
		return err
	}
	empty := all[0].sample
	rows := make([]row, len(all))
	for i, c := range all {
		rows[i] = rowOf(c, nil)
		rows[i].name = fmt.Sprintf("%s (told %d of %d)", c.name, told[c.name], len(c.sample))
		if bounds, ok := hookBounds[c.name]; ok {
			for n, q := range []struct {
				name string
				of   func(sample) time.Duration
			}{{"p50", sample.p50}, {"p95", func(s sample) time.Duration { return s[len(s)*95/100] }}} {
				most := bounds[column][n]
				got := float64(q.of(c.sample)) / float64(q.of(empty))
				rows[i].bounds = append(rows[i].bounds, bound{fmt.Sprintf("%s %.2g × ≤ %.2g ×", q.name, got, most), got <= most})
			}
		}
	}
	r.table(title, rows)
	return nil
}

// event returns an event of a kind; nil is an empty one.
func (h *hookHome) event(kind string, i int) ([]byte, error) {
	e := map[string]any{"session_id": fmt.Sprintf("%s-%d", kind, i), "transcript_path": fmt.Sprintf("/nowhere/%d.jsonl", i%10), "cwd": h.project}
	switch kind {
	case "empty":
		return nil, nil
	case "capture":
		e["hook_event_name"], e["tool_name"], e["tool_response"] = "PostToolUse", "Bash", "ok"
	case "guard":
		e["hook_event_name"], e["tool_name"], e["tool_input"] = "PreToolUse", "Bash", map[string]string{"command": "go test ./... 2>&1 | tail -5"}
	case "prompt":
		e["hook_event_name"], e["prompt"] = "UserPromptSubmit", fmt.Sprintf("why does the login form reject passwords in step %d", i%40)
	case "start":
		e["hook_event_name"], e["source"] = "SessionStart", "startup"
	}
	return json.Marshal(e)
}
