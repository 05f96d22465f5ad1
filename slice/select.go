package slice

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
)

// A Via says how selection first reached a turn. The zero value is none.
type Via uint8

// The ways to reach a turn. Stores keep these numbers.
const (
	ViaAnchor  Via = 1 // it is the anchor
	ViaParent  Via = 2 // it is a parent of the turn from which it was reached
	ViaChild   Via = 3 // it is a child of that turn
	ViaSibling Via = 4 // it shares a parent with that turn
	ViaPrompt  Via = 5 // it is the nearest ancestor of that turn in a person's voice, under gkp/3 of an owner or a member
	ViaTouch   Via = 6 // it touched a thing before that turn touched it
)

var viaNames = [...]string{ViaAnchor: "anchor", ViaParent: "parent", ViaChild: "child", ViaSibling: "sibling", ViaPrompt: "prompt", ViaTouch: "touch"}

// String returns the name of the way on the wire, or "" if it is unknown.
func (v Via) String() string {
	if int(v) < len(viaNames) {
		return viaNames[v]
	}
	return ""
}

// ParseVia reads the name of a way.
func ParseVia(s string) (Via, error) {
	if i := slices.Index(viaNames[1:], s); i >= 0 {
		return Via(i + 1), nil
	}
	return 0, fmt.Errorf("%w: via %.80q, want one of %q", dag.ErrForm, s, viaNames[1:])
}

// A Pick is a selected turn, with the reason.
type Pick struct {
	Node     dag.Node
	From     dag.Node // the turn from which it was reached; for the anchor, itself
	Score    policy.Score
	Distance int // the steps on the path by which it was first reached
	Via      Via
	Thing    uint8 // if ViaTouch: the index of the thing among the things of From
}

// ErrAnchor is wrapped when the view does not show the anchor, ErrCost when the anchor alone costs more than the policy
// allows.
var (
	ErrAnchor = errors.New("anchor is not in the view")
	ErrCost   = errors.New("the anchor costs more than max_cost")
)

// A MissingError reports that selection reached turns of conversations that are not in the graph. Add them and select
// again.
type MissingError struct {
	Conversations []dag.ConversationID // without repetitions
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("slice: %d conversations that the slice reaches are not loaded", len(e.Conversations))
}

// Select selects turns around an anchor, the best first (GKP/1, section 5). It returns them in the order of selection.
//
// It looks at the selected turns, their parents and children, and their parents' children: O(n log n) steps in their
// number, plus, for each selected turn, one step for each of its parents' children that rank among the first. If the
// policy uses marks, it also looks at the ancestors up to the nearest turn in a person's voice, each once, and at up to
// MaxTouching earlier turns for each thing. The children of one parent are ranked once for each distance, so that ten
// thousand children of one parent do not each look at all the others.
//
// A SlicePolicyV3 looks at what the turns that it reaches count for, which words says; nil is the words of the view where no standing policy was set. Other
// policies do not use words.
func Select(v dag.View, anchor dag.TurnID, params policy.SlicePolicy, words *standing.Words) ([]Pick, error) {
	if err := params.Check(); err != nil {
		return nil, err
	}
	s := selections.Get().(*selection)
	defer selections.Put(s)
	defer s.reset()
	picks, err := s.run(v, anchor, params.Walk(), words, nil)
	return slices.Clone(picks), err
}

// A candidate is a turn in the frontier or in a ranking of siblings.
type candidate struct {
	merit uint64 // score and distance combined: the greater is better
	key   uint64 // the beginning of the id, which resolves most ties without reading the node
	node  dag.Node
	from  dag.Node
	via   Via
	thing uint8
	of    dag.Standing // 0 if selection does not look at standings
}

// merit combines score and distance into one number: the highest score first, then the smallest distance. A score has
// 30 bits and a distance 7.
func merit(score policy.Score, distance int) uint64 { return uint64(score)<<8 | uint64(255-distance) }

func (c *candidate) score() policy.Score { return policy.Score(c.merit >> 8) }
func (c *candidate) distance() int       { return 255 - int(c.merit&255) }

// A selection is the working memory of one Select, which the next one reuses.
type selection struct {
	view     dag.View
	words    *standing.Words // nil: selection does not look at standings
	scorer   *policy.Scorer
	marked   []bool     // by node: whether it was visited
	touched  []dag.Node // the nodes that are marked
	frontier []candidate
	near     []dag.Node
	ranked   []candidate
	hubs     map[hub][]candidate
	stamps   []uint32 // by node: the last ranking of siblings that looked at it
	ranking  uint32
	missing  map[dag.ConversationID]struct{}
	picks    []Pick
	skipped  []dag.Node // candidates whose cost did not fit
	spine    spine
}

// A hub identifies the ranking of a turn's many children at one distance.
type hub struct {
	parent   dag.Node
	distance int
}

// hubSize is the number of children from which on their ranking is cached.
const hubSize = 64

var selections = sync.Pool{New: func() any {
	return &selection{hubs: map[hub][]candidate{}, missing: map[dag.ConversationID]struct{}{}, spine: spine{known: map[dag.Node]dag.Node{}}}
}}

func (s *selection) reset() {
	for _, n := range s.touched {
		s.marked[n] = false
	}
	s.touched, s.frontier, s.skipped = s.touched[:0], s.frontier[:0], s.skipped[:0]
	clear(s.spine.known)
	clear(s.hubs)
	clear(s.missing)
	s.view, s.scorer, s.words = dag.View{}, nil, nil
}

// run selects turns. If watch is not nil, run calls it with every candidate that enters the frontier. The picks are
// valid until reset.
func (s *selection) run(v dag.View, anchor dag.TurnID, p policy.Walk, words *standing.Words, watch func(candidate)) ([]Pick, error) {
	start, ok := v.Find(anchor)
	if !ok {
		return nil, fmt.Errorf("%w: turn %s, as of sequence number %d", ErrAnchor, anchor, v.Seq())
	}
	if p.Standings != nil {
		if s.words = words; words == nil {
			s.words = standing.WordsOf(v, nil)
		}
	}
	if p.Direction == policy.Past {
		v = v.Until(v.Admitted(start))
	}
	if p.MaxCost > 0 && v.Cost(start) > p.MaxCost {
		return nil, fmt.Errorf("%w: it costs %d, and the policy allows at most %d", ErrCost, v.Cost(start), p.MaxCost)
	}
	s.view, s.scorer = v, p.Scorer()
	if len(s.marked) < v.Len() {
		s.marked = make([]bool, v.Len()+v.Len()/4)
		s.stamps, s.ranking = make([]uint32, len(s.marked)), 0
	}
	picks, cost := s.picks[:0], 0
	s.visit(start, start, 0, ViaAnchor, watch)
	for len(s.frontier) > 0 && len(picks) < p.MaxNodes {
		c := s.pop()
		if p.MaxCost > 0 {
			if cost += v.Cost(c.node); cost > p.MaxCost {
				cost -= v.Cost(c.node)
				s.skipped = append(s.skipped, c.node)
				continue
			}
		}
		picks = append(picks, Pick{Node: c.node, From: c.from, Score: c.score(), Distance: c.distance(), Via: c.via, Thing: c.thing})
		if c.distance() < p.MaxRadius {
			s.visitNeighbours(&c, &p, watch)
		}
		if p.MaxSiblings > 0 && !c.leadsNowhere() {
			s.visitSiblings(&c, p.MaxSiblings, watch)
		}
	}
	s.picks = picks
	if len(s.missing) > 0 {
		return nil, &MissingError{Conversations: slices.SortedFunc(maps.Keys(s.missing), dag.ConversationID.Compare)}
	}
	return picks, nil
}

func (s *selection) visit(n, from dag.Node, distance int, via Via, watch func(candidate)) {
	s.visitBy(n, candidate{from: from, via: via}, distance, watch)
}

// visitBy is visit with From, Via and Thing taken from a candidate.
func (s *selection) visitBy(n dag.Node, way candidate, distance int, watch func(candidate)) {
	if s.marked[n] {
		return
	}
	s.marked[n] = true
	s.touched = append(s.touched, n)
	if !s.view.Present(n) {
		s.miss(n)
		return
	}
	c := s.candidate(n, distance)
	c.from, c.via, c.thing = way.from, way.via, way.thing
	if watch != nil {
		watch(c)
	}
	s.push(c)
}

func (s *selection) candidate(n dag.Node, distance int) candidate {
	id, of := s.view.ID(n), s.standing(n)
	var score policy.Score
	if of != 0 {
		score = s.scorer.ScoreOf(of, s.view.Phase(n), s.view.Salience(n), distance)
	} else {
		score = s.scorer.Score(s.view.Voice(n), s.view.Phase(n), s.view.Salience(n), distance)
	}
	return candidate{merit: merit(score, distance), key: binary.BigEndian.Uint64(id[:8]), node: n, of: of}
}

// standing returns the standing of a turn, or 0 if selection does not look at standings.
func (s *selection) standing(n dag.Node) dag.Standing {
	if s.words == nil {
		return 0
	}
	ruling, _ := s.words.Of(n)
	return ruling.Standing
}

// saysWhat reports whether a turn can be a prompt: whether it tells an agent what to do, or if selection does not look at standings, whether a person speaks.
func (s *selection) saysWhat(n dag.Node) bool {
	return s.view.Voice(n) == dag.VoicePerson && (s.words == nil || s.standing(n).Orders())
}

func (s *selection) miss(n dag.Node) {
	s.missing[s.view.Conversation(n)] = struct{}{}
}

// visitNeighbours visits parents, children if the policy also selects later turns, and then the turns that marks lead
// to. The frontier orders candidates totally, and no turn is both parent and child, so the order of visiting those does
// not matter and nothing is sorted here. Marks come last, so that an edge is the reason if both an edge and a mark lead
// to a turn. A guest's turn leads to its parents in its own conversation alone, unless it is the anchor.
func (s *selection) visitNeighbours(c *candidate, p *policy.Walk, watch func(candidate)) {
	for i := range s.view.ParentCount(c.node) {
		if parent, _, _ := s.view.Parent(c.node, i); s.leadsTo(c.node, c.of, parent) {
			s.visit(parent, c.node, c.distance()+1, ViaParent, watch)
		}
	}
	if c.leadsNowhere() {
		return
	}
	if p.Direction != policy.Past {
		s.near = s.view.AppendChildren(s.near[:0], c.node)
		for _, child := range s.near {
			s.visit(child, c.node, c.distance()+1, ViaChild, watch)
		}
	}
	if p.Spine {
		if prompt := s.prompt(c.node); prompt != noNode {
			s.visit(prompt, c.node, c.distance()+1, ViaPrompt, watch)
		}
	}
	if p.MaxTouching > 0 {
		s.visitTouching(c, p.MaxTouching, watch)
	}
}

// leadsTo reports whether a turn leads to its parent. Whoever brings a turn chooses its parents, so a guest's turn leads to none of another conversation.
func (s *selection) leadsTo(n dag.Node, of dag.Standing, parent dag.Node) bool {
	return of != dag.StandingGuest || s.view.Conversation(parent) == s.view.Conversation(n)
}

// leadsNowhere reports whether a turn that was selected leads to nothing but its parents.
func (c *candidate) leadsNowhere() bool {
	return c.via != ViaAnchor && c.of == dag.StandingGuest
}

// visitSiblings visits the best turns that share a parent with c. Turns that were visited before still count among the
// best.
func (s *selection) visitSiblings(c *candidate, most int, watch func(candidate)) {
	s.ranked = s.ranked[:0]
	if s.ranking++; s.ranking == 0 { // it overflows after four thousand million rankings
		clear(s.stamps)
		s.ranking = 1
	}
	s.stamps[c.node] = s.ranking // c is not its own sibling
	for i := range s.view.ParentCount(c.node) {
		parent, _, _ := s.view.Parent(c.node, i)
		if !s.leadsTo(c.node, c.of, parent) {
			continue
		}
		if !s.view.Present(parent) {
			s.miss(parent) // its other children are unknown
			continue
		}
		s.rankChildren(parent, c, most)
	}
	for _, sibling := range s.ranked {
		s.visit(sibling.node, c.node, c.distance(), ViaSibling, watch)
	}
}

// rankChildren merges the best children of parent, except c, into s.ranked.
func (s *selection) rankChildren(parent dag.Node, c *candidate, most int) {
	kept, ok := s.hubs[hub{parent, c.distance()}]
	if !ok {
		s.near = s.view.AppendChildren(s.near[:0], parent)
		if len(s.near) < hubSize {
			for _, n := range s.near {
				s.rank(n, c, most)
			}
			return
		}
		// One more than most, because c itself may be among them.
		for _, n := range s.near {
			if s.present(n) {
				kept = insertRanked(kept, s.candidate(n, c.distance()), most+1, s.view)
			}
		}
		s.hubs[hub{parent, c.distance()}] = kept
	}
	for _, k := range kept {
		if s.fresh(k.node) {
			s.ranked = insertRanked(s.ranked, k, most, s.view)
		}
	}
}

func (s *selection) rank(n dag.Node, c *candidate, most int) {
	if s.fresh(n) && s.present(n) {
		s.ranked = insertRanked(s.ranked, s.candidate(n, c.distance()), most, s.view)
	}
}

// fresh reports whether a turn has not been looked at in this ranking, and stamps it. Turns that share many parents
// would otherwise be looked at once for each parent.
func (s *selection) fresh(n dag.Node) bool {
	if s.stamps[n] == s.ranking {
		return false
	}
	s.stamps[n] = s.ranking
	return true
}

func (s *selection) present(n dag.Node) bool {
	if s.view.Present(n) {
		return true
	}
	s.miss(n)
	return false
}

// insertRanked inserts a candidate into an ordered list of the best candidates of one distance, without repetitions.
// most is the maximum length of the list. A candidate that is not among the best costs one comparison.
func insertRanked(ranked []candidate, c candidate, most int, v dag.View) []candidate {
	if len(ranked) == most && !before(c, ranked[most-1], v) {
		return ranked
	}
	at := len(ranked)
	for at > 0 && before(c, ranked[at-1], v) {
		at--
	}
	if at > 0 && ranked[at-1].node == c.node {
		return ranked
	}
	if len(ranked) == most {
		ranked = ranked[:most-1]
	}
	return slices.Insert(ranked, at, c)
}

// before is the total order in which candidates leave the frontier: highest score, smallest distance, smallest id.
func before(a, b candidate, v dag.View) bool {
	switch {
	case a.merit != b.merit:
		return a.merit > b.merit
	case a.key != b.key:
		return a.key < b.key
	}
	return v.ID(a.node).Compare(v.ID(b.node)) < 0
}

// push and pop maintain the frontier as a binary heap. (container/heap boxes each candidate, which costs more than the
// rest of a selection.)
func (s *selection) push(c candidate) {
	s.frontier = append(s.frontier, c)
	h, i := s.frontier, len(s.frontier)-1
	for i > 0 {
		up := (i - 1) / 2
		if !before(c, h[up], s.view) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = c
}

func (s *selection) pop() candidate {
	h := s.frontier
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	s.frontier = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if right := down + 1; right < len(h) && before(h[right], h[down], s.view) {
			down = right
		}
		if !before(h[down], last, s.view) {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = last
	return top
}
