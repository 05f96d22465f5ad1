package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
)

// TestTooManyConstraints asks for more than there may be, and looks at a space that has more from before there were bounds.
func TestTooManyConstraints(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.chain(s.admin(), 2)
	agent := s.keys[tenantA][access.Agent]
	for _, space := range []string{"acme/s", "acme/t"} {
		s.expect(200, question{op: "setSpace", key: s.admin(), body: api.NewSpace{Space: belief.Space(space)}})
	}
	rule := func(n int, summary string) api.BeliefRequest {
		return api.BeliefRequest{Space: "acme/s", Kind: "hard_rule", Summary: summary, Statements: []api.BeliefStatement{{Subject: "agent", Predicate: fmt.Sprint("keeps-", n), Object: "it"}}}
	}
	p := s.refused(422, "too_many_constraints", question{op: "reviseBeliefs", key: s.admin(), body: rule(0, strings.Repeat("x", 2048))})
	if !strings.Contains(p.Detail, "acme/s") || !strings.Contains(p.Detail, "at most 2048") {
		t.Error(p.Detail)
	}
	for n := range 70 {
		_, err := journal.Of(s.store, nil).Operate(t.Context(), tenantA, journal.Request{
			Operator: journal.Revise, Space: "acme/s", Kind: "hard_rule", Statements: []belief.Literal{{Subject: "agent", Predicate: fmt.Sprint("keeps-", n), Object: "it"}}, Span: belief.Always,
			Rank: journal.Rank{Class: belief.HardRule}, By: access.Local, At: 1_780_000_000_000_000, Salt: dag.Salt{byte(n)}, Policy: string(kinds.ID), Constraints: kinds.Default().Constraints(),
			Revision: journal.Revision{Summary: strings.Repeat("y", 600), Confidence: dag.One, Source: "manual"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	p = s.refused(422, "too_many_constraints", question{op: "assembleContext", key: agent, body: api.ContextRequest{Task: "turn", Spaces: []belief.Space{"acme/s"}}})
	if !strings.Contains(p.Detail, "acme/s has 70") || !strings.Contains(p.Detail, "belief deprecate") {
		t.Error(p.Detail)
	}
	for _, spaces := range [][]belief.Space{nil, {"acme/t"}, {"acme/s", "acme/t"}} {
		var c api.Context
		s.expect(200, question{op: "assembleContext", key: agent, body: api.ContextRequest{Task: "turn", Spaces: spaces}}).decode(t, &c)
		if over := len(spaces) != 1; (len(c.Overfull) == 1) != over || over && (c.Overfull[0].Space != "acme/s" || c.Overfull[0].Count != 70 || c.Overfull[0].Left != 70-strings.Count(c.Prompt, "keeps-")) {
			t.Errorf("%v: %+v, %d in the prompt", spaces, c.Overfull, strings.Count(c.Prompt, "keeps-"))
		}
	}
	var w api.Spaces
	s.expect(200, question{op: "listSpaces", key: agent, query: values("constraints", "true")}).decode(t, &w)
	if len(w.Spaces) != 2 || !w.Spaces[0].Constraints.Over || w.Spaces[0].Constraints.Count != 70 || w.Spaces[1].Constraints.Over {
		t.Errorf("%+v", w.Spaces)
	}
	for n := range journal.MaxWaiting + 1 {
		q := question{op: "proposeBeliefs", key: agent, body: api.BeliefRequest{Space: "acme/s", Statements: []api.BeliefStatement{{Subject: "agent", Predicate: fmt.Sprint("keeps-", n), Object: "it", Not: true}}}}
		if n < journal.MaxWaiting {
			s.expect(200, q)
		} else if p := s.refused(422, "too_many_waiting", q); !strings.Contains(p.Detail, "50 proposals of") {
			t.Error(p.Detail)
		}
	}
}
