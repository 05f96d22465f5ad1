package knowledge

import (
	"encoding/binary"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// The indexes of knowledge. Each version has a term in three of them, and every other act has one term; an assertion with evidence also
// has a term in indexEvidence. The indexes contain numbers and digests, and no names: everything that can be erased is in the acts.
const (
	indexVersions history.Index = 1 + iota // key: statement; value: see versionBytes
	indexMentions                          // key: statement and content of an assertion that began no version, or statement of a retraction
	indexOutgoing                          // key: see edgeKey, by the subject
	indexIncoming                          // key: see edgeKey, by the object
	indexAliases                           // key: empty; a term for each act about an alias
	indexEvidence                          // key: the turn that an assertion was learned from
)

// kinds is the set of the kinds of entries that are acts.
var kinds = func() map[history.Kind]bool {
	all := map[history.Kind]bool{}
	for _, t := range types {
		all[history.Kind(t)] = true
	}
	return all
}()

// IsKind reports whether entries of a kind are acts.
func IsKind(k history.Kind) bool { return kinds[k] }

// versionBytes is the length of a value in indexVersions: 8 bytes of Opened, 4 of the confidence, 32 of the assertion's content.
const versionBytes = 8 + 4 + 32

func appendVersion(dst []byte, opened dag.Seq, confidence dag.PPM, content *dag.Digest) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(opened))
	dst = binary.BigEndian.AppendUint32(dst, uint32(confidence))
	return append(dst, content[:]...)
}

func readVersion(t *history.Term) (b Belief, content dag.Digest, err error) {
	if len(t.Value) != versionBytes || len(t.Key) != len(ID{}) {
		return b, content, fmt.Errorf("%w: the version that number %d began", history.ErrDamaged, t.Since)
	}
	b = Belief{Since: t.Since, Opened: dag.Seq(binary.BigEndian.Uint64(t.Value)), Confidence: dag.PPM(binary.BigEndian.Uint32(t.Value[8:]))}
	copy(content[:], t.Value[12:])
	return b, content, nil
}

// edgesPrefix returns the prefix of the keys of a name's edges.
func edgesPrefix(name string) []byte {
	key := KeyOf(name)
	return append(make([]byte, 0, edgeKeyBytes), key[:]...)
}

// edgeKeyBytes is the length of an edge's key: a name, the doubt and a statement.
const edgeKeyBytes = len(NameKey{}) + 4 + len(ID{})

// edgeKey returns a key that sorts the edges of a name in their order: the name, 4 bytes of doubt,
// which is one minus the confidence, and the statement. Terms with the same key are ordered by age.
func edgeKey(name string, confidence dag.PPM, id *ID) []byte {
	return append(binary.BigEndian.AppendUint32(edgesPrefix(name), uint32(dag.One-confidence)), id[:]...)
}

// readEdgeKey returns the name and the confidence in an edge's key.
func readEdgeKey(t *history.Term) (name NameKey, confidence dag.PPM, err error) {
	if len(t.Key) != edgeKeyBytes {
		return name, 0, fmt.Errorf("%w: an edge of the version that number %d began", history.ErrDamaged, t.Since)
	}
	copy(name[:], t.Key)
	doubt := dag.PPM(binary.BigEndian.Uint32(t.Key[len(name):]))
	return name, dag.One - min(doubt, dag.One), nil
}

func edgesIndex(incoming bool) history.Index {
	if incoming {
		return indexIncoming
	}
	return indexOutgoing
}

// outlived reports whether the term of an edge has outlived its fact: the fact was erased while its entry was damaged, and such an erasure cannot end edges.
func outlived(t *history.Term) bool { return t.Entry.Private == nil }

// readEdge returns the edge of a term that includes the assertion that began it.
func readEdge(t *history.Term) (Edge, error) {
	e := t.Entry
	a, err := readPrivate(Assert, e.Private)
	if err != nil || e.Kind != history.Kind(types[Assert]) || len(t.Key) != edgeKeyBytes {
		return Edge{}, fmt.Errorf("%w: an edge of the version that number %d began", history.ErrDamaged, t.Since)
	}
	f := &a.Fact
	edge := Edge{Incoming: t.Index == indexIncoming}
	for _, n := range f.names() {
		if len(*n.written) > MaxWritten {
			*n.written = ""
		}
	}
	edge.Written = f.Written
	edge.Version = Version{Statement: f.Statement, ID: ID(t.Key[edgeKeyBytes-len(ID{}):]), Confidence: f.Confidence, Source: f.Source, Turn: f.Turn, Since: t.Since, Until: t.Until}
	return edge, nil
}

// A reader reads fields from packed bytes. After the end it returns zeros and sets short.
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

// termsOf appends the terms that a recorded act begins, with their ends; id is the act's chain. An erased act begins none.
func termsOf(dst []history.Term, r *Recorded, id *ID, content *dag.Digest) []history.Term {
	begin := func(index history.Index, key []byte, until dag.Seq, value []byte) {
		dst = append(dst, history.Term{Index: index, Key: key, Since: r.Seq, Until: until, Value: value})
	}
	switch a := &r.Act; {
	case r.Erased:
		return dst
	case a.Kind == Alias || a.Kind == Unalias:
		begin(indexAliases, nil, history.Forever, nil)
		return dst
	case a.Kind == Retract:
		begin(indexMentions, id[:], history.Forever, nil)
		return dst
	case r.Opened == 0:
		begin(indexMentions, mentionKey(id, content), history.Forever, nil)
	default:
		f := &a.Fact
		statement := *id
		if f.Held() {
			statement = f.ID()
		}
		begin(indexVersions, id[:], r.Until, appendVersion(make([]byte, 0, versionBytes), r.Opened, f.Confidence, content))
		begin(indexOutgoing, edgeKey(f.Subject, f.Confidence, &statement), r.Until, nil)
		begin(indexIncoming, edgeKey(f.Object, f.Confidence, &statement), r.Until, nil)
	}
	if turn := r.Act.Fact.Turn; turn != (dag.TurnID{}) {
		begin(indexEvidence, turn[:], history.Forever, nil)
	}
	return dst
}

func mentionKey(id *ID, content *dag.Digest) []byte {
	return append(append(make([]byte, 0, 64), id[:]...), content[:]...)
}

// endings appends the endings of a version's terms at a number, given the fact that began the version.
func endings(dst []history.Ending, since, until dag.Seq, f *Fact) []history.Ending {
	id, chain := f.ID(), f.Chain()
	return append(dst,
		history.Ending{Index: indexVersions, Key: chain[:], Since: since, Until: until},
		history.Ending{Index: indexOutgoing, Key: edgeKey(f.Subject, f.Confidence, &id), Since: since, Until: until},
		history.Ending{Index: indexIncoming, Key: edgeKey(f.Object, f.Confidence, &id), Since: since, Until: until})
}
