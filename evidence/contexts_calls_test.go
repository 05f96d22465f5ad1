package evidence_test

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// newCalls makes the sample of gkc/2 under a policy of the second type: three calls of an agent and two results are candidates of the source calls. A call and a result no longer hold, and long turns are worth less.
func (c *corpus) newCalls() *countedSample {
	s := c.newCounted()
	s.policy.Version = 2
	s.policy.Quotas[contexts.FromCalls] = 5
	s.policy.Weights[contexts.FeatureCall], s.policy.Weights[contexts.FeatureResult] = 5_000_000, 3_500_000
	s.policy.Weights[contexts.FeatureSuperseded], s.policy.Weights[contexts.FeatureLength] = 5_000_000, 7_000_000
	s.called(3, contexts.FeatureCall, 700_000)
	s.called(4, contexts.FeatureCall, 698_600)
	s.called(9, contexts.FeatureCall, 1)
	s.called(2, contexts.FeatureResult, 700_000)
	s.called(6, contexts.FeatureResult, 698_600)
	s.superseded(4, 350_000)
	s.superseded(6, 87_500)
	for i := range s.candidates {
		if c := &s.candidates[i]; c.Kind == contexts.KindTurn && !c.From[contexts.FromPrompts] {
			c.Features[contexts.FeatureLength] = dag.PPM(700 * c.Cost)
		}
	}
	return s
}

// called makes a turn of the sample a candidate of the source calls.
func (s *countedSample) called(turn int, f contexts.Feature, share dag.PPM) {
	of := &s.candidates[s.at(turn)]
	of.From[contexts.FromCalls], of.Features[f] = true, share
}

// superseded says that a turn of the sample no longer holds.
func (s *countedSample) superseded(turn int, less dag.PPM) {
	s.candidates[s.at(turn)].Features[contexts.FeatureSuperseded] = less
}

// underFirst puts the sample under a policy of the first type. Of the features that this type has not, the candidates keep some, with their source.
func (s *countedSample) underFirst(keep ...contexts.Feature) {
	s.policy.Version, s.policy.Quotas[contexts.FromCalls] = 1, 0
	for _, f := range []contexts.Feature{contexts.FeatureCall, contexts.FeatureLength, contexts.FeatureResult, contexts.FeatureSuperseded} {
		s.policy.Weights[f] = 0
		for i := range s.candidates {
			if !slices.Contains(keep, f) {
				s.candidates[i].Features[f] = 0
			}
		}
	}
	for i := range s.candidates {
		c := &s.candidates[i]
		c.From[contexts.FromCalls] = c.Features[contexts.FeatureCall]+c.Features[contexts.FeatureResult] > 0
	}
}

// fact returns the first candidate that is a fact.
func (s *countedSample) fact() *contexts.Candidate {
	return &s.candidates[slices.IndexFunc(s.candidates, func(c contexts.Candidate) bool { return c.Kind == contexts.KindFact })]
}

func (c *corpus) calls(change func(s *countedSample)) []byte {
	s := c.newCalls()
	change(s)
	return c.seal(s.bundle())
}

// callsContexts are contexts under policies of the second type.
func (c *corpus) callsContexts() {
	first := c.calls(func(*countedSample) {})
	good := func(name, why string, change func(s *countedSample)) {
		c.add("calls_good_"+name, evidence.Verified, why, map[string][]byte{bundleFile: c.calls(change)}, "", c.secret)
	}
	for n := range 6 {
		good(fmt.Sprint("budget_", n), "Calls and results compete with prompts and hits for a budget.", func(s *countedSample) { s.request.Budget = 340 + 61*n })
	}
	good("all", "Room for all calls and results.", func(s *countedSample) { s.request.Budget = 4000 })
	good("json", "Calls and results in the format json.", func(s *countedSample) { s.request.Format, s.request.Budget = contexts.JSON, 4000 })
	good("call_alone", "Calls are the only source of a call.", func(s *countedSample) {
		s.candidates[s.at(3)].From = [contexts.Sources]bool{contexts.FromCalls: true}
	})
	good("no_feature", "A call too old for a share.", func(s *countedSample) { s.candidates[s.at(9)].Features[contexts.FeatureCall] = 0 })
	good("superseded_whole", "A call and a result that are worth nothing any more.", func(s *countedSample) {
		s.superseded(3, dag.One)
		s.superseded(2, dag.One)
	})
	good("superseded_alone", "A call that no longer holds, and comes from a search alone.", func(s *countedSample) {
		s.candidates[s.at(4)].From = [contexts.Sources]bool{contexts.FromSearch: true}
		s.candidates[s.at(4)].Features[contexts.FeatureCall] = 0
	})
	good("superseded_free", "A policy with no penalty for what no longer holds.", func(s *countedSample) { s.policy.Weights[contexts.FeatureSuperseded] = 0 })
	good("length_whole", "A turn that costs all of the budget.", func(s *countedSample) { s.candidates[s.at(2)].Features[contexts.FeatureLength] = dag.One })
	good("length_free", "A policy with no penalty for length.", func(s *countedSample) { s.policy.Weights[contexts.FeatureLength] = 0 })
	good("weights_none", "A policy that gives calls no weight.", func(s *countedSample) {
		s.policy.Weights[contexts.FeatureCall], s.policy.Weights[contexts.FeatureResult] = 0, 0
	})
	c.callsForgeries()
	c.callsForms(first)
	c.callsParts(first)
}

// callsForgeries break the rules of calls, in contexts that agree in all else.
func (c *corpus) callsForgeries() {
	small := c.calls(func(s *countedSample) { s.request.Budget = 401 })
	for _, x := range []struct {
		name, why string
		change    func(*countedSample)
	}{
		{"candidates_call_source", "A call that does not come from calls.", func(s *countedSample) { s.candidates[s.at(3)].From[contexts.FromCalls] = false }},
		{"candidates_result_source", "A result that does not come from calls.", func(s *countedSample) { s.candidates[s.at(2)].From[contexts.FromCalls] = false }},
		{"candidates_call_outside", "A call that counts for a program's words.", func(s *countedSample) { s.standings[s.turns[3].ID.String()] = dag.StandingOutside }},
		{"candidates_call_guest", "A guest's turn is a call of the agent.", func(s *countedSample) { s.standings[s.turns[3].ID.String()] = dag.StandingGuest }},
		{"candidates_result_guest", "A guest's turn is a result.", func(s *countedSample) { s.standings[s.turns[2].ID.String()] = dag.StandingGuest }},
		{"candidates_call_owner", "A prompt of the owner is a call.", func(s *countedSample) { s.called(7, contexts.FeatureCall, 9) }},
		{"candidates_superseded_owner", "A prompt of the owner no longer holds.", func(s *countedSample) { s.superseded(7, 9) }},
		{"candidates_superseded_guest", "A guest's turn no longer holds.", func(s *countedSample) {
			s.superseded(8, 9)
			s.standings[s.turns[8].ID.String()] = dag.StandingGuest
		}},
		{"candidates_superseded_fact", "A fact no longer holds.", func(s *countedSample) { s.fact().Features[contexts.FeatureSuperseded] = 9 }},
		{"candidates_length_fact", "A fact with a length.", func(s *countedSample) { s.fact().Features[contexts.FeatureLength] = 9 }},
		{"candidates_quota", "More calls and results than the quota allows.", func(s *countedSample) { s.policy.Quotas[contexts.FromCalls] = 4 }},
		{"candidates_off", "Calls, though the policy does not ask for them.", func(s *countedSample) { s.policy.Quotas[contexts.FromCalls] = 0 }},
		{"candidates_fact", "A fact from calls.", func(s *countedSample) { s.fact().From[contexts.FromCalls] = true }},
		{"candidates_length_prompt", "A prompt with a length.", func(s *countedSample) {
			at := slices.IndexFunc(s.candidates, func(c contexts.Candidate) bool { return c.From[contexts.FromPrompts] })
			s.candidates[at].Features[contexts.FeatureLength] = 9
		}},
		{"candidates_old_policy", "Calls under a policy of the first type, which has no such source.", func(s *countedSample) {
			s.underFirst(contexts.FeatureCall, contexts.FeatureResult)
		}},
		{"candidates_superseded_old_policy", "A turn no longer holds under a policy of the first type, which has no such feature.", func(s *countedSample) {
			s.underFirst(contexts.FeatureSuperseded)
		}},
		{"candidates_length_old_policy", "A turn has a length under a policy of the first type, which has no such feature.", func(s *countedSample) {
			s.underFirst(contexts.FeatureLength)
		}},
		{"texts_result_agent", "What an agent said, as data, is a result.", func(s *countedSample) {
			s.standings[s.turns[8].ID.String()] = dag.StandingOutside
			s.called(8, contexts.FeatureResult, 9)
			s.policy.Quotas[contexts.FromCalls]++
		}},
		{"texts_superseded_user", "What somebody typed counts as data and no longer holds.", func(s *countedSample) {
			s.standings[s.turns[7].ID.String()] = dag.StandingOutside
			of := &s.candidates[s.at(7)]
			of.From, of.Features[contexts.FeaturePrompt] = [contexts.Sources]bool{contexts.FromSearch: true}, 0
			s.superseded(7, 9)
		}},
		{"texts_call_system", "What an agent put in between is a call.", func(s *countedSample) {
			s.standings[s.turns[10].ID.String()] = dag.StandingAgent
			of := &s.candidates[s.at(10)]
			of.From = [contexts.Sources]bool{contexts.FromCalls: true}
			of.Features[contexts.FeatureCall] = 9
			s.policy.Quotas[contexts.FromCalls]++
		}},
	} {
		data := c.calls(func(s *countedSample) {
			s.request.Budget = 4000
			x.change(s)
		})
		c.add("calls_"+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: data}, "", c.secret)
	}
	for _, x := range []forgery{
		{name: "selection_weight", why: "The policy gives calls another weight than the choice did.", change: func(b *contexts.Bundle) { b.Policy.Weights[contexts.FeatureCall] = 0 }},
		{name: "selection_superseded", why: "The policy has another penalty for what no longer holds than the choice did.", change: func(b *contexts.Bundle) { b.Policy.Weights[contexts.FeatureSuperseded] = 0 }},
		{name: "selection_length", why: "The policy has another penalty for length than the choice did.", change: func(b *contexts.Bundle) { b.Policy.Weights[contexts.FeatureLength] = 0 }},
		{name: "snapshot_share", why: "A call has another share than the leaf of the tree.", but: []slice.CheckID{slice.CheckSnapshot}, change: func(b *contexts.Bundle) {
			_, of := toldIn(b, 3)
			of.Features[contexts.FeatureCall]++
		}},
		{name: "policy_hash", why: "The weights are not those of policy_params_hash.", but: []slice.CheckID{slice.CheckPolicyHash}, change: func(b *contexts.Bundle) { b.Policy.Weights[contexts.FeatureResult]++ }},
	} {
		b := must(contexts.Parse(small))
		x.change(b)
		agreeContext(b, x.but...)
		c.add("calls_"+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: c.seal(b)}, "", c.secret)
	}
}

// callsForms are contexts whose members do not go together, or of types that nobody knows.
func (c *corpus) callsForms(first []byte) {
	older, old := c.context(func(*sample) {}), c.counted(func(*countedSample) {})
	for _, x := range []struct {
		name, why string
		o         evidence.Outcome
		data      []byte
	}{
		{"malformed_quota_none_fail", "A policy of the second type without a quota of calls.", evidence.Malformed, once(first, `"calls":5,`, ``)},
		{"malformed_weight_none_fail", "A policy of the second type without a weight of calls.", evidence.Malformed, once(first, `"call":5,`, ``)},
		{"malformed_penalty_none_fail", "A policy of the second type without a penalty for what no longer holds.", evidence.Malformed, once(first, `,"superseded":5}`, `}`)},
		{"malformed_length_none_fail", "A policy of the second type without a penalty for length.", evidence.Malformed, once(first, `"length":7,`, ``)},
		{"malformed_old_quota_fail", "A policy of the first type with a quota of calls.", evidence.Malformed, once(first, `"context_policy_v2"`, `"context_policy_v1"`)},
		{"malformed_new_type_fail", "A policy of the first type that says that it is of the second.", evidence.Malformed, once(old, `"context_policy_v1"`, `"context_policy_v2"`)},
		{"malformed_older_feature_fail", "A context of gkc/1 with the feature call.", evidence.Malformed, firstOf(older, `"features":{`, `"features":{"call":1,`)},
		{"malformed_older_superseded_fail", "A context of gkc/1 with the feature superseded.", evidence.Malformed, firstOf(older, `"features":{`, `"features":{"superseded":1,`)},
		{"malformed_older_length_fail", "A context of gkc/1 with the feature length.", evidence.Malformed, firstOf(older, `"features":{`, `"features":{"length":1,`)},
		{"malformed_older_source_fail", "A context of gkc/1 with the source calls.", evidence.Malformed, firstOf(older, `"from":["prompts"`, `"from":["calls","prompts"`)},
		{"malformed_source_order_fail", "Sources that do not ascend.", evidence.Malformed, firstOf(first, `"from":["calls","search"`, `"from":["search","calls"`)},
		{"malformed_share_fail", "A share of calls above 1.", evidence.Malformed, firstOf(first, `"call":700000`, `"call":1000001`)},
		{"version_older_fail", "A context of gkc/1 under a policy of the second type.", evidence.UnknownVersion, once(older, `"context_policy_v1"`, `"context_policy_v2"`)},
		{"version_later_fail", "A policy of a third type.", evidence.UnknownVersion, once(first, `"context_policy_v2"`, `"context_policy_v3"`)},
	} {
		c.add("calls_"+x.name, x.o, x.why, map[string][]byte{bundleFile: x.data}, "", c.secret)
	}
}

// callsParts are attestations and parts of a context under a policy of the second type.
func (c *corpus) callsParts(first []byte) {
	envelope, proof := c.logContext(first, 0, 1)
	files := map[string][]byte{bundleFile: first, attestFile: envelope, proofFile: proof}
	c.add("calls_everything", evidence.Verified, "A context under a policy of the second type: token, attestation, log and two of three witnesses.", files, c.trustAll(), c.secret)
	c.add("calls_statement_fail", evidence.UnknownVersion, "A statement of a policy of a third type.", with(files, proofFile, nil, attestFile, c.sealText(once(c.payload(envelope), "context_policy_v2", "context_policy_v3"))), c.trustSigner(), "")
	b := must(contexts.Parse(first))
	part := c.adderOfParts("calls_part_", first, envelope, proof)
	all := contextPart(b, slices.Collect(rangeOf(len(b.Turns))), nil, contexts.Part{Candidates: true, Request: true, Prompt: true})
	part("all", "All turns and candidates, the request and the prompt.", evidence.Verified, all, nil)
	part("feature_fail", "A candidate has another share than the leaf of the tree.", evidence.Tampered, all, func(d []byte) []byte { return firstOf(d, `"call":700000`, `"call":700001`) })
	part("version_fail", "A part under a policy of a third type.", evidence.UnknownVersion, all, func(d []byte) []byte { return once(d, `"context_policy_v2"`, `"context_policy_v3"`) })
}
