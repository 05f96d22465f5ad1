package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
)

// TestEraseUnknown makes sure that the answer names the turn and no back end.
func TestEraseUnknown(t *testing.T) {
	s := start(t)
	if p := s.refused(400, "invalid_request", question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(1)}, query: values("reason", "asked for"), body: `{}`}); p.Place != "reason" {
		t.Errorf("a body without a reason: %+v", p)
	}
	p := s.refused(404, "not_found", question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(77)}, body: `{"reason":"asked for"}`})
	if p.Detail != "turn "+turnID(77)+": not found" || strings.Contains(p.Detail, "erase") {
		t.Errorf("the answer is %+v", p)
	}
}

// TestErasures reads the list of erasures in pages, and that of one turn.
func TestErasures(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 5)
	auditor := s.keys[tenantA][access.Auditor]
	var want []string
	for _, n := range []int{4, 1, 3} {
		s.expect(200, question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(n)}, body: api.ErasureRequest{Reason: "reason of " + turnID(n)}})
		want = append(want, turnID(n))
	}
	var got []string
	query := values("limit", "2")
	for pages := 1; ; pages++ {
		var page api.Erasures
		s.expect(200, question{op: "listErasures", key: auditor, query: query}).decode(t, &page)
		for _, e := range page.Erasures {
			if got = append(got, e.Turn.String()); e.Reason != "reason of "+e.Turn.String() || e.By == "" || e.At == 0 {
				t.Errorf("got %+v", e)
			}
		}
		if page.Next == "" {
			if pages != 2 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		query.Set("after", page.Next)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	for n, count := range map[int]int{1: 1, 2: 0} {
		var page api.Erasures
		s.expect(200, question{op: "listErasures", key: auditor, query: values("turn", turnID(n))}).decode(t, &page)
		if len(page.Erasures) != count || count == 1 && page.Erasures[0].Turn.String() != turnID(n) {
			t.Errorf("of turn %d: %+v", n, page)
		}
	}
	s.refused(404, "not_found", question{op: "listErasures", key: auditor, query: values("turn", turnID(77))})
	var others api.Erasures
	if s.expect(200, question{op: "listErasures", key: s.keys[tenantB][access.Auditor]}).decode(t, &others); len(others.Erasures) != 0 {
		t.Errorf("another tenant sees %+v", others)
	}
}
