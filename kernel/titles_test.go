package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
)

// TestTitles lists sessions of Claude Code that were named up to forty times, and one that was not. A title that was erased counts no more.
func TestTitles(t *testing.T) { eachStore(t, checkTitles) }

func checkTitles(t *testing.T, k *kernel.Kernel) {
	session := func(name string, titles ...string) dag.ConversationID {
		var text strings.Builder
		fmt.Fprintf(&text, `{"type":"user","uuid":"%s-1","sessionId":%q,"timestamp":"2026-01-02T03:04:05Z","message":{"content":"Words of %s."}}`+"\n", name, name, name)
		for _, title := range titles {
			text.WriteString(title + "\n")
		}
		must(k.Turns().Import(t.Context(), tenant, file(t, name+".jsonl", [][]byte{[]byte(text.String())}), ingest.Options{Format: ingest.ClaudeCode}))
		return ingest.SessionConversation("claude-code", name)
	}
	want := map[dag.ConversationID]string{}
	session("none")
	for n := 1; n <= 40; n++ {
		name := fmt.Sprint("s", n)
		var titles []string
		for i := range n {
			titles = append(titles, fmt.Sprintf(`{"type":"ai-title","aiTitle":"%s made %d","sessionId":%q}`, name, i, name))
		}
		if id := session(name, titles...); n%2 == 0 {
			want[id] = fmt.Sprintf("%s made %d", name, n-1)
		} else {
			want[session(name, append(titles, fmt.Sprintf(`{"type":"custom-title","customTitle":"%s chosen","sessionId":%q}`, name, name), titles[0])...)] = name + " chosen"
		}
	}
	list := must(k.Turns().Conversations(t.Context(), tenant, dag.ConversationID{}, 100))
	check := func() {
		t.Helper()
		got := must(k.Turns().Titles(t.Context(), tenant, list))
		if len(list) != 41 || len(got) != len(want) {
			t.Errorf("%d titles of %d conversations, want %d", len(got), len(list), len(want))
		}
		for id, title := range want {
			if got[id] != title {
				t.Errorf("%s: %q, want %q", id, got[id], title)
			}
		}
	}
	check()
	of := ingest.SessionConversation("claude-code", "s10")
	must(k.Turns().Erase(t.Context(), tenant, ingest.TitleTurn(of, ingest.TitleMade, 9), "a name"))
	want[of] = "s10 made 8"
	check()
}
