package retrieval

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/cursor"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/bm25"
)

// segmentForm is the beginning of every segment. Its number must change with the form, and whenever a text gets other terms, date words or
// expressions of time than before. Segments with another number are derived anew.
const segmentForm = "graphkernel words 4\n"

// A Segment is the part of an index for the turns in a range of numbers, in a form of its own.
type Segment struct {
	after, upTo  dag.Seq
	turns        []indexed
	words, dates *bm25.Run
	vectors      *Vectors // nil: for an index without vectors
}

// Covers returns the range of the segment's numbers: above after and up to upTo.
func (s *Segment) Covers() (after, upTo dag.Seq) { return s.after, s.upTo }

// ErrSegment is wrapped if ParseSegment refuses its input.
var ErrSegment = errors.New("not a segment of this version")

// AppendSegment appends the segment of the turns numbered above after and up to upTo. Its bytes depend only on these turns and on the
// analyzer, not on other turns or on how the index was made. They do not include vectors, see AppendVectors.
func (x *Index) AppendSegment(dst []byte, after, upTo dag.Seq) []byte {
	from, to := x.turns.before(after), x.turns.before(upTo)
	w := &segmentWriter{dst: dst, seq: after, conversations: map[dag.ConversationID]uint64{}, authors: map[string]uint64{}, labels: map[string]uint64{}}
	begin := len(dst)
	w.dst = append(w.dst, segmentForm...)
	w.text(x.analyzer.String())
	w.number(uint64(after))
	w.number(uint64(upTo))
	w.number(uint64(to - from))
	for n := from; n < to; n++ {
		w.turn(x.turns.at(int32(n)))
	}
	w.dst = x.words.AppendRun(w.dst, from, to)
	w.dst = x.dates.AppendRun(w.dst, from, to)
	digest := sha256.Sum256(w.dst[begin:])
	return append(w.dst, digest[:]...)
}

// The flags of a turn. For a withheld turn, no other flag and no further field is written.
const (
	flagWithheld = 1 << iota
	flagSilent
	flagWhen
	flagSays
	flagWrites
	flagFails
	flagsAll = 1<<iota - 1
)

type segmentWriter struct {
	dst           []byte
	seq           dag.Seq // number of the previous turn; at is its time
	at            dag.Time
	conversations map[dag.ConversationID]uint64 // numbered in order of appearance, like authors and labels
	authors       map[string]uint64
	labels        map[string]uint64
}

func (w *segmentWriter) number(n uint64) { w.dst = binary.AppendUvarint(w.dst, n) }

func (w *segmentWriter) text(s string) {
	w.number(uint64(len(s)))
	w.dst = append(w.dst, s...)
}

// turn writes a turn: its number as a distance, its conversation, id, leaf, role, salience and time, and its flags; unless it is
// withheld, also the size of its content, its author and its labels. A conversation, an author and labels are written in full the first
// time, and as numbers later.
func (w *segmentWriter) turn(t *indexed) {
	w.number(uint64(t.Seq - w.seq - 1))
	c, known := w.conversations[t.Conversation]
	if !known {
		c = uint64(len(w.conversations))
		w.conversations[t.Conversation] = c
	}
	if w.number(c); !known {
		w.dst = append(w.dst, t.Conversation[:]...)
	}
	w.dst = append(append(w.dst, t.ID[:]...), t.Leaf[:]...)
	w.number(uint64(t.Role))
	w.number(uint64(t.Salience))
	w.dst = binary.AppendVarint(w.dst, int64(t.CreatedAt-w.at))
	w.seq, w.at = t.Seq, t.CreatedAt
	if t.Withheld {
		w.number(flagWithheld)
		return
	}
	flags := uint64(0)
	if t.Silent {
		flags |= flagSilent
	}
	if t.when {
		flags |= flagWhen
	}
	if t.Says {
		flags |= flagSays
	}
	if t.Writes {
		flags |= flagWrites
	}
	if t.Fails {
		flags |= flagFails
	}
	w.number(flags)
	w.number(uint64(t.Size))
	w.once(w.authors, t.Author)
	w.once(w.labels, string(t.Labels))
}

// once writes the number of a text, and the text itself the first time.
func (w *segmentWriter) once(known map[string]uint64, s string) {
	n, ok := known[s]
	if !ok {
		n = uint64(len(known))
		known[s] = n
	}
	if w.number(n); !ok {
		w.text(s)
	}
}

// ParseSegment reads the output of AppendSegment for the same analyzer and numbers, and refuses anything else. Its memory use is proportional
// to len(b).
func ParseSegment(b []byte, a analysis.Analyzer, after, upTo dag.Seq) (*Segment, error) {
	if len(b) < sha256.Size || !bytes.HasPrefix(b, []byte(segmentForm)) {
		return nil, fmt.Errorf("%w: its %d bytes do not begin like a segment", ErrSegment, len(b))
	}
	body := b[:len(b)-sha256.Size]
	if digest := sha256.Sum256(body); !bytes.Equal(digest[:], b[len(body):]) {
		return nil, fmt.Errorf("%w: its digest does not match", ErrSegment)
	}
	r := &segmentReader{Cursor: cursor.New(body[len(segmentForm):]), seq: after, upTo: upTo, seen: map[string]bool{}}
	if name := r.Bytes(r.Int(math.MaxInt32)); string(name) != a.String() {
		return nil, fmt.Errorf("%w: its analyzer is %.40q, want %s", ErrSegment, name, a)
	}
	if r.Uint(math.MaxUint64) != uint64(after) || r.Uint(math.MaxUint64) != uint64(upTo) {
		return nil, fmt.Errorf("%w: its numbers differ from %d to %d", ErrSegment, after+1, upTo)
	}
	const least = len(dag.TurnID{}) + len(dag.Digest{}) // bytes of a turn
	s := &Segment{after: after, upTo: upTo, turns: make([]indexed, r.Int(r.Left()/least))}
	for i := range s.turns {
		r.turn(&s.turns[i])
	}
	if s.words, s.dates = bm25.ParseRun(r.Cursor, len(s.turns)), bm25.ParseRun(r.Cursor, len(s.turns)); r.Err() != nil || r.Left() > 0 {
		return nil, fmt.Errorf("%w: %w", ErrSegment, cmp.Or(r.Err(), cursor.ErrForm))
	}
	for i := range s.turns {
		if s.turns[i].Withheld && s.words.Length(i)+s.dates.Length(i) > 0 {
			return nil, fmt.Errorf("%w: turn %d is withheld but has terms", ErrSegment, s.turns[i].Seq)
		}
	}
	return s, nil
}

type segmentReader struct {
	*cursor.Cursor
	seq           dag.Seq
	upTo          dag.Seq
	at            dag.Time
	conversations []dag.ConversationID
	authors       []string
	labels        []string
	seen          map[string]bool // conversations after "in ", authors after "by ", labels after "at "
}

// first fails if a value that is written in full was read before.
func (r *segmentReader) first(s string) {
	if r.seen[s] {
		r.Fail()
	}
	r.seen[s] = true
}

func (r *segmentReader) turn(t *indexed) {
	t.Seq = r.seq + 1 + dag.Seq(r.Uint(uint64(r.upTo)))
	c := r.Int(len(r.conversations))
	if c == len(r.conversations) {
		r.conversations = append(r.conversations, dag.ConversationID{})
		copy(r.conversations[c][:], r.Bytes(len(dag.ConversationID{})))
		r.first("in " + string(r.conversations[c][:]))
	}
	t.Conversation = r.conversations[c]
	copy(t.ID[:], r.Bytes(len(t.ID)))
	copy(t.Leaf[:], r.Bytes(len(t.Leaf)))
	t.Role, t.Salience = dag.Role(r.Uint(math.MaxUint8)), dag.PPM(r.Uint(uint64(dag.One)))
	zigzag := r.Uint(2*uint64(dag.MaxTime) + 1)
	t.CreatedAt = r.at + dag.Time(int64(zigzag>>1)^-int64(zigzag&1))
	if t.Seq > r.upTo || !t.CreatedAt.Valid() {
		r.Fail()
	}
	r.seq, r.at = t.Seq, t.CreatedAt
	flags := r.Uint(flagsAll)
	if flags&flagWithheld != 0 {
		if flags != flagWithheld {
			r.Fail()
		}
		t.Withheld, t.Silent = true, true
		return
	}
	t.Silent, t.when = flags&flagSilent != 0, flags&flagWhen != 0
	t.Says, t.Writes, t.Fails = flags&flagSays != 0, flags&flagWrites != 0, flags&flagFails != 0
	t.Size = r.Int(math.MaxInt32)
	t.Author = r.once(&r.authors, "by ")
	t.Labels = Labels(r.once(&r.labels, "at "))
}

// once reads the output of segmentWriter.once.
func (r *segmentReader) once(known *[]string, kind string) string {
	n := r.Int(len(*known))
	if n == len(*known) {
		s := string(r.Bytes(r.Int(math.MaxInt32)))
		r.first(kind + s)
		*known = append(*known, s)
	}
	return (*known)[n]
}

// Load adds the turns of segments after all others, as if they had been added with their texts. The index must have the analyzer of the
// segments, and vectors if and only if they do. The segments' numbers must ascend and be above the index's. Load makes room for the
// expected number of turns up to upTo, but at most for twice the turns that the index then has. After an error the index must not be
// used. The segments must not be used again.
func (x *Index) Load(segments []*Segment, upTo dag.Seq) error {
	n := 0
	for _, s := range segments {
		if (s.vectors == nil) != (x.vectors == nil) {
			return errors.New("retrieval: the index and its segments must all have vectors, or none of them")
		}
		n += len(s.turns)
	}
	if len(segments) > 0 {
		x.reserve(x.turns.n+n, segments[len(segments)-1].upTo, upTo)
	}
	words, dates := make([]*bm25.Run, len(segments)), make([]*bm25.Run, len(segments))
	for i, s := range segments {
		words[i], dates[i] = s.words, s.dates
	}
	placed := func(i int) []bm25.Placed { return segments[i].placed() }
	var terms sync.WaitGroup
	var noWords, noDates, err error
	terms.Go(func() { noWords = x.words.AddRuns(words, placed) })
	terms.Go(func() { noDates = x.dates.AddRuns(dates, placed) })
	for i := 0; i < len(segments) && err == nil; i++ {
		err = x.load(segments[i])
	}
	terms.Wait()
	return errors.Join(noWords, noDates, err)
}

// reserve makes room for the expected number of turns up to upTo, given the number of turns up to covered, because moving the tables of
// an index takes long. The room is at most for twice these turns, because later numbers may belong to other entries than turns, and a
// sixteenth more.
func (x *Index) reserve(turns int, covered, upTo dag.Seq) {
	if x.room >= turns {
		return
	}
	all := turns
	if upTo > covered {
		all = int(float64(turns) * min(2, float64(upTo)/float64(covered)))
	}
	x.room = all + all/16
	more := x.room - x.turns.n
	x.places.reserve(&x.turns, x.turns.n, x.room)
	x.words.Reserve(more)
	x.dates.Reserve(more)
	if x.vectors != nil {
		x.vectors.Grow(more)
	}
}

func (s *Segment) placed() []bm25.Placed {
	all := make([]bm25.Placed, len(s.turns))
	for i := range s.turns {
		t := &s.turns[i]
		all[i] = bm25.Placed{Seq: t.Seq, Conversation: t.Conversation, Person: t.person(), Counted: !t.Withheld}
	}
	return all
}

// load adds the turns of a segment, except their terms.
func (x *Index) load(s *Segment) error {
	words, from := map[string][]string{}, x.turns.n // the words of each author's name
	for i := range s.turns {
		t := &s.turns[i]
		n := int32(from + i)
		named, ok := words[t.Author]
		if !ok {
			named = nameWords(t.Author)
			words[t.Author] = named
		}
		x.authors.add(n, named)
		if x.vectors != nil {
			if _, err := x.vectors.Add(t.ID, t.Seq, s.vectors.of[i]); err != nil {
				return err
			}
			x.size += ofVector + len(s.vectors.of[i])
		}
		x.silent.add(int(n), t.Silent)
		x.size += each + ofStored*(s.words.Length(i)+s.dates.Length(i))
	}
	x.turns.join(s.turns)
	x.places.add(&x.turns, from)
	return nil
}
