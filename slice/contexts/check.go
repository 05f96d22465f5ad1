package contexts

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
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
	return []slice.Check{
		b.checkCanonicalOrder(), b.checkCandidates(), b.checkTexts(), b.checkSelection(), b.checkPrompt(),
		slice.Compared(CheckRequest, want.Anchor, got.Anchor),
		slice.Compared(slice.CheckPolicyHash, want.PolicyParamsHash, got.PolicyParamsHash),
		slice.Compared(slice.CheckSnapshot, want.GraphSnapshotHash, got.GraphSnapshotHash),
		slice.Compared(slice.CheckSliceID, want.SliceID, got.SliceID),
	}
}

func (b *Bundle) checkCanonicalOrder() slice.Check {
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
		FromBeliefs: {KindBelief}, FromConstraints: {KindBelief}, FromFacts: {KindBelief, KindFact},
		FromPrompts: {KindTurn}, FromRecent: {KindTurn}, FromSearch: {KindTurn}, FromSlice: {KindTurn},
	}
	has = map[Kind][]Feature{
		KindBelief: {FeatureConfidence, FeatureContested, FeatureEvidence, FeatureTask},
		KindFact:   {FeatureConfidence, FeatureEvidence, FeatureTask},
		KindTurn:   {FeaturePrompt, FeatureRecency, FeatureRecent, FeatureSalience, FeatureSlice, FeatureTask},
	}
)

func (b *Bundle) checkCandidates() slice.Check {
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
func (b *Bundle) outside(c *Candidate) string {
	if c.Seq == 0 || c.Seq > b.AsOf {
		return fmt.Sprintf("it has number %d, but the view ends at %d", c.Seq, b.AsOf)
	}
	if c.From == [Sources]bool{} {
		return "it names no source"
	}
	for s, from := range c.From {
		if from && !slices.Contains(gives[s], c.Kind) {
			return fmt.Sprintf("source %s never has candidates of its kind", Source(s))
		}
	}
	for i, f := range c.Features {
		feature := Feature(i)
		switch {
		case f == 0:
		case !slices.Contains(has[c.Kind], feature):
			return fmt.Sprintf("it has the feature %s, which no candidate of its kind has", feature)
		case feature == FeaturePrompt && !c.From[FromPrompts], feature == FeatureSlice && !c.From[FromSlice], feature == FeatureRecent && !c.From[FromRecent]:
			return fmt.Sprintf("it has the feature %s with %d ppm, but does not come from that source", feature, f)
		}
	}
	return ""
}

// candidate returns the candidate with a kind and an id, or nil.
func (b *Bundle) candidate(k Kind, id string) *Candidate {
	want := Candidate{Kind: k, ID: id}
	at, ok := slices.BinarySearchFunc(b.Candidates, want, func(c, d Candidate) int { return c.compare(&d) })
	if !ok {
		return nil
	}
	return &b.Candidates[at]
}

func (b *Bundle) checkTexts() slice.Check {
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
		case c.Cost != Tokens(t.Body.Content):
			return bad("turn", id, fmt.Sprintf("its text costs %d tokens, but the cost of the candidate is %d", Tokens(t.Body.Content), c.Cost))
		case c.Features[FeaturePrompt] > 0 && (t.Role != dag.RoleUser || t.Body.Brought()):
			return bad("turn", id, "it is not a prompt of a user")
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
		case c.Features[FeatureConfidence] != r.Confidence:
			return bad("belief", id, "its confidence differs from the candidate's")
		}
	}
	return slice.Passed(CheckTexts, "%d turns, %d facts, %d beliefs", len(b.Turns), len(b.Facts), len(b.Beliefs))
}

func (b *Bundle) checkSelection() slice.Check {
	chosen := b.chosen()
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

func (b *Bundle) checkPrompt() slice.Check {
	want, got := b.prompt(b.Render()), b.Prompt
	if want != got {
		return slice.Failed(CheckPrompt, want.HMAC.String(), got.HMAC.String(), "the prompt has %d tokens, and its HMAC or its number of tokens differs from the stated one", want.Cost)
	}
	return slice.Passed(CheckPrompt, "%d tokens", want.Cost)
}
