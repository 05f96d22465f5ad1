package ingest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestSessionTitles has each order in which names are written. What is imported at each length of a file stays what it is.
func TestSessionTitles(t *testing.T) {
	chosen := func(title string) string { return `"type":"custom-title","customTitle":` + quoted(title) }
	made := func(title string) string { return `"type":"ai-title","aiTitle":` + quoted(title) }
	const said = "said"
	for _, tc := range []struct {
		name  string
		lines []string
		want  string
		turns int // titles
	}{
		{"made, then chosen", []string{said, made("A"), chosen("B")}, "B", 2},
		{"chosen, then made", []string{said, chosen("B"), made("A")}, "B", 2},
		{"made twice", []string{said, made("A"), said, made("B")}, "B", 2},
		{"there and back", []string{said, chosen("A"), chosen("B"), said, chosen("A")}, "A", 3},
		{"written again", []string{said, chosen("A"), said, chosen("A"), made("C"), chosen("A"), made("C")}, "A", 2},
		{"before the first turn", []string{made("A"), chosen("B"), said, said}, "B", 2},
		{"of another session", []string{said, `"sessionId":"other",` + chosen("B")}, "", 0},
		{"without a name", []string{said, chosen(" \t"), `"type":"ai-title"`, `"type":"custom-title","customTitle":7`}, "", 0},
		{"on several lines", []string{said, chosen("A\nB")}, "A B", 1},
		{"too long", []string{said, made("A"), chosen(strings.Repeat("x", dag.MaxAttrValue+1))}, "A", 1},
		{"a summary", []string{said, `"type":"summary","summary":"S","leafUuid":"u0"`}, "S", 1},
		{"a summary of another session", []string{said, `"type":"summary","summary":"S","leafUuid":"elsewhere"`}, "", 0},
		{"before a queued prompt", []string{made("A"), `"type":"queue-operation","operation":"enqueue","content":"Do it."`, `"type":"queue-operation","operation":"remove"`, chosen("B")}, "B", 2},
		{"no turn", []string{chosen("A"), `"type":"summary","summary":"S","leafUuid":"u0"`}, "", 0},
		{"none", []string{said, said}, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var text strings.Builder
			parent := ""
			var before []dag.Draft
			for i, line := range tc.lines {
				switch {
				case line == said:
					name := fmt.Sprint("u", i)
					line = fmt.Sprintf(`"type":"user","uuid":%q,"parentUuid":%s,"sessionId":"s","timestamp":"2026-01-02T03:04:%02dZ","message":{"content":"Words %d."}`, name, link(parent), i, i)
					parent = name
				case !strings.Contains(line, "sessionId") && !strings.Contains(line, "summary"):
					line += `,"sessionId":"s"`
				}
				text.WriteString("{" + line + "}\n")
				path := write(t, "s.jsonl", text.String())
				drafts, _ := collect(t, path, Options{Format: ClaudeCode})
				at := byID(drafts)
				for j := range before {
					if d := at[before[j].ID]; d == nil || sumBody(d) != sumBody(&before[j]) || d.Attrs[AttrTitle] != before[j].Attrs[AttrTitle] {
						t.Errorf("after line %d a turn is gone, or another: %s", i+1, dump(before[j:j+1]))
					}
				}
				before = drafts
			}
			var titles Titles
			n := 0
			for i := range before {
				d := &before[i]
				titles.Add(d.Attrs)
				if d.Attrs[AttrTitleKind] == "" {
					for _, p := range d.Parents {
						if p.ID == TitleTurn(d.Conversation, TitleChosen, 0) || p.ID == TitleTurn(d.Conversation, TitleMade, 0) {
							t.Errorf("the conversation goes on from a title: %s", dump(before[i:i+1]))
						}
					}
					continue
				}
				n++
				if d.Content != "" || d.Role != dag.RoleSystem || VoiceOf(d) != dag.VoiceHarness || d.Attrs[attrMeta] != "true" || len(d.Parents) != 1 {
					t.Errorf("a title speaks: %s", dump(before[i:i+1]))
				}
			}
			if titles.Title() != tc.want || n != tc.turns {
				t.Errorf("the title is %q of %d, want %q of %d\n%s", titles.Title(), n, tc.want, tc.turns, dump(before))
			}
		})
	}
}

// TestTitlesOfFirstTurns are those of ChatGPT and Claude.ai.
func TestTitlesOfFirstTurns(t *testing.T) {
	for _, file := range []string{"testdata/chatgpt.json", "testdata/claude-ai.json"} {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
		drafts, _ := collect(t, file, Options{})
		of, want := map[dag.ConversationID]*Titles{}, map[dag.ConversationID]string{}
		for i := range drafts {
			d := &drafts[i]
			if of[d.Conversation] == nil {
				of[d.Conversation] = &Titles{}
			}
			of[d.Conversation].Add(d.Attrs)
			if d.Attrs[AttrTitle] != "" {
				want[d.Conversation] = d.Attrs[AttrTitle]
			}
		}
		for id, title := range want {
			if got := of[id].Title(); got != title {
				t.Errorf("%s: the title is %q, want %q", file, got, title)
			}
		}
		if len(want) == 0 || len(drafts) < 2*len(want) {
			t.Errorf("%s: %d titles of %d turns", file, len(want), len(drafts))
		}
	}
}

// TestTitlePlaces names the line of each title that is left out, also of those that wait for the first turn.
func TestTitlePlaces(t *testing.T) {
	titles := `{"type":"summary","summary":"S","leafUuid":"elsewhere"}` + "\n\n" + `{"type":"custom-title","customTitle":"T","sessionId":"other"}` + "\n"
	turn := claudeLine(1, 0, "user", `{"role":"user","content":"go"}`) + "\n"
	for name, text := range map[string]string{"before a turn": titles + turn, "without a turn": titles} {
		var got []string
		_, _, err := tryCollect(t, write(t, "s.jsonl", text), Options{Format: ClaudeCode, Skipped: func(s Skip) { got = append(got, fmt.Sprint(s.Line, " ", s.Reason)) }})
		slices.Sort(got)
		if want := []string{"1 summary", "2 empty_line", "3 title_of_other"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: left out are %q, want %q, %v", name, got, want, err)
		}
	}
}
