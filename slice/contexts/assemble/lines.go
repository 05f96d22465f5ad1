package assemble

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/quote"
	"github.com/graphkernel/graphkernel/store"
)

// Limits of the sessions from which lines are taken.
const (
	mostSessions = 10  // in which decisions are looked for
	mostCalls    = 150 // of a session that are read, the newest
	mostPrompts  = 12  // of a session that are read: the first, and the newest
)

// A session is a conversation in which an owner or a member said something.
type session struct {
	id      dag.ConversationID
	prompts []retrieval.Turn // of owners and members, the newest first
	said    []retrieval.Turn // the agent's last words
	calls   []retrieval.Turn // of the agent, the newest first
	failed  []retrieval.Turn // results that say that their call failed
}

// A lineSource finds the lines of a brief.
type lineSource struct{ *turnSource }

// pickLines finds the lines of the last sessions, in the order in which a brief wants them.
func (g lineSource) pickLines(ctx context.Context, words Words) ([]quote.Line, error) {
	if g.policy.Quotas[contexts.FromLines] == 0 || !g.asked.Counted() {
		return nil, nil
	}
	sessions, err := g.lastSessions(ctx, words)
	if err != nil {
		return nil, err
	}
	read := make([]quote.Session, len(sessions))
	for i := range sessions {
		if err := g.readPrompts(ctx, &sessions[i], &read[i]); err != nil {
			return nil, err
		}
	}
	branch := g.asked.Task // of a brief, it names the branch
	for _, i := range quote.Told(read, branch) {
		if err := g.readRest(ctx, &sessions[i], &read[i]); err != nil {
			return nil, err
		}
	}
	return quote.Pick(read, branch), nil
}

// lastSessions returns the sessions that the bounds allow, the one with the newest prompt first.
func (g lineSource) lastSessions(ctx context.Context, words Words) (sessions []session, err error) {
	var newest []retrieval.Turn
	err = words.Read(ctx, g.AsOf, g.head, func(x *retrieval.Index) {
		g.bound(x)
		x.EachConversation(func(c *retrieval.Conversation) {
			if !g.lets(c.ID) {
				return
			}
			for t := range x.Conversation(c.ID, g.AsOf) {
				newest = append(newest, *t)
				break
			}
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(newest, later)
	for _, t := range newest[:min(len(newest), 3*mostSessions)] {
		s := session{id: t.Conversation}
		if err := g.lookAt(ctx, words, &s); err != nil {
			return nil, err
		}
		if len(s.prompts) > 0 {
			sessions = append(sessions, s)
		}
		if len(sessions) == mostSessions {
			break
		}
	}
	slices.SortFunc(sessions, func(a, b session) int { return later(a.prompts[0], b.prompts[0]) }) // others choose the times of their turns
	return sessions, nil
}

// later orders turns by descending time.
func later(a, b retrieval.Turn) int {
	return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.Seq, a.Seq))
}

// lookAt sorts the turns of a session into its lists.
func (g lineSource) lookAt(ctx context.Context, words Words, s *session) error {
	var last dag.Seq
	var turns []retrieval.Turn
	if err := words.Read(ctx, g.rulesAsOf(), g.head, func(x *retrieval.Index) {
		for t := range x.Conversation(s.id, g.rulesAsOf()) {
			last = max(last, t.Seq)
			if t.Seq <= g.AsOf && !t.Withheld && !t.Silent {
				turns = append(turns, *t)
			}
		}
	}); err != nil {
		return err
	}
	spoken, err := g.epoch.Spoken(ctx, g.tenant, s.id, last, g.Reading)
	if err != nil {
		return err
	}
	for _, t := range turns {
		if err := g.countOne(spoken, t.ID); err != nil {
			return err
		}
		switch of := g.counted[t.ID].Standing; {
		case (t.Role == dag.RoleUser || t.Role == dag.RoleTool) && of.Orders():
			s.prompts = append(s.prompts, t)
		case t.Role == dag.RoleTool && t.Fails:
			s.failed = append(s.failed, t)
		case of != dag.StandingAgent || t.Role != dag.RoleAssistant:
		case t.Says && len(s.said) == 0:
			s.said = append(s.said, t)
		case !t.Says && len(s.calls) < mostCalls:
			s.calls = append(s.calls, t)
		}
	}
	return nil
}

// readPrompts reads the prompts of a session.
func (g lineSource) readPrompts(ctx context.Context, s *session, of *quote.Session) (err error) {
	prompts := s.prompts
	if n := len(prompts); n > mostPrompts {
		prompts = append(slices.Clone(prompts[:mostPrompts-1]), prompts[n-1])
	}
	of.Prompts, err = g.readTurns(ctx, s, prompts)
	return err
}

// readRest reads the agent's words, calls and failures of a session.
func (g lineSource) readRest(ctx context.Context, s *session, of *quote.Session) (err error) {
	if of.Said, err = g.readTurns(ctx, s, s.said); err != nil {
		return err
	}
	if of.Calls, err = g.readTurns(ctx, s, s.calls); err != nil {
		return err
	}
	of.Failed, err = g.readTurns(ctx, s, s.failed[:min(len(s.failed), mostCalls)])
	return err
}

// readTurns reads the texts of turns of a session.
func (g lineSource) readTurns(ctx context.Context, s *session, turns []retrieval.Turn) (read []quote.Turn, err error) {
	ids, places := make([]dag.TurnID, len(turns)), make(store.Places, len(turns))
	for i := range turns {
		ids[i], places[i] = turns[i].ID, store.Place{Conversation: s.id, Seq: turns[i].Seq}
	}
	texts, err := g.epoch.Texts(ctx, g.tenant, g.head, ids, places)
	for _, t := range texts {
		read = append(read, quote.Turn{ID: t.ID, Body: &t.Body})
	}
	return read, err
}

// bound sets within from the folders of the bounds.
func (g *turnSource) bound(x *retrieval.Index) {
	if g.Folders != "" && g.within == nil {
		held := ingest.HeldIn(g.Folders.Unpack()...)
		g.within = x.Conversations(func(l retrieval.Labels) bool { return held(l.Value) })
	}
}

// fromLines gathers the lines that were found, without turns that other sources found.
func (g *turnSource) fromLines(x *retrieval.Index, picks []quote.Line) {
	quota := g.policy.Quotas[contexts.FromLines]
	left := quota
	for _, p := range picks {
		t, ok := x.Turn(p.Turn)
		if _, found := g.found[p.Turn]; !ok || found || left == 0 {
			continue
		}
		c := g.candidate(&t)
		if c == nil {
			continue
		}
		from(c, contexts.FromLines, contexts.FeatureLine, dag.PPM(int(dag.One)*left/quota))
		c.Excerpt, c.Cost = &p.Excerpt, p.Cost
		left--
	}
}
