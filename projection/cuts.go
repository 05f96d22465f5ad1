package projection

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

// Cuts caches finished cuts, without text. A slice depends only on its anchor,
// its policy and the graph around the anchor, and a graph only grows. So a cut stays valid
// until a turn or link is added to the conversations that it was made from, whatever else the
// tenant admits.
type Cuts struct {
	graphs *Graphs
	texts  *Texts // makes the fingerprints of the cuts
	inside turnstile.Turnstile
	kept   *bytelru.Cache[cutKey, *Cut]
}

// A cutKey names a cut. The selection does not depend on the policy's name, but the slice contains the name.
type cutKey struct {
	tenant  dag.Tenant
	anchor  dag.TurnID
	policy  policy.ID
	hash    dag.Digest
	settled dag.Seq // the newest change that the view shows
	asOf    dag.Seq // for policies of type gkp/2, whose slices contain this number; else 0
	reading dag.Reading
}

// A Cut is a slice without text, with the places of its turns. It is never changed.
type Cut struct {
	slice  *slice.Slice
	places []store.Place
	prints []uint64                    // of the turns' skeletons, see fingerprint
	frame  atomic.Pointer[slice.Frame] // the frame of its bundles; nil until the first bundle
}

// framed returns the frame of the cut's bundles, and makes it if there is none yet.
func (c *Cut) framed() *slice.Frame {
	f := c.frame.Load()
	if f == nil {
		f = slice.NewFrame(c.slice)
		c.frame.Store(f)
	}
	return f
}

// Bundle returns the bundle of a cut with the texts of its turns.
func (c *Cut) Bundle(asOf dag.Seq, seal slice.Seal, texts []Text) []byte {
	f := c.framed()
	size := f.Size() + len(seal.KeyID) + len(seal.Tenant) + len(seal.Token) + 64
	for i := range texts {
		size += len(texts[i].encoded)
	}
	return f.AppendBundle(make([]byte, 0, size), asOf, seal, func(i int) slice.EncodedTurn { return texts[i].encoded })
}

// NewCuts returns an empty cache of up to most bytes. Slices are cut inside a turnstile.
func NewCuts(graphs *Graphs, texts *Texts, inside turnstile.Turnstile, most int) *Cuts {
	return &Cuts{graphs, texts, inside, bytelru.New[cutKey, *Cut](most)}
}

// Stats counts the look-ups of cuts.
func (c *Cuts) Stats() bytelru.Stats { return c.kept.Stats() }

// Select cuts a slice around a turn as of a number, under a reading of the marks. The number 0 is the anchor's own number if the policy's direction is past,
// else the present. Select returns the cut, a copy of its slice with the number as AsOf, and the head at the time.
func (c *Cuts) Select(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, asOf dag.Seq, reading dag.Reading) (cut *Cut, s *slice.Slice, head dag.Seq, err error) {
	conversation, err := c.graphs.Conversation(ctx, tenant, anchor)
	if err != nil {
		return nil, nil, 0, err
	}
	var at dag.Seq
	head, err = c.graphs.View(ctx, tenant, conversation, asOf, nil, func(v dag.View, settled dag.Seq) (err error) {
		v = then(v, anchor, p, asOf).Under(reading)
		at = v.Seq()
		cut, err = c.cut(ctx, v, settled, tenant, anchor, p)
		return err
	})
	if err != nil {
		return nil, nil, 0, err
	}
	own := *cut.slice
	own.AsOf = at
	return cut, &own, head, nil
}

// then returns the view from which a slice is cut. If asOf is 0 and the policy's direction is past, it is the view as of the anchor's number,
// so that later turns do not change the slice.
func then(v dag.View, anchor dag.TurnID, p policy.Registered, asOf dag.Seq) dag.View {
	params, err := p.Slice()
	if n, found := v.Find(anchor); asOf == 0 && err == nil && found && params.Walk().Direction == policy.Past {
		return v.Until(v.Admitted(n))
	}
	return v
}

// cut returns a cached cut, or cuts inside the turnstile. settled is the number of the newest change of
// the graph.
func (c *Cuts) cut(ctx context.Context, v dag.View, settled dag.Seq, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered) (*Cut, error) {
	key := cutKey{tenant: tenant, anchor: anchor, policy: p.ID(), hash: p.Hash(), settled: min(settled, v.Seq()), reading: v.Reading()}
	if p.Params().Type() == policy.TypeV2 {
		key.asOf = v.Seq()
	}
	if kept, ok := c.kept.Get(key); ok {
		return kept, nil
	}
	var made *Cut
	err := c.inside.Pass(ctx, func() error {
		s, err := slice.Cut(v, anchor, p)
		if err != nil {
			return err
		}
		made = &Cut{slice: s, places: make([]store.Place, len(s.Turns)), prints: c.texts.viewPrints(v, s.Turns)}
		for i := range s.Turns {
			n, _ := v.Find(s.Turns[i].ID) // found, since the turn was selected from the view
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

// size estimates the bytes of a cut, with its frame.
func (c *Cut) size() int {
	return 512 + c.slice.FrameSize() + len(c.slice.Turns)*int(unsafe.Sizeof(slice.Selected{})+unsafe.Sizeof(uint64(0))) +
		len(c.slice.Edges)*int(unsafe.Sizeof(dag.Edge{})) + len(c.places)*int(unsafe.Sizeof(store.Place{}))
}
