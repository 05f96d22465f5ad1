package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// eachKind is how many questions of a kind are made.
const eachKind = 200

// A triple that was extracted from a passage, and the fact that it makes.
type triple struct {
	subject, predicate, object string
	fact                       knowledge.Fact
	passage                    int
}

// passages are a corpus of texts, the triples that a model extracted from them, and questions that people asked of them.
type passages struct {
	turns   []dag.Draft
	triples []triple
	asked   []asked
}

// An asked question has the passages that it takes to answer it: of each set one.
type asked struct {
	text  string
	needs []map[dag.TurnID]bool
}

// questions measures how many questions about facts are answered by the first ten passages: some that people wrote,
// and five kinds that are made of the triples by a seed.
func questions(ctx context.Context, e *Evaluation) error {
	p, err := readPassages(filepath.Join(e.data, "multihop"))
	if err != nil {
		return err
	}
	c, err := e.instance.corpus(ctx, "passages", p.turns)
	if err != nil {
		return err
	}
	facts := make([]knowledge.Fact, len(p.triples))
	for i := range p.triples {
		facts[i] = p.triples[i].fact
	}
	if err := c.learn(ctx, facts); err != nil {
		return err
	}
	written := &scores{}
	for n, q := range p.asked {
		if !e.mine(n) {
			continue
		}
		a := e.ask(ctx, c, c.last(q.text))
		gold := map[dag.TurnID]bool{}
		for _, need := range q.needs {
			for id := range need {
				gold[id] = true
			}
		}
		if err := written.add(a, a.among(10, gold)); err != nil {
			return err
		}
	}
	e.row("questions", "written by people, supporting passages among the first 10", ofSearch, written)
	made := newMaker(p, e)
	for _, k := range kinds {
		s := &scores{}
		for _, q := range made.questions(k.draw) {
			a := e.ask(ctx, c, c.last(q.text))
			if err := s.add(a, a.answered(10, q.needs)); err != nil {
				return err
			}
		}
		e.row("questions", k.name+", answered by the first 10", ofSearch, s)
	}
	return nil
}

// answered is 1 if the first turns that a strategy chooses have one of each set.
func (a *answers) answered(first int, needs []map[dag.TurnID]bool) measure {
	return func(n int) (float64, error) {
		list, err := a.chosen(n, 0)
		if err != nil {
			return 0, err
		}
		top := setOf(list[:min(first, len(list))])
		for _, need := range needs {
			if recall(top, need) == 0 {
				return 0, nil
			}
		}
		return 1, nil
	}
}

// A maker makes questions of triples. Only triples of passages that are evaluated are asked about; what counts as an
// answer may be in any.
type maker struct {
	triples []triple // asked about
	after   map[string][]*triple
	having  map[string]map[dag.TurnID]bool // by parts of a fact, with * for the part that is not said: the passages
	turns   []dag.Draft
}

func newMaker(p *passages, e *Evaluation) *maker {
	m := &maker{after: map[string][]*triple{}, having: map[string]map[dag.TurnID]bool{}, turns: p.turns}
	for i := range p.triples {
		t := &p.triples[i]
		f := &t.fact
		for _, key := range [...]string{parts(f.Subject, f.Predicate, "*"), parts("*", f.Predicate, f.Object), parts(f.Subject, "*", f.Object), parts(f.Object, "*", f.Subject), parts(f.Subject, f.Predicate, f.Object)} {
			if m.having[key] == nil {
				m.having[key] = map[dag.TurnID]bool{}
			}
			m.having[key][p.turns[t.passage].ID] = true
		}
		m.after[f.Subject] = append(m.after[f.Subject], t)
		if e.mine(t.passage) && f.Subject != f.Object {
			m.triples = append(m.triples, *t)
		}
	}
	return m
}

func parts(subject, predicate, object string) string {
	return subject + "\n" + predicate + "\n" + object
}

// questions draws triples until there are enough questions. Each kind draws by the same seed, so one more kind changes no other.
func (m *maker) questions(draw func(*maker, *rand.Rand, *triple) (asked, bool)) (all []asked) {
	r := rand.New(rand.NewPCG(27, 5))
	for range 100 * eachKind {
		if len(all) == eachKind {
			break
		}
		if q, ok := draw(m, r, &m.triples[r.IntN(len(m.triples))]); ok {
			all = append(all, q)
		}
	}
	return all
}

// kinds are the kinds of questions, as the paper has them.
var kinds = []struct {
	name string
	draw func(*maker, *rand.Rand, *triple) (asked, bool)
}{
	{"attribute", func(m *maker, _ *rand.Rand, t *triple) (asked, bool) { return m.attribute(t, t.subject), true }},
	{"relationship", func(m *maker, _ *rand.Rand, t *triple) (asked, bool) {
		return asked{fmt.Sprintf("How are %s and %s connected?", t.subject, t.object), []map[dag.TurnID]bool{m.having[parts(t.fact.Subject, "*", t.fact.Object)]}}, true
	}},
	{"multi-hop", (*maker).multiHop},
	{"fuzzy name, case and punctuation", func(m *maker, r *rand.Rand, t *triple) (asked, bool) {
		name := respelled(r, t.subject)
		return m.attribute(t, name), name != t.subject
	}},
	{"fuzzy name, two letters exchanged", func(m *maker, r *rand.Rand, t *triple) (asked, bool) {
		name, ok := mistyped(r, t.subject)
		return m.attribute(t, name), ok
	}},
	{"predicate", func(m *maker, _ *rand.Rand, t *triple) (asked, bool) {
		return asked{fmt.Sprintf("Who or what %s %s?", t.predicate, t.object), []map[dag.TurnID]bool{m.having[parts("*", t.fact.Predicate, t.fact.Object)]}}, true
	}},
}

// attribute asks for the object of a triple, whose subject goes by a name.
func (m *maker) attribute(t *triple, name string) asked {
	return asked{fmt.Sprintf("%s %s what?", name, t.predicate), []map[dag.TurnID]bool{m.having[parts(t.fact.Subject, t.fact.Predicate, "*")]}}
}

// multiHop asks for the object of a triple whose subject is another's object, and goes unnamed.
func (m *maker) multiHop(r *rand.Rand, t *triple) (asked, bool) {
	next := m.after[t.fact.Object]
	if len(next) == 0 {
		return asked{}, false
	}
	u := next[r.IntN(len(next))]
	if u.fact.Object == t.fact.Subject {
		return asked{}, false
	}
	needs := []map[dag.TurnID]bool{m.having[parts(t.fact.Subject, t.fact.Predicate, t.fact.Object)], m.having[parts(u.fact.Subject, u.fact.Predicate, "*")]}
	return asked{fmt.Sprintf("%s %s what, and that %s what?", t.subject, t.predicate, u.predicate), needs}, true
}

// respelled writes a name in capitals, in small letters or without punctuation.
func respelled(r *rand.Rand, name string) string {
	switch r.IntN(3) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		return strings.ToLower(name)
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsPunct(c) {
			return -1
		}
		return c
	}, name)
}

// mistyped exchanges two letters within a word of a name of five letters or more.
func mistyped(r *rand.Rand, name string) (string, bool) {
	runes := []rune(name)
	if len(runes) < 5 {
		return "", false
	}
	at := 1 + r.IntN(len(runes)-2)
	a, b := runes[at], runes[at+1]
	if a == b || !unicode.IsLetter(a) || !unicode.IsLetter(b) || !unicode.IsLetter(runes[at-1]) {
		return "", false
	}
	runes[at], runes[at+1] = b, a
	return string(runes), true
}

// readPassages reads the corpus that questions of MuSiQue are asked of, with the triples of each passage.
func readPassages(folder string) (*passages, error) {
	var open struct {
		Docs []struct {
			Title, Text string
			Triples     [][]string `json:"extracted_triples"`
		}
	}
	if err := readJSON(filepath.Join(folder, "openie_musique_train_1890.json"), &open); err != nil {
		return nil, err
	}
	p := &passages{}
	at := map[[2]string]dag.TurnID{}
	for n, d := range open.Docs {
		id := dag.ExternalTurnID("passage", fmt.Sprint(n))
		at[[2]string{d.Title, d.Text}] = id
		p.turns = append(p.turns, dag.Draft{
			ID: id, Conversation: dag.ExternalConversationID("passage", fmt.Sprint(n)), Role: dag.RoleTool, Author: "tool:corpus",
			CreatedAt: dag.Time(time.Date(2020, 1, 1, 0, 0, n, 0, time.UTC).UnixMicro()), Content: d.Title + "\n" + d.Text,
		})
		for _, t := range d.Triples {
			if len(t) != 3 {
				continue
			}
			f, err := knowledge.NewFact(t[0], t[1], t[2], "corpus")
			if err != nil {
				continue // a name of which nothing is left, such as "%"
			}
			f.Turn = id
			p.triples = append(p.triples, triple{t[0], t[1], t[2], f, n})
		}
	}
	return p, p.readQuestions(filepath.Join(folder, "musique_train.json"), at)
}

func (p *passages) readQuestions(path string, at map[[2]string]dag.TurnID) error {
	list, err := readMuSiQue(path)
	if err != nil {
		return err
	}
	for _, q := range list {
		one := asked{text: q.Question}
		for _, g := range q.Paragraphs {
			if !g.Support {
				continue
			}
			id, ok := at[[2]string{g.Title, g.Text}]
			if !ok {
				return fmt.Errorf("question %.60q: passage %q is not in the corpus", q.Question, g.Title)
			}
			one.needs = append(one.needs, map[dag.TurnID]bool{id: true})
		}
		p.asked = append(p.asked, one)
	}
	return nil
}

// A record of MuSiQue has a question and paragraphs. Some paragraphs support the answer.
type musiqueQuestion struct {
	Question   string
	Paragraphs []struct {
		Title   string
		Text    string `json:"paragraph_text"`
		Support bool   `json:"is_supporting"`
	}
}

func readMuSiQue(path string) (list []musiqueQuestion, err error) {
	return list, readJSON(path, &list)
}

// readJSON reads a file of JSON as Python writes it, where a number may be NaN.
func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(": NaN"), []byte(": null")), into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
