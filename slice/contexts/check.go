package contexts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/standing"
)

// The checks of a context that a slice of turns does not have. The other checks have the names and meanings of package
// slice.
const (
	CheckCandidates slice.CheckID = "candidates" // every candidate is in the view and has a source, and no source exceeds its quota
	CheckTexts      slice.CheckID = "texts"      // the leaf of every turn binds its text, and every chosen text has its candidate's leaf and cost
	CheckSelection  slice.CheckID = "selection"  // repeating the choice from the candidates returns the same turns, facts and beliefs
	CheckPrompt     slice.CheckID = "prompt"     // rendering again produces a prompt with the claimed cost and HMAC
	CheckRequest    slice.CheckID = "request"    // anchor_turn_id is the anchor of the request
)

// Checks lists the checks of Bundle.Check, in their order.
var Checks = [...]slice.CheckID{
	slice.CheckCanonicalOrder, CheckCandidates, CheckTexts, CheckSelection, CheckPrompt, CheckRequest,
	slice.CheckPolicyHash, slice.CheckSnapshot, slice.CheckSliceID,
}

// Check recomputes from the bundle's body everything that its header claims, and returns one result for each of Checks,
// even if some fail. It does not check the token. It cannot check that no candidate is missing, or that the features
// come from a search and a slice; until a replay, that is the kernel's word.
func (b *Bundle) Check() []slice.Check {
	want, got := b.fingerprint(b.candidateLeaves()), &b.Provenance
	j := judge{b}
	return []slice.Check{
		j.checkCanonicalOrder(), j.checkCandidates(true), j.checkTexts(), j.checkSelection(), j.checkPrompt(), j.checkRequest(want.Anchor),
		slice.Compared(slice.CheckPolicyHash, want.PolicyParamsHash, got.PolicyParamsHash),
		slice.Compared(slice.CheckSnapshot, want.GraphSnapshotHash, got.GraphSnapshotHash),
		slice.Compared(slice.CheckSliceID, want.SliceID, got.SliceID),
	}
}

// A judge makes the checks of a bundle.
type judge struct{ *Bundle }

func (b judge) checkCanonicalOrder() slice.Check {
	bad := func(format string, args ...any) slice.Check {
		return slice.Failed(slice.CheckCanonicalOrder, "", "", format, args...)
	}
	for i := 1; i < len(b.Candidates); i++ {
		if b.Candidates[i-1].compare(&b.Candidates[i]) >= 0 {
			return bad("candidates[%d]: %s %s does not come after %s", i, b.Candidates[i].Kind, b.Candidates[i].ID, b.Candidates[i-1].ID)
		}
	}
	for i, o := range b.Overlaps {
		if o.First >= o.Second {
			return bad("overlaps[%d]: %d is not below %d", i, o.First, o.Second)
		}
		if i > 0 {
			if p := b.Overlaps[i-1]; p.First > o.First || p.First == o.First && p.Second >= o.Second {
				return bad("overlaps[%d] does not come after the overlap before it", i)
			}
		}
	}
	for i := 1; i < len(b.Turns); i++ {
		if b.Turns[i-1].ID.Compare(b.Turns[i].ID) >= 0 {
			return bad("turns[%d]: %s does not come after %s", i, b.Turns[i].ID, b.Turns[i-1].ID)
		}
	}
	for i := 1; i < len(b.Facts); i++ {
		if x, y := b.Facts[i-1].Fact.ID().String(), b.Facts[i].Fact.ID().String(); x >= y {
			return bad("facts[%d]: statement %s does not come after %s", i, y, x)
		}
	}
	for i := 1; i < len(b.Beliefs); i++ {
		if x, y := b.Beliefs[i-1].Address().String(), b.Beliefs[i].Address().String(); x >= y {
			return bad("beliefs[%d]: %s does not come after %s", i, y, x)
		}
	}
	return slice.Passed(slice.CheckCanonicalOrder, "%d candidates, %d turns, %d facts, %d beliefs", len(b.Candidates), len(b.Turns), len(b.Facts), len(b.Beliefs))
}

// gives lists the kinds of candidates that each source finds, and has the features that each kind can have.
var (
	gives = [Sources][]Kind{
		FromBeliefs: {KindBelief}, FromCalls: {KindTurn}, FromConstraints: {KindBelief}, FromFacts: {KindBelief, KindFact},
		FromLines: {KindTurn}, FromPrompts: {KindTurn}, FromRecent: {KindTurn}, FromRemembered: {KindBelief}, FromSearch: {KindTurn}, FromSlice: {KindTurn},
	}
	has = map[Kind][]Feature{
		KindBelief: {FeatureConfidence, FeatureContested, FeatureEvidence, FeatureLine, FeatureTask},
		KindFact:   {FeatureConfidence, FeatureEvidence, FeatureTask},
		KindTurn:   {FeatureCall, FeatureLength, FeatureLine, FeaturePrompt, FeatureRecency, FeatureRecent, FeatureResult, FeatureSalience, FeatureSlice, FeatureSuperseded, FeatureTask},
	}
)

// checkCandidates checks the candidates and their standings. If whole is false, the bundle lacks its settings, and they are not checked.
func (b judge) checkCandidates(whole bool) slice.Check {
	if wrong := b.checkSettings(); whole && wrong != "" {
		return slice.Failed(CheckCandidates, "", "", "%s", wrong)
	}
	var given [Sources]int
	for i := range b.Candidates {
		c := &b.Candidates[i]
		if wrong := b.outside(c); wrong != "" {
			return slice.Failed(CheckCandidates, "", "", "candidates[%d], %s %s: %s", i, c.Kind, c.ID, wrong)
		}
		for s, from := range c.From {
			if from {
				given[s]++
			}
		}
	}
	for s, n := range given {
		if quota := b.Policy.Quotas[s]; n > quota {
			return slice.Failed(CheckCandidates, fmt.Sprint(quota), fmt.Sprint(n), "more candidates of source %s than its quota", Source(s))
		}
	}
	return slice.Passed(CheckCandidates, "%d", len(b.Candidates))
}

// outside returns why a candidate is not valid, or "".
func (b judge) outside(c *Candidate) string {
	last := b.AsOf
	if b.Request.Counted() && c.Kind == KindBelief {
		last = b.Request.RulesAsOf
	}
	if c.Seq == 0 || c.Seq > last {
		return fmt.Sprintf("it has number %d, but the view ends at %d", c.Seq, last)
	}
	if c.From == [Sources]bool{} {
		return "it names no source"
	}
	for s, from := range c.From {
		if from && !slices.Contains(gives[s], c.Kind) && !(b.Request.Counted() && Source(s) == FromConstraints && c.Kind == KindTurn) {
			return fmt.Sprintf("source %s never has candidates of its kind", Source(s))
		}
	}
	for i, f := range c.Features {
		feature := Feature(i)
		switch {
		case f == 0:
		case since(features[i]) > b.Policy.Version:
			return fmt.Sprintf("it has the feature %s, and a policy of type %s has no such feature", feature, b.Policy.Type())
		case !slices.Contains(has[c.Kind], feature):
			return fmt.Sprintf("it has the feature %s, which no candidate of its kind has", feature)
		case feature == FeaturePrompt && !c.From[FromPrompts], (feature == FeatureCall || feature == FeatureResult) && !c.From[FromCalls], feature == FeatureSlice && !c.From[FromSlice], feature == FeatureRecent && !c.From[FromRecent]:
			return fmt.Sprintf("it has the feature %s with %d ppm, but does not come from that source", feature, f)
		case feature == FeatureLine && !c.From[FromLines] && !c.From[FromRemembered]:
			return fmt.Sprintf("it has the feature %s, but comes neither from %s nor from %s", feature, FromLines, FromRemembered)
		case feature == FeatureLength && c.From[FromPrompts]:
			return fmt.Sprintf("it has the feature %s and comes from prompts, which count whole", feature)
		}
	}
	if c.Excerpt != nil && !c.From[FromLines] {
		return fmt.Sprintf("it has an excerpt, but does not come from %s", FromLines)
	}
	if !c.counts() {
		return ""
	}
	switch orders := c.Standing == dag.StandingOwner || c.Standing == dag.StandingMember; {
	case c.Mandatory() && c.Kind == KindTurn && c.Standing != dag.StandingSystem, c.Mandatory() && c.Kind == KindBelief && !orders:
		return fmt.Sprintf("it has the standing %s and is a constraint", c.Standing)
	case c.Features[FeaturePrompt] > 0 && !orders:
		return fmt.Sprintf("it has the standing %s and the feature %s", c.Standing, FeaturePrompt)
	case c.Excerpt != nil && c.Excerpt.As.byPerson() != orders || c.Excerpt != nil && !orders && c.Standing != dag.StandingAgent, c.From[FromRemembered] && !orders:
		return fmt.Sprintf("it has the standing %s, which is not that of a line of a brief", c.Standing)
	case c.Features[FeatureCall] > 0 && c.Standing != dag.StandingAgent:
		return fmt.Sprintf("it has the standing %s and the feature %s", c.Standing, FeatureCall)
	case c.Features[FeatureResult] > 0 && c.Standing != dag.StandingOutside:
		return fmt.Sprintf("it has the standing %s and the feature %s", c.Standing, FeatureResult)
	case c.Features[FeatureSuperseded] > 0 && c.Standing != dag.StandingAgent && c.Standing != dag.StandingOutside:
		return fmt.Sprintf("it has the standing %s and the feature %s", c.Standing, FeatureSuperseded)
	}
	return ""
}

// checkSettings returns why the settings are not valid, or "".
func (b judge) checkSettings() string {
	if !b.Request.Counted() {
		return ""
	}
	for i := range b.Settings {
		switch after := b.Settings[i].After; {
		case after > b.Request.RulesAsOf:
			return fmt.Sprintf("standings[%d] was set after number %d, but the rules are as of number %d", i, after, b.Request.RulesAsOf)
		case i > 0 && b.Settings[i-1].After >= after:
			return fmt.Sprintf("standings[%d] does not come after the one before it", i)
		}
	}
	decides := make([]bool, len(b.Settings))
	for i := range b.Candidates {
		c := &b.Candidates[i]
		if !c.counts() {
			continue
		}
		if int(c.Setting) >= len(decides) {
			return fmt.Sprintf("candidates[%d], %s %s counts by standings[%d], and there are %d", i, c.Kind, c.ID, c.Setting, len(decides))
		}
		decides[c.Setting] = true
	}
	if i := slices.Index(decides, false); i >= 0 {
		return fmt.Sprintf("no candidate counts by standings[%d]", i)
	}
	return ""
}

// candidate returns the candidate with a kind and an id, or nil.
func (ch *Choice) candidate(k Kind, id string) *Candidate {
	want := Candidate{Kind: k, ID: id}
	at, ok := slices.BinarySearchFunc(ch.Candidates, want, func(c, d Candidate) int { return c.compare(&d) })
	if !ok {
		return nil
	}
	return &ch.Candidates[at]
}

func (b judge) checkTexts() slice.Check {
	bad := func(where, id, wrong string) slice.Check {
		return slice.Failed(CheckTexts, "", "", "%s %s: %s", where, id, wrong)
	}
	for i := range b.Turns {
		t := &b.Turns[i]
		id := t.ID.String()
		c := b.candidate(KindTurn, id)
		switch {
		case !t.bound():
			return bad("turn", id, notBound)
		case c == nil:
			return bad("turn", id, "it is not a candidate")
		case c.Leaf != slice.TurnLeaf(&t.Turn):
			return bad("turn", id, "its leaf differs from the candidate's")
		case c.Excerpt != nil && c.Excerpt.misfit(t.Body.Content) != "":
			return bad("turn", id, c.Excerpt.misfit(t.Body.Content))
		case c.Cost != Tokens((&Piece{Candidate: c, Turn: t}).content()):
			return bad("turn", id, fmt.Sprintf("its text costs %d tokens, but the cost of the candidate is %d", Tokens((&Piece{Candidate: c, Turn: t}).content()), c.Cost))
		case !b.Request.Counted() && c.Features[FeaturePrompt] > 0 && (t.Role != dag.RoleUser || t.Body.Brought()):
			return bad("turn", id, "it is not a prompt of a user")
		case b.Request.Counted() && !slices.Contains(possible(t), c.Standing):
			return bad("turn", id, fmt.Sprintf("it has the standing %s, which no such turn of role %s can have", c.Standing, t.Role))
		case c.Features[FeatureCall] > 0 && t.Role != dag.RoleAssistant, c.Features[FeatureResult] > 0 && t.Role != dag.RoleTool,
			c.Features[FeatureSuperseded] > 0 && t.Role != dag.RoleAssistant && t.Role != dag.RoleTool:
			return bad("turn", id, fmt.Sprintf("it has the role %s, and is not what its features say", t.Role))
		case c.Features[FeatureSalience] != t.Salience:
			return bad("turn", id, "its salience differs from the candidate's")
		}
	}
	for i := range b.Facts {
		act := &b.Facts[i]
		id := act.Fact.ID().String()
		c := b.candidate(KindFact, id)
		switch text := FactText(act); {
		case c == nil:
			return bad("fact", id, "it is not a candidate")
		case c.Leaf != act.Leaf():
			return bad("fact", id, "its leaf differs from the candidate's")
		case c.Cost != Tokens(text):
			return bad("fact", id, fmt.Sprintf("its text costs %d tokens, but the cost of the candidate is %d", Tokens(text), c.Cost))
		case c.Features[FeatureConfidence] != act.Fact.Confidence:
			return bad("fact", id, "its confidence differs from the candidate's")
		}
	}
	for i := range b.Beliefs {
		r := &b.Beliefs[i]
		id := r.Address().String()
		c := b.candidate(KindBelief, id)
		switch text := BeliefText(r); {
		case c == nil:
			return bad("belief", id, "it is not a candidate")
		case c.Leaf != r.Leaf():
			return bad("belief", id, "its leaf differs from the candidate's")
		case c.Cost != Tokens(text):
			return bad("belief", id, fmt.Sprintf("its text costs %d tokens, but the cost of the candidate is %d", Tokens(text), c.Cost))
		case b.Request.Counted() && (c.Standing == 0 || c.Standing == dag.StandingSystem || c.Standing > dag.StandingAgent && !r.Vouched()):
			return bad("belief", id, fmt.Sprintf("it has the standing %s, which no such belief can have", c.Standing))
		case c.Features[FeatureConfidence] != r.Confidence:
			return bad("belief", id, "its confidence differs from the candidate's")
		}
	}
	return slice.Passed(CheckTexts, "%d turns, %d facts, %d beliefs", len(b.Turns), len(b.Facts), len(b.Beliefs))
}

// possible returns the standings that a turn can have, by any policy and whatever its origin.
func possible(t *ChosenTurn) []dag.Standing {
	any := []dag.Standing{dag.StandingOutside, dag.StandingGuest}
	switch {
	case t.Body.Brought() || t.Role == dag.RoleTool && !strings.HasPrefix(t.Body.Author, "human:"):
		return any
	case t.Role == dag.RoleUser || t.Role == dag.RoleTool: // a person answered in the place of a result
		return append(any, dag.StandingAgent, dag.StandingMember, dag.StandingOwner)
	case t.Role == dag.RoleSystem && Tokens(t.Body.Content) <= standing.MaxSystem:
		return append(any, dag.StandingAgent, dag.StandingSystem)
	}
	return append(any, dag.StandingAgent)
}

// checkRequest checks the anchor of the header and the sequence numbers of the request.
func (b judge) checkRequest(anchor dag.TurnID) slice.Check {
	if wrong := b.misdated(b.AsOf); wrong != "" {
		return slice.Failed(CheckRequest, anchor.String(), b.Provenance.Anchor.String(), "%s", wrong)
	}
	return slice.Compared(CheckRequest, anchor, b.Provenance.Anchor)
}

// misdated returns why the sequence numbers of the request are not valid, or "".
func (b *Bundle) misdated(asOf dag.Seq) string {
	switch r := &b.Request; {
	case !r.Counted():
	case asOf > r.RulesAsOf:
		return fmt.Sprintf("the view ends at number %d, after the number %d of its rules", asOf, r.RulesAsOf)
	case r.Past && asOf != r.RulesAsOf:
		return fmt.Sprintf("the view ends at number %d, but a view of the past has the number of its rules, which is %d", asOf, r.RulesAsOf)
	}
	return ""
}

func (b judge) checkSelection() slice.Check {
	chosen := b.chosen()
	if b.Request.Counted() {
		return b.checkLooks(chosen)
	}
	if owed := Owed(b.Candidates); owed > b.Request.Budget {
		return slice.Failed(CheckSelection, fmt.Sprint(owed), fmt.Sprint(b.Request.Budget), "the constraints, which every context includes, cost more than the budget")
	}
	if most := b.Policy.Budget; b.Request.Budget > most {
		return slice.Failed(CheckSelection, fmt.Sprint(most), fmt.Sprint(b.Request.Budget), "the requested budget is larger than the policy allows")
	}
	again := Select(&b.Policy, b.Request.Budget, b.Candidates, b.Overlaps)
	for _, i := range again {
		c := &b.Candidates[i]
		if !chosen[string(c.Kind)+c.ID] {
			return slice.Failed(CheckSelection, "", "", "%s %s should have been chosen but is missing", c.Kind, c.ID)
		}
	}
	if len(again) != len(chosen) {
		return slice.Failed(CheckSelection, fmt.Sprint(len(again)), fmt.Sprint(len(chosen)), "more was chosen than the policy allows")
	}
	return slice.Passed(CheckSelection, "%d of %d candidates", len(again), len(b.Candidates))
}

// checkLooks repeats the choice of gkc/2.
func (b judge) checkLooks(chosen map[string]bool) slice.Check {
	bad := func(format string, args ...any) slice.Check {
		return slice.Failed(CheckSelection, "", "", format, args...)
	}
	if most := b.Policy.Budget; b.Request.Budget > most {
		return slice.Failed(CheckSelection, fmt.Sprint(most), fmt.Sprint(b.Request.Budget), "the requested budget is larger than the policy allows")
	}
	l := b.newLooks()
	again, err := Choose(&b.Policy, &b.Request, b.Candidates, b.Overlaps, l)
	if err != nil {
		return bad("%s", err)
	}
	for _, i := range again {
		if c := &b.Candidates[i]; !chosen[string(c.Kind)+c.ID] {
			return bad("%s %s should have been chosen but is missing", c.Kind, c.ID)
		}
	}
	for i := range b.Candidates {
		if c := &b.Candidates[i]; c.Looked && !l.looked[i] {
			return bad("%s %s has a block, and should not have been looked at", c.Kind, c.ID)
		}
	}
	if len(again) != len(chosen) {
		return slice.Failed(CheckSelection, fmt.Sprint(len(again)), fmt.Sprint(len(chosen)), "more was chosen than the policy allows")
	}
	return slice.Passed(CheckSelection, "%d of %d candidates", len(again), len(b.Candidates))
}

// looks implements Blocks for a bundle. The block of a chosen candidate is computed from its text, and that of any other is read from the bundle.
type looks struct {
	*Bundle
	layout *Layout
	pieces map[string]*Piece
	looked map[int]bool
}

func (b *Bundle) newLooks() *looks {
	l := &looks{b, NewLayout(&b.Request, &b.Policy), map[string]*Piece{}, map[int]bool{}}
	pieces := b.pieces()
	for i := range pieces {
		l.pieces[string(pieces[i].Kind)+pieces[i].ID] = &pieces[i]
	}
	return l
}

// Block implements Blocks. The error names the fault of the candidate.
func (l *looks) Block(i int) (int, error) {
	c := &l.Candidates[i]
	l.looked[i] = true
	if !c.Looked {
		return 0, fmt.Errorf("%s %s should have been looked at, and has no block", c.Kind, c.ID)
	}
	if p := l.pieces[string(c.Kind)+c.ID]; p != nil {
		if block := l.layout.Block(p); block != c.Block {
			return 0, fmt.Errorf("%s %s takes %d tokens of the prompt, but its block is %d", c.Kind, c.ID, block, c.Block)
		}
	}
	return c.Block, nil
}

// Take implements Blocks.
func (l *looks) Take(i int) {
	c := &l.Candidates[i]
	if p := l.pieces[string(c.Kind)+c.ID]; p != nil { // a chosen one without its text is missing, which the check says
		l.layout.Add(p)
	}
}

func (b judge) checkPrompt() slice.Check {
	want, got := b.prompt(b.Render()), b.Prompt
	if want != got {
		return slice.Failed(CheckPrompt, want.HMAC.String(), got.HMAC.String(), "the prompt has %d tokens, and its HMAC or its number of tokens differs from the stated one", want.Cost)
	}
	if most := b.Request.Budget; b.Request.Counted() && want.Cost > most {
		return slice.Failed(CheckPrompt, fmt.Sprint(most), fmt.Sprint(want.Cost), "the prompt has more tokens than the budget")
	}
	return slice.Passed(CheckPrompt, "%d tokens", want.Cost)
}
