package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// texts keeps encoded turns, so that a turn that is handed out often is fetched
// and encoded once. Text can be erased, by other processes too: before the kept
// text is used, it is brought up to a head that was just read.
type texts struct {
	store  steadyStore
	inside turnstile
	kept   *byteLRU[turnKey, text]

	mu       sync.Mutex              // guards everything below, and is not held while the store is asked
	erasures map[dag.Tenant]*heardOf // that the kept text knows
	erased   uint64                  // erasures made through this kernel

	seed maphash.Seed // of fingerprints
}

// The erasures of a tenant, as far as they are known.
type heardOf struct {
	asking turnstile // of one: inside it the store is asked
	synced dag.Seq   // guarded by texts.mu: all up to here
}

// A text is an encoded turn.
type text struct {
	encoded slice.EncodedTurn
	state   textState
	print   uint64 // of the record that it was encoded from, see fingerprint
}

// A textState says what became of a turn's body.
type textState uint8

const (
	textShown    textState = iota
	textWithheld           // it never came
	textErased             // an erasure is on record
	textLost               // it came, it is gone, and no erasure says why
)

// A moment says which erasures are known.
type moment struct {
	synced dag.Seq
	erased uint64
}

// entryCost is what an entry of the cache takes beside its text.
const entryCost = 160

func newTexts(s steadyStore, inside turnstile, most int) *texts {
	return &texts{store: s, inside: inside, kept: newByteLRU[turnKey, text](most), erasures: map[dag.Tenant]*heardOf{}, seed: maphash.MakeSeed()}
}

// forget releases the text of a turn that is erased through this kernel.
func (x *texts) forget(tenant dag.Tenant, turn dag.TurnID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.erased++
	x.kept.remove(turnKey{tenant, turn})
}

// sync forgets the text of turns that were erased up to head. It returns the moment
// up to which the kept text knows every erasure.
func (x *texts) sync(ctx context.Context, tenant dag.Tenant, head dag.Seq) (moment, error) {
	e, now := x.known(tenant, head)
	if now.synced >= head {
		return now, nil
	}
	err := e.asking.pass(ctx, func() error {
		const page = 1_000
		for {
			if _, now = x.known(tenant, head); now.synced >= head {
				return nil
			}
			events, err := x.store.erasures().MarksAfter(ctx, tenant, now.synced, page)
			if err != nil {
				return err
			}
			x.learn(tenant, e, events, len(events) < page, head)
		}
	})
	return now, err
}

// known returns what is known of a tenant's erasures, and when. head was just read.
func (x *texts) known(tenant dag.Tenant, head dag.Seq) (*heardOf, moment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.erasures[tenant]
	if e == nil { // no text of the tenant is kept: there is nothing to forget
		e = &heardOf{asking: make(turnstile, 1), synced: head}
		x.erasures[tenant] = e
	}
	return e, moment{e.synced, x.erased}
}

// learn takes events in; if they are all there are, everything up to head is known.
func (x *texts) learn(tenant dag.Tenant, e *heardOf, events []erasures.Mark, all bool, head dag.Seq) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, event := range events {
		x.kept.remove(turnKey{tenant, event.Turn})
		e.synced = max(e.synced, event.Seq)
	}
	if all {
		e.synced = max(e.synced, head)
	}
}

// keep keeps text that was fetched after a moment. If more erasures are known by
// now the text may be of a turn that was erased in between, and nobody would
// forget it any more: then it is not kept.
func (x *texts) keep(tenant dag.Tenant, known moment, fetched map[dag.TurnID]text) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.erasures[tenant]; e == nil || (moment{e.synced, x.erased}) != known {
		return
	}
	for id, e := range fetched {
		if e.state == textLost { // it may be restored, or its erasure recorded
			continue
		}
		x.kept.put(turnKey{tenant, id}, e, len(e.encoded)+entryCost)
	}
}

// fetchedAtOnce bounds the turns of one query for text.
const fetchedAtOnce = 512

// encoded returns the texts of a cut's turns as of head, in their order. It takes one query for
// up to 512 turns that are not cached. Nothing damaged is returned: a text must match its digest, a
// record its leaf, and the skeleton that the turn was selected by its record. Otherwise the error
// wraps ErrDamaged and names the turn. A text that is lost is returned as such.
func (x *texts) encoded(ctx context.Context, tenant dag.Tenant, head dag.Seq, cut *cutting) ([]text, error) {
	turns, places := cut.slice.Turns, cut.places
	known, err := x.sync(ctx, tenant, head)
	if err != nil {
		return nil, err
	}
	given := make([]text, len(turns))
	size := 0
	x.kept.getAll(len(turns), func(i int) turnKey { return turnKey{tenant, turns[i].ID} }, func(i int, t text) {
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
		fetched, err := x.fetch(ctx, tenant, places, some)
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
				return nil, fmt.Errorf("%w: the text of %d turns has more than %d bytes; lower max_nodes", ErrTooLarge, len(turns), slice.MaxBundle)
			}
		}
		x.keep(tenant, known, fetched)
	}
	for i := range given {
		if given[i].print != cut.prints[i] {
			return nil, fmt.Errorf("%w: the graph's entry of turn %s is not that of the turn's record", ErrDamaged, turns[i].ID)
		}
	}
	return given, nil
}

// ErrDamaged is wrapped when the store holds what cannot be: text that is not the one admitted,
// an edge without its act.
var ErrDamaged = errors.New("the store is damaged: run graphkernel fsck")

func (x *texts) fetch(ctx context.Context, tenant dag.Tenant, places []store.Place, some []int) (map[dag.TurnID]text, error) {
	wanted := make([]store.Place, len(some))
	for i, at := range some {
		wanted[i] = places[at]
	}
	records, err := x.store.Turns(ctx, tenant, store.Places(wanted))
	if err != nil {
		return nil, err
	}
	encoded := make([]text, len(records))
	err = x.inside.each(ctx, len(records), func(i int) error {
		r := &records[i]
		if err := checkRecord(r); err != nil {
			return err
		}
		e, err := slice.EncodeTurn(&r.Turn, r.Body, r.Salt)
		encoded[i] = text{encoded: e, print: x.recordPrint(r)}
		switch {
		case r.Withheld:
			encoded[i].state = textWithheld
		case r.Body == nil:
			encoded[i].state = textLost
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := x.explain(ctx, tenant, records, encoded); err != nil {
		return nil, err
	}
	fetched := make(map[dag.TurnID]text, len(records))
	for i := range records {
		fetched[records[i].Turn.ID] = encoded[i]
	}
	return fetched, nil
}

// explain looks up which of the texts that are gone were erased.
func (x *texts) explain(ctx context.Context, tenant dag.Tenant, records []store.Record, texts []text) error {
	var gone []dag.TurnID
	for i := range texts {
		if texts[i].state == textLost {
			gone = append(gone, records[i].Turn.ID)
		}
	}
	known, err := x.store.erasures().Among(ctx, tenant, gone)
	if err != nil {
		return err
	}
	for i := range texts {
		if known[records[i].Turn.ID] != 0 {
			texts[i].state = textErased
		}
	}
	return nil
}

// checkRecord reports ErrDamaged if a record does not match its digests.
func checkRecord(r *store.Record) error {
	damaged := func(what string) error {
		return fmt.Errorf("%w: %s of turn %s does not match its digest", ErrDamaged, what, r.Turn.ID)
	}
	if r.Body != nil && slice.DigestBody(r.Body, r.Salt) != r.Turn.BodyDigest {
		return damaged("the text")
	}
	if slice.TurnLeaf(&r.Turn) != r.Leaf {
		return damaged("the record")
	}
	for i := range r.Parents {
		if p := &r.Parents[i]; slice.EdgeLeaf(dag.Edge{Parent: p.ID, Child: r.Turn.ID, Kind: p.Kind}) != p.Leaf {
			return damaged("an edge")
		}
	}
	return nil
}

// A fingerprint collects what a turn's skeleton and its record must agree on: everything that
// decides a cut. It tells damage, not forgery: anyone who can write the store can write both.
type fingerprint struct {
	bytes []byte
	seed  maphash.Seed
}

func (f *fingerprint) turn(id dag.TurnID, created dag.Time, salience dag.PPM, role dag.Role, phase dag.Phase, leaf dag.Digest) {
	f.bytes = append(f.bytes[:0], id[:]...)
	f.bytes = binary.LittleEndian.AppendUint64(f.bytes, uint64(created))
	f.bytes = binary.LittleEndian.AppendUint32(f.bytes, uint32(salience))
	f.bytes = append(f.bytes, byte(role), byte(phase))
	f.bytes = append(f.bytes, leaf[:]...)
}

func (f *fingerprint) parent(id dag.TurnID, kind dag.EdgeKind, leaf *dag.Digest) {
	f.bytes = append(append(append(f.bytes, id[:]...), byte(kind)), leaf[:]...)
}

func (f *fingerprint) sum() uint64 { return maphash.Bytes(f.seed, f.bytes) }

func (x *texts) recordPrint(r *store.Record) uint64 {
	f := fingerprint{seed: x.seed}
	t := &r.Turn
	f.turn(t.ID, t.CreatedAt, t.Salience, t.Role, t.Phase, r.Leaf)
	for i := range r.Parents {
		f.parent(r.Parents[i].ID, r.Parents[i].Kind, &r.Parents[i].Leaf)
	}
	return f.sum()
}

// viewPrints returns the fingerprints of a cut's turns as the view has them.
func (x *texts) viewPrints(v dag.View, turns []slice.Selected) []uint64 {
	prints := make([]uint64, len(turns))
	f := fingerprint{seed: x.seed}
	for i := range turns {
		n, _ := v.Find(turns[i].ID) // it was selected from there
		f.turn(v.ID(n), v.CreatedAt(n), v.Salience(n), v.Role(n), v.Phase(n), v.Leaf(n))
		for p := range v.ParentCount(n) {
			parent, kind, leaf := v.Parent(n, p)
			f.parent(v.ID(parent), kind, leaf)
		}
		prints[i] = f.sum()
	}
	return prints
}
