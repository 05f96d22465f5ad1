package ingest

import (
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestAttachments has each kind that the model sees between a prompt and its answer: it is a turn of a program's, and the answer is that of the prompt. What only reminds is no turn.
func TestAttachments(t *testing.T) {
	const words = "delete the carts"
	told := "<graphkernel-context c1 of the kernel>\nwords\n</graphkernel-context c1>"
	for _, tc := range []struct{ name, attachment, by, content, skipped string }{
		{"a hook's context", `"type":"hook_additional_context","hookName":"PreToolUse:Bash","content":["` + words + `","and more"]`, "tool:hook", "[hook PreToolUse:Bash]\n" + words + "\n\n[hook PreToolUse:Bash]\nand more", ""},
		{"a hook's context in one text", `"type":"hook_additional_context","hookEvent":"Stop","content":"` + words + `"`, "tool:hook", "[hook Stop]\n" + words, ""},
		{"what a hook printed at a start", `"type":"hook_success","hookName":"SessionStart:startup","hookEvent":"SessionStart","content":"` + words + `","stdout":"x"`, "tool:hook", "[hook SessionStart:startup]\n" + words, ""},
		{"what a hook printed at a prompt", `"type":"hook_success","hookEvent":"UserPromptSubmit","content":"` + words + `"`, "tool:hook", "[hook UserPromptSubmit]\n" + words, ""},
		{"what a hook printed elsewhere", `"type":"hook_success","hookEvent":"PostToolUse","content":"` + words + `"`, "", "", "attachment"},
		{"a hook that printed nothing", `"type":"hook_success","hookEvent":"SessionStart","content":""`, "", "", "attachment"},
		{"a hook that answers later", `"type":"async_hook_response","hookName":"h","response":{"hookSpecificOutput":{"additionalContext":"` + words + `"}}`, "tool:hook", "[hook h]\n" + words, ""},
		{"a hook that blocks", `"type":"hook_blocking_error","hookName":"h","blockingError":{"blockingError":"` + words + `","command":"c"}`, "tool:hook", "[hook h]\n" + words, ""},
		{"a hook that stops", `"type":"hook_stopped_continuation","hookName":"h","message":"` + words + `"`, "tool:hook", "[hook h]\n" + words, ""},
		{"a context of the kernel's", `"type":"hook_additional_context","hookEvent":"SessionStart","content":[` + quoted(told) + `]`, "", "", "kernel_context"},
		{"such a one beside another", `"type":"hook_additional_context","hookEvent":"SessionStart","content":[` + quoted(told) + `,"` + words + `"]`, "tool:hook", "[hook SessionStart]\n" + words, ""},
		{"a file", `"type":"file","filename":"/srv/a.md","content":{"type":"text","file":{"filePath":"/srv/a.md","content":"` + words + `"}}`, "tool:attachment", "[attachment /srv/a.md]\n" + words, ""},
		{"an image", `"type":"file","filename":"/srv/a.png","content":{"type":"image","file":{"base64":"aGk=","type":"image/png"}}`, "tool:attachment", "[attachment /srv/a.png: file image/png, 2 bytes", ""},
		{"a file that changed", `"type":"edited_text_file","filename":"/srv/a.md","snippet":"` + words + `"`, "tool:attachment", "[attachment /srv/a.md]\n" + words, ""},
		{"a folder", `"type":"directory","path":"/srv","content":"` + words + `"`, "tool:attachment", "[attachment /srv]\n" + words, ""},
		{"a selection", `"type":"selected_lines_in_ide","filename":"/srv/a.md","lineStart":1,"content":"` + words + `"`, "tool:attachment", "[attachment /srv/a.md]\n" + words, ""},
		{"a plan", `"type":"plan_file_reference","planFilePath":"/p.md","planContent":"` + words + `"`, "tool:attachment", "[attachment /p.md]\n" + words, ""},
		{"memory of a folder", `"type":"nested_memory","path":"/srv/CLAUDE.md","content":{"path":"/srv/CLAUDE.md","content":"` + words + `"}`, "tool:attachment", "[attachment /srv/CLAUDE.md]\n" + words, ""},
		{"memories", `"type":"relevant_memories","memories":[{"path":"/m.md","content":"` + words + `"}]`, "tool:attachment", "[attachment /m.md]\n" + words, ""},
		{"skills", `"type":"invoked_skills","skills":[{"name":"s","content":"` + words + `"}]`, "tool:attachment", "[attachment s]\n" + words, ""},
		{"a resource", `"type":"mcp_resource","server":"x","uri":"x://y","content":{"contents":[{"text":"` + words + `"}]}`, "tool:attachment", "[attachment x://y]\n" + words, ""},
		{"a reminder", `"type":"task_reminder","content":[{"id":"1"}],"itemCount":1`, "", "", "attachment"},
		{"a kind to come", `"type":"of_the_future","content":"` + words + `"`, "", "", "attachment"},
		{"a content of another form", `"type":"hook_additional_context","content":{"text":7}`, "", "", "attachment"},
		{"no attachment", `"type":7`, "", "", "attachment"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s transcript
			s.said("p1", "", "Old prompt.")
			s.call("a1", "p1", "m1", "t1")
			s.result("r1", "a1", "t1")
			s.said("p2", "r1", "New prompt.")
			s.add(`"type":"attachment","uuid":"x1","parentUuid":"p2","attachment":{%s}`, tc.attachment)
			s.add(`"type":"assistant","uuid":"a2","parentUuid":"x1","message":{"id":"m2","content":[{"type":"text","text":"Answer."}]}`)
			drafts, report := collect(t, write(t, "s.jsonl", s.text()), Options{})
			at := byID(drafts)
			d, answer := at[id("x1")], at[id("a2")]
			if tc.by == "" {
				if d != nil || report.Skipped[tc.skipped] != 1 || answer.Parents[0].ID != id("p2") {
					t.Errorf("want it left out as %s: %s%v", tc.skipped, dump(drafts), report.Skipped)
				}
				return
			}
			if d == nil || d.Author != tc.by || d.Role != dag.RoleTool || VoiceOf(d) != dag.VoiceTool || !strings.HasPrefix(d.Content, tc.content) {
				t.Fatalf("got %swant %s: %q", dump(drafts), tc.by, tc.content)
			}
			if d.Parents[0].ID != id("p2") || answer.Parents[0].ID != d.ID || !isPrompt(answer, "p2") || isPrompt(answer, "p1") {
				t.Errorf("the answer is not that of the prompt: %s", dump(drafts))
			}
		})
	}
}

// isPrompt reports whether a turn names a prompt as the one that it works for, or hangs on it.
func isPrompt(d *dag.Draft, name string) bool {
	for _, p := range d.Parents {
		if p.ID == id(name) {
			return true
		}
	}
	return false
}

// TestAnswersBehindAttachments has the places in which an attachment comes between a prompt and its answer.
func TestAnswersBehindAttachments(t *testing.T) {
	hook := func(s *transcript, id, parent string) {
		s.add(`"type":"attachment","uuid":%q,"parentUuid":%s,"attachment":{"type":"hook_additional_context","content":["more"]}`, id, link(parent))
	}
	reminder := func(s *transcript, id, parent string) {
		s.add(`"type":"attachment","uuid":%q,"parentUuid":%s,"attachment":{"type":"task_reminder"}`, id, link(parent))
	}
	answer := func(s *transcript, id, parent, message string) {
		s.add(`"type":"assistant","uuid":%q,"parentUuid":%s,"message":{"id":%q,"content":[{"type":"text","text":"Answer."}]}`, id, link(parent), message)
	}
	for name, follow := range map[string]func(*transcript){
		"behind the prompt":            func(s *transcript) { s.said("p2", "r1", "New."); hook(s, "x", "p2"); answer(s, "a2", "x", "m2") },
		"before the prompt":            func(s *transcript) { hook(s, "x", "r1"); s.said("p2", "x", "New."); answer(s, "a2", "p2", "m2") },
		"beside the prompt":            func(s *transcript) { s.said("p2", "r1", "New."); hook(s, "x", "r1"); answer(s, "a2", "x", "m2") },
		"a reminder beside the prompt": func(s *transcript) { s.said("p2", "r1", "New."); reminder(s, "x", "r1"); answer(s, "a2", "x", "m2") },
		"several": func(s *transcript) {
			s.said("p2", "r1", "New.")
			reminder(s, "x", "p2")
			hook(s, "y", "x")
			hook(s, "z", "y")
			answer(s, "a2", "z", "m2")
		},
		"with a parent that is lost":      func(s *transcript) { s.said("p2", "r1", "New."); hook(s, "x", "gone"); answer(s, "a2", "x", "m2") },
		"a reminder whose parent is lost": func(s *transcript) { s.said("p2", "r1", "New."); reminder(s, "x", "gone"); answer(s, "a2", "x", "m2") },
		"the prompt itself, queued": func(s *transcript) {
			s.attachment("p2", "r1", `"New."`, "")
			hook(s, "x", "p2")
			answer(s, "a2", "x", "m2")
		},
		"queued before, and a prompt after": func(s *transcript) {
			s.attachment("q", "r1", `"Queued."`, "")
			s.said("p2", "q", "New.")
			hook(s, "x", "p2")
			answer(s, "a2", "x", "m2")
		},
		"delivered before, a prompt after": func(s *transcript) {
			s.queue("enqueue", "Queued.")
			s.queue("remove")
			s.said("p2", "r1", "New.")
			hook(s, "x", "p2")
			answer(s, "a2", "x", "m2")
		},
		"behind the results of a later call": func(s *transcript) {
			s.said("p2", "r1", "New.")
			s.call("c", "p2", "mc", "t2")
			s.result("r2", "c", "t2")
			hook(s, "x", "r2")
			answer(s, "a2", "x", "m2")
		},
		"between the results and the message": func(s *transcript) {
			s.said("p2", "r1", "New.")
			s.call("c", "p2", "mc", "t2")
			hook(s, "x", "c")
			s.result("r2", "c", "t2")
			answer(s, "a2", "r2", "m2")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s transcript
			s.said("p1", "", "Old.")
			s.call("a1", "p1", "m1", "t1")
			s.result("r1", "a1", "t1")
			follow(&s)
			s.call("a3", "a2", "m3", "t3") // what the work goes on with is still for that prompt
			s.result("r3", "a3", "t3")
			answer(&s, "a4", "r3", "m4")
			drafts, _ := collect(t, write(t, "s.jsonl", s.text()), Options{})
			at := byID(drafts)
			for _, turn := range []string{"a2", "a4"} {
				if d := at[id(turn)]; !isPrompt(d, "p2") || isPrompt(d, "p1") {
					t.Errorf("%s is not for the prompt: %s", turn, dump(drafts))
				}
			}
		})
	}
}
