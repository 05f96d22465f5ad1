package evidence_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// agreeContext makes the header and the prompt agree with the body, by what Check says that they should be. Checks that are named are
// left as they are.
func agreeContext(b *contexts.Bundle, but ...slice.CheckID) {
	if !slices.Contains(but, contexts.CheckPrompt) {
		b.Prompt.Cost = contexts.Tokens(string(b.Render()))
	}
	for _, c := range b.Check() {
		if c.ID == contexts.CheckPrompt && c.Status == slice.StatusFail && !slices.Contains(but, c.ID) {
			b.Prompt.HMAC = must(dag.ParseDigest(c.Expected))
		}
	}
	agreeHeader(b.Check, &b.Provenance, contexts.CheckRequest, but...)
}

// A forgery changes a context. What it does not mean to leave in disagreement is made anew.
type forgery struct {
	name, why string
	change    func(b *contexts.Bundle)
	but       []slice.CheckID
}

func candidateOf(b *contexts.Bundle, id fmt.Stringer) *contexts.Candidate {
	return &b.Candidates[slices.IndexFunc(b.Candidates, func(c contexts.Candidate) bool { return c.ID == id.String() })]
}

// toldIn returns a turn of the sample, with its candidate. The turn is nil if it was not chosen.
func toldIn(b *contexts.Bundle, n int) (*contexts.ChosenTurn, *contexts.Candidate) {
	id := dag.ExternalTurnID("corpus", fmt.Sprintf("context %d", n))
	at := slices.IndexFunc(b.Turns, func(t contexts.ChosenTurn) bool { return t.ID == id })
	if at < 0 {
		return nil, candidateOf(b, id)
	}
	return &b.Turns[at], candidateOf(b, id)
}

// forgedContexts changes what a context says, with a header, a prompt and a token that agree: only one check is left to find it. Its name
// begins the case's.
func (c *corpus) forgedContexts(data []byte) {
	turn := func(n int, change func(t *contexts.ChosenTurn, c *contexts.Candidate)) func(*contexts.Bundle) {
		return func(b *contexts.Bundle) { change(toldIn(b, n)) }
	}
	for _, x := range slices.Concat([]forgery{
		{name: "order_turns", why: "Two turns changed places.", change: func(b *contexts.Bundle) { b.Turns[0], b.Turns[1] = b.Turns[1], b.Turns[0] }},
		{name: "order_facts", why: "Two facts changed places.", change: func(b *contexts.Bundle) { slices.Reverse(b.Facts) }},
		{name: "order_beliefs", why: "Two beliefs changed places.", change: func(b *contexts.Bundle) { slices.Reverse(b.Beliefs) }},
		{name: "order_overlaps", why: "Two overlaps changed places.", change: func(b *contexts.Bundle) { b.Overlaps[0], b.Overlaps[1] = b.Overlaps[1], b.Overlaps[0] }},
		{name: "order_overlap_twice", why: "An overlap stands twice.", change: func(b *contexts.Bundle) { b.Overlaps = slices.Insert(b.Overlaps, 0, b.Overlaps[0]) }},
		{name: "order_overlap_reversed", why: "An overlap names the later candidate first.", change: func(b *contexts.Bundle) {
			o := &b.Overlaps[0]
			o.First, o.Second = o.Second, o.First
		}},
		{name: "order_overlap_itself", why: "A candidate is alike to itself.", change: func(b *contexts.Bundle) { b.Overlaps[2].Second = b.Overlaps[2].First }},
	}, forgedCandidates(turn), forgedTexts(turn), forgedChoices(turn), []forgery{
		{name: "prompt_hmac", why: "The HMAC is that of another prompt.", but: []slice.CheckID{contexts.CheckPrompt}, change: func(b *contexts.Bundle) { b.Prompt.HMAC[0] ^= 1 }},
		{name: "prompt_cost", why: "The prompt is said to have a token less.", but: []slice.CheckID{contexts.CheckPrompt}, change: func(b *contexts.Bundle) { b.Prompt.Cost-- }},
		{name: "prompt_format", why: "The request is for another format than the prompt has that was counted.", but: []slice.CheckID{contexts.CheckPrompt}, change: func(b *contexts.Bundle) { b.Request.Format = contexts.XML }},
		{name: "prompt_rules", why: "Other rules than those of the prompt that was counted.", but: []slice.CheckID{contexts.CheckPrompt}, change: func(b *contexts.Bundle) { b.Policy.Rules += "!" }},
		{name: "prompt_contested", why: "A belief is no longer said to be contested, as it was in the prompt that was counted.", but: []slice.CheckID{contexts.CheckPrompt}, change: func(b *contexts.Bundle) {
			b.Candidates[1].Features[contexts.FeatureContested] = 0
		}},
		{name: "prompt_constraint", why: "What every context has is a belief like others: it stands in another place of the prompt.", but: []slice.CheckID{contexts.CheckPrompt}, change: func(b *contexts.Bundle) {
			b.Candidates[0].From = [contexts.Sources]bool{contexts.FromBeliefs: true}
			b.Candidates[0].Features[contexts.FeatureTask] = dag.One
			b.Policy.Quotas[contexts.FromBeliefs] = 3
		}},
		{name: "prompt_order", why: "Two turns have each other's numbers: they stand in another order in the prompt.", but: []slice.CheckID{contexts.CheckPrompt}, change: func(b *contexts.Bundle) {
			_, x := toldIn(b, 1)
			_, y := toldIn(b, 2)
			x.Seq, y.Seq = y.Seq, x.Seq
		}},
		{name: "request_anchor", why: "anchor_turn_id names another request.", but: []slice.CheckID{contexts.CheckRequest}, change: func(b *contexts.Bundle) { b.Provenance.Anchor[3] ^= 1 }},
		{name: "snapshot_root", why: "graph_snapshot_hash is that of another tree.", but: []slice.CheckID{slice.CheckSnapshot}, change: func(b *contexts.Bundle) { b.Provenance.GraphSnapshotHash[9] ^= 1 }},
		{name: "snapshot_overlaps", why: "Another share of words in common, which changes nothing in the choice.", but: []slice.CheckID{slice.CheckSnapshot}, change: func(b *contexts.Bundle) { b.Overlaps[0].Share-- }},
		{name: "snapshot_statistics", why: "Another number of turns with a term.", but: []slice.CheckID{slice.CheckSnapshot}, change: func(b *contexts.Bundle) { b.Statistics.Words.With[2]++ }},
		{name: "snapshot_feature", why: "A candidate that was not chosen has another feature.", but: []slice.CheckID{slice.CheckSnapshot}, change: turn(5, func(_ *contexts.ChosenTurn, c *contexts.Candidate) { c.Features[contexts.FeatureRecent]-- })},
		{name: "snapshot_dropped", why: "A candidate that was not chosen is gone, and with it the places of overlaps are others.", but: []slice.CheckID{slice.CheckSnapshot}, change: func(b *contexts.Bundle) {
			b.Overlaps = nil
			b.Policy.Novelty, b.Policy.Overlap = 0, 0
			again := contexts.Select(&b.Policy, b.Request.Budget, b.Candidates, nil)
			left := slices.DeleteFunc(slices.Collect(rangeOf(len(b.Candidates))), func(i int) bool { return slices.Contains(again, i) })
			b.Candidates = slices.Delete(b.Candidates, left[0], left[0]+1)
			chooseAgain(c, b)
		}},
	}) {
		b := must(contexts.Parse(data))
		x.change(b)
		agreeContext(b, x.but...)
		c.add(x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: c.seal(b)}, "", c.secret)
	}
}

func rangeOf(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// chooseAgain fills in what the policy chooses from the candidates.
func chooseAgain(c *corpus, b *contexts.Bundle) {
	s := c.newSample()
	b.Turns, b.Facts, b.Beliefs = nil, nil, nil
	chosen := map[string]bool{}
	for _, i := range contexts.Select(&b.Policy, b.Request.Budget, b.Candidates, b.Overlaps) {
		chosen[b.Candidates[i].ID] = true
	}
	for _, t := range s.turns {
		if chosen[t.ID.String()] {
			b.Turns = append(b.Turns, t)
		}
	}
	for _, f := range s.facts {
		if chosen[f.Fact.ID().String()] {
			b.Facts = append(b.Facts, f)
		}
	}
	for _, r := range s.beliefs {
		if chosen[r.Address().String()] {
			b.Beliefs = append(b.Beliefs, r)
		}
	}
	slices.SortFunc(b.Turns, func(x, y contexts.ChosenTurn) int { return x.ID.Compare(y.ID) })
	slices.SortFunc(b.Facts, byStatement)
}

type onTurn = func(n int, change func(t *contexts.ChosenTurn, c *contexts.Candidate)) func(*contexts.Bundle)

func forgedCandidates(turn onTurn) []forgery {
	candidate := func(n int, change func(c *contexts.Candidate)) func(*contexts.Bundle) {
		return turn(n, func(_ *contexts.ChosenTurn, c *contexts.Candidate) { change(c) })
	}
	fact := func(change func(c *contexts.Candidate)) func(*contexts.Bundle) {
		return func(b *contexts.Bundle) { change(&b.Candidates[3]) }
	}
	held := func(n int, change func(c *contexts.Candidate)) func(*contexts.Bundle) {
		return func(b *contexts.Bundle) { change(&b.Candidates[n]) }
	}
	return []forgery{
		{name: "candidates_above", why: "A candidate is numbered above the view.", change: candidate(5, func(c *contexts.Candidate) { c.Seq = 41 })},
		{name: "candidates_zero", why: "A candidate has no number.", change: candidate(5, func(c *contexts.Candidate) { c.Seq = 0 })},
		{name: "candidates_from_nowhere", why: "No source gave a candidate.", change: candidate(7, func(c *contexts.Candidate) { c.From = [contexts.Sources]bool{} })},
		{name: "candidates_quota", why: "More candidates of the search than its quota.", change: func(b *contexts.Bundle) { b.Policy.Quotas[contexts.FromSearch] = 6 }},
		{name: "candidates_off", why: "A candidate of a source that is off.", change: func(b *contexts.Bundle) { b.Policy.Quotas[contexts.FromPrompts] = 0 }},
		{name: "candidates_turn_of_facts", why: "A turn that the source of facts gave.", change: candidate(7, func(c *contexts.Candidate) { c.From[contexts.FromFacts] = true })},
		{name: "candidates_fact_of_search", why: "A fact that the search gave.", change: fact(func(c *contexts.Candidate) { c.From[contexts.FromSearch] = true })},
		{name: "candidates_fact_salience", why: "A fact with a feature of turns.", change: fact(func(c *contexts.Candidate) { c.Features[contexts.FeatureSalience] = 1 })},
		{name: "candidates_turn_confidence", why: "A turn with a feature of facts.", change: candidate(7, func(c *contexts.Candidate) { c.Features[contexts.FeatureConfidence] = 1 })},
		{name: "candidates_turn_evidence", why: "A turn with the other feature of facts.", change: candidate(7, func(c *contexts.Candidate) { c.Features[contexts.FeatureEvidence] = 1 })},
		{name: "candidates_turn_of_constraints", why: "A turn that every context has.", change: candidate(7, func(c *contexts.Candidate) { c.From[contexts.FromConstraints] = true })},
		{name: "candidates_turn_contested", why: "A turn that is contested.", change: candidate(7, func(c *contexts.Candidate) { c.Features[contexts.FeatureContested] = 1 })},
		{name: "candidates_belief_of_search", why: "A belief that the search gave.", change: held(1, func(c *contexts.Candidate) { c.From[contexts.FromSearch] = true })},
		{name: "candidates_belief_recency", why: "A belief with a feature of turns.", change: held(1, func(c *contexts.Candidate) { c.Features[contexts.FeatureRecency] = 1 })},
		{name: "candidates_fact_of_beliefs", why: "A fact that the source of beliefs gave.", change: fact(func(c *contexts.Candidate) { c.From[contexts.FromBeliefs] = true })},
		{name: "candidates_constraints_off", why: "What every context has, of a source that is off.", change: func(b *contexts.Bundle) { b.Policy.Quotas[contexts.FromConstraints] = 0 }},
		{name: "candidates_not_recent", why: "A turn has the feature recent, and is not of that source.", change: candidate(7, func(c *contexts.Candidate) { c.Features[contexts.FeatureRecent] = 1 })},
		{name: "candidates_not_of_slice", why: "A turn has the feature slice, and is not of that source.", change: candidate(7, func(c *contexts.Candidate) { c.Features[contexts.FeatureSlice] = 1 })},
		{name: "candidates_not_prompt", why: "A turn has the feature prompt, and is not of that source.", change: candidate(7, func(c *contexts.Candidate) { c.Features[contexts.FeaturePrompt] = 1 })},
	}
}

func forgedTexts(turn onTurn) []forgery {
	return []forgery{
		{name: "texts_content", why: "A text was changed by a letter.", change: turn(7, func(t *contexts.ChosenTurn, _ *contexts.Candidate) {
			t.Body.Content = strings.Replace(t.Body.Content, "ok", "no", 1)
		})},
		{name: "texts_author", why: "A text has another author.", change: turn(7, func(t *contexts.ChosenTurn, _ *contexts.Candidate) { t.Body.Author = "human:eve" })},
		{name: "texts_attrs", why: "A turn has another attribute.", change: turn(7, func(t *contexts.ChosenTurn, _ *contexts.Candidate) { t.Body.Attrs["n"] = "x" })},
		{name: "texts_cost", why: "A candidate costs a token more than its text.", change: turn(7, func(_ *contexts.ChosenTurn, c *contexts.Candidate) { c.Cost++ })},
		{name: "texts_fact_cost", why: "A fact costs a token less than its text.", change: func(b *contexts.Bundle) { candidateOf(b, b.Facts[0].Fact.ID()).Cost-- }},
		{name: "texts_leaf", why: "A candidate has the leaf of another turn.", change: turn(7, func(_ *contexts.ChosenTurn, c *contexts.Candidate) { c.Leaf[0] ^= 1 })},
		{name: "texts_fact_leaf", why: "A candidate has the leaf of another fact.", change: func(b *contexts.Bundle) { candidateOf(b, b.Facts[0].Fact.ID()).Leaf[0] ^= 1 }},
		{name: "texts_fact_salt", why: "A fact has another salt.", change: func(b *contexts.Bundle) { b.Facts[0].Salt[15] ^= 1 }},
		{name: "texts_role", why: "A turn is another one's word: its leaf is another.", change: turn(7, func(t *contexts.ChosenTurn, _ *contexts.Candidate) { t.Role = dag.RoleTool })},
		{name: "texts_prompt", why: "What an agent said is a prompt.", change: turn(4, func(_ *contexts.ChosenTurn, c *contexts.Candidate) {
			c.From[contexts.FromPrompts], c.Features[contexts.FeaturePrompt] = true, 1
		})},
		{name: "texts_brought_prompt", why: "A turn that was brought in a person's name by a key which does not speak for that person is a prompt.", change: turn(1, func(t *contexts.ChosenTurn, c *contexts.Candidate) {
			t.Body.Attrs[dag.AttrBroughtBy] = "stdio"
			t.BodyDigest = slice.DigestBody(slice.AppendBody(nil, &t.Body), t.Body.Salt)
			c.Leaf = slice.TurnLeaf(&t.Turn)
		})},
		{name: "texts_belief_title", why: "A belief has another title, and the digest of that: its leaf is another.", change: func(b *contexts.Bundle) {
			b.Beliefs[0].Title = strings.Replace(b.Beliefs[0].Title, "Never", "Often", 1)
		}},
		{name: "texts_belief_not", why: "A belief says the opposite: its leaf and its cost are others.", change: func(b *contexts.Bundle) { b.Beliefs[0].Statements[0].Not = false }},
		{name: "texts_belief_rank", why: "A belief is vouched for by somebody else: its leaf is another.", change: func(b *contexts.Bundle) { b.Beliefs[1].Statements[0].Rank.Class = belief.Human }},
		{name: "texts_belief_shown", why: "What is withheld of a belief is not: its leaf is another.", change: func(b *contexts.Bundle) { b.Beliefs[1].Withheld = false }},
		{name: "texts_belief_salt", why: "A belief has another salt.", change: func(b *contexts.Bundle) { b.Beliefs[1].Salt[0] ^= 1 }},
		{name: "texts_belief_cost", why: "A belief costs a token less than its text.", change: func(b *contexts.Bundle) { b.Candidates[1].Cost-- }},
		{name: "texts_belief_confidence", why: "A candidate has another confidence than its belief.", change: func(b *contexts.Bundle) { b.Candidates[1].Features[contexts.FeatureConfidence]-- }},
		{name: "texts_salience", why: "A candidate has another salience than its turn.", change: turn(7, func(_ *contexts.ChosenTurn, c *contexts.Candidate) { c.Features[contexts.FeatureSalience]-- })},
		{name: "texts_no_salience", why: "A candidate has no salience, and its turn has.", change: turn(7, func(_ *contexts.ChosenTurn, c *contexts.Candidate) { c.Features[contexts.FeatureSalience] = 0 })},
		{name: "texts_confidence", why: "A candidate has another confidence than its fact.", change: func(b *contexts.Bundle) {
			candidateOf(b, b.Facts[0].Fact.ID()).Features[contexts.FeatureConfidence]--
		}},
	}
}

func forgedChoices(turn onTurn) []forgery {
	return []forgery{
		{name: "selection_missing", why: "A turn that is to be chosen is missing.", change: func(b *contexts.Bundle) { b.Turns = b.Turns[1:] }},
		{name: "selection_fact_missing", why: "A fact that is to be chosen is missing.", change: func(b *contexts.Bundle) { b.Facts = b.Facts[1:] }},
		{name: "selection_too_many", why: "A turn that does not fit into the budget is there.", change: func(b *contexts.Bundle) {
			b.Request.Budget = 40 + b.Candidates[0].Cost
		}},
		{name: "selection_budget", why: "The budget that was asked for is above the policy's.", change: func(b *contexts.Bundle) { b.Policy.Budget = b.Request.Budget - 1 }},
		{name: "selection_belief_missing", why: "A belief that is to be chosen is missing.", change: func(b *contexts.Bundle) { b.Beliefs = b.Beliefs[:1] }},
		{name: "selection_constraint_missing", why: "What every context has is missing.", change: func(b *contexts.Bundle) { b.Beliefs = b.Beliefs[1:] }},
		{name: "selection_owed", why: "What every context has does not fit into the budget.", change: func(b *contexts.Bundle) {
			b.Request.Budget = b.Candidates[0].Cost - 1
			b.Turns, b.Facts, b.Beliefs = nil, nil, b.Beliefs[:1]
		}},
		{name: "selection_contested", why: "A belief that is contested is there, and the penalty keeps it out.", change: func(b *contexts.Bundle) { b.Policy.Weights[contexts.FeatureContested] = 10_000_000 }},
		{name: "selection_feature", why: "A feature was raised, and what it would choose is not there.", change: turn(3, func(_ *contexts.ChosenTurn, c *contexts.Candidate) { c.Features[contexts.FeatureTask] = 1_000_000 })},
		{name: "selection_feature_gone", why: "A chosen turn has nothing that speaks for it.", change: func(b *contexts.Bundle) {
			_, c := toldIn(b, 7)
			c.Features = [contexts.Features]dag.PPM{contexts.FeatureSalience: c.Features[contexts.FeatureSalience]}
			b.Policy.Novelty = 0
		}},
		{name: "selection_overlap", why: "Two texts that were alike are not, and the second would be chosen.", change: func(b *contexts.Bundle) {
			b.Overlaps = slices.DeleteFunc(b.Overlaps, func(o contexts.Overlap) bool { return o.Share == 900_000 })
		}},
		{name: "selection_penalty", why: "The penalty for what is alike is gone, and one more would be chosen.", change: func(b *contexts.Bundle) { b.Policy.Overlap = 0 }},
	}
}

// tie leaves two candidates of one score, and room for one of them.
func tie(s *sample) {
	s.candidates = []contexts.Candidate{s.candidates[min(s.at(8), s.at(9))], s.candidates[max(s.at(8), s.at(9))]}
	s.overlaps, s.request.Budget = nil, s.candidates[0].Cost
}

// tied are contexts in which the order of the candidates decides.
func (c *corpus) tied() {
	data := c.context(tie)
	c.add("good_tie", evidence.Verified, "Two candidates of one score, and room for one: the earlier is chosen.", map[string][]byte{bundleFile: data}, "", c.secret)
	b := must(contexts.Parse(data))
	for _, t := range c.newSample().turns {
		if t.ID.String() == b.Candidates[1].ID {
			b.Turns = []contexts.ChosenTurn{t}
		}
	}
	agreeContext(b)
	c.add("selection_tie_fail", evidence.Tampered, "Of two candidates of one score the later one is there.", map[string][]byte{bundleFile: c.seal(b)}, "", c.secret)
}

// contextHeaders changes one thing of a context and makes nothing anew: all checks that it belongs to find it.
func (c *corpus) contextHeaders(data []byte) {
	for _, x := range []forgery{
		{name: "task", why: "Another task.", change: func(b *contexts.Bundle) { b.Request.Task += "!" }},
		{name: "salt", why: "Another salt: every HMAC is another.", change: func(b *contexts.Bundle) { b.Request.Salt[0] ^= 1 }},
		{name: "anchor", why: "Another anchor.", change: func(b *contexts.Bundle) { b.Request.Anchor[0] ^= 1 }},
		{name: "no_anchor", why: "The anchor is gone.", change: func(b *contexts.Bundle) { b.Request.Anchor = nil }},
		{name: "budget", why: "Another budget.", change: func(b *contexts.Bundle) { b.Request.Budget++ }},
		{name: "spaces", why: "A space that was not asked for.", change: func(b *contexts.Bundle) { b.Request.Spaces = []string{"acme"} }},
		{name: "as_of", why: "Another number of the view, which the leaf of the request has.", change: func(b *contexts.Bundle) { b.AsOf++ }},
		{name: "policy", why: "Another half-life.", change: func(b *contexts.Bundle) { b.Policy.HalfLife++ }},
		{name: "policy_name", why: "The slice is said to be cut under another policy.", change: func(b *contexts.Bundle) { b.Policy.Slice = "default@3" }},
		{name: "policy_hash", why: "policy_params_hash is another.", change: func(b *contexts.Bundle) { b.Provenance.PolicyParamsHash[0] ^= 1 }},
		{name: "slice_id", why: "The slice has another id.", change: func(b *contexts.Bundle) { b.Provenance.SliceID = "0123456789abcdef" }},
		{name: "policy_id", why: "The policy has another id, which the token and slice_id have.", change: func(b *contexts.Bundle) { b.Provenance.PolicyID = "corpus@2" }},
		{name: "statistics", why: "The best score is another.", change: func(b *contexts.Bundle) { b.Statistics.Best-- }},
		{name: "named", why: "Nobody is named.", change: func(b *contexts.Bundle) { b.Statistics.Named = "" }},
		{name: "prompt", why: "Another HMAC.", change: func(b *contexts.Bundle) { b.Prompt.HMAC[31] ^= 1 }},
		{name: "belief_reason", why: "A belief has another reason, with the digest of what it says then.", change: func(b *contexts.Bundle) { b.Beliefs[0].Reason = "no reason" }},
		{name: "seq", why: "A candidate has another number.", change: func(b *contexts.Bundle) { b.Candidates[5].Seq-- }},
	} {
		b := must(contexts.Parse(data))
		x.change(b)
		c.add("header_"+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: b.Append(nil)}, "", c.secret)
	}
}
