package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// learn records a fact and returns what became of it.
func (s *service) learn(key string, f api.NewFact) api.KnowledgeOutcome {
	s.t.Helper()
	var o api.KnowledgeOutcome
	s.expect(200, question{op: "learnFact", key: key, body: f}).decode(s.t, &o)
	return o
}

func triple(subject, predicate, object string) api.NewFact {
	return api.NewFact{Subject: subject, Predicate: predicate, Object: object}
}

// facts lists facts.
func (s *service) facts(key string, filters ...string) api.Facts {
	s.t.Helper()
	var w api.Facts
	s.expect(200, question{op: "listFacts", key: key, query: values(filters...)}).decode(s.t, &w)
	return w
}

// values makes a query of keys and values.
func values(list ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(list); i += 2 {
		q.Set(list[i], list[i+1])
	}
	return q
}

func TestFacts(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 2)
	_, cut := s.cut(s.admin(), 2)
	agent := s.keys[tenantA][access.Agent]
	first := api.NewFact{
		Subject: "Ada Lovelace", Predicate: "lived in", Object: "London", Confidence: new(dag.PPM(250_000)), Source: "user",
		Turn: turnID(1), ValidFrom: new(dag.Time(473_385_600_000000)), ValidUntil: new(dag.Time(722_822_400_000000)),
	}
	var o api.KnowledgeOutcome
	s.expect(200, question{op: "learnFact", key: agent, body: map[string]any{ // in spellings of its own
		"subject": "Ada Lovelace", "predicate": "lived in", "object": "London", "confidence": json.Number("25e-2"), "source": "user",
		"turn": turnID(1), "valid_from": "1985-01-01T00:00:00Z", "valid_until": "1992-11-27T01:00:00+01:00",
	}}).decode(t, &o)
	if again := s.learn(agent, first); again.Result != "existing" || again.Statement != o.Statement {
		t.Errorf("got %+v, and %+v before", again, o)
	}
	if o.Result != "asserted" || o.Seq != 3 || o.Statement == (dag.Digest{}) {
		t.Errorf("got %+v", o)
	}
	if again := s.learn(agent, first); again.Result != "existing" || again.Seq != 0 || again.Statement != o.Statement {
		t.Errorf("again: got %+v", again)
	}
	second := first
	second.Subject, second.Confidence, second.Source, second.Turn, second.Slice = "ADA  lovelace", new(dag.PPM(500_000)), "", "", slice.SliceID(cut)
	if more := s.learn(agent, second); more.Result != "confirmed" || more.Seq != 4 || more.Statement != o.Statement {
		t.Errorf("confirmed: got %+v", more)
	}
	page := s.facts(s.admin(), "entity", "ada lovelace")
	if page.Total != 1 || len(page.Facts) != 1 || page.AsOf != 4 || page.Next != "" {
		t.Fatalf("got %+v", page)
	}
	f := page.Facts[0]
	if f.Subject != "ada-lovelace" || f.Predicate != "lived-in" || f.Object != "london" || f.Confidence.String() != "0.5" || f.Source != "api" || f.Since != 4 || f.Turn != (dag.TurnID{}) ||
		f.ValidFrom.String() != "1985-01-01T00:00:00.000000Z" || f.ValidUntil.String() != "1992-11-27T00:00:00.000000Z" || f.EvidenceTotal != 2 || len(f.Evidence) != 2 {
		t.Errorf("got %+v", f)
	}
	if e := f.Evidence[0]; e.Seq != 3 || e.Turn.String() != turnID(1) || e.Source != "user" || e.Confidence.String() != "0.25" || e.Written.Subject != "Ada Lovelace" || e.At == 0 {
		t.Errorf("evidence: got %+v", e)
	}
	if e := f.Evidence[1]; string(e.Slice) != cut || e.Turn != (dag.TurnID{}) || e.Written.Subject != "ADA  lovelace" {
		t.Errorf("evidence: got %+v", e)
	}
	for _, tc := range []struct {
		filters []string
		found   int
	}{
		{nil, 1},
		{[]string{"subject", "Ada_Lovelace"}, 1},
		{[]string{"subject", "london"}, 0},
		{[]string{"object", "LONDON"}, 1},
		{[]string{"entity", "paris"}, 0},
		{[]string{"predicate", "lived in"}, 1},
		{[]string{"predicate", "died in"}, 0},
		{[]string{"source", "api"}, 1},
		{[]string{"source", "user"}, 0},
		{[]string{"turn", turnID(1)}, 0},
		{[]string{"turn", turnID(1), "as_of", "3"}, 1},
		{[]string{"statement", o.Statement.String()}, 1},
		{[]string{"statement", strings.Repeat("0", 64)}, 0},
		{[]string{"min_confidence", "0.5"}, 1},
		{[]string{"min_confidence", "5e-1"}, 1},
		{[]string{"min_confidence", "50.0001E-2"}, 0},
		{[]string{"min_confidence", "0.500001"}, 0},
		{[]string{"min_confidence", "1.0"}, 0},
		{[]string{"valid_at", "1990-01-01T00:00:00Z"}, 1},
		{[]string{"valid_at", "1992-11-27T00:00:00Z"}, 0},
		{[]string{"as_of", "2"}, 0},
		{[]string{"as_of", "0"}, 1},
	} {
		if got := s.facts(s.admin(), tc.filters...); got.Total != tc.found || len(got.Facts) != tc.found {
			t.Errorf("%q: got %d", tc.filters, got.Total)
		}
	}
	if early := s.facts(s.admin(), "as_of", "3").Facts[0]; early.Confidence.String() != "0.25" || early.Turn.String() != turnID(1) || early.EvidenceTotal != 1 {
		t.Errorf("as of 3: got %+v", early)
	}
	s.refused(422, "beyond_head", question{op: "listFacts", key: s.admin(), query: values("as_of", "5")})
	for n := range 40 { // of much evidence the newest is shown
		more := triple("Ada Lovelace", "wrote", "Note G")
		more.Source = fmt.Sprintf("witness/%d", n)
		s.learn(agent, more)
	}
	if f := s.facts(s.admin(), "object", "note g").Facts[0]; f.EvidenceTotal != 40 || len(f.Evidence) != 32 || f.Evidence[31].Source != "witness/39" || f.Source != "witness/0" {
		t.Errorf("got %d of %d, the last of %s", len(f.Evidence), f.EvidenceTotal, f.Evidence[len(f.Evidence)-1].Source)
	}
	for place, bad := range map[string][]string{
		"query parameter subject":        {"subject", "???"},
		"query parameter object":         {"object", ""},
		"query parameter source":         {"source", "with space"},
		"query parameter turn":           {"turn", ""},
		"query parameter statement":      {"statement", "ABC"},
		"query parameter min_confidence": {"min_confidence", "0.1234567"},
		"query parameter as_of":          {"as_of", "-1"},
		"query parameter valid_at":       {"valid_at", "yesterday"},
		"query parameter limit":          {"limit", "1001"},
		"query parameter after":          {"after", "7"},
		"query parameter":                {"subjekt", "ada"},
	} {
		if p := s.refused(400, "invalid_request", question{op: "listFacts", key: s.admin(), query: values(bad...)}); p.Place != place || len(p.Detail) < 20 {
			t.Errorf("%q: place %q: %s", bad, p.Place, p.Detail)
		}
	}
}

// TestFactsRefused sends what is no fact, alone and in a batch: the place is named, and
// nothing is kept.
func TestFactsRefused(t *testing.T) {
	s := start(t)
	good := triple("a", "b", "c")
	believed := s.learn(s.admin(), triple("x", "y", "z")).Statement
	for place, bad := range map[string]string{
		"subject":      `{"subject":"???","predicate":"b","object":"c"}`,
		"predicate":    `{"subject":"a","predicate":"","object":"c"}`,
		"object":       `{"subject":"a","predicate":"b","object":"` + strings.Repeat("é", 1500) + `"}`,
		"object#2":     `{"subject":"a","predicate":"b"}`,
		"confidence":   `{"subject":"a","predicate":"b","object":"c","confidence":1.5}`,
		"source":       `{"subject":"a","predicate":"b","object":"c","source":"two words"}`,
		"turn":         `{"subject":"a","predicate":"b","object":"c","turn":""}`,
		"slice":        `{"subject":"a","predicate":"b","object":"c","slice":"12"}`,
		"valid_from":   `{"subject":"a","predicate":"b","object":"c","valid_from":"1843"}`,
		"valid_until":  `{"subject":"a","predicate":"b","object":"c","valid_until":"0001-01-01T00:00:00Z"}`,
		"supersedes":   `{"subject":"a","predicate":"b","object":"c","supersedes":"x"}`,
		"extra":        `{"subject":"a","predicate":"b","object":"c","extra":1}`,
		"confidence#2": `{"subject":"a","predicate":"b","object":"c","confidence":0.1234567}`,
		"confidence#3": `{"subject":"a","predicate":"b","object":"c","confidence":1e-7}`,
		"#2":           `{"subject":"a","predicate":"b","object":"c","valid_from":"2000-01-01T00:00:00Z","valid_until":"2000-01-01T00:00:00Z"}`,
	} {
		place, _, _ = strings.Cut(place, "#")
		p := s.refused(400, "invalid_request", question{op: "learnFact", key: s.admin(), body: bad})
		if p.Place != place && place != "extra" || len(p.Detail) < 15 {
			t.Errorf("%s: got place %q, want %q (%s)", bad, p.Place, place, p.Detail)
		}
		in := s.refused(400, "invalid_request", question{op: "learnFacts", key: s.admin(), body: `{"facts":[{"subject":"a","predicate":"b","object":"c"},` + bad + `]}`})
		if !strings.HasPrefix(in.Place, "facts[1]") || !strings.HasSuffix(in.Place, p.Place) {
			t.Errorf("%s: got place %q in a batch", bad, in.Place)
		}
	}
	s.refused(404, "not_found", question{op: "listFacts", key: s.admin(), query: values("turn", "no such turn")})
	with := good
	with.Turn = "no such turn"
	s.refused(422, "unknown_evidence", question{op: "learnFact", key: s.admin(), body: with})
	with.Turn = turnID(9)
	if p := s.refused(422, "unknown_evidence", question{op: "learnFact", key: s.admin(), body: with}); !strings.Contains(p.Detail, turnID(9)) || strings.Contains(p.Detail, "act 1") {
		t.Errorf("got %+v", p)
	}
	with.Turn, with.Slice = "", "0123456789abcdef"
	if p := s.refused(422, "unknown_evidence", question{op: "learnFacts", key: s.admin(), body: api.Knowledge{Facts: []api.NewFact{good, with}}}); p.Place != "facts[1]" {
		t.Errorf("got %+v", p)
	}
	never := good
	never.Supersedes = []dag.Digest{mustDigest(t, strings.Repeat("ab", 32))}
	if p := s.refused(409, "not_believed", question{op: "learnFact", key: s.admin(), body: never}); p.Place != "supersedes" || !strings.Contains(p.Detail, strings.Repeat("ab", 32)) {
		t.Errorf("got %+v", p)
	}
	if p := s.refused(409, "not_believed", question{op: "learnFacts", key: s.admin(), body: api.Knowledge{
		Retractions: []api.Retraction{{Statement: mustDigest(t, believed.String())}}, Facts: []api.NewFact{good, never},
	}}); p.Place != "facts[1]" {
		t.Errorf("got %+v", p)
	}
	s.refused(400, "invalid_request", question{op: "learnFacts", key: s.admin(), body: `{}`})
	s.refused(400, "invalid_request", question{op: "learnFacts", key: s.admin(), body: `{"facts":[]}`})
	s.refused(400, "invalid_request", question{op: "learnFacts", key: s.admin(), body: `{"retractions":[{"statement":"` + strings.Repeat("0", 64) + `"}]}`})
	if p := s.refused(400, "invalid_request", question{op: "learnFacts", key: s.admin(), body: api.Knowledge{Retractions: []api.Retraction{{Statement: mustDigest(t, believed.String()), Reason: strings.Repeat("é", 600)}}}}); p.Place != "retractions[0].reason" {
		t.Errorf("got %+v", p)
	}
	s.refused(400, "malformed_json", question{op: "learnFact", key: s.admin(), body: `{"subject":"a","subject":"b"}`})
	s.refused(415, "unsupported_media_type", question{op: "learnFact", key: s.admin(), media: "text/plain", body: "a b c"})
	if got := s.facts(s.admin()); got.Total != 1 || got.AsOf != 1 || got.Facts[0].Statement != believed {
		t.Errorf("something was kept: %+v", got)
	}
}

func TestFactBatch(t *testing.T) {
	s := start(t)
	old := s.learn(s.admin(), triple("ada", "lives in", "London")).Statement
	other := s.learn(s.admin(), triple("ada", "lives in", "Paris")).Statement
	instead := triple("ada", "lives in", "Rome")
	instead.Supersedes = []dag.Digest{mustDigest(t, other.String())}
	body := api.Knowledge{
		Retractions: []api.Retraction{{Statement: mustDigest(t, old.String()), Reason: "she left"}, {Statement: mustDigest(t, strings.Repeat("ab", 32))}},
		Facts:       []api.NewFact{instead, triple("ada", "knows", "babbage"), instead},
	}
	var o api.KnowledgeOutcomes
	s.expect(200, question{op: "learnFacts", key: s.admin(), body: body}).decode(t, &o)
	var got []string
	for _, one := range slices.Concat(o.Retractions, o.Facts) {
		got = append(got, string(one.Result))
	}
	if want := []string{"retracted", "absent", "asserted", "asserted", "existing"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if o.Retractions[0].Seq != 5 || o.Facts[0].Seq != 5 || o.Facts[1].Seq != 5 { // as of which all is seen
		t.Errorf("got %+v", o)
	}
	for _, id := range []string{old.String(), other.String()} {
		if got := s.facts(s.admin(), "statement", id); got.Total != 0 {
			t.Errorf("%s is believed: %+v", id, got)
		}
	}
	var h api.FactHistory
	s.expect(200, question{op: "factHistory", key: s.admin(), path: map[string]string{"statement": old.String()}}).decode(t, &h)
	if len(h.Acts) != 2 || h.Acts[0].Kind != "assert" || !h.Acts[0].Version || h.Acts[0].Until != 3 || h.Acts[1].Kind != "retract" || h.Acts[1].Reason != "she left" || h.Next != "" {
		t.Errorf("got %+v", h)
	}
	var page api.FactHistory
	s.expect(200, question{op: "factHistory", key: s.admin(), path: map[string]string{"statement": old.String()}, query: values("limit", "1")}).decode(t, &page)
	if len(page.Acts) != 1 || page.Next != "1" {
		t.Errorf("got %+v", page)
	}
	s.expect(200, question{op: "factHistory", key: s.admin(), path: map[string]string{"statement": old.String()}, query: values("limit", "1", "after", page.Next)}).decode(t, &h)
	if len(h.Acts) != 1 || h.Acts[0].Kind != "retract" {
		t.Errorf("got %+v", h)
	}
	s.refused(404, "not_found", question{op: "factHistory", key: s.admin(), path: map[string]string{"statement": strings.Repeat("0a", 32)}})
	s.refused(400, "invalid_request", question{op: "factHistory", key: s.admin(), path: map[string]string{"statement": "0a"}})
	many := api.Knowledge{}
	for n := range 10_000 {
		many.Facts = append(many.Facts, triple("node "+fmt.Sprint(n), "next", "node "+fmt.Sprint(n+1)))
	}
	s.expect(200, question{op: "learnFacts", key: s.admin(), body: many}).decode(t, &o)
	if len(o.Facts) != 10_000 || o.Facts[9_999].Seq != 10_005 {
		t.Errorf("got %d outcomes", len(o.Facts))
	}
	many.Retractions = []api.Retraction{{Statement: mustDigest(t, o.Facts[0].Statement.String())}}
	s.refused(413, "too_large", question{op: "learnFacts", key: s.admin(), body: many})
}

// TestFactLines records a batch of lines: in their order, all of them or none.
func TestFactLines(t *testing.T) {
	s := start(t)
	old := s.learn(s.admin(), triple("ada", "lives in", "London")).Statement.String()
	lines := func(lines ...string) question {
		return question{op: "learnFacts", key: s.admin(), media: "application/x-ndjson", body: strings.Join(lines, "\n")}
	}
	fact := func(object string) string { return string(mustJSON(t, triple("ada", "lives in", object))) }
	gone := `{"statement":"` + old + `","reason":"she left"}`
	var o api.KnowledgeOutcomes
	s.expect(200, lines("", gone, fact("Rome"), fact("London")+"\r", gone, "", fact("Rome"), "")).decode(t, &o)
	var got []string
	for _, one := range slices.Concat(o.Retractions, o.Facts) {
		got = append(got, fmt.Sprint(one.Result, " ", one.Seq))
	}
	if want := []string{"retracted 5", "retracted 5", "asserted 5", "asserted 5", "existing 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, tc := range []struct {
		status      int
		code, place string
		lines       []string
	}{
		{400, "malformed_json", "line 2", []string{fact("Bath"), `{"subject":`}},
		{400, "malformed_json", "line 1", []string{fact("Bath") + fact("Bath")}},
		{400, "invalid_request", "line 3", []string{fact("Bath"), "", `[]`}},
		{400, "invalid_request", "line 3.predicate", []string{fact("Bath"), "", `{"subject":"a"}`}},
		{400, "invalid_request", "line 2", []string{fact("Bath"), `{"subject":"a","predicate":"b","object":"c","colour":"red"}`}},
		{400, "invalid_request", "line 2", []string{fact("Bath"), `{"statement":"` + old + `","subject":"a"}`}},
		{400, "invalid_request", "line 2.statement", []string{fact("Bath"), `{"statement":"0a"}`}},
		{400, "invalid_request", "line 2.subject", []string{fact("Bath"), `{"subject":"???","predicate":"b","object":"c"}`}},
		{400, "invalid_request", "line 2.confidence", []string{fact("Bath"), `{"subject":"a","predicate":"b","object":"c","confidence":2}`}},
		{422, "unknown_evidence", "line 4", []string{fact("Bath"), "", gone, `{"subject":"a","predicate":"b","object":"c","turn":"` + turnID(9) + `"}`}},
		{409, "not_believed", "line 2", []string{fact("Bath"), `{"subject":"a","predicate":"b","object":"c","supersedes":["` + old + `"]}`}},
		{400, "invalid_request", "body", []string{"", ""}},
		{413, "too_large", "line 10001", slices.Repeat([]string{fact("Bath")}, 10_001)},
	} {
		if p := s.refused(tc.status, tc.code, lines(tc.lines...)); p.Place != tc.place || strings.Contains(p.Detail, "act 1 of") || strings.Contains(p.Detail, "act 2 of") || strings.Contains(p.Detail, "act 3 of") {
			t.Errorf("%.80q: %+v, want %s", tc.lines, p, tc.place)
		}
	}
	if got := s.facts(s.admin()); got.Total != 1 || got.AsOf != 5 {
		t.Errorf("something was kept: %+v", got)
	}
}

// TestFactPages reads pages of one view while facts come and go.
func TestFactPages(t *testing.T) {
	s := start(t)
	var want []string
	for n := range 7 {
		want = append(want, s.learn(s.admin(), triple("hub", "has", "part "+fmt.Sprint(n))).Statement.String())
	}
	var got []string
	cursor := values("limit", "3", "subject", "hub")
	for pages := 0; ; pages++ {
		var page api.Facts
		s.expect(200, question{op: "listFacts", key: s.admin(), query: cursor}).decode(t, &page)
		if page.Total != 7 || page.AsOf != 7 {
			t.Errorf("page %d: %+v", pages, page)
		}
		for _, f := range page.Facts {
			got = append(got, f.Statement.String())
		}
		if page.Next == "" {
			break
		}
		cursor.Set("after", page.Next)
		s.learn(s.admin(), triple("hub", "has", "late part "+fmt.Sprint(pages)))
		s.expect(200, question{op: "retractFacts", key: s.admin(), query: values("object", "part "+fmt.Sprint(6-pages))})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	cursor.Set("as_of", "3")
	s.refused(400, "invalid_request", question{op: "listFacts", key: s.admin(), query: cursor})
}

func TestRetract(t *testing.T) {
	s := start(t)
	s.learn(s.admin(), triple("ada", "wrote", "note g"))
	s.learn(s.admin(), triple("ada", "wrote", "letters"))
	s.learn(s.admin(), triple("babbage", "wrote", "letters"))
	retract := func(filters ...string) (w api.Retracted) {
		t.Helper()
		s.expect(200, question{op: "retractFacts", key: s.keys[tenantA][access.Agent], query: values(filters...)}).decode(t, &w)
		return w
	}
	if got := retract("subject", "Ada", "dry_run", "true"); !got.DryRun || got.Total != 2 || len(got.Acts) != 2 || got.Acts[0].Object != "note-g" {
		t.Errorf("got %+v", got)
	}
	if got := s.facts(s.admin()); got.Total != 3 || got.AsOf != 3 {
		t.Errorf("a dry run changed something: %+v", got)
	}
	if got := retract("subject", "Ada", "dry_run", "false", "reason", "wrong person"); got.DryRun || got.Total != 2 {
		t.Errorf("got %+v", got)
	}
	if got := s.facts(s.admin()); got.Total != 1 || got.Facts[0].Subject != "babbage" {
		t.Errorf("got %+v", got)
	}
	if got := s.facts(s.admin(), "as_of", "3"); got.Total != 3 {
		t.Errorf("the past changed: %+v", got)
	}
	if got := retract("subject", "Ada"); got.Total != 0 || got.Acts == nil {
		t.Errorf("again: %+v", got)
	}
	for _, bad := range [][]string{
		{}, {"min_confidence", "0.5"}, {"valid_at", "2026-01-01T00:00:00Z"}, {"reason", "x"}, {"subject", ""}, {"dry_run", "yes", "subject", "a"}, {"as_of", "1", "subject", "babbage"}, {"subject", "???"}, {"limit", "1", "subject", "babbage"},
		{"subject", "babbage", "reason", strings.Repeat("é", 600)}, {"subject", "babbage", "reason", "\xff"},
	} {
		p := s.refused(400, "invalid_request", question{op: "retractFacts", key: s.admin(), query: values(bad...)})
		if p.Place == "" {
			t.Errorf("%q: no place: %+v", bad, p)
		}
	}
	if got := s.facts(s.admin()); got.Total != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestKnowledgeChanges(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 1)
	s.learn(s.admin(), triple("a", "b", "c"))
	s.expect(200, question{op: "addAliases", key: s.admin(), body: map[string]any{"aliases": []api.Alias{{Alias: "d", Canonical: "a"}}}})
	s.expect(200, question{op: "retractFacts", key: s.admin(), query: values("entity", "D")})
	s.expect(200, question{op: "removeAlias", key: s.admin(), path: map[string]string{"alias": "D"}})
	var kinds []string
	after := "0"
	for {
		var w api.KnowledgeChanges
		s.expect(200, question{op: "knowledgeChanges", key: s.admin(), query: values("after", after, "limit", "3")}).decode(t, &w)
		for _, a := range w.Acts {
			kinds = append(kinds, strings.TrimSpace(fmt.Sprintln(a.Seq, a.Kind, a.Alias, a.Canonical)))
		}
		if after = fmt.Sprint(w.Acts[len(w.Acts)-1].Seq); w.Next == "" {
			break
		} else if w.Next != after {
			t.Errorf("next is %q after act %s", w.Next, after)
		}
	}
	if want := []string{"2 assert", "3 alias d a", "4 retract", "5 unalias d a"}; fmt.Sprint(kinds) != fmt.Sprint(want) || after != "5" {
		t.Errorf("got %q, after %s", kinds, after)
	}
	s.refused(400, "invalid_request", question{op: "knowledgeChanges", key: s.admin(), query: values("after", "x")})
}

// TestKnowledgeEvents follows turns and acts in the order of their numbers.
func TestKnowledgeEvents(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 1)
	s.learn(s.admin(), triple("Ada", "wrote", "Note G"))
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(2, 1)}}})
	s.expect(200, question{op: "addAliases", key: s.admin(), body: map[string]any{"aliases": []api.Alias{{Alias: "countess", Canonical: "ada"}}}})
	many := api.Knowledge{}
	for n := range 450 {
		many.Facts = append(many.Facts, triple("hub", "has", "part "+fmt.Sprint(n)))
	}
	s.expect(200, question{op: "learnFacts", key: s.admin(), body: many})
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(3, 2)}}})
	const last = 4 + 450 + 1
	r := s.stream(t.Context(), s.admin(), "0")
	in := bufio.NewScanner(r.Body)
	list := events(t, in, last)
	_ = r.Body.Close()
	for i, e := range list {
		if want := fmt.Sprintf("%d-0", i+1); e.id != want {
			t.Fatalf("event %d has id %s", i+1, e.id)
		}
	}
	var names []string
	for _, i := range []int{0, 1, 2, 3, 4, last - 1} {
		names = append(names, list[i].name)
	}
	if want := []string{"turn", "knowledge", "turn", "knowledge", "knowledge", "turn"}; !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
	var e api.KnowledgeEvent
	if err := json.Unmarshal([]byte(list[1].data), &e); err != nil || e.Seq != 2 || e.Kind != "assert" || e.Subject != "ada" || e.Object != "note-g" || e.Statement == (dag.Digest{}) || *e.Confidence != dag.One {
		t.Errorf("got %s, %v", list[1].data, err)
	}
}
