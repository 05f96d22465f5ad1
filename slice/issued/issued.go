// Package issued owns the record of bundles that were handed out: bundles of turns, of facts, of contexts or of
// beliefs. It defines their entries, and reads and writes them in a history. The public half of an entry is the leaf of
// the ledger; the detail contains the fields that the leaf lacks, see appendDetail; the private half is the question of
// a slice of facts or of a belief, which contains names, or the request for a context, which contains the task. None of
// them contains the text of a turn.
package issued

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/slice"
)

// Kind is the kind of the entries.
const Kind history.Kind = "issued/1"

const (
	// indexSlice maps a slice's id, an as-of number and a bundle's digest to the entry: see Record.key. A bundle has one
	// entry, because the bundle determines its slice and its as-of number.
	indexSlice history.Index = 131
	// indexStart maps a name from which a slice of facts starts to the entry, until the question is erased:
	// knowledge.NameKey.
	indexStart history.Index = 140
	// indexShown maps a turn to the contexts that showed it and the beliefs that rest on it.
	indexShown history.Index = 141
	// indexTaskOf maps a turn to the contexts whose task contains its words.
	indexTaskOf history.Index = 142
	// indexNumber maps a record's number, eight bytes, big-endian, to the entry. It is the highest index, so that a B-tree
	// grows at its end.
	indexNumber history.Index = 255
)

// ErrDamaged is wrapped when terms and entries of the record do not match.
var ErrDamaged = errors.New("the record of issued bundles is damaged")

// A Record records that one bundle was handed out.
type Record struct {
	Number     uint64 // the tenant's first record has 1; set by Put
	Leaf       uint64 // the index of its leaf in the tenant's ledger; set by Put
	Provenance slice.Provenance
	Question   string  // of a slice of facts, a context or a belief, in canonical form; "" for a slice of turns, or after an erasure
	Facts      Numbers // the assertions in a slice of facts
	Shown      Turns   // the turns in a context, or on which a belief rests
	AsOf       dag.Seq
	KeyID      string
	Token      string
	Bundle     dag.Digest // SHA-256 of the bundle's bytes
	By         string     // the first recipient, in the form of access.CheckCaller; "" if not recorded
	Reading    dag.Reading
	Delivery   Delivery // of a context
	Head       dag.Seq  // when it was made; 0 if not recorded. Erasures with higher numbers came later
	At         dag.Time // when it was first issued

	// NotGiven is the number of the entry that records that the context did not reach its recipient; 0: there is none. It
	// is not part of the record: see Base.Undelivered.
	NotGiven dag.Seq
}

// Numbers are ascending sequence numbers, packed into a string so that Records can be compared: the numbers of the
// assertions in a slice of facts.
type Numbers string

// Pack packs ascending numbers.
func Pack(seqs []dag.Seq) Numbers {
	var packed []byte
	before := dag.Seq(0)
	for _, seq := range seqs {
		packed = binary.AppendUvarint(packed, uint64(seq-before))
		before = seq
	}
	return Numbers(packed)
}

// Unpack returns the numbers; none if n does not come from Pack.
func (n Numbers) Unpack() (seqs []dag.Seq) {
	rest, last := []byte(n), uint64(0)
	for len(rest) > 0 {
		step, size := binary.Uvarint(rest)
		if size <= 0 || step == 0 || step > uint64(dag.MaxSeq)-last {
			return nil
		}
		rest, last = rest[size:], last+step
		seqs = append(seqs, dag.Seq(last))
	}
	return seqs
}

// Turns are ascending ids of turns, 16 bytes each.
type Turns string

// PackTurns packs ascending ids.
func PackTurns(ids []dag.TurnID) Turns {
	packed := make([]byte, 0, len(ids)*len(dag.TurnID{}))
	for i := range ids {
		packed = append(packed, ids[i][:]...)
	}
	return Turns(packed)
}

// Unpack returns the ids; none if t does not come from PackTurns.
func (t Turns) Unpack() (ids []dag.TurnID) {
	const size = len(dag.TurnID{})
	if len(t)%size != 0 {
		return nil
	}
	for rest := []byte(t); len(rest) > 0; rest = rest[size:] {
		id := dag.TurnID(rest[:size])
		if n := len(ids); n > 0 && ids[n-1].Compare(id) >= 0 {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// OfContext reports whether the bundle is a context.
func (r *Record) OfContext() bool { return slice.IsContext(r.Provenance.SchemaVersion) }

// OfBelief reports whether the bundle is evidence of a belief.
func (r *Record) OfBelief() bool { return r.Provenance.SchemaVersion == slice.BeliefVersion }

// OfTurns reports whether the bundle is a slice of turns.
func (r *Record) OfTurns() bool { return !r.asked() }

// asked reports whether the bundle answers a question that its anchor does not reveal.
func (r *Record) asked() bool { return asked[r.Provenance.SchemaVersion] != "" }

// shows reports whether the record lists the turns that the bundle shows or rests on.
func (r *Record) shows() bool { return r.OfContext() || r.OfBelief() }

// OfFacts reports whether the bundle is a slice of facts.
func (r *Record) OfFacts() bool { return r.Provenance.SchemaVersion == slice.FactsVersion }

// A Base is a history with the record of issued bundles.
type Base struct{ history.History }

// A Handing is the record of a bundle that is about to be handed out, with the turns on which the bundle rests. It is
// recorded only if none of these turns has been erased in the meantime.
type Handing struct {
	Record
	Turns []dag.TurnID // the turns whose texts, or knowledge learned from them, the bundle contains
	As    dag.Seq      // a head at which the turns were known to exist, before they were read
	Words []dag.TurnID // the turns whose words the question contains, whenever they were read
}

// Put records that bundles were handed out, all of them or none, in this order. A bundle that is already recorded, or
// occurs earlier in the list, has no effect. Put returns the record of each bundle, with its number and its leaf. The
// error for a record that Check refuses is dag.ErrForm.
func (b Base) Put(ctx context.Context, tenant dag.Tenant, list []Record) ([]Record, error) {
	if len(list) == 0 {
		return nil, nil
	}
	handings := make([]Handing, len(list))
	for i := range list {
		handings[i].Record = list[i]
	}
	recorded, _, err := b.Hand(ctx, tenant, handings)
	return recorded, err
}

// Hand is Put for bundles that are about to be handed out. For each bundle it returns the turns that have been erased
// since, checked in the same transaction. A bundle with erased turns is not recorded, and must not be handed out.
func (b Base) Hand(ctx context.Context, tenant dag.Tenant, list []Handing) (recorded []Record, erased [][]dag.TurnID, err error) {
	for i := range list {
		if err := list[i].Check(); err != nil {
			return nil, nil, fmt.Errorf("record %d of %d: %w", i+1, len(list), err)
		}
	}
	c := &issuing{list: list}
	if err := b.Write(ctx, tenant, c); err != nil {
		return nil, nil, err
	}
	return c.recorded, c.erased, nil
}

// ByID returns the records with a slice id, by ascending number.
func (b Base) ByID(ctx context.Context, tenant dag.Tenant, id slice.SliceID) ([]Record, error) {
	prefix, err := sliceBytes(id)
	if err != nil {
		return nil, nil // no slice has this id
	}
	list, err := b.find(ctx, tenant, history.Range{Index: indexSlice, Prefix: prefix[:]})
	slices.SortFunc(list, func(a, b Record) int { return cmp.Compare(a.Number, b.Number) })
	return list, err
}

// ByDigest returns the record of a bundle with a slice id and a SHA-256, or nil if there is none.
func (b Base) ByDigest(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest dag.Digest) (*Record, error) {
	list, err := b.ByID(ctx, tenant, id)
	if at := slices.IndexFunc(list, func(r Record) bool { return r.Bundle == digest }); at >= 0 {
		return &list[at], err
	}
	return nil, err
}

// After returns up to limit records with numbers above after, by ascending number.
func (b Base) After(ctx context.Context, tenant dag.Tenant, after uint64, limit int) ([]Record, error) {
	if limit <= 0 {
		return nil, nil
	}
	return b.find(ctx, tenant, history.Range{Index: indexNumber, After: &history.Place{Key: numberKey(after), Since: dag.MaxSeq}, Limit: limit})
}

// Before returns up to limit records with numbers below before, by descending number.
func (b Base) Before(ctx context.Context, tenant dag.Tenant, before uint64, limit int) ([]Record, error) {
	if before <= 1 || limit <= 0 {
		return nil, nil
	}
	from := uint64(0) // numbers have no gaps
	if before-1 > uint64(limit) {
		from = before - 1 - uint64(limit)
	}
	list, err := b.After(ctx, tenant, from, int(before-1-from))
	slices.Reverse(list)
	return list, err
}

// Begin returns up to limit records whose slice id begins with the given hex digits, in lower case.
func (b Base) Begin(ctx context.Context, tenant dag.Tenant, digits string, limit int) ([]Record, error) {
	whole := digits[:len(digits)/2*2]
	prefix, err := hex.DecodeString(whole)
	if err != nil {
		return nil, nil // no slice has such an id
	}
	r := history.Range{Index: indexSlice, Prefix: prefix}
	if len(whole) == len(digits) {
		r.Limit = limit
	}
	lists, err := b.Terms(ctx, tenant, []history.Range{r})
	if err != nil || len(lists) != 1 {
		return nil, err
	}
	terms := slices.DeleteFunc(lists[0], func(t history.Term) bool { return !strings.HasPrefix(hex.EncodeToString(t.Key), digits) })
	return b.lead(ctx, tenant, terms[:min(len(terms), limit)])
}

// Showing returns the contexts that showed a turn and the beliefs that rest on it, by ascending number.
func (b Base) Showing(ctx context.Context, tenant dag.Tenant, turn dag.TurnID) ([]Record, error) {
	list, err := b.find(ctx, tenant, history.Range{Index: indexShown, Prefix: turn[:]})
	slices.SortFunc(list, func(a, b Record) int { return cmp.Compare(a.Number, b.Number) })
	return list, err
}

// Last returns the number of the newest record, 0 if there is none. Numbers have no gaps.
func (b Base) Last(ctx context.Context, tenant dag.Tenant) (uint64, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{lastNumber})
	if err != nil || len(lists) != 1 || len(lists[0]) == 0 {
		return 0, err
	}
	return readNumber(&lists[0][0])
}

var lastNumber = history.Range{Index: indexNumber, Last: true, Limit: 1}

// find returns the records that the terms of a range point to.
func (b Base) find(ctx context.Context, tenant dag.Tenant, r history.Range) ([]Record, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{r})
	if err != nil || len(lists) != 1 {
		return nil, err
	}
	return b.lead(ctx, tenant, lists[0])
}

// lead returns the records that terms point to.
func (b Base) lead(ctx context.Context, tenant dag.Tenant, terms []history.Term) ([]Record, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	at := make([]dag.Seq, len(terms))
	for i := range at {
		at[i] = terms[i].Since
	}
	entries, err := b.Entries(ctx, tenant, history.Page{Stream: history.Record, At: at})
	if err != nil {
		return nil, err
	}
	if len(entries) != len(at) {
		return nil, fmt.Errorf("%w: %d terms lead to %d entries", ErrDamaged, len(at), len(entries))
	}
	list := make([]Record, len(entries))
	for i := range entries {
		if list[i], err = readOf(tenant, &entries[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readOf reads the record in an entry that a term of a tenant points to.
func readOf(tenant dag.Tenant, e *history.Entry) (Record, error) {
	r, of, err := Read(e)
	if err == nil && of != tenant {
		err = fmt.Errorf("number %d of the record is of tenant %.80q", e.Seq, of)
	}
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return r, nil
}

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func readNumber(t *history.Term) (uint64, error) {
	if len(t.Key) != 8 {
		return 0, fmt.Errorf("%w: a key of the index of issued slices has %d bytes, want 8", ErrDamaged, len(t.Key))
	}
	return binary.BigEndian.Uint64(t.Key), nil
}
