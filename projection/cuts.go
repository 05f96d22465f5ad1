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
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// Cuts caches finished cuts, without text. A slice depends only on its anchor,
// its policy and the graph around the anchor, and a graph only grows. So a cut stays valid
// until a turn or link is added to the conversations that it was made from, whatever else the
// tenant admits.
type Cuts struct {
	graphs *Graphs
	texts  *Texts // makes the fingerprints of the cuts
	course Course
	inside turnstile.Turnstile
	kept   *bytelru.Cache[cutKey, *Cut]
	spoken *bytelru.Cache[spokenKey, *standing.Spoken]
	calls  *bytelru.Cache[spokenKey, []slice.Call]
}

// mostSpoken is the maximum size of the cached facts about the turns of conversations, in bytes.
const mostSpoken = 16 << 20

// A spokenKey names the turns of a conversation up to the last one.
type spokenKey struct {
	tenant       dag.Tenant
	conversation dag.ConversationID
	last         dag.Seq
	reading      dag.Reading
}

// A cutKey names a cut. The selection does not depend on the policy's name, but the slice contains the name.
type cutKey struct {
	tenant  dag.Tenant
	anchor  dag.TurnID
	policy  policy.ID
	hash    dag.Digest
	settled dag.Seq // the newest change that the view shows
	asOf    dag.Seq // for policies whose slices contain this number, which are all but those of gkp/1; else 0
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

// A Course returns the settings of a tenant's standing policy up to a number that its history has reached, and the number up to which they are complete.
type Course func(ctx context.Context, tenant dag.Tenant, atLeast dag.Seq) (standing.Course, dag.Seq, error)

// NewCuts returns an empty cache of up to most bytes. Slices are cut inside a turnstile.
func NewCuts(graphs *Graphs, texts *Texts, course Course, inside turnstile.Turnstile, most int) *Cuts {
	return &Cuts{graphs, texts, course, inside, bytelru.New[cutKey, *Cut](most), bytelru.New[spokenKey, *standing.Spoken](mostSpoken), bytelru.New[spokenKey, []slice.Call](mostSpoken)}
}

// Stats counts the look-ups of cuts.
func (c *Cuts) Stats() bytelru.Stats { return c.kept.Stats() }

// Select cuts a slice around a turn as of a number, under a reading of the marks. The number 0 is the anchor's own number if the policy's direction is past,
// or that of the newest setting of the standing policy if the policy looks at standings and the setting came later; else it is the present. Select returns the cut, a copy of its slice with the number as AsOf, and the head at the time.
func (c *Cuts) Select(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, asOf dag.Seq, reading dag.Reading) (cut *Cut, s *slice.Slice, head dag.Seq, err error) {
	conversation, err := c.graphs.Conversation(ctx, tenant, anchor)
	if err != nil {
		return nil, nil, 0, err
	}
	var at dag.Seq
	head, err = c.view(ctx, tenant, conversation, p, asOf, nil, func(v dag.View, settled dag.Seq, course standing.Course) (err error) {
		v = then(v, anchor, p, asOf, course).Under(reading)
		at = v.Seq()
		cut, err = c.cut(ctx, v, settled, tenant, anchor, p, course)
		return err
	})
	if err != nil {
		return nil, nil, 0, err
	}
	own := *cut.slice
	own.AsOf = at
	return cut, &own, head, nil
}

// Explain explains a turn of the slice that Select cuts, or why it is not in it. conversations are those of the anchor and of the turn.
func (c *Cuts) Explain(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, asOf dag.Seq, turn dag.TurnID, conversations [2]dag.ConversationID) (e slice.Explanation, err error) {
	params, err := p.Slice()
	if err != nil {
		return e, err
	}
	_, err = c.view(ctx, tenant, conversations[0], p, asOf, conversations[1:], func(v dag.View, _ dag.Seq, course standing.Course) (err error) {
		v = v.Under(dag.ReadNow)
		e, err = slice.Explain(v, anchor, params, words(then(v, anchor, p, asOf, course), p, course), turn)
		return err
	})
	return e, err
}

// Spoken returns the facts from which the standings of a conversation's turns follow. last is the sequence number of the last turn to include. A cached result
// stays valid because turns are only added to a conversation and the parents of a turn never change.
func (c *Cuts) Spoken(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, last dag.Seq, reading dag.Reading) (*standing.Spoken, error) {
	key := spokenKey{tenant, conversation, last, reading}
	if kept, ok := c.spoken.Get(key); ok {
		return kept, nil
	}
	var made *standing.Spoken
	_, err := c.graphs.View(ctx, tenant, conversation, last, nil, func(v dag.View, _ dag.Seq) error {
		made = standing.SpokenIn(v.Until(last).Under(reading), conversation)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.spoken.Put(key, made, made.Size())
	return made, nil
}

// Calls returns the calls of a conversation up to a number, the newest first. They may be shared and must not be changed.
func (c *Cuts) Calls(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, last dag.Seq) ([]slice.Call, error) {
	key := spokenKey{tenant, conversation, last, 0}
	if kept, ok := c.calls.Get(key); ok {
		return kept, nil
	}
	var made []slice.Call
	_, err := c.graphs.View(ctx, tenant, conversation, last, nil, func(v dag.View, _ dag.Seq) error {
		made = slice.CallsIn(v.Until(last), conversation)
		return nil
	})
	if err != nil {
		return nil, err
	}
	size := 256
	for i := range made {
		size += 64 + 16*(len(made[i].Results)+len(made[i].Things))
	}
	c.calls.Put(key, made, size)
	return made, nil
}

// view is Graphs.View, with the settings of the standing policy up to the view's number if a policy looks at standings.
func (c *Cuts) view(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, p policy.Registered, asOf dag.Seq, others []dag.ConversationID, fn func(v dag.View, settled dag.Seq, course standing.Course) error) (head dag.Seq, err error) {
	if !counts(p) {
		return c.graphs.View(ctx, tenant, conversation, asOf, others, func(v dag.View, settled dag.Seq) error { return fn(v, settled, nil) })
	}
	for wanted := dag.Seq(0); ; {
		course, known, err := c.course(ctx, tenant, wanted)
		if err != nil {
			return 0, err
		}
		behind := false
		head, err := c.graphs.View(ctx, tenant, conversation, asOf, others, func(v dag.View, settled dag.Seq) error {
			switch behind = v.Seq() > known && wanted == 0; {
			case behind:
				wanted = v.Seq()
				return nil
			case v.Seq() > known: // more came meanwhile: the view that was seen first is as good
				v = v.Until(wanted)
			}
			return fn(v, settled, course)
		})
		if err != nil || !behind {
			return head, err
		}
	}
}

// counts reports whether a policy looks at standings.
func counts(p policy.Registered) bool {
	params, err := p.Slice()
	return err == nil && params.Walk().Standings != nil
}

// words returns the words of a view; nil if a policy does not look at standings.
func words(v dag.View, p policy.Registered, course standing.Course) *standing.Words {
	if !counts(p) {
		return nil
	}
	return standing.WordsOf(v, course)
}

// then returns the view from which a slice is cut. If asOf is 0 and the policy's direction is past, it is the view as of the anchor's number,
// so that later turns do not change the slice, or as of the newest setting of the course, so that the slice obeys it.
func then(v dag.View, anchor dag.TurnID, p policy.Registered, asOf dag.Seq, course standing.Course) dag.View {
	params, err := p.Slice()
	if n, found := v.Find(anchor); asOf == 0 && err == nil && found && params.Walk().Direction == policy.Past {
		return v.Until(max(v.Admitted(n), course.Until(v.Seq()).Newest()))
	}
	return v
}

// cut returns a cached cut, or cuts inside the turnstile. settled is the number of the newest change of
// the graph.
func (c *Cuts) cut(ctx context.Context, v dag.View, settled dag.Seq, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, course standing.Course) (*Cut, error) {
	key := cutKey{tenant: tenant, anchor: anchor, policy: p.ID(), hash: p.Hash(), settled: min(settled, v.Seq()), reading: v.Reading()}
	if p.Params().Type() != policy.Type {
		key.asOf = v.Seq()
	}
	if kept, ok := c.kept.Get(key); ok {
		return kept, nil
	}
	var made *Cut
	err := c.inside.Pass(ctx, func() error {
		s, err := slice.Cut(v, anchor, p, words(v, p, course))
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
		len(c.slice.Edges)*int(unsafe.Sizeof(dag.Edge{})) + len(c.slice.Settings)*int(unsafe.Sizeof(slice.Setting{})) + len(c.places)*int(unsafe.Sizeof(store.Place{}))
}
