package retrieval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// segmentOf returns the segment of some numbers, made by an index of these turns alone.
func segmentOf(t *testing.T, turns []Turn, erased map[dag.TurnID]bool, after, upTo dag.Seq) []byte {
	t.Helper()
	x := New(analysis.English, 0)
	for _, turn := range turns {
		if turn.Seq <= after || turn.Seq > upTo {
			continue
		}
		if erased[turn.ID] {
			turn.Author, turn.Labels, turn.Content, turn.Withheld, turn.Says, turn.Writes, turn.Fails = "", "", "", true, false, false, false
		}
		if err := x.Add([]Turn{turn}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return x.AppendSegment(nil, after, upTo)
}

// TestSegments makes an index of texts, and others of a random mixture of segments and texts. They answer alike, as of any number, while they grow
// and texts are erased, and they make the same segments, byte for byte.
func TestSegments(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 20
	}
	found, loaded, gone := 0, 0, 0
	for seed := range seeds {
		s := &scene{rand.New(rand.NewPCG(uint64(seed), 4))}
		p := DefaultPolicy()
		r := &reference{p: &p, erased: map[dag.TurnID]bool{}}
		for n := range 20 + s.IntN(200) {
			turn := s.turn(n, 1+s.IntN(6))
			if turn.Withheld = s.IntN(15) == 0; turn.Withheld {
				turn.Author, turn.Labels, turn.Content, turn.Says, turn.Writes, turn.Fails = "", "", "", false, false, false
			}
			r.turns = append(r.turns, turn)
		}
		grown := len(r.turns) / 4 * 3
		x, y := New(analysis.English, 0), New(analysis.English, 0)
		if err := x.Add(r.turns[:grown], nil); err != nil {
			t.Fatal(err)
		}
		erase := func(of []Turn, all ...*Index) {
			id := of[s.IntN(len(of))].ID
			r.erased[id] = true
			for _, x := range all {
				x.Erase(id)
			}
			gone++
		}
		for range s.IntN(6) {
			erase(r.turns[:grown], x)
		}
		last := r.turns[grown-1].Seq
		var pending []*Segment
		flush := func() {
			if err := y.Load(pending, dag.Seq(s.IntN(2*int(last)+1))); err != nil {
				t.Fatal(err)
			}
			pending = nil
			if last := y.Last(); last > 0 && s.IntN(3) == 0 { // what is read now goes on with later segments
				y.Search(&p, s.query(r, last))
				y.Terms(r.turns[s.IntN(len(r.turns))].ID)
			}
		}
		for after := dag.Seq(0); after < last; {
			upTo := min(after+1+dag.Seq(s.IntN(80)), last)
			b := x.AppendSegment([]byte("before"), after, upTo)[6:]
			if want := segmentOf(t, r.turns, r.erased, after, upTo); !bytes.Equal(b, want) {
				t.Fatalf("seed %d: the segment of %d to %d is %d bytes, and of these turns alone %d others", seed, after+1, upTo, len(b), len(want))
			}
			if s.IntN(4) == 0 { // from texts
				flush()
				for _, turn := range r.turns {
					if turn.Seq > after && turn.Seq <= upTo {
						if r.erased[turn.ID] {
							turn.Author, turn.Labels, turn.Content, turn.Withheld, turn.Says, turn.Writes, turn.Fails = "", "", "", true, false, false, false
						}
						if err := y.Add([]Turn{turn}, nil); err != nil {
							t.Fatal(err)
						}
					}
				}
			} else {
				segment, err := ParseSegment(b, analysis.English, after, upTo)
				if err != nil {
					t.Fatal(err)
				}
				pending = append(pending, segment)
				loaded++
			}
			if s.IntN(3) == 0 {
				flush()
			}
			after = upTo
		}
		flush()
		for n := grown; ; n++ {
			compare(t, s, r, x, y, &found)
			if n == len(r.turns) {
				break
			}
			for _, x := range []*Index{x, y} {
				if err := x.Add(r.turns[n:n+1], nil); err != nil {
					t.Fatal(err)
				}
			}
			if s.IntN(4) == 0 {
				erase(r.turns[:n+1], x, y)
			}
		}
		if last := x.Last(); !bytes.Equal(x.AppendSegment(nil, 0, last), y.AppendSegment(nil, 0, last)) {
			t.Errorf("seed %d: the two make other segments", seed)
		}
	}
	if found < 20*seeds || loaded < seeds || gone < seeds {
		t.Errorf("%d hits, %d segments, %d erasures: too few to say anything", found, loaded, gone)
	}
}

// TestSegmentsAtOnce asks an index much at once that has read nothing of its segments yet.
func TestSegmentsAtOnce(t *testing.T) {
	s := &scene{rand.New(rand.NewPCG(5, 4))}
	p := DefaultPolicy()
	r := &reference{p: &p}
	for n := range 400 {
		r.turns = append(r.turns, s.turn(n, 5))
	}
	x := New(analysis.English, 0)
	if err := x.Add(r.turns, nil); err != nil {
		t.Fatal(err)
	}
	y := opened(t, x)
	var all sync.WaitGroup
	for range 8 {
		var asked []*Query
		for range 50 {
			asked = append(asked, s.query(r, x.Last()))
		}
		all.Go(func() {
			for i, q := range asked {
				if got, want := y.Search(&p, q), x.Search(&p, q); !slices.Equal(got, want) {
					t.Errorf("%q: %s", q.Text, difference(got, want))
				}
				of := r.turns[i*7%len(r.turns)].ID
				if got, want := len(y.Terms(of)), len(x.Terms(of)); got != want {
					t.Errorf("%d terms of turn %s, want %d", got, of, want)
				}
			}
		})
	}
	all.Wait()
}

// opened returns an index that has loaded the segments of another one.
func opened(t *testing.T, x *Index) *Index {
	t.Helper()
	var list []*Segment
	for after := dag.Seq(0); after < x.Last(); after += 50 {
		segment, err := ParseSegment(x.AppendSegment(nil, after, after+50), analysis.English, after, after+50)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, segment)
	}
	y := New(analysis.English, 0)
	if err := y.Load(list, x.Last()); err != nil {
		t.Fatal(err)
	}
	return y
}

// TestUnpackedSize holds that what is read of segments counts in the size of an index, once.
func TestUnpackedSize(t *testing.T) {
	s := &scene{rand.New(rand.NewPCG(6, 4))}
	p := DefaultPolicy()
	x := New(analysis.English, 0)
	var turns []Turn
	for n := range 200 {
		turns = append(turns, s.turn(n, 5))
	}
	if err := x.Add(turns, nil); err != nil {
		t.Fatal(err)
	}
	y := opened(t, x)
	size := y.Size()
	grew := func(what string, want bool) {
		t.Helper()
		now := y.Size()
		if (now > size) != want || now < size {
			t.Errorf("%s: the size is %d, before %d", what, now, size)
		}
		size = now
	}
	terms := func() {
		for i := range turns {
			y.Terms(turns[i].ID)
		}
	}
	for _, want := range []bool{true, false} {
		y.Search(&p, &Query{Text: "cache", AsOf: y.Last(), Limit: 3})
		grew("a word is looked for", want)
		terms()
		grew("the terms of all turns are asked for", want)
	}
	full := y.words.Unpacked()
	y.Erase(turns[7].ID)
	terms()
	if got := y.words.Unpacked(); got >= full {
		t.Errorf("%d bytes are unpacked after an erasure, %d before", got, full)
	}
}

// compare asks two indexes the same.
func compare(t *testing.T, s *scene, r *reference, x, y *Index, found *int) {
	t.Helper()
	q := s.query(r, x.Last())
	got, want := y.SearchWith(r.p, q, nil), x.SearchWith(r.p, q, nil)
	if !slices.Equal(got.Hits, want.Hits) || !reflect.DeepEqual(got.Statistics, want.Statistics) {
		t.Fatalf("%q as of %d: %s\n%+v, want %+v", q.Text, q.AsOf, difference(got.Hits, want.Hits), got.Statistics, want.Statistics)
	}
	*found += len(want.Hits)
	of := r.turns[s.IntN(len(r.turns))]
	if got, want := conversation(y, of.Conversation, q.AsOf), conversation(x, of.Conversation, q.AsOf); !slices.Equal(got, want) {
		t.Fatalf("a conversation as of %d: %+v, want %+v", q.AsOf, got, want)
	}
	if got, want := y.Terms(of.ID), x.Terms(of.ID); len(got) != len(want) || !slices.IsSorted(got) {
		t.Fatalf("the terms of a turn are %v, in the other index %v", got, want)
	}
	if got, most := y.Size(), x.Size(); got > most || got < most/2 { // without the terms of texts that were erased before
		t.Fatalf("the size is %d, and of the other index %d", got, most)
	}
}

func conversation(x *Index, id dag.ConversationID, asOf dag.Seq) (turns []Turn) {
	for t := range x.Conversation(id, asOf) {
		turns = append(turns, *t)
	}
	return turns
}

// fixedSegment is one with something of everything.
func fixedSegment(t testing.TB) []byte {
	t.Helper()
	s := &scene{rand.New(rand.NewPCG(9, 9))}
	x := New(analysis.English, 0)
	for n := range 30 {
		turn := s.turn(n, 3)
		if n%7 == 3 {
			turn.Author, turn.Labels, turn.Content, turn.Withheld, turn.Says, turn.Writes, turn.Fails = "", "", "", true, false, false, false
		}
		if n%7 == 4 {
			turn.Content = "\u2026 Running the HTTPServer's tests, store/sqlite/write.go v1.2.3 \u2014 last May, on 7 June 2023 \u00c5ngstr\u00f6m"
		}
		if err := x.Add([]Turn{turn}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return x.AppendSegment(nil, 0, 80)
}

// TestSegmentForm holds the bytes of a segment. If they change, segments that are stored must not be read: change the number in segmentForm, and
// then what is written here.
func TestSegmentForm(t *testing.T) {
	b := fixedSegment(t)
	digest := sha256.Sum256(b)
	if got, want := hex.EncodeToString(digest[:8]), "021facf6a14ca230"; got != want {
		t.Errorf("the digest of %d bytes begins with %s, want %s; see the comment", len(b), got, want)
	}
}

// resealed is a segment with the digest that its other bytes have.
func resealed(b []byte) []byte {
	body := b[:max(len(b)-sha256.Size, 0)]
	digest := sha256.Sum256(body)
	return append(slices.Clone(body), digest[:]...)
}

// TestSegmentRefused changes each byte of a segment, and cuts it anywhere: it is refused for its digest. With another digest it is refused for its
// form, or is the segment of other turns.
func TestSegmentRefused(t *testing.T) {
	b := fixedSegment(t)
	if _, err := ParseSegment(b, analysis.English, 0, 80); err != nil {
		t.Fatal(err)
	}
	refused, others := 0, 0
	for n := range b {
		for _, bit := range []byte{1, 0x80} {
			bad := slices.Clone(b)
			bad[n] ^= bit
			if _, err := ParseSegment(bad, analysis.English, 0, 80); !errors.Is(err, ErrSegment) {
				t.Fatalf("byte %d changed: %v", n, err)
			}
			if checkSegment(t, resealed(bad)) {
				others++
			} else {
				refused++
			}
		}
		if _, err := ParseSegment(resealed(b[:n]), analysis.English, 0, 80); !errors.Is(err, ErrSegment) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if refused < 100 || others < 100 {
		t.Errorf("%d were refused for their form, %d were not", refused, others)
	}
	for _, c := range []struct {
		a           analysis.Analyzer
		after, upTo dag.Seq
	}{{analysis.None, 0, 80}, {analysis.English, 1, 80}, {analysis.English, 0, 81}} {
		if _, err := ParseSegment(b, c.a, c.after, c.upTo); !errors.Is(err, ErrSegment) {
			t.Errorf("asked for %s, %d to %d: %v", c.a, c.after, c.upTo, err)
		}
	}
}

// checkSegment reports whether bytes are a segment of 0 to 80. Then an index that loads it writes the same bytes.
func checkSegment(t *testing.T, b []byte) bool {
	t.Helper()
	s, err := ParseSegment(b, analysis.English, 0, 80)
	if err != nil {
		return false
	}
	x := New(analysis.English, 0)
	if err := x.Load([]*Segment{s}, 80); err != nil {
		t.Fatal(err)
	}
	ids := map[dag.TurnID]bool{}
	for n := range int32(x.turns.n) {
		ids[x.turns.at(n).ID] = true
	}
	if len(ids) < x.turns.n {
		return true // an id came twice, which a digest of this program's does not confirm
	}
	if again := x.AppendSegment(nil, 0, 80); !bytes.Equal(again, b) {
		t.Fatalf("%x\nis read, and written as\n%x", b, again)
	}
	return true
}

// FuzzParseSegment reads bytes with the digest that they have.
func FuzzParseSegment(f *testing.F) {
	f.Add(fixedSegment(f))
	f.Add(New(analysis.English, 0).AppendSegment(nil, 0, 80))
	f.Add([]byte(segmentForm + fmt.Sprint(1)))
	f.Fuzz(func(t *testing.T, b []byte) { checkSegment(t, resealed(b)) })
}
