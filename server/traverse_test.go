package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// lovelace records a small graph: ada -wrote-> note-g -about-> bernoulli-numbers, babbage
// -knew-> ada, and countess as an alias of ada, who lived in london.
func (s *service) lovelace(key string) {
	s.t.Helper()
	knew := triple("Charles Babbage", "knew", "Ada Lovelace")
	knew.Confidence = new(dag.PPM(500_000))
	until := triple("Countess of Lovelace", "lived in", "London")
	until.ValidUntil = new(dag.Time(631152000_000000))
	s.expect(200, question{op: "learnFacts", key: key, body: api.Knowledge{Facts: []api.NewFact{
		triple("Ada Lovelace", "wrote", "Note G"), triple("Note G", "about", "Bernoulli numbers"), knew, until,
	}}})
	s.alias(key, "Countess of Lovelace", "Ada Lovelace")
}

func (s *service) alias(key, alias, canonical string) {
	s.t.Helper()
	s.expect(200, question{op: "addAliases", key: key, body: map[string]any{"aliases": []api.Alias{{Alias: alias, Canonical: canonical}}}})
}

func reachedNames(w *api.Traversal) (names []string) {
	for _, r := range w.Reached {
		names = append(names, r.Entity)
	}
	slices.Sort(names)
	return names
}

func TestTraverseKnowledge(t *testing.T) {
	s := start(t)
	s.lovelace(s.admin())
	for body, want := range map[string]string{
		`{"start":["ADA lovelace"]}`:                                                 "bernoulli-numbers charles-babbage london note-g",
		`{"start":"Countess of Lovelace"}`:                                           "bernoulli-numbers charles-babbage london note-g",
		`{"start":"Countess of Lovelace","as_of":4}`:                                 "london",
		`{"start":"ada lovelace","max_hops":1}`:                                      "charles-babbage london note-g",
		`{"start":"ada lovelace","direction":"outgoing"}`:                            "bernoulli-numbers london note-g",
		`{"start":"ada lovelace","direction":"incoming"}`:                            "charles-babbage",
		`{"start":"ada lovelace","min_confidence":0.6}`:                              "bernoulli-numbers london note-g",
		`{"start":"ada lovelace","predicates":["Wrote","about"]}`:                    "bernoulli-numbers note-g",
		`{"start":"ada lovelace","valid_at":"2000-01-01T00:00:00Z","max_results":9}`: "bernoulli-numbers charles-babbage note-g",
		`{"start":["nobody","babbage"]}`:                                             "",
	} {
		var w api.Traversal
		s.expect(200, question{op: "traverseKnowledge", key: s.admin(), body: body}).decode(t, &w)
		if got := strings.Join(reachedNames(&w), " "); got != want || w.Cut != "" || w.AsOf == 0 {
			t.Errorf("%s: got %s (%+v)", body, got, w)
		}
	}
	var w api.Traversal
	s.expect(200, question{op: "traverseKnowledge", key: s.admin(), body: `{"start":"charles babbage"}`}).decode(t, &w)
	i := slices.IndexFunc(w.Reached, func(r api.Reached) bool { return r.Entity == "london" })
	if i < 0 {
		t.Fatalf("got %+v", w)
	}
	r := w.Reached[i]
	if r.From != "charles-babbage" || r.Hops != 2 || r.MinConfidence.String() != "0.5" || len(r.Path) != 2 {
		t.Fatalf("got %+v", r)
	}
	if p := r.Path[1]; p.Subject != "ada-lovelace" || p.Object != "london" || p.Predicate != "lived-in" || p.Direction != "outgoing" || p.Confidence.String() != "1" || p.Source != "api" || p.Since != 4 || p.Statement == (dag.Digest{}) || p.ValidUntil == 0 {
		t.Errorf("got %+v", p)
	}
	s.expect(200, question{op: "traverseKnowledge", key: s.admin(), body: `{"start":"ada lovelace","max_results":2}`}).decode(t, &w)
	if len(w.Reached) != 2 || w.Cut != "results" {
		t.Errorf("got %+v", w)
	}
	for body, place := range map[string]string{
		`{}`:                                       "start",
		`{"start":[]}`:                             "start",
		`{"start":"???"}`:                          "start",
		`{"start":["a",""]}`:                       "start[1]",
		`{"start":["a","???"]}`:                    "start[1]",
		`{"start":7}`:                              "start",
		`{"start":"a","direction":"up"}`:           "direction",
		`{"start":"a","max_hops":9}`:               "max_hops",
		`{"start":"a","max_hops":0}`:               "max_hops",
		`{"start":"a","max_hops":1.5}`:             "max_hops",
		`{"start":"a","max_results":1001}`:         "max_results",
		`{"start":"a","min_confidence":0.0000001}`: "min_confidence",
		`{"start":"a","min_confidence":"0.5"}`:     "min_confidence",
		`{"start":"a","valid_at":"now"}`:           "valid_at",
		`{"start":"a","as_of":-1}`:                 "as_of",
		`{"start":"a","predicates":["???"]}`:       "predicates[0]",
		`{"start":"a","predicates":"b"}`:           "predicates",
		`{"start":"a","hops":3}`:                   "hops",
	} {
		if p := s.refused(400, "invalid_request", question{op: "traverseKnowledge", key: s.admin(), body: body}); p.Place != place && place != "hops" || !strings.Contains(p.Detail, strings.TrimSuffix(place, "[0]")) {
			t.Errorf("%s: place %q (%s)", body, p.Place, p.Detail)
		}
	}
	s.refused(422, "beyond_head", question{op: "traverseKnowledge", key: s.admin(), body: `{"start":"a","as_of":6}`})
}

func TestFindPaths(t *testing.T) {
	s := start(t)
	s.lovelace(s.admin())
	s.learn(s.admin(), triple("Ada Lovelace", "studied", "Bernoulli numbers"))
	find := func(query ...string) (w api.Traversal) {
		t.Helper()
		s.expect(200, question{op: "findPaths", key: s.admin(), query: values(query...)}).decode(t, &w)
		return w
	}
	w := find("from", "countess of lovelace", "to", "Bernoulli Numbers", "count", "5")
	if len(w.Reached) != 2 || w.Reached[0].Hops != 1 || w.Reached[1].Hops != 2 || w.Reached[0].Path[0].Predicate != "studied" || w.AsOf != 6 {
		t.Errorf("got %+v", w)
	}
	if w := find("from", "ada lovelace", "to", "bernoulli numbers"); len(w.Reached) != 1 || w.Cut != "results" && w.Cut != "" {
		t.Errorf("got %+v", w)
	}
	if w := find("from", "ada lovelace", "to", "bernoulli numbers", "predicates", "Wrote,about", "direction", "outgoing"); len(w.Reached) != 1 || w.Reached[0].Hops != 2 {
		t.Errorf("got %+v", w)
	}
	for _, none := range [][]string{{"to", "nowhere"}, {"to", "charles babbage", "direction", "outgoing"}, {"to", "charles babbage", "min_confidence", "0.6"}, {"to", "london", "valid_at", "2000-01-01T00:00:00Z"}, {"to", "london", "as_of", "3"}} {
		if w := find(append(none, "from", "Ada Lovelace")...); len(w.Reached) != 0 || w.Reached == nil {
			t.Errorf("%q: got %+v", none, w)
		}
	}
	for _, bad := range [][]string{
		{}, {"from", "a"}, {"from", "a", "to", "???"}, {"from", "a", "to", "A"}, {"from", "a", "to", "b", "count", "51"}, {"from", "a", "to", "b", "count", "0"}, {"from", "a", "to", "b", "max_hops", "9"},
		{"from", "a", "to", "b", "direction", "up"}, {"from", "a", "to", "b", "predicates", "x,,y"}, {"from", "a", "to", "b", "min_confidence", "2"},
	} {
		s.refused(400, "invalid_request", question{op: "findPaths", key: s.admin(), query: values(bad...)})
	}
	s.refused(422, "beyond_head", question{op: "findPaths", key: s.admin(), query: values("from", "a", "to", "b", "as_of", "7")})
}

func TestDrawKnowledge(t *testing.T) {
	s := start(t)
	s.lovelace(s.admin())
	for format, want := range map[string][]string{
		"":        {`"nodes":[{"id":"ada-lovelace","hops":0}`, `"source":"ada-lovelace","target":"note-g","predicate":"wrote","confidence":1`, `"as_of":5`},
		"d3":      {`{"id":"london","hops":1}`},
		"jsonld":  {`"@id":"urn:graphkernel:entity:ada-lovelace"`, `"urn:graphkernel:predicate:wrote":[{"@id":"urn:graphkernel:entity:note-g"}]`},
		"mermaid": {"flowchart LR\n    n0[\"ada-lovelace\"]\n", `-->|"lived-in 1"|`},
		"dot":     {"digraph knowledge {\n", `n0 [label="ada-lovelace"];`},
	} {
		query := values("entity", "Countess of Lovelace")
		if format != "" {
			query.Set("format", format)
		}
		a := s.expect(200, question{op: "drawKnowledge", key: s.admin(), query: query})
		for _, part := range want {
			if !strings.Contains(string(a.body), part) {
				t.Errorf("%s: %s is not in %s", format, part, a.body)
			}
		}
		if again := s.expect(200, question{op: "drawKnowledge", key: s.admin(), query: query}); string(again.body) != string(a.body) {
			t.Errorf("%s: again it is %s", format, again.body)
		}
	}
	if a := s.expect(200, question{op: "drawKnowledge", key: s.admin(), query: values("entity", "ada lovelace", "max_results", "1", "max_hops", "1", "direction", "incoming")}); !strings.Contains(string(a.body), `"target":"ada-lovelace"`) {
		t.Errorf("got %s", a.body)
	}
	for _, bad := range [][]string{{}, {"entity", "???"}, {"entity", "a", "format", "svg"}, {"entity", "a", "max_results", "0"}} {
		s.refused(400, "invalid_request", question{op: "drawKnowledge", key: s.admin(), query: values(bad...)})
	}
	s.refused(422, "beyond_head", question{op: "drawKnowledge", key: s.admin(), query: values("entity", "a", "as_of", "6")})
}

func TestKnowledgeStats(t *testing.T) {
	s := start(t)
	stats := func(query url.Values) (w api.KnowledgeStats) {
		t.Helper()
		s.expect(200, question{op: "knowledgeStats", key: s.admin(), query: query}).decode(t, &w)
		return w
	}
	if w := stats(nil); w.Facts != 0 || w.Entities != 0 || w.AsOf != 0 {
		t.Errorf("got %+v", w)
	}
	s.lovelace(s.admin())
	more := triple("Ada Lovelace", "wrote", "letters")
	more.Source = "user"
	s.learn(s.admin(), more)
	s.expect(200, question{op: "retractFacts", key: s.admin(), query: values("predicate", "about")})
	w := stats(nil)
	if w.Facts != 4 || w.Entities != 5 || w.Aliases != 1 || w.AsOf != 7 || w.PredicatesTotal != 3 || w.SourcesTotal != 2 ||
		fmt.Sprint(w.Predicates) != "[{wrote 2} {knew 1} {lived-in 1}]" || fmt.Sprint(w.Sources) != "[{api 3} {user 1}]" {
		t.Errorf("got %+v", w)
	}
	if w := stats(values("as_of", "4")); w.Facts != 4 || w.Entities != 6 || w.Aliases != 0 || w.AsOf != 4 || w.SourcesTotal != 1 {
		t.Errorf("as of 4: got %+v", w)
	}
	many := api.Knowledge{}
	for n := range 2500 {
		many.Facts = append(many.Facts, triple("hub", "has "+fmt.Sprint(n%150), "part "+fmt.Sprint(n)))
	}
	s.expect(200, question{op: "learnFacts", key: s.admin(), body: many})
	if w := stats(nil); w.Facts != 2504 || w.PredicatesTotal != 153 || len(w.Predicates) != 100 || w.Entities != 2506 {
		t.Errorf("got %d facts, %d entities, %d of %d predicates", w.Facts, w.Entities, len(w.Predicates), w.PredicatesTotal)
	}
	s.refused(422, "beyond_head", question{op: "knowledgeStats", key: s.admin(), query: values("as_of", "99999")})
}

func TestAliases(t *testing.T) {
	s := start(t)
	s.lovelace(s.admin())
	add := func(body string) question { return question{op: "addAliases", key: s.admin(), body: body} }
	list := func(query ...string) (w api.Aliases) {
		t.Helper()
		s.expect(200, question{op: "listAliases", key: s.admin(), query: values(query...)}).decode(t, &w)
		return w
	}
	if w := list(); fmt.Sprint(w) != "{[{countess-of-lovelace ada-lovelace}] 1 5 }" {
		t.Errorf("got %+v", w)
	}
	if w := list("as_of", "4"); w.Total != 0 || w.Aliases == nil {
		t.Errorf("got %+v", w)
	}
	var w api.AliasesAdded
	s.expect(200, add(`{"aliases":[{"alias":"countess of lovelace","canonical":"ada lovelace"},{"alias":"A. A. L.","canonical":"ADA LOVELACE"},{"alias":"100%41","canonical":"hundred"}]}`)).decode(t, &w)
	if w.Added != 2 || w.Existing != 1 || w.List != nil {
		t.Errorf("got %+v", w)
	}
	for body, want := range map[string][]string{ // the place, both names
		`{"aliases":[{"alias":"x","canonical":"y"},{"alias":"countess of lovelace","canonical":"grace hopper"}]}`: {"aliases[1]", "countess-of-lovelace", "ada-lovelace", "grace-hopper"},
		`{"aliases":[{"alias":"x","canonical":"countess of lovelace"}]}`:                                          {"aliases[0]", "countess-of-lovelace", "ada-lovelace"},
		`{"aliases":[{"alias":"ada lovelace","canonical":"grace hopper"}]}`:                                       {"aliases[0]", "ada-lovelace", "grace-hopper"},
		`{"aliases":[{"alias":"x","canonical":"y"},{"alias":"x","canonical":"z"}]}`:                               {"aliases[1]", `"x"`, `"y"`, `"z"`},
	} {
		p := s.refused(409, "alias_conflict", add(body))
		for _, part := range want[1:] {
			if !strings.Contains(p.Detail, part) || p.Place != want[0] {
				t.Errorf("%s: %q at %q lacks %s", body, p.Detail, p.Place, part)
			}
		}
	}
	for body, place := range map[string]string{
		`{"aliases":[{"alias":"Ada","canonical":"ADA"}]}`:             "aliases[0]",
		`{"aliases":[{"alias":"???","canonical":"ada"}]}`:             "aliases[0].alias",
		`{"aliases":[{"alias":"a","canonical":""}]}`:                  "aliases[0].canonical",
		`{"aliases":[{"alias":"a"}]}`:                                 "aliases[0].canonical",
		`{"aliases":[{"alias":"a","canonical":"b","since":"today"}]}`: "aliases[0]",
		`{"aliases":[]}`: "aliases",
	} {
		if p := s.refused(400, "invalid_request", add(body)); !strings.HasPrefix(p.Place, place) || strings.Contains(p.Detail, "act ") {
			t.Errorf("%s: place %q (%s)", body, p.Place, p.Detail)
		}
	}
	if got := list(); got.Total != 3 {
		t.Errorf("something was kept: %+v", got)
	}
	var names []string
	cursor := []string{"limit", "2"}
	for {
		page := list(cursor...)
		for _, a := range page.Aliases {
			names = append(names, a.Alias)
		}
		if page.Next == "" {
			break
		}
		cursor = []string{"limit", "2", "after", page.Next}
		s.alias(s.admin(), "aaa", "zzz") // not of the view that is listed
	}
	if want := []string{"100%41", "a-a-l", "countess-of-lovelace"}; !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
	remove := func(alias string) (o api.KnowledgeOutcome) {
		t.Helper()
		s.expect(200, question{op: "removeAlias", key: s.admin(), path: map[string]string{"alias": alias}}).decode(t, &o)
		return o
	}
	for alias, want := range map[string]string{"Countess of Lovelace": "unaliased", "100%41": "unaliased", "nobody": "absent", "a/A/l": "unaliased", "ada-lovelace": "absent"} {
		if o := remove(alias); string(o.Result) != want || (o.Seq == 0) != (want == "absent") {
			t.Errorf("%s: got %+v", alias, o)
		}
	}
	if o := remove("Countess of Lovelace"); o.Result != "absent" {
		t.Errorf("got %+v", o)
	}
	if p := s.refused(400, "invalid_request", question{op: "removeAlias", key: s.admin(), path: map[string]string{"alias": "???"}}); p.Place != "path parameter alias" {
		t.Errorf("got %+v", p)
	}
}

func TestAliasList(t *testing.T) {
	s := start(t)
	s.lovelace(s.admin())
	csv := func(body string) question {
		return question{op: "addAliases", key: s.admin(), media: "text/csv", body: body}
	}
	var w api.AliasesAdded
	s.expect(200, csv("alias,canonical\nA. A. L.,Ada Lovelace\nLondinium,London\nCountess of Lovelace,Ada Lovelace\nMe,me\n???,x\ny,one\ny,two\np,q\nq,r\n")).decode(t, &w)
	l := w.List
	if w.Added != 2 || w.Existing != 1 || l == nil || l.Entries != 9 || l.Same != 1 || l.Skipped != 1 || l.Ambiguous != 2 || l.Chained != 2 || len(l.Examples) != 4 {
		t.Fatalf("got %+v %+v", w, l)
	}
	if e := l.Examples[0]; e.Place != "line 6" || e.Why == "" {
		t.Errorf("got %+v", e)
	}
	if p := s.refused(409, "alias_conflict", csv("Countess of Lovelace,Grace Hopper\n")); p.Place != "alias countess-of-lovelace" {
		t.Errorf("got %+v", p)
	}
	if p := s.refused(400, "invalid_request", csv("one,two,three\n")); !strings.Contains(p.Detail, "line 1") {
		t.Errorf("got %+v", p)
	}
	var long strings.Builder
	for n := range 10_001 {
		fmt.Fprintf(&long, "alias %d,thing %d\n", n, n)
	}
	s.refused(413, "too_large", csv(long.String()))
	s.expect(200, csv("\n"))
}

// TestKnowledgeTenants returns two tenants the same names, and makes sure that nothing of one
// is seen, ended or walked by the other.
func TestKnowledgeTenants(t *testing.T) {
	s := start(t)
	a, b := s.admin(), s.keys[tenantB][access.Admin]
	s.chain(a, 1)
	s.lovelace(a)
	mine := s.facts(a).Facts[0].Statement
	if got := s.facts(b); got.Total != 0 || got.AsOf != 0 {
		t.Errorf("got %+v", got)
	}
	of := triple("Ada Lovelace", "wrote", "Sketches")
	of.Turn = turnID(1)
	s.refused(422, "unknown_evidence", question{op: "learnFact", key: b, body: of})
	of.Turn, of.Supersedes = "", []dag.Digest{mustDigest(t, mine.String())}
	s.refused(409, "not_believed", question{op: "learnFact", key: b, body: of})
	of.Supersedes = nil
	s.learn(b, of)
	s.refused(404, "not_found", question{op: "factHistory", key: b, path: map[string]string{"statement": mine.String()}})
	var retracted api.Retracted
	s.expect(200, question{op: "retractFacts", key: b, query: values("statement", mine.String())}).decode(t, &retracted)
	var removed api.KnowledgeOutcome
	s.expect(200, question{op: "removeAlias", key: b, path: map[string]string{"alias": "countess-of-lovelace"}}).decode(t, &removed)
	var aliases api.Aliases
	s.expect(200, question{op: "listAliases", key: b}).decode(t, &aliases)
	var w api.Traversal
	s.expect(200, question{op: "traverseKnowledge", key: b, body: `{"start":"ada lovelace"}`}).decode(t, &w)
	var changes api.KnowledgeChanges
	s.expect(200, question{op: "knowledgeChanges", key: b}).decode(t, &changes)
	if retracted.Total != 0 || removed.Result != "absent" || aliases.Total != 0 || fmt.Sprint(reachedNames(&w)) != "[sketches]" || len(changes.Acts) != 1 {
		t.Errorf("got %+v %+v %+v %+v %+v", retracted, removed, aliases, w, changes)
	}
	s.expect(200, question{op: "traverseKnowledge", key: a, body: `{"start":"ada lovelace"}`}).decode(t, &w)
	if got := s.facts(a); got.Total != 4 || slices.Contains(reachedNames(&w), "sketches") {
		t.Errorf("got %+v %+v", got, w)
	}
}

// TestBaseByAlias asks what is believed about a subject by any of its names.
func TestBaseByAlias(t *testing.T) {
	s := start(t)
	s.expect(200, question{op: "setSpace", key: s.admin(), body: api.NewSpace{Space: "acme/s"}})
	s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: api.BeliefRequest{Space: "acme/s", Statements: []api.BeliefStatement{{Subject: "countess", Predicate: "knew", Object: "babbage"}}}})
	s.alias(s.admin(), "countess", "ada")
	for subject, want := range map[string]int{"countess": 1, "Ada": 1, "babbage": 0} {
		var b api.BeliefBase
		s.expect(200, question{op: "getBeliefBase", key: s.admin(), query: values("space", "acme/s", "subject", subject)}).decode(t, &b)
		if len(b.Statements) != want {
			t.Errorf("%s: %+v", subject, b.Statements)
		}
	}
}
