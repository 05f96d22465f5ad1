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

// Cuts keeps finished cuts, without text. What a slice holds follows from its anchor,
// its policy and the graph around it alone, and a graph only grows: so a cut is
// until something is added to the conversations that it was made from, whatever else the
// tenant admits.
type Cuts struct {
	graphs *Graphs
	texts  *Texts // whose fingerprints the cuts carry
	inside turnstile.Turnstile
	kept   *bytelru.Cache[cutKey, *Cut]
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

// A Cut is a slice without text, and where its turns are. It is never changed.
type Cut struct {
	slice  *slice.Slice
	places []store.Place
	prints []uint64                    // of the turns' skeletons, see fingerprint
	frame  atomic.Pointer[slice.Frame] // of its bundles, once somebody has asked for one
}

// framed returns the frame, which is made once.
func (c *Cut) framed() *slice.Frame {
	f := c.frame.Load()
	if f == nil {
		f = slice.NewFrame(c.slice)
		c.frame.Store(f)
	}
	return f
}

// Bundle writes the bundle of a cut with the texts of its turns.
func (c *Cut) Bundle(asOf dag.Seq, seal slice.Seal, texts []Text) []byte {
	f := c.framed()
	size := f.Size() + len(seal.KeyID) + len(seal.Tenant) + len(seal.Token) + 64
	for i := range texts {
		size += len(texts[i].encoded)
	}
	return f.AppendBundle(make([]byte, 0, size), asOf, seal, func(i int) slice.EncodedTurn { return texts[i].encoded })
}

// NewCuts returns an empty cache of at most so many bytes. Slices are cut from graphs inside a turnstile.
func NewCuts(graphs *Graphs, texts *Texts, inside turnstile.Turnstile, most int) *Cuts {
	return &Cuts{graphs, texts, inside, bytelru.New[cutKey, *Cut](most)}
}

// Stats counts the look-ups of cuts.
func (c *Cuts) Stats() bytelru.Stats { return c.kept.Stats() }

// Select cuts a slice around a turn as of a number, where marks are read as reading says; 0 is the anchor's own number under a policy of direction past, else the
// present. It returns the cut, its slice, which has the number, and the head at the time.
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

// then returns the view from which a slice is cut: where nobody asked for another number, a policy that looks at the past asks for that of
// the anchor, so that the slice is the same however much comes later.
func then(v dag.View, anchor dag.TurnID, p policy.Registered, asOf dag.Seq) dag.View {
	params, err := p.Slice()
	if n, found := v.Find(anchor); asOf == 0 && err == nil && found && params.Walk().Direction == policy.Past {
		return v.Until(v.Admitted(n))
	}
	return v
}

// cut cuts inside the turnstile, unless it has been done. settled is the newest change of
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

// size estimates the bytes that a cut holds on to, with its frame.
func (c *Cut) size() int {
	return 512 + c.slice.FrameSize() + len(c.slice.Turns)*int(unsafe.Sizeof(slice.Selected{})+unsafe.Sizeof(uint64(0))) +
		len(c.slice.Edges)*int(unsafe.Sizeof(dag.Edge{})) + len(c.places)*int(unsafe.Sizeof(store.Place{}))
}
