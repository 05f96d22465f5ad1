// Package erasures owns the record of turns whose text was erased: the form of its entries, and reading and writing them in a history.
// An erasure is an entry of the Known stream, whose public half says which turn was erased, why and when, and an entry of the record,
// whose leaf says the same except why. One change adds both entries and removes the turn's body, and may include further changes.
package erasures

import (
	"context"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
)

// The kinds of entries: in the Known stream, and in the record.
const (
	Kind   history.Kind = "erasure/1"
	Logged history.Kind = "erased/1"
)

const (
	// indexTurn leads from a turn's id to the entry of its erasure.
	indexTurn history.Index = 120
	// indexNumber leads from the number of an erasure, eight bytes, big-endian, to the entry. The value of the term is the turn's id.
	indexNumber history.Index = 121
	// indexLogged leads from a turn's id to the leaf.
	indexLogged history.Index = 135
)

// An Erasure says that the text of a turn was erased.
type Erasure struct {
	Seq    dag.Seq // its number in the Known stream; set by Erase
	Turn   dag.TurnID
	Reason string // UTF-8
	At     dag.Time
	By     string // the caller who asked for it, in the form of access.CheckCaller; "" if not recorded
}

// Check reports the first field of an erasure that is not in its form, as dag.ErrForm.
func (e *Erasure) Check() error {
	if !e.At.Valid() || !utf8.ValidString(e.Reason) {
		return fmt.Errorf("%w: the erasure has the time %d and the reason %.40q; want a time from 1970 to 9999 and UTF-8", dag.ErrForm, e.At, e.Reason)
	}
	if e.By != "" {
		if err := access.CheckCaller(e.By); err != nil {
			return fmt.Errorf("%w: the caller %.80q who asked for the erasure: %w", dag.ErrForm, e.By, err)
		}
	}
	return nil
}

// Leaf returns the leaf of the ledger for the erasure.
func (e *Erasure) Leaf(tenant dag.Tenant) []byte {
	l := ledger.ErasureLeaf{Tenant: tenant, Turn: e.Turn, Seq: e.Seq, At: e.At}
	return l.Append(nil)
}

// Entry returns the entry of an erasure that has its number.
func (e *Erasure) Entry() history.Entry {
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("at")
	w.String(e.At.String())
	if e.By != "" {
		w.Key("by")
		w.String(e.By)
	}
	w.Key("reason")
	w.String(e.Reason)
	w.Key("turn")
	w.String(e.Turn.String())
	w.EndObject()
	return history.Entry{Seq: e.Seq, Kind: Kind, At: e.At, Public: w.Bytes}
}

// Read returns the erasure of an entry of Kind. An entry that is not in its form is dag.ErrForm.
func Read(entry *history.Entry) (Erasure, error) {
	e := Erasure{Seq: entry.Seq}
	doc, err := canon.Parse(entry.Public)
	if err == nil {
		c := canon.Open(doc)
		e.At = canon.Parsed(c.Field("at"), dag.ParseTime)
		if by := c.Optional("by"); by != nil {
			e.By = by.String()
		}
		e.Reason = c.Field("reason").String()
		e.Turn = canon.Parsed(c.Field("turn"), dag.ParseTurnID)
		c.Close()
		err = c.Err()
	}
	if err == nil {
		err = e.Check()
	}
	if want := e.Entry(); err == nil && !want.SameAlone(entry) {
		err = fmt.Errorf("it differs from the entry that this program would write")
	}
	if err != nil {
		return Erasure{}, fmt.Errorf("%w: erasure %d: %w", dag.ErrForm, entry.Seq, err)
	}
	return e, nil
}

// terms returns the terms that an erasure's entry begins.
func (e *Erasure) terms() []history.Term {
	return []history.Term{
		{Index: indexTurn, Key: e.Turn[:], Since: e.Seq, Until: history.Forever},
		{Index: indexNumber, Key: numberKey(e.Seq), Since: e.Seq, Until: history.Forever, Value: e.Turn[:]},
	}
}

func numberKey(seq dag.Seq) []byte { return binary.BigEndian.AppendUint64(nil, uint64(seq)) }

func ofTurn(index history.Index, turn dag.TurnID) history.Key {
	return history.Key{Index: index, Key: string(turn[:])}
}

// A Base reads and writes the erasures in a history.
type Base struct{ history.History }

// Erase removes a turn's body, salt and external id, beyond recovery from the store's own files, and records the erasure.
// The changes in with are part of the same write, and each sees the number of the erasure as the head; they plan nothing
// if no new erasure is recorded. Erasing an erased or withheld turn changes nothing and returns the erasure that was
// recorded (its zero value if the body never came), and finishes what the store could not finish the first time. A body
// that was lost is erased like any other: the erasure then accounts for the loss. An unknown turn is store.ErrNotFound.
func (b Base) Erase(ctx context.Context, tenant dag.Tenant, e Erasure, with ...history.Change) (Erasure, error) {
	if err := e.Check(); err != nil {
		return Erasure{}, err
	}
	c := &erasing{asked: e}
	if err := b.Write(ctx, tenant, history.With(c, with...)); err != nil {
		return Erasure{}, fmt.Errorf("erase %s: %w", e.Turn, err)
	}
	return c.recorded, nil
}

// After returns up to limit erasures numbered above after, by ascending number. It takes two queries.
func (b Base) After(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]Erasure, error) {
	if limit <= 0 {
		return nil, nil
	}
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexNumber, After: &history.Place{Key: numberKey(after), Since: dag.MaxSeq}, Limit: limit}})
	if err != nil || len(lists) != 1 || len(lists[0]) == 0 {
		return nil, err
	}
	at := make([]dag.Seq, len(lists[0]))
	for i := range at {
		at[i] = lists[0][i].Since
	}
	entries, err := b.Entries(ctx, tenant, history.Page{At: at})
	if err == nil && len(entries) != len(at) {
		err = fmt.Errorf("%w: %d erasures have %d entries", history.ErrDamaged, len(at), len(entries))
	}
	if err != nil {
		return nil, err
	}
	list := make([]Erasure, len(entries))
	for i := range entries {
		if list[i], err = Read(&entries[i]); err != nil {
			return nil, err
		}
		if of := lists[0][i].Value; string(list[i].Turn[:]) != string(of) {
			return nil, fmt.Errorf("%w: erasure %d is of turn %s, but its term says %x", history.ErrDamaged, at[i], list[i].Turn, of)
		}
	}
	return list, nil
}

// Newest returns the number of the newest erasure, 0 if there is none.
func (b Base) Newest(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexNumber, Last: true, Limit: 1}})
	if err != nil || len(lists[0]) == 0 {
		return 0, err
	}
	return lists[0][0].Since, nil
}

// Later returns the range of the terms of all erasures numbered above a number, for a change that depends on them; see TurnOf.
func Later(after dag.Seq) history.Range {
	return history.Range{Index: indexNumber, After: &history.Place{Key: numberKey(after), Since: dag.MaxSeq}}
}

// OfTurn returns the key of the term of a turn's erasure, for a change that depends on it.
func OfTurn(turn dag.TurnID) history.Key { return ofTurn(indexTurn, turn) }

// TurnOf returns the turn of an erasure, given a term of Later.
func TurnOf(t *history.Term) (turn dag.TurnID, err error) {
	if t.Index != indexNumber || len(t.Value) != len(turn) {
		return turn, fmt.Errorf("%w: the term of erasure %d has no turn", history.ErrDamaged, t.Since)
	}
	return dag.TurnID(t.Value), nil
}

// Among returns the numbers of the erasures of the given turns; turns that are
// not erased are left out. It takes one query for each history.MaxRanges turns.
func (b Base) Among(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) (map[dag.TurnID]dag.Seq, error) {
	return b.among(ctx, tenant, indexTurn, turns)
}

// LoggedAmong is like Among for the leaves of erasures: it returns their numbers in the record.
func (b Base) LoggedAmong(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) (map[dag.TurnID]dag.Seq, error) {
	return b.among(ctx, tenant, indexLogged, turns)
}

func (b Base) among(ctx context.Context, tenant dag.Tenant, index history.Index, turns []dag.TurnID) (map[dag.TurnID]dag.Seq, error) {
	found := map[dag.TurnID]dag.Seq{}
	for len(turns) > 0 {
		some := turns[:min(len(turns), history.MaxRanges)]
		turns = turns[len(some):]
		ranges := make([]history.Range, len(some))
		for i := range some {
			ranges[i] = history.Range{Index: index, Prefix: some[i][:], Limit: 1}
		}
		lists, err := b.Terms(ctx, tenant, ranges)
		if err != nil {
			return nil, err
		}
		for i := range lists {
			if len(lists[i]) > 0 {
				found[some[i]] = lists[i][0].Since
			}
		}
	}
	return found, nil
}
