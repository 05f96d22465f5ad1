package kernel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	gkslice "github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A misreadStore gives texts of some turns otherwise, with digests to match, when all are read one after the other, as an index is filled.
type misreadStore struct {
	store.Store
	otherwise map[dag.TurnID]bool
}

func (s *misreadStore) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, of *dag.ConversationID, fn func(*store.Record) error) error {
	return s.Store.Scan(ctx, tenant, after, of, func(r *store.Record) error {
		if s.otherwise[r.Turn.ID] && r.Body != nil {
			changed := *r
			changed.Body = gkslice.AppendBody(nil, &dag.Body{Content: strings.Repeat("cache ", 100)})
			changed.Turn.BodyDigest = gkslice.DigestBody(changed.Body, changed.Salt)
			changed.Leaf = gkslice.TurnLeaf(&changed.Turn)
			r = &changed
		}
		return fn(r)
	})
}

// TestContextReplayErased erases texts after contexts were handed out. Replay says that erasures are all that differs; where something else
// was changed, too, in a conversation without an erasure, it says that.
func TestContextReplayErased(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			r := seeded(t)
			a := token.NewAuthority(ring(t, "k1"))
			s := open(t, name)
			k := over(t, s, a)
			drafts := chat(r, 80)
			must(k.Turns().Admit(t.Context(), tenant, drafts))
			var bundles []*assemble.Issued
			for i := range 12 {
				q := api.ContextRequest{Task: question(r, 0).Text, Budget: 60 + r.IntN(150), Policy: eitherContext(r)}
				if i%3 > 0 {
					q.Anchor = drafts[40+r.IntN(40)].ID.String()
				}
				bundles = append(bundles, must(k.Contexts().Assemble(t.Context(), tenant, q)))
			}
			of, erased := map[string]dag.ConversationID{}, map[dag.ConversationID]bool{}
			for _, d := range drafts {
				of[d.ID.String()] = d.Conversation
			}
			for range 1 + r.IntN(2) {
				gone := drafts[r.IntN(len(drafts))]
				must(k.Turns().Erase(t.Context(), tenant, gone.ID, "asked to"))
				erased[gone.Conversation] = true
			}
			compared, found := 0, 0
			for _, b := range bundles {
				replay := must(k.Slices().Replay(t.Context(), tenant, b.Bundle))
				if replay.Outcome == kernel.Different {
					t.Errorf("%q: %s", b.Context.Request.Task, replay.Reason)
				}
				misread := &misreadStore{Store: s, otherwise: map[dag.TurnID]bool{}}
				for i := range b.Context.Candidates {
					if c := &b.Context.Candidates[i]; !erased[of[c.ID]] {
						misread.otherwise[must(dag.ParseTurnID(c.ID))] = true
						break
					}
				}
				if replay.Outcome != kernel.Erased || len(misread.otherwise) == 0 {
					continue
				}
				compared++
				if r := must(over(t, misread, a).Slices().Replay(t.Context(), tenant, b.Bundle)); r.Outcome == kernel.Different {
					found++
				}
			}
			if compared == 0 || found < compared {
				t.Errorf("of %d contexts in which another text was changed, too, replay found it in %d", compared, found)
			}
		})
	}
}
