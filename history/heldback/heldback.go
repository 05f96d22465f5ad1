// Package heldback owns how an erased text is recognised when it arrives again under another turn id. It keeps digests of erased texts
// under a key that is in no store, the record of turns that were held back because of them, and the record of turns that a person released.
//
// All three are entries of the Known stream. The entry of an erased text is written in the change of the erasure:
//
//	{"at":"2026-11-27T18:00:00.000Z","digests":["0c…","4f…"],"key":"91…","text":"a7…","turn":"5b0c…"}
//
// A person with the store and without the key learns from it whether two erased texts were the same, and nothing else.
package heldback

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/store"
)

// The kinds of entries.
const (
	KindErased   history.Kind = "erased-text/1"
	KindHeld     history.Kind = "held-back/1"
	KindReleased history.Kind = "released/1"
)

const (
	indexDigest   history.Index = 110 // key: a digest; value: the turn whose erased text has it
	indexText     history.Index = 111 // key: a turn that was erased or held back; value: the digest of its text
	indexHeld     history.Index = 112 // key: the number of a held turn's entry, eight bytes, big-endian; value: the turn
	indexReleased history.Index = 113 // key: a turn
)

// MaxPlace bounds the bytes of Held.Place.
const MaxPlace = 512

// An Erased contains the digests by which the text of an erased turn is recognised.
type Erased struct {
	Seq     dag.Seq // set when it is recorded
	Turn    dag.TurnID
	At      dag.Time
	Key     Digest   // Key.Name of the key
	Text    Digest   // Text.Digest
	Digests []Digest // the digests of the marks, ascending, without duplicates
}

// A Held is a turn that was held back: it was admitted without its text.
type Held struct {
	Seq    dag.Seq // set when it is recorded
	Turn   dag.TurnID
	Erased dag.TurnID // the erased turn with the same text
	Rule   Rule
	Text   Digest
	At     dag.Time
	By     string // the caller that brought it, in the form of access.CheckCaller; "" if unknown
	Place  string // where it came from, such as a file and a line; "" if unknown
}

// A Release frees a turn that was held back.
type Release struct {
	Seq  dag.Seq // set when it is recorded
	Turn dag.TurnID
	At   dag.Time
	By   string // the caller who asked for it; "" if unknown
}

// A note is an Erased, a Held or a Release.
type note interface {
	entry() history.Entry
	terms() []history.Term
	check() error
	numbered(seq dag.Seq) note
	needs() []history.Key // the keys of the terms that follow checks
	// follow returns an error if the note cannot be recorded after these terms. An adopted note is in the history of another store.
	follow(terms map[history.Key]history.Term, adopted bool) error
	rests() []dag.TurnID
}

func field(w *canon.Writer, key, value string) {
	w.Key(key)
	w.String(value)
}

func (e *Erased) entry() history.Entry {
	w := canon.NewWriter(nil)
	w.BeginObject()
	field(w, "at", e.At.String())
	w.Key("digests")
	w.BeginArray()
	for _, d := range e.Digests {
		w.String(d.String())
	}
	w.EndArray()
	field(w, "key", e.Key.String())
	field(w, "text", e.Text.String())
	field(w, "turn", e.Turn.String())
	w.EndObject()
	return history.Entry{Seq: e.Seq, Kind: KindErased, At: e.At, Public: w.Bytes}
}

func (h *Held) entry() history.Entry {
	w := canon.NewWriter(nil)
	w.BeginObject()
	field(w, "at", h.At.String())
	if h.By != "" {
		field(w, "by", h.By)
	}
	field(w, "erased", h.Erased.String())
	if h.Place != "" {
		field(w, "place", h.Place)
	}
	field(w, "rule", string(h.Rule))
	field(w, "text", h.Text.String())
	field(w, "turn", h.Turn.String())
	w.EndObject()
	return history.Entry{Seq: h.Seq, Kind: KindHeld, At: h.At, Public: w.Bytes}
}

func (r *Release) entry() history.Entry {
	w := canon.NewWriter(nil)
	w.BeginObject()
	field(w, "at", r.At.String())
	if r.By != "" {
		field(w, "by", r.By)
	}
	field(w, "turn", r.Turn.String())
	w.EndObject()
	return history.Entry{Seq: r.Seq, Kind: KindReleased, At: r.At, Public: w.Bytes}
}

// read parses an entry of one of the kinds. Any bytes that the package would not write are dag.ErrForm.
func read(entry *history.Entry) (note, error) {
	doc, err := canon.Parse(entry.Public)
	if err != nil {
		return nil, fmt.Errorf("%w: number %d, %s: %w", dag.ErrForm, entry.Seq, entry.Kind, err)
	}
	var n note
	c := canon.Open(doc)
	at, turn := canon.Parsed(c.Field("at"), dag.ParseTime), canon.Parsed(c.Field("turn"), dag.ParseTurnID)
	optional := func(key string) string {
		if v := c.Optional(key); v != nil {
			return v.String()
		}
		return ""
	}
	switch entry.Kind {
	case KindErased:
		e := &Erased{Seq: entry.Seq, Turn: turn, At: at, Key: canon.Parsed(c.Field("key"), parseDigest), Text: canon.Parsed(c.Field("text"), parseDigest)}
		for _, d := range c.Field("digests").Items() {
			e.Digests = append(e.Digests, canon.Parsed(d, parseDigest))
		}
		n = e
	case KindHeld:
		n = &Held{
			Seq: entry.Seq, Turn: turn, At: at, By: optional("by"), Place: optional("place"), Rule: Rule(c.Field("rule").String()),
			Erased: canon.Parsed(c.Field("erased"), dag.ParseTurnID), Text: canon.Parsed(c.Field("text"), parseDigest),
		}
	case KindReleased:
		n = &Release{Seq: entry.Seq, Turn: turn, At: at, By: optional("by")}
	default:
		return nil, fmt.Errorf("%w: number %d is of kind %s", dag.ErrForm, entry.Seq, entry.Kind)
	}
	c.Close()
	if err = c.Err(); err == nil {
		err = n.check()
	}
	if err == nil {
		if want := n.entry(); !want.SameAlone(entry) {
			err = errors.New("it differs from the entry that this program would write")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: number %d, %s: %w", dag.ErrForm, entry.Seq, entry.Kind, err)
	}
	return n, nil
}

func checkNote(turn dag.TurnID, at dag.Time, by string) error {
	if turn == (dag.TurnID{}) {
		return fmt.Errorf("%w: the nil UUID names no turn", dag.ErrForm)
	}
	if !at.Valid() {
		return fmt.Errorf("%w: time %d", dag.ErrForm, at)
	}
	if by != "" {
		return access.CheckCaller(by)
	}
	return nil
}

func (e *Erased) check() error {
	for i := 1; i < len(e.Digests); i++ {
		if bytes.Compare(e.Digests[i-1][:], e.Digests[i][:]) >= 0 {
			return fmt.Errorf("%w: the digests of turn %s are not ascending", dag.ErrForm, e.Turn)
		}
	}
	return checkNote(e.Turn, e.At, "")
}

func (h *Held) check() error {
	if h.Rule != ByPlace && h.Rule != ByReply && h.Rule != ByWords {
		return fmt.Errorf("%w: turn %s was held back by the rule %.40q", dag.ErrForm, h.Turn, h.Rule)
	}
	if len(h.Place) > MaxPlace || !utf8.ValidString(h.Place) {
		return fmt.Errorf("%w: turn %s has a place of %d bytes, want at most %d bytes of UTF-8", dag.ErrForm, h.Turn, len(h.Place), MaxPlace)
	}
	if h.Erased == (dag.TurnID{}) {
		return fmt.Errorf("%w: turn %s was held back for the nil UUID, which names no turn", dag.ErrForm, h.Turn)
	}
	return checkNote(h.Turn, h.At, h.By)
}

func (r *Release) check() error { return checkNote(r.Turn, r.At, r.By) }

func term(index history.Index, key []byte, since dag.Seq, value []byte) history.Term {
	return history.Term{Index: index, Key: key, Since: since, Until: history.Forever, Value: value}
}

func (e *Erased) terms() []history.Term {
	list := []history.Term{term(indexText, e.Turn[:], e.Seq, e.Text[:])}
	for i := range e.Digests {
		list = append(list, term(indexDigest, e.Digests[i][:], e.Seq, e.Turn[:]))
	}
	return list
}

func (h *Held) terms() []history.Term {
	return []history.Term{
		term(indexText, h.Turn[:], h.Seq, h.Text[:]),
		term(indexHeld, numberKey(h.Seq), h.Seq, h.Turn[:]),
	}
}

func (r *Release) terms() []history.Term {
	return []history.Term{term(indexReleased, r.Turn[:], r.Seq, nil)}
}

func (e Erased) numbered(seq dag.Seq) note  { e.Seq = seq; return &e }
func (h Held) numbered(seq dag.Seq) note    { h.Seq = seq; return &h }
func (r Release) numbered(seq dag.Seq) note { r.Seq = seq; return &r }

func keyOf(index history.Index, turn dag.TurnID) history.Key {
	return history.Key{Index: index, Key: string(turn[:])}
}

func numberKey(n dag.Seq) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// heldKey returns the key of the term that marks a turn as held back. The turn of an erased text has no such term.
func heldKey(text history.Term) history.Key {
	return history.Key{Index: indexHeld, Key: string(numberKey(text.Since))}
}

func (e *Erased) needs() []history.Key { return []history.Key{keyOf(indexText, e.Turn)} }
func (h *Held) needs() []history.Key   { return []history.Key{keyOf(indexText, h.Turn)} }
func (r *Release) needs() []history.Key {
	return []history.Key{keyOf(indexText, r.Turn), keyOf(indexReleased, r.Turn)}
}

// errAgain is returned by follow for a note that is recorded already.
var errAgain = errors.New("it is already on record")

func once(key history.Key, terms map[history.Key]history.Term) error {
	if _, there := terms[key]; there {
		return errAgain
	}
	return nil
}

func (e *Erased) follow(terms map[history.Key]history.Term, _ bool) error {
	return once(keyOf(indexText, e.Turn), terms)
}

func (h *Held) follow(terms map[history.Key]history.Term, _ bool) error {
	return once(keyOf(indexText, h.Turn), terms)
}

// follow accepts the release of a turn whose own text was erased, which frees
// nothing, only from another store: earlier versions recorded such releases.
func (r *Release) follow(terms map[history.Key]history.Term, adopted bool) error {
	text, known := terms[keyOf(indexText, r.Turn)]
	if _, held := terms[heldKey(text)]; !known || !held && !adopted {
		return fmt.Errorf("turn %s was not held back: %w", r.Turn, store.ErrNotFound)
	}
	return once(keyOf(indexReleased, r.Turn), terms)
}

func (e *Erased) rests() []dag.TurnID { return []dag.TurnID{e.Turn} }
func (h *Held) rests() []dag.TurnID   { return []dag.TurnID{h.Erased} } // the turn itself is admitted later
func (r *Release) rests() []dag.TurnID {
	return nil
}

// Recording returns the part of a turn's erasure that records the marks of its text. It acts with the erasure, see erasures.Base.Erase.
func Recording(turn dag.TurnID, at dag.Time, key Key, text Text, marks []Mark) history.Change {
	e := &Erased{Turn: turn, At: at, Key: key.Name(), Text: text.Digest}
	for _, m := range marks {
		e.Digests = append(e.Digests, m.Digest)
	}
	slices.SortFunc(e.Digests, func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
	e.Digests = slices.Compact(e.Digests)
	return &noting{list: []note{e}}
}

// A noting is the change that records notes.
type noting struct {
	list     []note
	adopting bool // the notes have their numbers, and none may be recorded already
	recorded []note
}

func (c *noting) Needs(k *history.State) (n history.Needs) {
	for _, it := range c.list {
		switch r, release := it.(*Release); {
		case k.Round == 0:
			n.Newest = append(n.Newest, it.needs()...)
		case k.Round == 1 && release && !c.adopting:
			if text, known := k.Newest[keyOf(indexText, r.Turn)]; known {
				n.Newest = append(n.Newest, heldKey(text))
			}
		}
	}
	return n
}

func (c *noting) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{}
	c.recorded = nil
	terms := map[history.Key]history.Term{}
	for _, it := range c.list {
		for _, key := range it.needs() {
			if t, ok := k.Newest[key]; ok {
				terms[key] = t
				if held, ok := k.Newest[heldKey(t)]; ok && key.Index == indexText {
					terms[heldKey(t)] = held
				}
			}
		}
	}
	for _, it := range c.list {
		switch err := it.follow(terms, c.adopting); {
		case errors.Is(err, errAgain) && !c.adopting:
			continue
		case err != nil && c.adopting:
			return nil, fmt.Errorf("%w: number %d: %w", dag.ErrForm, it.entry().Seq, err)
		case err != nil:
			return nil, err
		}
		if !c.adopting {
			if p.Head(k.Head) >= dag.MaxSeq {
				return nil, fmt.Errorf("nothing can follow sequence number %d, which is the last possible number", k.Head)
			}
			it = it.numbered(p.Head(k.Head) + 1)
		}
		c.recorded = append(c.recorded, it)
		p.Entries = append(p.Entries, it.entry())
		for _, t := range it.terms() {
			p.Begin = append(p.Begin, t)
			terms[history.Key{Index: t.Index, Key: string(t.Key)}] = t
		}
	}
	return p, nil
}

// A Base reads and writes the record of held-back texts in a history.
type Base struct{ history.History }

// Any reports whether digests of an erased text are on record.
func (b Base) Any(ctx context.Context, tenant dag.Tenant) (bool, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexDigest, Limit: 1}})
	return err == nil && len(lists[0]) > 0, err
}

// look reads the first term of each of n keys. It takes one query for each history.MaxRanges keys.
func (b Base) look(ctx context.Context, tenant dag.Tenant, n int, key func(i int) (history.Index, []byte), found func(i int, t *history.Term) error) error {
	for from := 0; from < n; from += history.MaxRanges {
		ranges := make([]history.Range, min(n-from, history.MaxRanges))
		for i := range ranges {
			index, prefix := key(from + i)
			ranges[i] = history.Range{Index: index, Prefix: prefix, Limit: 1}
		}
		lists, err := b.Terms(ctx, tenant, ranges)
		if err != nil {
			return err
		}
		for i := range lists {
			if len(lists[i]) > 0 {
				if err := found(from+i, &lists[i][0]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Recognise returns, for each mark that an erased text has, the erased turn; if several turns have the mark, the first one.
func (b Base) Recognise(ctx context.Context, tenant dag.Tenant, marks []Mark) (map[Digest]dag.TurnID, error) {
	found := map[Digest]dag.TurnID{}
	err := b.look(ctx, tenant, len(marks), func(i int) (history.Index, []byte) { return indexDigest, marks[i].Digest[:] }, func(i int, t *history.Term) error {
		if len(t.Value) != len(dag.TurnID{}) {
			return fmt.Errorf("%w: the term of number %d has no turn", history.ErrDamaged, t.Since)
		}
		found[marks[i].Digest] = dag.TurnID(t.Value)
		return nil
	})
	return found, err
}

// Texts returns the Text of each turn that was erased or held back, without Text.Long. Turns without a recorded Text are left out.
func (b Base) Texts(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) (map[dag.TurnID]Text, error) {
	found := map[dag.TurnID]Text{}
	err := b.look(ctx, tenant, len(turns), func(i int) (history.Index, []byte) { return indexText, turns[i][:] }, func(i int, t *history.Term) error {
		if len(t.Value) != len(Digest{}) {
			return fmt.Errorf("%w: the term of number %d has no digest", history.ErrDamaged, t.Since)
		}
		found[turns[i]] = Text{Digest: Digest(t.Value)}
		return nil
	})
	return found, err
}

// Released returns which of the given turns were released.
func (b Base) Released(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) (map[dag.TurnID]bool, error) {
	found := map[dag.TurnID]bool{}
	err := b.look(ctx, tenant, len(turns), func(i int) (history.Index, []byte) { return indexReleased, turns[i][:] }, func(i int, _ *history.Term) error {
		found[turns[i]] = true
		return nil
	})
	return found, err
}

// Hold records turns that are held back. A turn that is recorded already stays as it is.
func (b Base) Hold(ctx context.Context, tenant dag.Tenant, list []Held) error {
	c := &noting{}
	for i := range list {
		if err := list[i].check(); err != nil {
			return err
		}
		c.list = append(c.list, &list[i])
	}
	if err := b.Write(ctx, tenant, c); err != nil {
		return fmt.Errorf("record turns that are held back: %w", err)
	}
	return nil
}

// Release records turns as released, all of them or none, and returns how many
// were not released before. A turn that was not held back is store.ErrNotFound.
func (b Base) Release(ctx context.Context, tenant dag.Tenant, list []Release) (int, error) {
	c := &noting{}
	for i := range list {
		if err := list[i].check(); err != nil {
			return 0, err
		}
		c.list = append(c.list, &list[i])
	}
	if err := b.Write(ctx, tenant, c); err != nil {
		return 0, fmt.Errorf("release turns: %w", err)
	}
	return len(c.recorded), nil
}

// After returns up to limit turns that were held back, numbered above after, by ascending number.
func (b Base) After(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]Held, error) {
	if limit <= 0 {
		return nil, nil
	}
	from := history.Place{Key: numberKey(after), Since: dag.MaxSeq}
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexHeld, After: &from, Limit: limit, Entries: true}})
	if err != nil {
		return nil, err
	}
	var list []Held
	for i := range lists[0] {
		t := &lists[0][i]
		if t.Entry == nil {
			return nil, fmt.Errorf("%w: number %d should be a turn that was held back, but has no entry", history.ErrDamaged, t.Since)
		}
		n, err := read(t.Entry)
		if err != nil {
			return nil, err
		}
		h, ok := n.(*Held)
		if !ok {
			return nil, fmt.Errorf("%w: number %d is of kind %s", history.ErrDamaged, t.Since, t.Entry.Kind)
		}
		list = append(list, *h)
	}
	return list, nil
}

// Codec is the codec of the kinds of this package.
type Codec struct{}

// Kinds returns the three kinds.
func (Codec) Kinds() []history.Kind { return []history.Kind{KindErased, KindHeld, KindReleased} }

// Stream returns history.Known.
func (Codec) Stream() history.Stream { return history.Known }

// Turns returns the erased turn that the entry of an erased text or of a held turn rests on. A release rests on none.
func (Codec) Turns(e *history.Entry) []dag.TurnID {
	n, err := read(e)
	if err != nil {
		return nil
	}
	return n.rests()
}

// Adopt returns a change that adopts entries of another store.
func (Codec) Adopt(entries []history.Entry) (history.Change, error) {
	c := &noting{adopting: true}
	for i := range entries {
		n, err := read(&entries[i])
		if err != nil {
			return nil, err
		}
		c.list = append(c.list, n)
	}
	return c, nil
}
