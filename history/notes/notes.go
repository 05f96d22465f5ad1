// Package notes owns notes: short texts that somebody wrote about a turn. A note is an entry of what
// is known. Its public half has a salted digest of the text, and the text goes when that of the turn
// is erased.
package notes

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/store"
)

// Kind is the kind of the entries.
const Kind history.Kind = "note/1"

// MaxText bounds the bytes of a note.
const MaxText = 4096

// index leads from a turn's id and the number of a note, eight bytes, big-endian, to the entry.
const index history.Index = 124

// A Note is a short text about a turn.
type Note struct {
	Seq  dag.Seq // its number in what is known; set by Add
	Turn dag.TurnID
	At   dag.Time
	Salt dag.Salt
	Text string // UTF-8, at most MaxText bytes
}

// Check reports the first thing about a note that is not in its form, as dag.ErrForm.
func (n *Note) Check() error {
	if n.Text == "" || len(n.Text) > MaxText || !utf8.ValidString(n.Text) {
		return fmt.Errorf("%w: a note has 1 to %d bytes of UTF-8, got %d", dag.ErrForm, MaxText, len(n.Text))
	}
	if !n.At.Valid() {
		return fmt.Errorf("%w: a note at %d", dag.ErrForm, n.At)
	}
	return nil
}

func (n *Note) private() []byte { return append(n.Salt[:len(n.Salt):len(n.Salt)], n.Text...) }

// Entry is the entry of a note that has its number. The digest is the SHA-256 of the salt and the text.
func (n *Note) Entry() history.Entry {
	private := n.private()
	digest := dag.Digest(sha256.Sum256(private))
	return history.Entry{Seq: n.Seq, Kind: Kind, At: n.At, Public: public(digest, n.Turn), Private: private}
}

func public(digest dag.Digest, turn dag.TurnID) []byte {
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("digest")
	w.String(digest.String())
	w.Key("turn")
	w.String(turn.String())
	w.EndObject()
	return w.Bytes
}

// Read reads the note that an entry of Kind is of. The text and the salt of one that was erased are
// empty. What is not in its form is dag.ErrForm.
func Read(e *history.Entry) (Note, error) {
	n := Note{Seq: e.Seq, At: e.At}
	var digest dag.Digest
	doc, err := canon.Parse(e.Public)
	if err == nil {
		c := canon.Open(doc)
		digest = canon.Parsed(c.Field("digest"), dag.ParseDigest)
		n.Turn = canon.Parsed(c.Field("turn"), dag.ParseTurnID)
		c.Close()
		err = c.Err()
	}
	if err == nil && e.Private != nil {
		n.Text = string(e.Private[copy(n.Salt[:], e.Private):])
		err = n.Check()
	}
	want := history.Entry{Seq: e.Seq, Kind: Kind, At: e.At, Public: public(digest, n.Turn), Private: e.Private}
	if err == nil && (!want.Same(e) || e.Private != nil && sha256.Sum256(e.Private) != digest) {
		err = fmt.Errorf("it is not as it would be written")
	}
	if err != nil {
		return Note{}, fmt.Errorf("%w: note %d: %w", dag.ErrForm, e.Seq, err)
	}
	return n, nil
}

func (n *Note) term() history.Term {
	return history.Term{Index: index, Key: binary.BigEndian.AppendUint64(n.Turn[:len(n.Turn):len(n.Turn)], uint64(n.Seq)), Since: n.Seq, Until: history.Forever}
}

// A History keeps entries and terms, for each tenant apart. Every store does.
type History interface {
	Write(ctx context.Context, tenant dag.Tenant, c history.Change) error
	Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error)
	Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error)
}

// A Base is the notes in a history.
type Base struct{ History }

// Add records a note and returns it with its number. A turn that is not there is store.ErrNotFound, and
// one without a text dag.ErrForm: what is noted of it could not be erased with it.
func (b Base) Add(ctx context.Context, tenant dag.Tenant, n Note) (Note, error) {
	if err := n.Check(); err != nil {
		return Note{}, err
	}
	a := &addition{notes: []Note{n}}
	if err := b.Write(ctx, tenant, a); err != nil {
		return Note{}, fmt.Errorf("note of turn %s: %w", n.Turn, err)
	}
	return a.notes[0], nil
}

// Of returns up to limit notes of a turn numbered above after, by ascending number.
func (b Base) Of(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, after dag.Seq, limit int) ([]Note, error) {
	from := Note{Turn: turn, Seq: after}
	place := history.Place{Key: from.term().Key, Since: after}
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: index, Prefix: turn[:], After: &place, Limit: limit}})
	if err != nil {
		return nil, err
	}
	at := make([]dag.Seq, len(lists[0]))
	for i := range at {
		at[i] = lists[0][i].Since
	}
	if len(at) == 0 {
		return nil, nil
	}
	entries, err := b.Entries(ctx, tenant, history.Page{At: at})
	if err != nil {
		return nil, err
	}
	list := make([]Note, 0, len(entries))
	for i := range entries {
		n, err := Read(&entries[i])
		if err != nil {
			return nil, err
		}
		if entries[i].Private != nil { // not erased since the terms were read
			list = append(list, n)
		}
	}
	return list, nil
}

// An addition is notes on their way into a history: a new one, or those that another store has.
type addition struct {
	notes   []Note
	adopted []history.Entry
}

func (a *addition) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		for i := range a.notes {
			n.Turns = append(n.Turns, a.notes[i].Turn)
		}
	}
	return n
}

func (a *addition) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Entries: a.adopted}
	for i := range a.notes {
		n := &a.notes[i]
		turn, ok := k.Turns[n.Turn]
		switch {
		case a.adopted == nil && !ok:
			return nil, store.ErrNotFound
		case a.adopted == nil && !turn.Body:
			return nil, fmt.Errorf("%w: the turn has no text, and what is noted of it could not be erased with it", dag.ErrForm)
		case a.adopted == nil:
			n.Seq = k.Head + 1
			p.Entries = append(p.Entries, n.Entry())
		case !ok || turn.Seq >= n.Seq:
			return nil, fmt.Errorf("%w: number %d is about turn %s, which is admitted under no smaller number", dag.ErrForm, n.Seq, n.Turn)
		}
		if a.adopted == nil || a.adopted[i].Private != nil {
			p.Begin = append(p.Begin, n.term())
		}
	}
	return p, nil
}

// Codec is the codec of notes.
type Codec struct{}

// Kinds is Kind.
func (Codec) Kinds() []history.Kind { return []history.Kind{Kind} }

// Stream is what is known.
func (Codec) Stream() history.Stream { return history.Known }

// Erasable is true: the text is private.
func (Codec) Erasable(history.Kind) bool { return true }

// Turns returns the turn that a note is about.
func (Codec) Turns(e *history.Entry) []dag.TurnID {
	n, err := Read(e)
	if err != nil {
		return nil
	}
	return []dag.TurnID{n.Turn}
}

// Adopt makes a change of notes that another store has.
func (Codec) Adopt(entries []history.Entry) (history.Change, error) {
	a := &addition{adopted: entries}
	for i := range entries {
		n, err := Read(&entries[i])
		if err != nil {
			return nil, err
		}
		a.notes = append(a.notes, n)
	}
	return a, nil
}

// An Erasure is the part of the erasure of a turn that is about its notes.
type Erasure struct{ Turn dag.TurnID }

// Needs asks for the notes of the turn.
func (e *Erasure) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		n.Ranges = []history.Range{{Index: index, Prefix: e.Turn[:]}}
	}
	return n
}

// Plan takes the texts away, and the terms that lead to them.
func (e *Erasure) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Erases: true}
	for _, t := range k.Ranges[0] {
		p.Forget = append(p.Forget, t.Since)
		p.End = append(p.End, history.Ending{Index: t.Index, Key: t.Key, Since: t.Since})
	}
	return p, nil
}
