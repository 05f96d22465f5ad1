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

// Texts caches turns with their texts, in the encoding of slices and in the form of contexts, so that a turn that is used often
// is fetched and checked once.
type Texts struct {
	store       Store
	inside      turnstile.Turnstile
	kept        *bytelru.Cache[textKey, Text]
	generations atomic.Uint64 // the last generation that was assigned
	seed        maphash.Seed  // of fingerprints
}

// A textKey names the text of a turn. Each generation belongs to one tenant. The tenant gets a new generation when
// it is not known which of its texts were erased.
type textKey struct {
	generation uint64
	turn       dag.TurnID
	form       textForm
}

// A textForm is the form of a cached text.
type textForm uint8

const (
	formEncoded textForm = iota
	formChosen
	forms
)

// TenantTexts is the projection of one tenant's erasures: it drops the cached texts of turns that were erased
// by this process or another.
type TenantTexts struct {
	all      *Texts
	tenant   dag.Tenant
	followed *follow.Member

	mu    sync.Mutex // not held while the store is asked
	known moment     // guarded by mu
}

// A moment identifies the erasures that are known.
type moment struct {
	generation uint64
	erased     int // erasures since the generation began; an erasure may count more than once
}

// A Text is a turn in one of the forms.
type Text struct {
	State TextState

	encoded slice.EncodedTurn
	print   uint64 // the fingerprint of the record that encoded was made from

	chosen *contexts.ChosenTurn // must not be changed
}

// size returns the bytes of a text.
func (t *Text) size() int {
	if t.chosen == nil {
		return len(t.encoded)
	}
	const each = 160 // bytes of a turn, and of an attribute, in addition to their strings
	size := each + len(t.chosen.Body.Author) + len(t.chosen.Body.Content)
	for key, value := range t.chosen.Body.Attrs {
		size += each + len(key) + len(value)
	}
	return size
}

// A TextState says whether a turn's text is present, and if not, why.
type TextState uint8

// The states of a text.
const (
	TextShown    TextState = iota
	TextWithheld           // the text was never admitted
	TextErased             // an erasure is on record
	TextLost               // the text was admitted and is gone, and no erasure is on record
)

// entryCost is the size of a cache entry in addition to its text, in bytes.
const entryCost = 160

// NewTexts returns an empty cache of up to most bytes. Texts are encoded inside a turnstile.
func NewTexts(s Store, inside turnstile.Turnstile, most int) *Texts {
	return &Texts{store: s, inside: inside, kept: bytelru.New[textKey, Text](most), seed: maphash.MakeSeed()}
}

// Stats counts the look-ups of texts.
func (x *Texts) Stats() bytelru.Stats { return x.kept.Stats() }

// of returns the texts of a tenant. They receive erasures from a follower.
func (x *Texts) of(tenant dag.Tenant, with *follow.Follower) *TenantTexts {
	t := &TenantTexts{all: x, tenant: tenant}
	t.followed = with.Add(t)
	return t
}

// Begin drops all cached texts, and texts that were fetched before are not cached.
func (x *TenantTexts) Begin(_ context.Context, to dag.Seq) (dag.Seq, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known = moment{generation: x.all.generations.Add(1)}
	return to, nil
}

// Apply drops the text of an erased turn.
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

// Forget drops the cached text of a turn.
func (x *TenantTexts) Forget(turn dag.TurnID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known.erased++
	for form := range forms {
		x.all.kept.Remove(textKey{x.known.generation, turn, form})
	}
}

// sync drops the texts of turns that were erased up to head, which was just read. It returns
// the moment after that.
func (x *TenantTexts) sync(ctx context.Context, head dag.Seq) (moment, error) {
	if err := x.followed.Reach(ctx, head); err != nil {
		return moment{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.known, nil
}

// keep caches texts that were fetched after a moment. If more erasures are known by
// now, a text may belong to a turn that was erased in between, and would never be
// dropped; then keep caches nothing.
func (x *TenantTexts) keep(known moment, form textForm, fetched map[dag.TurnID]Text) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known != known {
		return
	}
	for id, e := range fetched {
		if e.State == TextLost { // the text may be restored, or its erasure recorded
			continue
		}
		x.all.kept.Put(textKey{known.generation, id, form}, e, e.size()+entryCost)
	}
}

const (
	fetchedAtOnce = 512   // the most turns of one query for texts
	keptAtOnce    = 2_000 // the most texts that one answer may add to the cache: a larger answer would evict all others
)

// OfCut returns the texts of a cut's turns as of head, in their order. It takes one query for
// each 512 turns that are not cached. It returns nothing damaged: a text must match its digest, a
// record its leaf, and the skeleton from which the turn was selected must match the record. Otherwise the error
// wraps store.ErrDamaged and names the turn. The text of a lost body has the state TextLost.
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
				return nil, fmt.Errorf("projection: selected turn %s: %w", turns[i].ID, store.ErrNotFound)
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

// explain looks up which of the lost texts were erased, and sets their state.
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

// Chosen returns turns with their texts as of head, in the form of contexts and in the order of turns. places are the places of the turns. The results may be shared
// and must not be changed. The entry of a turn without a text is nil. Chosen returns nothing damaged.
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
			continue // the place has another turn than the index says; that turn stays in lacking
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

// chosenText returns the turn of a record with a text, in the form of contexts.
func chosenText(r *store.Record) (*contexts.ChosenTurn, error) {
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return nil, fmt.Errorf("turn %s: %w: %w", r.Turn.ID, store.ErrDamaged, err)
	}
	body.Salt = r.Salt
	return &contexts.ChosenTurn{Turn: r.Turn, Body: body}, nil
}

// OfHits returns the texts of hits as of head, in their order. The entry of a hit is nil if its text was erased since it was found, or
// is damaged. damaged has an error for each damaged text.
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
	for i := range hits { // at least one text is damaged, so each is read alone
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

// A fingerprint collects the fields that must be equal in a turn's skeleton and in its record: every field that
// decides a cut. It detects damage, not forgery: anyone who can write the store can write both.
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

// viewPrints returns the fingerprints of a cut's turns, from their skeletons in the view.
func (x *Texts) viewPrints(v dag.View, turns []slice.Selected) []uint64 {
	prints := make([]uint64, len(turns))
	f := fingerprint{seed: x.seed}
	v = v.Under(dag.ReadAsMarked) // recordPrint uses the voice in the marks
	for i := range turns {
		n, _ := v.Find(turns[i].ID) // found, since the turn was selected from the view
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
