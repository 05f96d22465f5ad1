package dag_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestTouching compares the lists of a graph with a look at all turns, for turns that were added in the
// order of their numbers and in another one.
func TestTouching(t *testing.T) {
	found, bounded := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		skeletons := make([]dag.Skeleton, 1+r.IntN(60))
		for i := range skeletons {
			s := &skeletons[i]
			*s = dag.Skeleton{
				Seq: dag.Seq(i + 1), ID: dag.TurnID{14: byte(i >> 8), 15: byte(i), 0: 1}, Conversation: dag.ConversationID{byte(r.IntN(2))}, Role: dag.RoleUser, Phase: dag.Planning,
				Marks: dag.Marks{Rules: dag.Marks1, Voice: dag.Voices[r.IntN(4)], Cost: uint32(r.IntN(dag.MaxCost + 1))},
			}
			for thing := range byte(dag.MaxThings) {
				if r.IntN(6) == 0 {
					s.Marks.Things = append(s.Marks.Things, dag.Thing{thing})
				}
			}
		}
		g := dag.NewGraph()
		order := r.Perm(len(skeletons))
		if seed%2 == 0 {
			slices.Sort(order)
		}
		for _, i := range order {
			if err := g.Add(&skeletons[i]); err != nil {
				t.Fatal(err)
			}
		}
		v := g.At(dag.Seq(len(skeletons)))
		for i := range skeletons {
			s := &skeletons[i]
			n, _ := v.Find(s.ID)
			if v.Voice(n) != s.Marks.Voice || v.Cost(n) != int(s.Marks.Cost) || v.ThingCount(n) != len(s.Marks.Things) {
				t.Fatalf("voice %d, cost %d, %d things, want %+v", v.Voice(n), v.Cost(n), v.ThingCount(n), s.Marks)
			}
			for k, thing := range s.Marks.Things {
				if v.Thing(n, k) != thing {
					t.Fatalf("thing %d is %s, want %s", k, v.Thing(n, k), thing)
				}
				var want []dag.TurnID
				most := r.IntN(5)
				for j := i - 1; j >= 0 && len(want) < most; j-- {
					if skeletons[j].Conversation == s.Conversation && slices.Contains(skeletons[j].Marks.Things, thing) {
						want = append(want, skeletons[j].ID)
					}
				}
				var got []dag.TurnID
				for _, node := range v.AppendTouching(nil, n, k, most) {
					got = append(got, v.ID(node))
				}
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: turn %d, thing %s, at most %d: got %v, want %v", seed, i, thing, most, got, want)
				}
				found += len(want)
				if most > 0 && len(want) == most {
					bounded++
				}
			}
		}
	}
	if found < 1000 || bounded < 100 {
		t.Errorf("%d turns were found, %d lists were full", found, bounded)
	}
}

// TestMarksWithoutRoom holds that a graph refuses what it has no room for, and what has no marks.
func TestMarksWithoutRoom(t *testing.T) {
	for name, spoil := range map[string]func(*dag.Marks){
		"cost":   func(m *dag.Marks) { m.Cost = 1 << 24 },
		"voice":  func(m *dag.Marks) { m.Voice = 8 },
		"things": func(m *dag.Marks) { m.Things = make([]dag.Thing, dag.MaxThings+1) },
	} {
		s := dag.Skeleton{Seq: 1, ID: dag.TurnID{1}, Role: dag.RoleUser, Phase: dag.Planning}
		spoil(&s.Marks)
		if err := dag.NewGraph().Add(&s); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestUntil holds that a view can be moved back, and not forward.
func TestUntil(t *testing.T) {
	g := dag.NewGraph()
	fill(t, g, 3)
	if v := g.At(2); v.Until(1).Seq() != 1 || v.Until(3).Seq() != 2 {
		t.Errorf("got %d and %d", v.Until(1).Seq(), v.Until(3).Seq())
	}
}

// TestVoiceOf compares the voice that follows from marks alone with that of a view, for every role and voice under every reading.
func TestVoiceOf(t *testing.T) {
	for _, rules := range []dag.MarkRules{dag.Marks1, dag.Marks2} {
		for role := dag.Role(1); role.String() != ""; role++ {
			for voice := dag.VoicePerson; voice.String() != ""; voice++ {
				s := dag.Skeleton{Seq: 1, ID: dag.TurnID{1}, Conversation: dag.ConversationID{1}, Role: role, Phase: 1, Marks: dag.Marks{Rules: rules, Voice: voice, Origin: dag.Origin{Channel: dag.ChannelProgram}}}
				g := dag.NewGraph()
				if err := g.Add(&s); err != nil {
					t.Fatal(err)
				}
				for reading := range dag.ReadNow + 1 {
					v := g.At(1).Under(reading)
					n, _ := v.Find(s.ID)
					if got, want := s.Marks.VoiceOf(role, reading), v.Voice(n); got != want {
						t.Errorf("%s %s of %s under reading %d: %s, want %s", rules, voice, role, reading, got, want)
					}
				}
			}
		}
	}
}
