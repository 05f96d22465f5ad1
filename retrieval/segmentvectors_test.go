package retrieval

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

const sceneModel = "scene@1"

// likened adds turns with vectors to an index, as erased ones are: without a text, and without a vector.
func likened(t *testing.T, x *Index, r *reference, turns []Turn) {
	t.Helper()
	for _, turn := range turns {
		v := r.vectors[turn.ID]
		if r.erased[turn.ID] {
			turn.Author, turn.Labels, turn.Content, turn.Withheld, v = "", "", "", true, nil
		}
		if err := x.Add([]Turn{turn}, [][]int8{v}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSegmentVectors loads segments with vectors into an index, and holds it against the one that they are of. Their bytes follow from their turns alone.
func TestSegmentVectors(t *testing.T) {
	const turns, seeds = 60, 30
	with, without, found := 0, 0, 0
	for seed := range uint64(seeds) {
		s := &scene{rand.New(rand.NewPCG(seed, 31))}
		r := &reference{erased: map[dag.TurnID]bool{}, vectors: map[dag.TurnID][]int8{}}
		for n := range turns {
			turn := s.turn(n, 4)
			r.turns = append(r.turns, turn)
			if s.IntN(5) > 0 {
				r.vectors[turn.ID] = s.vector()
				with++
			} else {
				without++
			}
		}
		x, y := New(analysis.English, sceneDimensions), New(analysis.English, sceneDimensions)
		likened(t, x, r, r.turns)
		for range s.IntN(5) {
			id := r.turns[s.IntN(turns)].ID
			r.erased[id] = true
			x.Erase(id)
		}
		last := x.Last()
		for after := dag.Seq(0); after < last; {
			upTo := min(after+1+dag.Seq(s.IntN(40)), last)
			b := x.AppendVectors([]byte("before"), sceneModel, after, upTo)[6:]
			alone := New(analysis.English, sceneDimensions)
			for _, turn := range r.turns {
				if turn.Seq > after && turn.Seq <= upTo {
					likened(t, alone, r, []Turn{turn})
				}
			}
			if want := alone.AppendVectors(nil, sceneModel, after, upTo); !bytes.Equal(b, want) {
				t.Fatalf("seed %d: the vectors of %d to %d are %d bytes, and of these turns alone %d others", seed, after+1, upTo, len(b), len(want))
			}
			segment, err := ParseSegment(x.AppendSegment(nil, after, upTo), analysis.English, after, upTo)
			if err != nil {
				t.Fatal(err)
			}
			vectors, err := ParseVectors(b, sceneModel, sceneDimensions, after, upTo)
			if err != nil {
				t.Fatal(err)
			}
			if err := y.Load([]*Segment{segment}, 0); err == nil {
				t.Fatal("an index with vectors takes a segment without")
			}
			if err := segment.Attach(vectors); err != nil {
				t.Fatal(err)
			}
			if err := y.Load([]*Segment{segment}, 0); err != nil {
				t.Fatal(err)
			}
			after = upTo
		}
		p := FindPolicy()
		for range 10 {
			q := s.query(r, last)
			q.Vector = s.vector()
			got, want := y.Search(&p, q), x.Search(&p, q)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %q as of %d: got %+v, want %+v", seed, q.Text, q.AsOf, got, want)
			}
			found += len(want)
		}
	}
	if with < 100 || without < 100 || found < 1000 {
		t.Errorf("%d turns with a vector, %d without, %d hits: too few to say anything", with, without, found)
	}
}

// TestVectorsRefused changes each byte of vectors, and cuts them anywhere: they are refused, or are other vectors, which are written as they are read.
func TestVectorsRefused(t *testing.T) {
	x := New(analysis.English, 2)
	var turns []Turn
	for i := range 5 {
		turns = append(turns, Turn{ID: dag.ExternalTurnID("v", string(rune('a'+i))), Seq: dag.Seq(2*i + 1), Role: dag.RoleUser, Author: "human:a", Content: "word", Withheld: i == 3})
	}
	if err := x.Add(turns, [][]int8{{16, -16}, nil, {127, -127}, nil, {1, 2}}); err != nil {
		t.Fatal(err)
	}
	b := x.AppendVectors(nil, sceneModel, 0, 10)
	parse := func(b []byte) (*Vectors, error) { return ParseVectors(b, sceneModel, 2, 0, 10) }
	v, err := parse(b)
	if err != nil || !reflect.DeepEqual(v.of, [][]int8{{16, -16}, nil, {127, -127}, nil, {1, 2}}) {
		t.Fatalf("%+v, %v", v, err)
	}
	refused, others := 0, 0
	for n := range b {
		for _, bit := range []byte{1, 0x80} {
			bad := slices.Clone(b)
			bad[n] ^= bit
			if _, err := parse(bad); !errors.Is(err, ErrSegment) {
				t.Fatalf("byte %d changed: %v", n, err)
			}
			if n >= len(b)-sha256.Size {
				continue // the digest, which is made again
			}
			switch v, err := parse(resealed(bad)); {
			case err == nil:
				if reflect.DeepEqual(v.of, [][]int8{{16, -16}, nil, {127, -127}, nil, {1, 2}}) {
					t.Fatalf("byte %d changed: the same vectors", n)
				}
				others++
			case !errors.Is(err, ErrSegment):
				t.Fatalf("byte %d changed: %v", n, err)
			default:
				refused++
			}
		}
		if _, err := parse(resealed(b[:n])); !errors.Is(err, ErrSegment) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if refused < 20 || others < 10 {
		t.Errorf("%d were refused, %d were not", refused, others)
	}
	for _, err := range []error{
		second(ParseVectors(b, "other@1", 2, 0, 10)), second(ParseVectors(b, sceneModel, 3, 0, 10)), second(ParseVectors(b, sceneModel, 2, 1, 10)), second(ParseVectors(b, sceneModel, 2, 0, 11)),
	} {
		if !errors.Is(err, ErrSegment) {
			t.Errorf("asked for something else: %v", err)
		}
	}
	segment := func(after, upTo dag.Seq) *Segment {
		s, err := ParseSegment(x.AppendSegment(nil, after, upTo), analysis.English, after, upTo)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := segment(0, 8).Attach(v); !errors.Is(err, ErrSegment) {
		t.Errorf("vectors of more turns: %v", err)
	}
	v.of[3] = []int8{1, 1}
	if err := segment(0, 10).Attach(v); !errors.Is(err, ErrSegment) {
		t.Errorf("a vector of a turn that is withheld: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
