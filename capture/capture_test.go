package capture_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/capture"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// TestReadEvent reads what agents say, and refuses what is no event with a reason.
func TestReadEvent(t *testing.T) {
	e, err := capture.ReadEvent(capture.ClaudeCode, strings.NewReader(`{"session_id":"s","transcript_path":"/t/s.jsonl","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u","future":[1]}`))
	if err != nil || e.Name != capture.PreToolUse || e.Session != "s" || e.Folder != "/p" {
		t.Errorf("%+v, %v", e, err)
	}
	for in, want := range map[string]string{
		``:                             "nothing on standard input",
		"\ufeff \n":                    "nothing on standard input",
		`[]`:                           "want an object",
		`{"hook_event_name":[]}`:       "no hook_event_name",
		`{"session_id":"s"}`:           "no hook_event_name",
		`{"hook_event_name":"Stop"} x`: "invalid character",
		`{"hook_event_name":"Stop","transcript_path":"s.jsonl"}`: `"s.jsonl" is not absolute`,
	} {
		if _, err := capture.ReadEvent(capture.ClaudeCode, strings.NewReader(in)); !errors.Is(err, capture.ErrEvent) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	if _, err := capture.ReadEvent(capture.ClaudeCode, bytes.NewReader(make([]byte, capture.MaxEvent+1))); !errors.Is(err, capture.ErrEvent) {
		t.Errorf("an event without end: %v", err)
	}
}

// TestHook makes sure that nothing that goes wrong is more than a line for a person, and that what is left out leaves no mark.
func TestHook(t *testing.T) {
	event := func(folder string) string {
		return fmt.Sprintf(`{"hook_event_name":"Stop","session_id":"s","transcript_path":"/t/s.jsonl","cwd":%q,"last_assistant_message":"Done."}`, folder)
	}
	spool := capture.At(filepath.Join(t.TempDir(), "a", "spool"))
	hook := func(in string) string {
		var told strings.Builder
		capture.Receive(spool, capture.ClaudeCode, strings.NewReader(in), &told, noon)
		return told.String()
	}
	waiting := func() int {
		list, err := spool.Pending()
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if told := hook("{"); !strings.Contains(told, "not captured") || strings.Count(told, "\n") != 1 || waiting() != 0 {
		t.Errorf("told %q", told)
	}
	for _, set := range []capture.Settings{{Paused: true}, {LeaveOut: []string{"/p"}}} {
		if err := spool.Set(set); err != nil {
			t.Fatal(err)
		}
		if told := hook(event("/p/below")); told != "" || waiting() != 0 {
			t.Errorf("%+v: told %q, %d wait", set, told, waiting())
		}
	}
	if told := hook(event("/public")); told != "" || waiting() != 1 {
		t.Errorf("told %q, %d wait", told, waiting())
	}
	info, err := os.Stat(spool.Folder())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the spool has mode %v, %v", info.Mode(), err)
	}
	files, err := filepath.Glob(filepath.Join(spool.Folder(), "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("%q, %v; want the settings and a mark", files, err)
	}
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
	if err := os.WriteFile(filepath.Join(spool.Folder(), "settings.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if told := hook(event("/other")); !strings.Contains(told, "settings.json") {
		t.Errorf("settings that cannot be read: told %q", told)
	}
}

// TestCaptures is a table of folders that are left out.
func TestCaptures(t *testing.T) {
	for _, c := range []struct {
		out, folder string
		want        bool
	}{
		{"/p", "/p", false},
		{"/p", "/p/", false},
		{"/p/", "/p/q", false},
		{"/p", "/pq", true},
		{"/p/q", "/p", true},
		{"/", "/p", false},
		{"/p", "/q/../p/r", false},
		{"/p", "", true},
	} {
		set := capture.Settings{LeaveOut: []string{c.out}}
		if got := set.Captures(c.folder); got != c.want {
			t.Errorf("%s left out: captures %q is %v", c.out, c.folder, got)
		}
	}
}

// TestSaid cuts a long message where a character begins.
func TestSaid(t *testing.T) {
	spool := capture.At(t.TempDir())
	for i := range 4 {
		said := strings.Repeat("x", i) + strings.Repeat("€", capture.MaxSaid/3+1)
		if err := spool.Add(capture.Mark{Agent: capture.ClaudeCode, Transcript: fmt.Sprintf("/t/%d", i), Event: capture.Stop, At: noon, Said: said}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := spool.Pending()
	if err != nil || len(list) != 4 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	for _, s := range list {
		if n := len(s.Said[0]); n > capture.MaxSaid || n <= capture.MaxSaid-utf8.UTFMax || !utf8.ValidString(s.Said[0]) {
			t.Errorf("%s: %d bytes of the message are kept", s.Transcript, n)
		}
	}
}

// TestFull makes sure that a full spool refuses another transcript, and still takes marks of those it has.
func TestFull(t *testing.T) {
	folder := t.TempDir()
	spool := capture.At(folder)
	mark := capture.Mark{Agent: capture.ClaudeCode, Transcript: "/t/known", Event: capture.PreCompact, At: noon}
	if err := spool.Add(mark); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < capture.MaxMarks; i++ {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := mark
	other.Transcript = "/t/other"
	if err := spool.Add(mark); err != nil {
		t.Errorf("a mark that is there already: %v", err)
	}
	if err := spool.Add(other); !errors.Is(err, capture.ErrFull) {
		t.Errorf("another transcript: %v, want %v", err, capture.ErrFull)
	}
}

// TestTake makes sure that marks left while a session is read outlast it, that what is broken is told and left alone, and
// that half-written files go when they are old.
func TestTake(t *testing.T) {
	folder := t.TempDir()
	spool := capture.At(folder)
	mark := capture.Mark{Agent: capture.ClaudeCode, Session: "s", Transcript: "/t/s", Event: capture.PreCompact, At: noon}
	half, broken := filepath.Join(folder, ".secret-1"), filepath.Join(folder, "broken.json")
	for _, path := range []string{half, broken} {
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, noon, noon); err != nil {
			t.Fatal(err)
		}
	}
	calls := 0
	take := func(now time.Time) error {
		if err := spool.Add(mark); err != nil {
			t.Fatal(err)
		}
		return spool.Take(t.Context(), now, func(s *capture.Session) (bool, error) {
			if calls++; calls == 1 {
				mark.At = mark.At.Add(time.Minute)
				return true, spool.Add(mark)
			}
			return true, nil
		})
	}
	if err := take(noon); err == nil || !strings.Contains(err.Error(), "is no mark") {
		t.Errorf("a broken mark: %v", err)
	}
	if list, _ := spool.Pending(); len(list) != 1 || list[0].Since != mark.At {
		t.Errorf("%d sessions wait, want the mark that was left meanwhile", len(list))
	}
	if _, err := os.Stat(half); err != nil {
		t.Errorf("a file that is being written: %v", err)
	}
	_ = take(noon.Add(capture.Patience + 1)) // the broken mark is still told
	if _, err := os.Stat(half); err == nil {
		t.Error("a half-written file stays for ever")
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) != 1 || !strings.HasPrefix(filepath.Base(left[0]), "broken") || calls != 2 {
		t.Errorf("%q stay after %d calls, %v; want the broken mark alone", left, calls, err)
	}
}

// hooksOf are hooks of this program, one of which blocks.
func hooksOf(program string) []capture.Hook {
	hooks := []capture.Hook{{Event: capture.PreToolUse, Command: program + " hook claude-code --guard deny@1", Blocks: true}}
	for _, event := range capture.ClaudeCode.Events() {
		hooks = append(hooks, capture.Hook{Event: event, Command: program + "-hook claude-code /home/u/spool"})
	}
	return hooks
}

// TestHooks merges hooks into settings of many forms: everything else stays, in its order and spelling; twice is once; undoing gives what was there.
func TestHooks(t *testing.T) {
	const program = "/usr/local/bin/graphkernel"
	ours := hooksOf(program)
	for _, settings := range []string{
		`{}`,
		`{"z":1.50,"a":{"b":[1e3]},"model":"é"}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}],"Other":[{"matcher":"x","hooks":[]}]},"z":1}`,
		`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"/opt/graphkernel/bin/check hook it"}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"notify graphkernel-hook is done"}]}]}}`,
	} {
		with, err := capture.WithHooks(capture.ClaudeCode, []byte(settings), ours)
		if err != nil {
			t.Errorf("%s: %v", settings, err)
			continue
		}
		for _, text := range marked(settings) {
			if got, err := capture.WithHooks(capture.ClaudeCode, []byte(text), ours); err != nil || !bytes.Equal(got, with) {
				t.Errorf("%q: it is %s, %v", text, got, err)
			}
		}
		again, err := capture.WithHooks(capture.ClaudeCode, with, ours)
		if err != nil || !bytes.Equal(again, with) {
			t.Errorf("%s: merged twice it is\n%s, %v; once\n%s", settings, again, err, with)
		}
		if n := bytes.Count(with, []byte(program)); n != len(ours) {
			t.Errorf("%s: %d hooks, want %d", settings, n, len(ours))
		}
		there, lines, err := capture.Installed(capture.ClaudeCode, with)
		if err != nil || len(there) != len(ours) || lines[0][0] != program && lines[0][0] != program+"-hook" {
			t.Errorf("%s: %d hooks are found, %v", settings, len(there), err)
		}
		for _, h := range there {
			if !slices.Contains(ours, h) {
				t.Errorf("found is %+v", h)
			}
		}
		moved, err := capture.WithHooks(capture.ClaudeCode, with, []capture.Hook{{Event: capture.Stop, Command: "'/a folder/graphkernel.exe' hook claude-code /s"}})
		if err != nil || bytes.Contains(moved, []byte(program)) || !bytes.Contains(moved, []byte("a folder")) {
			t.Errorf("%s: hooks of another place are added to ours: %s, %v", settings, moved, err)
		}
		without, err := capture.WithoutHooks(moved)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := compact(t, without), compact(t, []byte(settings)); got != want {
			t.Errorf("undone it is\n%s, want\n%s", got, want)
		}
	}
	made, err := capture.WithHooks(capture.ClaudeCode, nil, ours[:1])
	if err != nil || compact(t, made) != `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/usr/local/bin/graphkernel hook claude-code --guard deny@1","timeout":10,"onFailure":"block"}]}]}}` {
		t.Errorf("without settings: %s, %v", made, err)
	}
	for settings, want := range map[string]string{
		`[]`:                        "want an object",
		`{"a":1,"a":2}`:             `"a" occurs twice`,
		`{"hooks":[]}`:              "hooks: want an object",
		`{"hooks":{"Stop":{}}}`:     "hooks.Stop",
		`{"a":1`:                    "unexpected end",
		"{\n// a comment\n\"a\":1}": "invalid character",
	} {
		if _, err := capture.WithHooks(capture.ClaudeCode, []byte(settings), ours); !errors.Is(err, capture.ErrSettings) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
}

func compact(t *testing.T, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCommandLine reads back what it wrote, whatever the words are.
func TestCommandLine(t *testing.T) {
	for _, words := range [][]string{{"a"}, {"a b", "c"}, {"", "it's", `\`, `'`, "$HOME;`x`"}, {"é ", "--x=1"}} {
		line := capture.CommandLine(words...)
		if got := capture.Split(line); !slices.Equal(got, words) {
			t.Errorf("%q is read as %q, want %q", line, got, words)
		}
	}
}
