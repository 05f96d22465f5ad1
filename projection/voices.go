package projection

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// voices are the facts about a conversation's turns from which their standings follow. They are never changed: a conversation that grew gets new ones.
type voices struct {
	conversation dag.ConversationID
	upTo         dag.Seq // they are complete up to this number
	turns        []voice // by ascending number
	origins      []dag.Origin
	openings     []int // the places in turns of the first with each voice, role and channel, see [dag.View.AppendOpenings]
}

// A voice has the facts about one turn. A conversation may have 100 000 turns, and has few origins.
type voice struct {
	seq    dag.Seq
	cost   uint32
	origin uint32 // its place in origins
	role   dag.Role
	voice  dag.Voice
	root   bool
}

const (
	mostVoices = 16 << 20 // bytes of all cached voices
	readAtOnce = 32       // conversations of one query for voices
)

func (v *voices) size() int {
	return 256 + int(unsafe.Sizeof(voice{}))*cap(v.turns) + int(unsafe.Sizeof(dag.Origin{}))*cap(v.origins) + 8*cap(v.openings)
}

// turn returns the facts about a turn by its place.
func (v *voices) turn(at int) standing.Turn {
	t := &v.turns[at]
	return standing.Turn{Role: t.role, Voice: t.voice, Cost: t.cost, Conversation: v.conversation, Origin: v.origins[t.origin], Root: t.root, Seq: t.seq}
}

// A hearing extends voices with newer turns.
type hearing struct {
	voices
	known map[dag.Origin]uint32 // the places in origins; nil: no turn was added yet
}

func (v *voices) grow() *hearing {
	h := &hearing{voices: *v}
	h.turns, h.origins, h.openings = slices.Clip(v.turns), slices.Clip(v.origins), slices.Clip(v.openings)
	return h
}

// add adds a turn after the others. Its voice is that under the reading of new bundles.
func (h *hearing) add(s *dag.Skeleton) {
	if h.known == nil {
		h.known = map[dag.Origin]uint32{}
		for i, o := range h.origins {
			h.known[o] = uint32(i)
		}
	}
	origin, known := h.known[s.Marks.Origin]
	if !known {
		origin = uint32(len(h.origins))
		h.known[s.Marks.Origin] = origin
		h.origins = append(h.origins, s.Marks.Origin)
	}
	t := voice{s.Seq, s.Marks.Cost, origin, s.Role, s.Marks.VoiceOf(s.Role, dag.ReadNow), len(s.Parents) == 0}
	if !slices.ContainsFunc(h.openings, func(at int) bool {
		o := &h.turns[at]
		return o.voice == t.voice && o.role == t.role && h.origins[o.origin].Channel == s.Marks.Origin.Channel
	}) {
		h.openings = append(h.openings, len(h.turns))
	}
	h.turns = append(h.turns, t)
}

// people returns who takes part in the conversation as of a number.
func (v *voices) people(asOf dag.Seq) *standing.Conversation {
	in := &standing.Conversation{}
	for _, at := range v.openings {
		if t := v.turn(at); t.Seq <= asOf {
			in.Add(&t)
		}
	}
	return in
}

// Of returns the standings of turns as of a number, in the order of the places. No turn may have a greater number. For a conversation that is not cached it
// reads the skeletons of all its turns, and for a cached one those that came since; one query reads up to 32 conversations. Texts are not read.
func (t *TenantStandings) Of(ctx context.Context, asOf dag.Seq, places []store.Place) ([]dag.Standing, error) {
	if len(places) == 0 {
		return nil, nil
	}
	course, _, err := t.Course(ctx, asOf)
	if err != nil {
		return nil, err
	}
	course = course.Until(asOf)
	said, err := t.voicesOf(ctx, asOf, places)
	if err != nil {
		return nil, err
	}
	people := map[dag.ConversationID]*standing.Conversation{}
	found := make([]dag.Standing, len(places))
	for i, p := range places {
		v := said[p.Conversation]
		at, ok := slices.BinarySearchFunc(v.turns, p.Seq, func(t voice, seq dag.Seq) int { return cmp.Compare(t.seq, seq) })
		if !ok {
			return nil, fmt.Errorf("%w: the conversation %s has no turn of number %d", store.ErrDamaged, p.Conversation, p.Seq)
		}
		in := people[p.Conversation]
		if in == nil {
			in = v.people(asOf)
			people[p.Conversation] = in
		}
		of := v.turn(at)
		ruling, _ := course.Of(p.Seq, &of, in)
		found[i] = ruling.Standing
	}
	return found, nil
}

// voicesOf returns the voices of the conversations of some places, complete up to a number at least.
func (t *TenantStandings) voicesOf(ctx context.Context, atLeast dag.Seq, places []store.Place) (map[dag.ConversationID]*voices, error) {
	said := map[dag.ConversationID]*voices{}
	var lacking []store.Part
	for _, p := range places {
		if said[p.Conversation] != nil {
			continue
		}
		kept, ok := t.all.voices.Get(graphKey{t.tenant, p.Conversation})
		if !ok {
			kept = &voices{conversation: p.Conversation}
		}
		if said[p.Conversation] = kept; kept.upTo < atLeast {
			lacking = append(lacking, store.Part{Conversation: p.Conversation, After: kept.upTo})
		}
	}
	for some := range slices.Chunk(lacking, readAtOnce) {
		fresh := make(map[dag.ConversationID]*hearing, len(some))
		for _, p := range some {
			fresh[p.Conversation] = said[p.Conversation].grow()
		}
		head, err := t.all.store.EachSkeleton(ctx, t.tenant, some, func(s *dag.Skeleton) error {
			fresh[s.Conversation].add(s)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for id, h := range fresh {
			h.upTo = head
			said[id] = &h.voices
			t.all.voices.Put(graphKey{t.tenant, id}, &h.voices, h.size())
		}
	}
	return said, nil
}
