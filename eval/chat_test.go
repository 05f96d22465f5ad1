package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// spoken returns the turns of a chat.
func (ch *chat) spoken() map[dag.TurnID]*dag.Draft {
	turns := map[dag.TurnID]*dag.Draft{}
	for i := range ch.drafts {
		turns[ch.drafts[i].ID] = &ch.drafts[i]
	}
	return turns
}

// TestChat reads chats of the small set of topics, as one conversation and as several.
func TestChat(t *testing.T) {
	topics, err := (&Evaluation{}).readTopics(filepath.Join(smallData, "multihop"))
	if err != nil {
		t.Fatal(err)
	}
	if len(topics) != 2 || len(topics[0].passages) != 3 || len(topics[1].passages) != 3 {
		t.Fatalf("got %+v", topics)
	}
	quoted, whole, split := false, false, false
	for number := range 40 {
		ch, err := newChat(number, topics)
		if err != nil {
			t.Fatal(err)
		}
		turns, conversations := ch.spoken(), map[dag.ConversationID]bool{}
		said := ""
		for i := range ch.drafts {
			d := &ch.drafts[i]
			conversations[d.Conversation] = true
			said += d.Content + "\n"
			if want := [...]dag.Role{dag.RoleUser, dag.RoleAssistant}[i%2]; d.Role != want {
				t.Errorf("chat %d: turn %d is of the role %s", number, i, d.Role)
			}
			if begins := i == 0 || ch.drafts[i-1].Conversation != d.Conversation; begins != (len(d.Parents) == 0) {
				t.Errorf("chat %d: turn %d begins a conversation, %t, and has %d parents", number, i, begins, len(d.Parents))
			}
		}
		if one := number%2 == 1; one != (len(conversations) == 1) {
			t.Errorf("chat %d has %d conversations", number, len(conversations))
		}
		for _, text := range []string{"is a lamp of a harbour", "It was lit", "It is in Port Anne", "published by Harbour Press", "founded by Ada Quill", "is an instrument", "A copper kettle is"} {
			if strings.Count(said, text) != 1 {
				t.Errorf("chat %d says %q %d times:\n%s", number, text, strings.Count(said, text), said)
			}
		}
		for n, want := range [][]string{{"It is kept in the house", "It is in Port Anne"}, {"published by Harbour Press", "founded by Ada Quill"}} {
			gold := ""
			for id := range ch.gold[n] {
				gold += turns[id].Content + "\n"
			}
			for _, text := range want {
				if !strings.Contains(gold, text) {
					t.Errorf("chat %d, topic %d: the gold lacks %q:\n%s", number, n, text, gold)
				}
			}
			split = split || len(ch.gold[n]) == 2
		}
		whole = whole || strings.Contains(said, "My notes about Tin Whistle say: A tin whistle is an instrument. Is that right, and what else is there?\n**Harbour Press**: ")
		quoted = quoted || strings.Contains(said, "My notes about Copper Lamp say: The Copper Lamp is a lamp of a harbour. Is that right, and what else is there?\n**Copper Lamp**: It was lit")
	}
	if !quoted || !whole || !split {
		t.Errorf("a prompt quotes a sentence: %t, a text: %t; a topic's gold is two turns: %t", quoted, whole, split)
	}
	again, err := newChat(0, topics)
	if first, err2 := newChat(0, topics); err != nil || err2 != nil || len(first.drafts) != len(again.drafts) || first.drafts[1].Content != again.drafts[1].Content {
		t.Errorf("made again: %v, %v, another chat", err, err2)
	}
}

// TestChatLengths holds that in chats of the shared data answers are 5 to 15 times as long as prompts.
func TestChatLengths(t *testing.T) {
	data := cmp.Or(os.Getenv("GRAPHKERNEL_DATA"), filepath.Join("..", "..", "shared", "data"))
	if _, err := os.Stat(data); err != nil {
		t.Skipf("SKIPPED: %v; $GRAPHKERNEL_DATA names the folder of the data", err)
	}
	topics, err := (&Evaluation{}).readTopics(filepath.Join(data, "multihop"))
	if err != nil {
		t.Fatal(err)
	}
	ch, err := newChat(0, topics[:chatTopics])
	if err != nil {
		t.Fatal(err)
	}
	bytes := map[dag.Role]int{}
	for i := range ch.drafts {
		bytes[ch.drafts[i].Role] += len(ch.drafts[i].Content)
	}
	held := map[dag.Role]int{}
	for _, gold := range ch.gold {
		for id := range gold {
			held[ch.spoken()[id].Role]++
		}
	}
	t.Logf("%d turns, %d sessions, %d bytes of prompts, %d of answers; evidence in %d prompts and %d answers", len(ch.drafts), ch.sessions, bytes[dag.RoleUser], bytes[dag.RoleAssistant], held[dag.RoleUser], held[dag.RoleAssistant])
	if times := bytes[dag.RoleAssistant] / bytes[dag.RoleUser]; times < 5 || times > 15 {
		t.Errorf("answers are %d times as long as prompts", times)
	}
}

// TestFree holds that a question without an anchor is asked of what needs none.
func TestFree(t *testing.T) {
	c := small(t, "the cat sat", "a dog ran", "the cat and the dog")
	q := c.last("cat")
	q.Anchor = dag.TurnID{}
	e := &Evaluation{instance: instance(t), strategies: strategies}
	a := e.ask(t.Context(), c, q)
	s := &scores{}
	if err := s.add(a, a.within(2_000, setOf([]dag.TurnID{c.Turns[0].ID}))); err != nil {
		t.Fatal(err)
	}
	for n := range strategies {
		by := &strategies[n]
		mean, asked := s.mean(n)
		if asked == (by.Anchored || by.Facts) || asked && mean != 1 {
			t.Errorf("%s: asked %t, %.3f", by.Name, asked, mean)
		}
	}
}
