package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
)

// A topic is a question of HotpotQA or MuSiQue with its passages. Some passages support the answer. The prompts of a chat are about
// the passages, and its answers contain them.
type topic struct {
	question string
	passages []passage
}

// A passage is a text about a title.
type passage struct {
	title     string
	sentences []string // MuSiQue does not divide its texts: one
	supports  []bool   // parallel to sentences
}

// chatTopics are the topics of a chat.
const chatTopics = 25

// chats measures how well contexts and searches find the evidence for questions about chats of a person with a model.
func chats(ctx context.Context, e *Evaluation) error {
	topics, err := e.readTopics(filepath.Join(e.data, "multihop"))
	if err != nil {
		return err
	}
	ten, without, with := &scores{}, &scores{}, &scores{}
	number := 0
	for some := range slices.Chunk(topics, chatTopics) {
		ch, err := newChat(number, some)
		if err != nil {
			return err
		}
		c, err := e.instance.corpus(ctx, dag.Tenant(fmt.Sprintf("chat-%d", number)), ch.drafts)
		if err != nil {
			return err
		}
		number++
		for n := range some {
			anchored := c.last(some[n].question)
			free := anchored
			free.Anchor = dag.TurnID{}
			gold := ch.gold[n]
			a := e.ask(ctx, c, free)
			if err := ten.add(a, a.among(10, gold)); err != nil {
				return err
			}
			if err := without.add(a, whole(a.within(2_000, gold))); err != nil {
				return err
			}
			a = e.ask(ctx, c, anchored)
			if err := with.add(a, whole(a.within(2_000, gold))); err != nil {
				return err
			}
		}
	}
	e.row("chat", "evidence among the first 10", ofSearch, ten)
	e.row("chat", "all evidence within 2000 tokens, without an anchor", ofContext, without)
	e.row("chat", "all evidence within 2000 tokens, after the last turn", ofContext, with)
	return nil
}

// readTopics reads the topics of the half that is evaluated, of the two sources by turns.
func (e *Evaluation) readTopics(folder string) ([]topic, error) {
	var hotpot []struct {
		Question   string
		Context    [][2]json.RawMessage // a title and sentences
		Supporting [][2]json.RawMessage `json:"supporting_facts"` // a title and the place of a sentence
	}
	if err := readJSON(filepath.Join(folder, "hotpotqa_train.json"), &hotpot); err != nil {
		return nil, err
	}
	musique, err := readMuSiQue(filepath.Join(folder, "musique_train.json"))
	if err != nil {
		return nil, err
	}
	var topics []topic
	for n := range max(len(hotpot), len(musique)) {
		if !e.mine(n) {
			continue
		}
		if n < len(hotpot) {
			t := topic{question: hotpot[n].Question}
			for _, pair := range hotpot[n].Context {
				p, err := hotpotPassage(pair, hotpot[n].Supporting)
				if err != nil {
					return nil, fmt.Errorf("HotpotQA, %.60q: %w", t.question, err)
				}
				if len(p.sentences) > 0 {
					t.passages = append(t.passages, p)
				}
			}
			topics = append(topics, t)
		}
		if n < len(musique) {
			t := topic{question: musique[n].Question}
			for _, p := range musique[n].Paragraphs {
				t.passages = append(t.passages, passage{p.Title, []string{p.Text}, []bool{p.Support}})
			}
			topics = append(topics, t)
		}
	}
	return topics, nil
}

func hotpotPassage(pair [2]json.RawMessage, supporting [][2]json.RawMessage) (p passage, err error) {
	if err := json.Unmarshal(pair[0], &p.title); err != nil {
		return p, err
	}
	if err := json.Unmarshal(pair[1], &p.sentences); err != nil {
		return p, err
	}
	p.supports = make([]bool, len(p.sentences))
	for _, s := range supporting {
		var title string
		var at int
		if err := json.Unmarshal(s[0], &title); err != nil {
			return p, err
		}
		if err := json.Unmarshal(s[1], &at); err != nil {
			return p, err
		}
		if title == p.title && at < len(p.supports) { // some places are not there
			p.supports[at] = true
		}
	}
	return p, nil
}

// A chat has sessions of a person with a model, one after the other.
type chat struct {
	drafts []dag.Draft
	gold   []map[dag.TurnID]bool // by topic: the turns that hold what supports the answer

	number   int
	sessions int
	said     map[[2]string]dag.TurnID // by a title and a sentence: where it was said
	r        *rand.Rand
}

// chatPrompts are how the person asks about something.
var chatPrompts = [...]string{
	"Tell me about %s, please. A few sentences are enough, I only need an idea of it.",
	"And %s? I have seen that name somewhere and cannot remember where.",
	"What do you know about %s? If there is something else that goes with it, say that too.",
	"I have to write something about %s by Friday. Where would you begin?",
	"Somebody at work mentioned %s today and I had no idea what to say.",
	"Next one: %s.",
}

// newChat makes a chat about topics. Each topic comes up in two sessions, and the number of the chat decides by a seed in
// which order the sessions are. An answer has up to three passages, and its prompt names the first. A passage that was said
// before, about another topic, is not said again.
func newChat(number int, topics []topic) (*chat, error) {
	ch := &chat{number: number, said: map[[2]string]dag.TurnID{}, r: rand.New(rand.NewPCG(38, uint64(number)))}
	var sessions [][][]passage // each a list of answers
	for n := range topics {
		var answers [][]passage
		for rest := topics[n].passages; len(rest) > 0; {
			size := min(len(rest), 1+ch.r.IntN(3))
			answers, rest = append(answers, rest[:size]), rest[size:]
		}
		half := (len(answers) + 1) / 2
		sessions = append(sessions, answers[:half], answers[half:])
	}
	ch.r.Shuffle(len(sessions), func(i, j int) { sessions[i], sessions[j] = sessions[j], sessions[i] })
	for _, s := range sessions {
		if err := ch.session(s); err != nil {
			return nil, err
		}
	}
	for n := range topics {
		gold := map[dag.TurnID]bool{}
		for _, p := range topics[n].passages {
			for i, sentence := range p.sentences {
				if !p.supports[i] {
					continue
				}
				id, ok := ch.said[[2]string{p.title, sentence}]
				if !ok {
					return nil, fmt.Errorf("%.60q: nobody said %.60q", topics[n].question, sentence)
				}
				gold[id] = true
			}
		}
		ch.gold = append(ch.gold, gold)
	}
	return ch, nil
}

// session adds a session: a prompt before each answer. Some prompts quote the first sentence of a passage, or all of it if there are
// others, and the answer continues from there. Some sessions end with thanks.
func (ch *chat) session(answers [][]passage) error {
	defer func() { ch.sessions++ }()
	begun := len(ch.drafts)
	for _, passages := range answers {
		passages = slices.DeleteFunc(slices.Clone(passages), func(p passage) bool {
			_, known := ch.said[[2]string{p.title, p.sentences[0]}]
			return known
		})
		if len(passages) == 0 {
			continue
		}
		first := &passages[0]
		prompt, quoted := fmt.Sprintf(chatPrompts[ch.r.IntN(len(chatPrompts))], first.title), 0
		switch {
		case len(passages) > 1 && ch.r.IntN(4) == 0:
			quoted = len(first.sentences)
		case len(first.sentences) > 2 && ch.r.IntN(2) == 0:
			quoted = 1
		}
		if quoted > 0 {
			prompt = fmt.Sprintf("My notes about %s say: %s Is that right, and what else is there?", first.title, text(first.sentences[:quoted]))
		}
		if err := ch.say(begun, dag.RoleUser, prompt, first.title, first.sentences[:quoted]); err != nil {
			return err
		}
		var texts []string
		for i, p := range passages {
			rest := p.sentences
			if i == 0 {
				rest = rest[quoted:]
			}
			if len(rest) > 0 {
				texts = append(texts, "**"+p.title+"**: "+text(rest))
			}
		}
		if err := ch.say(begun, dag.RoleAssistant, strings.Join(texts, "\n\n"), first.title, first.sentences[quoted:]); err != nil {
			return err
		}
		answer := ch.drafts[len(ch.drafts)-1].ID
		for _, p := range passages[1:] {
			for _, sentence := range p.sentences {
				ch.said[[2]string{p.title, sentence}] = answer
			}
		}
	}
	if len(ch.drafts) == begun || ch.r.IntN(3) > 0 {
		return nil
	}
	if err := ch.say(begun, dag.RoleUser, "Thank you, that is all for today.", "", nil); err != nil {
		return err
	}
	return ch.say(begun, dag.RoleAssistant, "You are welcome! If something is unclear when you come back to it, ask me again, and I will go through it with you step by step.", "", nil)
}

// text joins the sentences of a passage, which begin with their spaces.
func text(sentences []string) string { return strings.TrimSpace(strings.Join(sentences, "")) }

// say adds a turn, which holds sentences about a title. Sessions of every second chat are one long conversation; those of the
// others are conversations of their own. The session began with the turn at a place.
func (ch *chat) say(begun int, role dag.Role, content, title string, sentences []string) error {
	name, earlier := fmt.Sprintf("%d/%d", ch.number, ch.sessions), ch.drafts[begun:]
	if ch.number%2 == 1 {
		name, earlier = fmt.Sprint(ch.number), ch.drafts
	}
	author := map[dag.Role]string{dag.RoleUser: "human:user", dag.RoleAssistant: "agent:model"}[role]
	at := time.Date(2024, 1, 1+ch.sessions, 9, len(ch.drafts)-begun, 0, 0, time.UTC)
	d := after(earlier, dag.Draft{
		ID: dag.ExternalTurnID("chat", fmt.Sprintf("%d/%d", ch.number, len(ch.drafts))), Conversation: dag.ExternalConversationID("chat", name),
		Role: role, Author: author, CreatedAt: dag.Time(at.UnixMicro()), Content: content,
	})
	if err := ingest.Assign(&d); err != nil {
		return err
	}
	ch.drafts = append(ch.drafts, d)
	for _, sentence := range sentences {
		ch.said[[2]string{title, sentence}] = d.ID
	}
	return nil
}
