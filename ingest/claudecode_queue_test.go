package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
)

// A transcript writes lines of one session, a second apart.
type transcript struct {
	lines []string
	clock int
}

func (s *transcript) add(format string, args ...any) {
	s.clock++
	s.lines = append(s.lines, fmt.Sprintf(`{"sessionId":"s","timestamp":"2026-01-02T03:%02d:%02dZ",`, s.clock/60, s.clock%60)+fmt.Sprintf(format, args...)+"}")
}

func link(name string) string {
	if name == "" {
		return "null"
	}
	return `"` + name + `"`
}

func (s *transcript) said(id, parent, text string) {
	s.add(`"type":"user","uuid":%q,"parentUuid":%s,"message":{"content":%q}`, id, link(parent), text)
}

func (s *transcript) call(id, parent, message, use string) {
	s.add(`"type":"assistant","uuid":%q,"parentUuid":%s,"message":{"id":%q,"content":[{"type":"tool_use","id":%q,"name":"Read","input":{}}]}`, id, link(parent), message, use)
}

func (s *transcript) result(id, parent, use string) {
	s.add(`"type":"user","uuid":%q,"parentUuid":%s,"message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]}`, id, link(parent), use)
}

func (s *transcript) queue(operation string, content ...string) {
	field := ""
	if len(content) > 0 {
		field = fmt.Sprintf(`,"content":%q`, content[0])
	}
	if len(content) > 1 {
		field += fmt.Sprintf(`,"reason":%q`, content[1])
	}
	s.add(`"type":"queue-operation","operation":%q%s`, operation, field)
}

func (s *transcript) attachment(id, parent, prompt, more string) {
	s.add(`"type":"attachment","uuid":%q,"parentUuid":%s,"attachment":{"type":"queued_command","prompt":%s%s}`, id, link(parent), prompt, more)
}

func (s *transcript) text() string { return strings.Join(s.lines, "\n") + "\n" }

// id is that of a record of a transcript, whose names are no UUIDs.
func id(name string) dag.TurnID { return dag.ExternalTurnID(sourceClaude, name) }

// TestQueuedPrompts drives the queue in the ways that transcripts show.
func TestQueuedPrompts(t *testing.T) {
	const notification = "<task-notification>\n<task-id>b1</task-id>"
	for _, tc := range []struct {
		name    string
		drive   func(*transcript)
		prompts string // the texts of the user's turns after the first, in order
		skipped map[string]int
	}{
		{"delivered", func(s *transcript) { s.queue("enqueue", "also B"); s.queue("remove") }, "also B", map[string]int{"queue_operation": 1}},
		{"first in, first out", func(s *transcript) {
			s.queue("enqueue", "one")
			s.queue("enqueue", "two")
			s.queue("remove")
			s.queue("remove")
		}, "one|two", map[string]int{"queue_operation": 2}},
		{"named", func(s *transcript) {
			s.queue("enqueue", "one")
			s.queue("enqueue", "two")
			s.queue("remove", "two", "absorbed_mid_turn")
		}, "two", map[string]int{"queue_operation": 2}},
		{"taken back", func(s *transcript) { s.queue("enqueue", "no"); s.queue("popAll", "no") }, "", map[string]int{"queue_operation": 1, "queue_withdrawn": 1}},
		{"all taken back", func(s *transcript) {
			s.queue("enqueue", "a")
			s.queue("enqueue", "b")
			s.queue("popAll", "a\nb")
			s.queue("remove")
		}, "", map[string]int{"queue_operation": 2, "queue_withdrawn": 1, "queue_unpaired": 1}},
		{"one of two taken back", func(s *transcript) {
			s.queue("enqueue", "a")
			s.queue("enqueue", "b")
			s.queue("popAll", "a")
			s.queue("remove")
		}, "b", map[string]int{"queue_operation": 2, "queue_withdrawn": 1}},
		{"removed for another reason", func(s *transcript) { s.queue("enqueue", "no"); s.queue("remove", "no", "cancelled") }, "",
			map[string]int{"queue_operation": 1, "queue_withdrawn": 1}},
		{"a command", func(s *transcript) { s.queue("enqueue", "/mcp"); s.queue("remove") }, "", map[string]int{"queue_operation": 1, "queue_no_prompt": 1}},
		{"a path is no command", func(s *transcript) { s.queue("enqueue", "/etc/hosts is wrong"); s.queue("remove") }, "/etc/hosts is wrong",
			map[string]int{"queue_operation": 1}},
		{"a machine's text", func(s *transcript) {
			s.queue("enqueue", notification)
			s.queue("enqueue", "P")
			s.queue("remove")
			s.queue("remove")
		}, "P", map[string]int{"queue_operation": 2, "queue_no_prompt": 1}},
		{"a machine's text that nothing removes", func(s *transcript) {
			s.queue("enqueue", notification)
			s.said("p2", "r1", "Go on.")
			s.queue("enqueue", "P")
			s.queue("remove")
		}, "Go on.|P", map[string]int{"queue_operation": 2}},
		{"a prompt of its own", func(s *transcript) { s.queue("enqueue", "Then C."); s.queue("dequeue"); s.said("p2", "r1", "Then C.") }, "Then C.",
			map[string]int{"queue_operation": 2}},
		{"an attachment and a remove", func(s *transcript) {
			s.queue("enqueue", "also B")
			s.attachment("x", "r1", `"also B"`, `,"commandMode":"prompt","origin":{"kind":"human"}`)
			s.queue("remove")
		}, "also B", map[string]int{"queue_operation": 2}},
		{"a remove and an attachment", func(s *transcript) {
			s.queue("enqueue", "also B")
			s.queue("remove", "also B", "absorbed_mid_turn")
			s.attachment("x", "r1", `"also B"`, "")
		}, "also B", map[string]int{"queue_operation": 1, "attachment": 1}},
		{"an attachment among others", func(s *transcript) {
			s.queue("enqueue", "one")
			s.queue("enqueue", "two")
			s.attachment("x", "r1", `"two"`, "")
			s.queue("remove")
			s.queue("remove")
		}, "two|one", map[string]int{"queue_operation": 3}},
		{"an attachment with an image", func(s *transcript) {
			s.queue("enqueue")
			s.attachment("x", "r1", `[{"type":"text","text":"like this"},{"type":"image","source":{"type":"url","url":"u"}}]`, "")
			s.queue("remove")
		}, "like this\n\n[image at {\"type\":\"url\",\"url\":\"u\"}]", map[string]int{"queue_operation": 2}},
		{"attachments that no person typed", func(s *transcript) {
			s.attachment("x", "r1", `"tell me"`, `,"origin":{"kind":"peer"}`)
			s.attachment("y", "x", `"`+strings.ReplaceAll(notification, "\n", `\n`)+`"`, `,"commandMode":"task-notification"`)
			s.attachment("z", "y", `"/model"`, "")
		}, "tell me", map[string]int{"attachment": 2}},
		{"what an attachment says nobody typed", func(s *transcript) {
			s.queue("enqueue", "go on")
			s.attachment("x", "r1", `"go on"`, `,"commandMode":"task-notification"`)
			s.queue("remove")
		}, "", map[string]int{"attachment": 1, "queue_operation": 1, "queue_no_prompt": 1}},
		{"what came from no person", func(s *transcript) {
			s.add(`"type":"queue-operation","operation":"enqueue","content":"a","origin":{"kind":"auto"}`)
			s.queue("remove")
		}, "", map[string]int{"queue_operation": 1, "queue_no_prompt": 1}},
		{"the same words twice", func(s *transcript) {
			s.queue("enqueue", "go on")
			s.queue("remove")
			s.call("a2", "r1", "m2", "t2")
			s.result("r2", "a2", "t2")
			s.queue("enqueue", "go on")
			s.attachment("x", "r2", `"go on"`, "")
			s.queue("remove")
		}, "go on|go on", map[string]int{"queue_operation": 3}},
		{"nothing waits", func(s *transcript) { s.queue("remove"); s.queue("dequeue"); s.queue("shuffle") }, "", map[string]int{"queue_operation": 2, "queue_unpaired": 1}},
		{"still waiting", func(s *transcript) { s.queue("enqueue", "later") }, "", map[string]int{"queue_operation": 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s transcript
			s.said("p1", "", "Do A.")
			s.call("a1", "p1", "m1", "t1")
			s.result("r1", "a1", "t1")
			tc.drive(&s)
			drafts, report := collect(t, write(t, "s.jsonl", s.text()), Options{Format: ClaudeCode})
			var prompts []string
			for _, d := range drafts[1:] {
				if d.Role == dag.RoleUser {
					prompts = append(prompts, d.Content)
				}
			}
			if got := strings.Join(prompts, "|"); got != tc.prompts {
				t.Errorf("prompts %q, want %q", got, tc.prompts)
			}
			if diff := cmp.Diff(tc.skipped, report.Skipped); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestQueuedPromptEdges has a prompt delivered between a result and the message
// that follows it.
func TestQueuedPromptEdges(t *testing.T) {
	var s transcript
	s.said("p1", "", "Do A.")
	s.call("a1", "p1", "m1", "t1")
	s.queue("enqueue", "also B") // at 03:00:03
	s.result("r1", "a1", "t1")
	s.queue("remove")
	s.call("a2", "r1", "m2", "t2")
	s.result("r2", "a2", "t2")
	s.call("a3", "r2", "m3", "t3")
	drafts, report := collect(t, write(t, "s.jsonl", s.text()), Options{Format: ClaudeCode})
	at := byID(drafts)
	queued := drafts[3]
	if got := queued.Attrs["external_id"]; !strings.HasPrefix(got, "s/queued/2026-01-02T03:00:03Z/") || queued.ID != id(got) {
		t.Errorf("named %q, id %s", got, queued.ID)
	}
	for _, want := range []struct {
		turn    *dag.Draft
		parents []dag.Parent
	}{
		{&queued, []dag.Parent{{ID: id("r1"), Kind: dag.Reply}, {ID: id("p1"), Kind: dag.Reference}}},
		{at[id("a2")], []dag.Parent{{ID: id("r1"), Kind: dag.Reply}, {ID: id("p1"), Kind: dag.Reference}, {ID: queued.ID, Kind: dag.Reply}}},
		{at[id("a3")], []dag.Parent{{ID: id("r2"), Kind: dag.Reply}, {ID: queued.ID, Kind: dag.Reference}}},
	} {
		if diff := cmp.Diff(want.parents, want.turn.Parents); diff != "" {
			t.Errorf("%s: %s", want.turn.Content, diff)
		}
	}
	if queued.Author != authorHuman || queued.CreatedAt.String() != "2026-01-02T03:00:05.000000Z" || queued.Attrs["queued_at"] != "2026-01-02T03:00:03Z" || queued.Attrs["parent_by"] != "order" {
		t.Errorf("%s", dump(drafts[3:4]))
	}
	if report.Noted["prompt_queued"] != 1 {
		t.Errorf("noted %v", report.Noted)
	}
}

// TestQueuedPromptsGrow reads a session with queued prompts at every length it ever had.
func TestQueuedPromptsGrow(t *testing.T) {
	var s transcript
	s.said("p1", "", "Do A.")
	s.queue("enqueue", "also B")
	s.queue("enqueue", "<task-notification>")
	s.call("a1", "p1", "m1", "t1")
	s.result("r1", "gone", "t1")
	s.queue("remove")
	s.attachment("x1", "r1", `"also B"`, "")
	s.call("a2", "x1", "m2", "t2")
	s.queue("enqueue", "and C")
	s.result("r2", "a2", "t2")
	s.attachment("x2", "r2", `"and C"`, "")
	s.queue("remove", "and C", "absorbed_mid_turn")
	s.call("a3", "x2", "m3", "t3")
	s.said("p2", "a3", "Then D.")
	s.queue("enqueue", "and E")
	s.queue("remove")
	s.call("a4", "p2", "m4", "t4")
	folder := t.TempDir()
	path := filepath.Join(folder, "s.jsonl")
	if err := os.WriteFile(path, []byte(s.text()), 0o600); err != nil {
		t.Fatal(err)
	}
	final, _ := collect(t, path, Options{Format: ClaudeCode})
	checkGrowth(t, folder, "s.jsonl", byID(final), 1)
	if len(final) != 11 {
		t.Errorf("%d turns: %s", len(final), dump(final))
	}
}
