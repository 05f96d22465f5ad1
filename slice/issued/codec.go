package issued

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// Check returns dag.ErrForm for the first field of a new record that is malformed.
func (r *Record) Check() error {
	if err := r.check(); err != nil {
		return err
	}
	if r.asked() != (r.Question != "") {
		return fmt.Errorf("%w: issued slice %s of version %s has the question %.80q; want a question for facts, contexts and beliefs, and no question for turns", dag.ErrForm, r.Provenance.SliceID, r.Provenance.SchemaVersion, r.Question)
	}
	return nil
}

// check is Check for a record whose question may have been erased.
func (r *Record) check() error {
	if err := cmp.Or(r.Provenance.Check(), kinds.Known(r.Provenance.SchemaVersion)); err != nil {
		return err
	}
	switch {
	case !dag.IsLabel(r.KeyID):
		return fmt.Errorf("%w: issued slice %s has the key id %.80q, want [a-z0-9][a-z0-9-]{0,62}", dag.ErrForm, r.Provenance.SliceID, r.KeyID)
	case !isText(r.Question) || !isText(r.Token):
		return fmt.Errorf("%w: issued slice %s has the question %.80q and the token %.80q, want UTF-8 without U+0000", dag.ErrForm, r.Provenance.SliceID, r.Question, r.Token)
	case r.Facts != "" && (!r.OfFacts() || r.Facts.Unpack() == nil):
		return fmt.Errorf("%w: issued slice %s has malformed or unexpected numbers of facts: %x", dag.ErrForm, r.Provenance.SliceID, r.Facts)
	case r.Shown != "" && (!r.shows() || r.Shown.Unpack() == nil):
		return fmt.Errorf("%w: issued slice %s has malformed or unexpected turns: %x", dag.ErrForm, r.Provenance.SliceID, r.Shown)
	case r.AsOf > dag.MaxSeq || !r.At.Valid():
		return fmt.Errorf("%w: issued slice %s has the sequence number %d and the time of issue %d, and one of them is out of range", dag.ErrForm, r.Provenance.SliceID, r.AsOf, r.At)
	}
	if r.Reading > dag.ReadNow {
		return fmt.Errorf("%w: issued slice %s was made under the reading %d, which this version does not know", dag.ErrForm, r.Provenance.SliceID, r.Reading)
	}
	if r.OfContext() && (r.Provenance.SchemaVersion == slice.ContextVersionV2) != (r.Reading >= dag.ReadStandings) {
		return fmt.Errorf("%w: context %s is of version %s, which no context is under the reading %d", dag.ErrForm, r.Provenance.SliceID, r.Provenance.SchemaVersion, r.Reading)
	}
	if err := r.Delivery.Check(); err != nil {
		return fmt.Errorf("issued slice %s: %w", r.Provenance.SliceID, err)
	}
	if r.Head > dag.MaxSeq {
		return fmt.Errorf("%w: issued slice %s has the head %d, which is above the last possible sequence number", dag.ErrForm, r.Provenance.SliceID, r.Head)
	}
	if r.Delivery != (Delivery{}) && !r.OfContext() {
		return fmt.Errorf("%w: issued slice %s is not a context but has a recipient or other members of a context", dag.ErrForm, r.Provenance.SliceID)
	}
	if r.By != "" {
		if err := access.CheckCaller(r.By); err != nil {
			return fmt.Errorf("%w: issued slice %s was asked for by %.80q: %w", dag.ErrForm, r.Provenance.SliceID, r.By, err)
		}
	}
	return nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// Leaf returns the leaf of a record in the ledger.
func Leaf(tenant dag.Tenant, r *Record) []byte {
	p := &r.Provenance
	if kind, ok := asked[p.SchemaVersion]; ok {
		l := AskedLeaf{Kind: kind, Tenant: tenant, PolicyID: p.PolicyID, PolicyParamsHash: p.PolicyParamsHash, AsOf: r.AsOf, KeyID: r.KeyID, Bundle: r.Bundle, At: r.At}
		return l.Append(nil)
	}
	s := SliceLeaf{Tenant: tenant, Provenance: r.Provenance, AsOf: r.AsOf, KeyID: r.KeyID, Bundle: r.Bundle, At: r.At}
	return s.Append(nil)
}

// entry returns the entry of a record whose Number and Leaf are set.
func (r *Record) entry(tenant dag.Tenant) history.Entry {
	e := history.Entry{Seq: dag.Seq(r.Leaf) + 1, Kind: Kind, Public: Leaf(tenant, r), Detail: appendDetail(nil, r)}
	if r.Question != "" {
		e.Private = []byte(r.Question)
	}
	return e
}

// The number of bytes in a detail before the token, for a slice of turns and for a bundle that answers a question.
const (
	detailTurns = 8
	detailAsked = detailTurns + 8 + len(dag.TurnID{}) + len(dag.Digest{})
)

// appendDetail appends the number, eight bytes, big-endian; for a bundle that answers a question, whose leaf lacks
// them, the eight bytes of the slice's id, the anchor, the snapshot's hash, and Facts or Shown after the length in
// bytes, a uvarint; the token; By after a zero byte, if By is not empty or an extension follows; and Reading, Head and
// Delivery after a zero byte, unless all are zero.
func appendDetail(dst []byte, r *Record) []byte {
	dst = binary.BigEndian.AppendUint64(dst, r.Number)
	if p := &r.Provenance; r.asked() {
		id, _ := sliceBytes(p.SliceID) // its form was checked before
		dst = append(dst, id[:]...)
		dst = append(dst, p.Anchor[:]...)
		dst = append(dst, p.GraphSnapshotHash[:]...)
		packed := string(r.Facts) + string(r.Shown) // at least one is empty
		dst = append(binary.AppendUvarint(dst, uint64(len(packed))), packed...)
	}
	dst = append(dst, r.Token...)
	if r.By != "" || r.extended() {
		dst = append(append(dst, 0), r.By...)
	}
	if r.extended() {
		dst = r.appendExtension(append(dst, 0))
	}
	return dst
}

// Read reads the record in an entry of Kind, and returns it with the tenant in its leaf. The error for a malformed
// entry is dag.ErrForm.
func Read(e *history.Entry) (Record, dag.Tenant, error) {
	r, of, err := read(e)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return Record{}, "", fmt.Errorf("%w: number %d of the record: %w", dag.ErrForm, e.Seq, err)
	}
	return r, of, nil
}

func read(e *history.Entry) (r Record, of dag.Tenant, _ error) {
	leaf, err := ledger.ParseLeaf(e.Public, Forms()...)
	if err != nil {
		return r, of, err
	}
	r.Leaf, r.Question = uint64(e.Seq)-1, string(e.Private)
	before := detailTurns
	switch l := leaf.(type) {
	case *SliceLeaf:
		of, r.Provenance, r.AsOf, r.KeyID, r.Bundle, r.At = l.Tenant, l.Provenance, l.AsOf, l.KeyID, l.Bundle, l.At
	case *AskedLeaf:
		of, r.AsOf, r.KeyID, r.Bundle, r.At = l.Tenant, l.AsOf, l.KeyID, l.Bundle, l.At
		r.Provenance = slice.Provenance{PolicyID: l.PolicyID, PolicyParamsHash: l.PolicyParamsHash}
		r.Provenance.SchemaVersion = oldest[l.Kind]
		before = detailAsked
	default:
		return r, of, errors.New("its leaf is not the leaf of an issued bundle")
	}
	if len(e.Detail) < before {
		return r, of, fmt.Errorf("its detail has %d bytes, want %d and then the token", len(e.Detail), before)
	}
	r.Number = binary.BigEndian.Uint64(e.Detail)
	token := e.Detail[before:]
	if r.asked() {
		n, size := binary.Uvarint(token)
		if size <= 0 || n > uint64(len(token)-size) {
			return r, of, errors.New("the length of its question is damaged")
		}
		packed := string(token[size:][:n])
		if token = token[size:][n:]; r.OfFacts() {
			r.Facts = Numbers(packed)
		} else {
			r.Shown = Turns(packed)
		}
	}
	text, rest, named := bytes.Cut(token, []byte{0})
	by, more, extended := bytes.Cut(rest, []byte{0})
	if named && len(by) == 0 && !extended {
		return r, of, errors.New("it should name the caller who asked, but the name is empty")
	}
	r.Token, r.By = string(text), string(by)
	if extended {
		if err := r.readExtension(more); err != nil {
			return r, of, err
		}
	}
	if r.OfContext() && r.Reading >= dag.ReadStandings {
		r.Provenance.SchemaVersion = slice.ContextVersionV2
	}
	if rest := e.Detail[detailTurns:before]; len(rest) > 0 {
		p := &r.Provenance
		p.SliceID, rest = slice.SliceID(hex.EncodeToString(rest[:8])), rest[8:]
		copy(p.GraphSnapshotHash[:], rest[copy(p.Anchor[:], rest):])
	}
	if r.Number == 0 || r.Question != "" && !r.asked() {
		return r, of, fmt.Errorf("issued slice %d has the question %.80q; want a number above 0, and a question only for facts, contexts and beliefs", r.Number, r.Question)
	}
	return r, of, nil
}

// sliceBytes returns the eight bytes of a slice's id.
func sliceBytes(id slice.SliceID) (b [8]byte, err error) {
	if _, err := slice.ParseSliceID(string(id)); err != nil {
		return b, err
	}
	_, err = hex.Decode(b[:], []byte(id))
	return b, err
}

// key returns the key of a record in indexSlice.
func (r *Record) key() history.Key {
	id, _ := sliceBytes(r.Provenance.SliceID) // its form was checked before
	key := make([]byte, 0, len(id)+8+len(r.Bundle))
	key = binary.BigEndian.AppendUint64(append(key, id[:]...), uint64(r.AsOf))
	return history.Key{Index: indexSlice, Key: string(append(key, r.Bundle[:]...))}
}

// terms appends the terms that a record's entry begins.
func (r *Record) terms(dst []history.Term) []history.Term {
	since, key := dag.Seq(r.Leaf)+1, r.key()
	dst = append(dst,
		history.Term{Index: key.Index, Key: []byte(key.Key), Since: since, Until: history.Forever},
		history.Term{Index: indexNumber, Key: numberKey(r.Number), Since: since, Until: history.Forever})
	for _, turn := range r.Shown.Unpack() {
		dst = append(dst, history.Term{Index: indexShown, Key: turn[:], Since: since, Until: history.Forever})
	}
	for _, turn := range r.Delivery.TaskOf.Unpack() {
		dst = append(dst, history.Term{Index: indexTaskOf, Key: turn[:], Since: since, Until: history.Forever})
	}
	if r.shows() {
		return dst
	}
	return startTerms(dst, r.Question, since)
}

// Codec is the codec of issued bundles.
type Codec struct{}

// Kinds returns Kind.
func (Codec) Kinds() []history.Kind { return []history.Kind{Kind} }

// Stream returns the record.
func (Codec) Stream() history.Stream { return history.Record }

// Turns returns none: a bundle rests on a view, see AsOf.
func (Codec) Turns(*history.Entry) []dag.TurnID { return nil }

// AsOf returns the number of the view that a bundle was cut from.
func (Codec) AsOf(e *history.Entry) dag.Seq {
	leaf, _ := ledger.ParseLeaf(e.Public, Forms()...)
	switch l := leaf.(type) {
	case *SliceLeaf:
		return l.AsOf
	case *AskedLeaf:
		return l.AsOf
	}
	return 0
}

// Adopt returns a change that adds records from another store.
func (Codec) Adopt(entries []history.Entry) (history.Change, error) {
	a := &adoption{entries: entries, records: make([]Record, len(entries)), of: make([]dag.Tenant, len(entries))}
	for i := range entries {
		var err error
		if a.records[i], a.of[i], err = Read(&entries[i]); err != nil {
			return nil, err
		}
	}
	return a, nil
}
