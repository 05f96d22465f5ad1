package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServeCapture has the program that agents run leave a mark for a running service. The transcript is
// written only when the service has seen the mark.
func TestServeCapture(t *testing.T) {
	t.Parallel()
	folder, key := withKeys(t)
	s := startServe(t, folder)
	s.key = key
	transcript := filepath.Join(folder, "5e55.jsonl")
	event, err := json.Marshal(map[string]string{"hook_event_name": "Stop", "session_id": "5e55", "transcript_path": transcript, "cwd": folder, "last_assistant_message": "It is done."})
	if err != nil {
		t.Fatal(err)
	}
	spool := filepath.Join(folder, ".local", "state", "graphkernel", "spool", "default")
	c := exec.Command(buildHook(t), "claude-code", spool)
	c.Stdin = strings.NewReader(string(event))
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("the hook said %q, %v", out, err)
	}
	marks := func(suffix string) int {
		names, err := filepath.Glob(filepath.Join(spool, "*"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	// The transcript may be written later than the hook is called. Until then the service keeps the mark, and that is no fault.
	s.until("the service's claim to the mark", func() bool { return marks(".taking") == 1 })
	line, err := json.Marshal(map[string]any{"type": "assistant", "uuid": "5e550000-0000-4000-8000-000000000001", "sessionId": "5e55", "timestamp": "2026-01-02T03:04:05Z",
		"message": map[string]any{"id": "m1", "content": "It is done."}})
	if err == nil {
		err = os.WriteFile(transcript, append(line, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.until("the turn", func() bool {
		status, _ := s.get("/api/turns/5e550000-0000-4000-8000-000000000001")
		return status == http.StatusOK
	})
	s.until("the end of the mark", func() bool { return marks(".json")+marks(".taking") == 0 })
	if strings.Contains(s.logged(), "could not be imported") {
		t.Errorf("a transcript that came late was called a fault:\n%s", s.logged())
	}
	s.stop()
}
