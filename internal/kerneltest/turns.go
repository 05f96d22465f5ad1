package kerneltest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/golden"
)

// Drafts returns n turns of one conversation, each the child of the one before.
func Drafts(n int) []dag.Draft {
	some := make([]dag.Draft, n)
	for i := range some {
		some[i] = dag.Draft{
			ID: dag.ExternalTurnID("brought", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("brought", "c"),
			Role: dag.RoleUser, CreatedAt: dag.Time(i), Author: "agent:a", Content: fmt.Sprintf("turn %d", i),
		}
		if i > 0 {
			some[i].Parents = []dag.Parent{{ID: some[i-1].ID, Kind: dag.Reply}}
		}
	}
	return some
}

// Touching returns turns of one conversation in which an agent edits files, by their names.
func Touching(files ...string) []dag.Draft {
	drafts := Drafts(len(files))
	for i, file := range files {
		if file != "" {
			drafts[i].Role, drafts[i].Attrs = dag.RoleAssistant, map[string]string{"blocks": "tool_use", "tool": "Edit"}
			drafts[i].Content = "[tool_use Edit]\n{\"file_path\":\"" + file + "\"}"
		}
	}
	return drafts
}

// Golden returns the turns of a golden case as they would arrive.
func Golden(t testing.TB, c *golden.Case) []dag.Draft {
	t.Helper()
	g, err := c.Load()
	if err != nil {
		t.Fatal(err)
	}
	parents := map[dag.TurnID][]dag.Parent{}
	for _, e := range g.Edges {
		parents[e.Child] = append(parents[e.Child], dag.Parent{ID: e.Parent, Kind: e.Kind})
	}
	var out []dag.Draft
	for i := range c.Turns {
		id, err := dag.ParseTurnID(c.Turns[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		turn, body := g.Turns[id], g.Bodies[id]
		salt := body.Salt
		out = append(out, dag.Draft{
			ID: id, Conversation: turn.Conversation, Parents: parents[id], Role: turn.Role, Phase: turn.Phase,
			Salience: turn.Salience, HasSalience: true, CreatedAt: turn.CreatedAt,
			Author: body.Author, Content: body.Content, Attrs: body.Attrs, Salt: &salt,
		})
	}
	return out
}

// File writes a file of lines, and returns its path.
func File(t testing.TB, name string, lines [][]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
