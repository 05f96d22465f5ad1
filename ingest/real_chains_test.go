package ingest

import (
	"context"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// A chainCount says how well the conversations of a folder hold together.
type chainCount struct {
	turns   int
	prompts int // turns of role user
	cutOff  int // turns whose chain of first parents does not reach the first turn of their batch
	joined  int // spawn edges
}

func countChains(t *testing.T, path string) (c chainCount, r Report) {
	t.Helper()
	root := map[dag.TurnID]dag.TurnID{}
	r, err := Read(context.Background(), path, Options{}, func(b *Batch) error {
		for i := range b.Drafts {
			d := &b.Drafts[i]
			c.turns++
			if d.Role == dag.RoleUser {
				c.prompts++
			}
			root[d.ID] = d.ID
			if len(d.Parents) > 0 {
				root[d.ID] = root[d.Parents[0].ID]
			}
			if root[d.ID] != root[b.Drafts[0].ID] {
				c.cutOff++
			}
			for _, p := range d.Parents {
				if p.Kind == dag.Spawn {
					c.joined++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

// TestRealConversationsHoldTogether counts what is cut off from the beginning of
// its session.
func TestRealConversationsHoldTogether(t *testing.T) {
	for _, name := range []string{"entire", "claude-code"} {
		path := realData(t, name)
		c, r := countChains(t, path)
		t.Logf("%s: %+v\n\tskipped %v\n\tnoted %v", name, c, r.Skipped, r.Noted)
	}
}
