package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// A brokenPipe accepts a number of bytes, and then fails.
type brokenPipe struct {
	bytes.Buffer
	room int
}

var errPipe = errors.New("the pipe is broken")

func (p *brokenPipe) Write(b []byte) (int, error) {
	if n := p.room - p.Len(); len(b) > n {
		_, _ = p.Buffer.Write(b[:max(n, 0)])
		return max(n, 0), errPipe
	}
	return p.Buffer.Write(b)
}

var shownContext = regexp.MustCompile(`<graphkernel-context ([0-9a-f]{16}) `)

// TestHooksHandOut replays events of sessions in several folders, with outputs that break: there is one record for each text that was written in full, each text
// is of its folder alone, a prompt is told nothing of its own session, and what could not be written is on record as not given.
func TestHooksHandOut(t *testing.T) {
	events := 2000
	if testing.Short() {
		events = 150
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	home := t.TempDir()
	run := func(stdin string, stdout interface{ Write([]byte) (int, error) }, args ...string) (code int, stderr string) {
		var errors bytes.Buffer
		config := testConfig()
		config.Getenv = func(name string) string {
			return map[string]string{"HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home}[name]
		}
		config.Stdin, config.Stdout, config.Stderr = strings.NewReader(stdin), stdout, &errors
		return cli.New(config).Run(t.Context(), args), errors.String()
	}
	must := func(args ...string) []byte {
		t.Helper()
		var out bytes.Buffer
		if code, stderr := run("", &out, args...); code != 0 {
			t.Fatalf("graphkernel %s: %d\n%s", strings.Join(args, " "), code, stderr)
		}
		return out.Bytes()
	}
	must("keys", "init")

	// Each text names its folder and its session.
	folders := []string{"/home/u/bank", "/home/u/shop", "/home/u/shop/web", "/home/u"}
	var sessions []struct{ id, folder string }
	var lines strings.Builder
	for n := range 12 {
		s := struct{ id, folder string }{fmt.Sprintf("5e550000-0000-4000-8000-0000000000%02x", n), folders[n%len(folders)]}
		sessions = append(sessions, s)
		parent := "null"
		for i, role := range []string{"user", "assistant", "user", "assistant"} {
			uuid := fmt.Sprintf("5e55%04x-0000-4000-8000-0000000000%02x", i+1, n)
			text := fmt.Sprintf("The login form of folder-%d rejects passwords, says session-%x in line %d.", n%len(folders), n, i)
			content := fmt.Sprintf("%q", text)
			if role == "assistant" {
				content = fmt.Sprintf(`[{"type":"text","text":%q}]`, text)
			}
			fmt.Fprintf(&lines, `{"type":"%s","uuid":"%s","parentUuid":%s,"sessionId":"%s","cwd":"%s","timestamp":"2026-01-%02dT03:04:0%d.000Z","message":{"role":"%[1]s","content":%[8]s}}`+"\n", role, uuid, parent, s.id, s.folder, n+1, i, content)
			parent = `"` + uuid + `"`
		}
	}
	transcript := filepath.Join(home, "turns.jsonl")
	if err := os.WriteFile(transcript, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	must("import", transcript)
	sessions = append(sessions, struct{ id, folder string }{"5e550000-0000-4000-8000-0000000000ff", folders[0]}, struct{ id, folder string }{"a-new-one", "/home/u/none"})

	// A refusal that the agent cannot read would let the call go on.
	write(t, filepath.Join(home, "rules.json"), `{"policy_id":"deny@1","policy":{"type":"deny_rules_v1","rules":[{"tool":"Bash","reason":"no shell"}]}}`)
	must("policy", "add", filepath.Join(home, "rules.json"))
	call := `{"session_id":"s","transcript_path":"/nowhere/b.jsonl","cwd":"/home/u","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`
	for room := range 3 {
		if code, stderr := run(call, &brokenPipe{room: room * 40}, "hook", "claude-code", "--guard", "deny@1"); code != 2 || !strings.Contains(stderr, "no shell") {
			t.Errorf("a refusal that is written up to byte %d: %d\n%s", room*40, code, stderr)
		}
	}

	given, failed := map[string]bool{}, 0
	for n := range events {
		at := random.IntN(len(sessions))
		s := sessions[at]
		e := map[string]string{"session_id": s.id, "transcript_path": "/nowhere/x.jsonl", "cwd": s.folder, "hook_event_name": "SessionStart", "source": []string{"startup", "resume", "compact", "clear"}[random.IntN(4)]}
		if random.IntN(2) == 0 {
			e["hook_event_name"], e["prompt"] = "UserPromptSubmit", []string{"thanks", "why does the login form reject passwords", "xylophone", fmt.Sprintf("what says session-%x of passwords", random.IntN(12))}[random.IntN(4)]
			delete(e, "source")
		}
		event, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out := &brokenPipe{room: 1 << 20}
		breaks := random.IntN(6) == 0
		if breaks {
			out.room = random.IntN(300)
		}
		code, stderr := run(string(event), out, "hook", "claude-code", "--context", "context@2")
		text := out.String()
		if code != 0 || breaks && text != "" && !strings.Contains(stderr, errPipe.Error()) {
			t.Fatalf("event %d: %d\n%s", n, code, stderr)
		}
		if breaks && strings.Contains(stderr, errPipe.Error()) {
			failed++
			continue
		}
		if text == "" {
			continue
		}
		id := shownContext.FindStringSubmatch(text)
		if id == nil || given[id[1]] {
			t.Fatalf("event %d: no new context in %s", n, text)
		}
		given[id[1]] = true
		for f := range folders {
			if own := folders[f] == s.folder; !own && strings.Contains(text, fmt.Sprintf("folder-%d ", f)) {
				t.Errorf("event %d, in %s: %s", n, s.folder, text)
			}
		}
		continued := e["source"] == "resume" || e["source"] == "compact"
		if at < 12 && continued && !strings.Contains(text, fmt.Sprintf("says session-%x in", at)) {
			t.Errorf("event %d, of session %x, which goes on and is not told of itself: %s", n, at, text)
		}
		if at < 12 && !continued && strings.Contains(text, fmt.Sprintf("says session-%x in", at)) {
			t.Errorf("event %d, of session %x: %s", n, at, text)
		}
	}
	var list struct{ Contexts []api.Issued }
	if err := json.Unmarshal(must("--output", "json", "contexts", "--limit", fmt.Sprint(events+1)), &list); err != nil {
		t.Fatal(err)
	}
	not := 0
	for _, i := range list.Contexts {
		switch {
		case i.Recipient == nil || len(i.Folders) == 0:
			t.Errorf("context %s names no session", i.SliceID)
		case i.NotGiven != 0:
			not++
		case !given[string(i.SliceID)]:
			t.Errorf("context %s was given to nobody, and counts as given", i.SliceID)
		default:
			delete(given, string(i.SliceID))
		}
	}
	t.Logf("%d events, %d contexts given, %d not", events, len(list.Contexts)-not, not)
	if len(given) != 0 || not != failed || not == 0 || len(list.Contexts)-not < events/5 {
		t.Errorf("%d texts have no record, %d records say not given, of %d that failed", len(given), not, failed)
	}
}
