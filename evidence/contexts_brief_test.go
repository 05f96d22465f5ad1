package evidence_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// newBrief makes the sample of gkc/2 as a brief: lines of turns of the owner, a member and the agent, a belief of a member that is remembered, and a policy that limits the
// tokens of constraints and of everything else.
func (c *corpus) newBrief() *countedSample {
	s := c.newCounted()
	s.policy.Version = 2
	s.policy.Sections = contexts.Sections{Rules: 200, Others: 300}
	s.policy.Quotas[contexts.FromLines], s.policy.Quotas[contexts.FromRemembered] = 9, 2
	s.policy.Weights[contexts.FeatureLine] = 10_000_000
	s.request.Format, s.request.Budget = contexts.Brief, 700
	s.overlaps = nil
	s.on(1, "main")
	s.on(3, "a `b` \u202e\"c\" ## Constraints")
	s.quote(1, contexts.Asked, 990_000, [2]int{0, 49})
	s.quote(5, contexts.Decided, 980_000, [2]int{0, 27}, [2]int{28, 54})
	s.quote(3, contexts.Said, 970_000, [2]int{0, 46})
	s.quote(4, contexts.Todo, 960_000, [2]int{4, 10}, [2]int{11, 13}, [2]int{30, 53})
	s.quote(8, contexts.Failed, 950_000, [2]int{0, 5})
	s.quote(9, contexts.Uncommitted, 940_000, [2]int{4, 9})
	s.quote(12, contexts.Asked, 930_000, [2]int{0, 15})
	s.quote(7, contexts.Decided, 920_000, [2]int{0, 9})
	at := slices.IndexFunc(s.candidates, func(c contexts.Candidate) bool { return c.ID == s.beliefs[2].Address().String() })
	s.candidates[at].From = [contexts.Sources]bool{contexts.FromRemembered: true}
	s.candidates[at].Features[contexts.FeatureLine] = dag.One
	return s
}

// on puts a turn of the sample on a branch.
func (s *countedSample) on(turn int, branch string) {
	t := &s.turns[turn]
	t.Body.Attrs = map[string]string{"git_branch": branch}
	t.BodyDigest = slice.DigestBody(slice.AppendBody(nil, &t.Body), t.Body.Salt)
	s.candidates[s.at(turn)].Leaf = slice.TurnLeaf(&t.Turn)
}

// quote makes a turn of the sample a line.
func (s *countedSample) quote(turn int, as contexts.Label, ppm dag.PPM, spans ...[2]int) {
	of := &s.candidates[s.at(turn)]
	of.From, of.Excerpt = [contexts.Sources]bool{contexts.FromLines: true}, &contexts.Excerpt{As: as, Spans: spans}
	of.Features = [contexts.Features]dag.PPM{contexts.FeatureSalience: of.Features[contexts.FeatureSalience], contexts.FeatureLine: ppm}
	of.Cost = contexts.Tokens(strings.Join(of.Excerpt.Lines(s.turns[turn].Body.Content), "\n"))
}

func (c *corpus) brief(change func(s *countedSample)) []byte {
	s := c.newBrief()
	change(s)
	return c.seal(s.bundle())
}

// briefContexts are briefs.
func (c *corpus) briefContexts() {
	first := c.brief(func(*countedSample) {})
	good := func(name, why string, change func(s *countedSample)) {
		c.add("brief_good_"+name, evidence.Verified, why, map[string][]byte{bundleFile: c.brief(change)}, "", c.secret)
	}
	for _, format := range contexts.Formats() {
		good("format_"+string(format), "Lines of turns in the format "+string(format)+".", func(s *countedSample) { s.request.Format, s.request.Budget = format, 4000 })
	}
	for n := range 8 {
		good(fmt.Sprint("budget_", n), "Constraints, lines and data compete for a budget.", func(s *countedSample) { s.request.Budget = 160 + 83*n })
		good(fmt.Sprint("rules_", n), "Of three constraints those are left out that do not fit, and the note counts them: those of the least standing, and the newest of one standing.", func(s *countedSample) {
			s.owe()
			s.policy.Sections.Rules = 12 + 14*n
		})
		good(fmt.Sprint("others_", n), "What is no constraint has a limit of its own.", func(s *countedSample) { s.policy.Sections.Others = 8 + 31*n })
	}
	for i, format := range contexts.Formats() {
		good("left_"+string(format), "Constraints that are left out, in the format "+string(format)+".", func(s *countedSample) {
			s.owe()
			s.request.Format, s.request.Past, s.asOf, s.policy.Sections.Rules = format, i%2 == 0, s.request.RulesAsOf, 40
		})
	}
	good("no_sections", "A policy without limits.", func(s *countedSample) { s.policy.Sections = contexts.Sections{} })
	good("no_task", "A brief needs no task and no anchor.", func(s *countedSample) { s.request.Task, s.request.Anchor, s.statistics = "", nil, nil })
	good("dots", "A span that ends a sentence, and one that does not.", func(s *countedSample) { s.quote(3, contexts.Passed, 970_000, [2]int{0, 47}, [2]int{48, 52}) })
	good("spans_most", "Sixteen spans.", func(s *countedSample) {
		var spans [][2]int
		for i := range contexts.MaxSpans {
			spans = append(spans, [2]int{2 * i, 2*i + 1})
		}
		s.quote(4, contexts.Committed, 960_000, spans...)
	})
	good("signs", "A span with signs that act on a terminal, after a first byte of a character of several.", func(s *countedSample) { s.quote(3, contexts.Said, 970_000, [2]int{47, 73}, [2]int{73, 76}) })
	good("lines_and_search", "A line that a search found, too.", func(s *countedSample) { s.candidates[s.at(3)].From[contexts.FromSearch] = true })
	c.briefForgeries()
	c.briefForms(first)
	b := must(contexts.Parse(first))
	envelope, proof := c.logContext(first, 0, 1)
	part := c.adderOfParts("brief_part_", first, envelope, proof)
	all := contextPart(b, slices.Collect(rangeOf(len(b.Turns))), nil, contexts.Part{Candidates: true, Request: true, Prompt: true})
	part("all", "All turns and candidates of a brief, the request and the prompt.", evidence.Verified, all, nil)
	part("span_fail", "A candidate has another span than the leaf of the tree.", evidence.Tampered, all, func(d []byte) []byte { return firstOf(d, `"spans":[[0,49]]`, `"spans":[[0,48]]`) })
}

// owe makes constraints of two more texts.
func (s *countedSample) owe() {
	s.policy.Quotas[contexts.FromConstraints] = 3
	at := slices.IndexFunc(s.candidates, func(c contexts.Candidate) bool { return c.ID == s.beliefs[2].Address().String() })
	s.candidates[at].From[contexts.FromConstraints] = true
	for i := range s.candidates {
		if c := &s.candidates[i]; c.Mandatory() {
			c.Standing = s.standings[c.ID] // by which they are ordered, before they are looked at
		}
	}
}

// briefForgeries break the rules of lines, in contexts that agree in all else.
func (c *corpus) briefForgeries() {
	for _, x := range []struct {
		name, why string
		change    func(*countedSample)
	}{
		{"candidates_source", "A line that does not come from lines.", func(s *countedSample) {
			s.candidates[s.at(3)].From = [contexts.Sources]bool{contexts.FromSearch: true}
			s.candidates[s.at(3)].Features[contexts.FeatureLine] = 0
		}},
		{"candidates_feature", "The feature line without its sources.", func(s *countedSample) {
			of := &s.candidates[s.at(0)]
			of.Features[contexts.FeatureLine] = 1
		}},
		{"candidates_feature_fact", "A fact with the feature line.", func(s *countedSample) { s.fact().Features[contexts.FeatureLine] = 1 }},
		{"candidates_asked_agent", "What an agent said is said to be a question of a person.", func(s *countedSample) { s.quote(3, contexts.Asked, 970_000, [2]int{0, 46}) }},
		{"candidates_decided_guest", "A guest's words are said to be a decision.", func(s *countedSample) { s.quote(11, contexts.Decided, 970_000, [2]int{0, 6}) }},
		{"candidates_said_owner", "What the owner asked is said to be the agent's.", func(s *countedSample) { s.quote(1, contexts.Said, 970_000, [2]int{0, 49}) }},
		{"candidates_passed_outside", "What a tool returned is said to be a command of the agent.", func(s *countedSample) { s.quote(6, contexts.Passed, 970_000, [2]int{0, 5}) }},
		{"candidates_remembered_agent", "What an agent proposed is remembered.", func(s *countedSample) { s.standings[s.beliefs[2].Address().String()] = dag.StandingAgent }},
		{"candidates_remembered_turn", "A turn that is remembered.", func(s *countedSample) { s.candidates[s.at(3)].From[contexts.FromRemembered] = true }},
		{"candidates_line_belief", "A belief from lines.", func(s *countedSample) { s.candidates[0].From[contexts.FromLines] = true }},
		{"candidates_quota", "More lines than the quota allows.", func(s *countedSample) { s.policy.Quotas[contexts.FromLines] = 7 }},
		{"candidates_quota_remembered", "More beliefs than the quota of remembered allows.", func(s *countedSample) { s.policy.Quotas[contexts.FromRemembered] = 0 }},
		{"texts_beyond", "A span beyond the text.", func(s *countedSample) { s.quote(8, contexts.Failed, 950_000, [2]int{0, 56}) }},
		{"texts_divides", "A span that divides a character.", func(s *countedSample) { s.quote(7, contexts.Decided, 920_000, [2]int{1, 5}) }},
		{"texts_divides_end", "A span whose end divides a character.", func(s *countedSample) { s.quote(7, contexts.Decided, 920_000, [2]int{0, 1}) }},
		{"texts_line_feed", "A span with a line feed.", func(s *countedSample) { s.quote(1, contexts.Asked, 990_000, [2]int{0, 50}) }},
		{"texts_cost", "A line that costs all of its text.", func(s *countedSample) {
			of := &s.candidates[s.at(3)]
			of.Cost = contexts.Tokens(s.turns[3].Body.Content)
		}},
	} {
		data := c.brief(func(s *countedSample) {
			s.request.Budget, s.policy.Sections = 4000, contexts.Sections{}
			x.change(s)
		})
		c.add("brief_"+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: data}, "", c.secret)
	}
	left := c.brief(func(s *countedSample) {
		s.owe()
		s.policy.Sections.Rules = 40
	})
	for _, x := range []forgery{
		{name: "selection_rules", why: "The policy has room for a constraint that is left out.", change: func(b *contexts.Bundle) { b.Policy.Sections.Rules = 600 }},
		{name: "selection_rules_none", why: "The policy leaves out no constraints, and one is left out.", change: func(b *contexts.Bundle) { b.Policy.Sections.Rules = 0 }},
		{name: "selection_others", why: "The policy has less room for what is no constraint than the choice took.", change: func(b *contexts.Bundle) { b.Policy.Sections.Others = 20 }},
		{name: "selection_block", why: "A constraint that is left out says that it takes less.", change: func(b *contexts.Bundle) {
			for i := range b.Candidates {
				if c := &b.Candidates[i]; c.Mandatory() && c.Block > 40 {
					c.Block = 1
				}
			}
		}},
		{name: "policy_hash", why: "The sections are not those of policy_params_hash.", but: []slice.CheckID{slice.CheckPolicyHash}, change: func(b *contexts.Bundle) { b.Policy.Sections.Others++ }},
		{name: "snapshot_label", why: "A line has another label than the leaf of the tree.", but: []slice.CheckID{slice.CheckSnapshot}, change: func(b *contexts.Bundle) {
			_, of := toldIn(b, 3)
			of.Excerpt.As = contexts.Passed
		}},
	} {
		b := must(contexts.Parse(left))
		x.change(b)
		agreeContext(b, x.but...)
		c.add("brief_"+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: c.seal(b)}, "", c.secret)
	}
}

// briefForms are briefs whose members do not go together.
func (c *corpus) briefForms(first []byte) {
	older := c.context(func(*sample) {})
	for _, x := range []struct {
		name, why string
		data      []byte
	}{
		{"sections_none", "A policy of the second type without sections.", once(first, `"sections":{"others":300,"rules":200},`, ``)},
		{"sections_part", "Sections without a limit of constraints.", once(first, `"others":300,"rules":200`, `"others":300`)},
		{"sections_large", "A limit above a million tokens.", once(first, `"others":300`, `"others":1000001`)},
		{"quota_none", "A policy of the second type without a quota of lines.", once(first, `"lines":9,`, ``)},
		{"weight_none", "A policy of the second type without a weight of lines.", once(first, `"line":10,`, ``)},
		{"label", "A label that nobody knows.", once(first, `"as":"said"`, `"as":"sung"`)},
		{"spans_none", "A line without spans.", once(first, `"spans":[[0,49]]`, `"spans":[]`)},
		{"spans_many", "Seventeen spans.", once(first, `"spans":[[0,49]]`, `"spans":[[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7],[7,8],[8,9],[9,10],[10,11],[11,12],[12,13],[13,14],[14,15],[15,16],[16,17]]`)},
		{"span_one", "A span of one number.", once(first, `"spans":[[0,49]]`, `"spans":[[49]]`)},
		{"span_three", "A span of three numbers.", once(first, `"spans":[[0,49]]`, `"spans":[[0,4,9]]`)},
		{"span_empty", "An empty span.", once(first, `"spans":[[0,49]]`, `"spans":[[9,9]]`)},
		{"span_back", "A span that ends before it begins.", once(first, `"spans":[[0,49]]`, `"spans":[[49,0]]`)},
		{"span_text", "A span of texts.", once(first, `"spans":[[0,49]]`, `"spans":[["0","49"]]`)},
		{"span_long", "A span that ends beyond any text.", once(first, `"spans":[[0,49]]`, `"spans":[[0,8388609]]`)},
		{"spans_order", "Spans that do not ascend.", once(first, `"spans":[[0,27],[28,54]]`, `"spans":[[28,54],[0,27]]`)},
		{"spans_overlap", "Spans that overlap.", once(first, `"spans":[[0,27],[28,54]]`, `"spans":[[0,29],[28,54]]`)},
		{"excerpt_member", "A line with one member too many.", once(first, `{"as":"said",`, `{"as":"said","by":"x",`)},
		{"excerpt_null", "A candidate whose line is null.", once(first, `{"as":"said","spans":[[0,46]]}`, `null`)},
		{"old_policy", "Lines under a policy of the first type.", once(first, `"context_policy_v2"`, `"context_policy_v1"`)},
		{"old_format", "A context of gkc/1 in the format brief.", once(older, `"format":"markdown"`, `"format":"brief"`)},
		{"old_source", "A context of gkc/1 with the source lines.", firstOf(older, `"from":["prompts"`, `"from":["lines","prompts"`)},
		{"no_task", "A context in another format without a task and an anchor.", once(c.brief(func(s *countedSample) { s.request.Task, s.request.Anchor, s.statistics = "", nil, nil }), `"format":"brief"`, `"format":"text"`)},
	} {
		c.add("brief_malformed_"+x.name+"_fail", evidence.Malformed, x.why, map[string][]byte{bundleFile: x.data}, "", c.secret)
	}
}
