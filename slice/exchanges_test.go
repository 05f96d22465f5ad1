package slice_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// spoken is a turn of a random conversation, as its reference sees it.
type spoken struct {
	skeleton dag.Skeleton
	prompt   bool
	before   []*spoken // its parents in its own conversation
}

// asked returns the question of a turn by the shortest walk there is: each path up to its first prompt, and of these the newest.
func (t *spoken) asked() (newest *spoken) {
	for _, p := range t.before {
		if !p.prompt {
			p = p.asked()
		}
		if p != nil && (newest == nil || p.skeleton.Seq > newest.skeleton.Seq) {
			newest = p
		}
	}
	return newest
}

// drawSpoken draws turns of two conversations, with branches, merges and edges from one conversation into the other.
func drawSpoken(r *rand.Rand, count int) (turns []*spoken) {
	for n := range count {
		t := &spoken{skeleton: dag.Skeleton{Seq: dag.Seq(n + 1), ID: dag.ExternalTurnID("spoken", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("spoken", fmt.Sprint(r.IntN(5)/4))}}
		m := &t.skeleton.Marks
		m.Rules, m.Cost, m.Origin.Channel = dag.Marks2, uint32(r.IntN(4)), dag.ChannelHarness
		switch r.IntN(8) {
		case 0: // a person asks
			t.skeleton.Role, m.Voice, t.prompt = dag.RoleUser, dag.VoicePerson, true
		case 1: // an agent asks another
			t.skeleton.Role, m.Voice, t.prompt = dag.RoleUser, dag.VoiceAgent, true
		case 2: // brought in the name of a person, or a result
			t.skeleton.Role, m.Voice = dag.RoleUser, dag.VoiceTool
		case 3: // a person refuses a call
			t.skeleton.Role, m.Voice = dag.RoleTool, dag.VoicePerson
		default:
			t.skeleton.Role, m.Voice = dag.RoleAssistant, dag.VoiceAgent
		}
		for range min(n, []int{0, 1, 1, 1, 2, 3}[r.IntN(6)]) {
			p := turns[max(0, n-1-r.IntN(4))]
			edge := dag.SkeletonParent{ID: p.skeleton.ID, Conversation: p.skeleton.Conversation, Kind: dag.Reply}
			known := false
			for _, e := range t.skeleton.Parents {
				known = known || e.ID == edge.ID
			}
			if known {
				continue
			}
			t.skeleton.Parents = append(t.skeleton.Parents, edge)
			if p.skeleton.Conversation == t.skeleton.Conversation {
				t.before = append(t.before, p)
			}
		}
		turns = append(turns, t)
	}
	return turns
}

// TestExchanges asks for the question of each turn and for the answers to each prompt in random conversations, as of random numbers, and compares with a walk
// along the turns as they were drawn.
func TestExchanges(t *testing.T) {
	questions, answers, none, merged := 0, 0, 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 7))
		turns := drawSpoken(r, 2+r.IntN(30))
		g := dag.NewGraph()
		for _, s := range turns {
			if err := g.Add(&s.skeleton); err != nil {
				t.Fatal(err)
			}
		}
		v := g.At(dag.Seq(1 + r.IntN(len(turns))))
		for conversation := range 2 {
			of := dag.ExternalConversationID("spoken", fmt.Sprint(conversation))
			x := slice.ExchangesIn(v, of)
			want := map[dag.TurnID][]dag.TurnID{} // the answers, the newest first
			var first *spoken
			for i := len(turns) - 1; i >= 0; i-- {
				s := turns[i]
				if s.skeleton.Conversation != of || s.skeleton.Seq > v.Seq() {
					continue
				}
				if s.prompt {
					first = s
				}
				n, ok := v.Find(s.skeleton.ID)
				if !ok || x.IsPrompt(n) != s.prompt {
					t.Fatalf("seed %d: turn %d is shown %v, a prompt %v, want %v", seed, i, ok, x.IsPrompt(n), s.prompt)
				}
				asked := s.asked()
				got, ok := x.Question(n)
				if ok != (asked != nil) || ok && v.ID(got) != asked.skeleton.ID {
					t.Fatalf("seed %d: the question of turn %d is %v %v, want %+v", seed, i, got, ok, asked)
				}
				if asked == nil {
					none++
					continue
				}
				questions++
				if len(s.before) > 1 {
					merged++
				}
				if s.skeleton.Role == dag.RoleAssistant && s.skeleton.Marks.Cost > 0 {
					want[asked.skeleton.ID] = append(want[asked.skeleton.ID], s.skeleton.ID)
				}
			}
			for _, s := range turns {
				if n, ok := v.Find(s.skeleton.ID); ok && s.prompt && s.skeleton.Conversation == of {
					var got []dag.TurnID
					for _, a := range x.Answers(n) {
						got = append(got, v.ID(a))
					}
					if fmt.Sprint(got) != fmt.Sprint(want[s.skeleton.ID]) {
						t.Fatalf("seed %d: the answers to %s are %s, want %s", seed, s.skeleton.ID, got, want[s.skeleton.ID])
					}
					answers += len(got)
				}
			}
			if n, ok := x.First(x.IsPrompt); ok != (first != nil) || ok && v.ID(n) != first.skeleton.ID {
				t.Fatalf("seed %d: the first prompt is %v %v, want %+v", seed, n, ok, first)
			}
		}
	}
	if questions < 2000 || answers < 800 || none < 1000 || merged < 600 {
		t.Fatalf("%d questions, %d answers, %d turns without a question, %d merges: too few to show anything", questions, answers, none, merged)
	}
}
