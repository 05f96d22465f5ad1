package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestCommands has the records of slash commands. Words that a person typed behind one stay the person's, and so does a text that only speaks of such marks.
func TestCommands(t *testing.T) {
	for _, tc := range []struct {
		text string
		want dag.Voice
	}{
		{"<command-name>/exit</command-name>\n            <command-message>exit</command-message>\n            <command-args></command-args>", dag.VoiceHarness},
		{"<command-message>init is analyzing your codebase…</command-message>\n<command-name>/init</command-name>", dag.VoiceHarness},
		{"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args> \n</command-args>", dag.VoiceHarness},
		{"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the cart</command-args>", dag.VoicePerson},
		{"<command-name>/review</command-name><command-args>the cart", dag.VoicePerson},
		{"What does <command-name>/exit</command-name> do?", dag.VoicePerson},
		{"<commands>", dag.VoicePerson},
	} {
		for form, record := range map[string]string{
			"text":          `"type":"user","message":{"content":` + quoted(tc.text) + `}`,
			"block":         `"type":"user","message":{"content":[{"type":"text","text":` + quoted(tc.text) + `}]}`,
			"local command": `"type":"system","subtype":"local_command","content":` + quoted(tc.text),
		} {
			var s transcript
			s.add(`"uuid":"u","parentUuid":null,%s`, record)
			s.add(`"type":"assistant","uuid":"a","parentUuid":"u","message":{"id":"m","content":[{"type":"text","text":"Yes."}]}`)
			drafts, _ := collect(t, write(t, "s.jsonl", s.text()), Options{})
			want := tc.want
			if form == "local command" && !strings.HasPrefix(tc.text, "<command-name>") {
				want = dag.VoiceHarness
			}
			if len(drafts) != 2 || VoiceOf(&drafts[0]) != want || drafts[0].Content != tc.text {
				t.Errorf("%s: want the voice %s: %s", form, fmt.Sprint(want), dump(drafts))
			}
		}
	}
}
