package admission_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/kernel"
)

// spokenSession returns a session with a record of two authors, and its turns of the form from before records were
// divided, when texts decided the speaker.
func spokenSession() (transcript string, old []dag.Draft) {
	id := func(n string) string { return "5e550000-0000-4000-8000-00000000000" + n }
	line := func(kind, n, parent, more string) string {
		return `{"type":"` + kind + `","uuid":"` + id(n) + `","parentUuid":"` + id(parent) + `","sessionId":"` + id("0") + `","version":"2.1.39","timestamp":"2026-01-02T03:04:0` + n + `Z",` + more + `}` + "\n"
	}
	const sentence = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:"
	const said = sentence + `\nNot so.`
	call := func(n string) string {
		return `"message":{"id":"m` + n + `","content":[{"type":"tool_use","id":"t` + n + `","name":"Edit","input":{}}]}`
	}
	transcript = strings.Replace(line("user", "1", "0", `"message":{"content":"Begin."}`), `"`+id("0")+`","sessionId"`, `null,"sessionId"`, 1) +
		line("assistant", "2", "1", call("2")) +
		line("user", "3", "2", `"message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"ok"},{"type":"text","text":"Stop."}]}`) +
		line("assistant", "4", "3", call("4")) +
		line("user", "5", "4", `"toolUseResult":"Error: `+said+`","message":{"content":[{"type":"tool_result","tool_use_id":"t4","is_error":true,"content":"`+said+`"}]}`) +
		line("assistant", "6", "5", `"message":{"id":"m6","content":[{"type":"text","text":"I see."}]}`)
	turn := func(n string, role dag.Role, author, content string, attrs map[string]string, parent string) dag.Draft {
		d := dag.Draft{Role: role, Author: author, Content: content, Attrs: attrs}
		d.ID, _ = dag.ParseTurnID(id(n))
		d.Conversation, _ = dag.ParseConversationID(id("0"))
		d.CreatedAt, _ = dag.ReadTime("2026-01-02T03:04:0" + n + "Z")
		if parent != "" {
			p, _ := dag.ParseTurnID(id(parent))
			d.Parents = []dag.Parent{{ID: p, Kind: dag.Reply}}
		}
		return d
	}
	calls := func(n string) map[string]string {
		return map[string]string{"blocks": "tool_use", "tool": "Edit", "tool_use_id": "t" + n, "message_id": "m" + n}
	}
	return transcript, []dag.Draft{
		turn("1", dag.RoleUser, "human:user", "Begin.", nil, ""),
		turn("2", dag.RoleAssistant, "agent:claude", "[tool_use Edit]\n{}", calls("2"), "1"),
		turn("3", dag.RoleUser, "human:user", "[tool_result]\nok\n\nStop.", map[string]string{"blocks": "tool_result,text", "tool_use_id": "t2"}, "2"),
		turn("4", dag.RoleAssistant, "agent:claude", "[tool_use Edit]\n{}", calls("4"), "3"),
		turn("5", dag.RoleTool, "tool:Edit", "[tool_result error]\n"+sentence+"\nNot so.", map[string]string{"blocks": "tool_result", "is_error": "true", "tool": "Edit", "tool_use_id": "t4"}, "4"),
		turn("6", dag.RoleAssistant, "agent:claude", "I see.", map[string]string{"message_id": "m6"}, "5"),
	}
}

// TestImportedAsBefore imports a session again whose stored turns have the earlier form. They stay; the words in a
// result's turn are added once as a turn of their own, and later records follow.
func TestImportedAsBefore(t *testing.T) {
	transcript, old := spokenSession()
	for i := range old {
		if err := ingest.Assign(&old[i]); err != nil {
			t.Fatal(err)
		}
		old[i].Attrs[ingest.AttrPhaseBy], old[i].Attrs[ingest.AttrSalienceBy] = "rules/2", "rules/2"
	}
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		must(k.Turns().Admit(t.Context(), tenant, old))
		path := filepath.Join(t.TempDir(), "s.jsonl")
		put := func(text string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put(transcript)
		for round, admitted := range []int{1, 0} {
			r, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{})
			if err != nil || r.Admitted != admitted || r.Existing != 5-admitted || r.Changed != 2 {
				t.Fatalf("round %d: %+v, %v", round, r, err)
			}
			want := []admission.ChangedTurn{{ID: old[2].ID, Place: path + ":3", Field: "role"}, {ID: old[4].ID, Place: path + ":5", Field: "author"}}
			if diff := cmp.Diff(want, r.ChangedTurns); diff != "" {
				t.Errorf("round %d: %s", round, diff)
			}
		}
		put(transcript + `{"type":"user","uuid":"5e550000-0000-4000-8000-000000000007","parentUuid":"5e550000-0000-4000-8000-000000000006","sessionId":"5e550000-0000-4000-8000-000000000000","timestamp":"2026-01-02T03:04:07Z","message":{"content":"Good."}}` + "\n")
		if r, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{}); err != nil || r.Admitted != 1 || r.Changed != 2 {
			t.Fatalf("grown: %+v, %v", r, err)
		}
		said := map[string]int{}
		if err := k.Turns().Each(t.Context(), tenant, old[0].Conversation, func(_ dag.Seq, d *dag.Draft) error {
			said[d.Content]++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"Stop.": 1, "Good.": 1}
		for i := range old {
			want[old[i].Content]++
		}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Error(diff)
		}
	})
}
