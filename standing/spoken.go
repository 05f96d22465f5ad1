package standing

import "github.com/graphkernel/graphkernel/dag"

// Spoken contains the facts from which the standings of a conversation's turns follow, up to a sequence number. It is immutable.
type Spoken struct {
	people  Conversation
	turns   map[dag.TurnID]Turn
	spawned map[dag.TurnID]dag.ConversationID // by child: the other conversation in which an edge of kind dag.Spawn begins; without turns that came in under a credential
}

// SpokenIn returns the Spoken of a conversation in a view.
func SpokenIn(v dag.View, conversation dag.ConversationID) *Spoken {
	s := &Spoken{turns: map[dag.TurnID]Turn{}, spawned: map[dag.TurnID]dag.ConversationID{}}
	begun := false
	for i := range v.Len() {
		n := dag.Node(i)
		if v.Conversation(n) != conversation || !v.Present(n) || v.Admitted(n) > v.Seq() {
			continue
		}
		if !begun {
			begun = true
			for _, o := range v.AppendOpenings(nil, n) {
				first := turnAt(v, o)
				s.people.Add(&first)
			}
		}
		s.turns[v.ID(n)] = turnAt(v, n)
		for i := range v.ParentCount(n) {
			parent, kind, _ := v.Parent(n, i)
			if c := v.Conversation(parent); kind == dag.Spawn && c != conversation && !v.Origin(n).Channel.Credentialed() {
				s.spawned[v.ID(n)] = c
			}
		}
	}
	return s
}

// Of returns the ruling about a turn under a course, and the index of the setting that decides; false if there is no such turn.
func (s *Spoken) Of(id dag.TurnID, c Course) (of Ruling, setting int, ok bool) {
	t, ok := s.turns[id]
	if ok {
		of, setting = c.Of(t.Seq, &t, &s.people)
	}
	return of, setting, ok
}

// Spawner returns the conversation from which this one was spawned, according to the first turn of standing agent that says so; false if there is none. Turns
// that came in under a credential are ignored, because their parents were chosen by the holder of the credential.
func (s *Spoken) Spawner(c Course) (spawner dag.ConversationID, ok bool) {
	first := dag.MaxSeq
	for id, from := range s.spawned {
		if of, _, _ := s.Of(id, c); of.Standing == Agent && s.turns[id].Seq < first {
			first, spawner, ok = s.turns[id].Seq, from, true
		}
	}
	return spawner, ok
}

// Size estimates the bytes that it takes.
func (s *Spoken) Size() int { return 256 + 160*len(s.turns) + 64*len(s.spawned) }
