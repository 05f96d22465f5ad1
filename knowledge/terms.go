package knowledge

import (
	"encoding/binary"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/normalize"
)

// The indexes of knowledge. Each version is a term of three of them, and every other act one of
// one.
const (
	indexVersions history.Index = 1 + iota // key: statement; value: see versionValue
	indexMentions                          // key: statement and leaf of an assertion that began no version, or statement of a retraction
	indexOutgoing                          // key: see edgeKey, by the subject; value: see edgeValue
	indexIncoming                          // the same by the object
	indexAliases                           // key: nothing; each act about an alias
)

// kinds are the kinds of entries that are acts.
var kinds = func() map[history.Kind]bool {
	all := map[history.Kind]bool{}
	for _, t := range types {
		all[history.Kind(t)] = true
	}
	return all
}()

// IsKind reports whether entries of a kind are acts.
func IsKind(k history.Kind) bool { return kinds[k] }

// FromEntry reads an act that is kept as an entry. Until and Opened are left zero: they follow
// from terms.
func FromEntry(e *history.Entry) (Recorded, error) {
	act, err := Parse(e.Public)
	if err == nil && history.Kind(types[act.Kind]) != e.Kind {
		err = fmt.Errorf("%w: an entry of kind %s holds an act of type %s", ErrForm, e.Kind, types[act.Kind])
	}
	if err != nil {
		return Recorded{}, fmt.Errorf("number %d is damaged: %w", e.Seq, err)
	}
	return Recorded{Seq: e.Seq, At: e.At, Act: act, Leaf: e.Leaf()}, nil
}

// A versionValue is what the index of versions holds: 8 bytes of Opened, 4 of the confidence,
// 32 of the leaf.
const versionBytes = 8 + 4 + 32

func appendVersion(dst []byte, opened dag.Seq, confidence dag.PPM, leaf *dag.Digest) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(opened))
	dst = binary.BigEndian.AppendUint32(dst, uint32(confidence))
	return append(dst, leaf[:]...)
}

func readVersion(t *history.Term) (b Belief, leaf dag.Digest, err error) {
	if len(t.Value) != versionBytes || len(t.Key) != len(ID{}) {
		return b, leaf, fmt.Errorf("the version that number %d began is damaged", t.Since)
	}
	b = Belief{Since: t.Since, Opened: dag.Seq(binary.BigEndian.Uint64(t.Value)), Confidence: dag.PPM(binary.BigEndian.Uint32(t.Value[8:]))}
	copy(leaf[:], t.Value[12:])
	return b, leaf, nil
}

// edgesPrefix begins the keys of the edges of a name: 2 bytes of its length, and the name.
func edgesPrefix(name string) []byte {
	return append(binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(name)+4+32), uint16(len(name))), name...)
}

// edgeKey puts the edges of a name in their order: 4 bytes of doubt, which is what the confidence
// lacks to one, and the statement. Terms with the same key are ordered by age.
func edgeKey(name string, confidence dag.PPM, id *ID) []byte {
	return append(binary.BigEndian.AppendUint32(edgesPrefix(name), uint32(dag.One-confidence)), id[:]...)
}

func edgesIndex(incoming bool) history.Index {
	if incoming {
		return indexIncoming
	}
	return indexOutgoing
}

// appendEdge is the value of an edge: the rule of the names, the validity, the turn, and with
// their lengths before them the predicate, the other name and the source.
func appendEdge(dst []byte, v *Version, rule normalize.Rule, other string) []byte {
	dst = append(dst, byte(rule))
	dst = binary.AppendUvarint(dst, uint64(v.From))
	dst = binary.AppendUvarint(dst, uint64(Forever-v.Statement.Until))
	if v.Turn == (dag.TurnID{}) {
		dst = append(dst, 0)
	} else {
		dst = append(append(dst, 1), v.Turn[:]...)
	}
	for _, s := range [...]string{v.Predicate, other, v.Source} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	return dst
}

// readEdge reads a term as an edge.
func readEdge(t *history.Term) (e Edge, err error) {
	r := reader{rest: t.Key}
	n := int(binary.BigEndian.Uint16(r.take(2)))
	name := string(r.take(n))
	doubt := binary.BigEndian.Uint32(r.take(4))
	copy(e.ID[:], r.take(32))
	r.end()
	r.rest = t.Value
	rule := r.take(1)[0]
	e.From, e.Statement.Until = dag.Time(r.uvarint()), Forever-dag.Time(r.uvarint())
	if r.take(1)[0] == 1 {
		copy(e.Turn[:], r.take(16))
	}
	predicate, other, source := r.text(), r.text(), r.text()
	r.end()
	if r.short || doubt > uint32(dag.One) {
		return Edge{}, fmt.Errorf("an edge of the version that number %d began is damaged", t.Since)
	}
	e.Incoming, e.Rule = t.Index == indexIncoming, normalize.Rule(rule)
	e.Predicate, e.Source, e.Confidence, e.Since, e.Version.Until = predicate, source, dag.One-dag.PPM(doubt), t.Since, t.Until
	if e.Subject, e.Object = name, other; e.Incoming {
		e.Subject, e.Object = other, name
	}
	return e, nil
}

// A reader takes fields off packed bytes. After the end it returns zeros, and notes it in short.
type reader struct {
	rest  []byte
	short bool
}

var zeros [64]byte

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.short, r.rest = true, nil
		if n > len(zeros) {
			return nil
		}
		return zeros[:n]
	}
	field := r.rest[:n]
	r.rest = r.rest[n:]
	return field
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.short, n = true, len(r.rest)
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) text() string {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.short, n = true, 0
	}
	return string(r.take(int(n)))
}

func (r *reader) end() {
	if len(r.rest) > 0 {
		r.short = true
	}
}

// termsOf appends the terms that a recorded act begins, each with its end.
func termsOf(dst []history.Term, r *Recorded, id *ID) []history.Term {
	switch {
	case r.Act.Kind == Alias || r.Act.Kind == Unalias:
		return append(dst, history.Term{Index: indexAliases, Since: r.Seq, Until: history.Forever})
	case r.Act.Kind == Retract:
		return append(dst, history.Term{Index: indexMentions, Key: id[:], Since: r.Seq, Until: history.Forever})
	case r.Until == 0:
		return append(dst, history.Term{Index: indexMentions, Key: mentionKey(id, &r.Leaf), Since: r.Seq, Until: history.Forever})
	}
	v := r.version(*id)
	begin := func(index history.Index, key, value []byte) {
		dst = append(dst, history.Term{Index: index, Key: key, Since: r.Seq, Until: r.Until, Value: value})
	}
	begin(indexVersions, id[:], appendVersion(make([]byte, 0, versionBytes), r.Opened, v.Confidence, &r.Leaf))
	size := 24 + len(v.Predicate) + len(v.Source) + 20
	begin(indexOutgoing, edgeKey(v.Subject, v.Confidence, id), appendEdge(make([]byte, 0, size+len(v.Object)), &v, r.Act.Fact.Rule, v.Object))
	begin(indexIncoming, edgeKey(v.Object, v.Confidence, id), appendEdge(make([]byte, 0, size+len(v.Subject)), &v, r.Act.Fact.Rule, v.Subject))
	return dst
}

func mentionKey(id *ID, leaf *dag.Digest) []byte {
	return append(append(make([]byte, 0, 64), id[:]...), leaf[:]...)
}

// endings end the terms of a version, given the statement that it is of.
func endings(dst []history.Ending, e *Ending, confidence dag.PPM, subject, object string) []history.Ending {
	id := e.Statement
	return append(dst,
		history.Ending{Index: indexVersions, Key: id[:], Since: e.Since, Until: e.Until},
		history.Ending{Index: indexOutgoing, Key: edgeKey(subject, confidence, &id), Since: e.Since, Until: e.Until},
		history.Ending{Index: indexIncoming, Key: edgeKey(object, confidence, &id), Since: e.Since, Until: e.Until})
}
