package assemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/standing"
)

// A looker computes the blocks and standings of candidates for a prompt of gkc/2. Texts and standings of turns are read on demand, when the selection reaches them.
type looker struct {
	*gatherer
	ctx     context.Context
	in      *gathered
	choice  *contexts.Choice
	layout  *contexts.Layout
	read    map[int]*contexts.ChosenTurn
	ahead   []int // the indexes of turns by descending initial score; their texts are read in batches
	pieces  map[int]*contexts.Piece
	decides []bool // by setting of the course: it decides the standing of a candidate
	spoken  map[dag.ConversationID]*standing.Spoken
}

// look selects from the candidates of a choice and sets the rest of the choice: turns, facts, beliefs, and the settings.
func (g *gatherer) look(ctx context.Context, in *gathered, c *contexts.Choice) error {
	l := &looker{
		gatherer: g, ctx: ctx, in: in, choice: c, layout: contexts.NewLayout(g.asked, g.policy), read: map[int]*contexts.ChosenTurn{}, pieces: map[int]*contexts.Piece{},
		decides: make([]bool, len(g.course)), spoken: map[dag.ConversationID]*standing.Spoken{},
	}
	if n, most := l.mandatory(), g.policy.Quotas[contexts.FromConstraints]; n > most {
		return fmt.Errorf("%w: %d turns and beliefs are constraints, which every context includes, and the policy allows at most %d; raise quotas.%s, or name only the spaces that you need",
			contexts.ErrRequest, n, most, contexts.FromConstraints)
	}
	if g.policy.Sections.Rules > 0 {
		if err := l.countMandatory(); err != nil {
			return err
		}
	}
	l.order()
	chosen, err := contexts.Choose(g.policy, g.asked, c.Candidates, c.Overlaps, l)
	if err != nil {
		return named(err, c.Candidates)
	}
	for _, i := range chosen {
		if p := l.pieces[i]; p.Turn != nil {
			c.Turns = append(c.Turns, *p.Turn)
		} else if err := g.take(c, &c.Candidates[i]); err != nil {
			return err
		}
	}
	l.settle()
	return nil
}

// mandatory counts the constraints.
func (l *looker) mandatory() (n int) {
	for i := range l.in.all {
		if l.in.all[i].Mandatory() {
			n++
		}
	}
	return n
}

// countMandatory sets the standings of the constraints, by which they are ordered.
func (l *looker) countMandatory() error {
	for i := range l.choice.Candidates {
		c := &l.choice.Candidates[i]
		switch {
		case !c.Mandatory():
		case c.Kind == contexts.KindBelief:
			r := l.beliefs.of[c.ID]
			of, _ := l.course.OfBelief(r.Seq, r.By, r.Vouched())
			c.Standing = of.Standing
		default:
			of, err := l.standingOf(l.in.turn(i))
			if err != nil {
				return err
			}
			c.Standing = of.Standing
		}
	}
	return nil
}

// order sorts the turns among the candidates by descending initial score, which is about the order in which the selection reaches them.
func (l *looker) order() {
	scores := make([]int64, len(l.in.all))
	for i := range l.in.all {
		if l.in.turn(i) != nil {
			l.ahead = append(l.ahead, i)
			scores[i] = l.policy.Score(&l.in.all[i], l.asked.Budget, 0)
		}
	}
	slices.SortStableFunc(l.ahead, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
}

// batch is the maximum number of texts that are read together.
const batch = 64

// text returns the text of a turn. It also reads the texts of the next turns in ahead, up to the size of the budget.
func (l *looker) text(i int) (*contexts.ChosenTurn, error) {
	if t := l.read[i]; t != nil {
		return t, nil
	}
	some := []int{i}
	tokens := l.choice.Candidates[i].Cost
	for len(l.ahead) > 0 && len(some) < batch && tokens <= l.asked.Budget {
		next := l.ahead[0]
		l.ahead = l.ahead[1:]
		if cost := l.choice.Candidates[next].Cost; next != i && l.read[next] == nil && cost <= l.asked.Budget {
			some, tokens = append(some, next), tokens+cost
		}
	}
	turns := make([]*gatheredTurn, len(some))
	for n, at := range some {
		turns[n] = l.in.turn(at)
	}
	texts, err := l.texts(l.ctx, turns)
	if err != nil && len(turns) > 1 { // it may be the error of a text that is never needed
		texts, err = l.texts(l.ctx, turns[:1])
	}
	for n := range texts {
		l.read[some[n]] = texts[n]
	}
	return l.read[i], err
}

// Block implements [contexts.Blocks].
func (l *looker) Block(i int) (int, error) {
	c := &l.choice.Candidates[i]
	p := &contexts.Piece{Candidate: c}
	var of counted
	switch c.Kind {
	case contexts.KindTurn:
		t, err := l.text(i)
		if err != nil {
			return 0, err
		}
		p.Turn = t
		if of, err = l.standingOf(l.in.turn(i)); err != nil {
			return 0, err
		}
	case contexts.KindFact:
		id, err := dag.ParseDigest(c.ID)
		if err != nil {
			return 0, err
		}
		p.Fact = &l.facts.acts[id].Act
	case contexts.KindBelief:
		p.Belief = l.beliefs.of[c.ID]
		of.Ruling, of.setting = l.course.OfBelief(p.Belief.Seq, p.Belief.By, p.Belief.Vouched())
	}
	if c.Looked = true; c.Kind != contexts.KindFact {
		c.Standing, c.Rule, c.Setting = of.Standing, uint16(of.Rule), uint16(of.setting)
		l.decides[of.setting] = true
	}
	c.Block = l.layout.Block(p)
	l.pieces[i] = p
	return c.Block, nil
}

// Take implements [contexts.Blocks].
func (l *looker) Take(i int) { l.layout.Add(l.pieces[i]) }

// standingOf returns the standing of a turn.
func (l *looker) standingOf(t *gatheredTurn) (counted, error) {
	if of, ok := l.turns.counted[t.id]; ok {
		return of, nil
	}
	spoken := l.spoken[t.conversation]
	if spoken == nil {
		var err error
		if spoken, err = l.epoch.Spoken(l.ctx, l.tenant, t.conversation, l.turns.lasts[t.conversation], l.Reading); err != nil {
			return counted{}, err
		}
		l.spoken[t.conversation] = spoken
	}
	err := l.turns.countOne(spoken, t.id)
	return l.turns.counted[t.id], err
}

// settle sets the settings of the choice, and changes the settings of candidates to indexes in them.
func (l *looker) settle() {
	var places []uint16
	l.choice.Settings, places = slice.Deciding(l.course, l.decides)
	for i := range l.choice.Candidates {
		if c := &l.choice.Candidates[i]; c.Looked && c.Kind != contexts.KindFact {
			c.Setting = places[c.Setting]
		}
	}
}

// named adds the mandatory candidates, and advice, to an *OwedError.
func named(err error, candidates []contexts.Candidate) error {
	var owed *contexts.OwedError
	if !errors.As(err, &owed) {
		return err
	}
	advice := "raise the budget"
	if slices.ContainsFunc(candidates, func(c contexts.Candidate) bool { return c.Mandatory() && c.Kind == contexts.KindBelief }) {
		advice += ", or name only the spaces that you need"
	}
	return fmt.Errorf("%w%s; %s", err, mandatory(candidates), advice)
}

// leftOut returns the missing words that occur in the text of a candidate, in their order. missing are words that occur in no chosen text.
func (g *gatherer) leftOut(ctx context.Context, b *contexts.Bundle, missing []string) (words []string, err error) {
	if len(missing) == 0 || len(b.Turns)+len(b.Facts)+len(b.Beliefs) == len(b.Candidates) {
		return nil, nil
	}
	err = g.words.Read(ctx, g.AsOf, g.head, func(x *retrieval.Index) {
		for _, word := range missing {
			terms := analysis.English.Terms(nil, word)
			has := func(c *contexts.Candidate) bool {
				return slices.ContainsFunc(terms, func(term string) bool { return g.hasTerm(x, c, term) })
			}
			for i := range b.Candidates {
				if has(&b.Candidates[i]) {
					words = append(words, word)
					break
				}
			}
		}
	})
	return words, err
}

// hasTerm reports whether the text of a candidate has a term.
func (g *gatherer) hasTerm(x *retrieval.Index, c *contexts.Candidate, term string) bool {
	switch c.Kind {
	case contexts.KindBelief:
		_, has := slices.BinarySearch(g.epoch.Terms(g.tenant, g.beliefs.of[c.ID]), term)
		return has
	case contexts.KindFact:
		id, err := dag.ParseDigest(c.ID)
		return err == nil && slices.Contains(analysis.English.Terms(nil, contexts.FactText(&g.facts.acts[id].Act)), term)
	}
	id, err := dag.ParseTurnID(c.ID)
	return err == nil && x.HasTerm(id, term)
}
