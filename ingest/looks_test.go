package ingest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// Looks are shared by readings, and a file that was written between two of them is looked at again.
func TestLooks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "session.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	looks := &Looks{}
	read := func(want Format, turns int) {
		t.Helper()
		r, err := ReadAll(context.Background(), []string{dir}, Options{Looks: looks}, func(*Batch) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Files) != 1 || r.Files[0].Format != want || r.Turns != turns {
			t.Fatalf("read %+v with %d turns, want one file of %s with %d", r.Files, r.Turns, want, turns)
		}
	}
	write(`{"type":"user","uuid":"5d4da0ed-cad6-486c-83a0-d22916434fa9","parentUuid":null,"sessionId":"00ef13bd-99a1-4001-a829-09985a069ab2","timestamp":"2026-02-11T15:31:21.085Z","message":{"role":"user","content":"a question"}}` + "\n")
	read(ClaudeCode, 1)
	if known := looks.files[file]; known == nil || known.look == nil || known.subagent == nil {
		t.Fatalf("kept %+v", known)
	}
	read(ClaudeCode, 1)
	write(`{"role":"user","content":"a question"}` + "\n" + `{"role":"assistant","content":"an answer"}` + "\n")
	read(OpenAI, 2)
}
