package projection

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store"
)

// Texts keeps turns with their texts, encoded for slices and as contexts have them, so that a turn that is handed out often
// is fetched and checked once.
type Texts struct {
	store       Store
	inside      turnstile.Turnstile
	kept        *bytelru.Cache[textKey, Text]
	generations atomic.Uint64 // the last one that was given out
	seed        maphash.Seed  // of fingerprints
}

// A textKey names the text of a turn. Each generation is of one tenant, which gets another one when
// nobody knows which of its texts were erased.
type textKey struct {
	generation uint64
	turn       dag.TurnID
	form       textForm
}

// A textForm is in which form a text is kept.
type textForm uint8

const (
	formEncoded textForm = iota
	formChosen
	forms
)

// TenantTexts is the projection of one tenant's erasures: it drops the text of turns that were erased,
// by other processes too.
type TenantTexts struct {
	all      *Texts
	tenant   dag.Tenant
	followed *follow.Member

	mu    sync.Mutex // not held while the store is asked
	known moment     // guarded by mu
}

// A moment says which erasures are known.
type moment struct {
	generation uint64
	erased     int // since the generation began, or the same ones again
}

// A Text is a turn in one of the forms.
type Text struct {
	State TextState

	encoded slice.EncodedTurn
	print   uint64 // of the record that it was encoded from, see fingerprint

	chosen *contexts.ChosenTurn // must not be changed
}

// size is what a text takes.
func (t *Text) size() int {
	if t.chosen == nil {
		return len(t.encoded)
	}
	const each = 160 // of a turn, and of an attribute
	size := each + len(t.chosen.Body.Author) + len(t.chosen.Body.Content)
	for key, value := range t.chosen.Body.Attrs {
		size += each + len(key) + len(value)
	}
	return size
}

// A TextState says what became of a turn's body.
type TextState uint8

// The states of a text.
const (
	TextShown    TextState = iota
	TextWithheld           // it never came
	TextErased             // an erasure is on record
	TextLost               // it came, it is gone, and no erasure says why
)

// entryCost is what an entry of the cache takes beside its text.
const entryCost = 160

// NewTexts returns an empty cache of at most so many bytes. Texts are encoded inside a turnstile.
func NewTexts(s Store, inside turnstile.Turnstile, most int) *Texts {
	return &Texts{store: s, inside: inside, kept: bytelru.New[textKey, Text](most), seed: maphash.MakeSeed()}
}

// Stats counts the look-ups of texts.
func (x *Texts) Stats() bytelru.Stats { return x.kept.Stats() }

// of returns the texts of a tenant, which learn of erasures from a follower.
func (x *Texts) of(tenant dag.Tenant, with *follow.Follower) *TenantTexts {
	t := &TenantTexts{all: x, tenant: tenant}
	t.followed = with.Add(t)
	return t
}

// Begin drops all texts. None is kept that was read before.
func (x *TenantTexts) Begin(_ context.Context, to dag.Seq) (dag.Seq, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known = moment{generation: x.all.generations.Add(1)}
	return to, nil
}

// Apply drops the text of a turn that was erased.
func (x *TenantTexts) Apply(e *history.Entry) error {
	if e.Kind != erasures.Kind {
		return nil
	}
	erasure, err := erasures.Read(e)
	if err == nil {
		x.Forget(erasure.Turn)
	}
	return err
}

// Forget drops the text of a turn.
func (x *TenantTexts) Forget(turn dag.TurnID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known.erased++
	for form := range forms {
		x.all.kept.Remove(textKey{x.known.generation, turn, form})
	}
}

// sync drops the text of turns that were erased up to head, which was just read. It returns
// which erasures are known then.
func (x *TenantTexts) sync(ctx context.Context, head dag.Seq) (moment, error) {
	if err := x.followed.Reach(ctx, head); err != nil {
		return moment{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.known, nil
}

// keep keeps text that was fetched after a moment. If more erasures are known by
// now the text may be of a turn that was erased in between, and nobody would
// forget it any more: then it is not kept.
func (x *TenantTexts) keep(known moment, form textForm, fetched map[dag.TurnID]Text) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known != known {
		return
	}
	for id, e := range fetched {
		if e.State == TextLost { // it may be restored, or its erasure recorded
			continue
		}
		x.all.kept.Put(textKey{known.generation, id, form}, e, e.size()+entryCost)
	}
}

const (
	fetchedAtOnce = 512   // turns of one query for text, at most
	keptAtOnce    = 2_000 // texts of one answer that are kept, at most: a search for more would drive out all others
)

// OfCut returns the texts of a cut's turns as of head, in their order. It takes one query for
// up to 512 turns that are not cached. Nothing damaged is returned: a text must match its digest, a
// record its leaf, and the skeleton that the turn was selected by its record. Otherwise the error
// wraps store.ErrDamaged and names the turn. A text that is lost is returned as such.
func (x *TenantTexts) OfCut(ctx context.Context, head dag.Seq, cut *Cut) ([]Text, error) {
	turns, places := cut.slice.Turns, cut.places
	known, err := x.sync(ctx, head)
	if err != nil {
		return nil, err
	}
	given := make([]Text, len(turns))
	size := 0
	x.all.kept.GetAll(len(turns), func(i int) textKey { return textKey{known.generation, turns[i].ID, formEncoded} }, func(i int, t Text) {
		given[i] = t
		size += len(t.encoded)
	})
	var lacking []int
	for i := range given {
		if given[i].encoded == nil {
			lacking = append(lacking, i)
		}
	}
	for some := range slices.Chunk(lacking, fetchedAtOnce) {
		fetched, err := x.fetch(ctx, places, some)
		if err != nil {
			return nil, err
		}
		for _, i := range some {
			t, found := fetched[turns[i].ID]
			if !found {
				return nil, fmt.Errorf("kernel: selected turn %s: %w", turns[i].ID, store.ErrNotFound)
			}
			given[i] = t
			if size += len(t.encoded); size > slice.MaxBundle {
				return nil, fmt.Errorf("%w: the text of %d turns has more than %d bytes; lower max_nodes", slice.ErrTooLarge, len(turns), slice.MaxBundle)
			}
		}
		x.keep(known, formEncoded, fetched)
	}
	for i := range given {
		if given[i].print != cut.prints[i] {
			return nil, fmt.Errorf("%w: the graph's entry of turn %s is not that of the turn's record", store.ErrDamaged, turns[i].ID)
		}
	}
	return given, nil
}

func (x *TenantTexts) fetch(ctx context.Context, places []store.Place, some []int) (map[dag.TurnID]Text, error) {
	wanted := make([]store.Place, len(some))
	for i, at := range some {
		wanted[i] = places[at]
	}
	records, err := x.all.store.Turns(ctx, x.tenant, store.Places(wanted))
	if err != nil {
		return nil, err
	}
	encoded := make([]Text, len(records))
	err = x.all.inside.Each(ctx, len(records), func(i int) error {
		r := &records[i]
		e, err := slice.EncodeTurn(&r.Turn, r.Body, r.Salt)
		encoded[i] = Text{encoded: e, print: x.all.recordPrint(r)}
		switch {
		case r.Withheld:
			encoded[i].State = TextWithheld
		case r.Body == nil:
			encoded[i].State = TextLost
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := x.explain(ctx, records, encoded); err != nil {
		return nil, err
	}
	fetched := make(map[dag.TurnID]Text, len(records))
	for i := range records {
		fetched[records[i].Turn.ID] = encoded[i]
	}
	return fetched, nil
}

// explain looks up which of the texts that are gone were erased.
func (x *TenantTexts) explain(ctx context.Context, records []store.Record, texts []Text) error {
	var gone []dag.TurnID
	for i := range texts {
		if texts[i].State == TextLost {
			gone = append(gone, records[i].Turn.ID)
		}
	}
	known, err := x.all.store.Erasures().Among(ctx, x.tenant, gone)
	if err != nil {
		return err
	}
	for i := range texts {
		if known[records[i].Turn.ID] != 0 {
			texts[i].State = TextErased
		}
	}
	return nil
}

// Chosen returns turns with their texts as contexts have them, in the order of their places, as of head. They may be shared and must not be changed. The
// entry of a turn whose text is gone is nil. Nothing damaged is returned.
func (x *TenantTexts) Chosen(ctx context.Context, head dag.Seq, turns []dag.TurnID, places store.Places) ([]*contexts.ChosenTurn, error) {
	known, err := x.sync(ctx, head)
	if err != nil {
		return nil, err
	}
	chosen := make([]*contexts.ChosenTurn, len(turns))
	x.all.kept.GetAll(len(turns), func(i int) textKey { return textKey{known.generation, turns[i], formChosen} }, func(i int, t Text) { chosen[i] = t.chosen })
	lacking := map[dag.TurnID]int{}
	var wanted store.Places
	for i := range chosen {
		if chosen[i] == nil {
			lacking[turns[i]] = i
			wanted = append(wanted, places[i])
		}
	}
	if len(wanted) == 0 {
		return chosen, nil
	}
	records, err := x.all.store.Turns(ctx, x.tenant, wanted)
	if err != nil {
		return nil, err
	}
	read := make([]*contexts.ChosenTurn, len(records))
	err = x.all.inside.Each(ctx, len(records), func(i int) (err error) {
		if records[i].Body != nil {
			read[i], err = chosenText(&records[i])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	fetched := make(map[dag.TurnID]Text, len(records))
	for i := range records {
		id := records[i].Turn.ID
		at, asked := lacking[id]
		if !asked {
			continue // it stands where the index has another one, which is lacking below
		}
		delete(lacking, id)
		if chosen[at] = read[i]; read[i] != nil {
			fetched[id] = Text{chosen: read[i]}
		}
	}
	for id := range lacking {
		return nil, fmt.Errorf("%w: %d of %d turns are not where the index has them, turn %s among them", store.ErrDamaged, len(lacking), len(wanted), id)
	}
	if len(fetched) <= keptAtOnce {
		x.keep(known, formChosen, fetched)
	}
	return chosen, nil
}

// chosenText returns the record of a chosen turn, which has a text, as a context has it.
func chosenText(r *store.Record) (*contexts.ChosenTurn, error) {
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return nil, fmt.Errorf("turn %s: %w: %w", r.Turn.ID, store.ErrDamaged, err)
	}
	body.Salt = r.Salt
	return &contexts.ChosenTurn{Turn: r.Turn, Body: body}, nil
}

// OfHits returns the texts of hits as of head, in their order. The entry of a hit is nil if its text was erased since it was found, or
// is damaged; of those that are damaged it returns the errors.
func (x *TenantTexts) OfHits(ctx context.Context, head dag.Seq, hits []retrieval.Hit) (texts []*contexts.ChosenTurn, damaged []error, _ error) {
	turns, places := make([]dag.TurnID, len(hits)), make(store.Places, len(hits))
	for i := range hits {
		t := &hits[i].Turn
		turns[i], places[i] = t.ID, store.Place{Conversation: t.Conversation, Seq: t.Seq}
	}
	texts, err := x.Chosen(ctx, head, turns, places)
	if !errors.Is(err, store.ErrDamaged) {
		return texts, nil, err
	}
	texts = make([]*contexts.ChosenTurn, len(hits))
	for i := range hits { // one of them is damaged: each is asked for alone
		one, err := x.Chosen(ctx, head, turns[i:i+1], places[i:i+1])
		switch {
		case errors.Is(err, store.ErrDamaged):
			damaged = append(damaged, fmt.Errorf("turn %s: %w", turns[i], err))
		case err != nil:
			return nil, nil, err
		default:
			texts[i] = one[0]
		}
	}
	return texts, damaged, nil
}

// A fingerprint collects what a turn's skeleton and its record must agree on: everything that
// decides a cut. It tells damage, not forgery: anyone who can write the store can write both.
type fingerprint struct {
	bytes []byte
	seed  maphash.Seed
}

func (f *fingerprint) turn(id dag.TurnID, created dag.Time, salience dag.PPM, role dag.Role, phase dag.Phase, leaf dag.Digest, voice dag.Voice, cost int) {
	f.bytes = append(f.bytes[:0], id[:]...)
	f.bytes = binary.LittleEndian.AppendUint64(f.bytes, uint64(created))
	f.bytes = binary.LittleEndian.AppendUint32(f.bytes, uint32(salience))
	f.bytes = append(f.bytes, byte(role), byte(phase), byte(voice))
	f.bytes = append(f.bytes, leaf[:]...)
	f.bytes = binary.LittleEndian.AppendUint32(f.bytes, uint32(cost))
}

func (f *fingerprint) thing(t dag.Thing) { f.bytes = append(f.bytes, t[:]...) }

func (f *fingerprint) parent(id dag.TurnID, kind dag.EdgeKind, leaf *dag.Digest) {
	f.bytes = append(append(append(f.bytes, id[:]...), byte(kind)), leaf[:]...)
}

func (f *fingerprint) sum() uint64 { return maphash.Bytes(f.seed, f.bytes) }

func (x *Texts) recordPrint(r *store.Record) uint64 {
	f := fingerprint{seed: x.seed}
	t := &r.Turn
	f.turn(t.ID, t.CreatedAt, t.Salience, t.Role, t.Phase, r.Leaf, r.Marks.Voice, int(r.Marks.Cost))
	for _, thing := range r.Marks.Things {
		f.thing(thing)
	}
	for i := range r.Parents {
		f.parent(r.Parents[i].ID, r.Parents[i].Kind, &r.Parents[i].Leaf)
	}
	return f.sum()
}

// viewPrints returns the fingerprints of a cut's turns as the view has them.
func (x *Texts) viewPrints(v dag.View, turns []slice.Selected) []uint64 {
	prints := make([]uint64, len(turns))
	f := fingerprint{seed: x.seed}
	v = v.Under(dag.ReadAsMarked) // as a record has it
	for i := range turns {
		n, _ := v.Find(turns[i].ID) // it was selected from there
		f.turn(v.ID(n), v.CreatedAt(n), v.Salience(n), v.Role(n), v.Phase(n), v.Leaf(n), v.Voice(n), v.Cost(n))
		for t := range v.ThingCount(n) {
			f.thing(v.Thing(n, t))
		}
		for p := range v.ParentCount(n) {
			parent, kind, leaf := v.Parent(n, p)
			f.parent(v.ID(parent), kind, leaf)
		}
		prints[i] = f.sum()
	}
	return prints
}
