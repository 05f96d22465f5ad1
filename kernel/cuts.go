package kernel

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// cuts keeps finished cuts, without text. What a slice holds follows from its anchor,
// its policy and the graph around it alone, and a graph only grows: so a cut is
// until something is added to the conversations that it was made from, whatever else the
// tenant admits.
type cuts struct {
	texts *texts // whose fingerprints the cuts carry
	kept  *bytelru.Cache[cutKey, *cutting]
}

// A cutKey names a cut. The slice does not depend on the name of the policy but holds it.
type cutKey struct {
	tenant  dag.Tenant
	anchor  dag.TurnID
	policy  policy.ID
	hash    dag.Digest
	settled dag.Seq // the newest change that the view shows
	asOf    dag.Seq // under gkp/2, which says in the slice as of which number it was cut; else 0
	reading dag.Reading
}

// A cutting is a cut and where its turns are. It is never changed.
type cutting struct {
	slice  *slice.Slice
	places []store.Place
	prints []uint64                    // of the turns' skeletons, see fingerprint
	frame  atomic.Pointer[slice.Frame] // of its bundles, once somebody has asked for one
}

// framed returns the frame, which is made once.
func (c *cutting) framed() *slice.Frame {
	f := c.frame.Load()
	if f == nil {
		f = slice.NewFrame(c.slice)
		c.frame.Store(f)
	}
	return f
}

func newCuts(texts *texts, most int) *cuts { return &cuts{texts, bytelru.New[cutKey, *cutting](most)} }

// cut cuts inside the turnstile, unless it has been done. settled is the newest change of
// the graph.
func (c *cuts) cut(ctx context.Context, inside turnstile.Turnstile, v dag.View, settled dag.Seq, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered) (*cutting, error) {
	key := cutKey{tenant: tenant, anchor: anchor, policy: p.ID(), hash: p.Hash(), settled: min(settled, v.Seq()), reading: v.Reading()}
	if p.Params().Type() == policy.TypeV2 {
		key.asOf = v.Seq()
	}
	if kept, ok := c.kept.Get(key); ok {
		return kept, nil
	}
	var made *cutting
	err := inside.Pass(ctx, func() error {
		s, err := slice.Cut(v, anchor, p)
		if err != nil {
			return err
		}
		made = &cutting{slice: s, places: make([]store.Place, len(s.Turns)), prints: c.texts.viewPrints(v, s.Turns)}
		for i := range s.Turns {
			n, _ := v.Find(s.Turns[i].ID) // it was selected from there
			made.places[i] = store.Place{Conversation: v.Conversation(n), Seq: v.Admitted(n)}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.kept.Put(key, made, made.size())
	return made, nil
}

// size estimates the bytes that a cutting holds on to, with its frame.
func (c *cutting) size() int {
	return 512 + c.slice.FrameSize() + len(c.slice.Turns)*int(unsafe.Sizeof(slice.Selected{})+unsafe.Sizeof(uint64(0))) +
		len(c.slice.Edges)*int(unsafe.Sizeof(dag.Edge{})) + len(c.places)*int(unsafe.Sizeof(store.Place{}))
}
