package turns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// TestNotes holds that an answer that is less than what the policy asks for says so below the hits, and no other.
func TestNotes(t *testing.T) {
	meant := func(words int) []api.Hit {
		return []api.Hit{{CreatedAt: 1767225600_000000, Author: "human:lead", Standing: "owner", Content: "a", Turn: dag.TurnID{1}, Parts: &api.HitParts{Words: words, Like: 1}}}
	}
	const line = "\n 1. 2026-01-01T00:00  human:lead (owner): a  01000000-0000-0000-0000-000000000000\n    score 0, of words 0 + conversation 0 + dates 0 + when 0 + like 1 + author 0\n"
	for want, found := range map[string]api.Found{
		"no turn has any of these words\n":                                                {},
		"no turn has any of these words; find@2 also finds what is said in other words\n": {Policy: "recall@1"},
		"no turn has any of these words\napproximate: the search walked a graph of vectors and may miss turns; --as-of compares all vectors\n": {Approximate: true},
		"no turn has any of these words\nnot reranked: it is gone\n":                                                                           {NotReranked: "it is gone"},
		"none of these turns has any of the words; they are nearest in meaning:" + line:                                                        {Policy: "find@2", Hits: meant(0)},
		strings.Replace(line[1:], "words 0", "words 2", 1):                                                                                     {Policy: "find@2", Hits: meant(2)},
	} {
		var b strings.Builder
		if printHits(&b, &found, &searchFlags{flat: true}, found.ByMeaning()); b.String() != want {
			t.Errorf("%+v prints %q, want %q", found, b.String(), want)
		}
	}
	var b strings.Builder
	if printHits(&b, &api.Found{}, &searchFlags{Search: api.Search{Role: "user"}}, false); b.String() != "no turn that passes the filters has any of these words\n" {
		t.Errorf("with a filter: %q", b.String())
	}
}

// TestSessions prints the hits of two sessions: a question that another hit shows, one that was printed before, and none.
func TestSessions(t *testing.T) {
	a, b := dag.ConversationID{0xaa}, dag.ConversationID{0xbb}
	asked := func(n byte) *api.Counterpart {
		return &api.Counterpart{Turn: dag.TurnID{n}, Author: "human:lead", Standing: "owner", Content: "why\x1b", Shortened: true}
	}
	hit := func(n byte, of dag.ConversationID, role string, question *api.Counterpart) api.Hit {
		return api.Hit{CreatedAt: 1767225600_000000, Author: "x:y", Role: role, Standing: "agent", Content: "a", Turn: dag.TurnID{n}, Conversation: of, Question: question}
	}
	found := api.Found{
		Sessions: []api.FoundSession{{Conversation: a, Title: "one\x1b", Folder: "/src", FirstAt: 1767139200_000000}, {Conversation: b}},
		Hits: []api.Hit{
			hit(1, a, "tool", asked(0x51)), hit(2, b, "assistant", nil), hit(3, a, "user", nil), hit(4, a, "assistant", asked(3)), hit(5, a, "assistant", nil),
			hit(6, a, "tool", asked(0x51)), hit(7, a, "tool", asked(3)),
		},
	}
	const id = "000000-0000-0000-0000-000000000000"
	line := func(n int) string { return fmt.Sprintf("%2d. 2026-01-01T00:00  x:y (agent): a  %02d%s\n", n, n, id) }
	want := "one␛ (2025-12-31, /src, aa000000)\n    question: human:lead (owner): why␛…\n" + line(1) + line(3) + line(4) + "    question: none that is known\n" + line(5) +
		"    question: that of hit 1\n" + line(6) + "    question: hit 3\n" + line(7) + "\na conversation without a title (1970-01-01, bb000000)\n" + line(2)
	var w strings.Builder
	if printHits(&w, &found, &searchFlags{}, false); w.String() != want {
		t.Errorf("got\n%s\nwant\n%s", w.String(), want)
	}
}
