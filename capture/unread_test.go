package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/capture"
)

// TestUnread counts events that hooks could not read, for each agent and kind of hook, until one is read.
func TestUnread(t *testing.T) {
	state := t.TempDir()
	spool := capture.At(filepath.Join(state, "spool", "default"))
	unread := func(want ...string) {
		t.Helper()
		list, err := spool.Unread()
		got := []string{}
		for _, u := range list {
			got = append(got, fmt.Sprintf("%s %s %d %s-%s %s", u.Agent, u.Hook, u.Count, u.Since.Format("15:04"), u.Last.Format("15:04"), u.Error))
		}
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("unread are %q, %v; want %q", got, err, want)
		}
	}
	receive := func(agent capture.Agent, in string, after time.Duration) {
		t.Helper()
		var told strings.Builder
		capture.Receive(spool, agent, strings.NewReader(in), &told, noon.Add(after))
		if told.Len() > 0 && strings.Count(told.String(), "\n") != 1 {
			t.Errorf("told %q", &told)
		}
	}
	const good = `{"hook_event_name":"Stop","transcript_path":null}`
	unread()
	receive(capture.ClaudeCode, good, 0)
	unread()
	receive(capture.ClaudeCode, "", 0)
	receive(capture.ClaudeCode, "{", time.Minute)
	receive(capture.Gemini, "[]", 2*time.Minute)
	if err := spool.DidRead(capture.ClaudeCode, capture.HookGuard, fmt.Errorf("%s", strings.Repeat("\xa9", 1000)), noon); err != nil {
		t.Fatal(err)
	}
	if list, err := spool.Unread(); err != nil || len(list) != 3 || len(list[1].Error) > 1000 {
		t.Errorf("%+v, %v", list, err)
	}
	files, err := filepath.Glob(filepath.Join(state, "spool", "*.unread-*"))
	if err != nil || len(files) != 3 {
		t.Errorf("%q, %v; want a file for each kind", files, err)
	}
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := spool.DidRead(capture.ClaudeCode, capture.HookGuard, nil, noon); err != nil {
		t.Fatal(err)
	}
	unread("claude-code capture 2 12:00-12:01 capture: not an event of an agent: unexpected end of JSON input", "gemini capture 1 12:02-12:02 capture: not an event of an agent: want an object")
	receive(capture.ClaudeCode, good, 0)
	unread("gemini capture 1 12:02-12:02 capture: not an event of an agent: want an object")
	receive(capture.Gemini, good, 0)
	unread()
}

// TestManyUnread keeps the file small, and the count and the first time right, also while hooks run at once.
func TestManyUnread(t *testing.T) {
	folder := t.TempDir()
	spool := capture.At(filepath.Join(folder, "s"))
	const n = 3_000
	for i := range n {
		if err := spool.DidRead(capture.Codex, capture.HookCapture, fmt.Errorf("%s %d", strings.Repeat("x", 200), i), noon.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := spool.Unread()
	if err != nil || len(list) != 1 || list[0].Count != n || !list[0].Since.Equal(noon) || !list[0].Last.Equal(noon.Add((n-1)*time.Second)) || !strings.HasSuffix(list[0].Error, fmt.Sprint(n-1)) {
		t.Errorf("%+v, %v", list, err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Size() > 100<<10 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if err := spool.DidRead(capture.Gemini, capture.HookCapture, fmt.Errorf("%d", i), noon); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := spool.Unread(); err != nil || len(list) != 2 || list[1].Count != 50 {
		t.Errorf("%+v, %v", list, err)
	}
}
