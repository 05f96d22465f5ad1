package slice

import (
	"bytes"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

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
