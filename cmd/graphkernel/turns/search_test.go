package turns

import (
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
		if printHits(&b, &found, &searchFlags{}, found.ByMeaning()); b.String() != want {
			t.Errorf("%+v prints %q, want %q", found, b.String(), want)
		}
	}
	var b strings.Builder
	if printHits(&b, &api.Found{}, &searchFlags{Search: api.Search{Role: "user"}}, false); b.String() != "no turn that passes the filters has any of these words\n" {
		t.Errorf("with a filter: %q", b.String())
	}
}
