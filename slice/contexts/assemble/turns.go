package assemble

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/quote"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// A turnSource finds the candidates that are turns: by a search for the task, and around the anchor.
type turnSource struct {
	*view
	within  map[dag.ConversationID]bool // the conversations in the folders of the bounds; nil: all
	without map[dag.ConversationID]bool
	given   *retrieval.Statistics // used by the search instead of the index's own statistics; nil: none
	took    *retrieval.Statistics // used by the search; nil: there was no search
	share   dag.PPM               // by which features of the anchor's conversation are multiplied, see shareOf
	found   map[dag.TurnID]*gatheredTurn

	// Under gkc/2.
	counted map[dag.TurnID]counted         // the standings of turns; includes every turn of another role than assistant in the lineage
	calls   []slice.Call                   // of the agent in the anchor's conversation, the newest first; nil under version 1
	less    map[dag.TurnID]dag.PPM         // by turn, of calls and results that no longer hold: how much less they are worth
	lasts   map[dag.ConversationID]dag.Seq // by conversation: the sequence number of its last turn at rulesAsOf
	lineage []dag.ConversationID           // the anchor's conversation, the conversation from which it was spawned, and so on
}

// A counted is a ruling with the index of the setting that decides.
type counted struct {
	standing.Ruling
	setting int
}

// A gatheredTurn is a candidate that is a turn, with the place of its text.
type gatheredTurn struct {
	contexts.Candidate
	id           dag.TurnID
	conversation dag.ConversationID
	createdAt    dag.Time
	terms        []int32 // from the index, if turns are compared
	byAgent      bool    // its role is assistant
	print        uint64  // under gkc/2: a hash of its terms and cost, equal for equal texts
}

// mostLineage is the maximum length of a lineage.
const mostLineage = 16

// count finds the lineage of the anchor's conversation, the standings of its turns of other roles than assistant, and the agent's calls.
func (g *turnSource) count(ctx context.Context, words Words) error {
	if g.anchor == nil || !g.asked.Counted() {
		return nil
	}
	for next, more := g.anchor.Turn.Conversation, true; more && !slices.Contains(g.lineage, next) && len(g.lineage) < mostLineage; {
		g.lineage = append(g.lineage, next)
		var turns []dag.TurnID
		var last dag.Seq
		err := words.Read(ctx, g.rulesAsOf(), g.head, func(x *retrieval.Index) {
			for t := range x.Conversation(next, g.rulesAsOf()) {
				last = max(last, t.Seq)
				if t.Seq <= g.AsOf && t.Role != dag.RoleAssistant {
					turns = append(turns, t.ID)
				}
			}
		})
		if err != nil {
			return err
		}
		spoken, err := g.epoch.Spoken(ctx, g.tenant, next, last, g.Reading)
		if err != nil {
			return err
		}
		for _, id := range turns {
			if err := g.countOne(spoken, id); err != nil {
				return err
			}
		}
		if next == g.anchor.Turn.Conversation {
			if err := g.countCalls(ctx, spoken); err != nil {
				return err
			}
		}
		next, more = spoken.Spawner(g.course)
	}
	return nil
}

// countCalls finds the calls of the agent in the anchor's conversation, under version 2.
func (g *turnSource) countCalls(ctx context.Context, spoken *standing.Spoken) error {
	if g.policy.Version < 2 {
		return nil
	}
	calls, err := g.epoch.Calls(ctx, g.tenant, g.anchor.Turn.Conversation, g.AsOf)
	if err != nil {
		return err
	}
	for i := range calls {
		if err := g.countOne(spoken, calls[i].ID); err != nil {
			return err
		}
		if g.counted[calls[i].ID].Standing == dag.StandingAgent {
			g.calls = append(g.calls, calls[i])
		}
	}
	return nil
}

// countOne sets the standing of a turn of a conversation.
func (g *turnSource) countOne(spoken *standing.Spoken, id dag.TurnID) error {
	of, setting, ok := spoken.Of(id, g.course)
	if !ok {
		return fmt.Errorf("%w: turn %s is in the index and not in the graph", store.ErrDamaged, id)
	}
	g.counted[id] = counted{of, setting}
	return nil
}

// lets reports whether the bounds allow turns of a conversation.
func (g *turnSource) lets(c dag.ConversationID) bool {
	return (g.within == nil || g.within[c]) && !g.without[c]
}

// gather gathers the candidates of every source of turns that the policy uses.
func (g *turnSource) gather(ctx context.Context, words Words, search *retrieval.Policy) error {
	var cut *slice.Slice
	if g.anchor != nil && g.policy.Quotas[contexts.FromSlice] > 0 {
		p, err := g.epoch.Policy(ctx, g.tenant, g.policy.Slice)
		if err != nil {
			return err
		}
		if cut, err = g.epoch.Slice(ctx, g.tenant, g.anchor.Turn.ID, p, g.Vantage); err != nil {
			return err
		}
	}
	lines, err := lineSource{g}.pickLines(ctx, words)
	if err != nil {
		return err
	}
	var wrong error
	err = words.Read(ctx, g.rulesAsOf(), g.head, func(x *retrieval.Index) {
		g.bound(x)
		q := retrieval.Query{Text: g.asked.Task, AsOf: g.AsOf, Within: g.within, Except: g.without}
		if search.Dense.Embedder != retrieval.NoEmbedder {
			q.Vector, wrong = words.Vector(ctx, x.Bare(search, &q))
		}
		if wrong == nil {
			g.fromIndex(x, search, &q, cut, lines)
		}
	})
	return cmp.Or(err, wrong)
}

// fromIndex gathers candidates from an index.
func (g *turnSource) fromIndex(x *retrieval.Index, search *retrieval.Policy, q *retrieval.Query, cut *slice.Slice, lines []quote.Line) {
	if g.anchor != nil {
		g.fromConversation(x.Conversation(g.anchor.Turn.Conversation, g.AsOf))
		g.fromCalls(x)
		g.fromSystem(x)
	}
	if cut != nil {
		g.fromSlice(x, cut)
	}
	g.fromSearch(x, search, q)
	g.fromLines(x, lines)
	compares := g.compares()
	for _, c := range g.found {
		if compares {
			c.terms = slices.Clone(x.Terms(c.id)) // an erasure changes the terms in the index
		}
		if c.byAgent && g.asked.Counted() {
			c.print = printOf(x.Terms(c.id), c.Cost)
		}
		if _, known := g.lasts[c.conversation]; !known && g.asked.Counted() {
			for t := range x.Conversation(c.conversation, g.rulesAsOf()) {
				g.lasts[c.conversation] = t.Seq
				break
			}
		}
		c.Features[contexts.FeatureSuperseded] = dag.PPM(uint64(g.share) * uint64(g.less[c.id]) / uint64(dag.One))
		if g.policy.Version >= 2 && g.anchor != nil && c.conversation == g.anchor.Turn.Conversation && !c.From[contexts.FromPrompts] { // a person's words count whole
			c.Features[contexts.FeatureLength] = dag.PPM(uint64(g.share) * uint64(min(c.Cost, g.asked.Budget)) / uint64(g.asked.Budget))
		}
		c.Features[contexts.FeatureRecency] = retrieval.Halved(int64(g.reference)-int64(c.createdAt), g.policy.HalfLife)
	}
}

// printOf returns the FNV-1a hash of a cost and terms. Texts that are equal have equal prints.
func printOf(terms []int32, cost int) uint64 {
	h := fnv.New64a()
	b := binary.BigEndian.AppendUint64(nil, uint64(cost))
	for _, t := range terms {
		b = binary.BigEndian.AppendUint32(b, uint32(t))
	}
	_, _ = h.Write(b) // a hash never fails
	return h.Sum64()
}

// candidate is like add, but returns nil for a turn that is out of bounds.
func (g *turnSource) candidate(t *retrieval.Turn) *contexts.Candidate {
	if !g.lets(t.Conversation) {
		return nil
	}
	return g.add(t)
}

// add returns the candidate of a turn, and adds it if necessary. It returns nil if the turn has no text or no words, or came later.
func (g *turnSource) add(t *retrieval.Turn) *contexts.Candidate {
	if c, ok := g.found[t.ID]; ok {
		return &c.Candidate
	}
	if t.Withheld || t.Silent || t.Seq > g.AsOf {
		return nil
	}
	c := &gatheredTurn{
		Candidate: contexts.Candidate{Kind: contexts.KindTurn, ID: t.ID.String(), Leaf: t.Leaf, Seq: t.Seq, Cost: (t.Size + 3) / 4},
		id:        t.ID, conversation: t.Conversation, createdAt: t.CreatedAt, byAgent: t.Role == dag.RoleAssistant,
	}
	c.Features[contexts.FeatureSalience] = t.Salience
	g.found[t.ID] = c
	return &c.Candidate
}

// from adds a source to a candidate, with the feature that the source sets. c may be nil.
func from(c *contexts.Candidate, s contexts.Source, f contexts.Feature, v dag.PPM) {
	if c != nil {
		c.From[s] = true
		c.Features[f] = v
	}
}

// prompts reports whether a turn is a prompt: it counts as an owner's or a member's word. Under gkc/1 it is a person's: it has the role user, is not marked as brought by another credential, and its author is not a
// program. Under dag.ReadAsMarked the author is ignored.
func (g *turnSource) prompts(t *retrieval.Turn) bool {
	if g.asked.Counted() {
		return (t.Role == dag.RoleUser || g.policy.Version >= 2 && t.Role == dag.RoleTool) && g.counted[t.ID].Standing.Orders()
	}
	return t.Role == dag.RoleUser && !t.Labels.Brought() && (g.Reading == dag.ReadAsMarked || !ingest.ByProgram(t.Author))
}

// shareOf returns the share of a conversation's text that decides how much its prompts, calls, last turns and slice are worth, in ppm. Under version 2 it is what is
// in calls and in what tools returned: in an agent's session people write little, and their prompts determine the subject of the rest, while in a chat with a model
// or among people a prompt is worth no more than its answer, and the share is 0. Without a task nothing else is found, and it is 1. Under version 1 it is all text
// that no person said.
func (g *turnSource) shareOf(turns iter.Seq[*retrieval.Turn]) dag.PPM {
	if g.policy.Version >= 2 && g.asked.Task == "" {
		return dag.One
	}
	calls := make(map[dag.TurnID]bool, len(g.calls))
	for i := range g.calls {
		calls[g.calls[i].ID] = true
	}
	all, part := 0, 0
	for t := range turns {
		all += t.Size
		if !g.prompts(t) && (g.policy.Version < 2 || calls[t.ID] || t.Role == dag.RoleTool) {
			part += t.Size
		}
	}
	if all == 0 {
		return 0
	}
	return dag.PPM(uint64(dag.One) * uint64(part) / uint64(all))
}

// leastRecent is the least share of the last turns, under version 2: what was just said is there even where little was done, if there is room.
const leastRecent = 6_000

// wordless is what the last turns have of their share that are calls, results and reasoning alone, under version 2.
const wordless = 500_000

// fromConversation gathers the last turns of the anchor's conversation, and the last prompts in it. Under version 2 a third of the quota of last turns is for what the agent said last
// before each prompt that came earlier: what it found out, and what it asked. turns yields the newest turn first.
func (g *turnSource) fromConversation(turns iter.Seq[*retrieval.Turn]) {
	g.share = g.shareOf(turns)
	weight, recent, kept := uint64(g.share), uint64(g.share), uint64(dag.One)
	last, most, answers := g.policy.Quotas[contexts.FromRecent], g.policy.Quotas[contexts.FromPrompts], 0
	if g.policy.Version >= 2 {
		recent, kept, answers = max(recent, leastRecent), wordless, last/3
		last -= answers
	}
	lasts, answered := last, answers
	prompted := false // there was no word of the agent since the last prompt that was looked at
	for t := range turns {
		if last <= 0 && most <= 0 && answers <= 0 {
			break
		}
		said := t.Role == dag.RoleAssistant && t.Says
		switch {
		case last > 0:
			share := recent * uint64(last) / uint64(lasts)
			if !said && !g.prompts(t) {
				share = share * kept / uint64(dag.One)
			}
			from(g.candidate(t), contexts.FromRecent, contexts.FeatureRecent, dag.PPM(share))
			last--
		case answers > 0 && prompted && said:
			from(g.candidate(t), contexts.FromRecent, contexts.FeatureRecent, dag.PPM(recent*uint64(answers)/uint64(answered)))
			answers--
		}
		if prompt := g.prompts(t); prompt || said {
			prompted = prompt
			if prompt && most > 0 {
				from(g.candidate(t), contexts.FromPrompts, contexts.FeaturePrompt, dag.PPM(weight))
				most--
			}
		}
	}
}

// fromCalls gathers the last calls of the agent in the anchor's conversation, the newest first, each with its results, up to the quota.
func (g *turnSource) fromCalls(x *retrieval.Index) {
	quota := g.policy.Quotas[contexts.FromCalls]
	left := quota
	calls := g.calls[:min(len(g.calls), quota)]
	g.supersede(x, calls)
	for n := 0; n < len(calls) && left > 0; n++ {
		share := dag.PPM(uint64(g.share) * uint64(quota-n) / uint64(quota))
		left -= g.fromCall(x, calls[n].ID, contexts.FeatureCall, share)
		for _, r := range calls[n].Results {
			if left > 0 && g.counted[r].Standing == dag.StandingOutside {
				left -= g.fromCall(x, r, contexts.FeatureResult, share)
			}
		}
	}
}

// fromCall gathers a call or a result, and returns how many candidates have come from calls. A result of several calls has the share of the newest, which comes first. What is
// worthless comes from no call.
func (g *turnSource) fromCall(x *retrieval.Index, id dag.TurnID, f contexts.Feature, share dag.PPM) int {
	t, ok := x.Turn(id)
	if !ok || g.less[id] == worthless {
		return 0
	}
	c := g.candidate(&t)
	if c == nil || c.From[contexts.FromCalls] {
		return 0
	}
	from(c, contexts.FromCalls, f, share)
	return 1
}

// How much less calls and results are worth that no longer hold, in ppm.
const (
	worthless = dag.One         // what writing returned, since the call says it; a write that failed and was done later, and that failure
	undone    = dag.One / 4 * 3 // a write that failed: its result, which says so, comes before it
	outdated  = dag.One / 8     // what was read of things that were all written later: with these writes it says how they are now
)

// supersede finds out which calls and results no longer hold. calls begin with the newest. A call that a person answered in the place of its result holds, since the answer
// says what became of it. A result of several calls is worth what it is worth for the best of them.
func (g *turnSource) supersede(x *retrieval.Index, calls []slice.Call) {
	g.less = map[dag.TurnID]dag.PPM{}
	lower := func(c *slice.Call, call, results dag.PPM) {
		g.less[c.ID] = call
		for _, r := range c.Results {
			less := results
			if known, ok := g.less[r]; ok {
				less = min(less, known)
			}
			g.less[r] = less
		}
	}
	written := map[dag.Thing]bool{} // by later calls
	for i := range calls {
		c := &calls[i]
		t, _ := x.Turn(c.ID)
		again := !slices.ContainsFunc(c.Things, func(thing dag.Thing) bool { return !written[thing] })
		switch failed, answered := g.outcome(x, c); {
		case answered:
			lower(c, 0, 0)
		case t.Writes && failed && again:
			lower(c, worthless, worthless)
		case t.Writes && failed:
			lower(c, undone, 0)
		case t.Writes:
			lower(c, 0, worthless)
			for _, thing := range c.Things {
				written[thing] = true
			}
		case again:
			lower(c, 0, outdated)
		default:
			lower(c, 0, 0)
		}
	}
}

// outcome reports whether all results of a call say that it failed, and whether a person answered in the place of one.
func (g *turnSource) outcome(x *retrieval.Index, c *slice.Call) (failed, answered bool) {
	failed = len(c.Results) > 0
	for _, r := range c.Results {
		t, _ := x.Turn(r)
		failed = failed && t.Fails
		answered = answered || g.counted[r].Standing.Orders()
	}
	return failed, answered
}

// fromSystem gathers the turns of standing system in the lineage. They are constraints even if their conversation is out of bounds.
func (g *turnSource) fromSystem(x *retrieval.Index) {
	if g.policy.Quotas[contexts.FromConstraints] == 0 {
		return
	}
	for _, conversation := range g.lineage {
		for t := range x.Conversation(conversation, g.AsOf) {
			if g.counted[t.ID].Standing != dag.StandingSystem {
				continue
			}
			if c := g.add(t); c != nil {
				c.From[contexts.FromConstraints] = true
			}
		}
	}
}

// fromSlice gathers the turns of the slice around the anchor, the best first.
func (g *turnSource) fromSlice(x *retrieval.Index, cut *slice.Slice) {
	turns := slices.Clone(cut.Turns)
	slices.SortFunc(turns, func(a, b slice.Selected) int {
		return cmp.Or(cmp.Compare(b.Admission.Score, a.Admission.Score), a.ID.Compare(b.ID))
	})
	most := turns[0].Admission.Score
	for i := range turns[:min(len(turns), g.policy.Quotas[contexts.FromSlice])] {
		t, ok := x.Turn(turns[i].ID)
		if !ok {
			continue
		}
		share := g.share
		if most > 0 {
			share = dag.PPM(uint64(turns[i].Admission.Score) * uint64(g.share) / uint64(most))
		}
		from(g.candidate(&t), contexts.FromSlice, contexts.FeatureSlice, share)
	}
}

// fromSearch gathers the best hits. Every candidate gets its score in the search, whatever its source.
func (g *turnSource) fromSearch(x *retrieval.Index, p *retrieval.Policy, q *retrieval.Query) {
	if g.asked.Task == "" {
		return
	}
	quota := g.policy.Quotas[contexts.FromSearch]
	q.Limit, q.Also = max(quota, 1), slices.Collect(maps.Keys(g.found))
	found := x.SearchWith(p, q, g.given)
	g.took = &found.Statistics
	most := max(found.Statistics.Best, 1)
	share := func(score int64) dag.PPM { return dag.PPM(uint64(min(score, most)) * uint64(dag.One) / uint64(most)) }
	for i, id := range q.Also {
		g.found[id].Features[contexts.FeatureTask] = share(found.Also[i])
	}
	for i := range found.Hits[:min(len(found.Hits), quota)] {
		h := &found.Hits[i]
		from(g.candidate(&h.Turn), contexts.FromSearch, contexts.FeatureTask, share(h.Score))
	}
}
