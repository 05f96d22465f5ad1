package ingest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestClaudeAI(t *testing.T) {
	path := filepath.Join("testdata", "claude-ai.json")
	drafts, report := collect(t, path, Options{})
	golden(t, "claude-ai.txt", dump(drafts))
	want := map[string]int{"parent_cycle": 2, "empty_message": 1, "unknown_role": 1, "malformed_record": 1, "repeated": 1, "broken_conversation": 1}
	if diff := cmp.Diff(want, report.Skipped); diff != "" {
		t.Errorf("skipped: %s", diff)
	}
	want = map[string]int{"attachment_data": 2, "parent_missing": 1, "time_inferred": 1, "lone_surrogate": 2}
	if diff := cmp.Diff(want, report.Noted); diff != "" {
		t.Errorf("noted: %s", diff)
	}

	// As the export comes: a zip with other files beside it.
	archive := zipOf(t, "conversations.json", readTestFile(t, "claude-ai.json"), "users.json", `[{"uuid":"x","full_name":"x"}]`, "projects.json", "[]")
	packed, report := collect(t, write(t, "export.zip", string(archive)), Options{})
	if diff := cmp.Diff(drafts, packed); diff != "" {
		t.Errorf("in a zip: %s", diff)
	}
	if report.Skipped["unknown_format"] != 2 {
		t.Errorf("skipped %v", report.Skipped)
	}
}

// TestClaudeAIGrows takes messages off the end of a conversation: the rest stays what it was.
func TestClaudeAIGrows(t *testing.T) {
	messages := []string{
		`{"uuid":"c1a0de00-0000-4000-8000-000000000031","sender":"human","text":"q","created_at":"2026-03-14T02:00:01Z","parent_message_uuid":"00000000-0000-4000-8000-000000000000"}`,
		`{"uuid":"c1a0de00-0000-4000-8000-000000000032","sender":"assistant","text":"a","created_at":"2026-03-14T02:00:02Z","parent_message_uuid":"c1a0de00-0000-4000-8000-000000000031"}`,
		`{"uuid":"c1a0de00-0000-4000-8000-000000000033","sender":"human","text":"r","created_at":"2026-03-14T02:00:03Z","parent_message_uuid":"c1a0de00-0000-4000-8000-000000000032"}`,
		`{"uuid":"c1a0de00-0000-4000-8000-000000000034","sender":"human","text":"s","created_at":"2026-03-14T02:00:04Z","parent_message_uuid":"c1a0de00-0000-4000-8000-000000000032"}`,
	}
	chat := func(n int) string {
		return `{"uuid":"c1a0de00-0000-4000-8000-000000000030","name":"n","chat_messages":[` + strings.Join(messages[:n], ",") + `]}`
	}
	final, _ := collect(t, write(t, "c.json", chat(len(messages))), Options{})
	for n := 1; n <= len(messages); n++ {
		drafts, _ := collect(t, write(t, "c.json", chat(n)), Options{})
		if len(drafts) != n {
			t.Errorf("%d turns of %d messages", len(drafts), n)
		}
		if diff := cmp.Diff(final[:n], drafts, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%d messages: %s", n, diff)
		}
	}
}

func FuzzClaudeAI(f *testing.F) {
	seedWith(f, "claude-ai.json")
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFormat(t, text, ClaudeAI) })
}
