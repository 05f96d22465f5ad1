package slice

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// TestBodyParts cuts bodies made of the characters that JSON is made of, and compares
// with what the parser says.
func TestBodyParts(t *testing.T) {
	short := 0
	rapid.Check(t, func(t *rapid.T) {
		characters := rapid.SampledFrom([]rune(`{}[]",:\ authorcontent` + "\n"))
		text, key := rapid.StringOfN(characters, 0, 24, -1), rapid.StringMatching("[a-z_]{1,8}") // keys have no other form
		b := &dag.Body{Author: text.Draw(t, "author"), Content: text.Draw(t, "content"), Attrs: rapid.MapOfN(key, text, 0, 2).Draw(t, "attrs")}
		body := AppendBody(nil, b)
		attrs, author, content, err := bodyParts(body)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.ContainsAny(attrs, `\`) && !bytes.ContainsAny(author, `\`) {
			short++
		}
		doc, err := canon.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string][]byte{"attrs": attrs, "author": author, "content": content} {
			if v := doc.Get(name); string(got) != string(body[v.Offset:v.End]) {
				t.Fatalf("%s of %s is cut as %s", name, body, got)
			}
		}
	})
	if short == 0 {
		t.Error("no body went the short way")
	}
	for _, bad := range []string{``, `{}`, `{"attrs":{},"author":"","content":""`, `{"attrs":{},"author":""}`, `{"attrs":{},"content":"","author":""`} {
		if _, _, _, err := bodyParts([]byte(bad)); err == nil {
			t.Errorf("%s has parts", bad)
		}
	}
}

func BenchmarkEncodeTurn(b *testing.B) {
	body := AppendBody(nil, &dag.Body{Author: "agent:1", Content: string(bytes.Repeat([]byte("words and words "), 25)), Attrs: map[string]string{"phase_by": "rules/1"}})
	turn := dag.Turn{ID: dag.TurnID{1}, Role: dag.RoleUser, Phase: dag.Planning}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := EncodeTurn(&turn, body, dag.Salt{1}); err != nil {
			b.Fatal(err)
		}
	}
}
