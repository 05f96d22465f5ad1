package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	gkslice "github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A damagedStore changes what another one tells, as a damaged file would.
type damagedStore struct {
	store.Store
	record   func(*store.Record)
	skeleton func(*dag.Skeleton)
}

func (s *damagedStore) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	records, err := s.Store.Turns(ctx, tenant, of)
	s.change(records)
	return records, err
}

func (s *damagedStore) change(records []store.Record) {
	for i := range records {
		if s.record != nil {
			records[i].Parents = slices.Clone(records[i].Parents)
			s.record(&records[i])
		}
	}
}

func (s *damagedStore) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	segment, err := s.Store.Segment(ctx, tenant, parts)
	if s.skeleton != nil {
		segment.Turns = slices.Clone(segment.Turns)
		for i := range segment.Turns {
			segment.Turns[i].Parents = slices.Clone(segment.Turns[i].Parents)
			s.skeleton(&segment.Turns[i])
		}
	}
	return segment, err
}

// TestNothingDamagedIsSigned changes each part of what is loaded for a slice. The slice is refused
// with an error that names the turn, and nothing is on record.
func TestNothingDamagedIsSigned(t *testing.T) {
	id := dag.ExternalTurnID("test", "chain/2")
	inRecord := func(change func(*store.Record)) func(*damagedStore) {
		return func(s *damagedStore) {
			s.record = func(r *store.Record) {
				if r.Turn.ID == id {
					change(r)
				}
			}
		}
	}
	inSkeleton := func(change func(*dag.Skeleton)) func(*damagedStore) {
		return func(s *damagedStore) {
			s.skeleton = func(k *dag.Skeleton) {
				if k.ID == id {
					change(k)
				}
			}
		}
	}
	for name, damage := range map[string]func(*damagedStore){
		"nothing":              nil,
		"text":                 inRecord(func(r *store.Record) { r.Body = append(slices.Clone(r.Body[:len(r.Body)-1]), ' ', '}') }),
		"text gone":            inRecord(func(r *store.Record) { r.Body, r.Salt, r.External = nil, dag.Salt{}, "" }),
		"voice":                inSkeleton(func(k *dag.Skeleton) { k.Marks.Voice = 5 - k.Marks.Voice }),
		"cost":                 inSkeleton(func(k *dag.Skeleton) { k.Marks.Cost++ }),
		"things":               inSkeleton(func(k *dag.Skeleton) { k.Marks.Things = append(k.Marks.Things, dag.Thing{1}) }),
		"voice in the record":  inRecord(func(r *store.Record) { r.Marks.Voice = 5 - r.Marks.Voice }),
		"things in the record": inRecord(func(r *store.Record) { r.Marks.Things = append(r.Marks.Things, dag.Thing{1}) }),
		"salt":                 inRecord(func(r *store.Record) { r.Salt[0] ^= 1 }),
		"digest":               inRecord(func(r *store.Record) { r.Turn.BodyDigest[0] ^= 1 }),
		"phase":                inRecord(func(r *store.Record) { r.Turn.Phase = dag.Phase(1 + r.Turn.Phase%4) }),
		"salience":             inRecord(func(r *store.Record) { r.Turn.Salience ^= 1 }),
		"role":                 inRecord(func(r *store.Record) { r.Turn.Role = dag.Role(1 + r.Turn.Role%4) }),
		"time":                 inRecord(func(r *store.Record) { r.Turn.CreatedAt++ }),
		"leaf":                 inRecord(func(r *store.Record) { r.Leaf[0] ^= 1 }),
		"parent":               inRecord(func(r *store.Record) { r.Parents[0].ID[15] ^= 1 }),
		"kind of edge":         inRecord(func(r *store.Record) { r.Parents[0].Kind = dag.Merge }),
		"skeleton's salience":  inSkeleton(func(k *dag.Skeleton) { k.Salience ^= 1 }),
		"skeleton's phase":     inSkeleton(func(k *dag.Skeleton) { k.Phase = dag.Phase(1 + k.Phase%4) }),
		"skeleton's role":      inSkeleton(func(k *dag.Skeleton) { k.Role = dag.Role(1 + k.Role%4) }),
		"skeleton's time":      inSkeleton(func(k *dag.Skeleton) { k.CreatedAt++ }),
		"skeleton's leaf":      inSkeleton(func(k *dag.Skeleton) { k.Leaf[0] ^= 1 }),
		"skeleton's edge":      inSkeleton(func(k *dag.Skeleton) { k.Parents[0].Kind = dag.Merge }),
		"skeleton's edge leaf": inSkeleton(func(k *dag.Skeleton) { k.Parents[0].Leaf[0] ^= 1 }),
		"skeleton's parents":   inSkeleton(func(k *dag.Skeleton) { k.Parents = nil }),
	} {
		t.Run(name, func(t *testing.T) {
			authority := token.NewAuthority(ring(t, "k1"))
			good := stores["memory"](t)
			ids := chain(t, over(t, good, authority), 5)
			s := &damagedStore{Store: good}
			if damage != nil {
				damage(s)
			}
			_, err := over(t, s, authority).Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[4]})
			if damage == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), id.String()) || !strings.Contains(err.Error(), "fsck") {
				t.Errorf("got %v, want store.ErrDamaged that names turn %s and fsck", err, id)
			}
			if list, err := (issued.Base{History: good}).After(t.Context(), tenant, 0, 9); err != nil || len(list) != 0 {
				t.Errorf("on record are %v, %v", list, err)
			}
		})
	}
}

// TestLost takes a text out of the store without an erasure. The bundle that was issued with it replays
// as lost, by its bytes and by its slice id, no new bundle is signed, and nothing is stated of the turn.
// Once the erasure is recorded, all of this is told as an erasure.
func TestLost(t *testing.T) {
	for name, take := range map[string]func(*store.Record){
		"gone":                func(r *store.Record) { r.Body, r.Salt, r.External = nil, dag.Salt{}, "" },
		"said to be withheld": func(r *store.Record) { r.Body, r.Salt, r.External, r.Withheld = nil, dag.Salt{}, "", true },
	} {
		t.Run(name, func(t *testing.T) {
			authority := token.NewAuthority(ring(t, "k1"))
			good := stores["memory"](t)
			k := over(t, good, authority)
			ids := chain(t, k, 5)
			issued := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[4]}))
			s := &damagedStore{Store: good, record: func(r *store.Record) {
				if r.Turn.ID == ids[2] {
					take(r)
				}
			}}
			k = over(t, s, authority)
			for what, replay := range map[string]func() (*kernel.Replay, error){
				"bundle": func() (*kernel.Replay, error) { return k.Slices().Replay(t.Context(), tenant, issued.Bundle) },
				"slice id": func() (*kernel.Replay, error) {
					return k.Slices().ReplayIssued(t.Context(), tenant, issued.Slice.Provenance.SliceID)
				},
			} {
				r, err := replay()
				if err != nil {
					t.Fatal(err)
				}
				if r.Outcome != kernel.Lost || !slices.Equal(r.Lost, ids[2:3]) || len(r.Erased) != 0 {
					t.Errorf("replay by %s: %s (%s), lost %v, erased %v", what, r.Outcome, r.Reason, r.Lost, r.Erased)
				}
			}
			if name == "gone" {
				if _, err := k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[4]}); !errors.Is(err, store.ErrDamaged) {
					t.Errorf("a slice of it gave %v", err)
				}
				must(erasures.Base{History: good}.Erase(t.Context(), tenant, erasures.Erasure{Turn: ids[2], Reason: "asked for"}))
				r := must(k.Slices().Replay(t.Context(), tenant, issued.Bundle))
				if r.Outcome != kernel.Erased || len(r.Lost) != 0 {
					t.Errorf("after the erasure: %s (%s)", r.Outcome, r.Reason)
				}
				must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[4]}))
			}
		})
	}
}

// TestWithheldStays admits a turn without its text: slices show it as redacted, and their replays are
// identical.
func TestWithheldStays(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 3)
		withheld := dag.Draft{
			ID: dag.ExternalTurnID("test", "withheld"), Conversation: dag.ExternalConversationID("test", "chain"), Role: dag.RoleUser,
			Phase: dag.Planning, HasSalience: true, CreatedAt: 9, Redacted: true, BodyDigest: dag.Digest{1},
			Parents: []dag.Parent{{ID: ids[2], Kind: dag.Reply}},
		}
		must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{withheld}))
		issued := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: withheld.ID}))
		if b := must(gkslice.ParseBundle(issued.Bundle)); !slices.Equal(b.Redacted(), []dag.TurnID{withheld.ID}) {
			t.Errorf("redacted are %v", b.Redacted())
		}
		if r := must(k.Slices().Replay(t.Context(), tenant, issued.Bundle)); r.Outcome != kernel.Identical {
			t.Errorf("replay: %s (%s)", r.Outcome, r.Reason)
		}
		if r := must(k.Slices().ReplayIssued(t.Context(), tenant, issued.Slice.Provenance.SliceID)); r.Outcome != kernel.Identical {
			t.Errorf("replay by slice id: %s (%s)", r.Outcome, r.Reason)
		}
	})
}

// A flawedStore changes the text of one turn wherever it tells it.
type flawedStore struct {
	store.Store
	turn dag.TurnID
}

func (s *flawedStore) flaw(r *store.Record) {
	if r.Turn.ID == s.turn && r.Body != nil {
		r.Body = append(slices.Clone(r.Body[:len(r.Body)-1]), ' ', '}')
	}
}

func (s *flawedStore) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	records, err := s.Store.Turns(ctx, tenant, of)
	for i := range records {
		s.flaw(&records[i])
	}
	return records, err
}

func (s *flawedStore) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, of *dag.ConversationID, fn func(*store.Record) error) error {
	return s.Store.Scan(ctx, tenant, after, of, func(r *store.Record) error {
		own := *r
		s.flaw(&own)
		return fn(&own)
	})
}

// TestDamageEndsWithAnErasure searches and asks for contexts where one text is not the one that was admitted, and again when it was erased, which makes an
// end of it.
func TestDamageEndsWithAnErasure(t *testing.T) {
	good := stores["memory"](t)
	ids := chain(t, over(t, good, token.NewAuthority(ring(t, "k1"))), 9)
	k := over(t, &flawedStore{good, ids[4]}, token.NewAuthority(ring(t, "k1")))
	asked := func() (damaged, hits int, err error) {
		t.Helper()
		f := must(k.Turns().Search(t.Context(), tenant, find.Request{Query: retrieval.Query{Text: "turn of a chain", Limit: 20}}))
		_, err = k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "the chain"})
		return f.Damaged, len(f.Hits), err
	}
	if damaged, hits, err := asked(); damaged != 1 || hits != 8 || !errors.Is(err, store.ErrDamaged) {
		t.Errorf("%d are damaged and %d found, and a context gives %v", damaged, hits, err)
	}
	for _, number := range []dag.Seq{3, 9} {
		want := 0
		if number >= 5 {
			want = 1
		}
		if f := must(k.Turns().Search(t.Context(), tenant, find.Request{Query: retrieval.Query{Text: "turn of a chain", Limit: 20, AsOf: number}})); f.Damaged != want {
			t.Errorf("as of %d: %d are damaged", number, f.Damaged)
		}
	}
	must(k.Turns().Erase(t.Context(), tenant, ids[4], "asked for"))
	if damaged, hits, err := asked(); damaged != 0 || hits != 8 || err != nil {
		t.Errorf("when it is erased %d are damaged and %d found, and a context gives %v", damaged, hits, err)
	}
}

// A spoiled erasure of a turn reads facts whose private halves were damaged.
type spoiled struct{ *knowledge.Erasure }

func (c spoiled) spoil(k *history.State) *history.State {
	for seq, e := range k.Entries {
		e.Private = e.Private[:len(e.Private)/2]
		k.Entries[seq] = e
	}
	return k
}

func (c spoiled) Needs(k *history.State) history.Needs         { return c.Erasure.Needs(c.spoil(k)) }
func (c spoiled) Plan(k *history.State) (*history.Plan, error) { return c.Erasure.Plan(c.spoil(k)) }

// TestErasedFactThatIsListed asks about a fact that was erased while its entry was damaged, so that indexes of names lead to it still: nothing answers with it, and what else
// is known is answered.
func TestErasedFactThatIsListed(t *testing.T) {
	t.Parallel()
	good := stores["memory"](t)
	k := over(t, good, token.NewAuthority(ring(t, "k1")))
	ids := chain(t, k, 3)
	fact := must(knowledge.NewFact("ada", "knows", "babbage", "user"))
	fact.Turn = ids[1]
	must(k.Facts().Learn(t.Context(), tenant, []knowledge.Act{
		{Kind: knowledge.Assert, Fact: fact}, {Kind: knowledge.Assert, Fact: must(knowledge.NewFact("ada", "knows", "lovelace", "user"))},
	}))
	if err := good.Write(t.Context(), tenant, spoiled{&knowledge.Erasure{Turn: ids[1], At: 9}}); err != nil {
		t.Fatal(err)
	}
	if i := must(k.Facts().Slice(t.Context(), tenant, api.FactSliceRequest{Start: []string{"ada"}})); len(i.Facts.Facts) != 1 || i.Facts.Facts[0].Fact.Object != "lovelace" {
		t.Errorf("the slice has %+v", i.Facts.Facts)
	}
	i := must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "whom does ada know"}))
	if len(i.Context.Facts) != 1 || bytes.Contains(i.Bundle, []byte("babbage")) {
		t.Errorf("the context is\n%s", i.Prompt)
	}
	for _, name := range []string{"ada", "babbage"} {
		if l := must(k.Facts().List(t.Context(), tenant, api.FactQuery{FactFilter: api.FactFilter{Entity: name}})); slices.ContainsFunc(l.Facts, func(f api.Fact) bool { return f.Object == "babbage" }) {
			t.Errorf("the list of %s has %+v", name, l.Facts)
		}
	}
	w := must(k.Facts().Traverse(t.Context(), tenant, api.TraverseRequest{Start: []string{"ada"}}))
	if len(w.Reached) != 1 || w.Reached[0].Entity != "lovelace" {
		t.Errorf("the walk has %+v", w.Reached)
	}
}
