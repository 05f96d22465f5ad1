package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
)

func fact(subject, predicate, object string, more ...any) map[string]any {
	f := map[string]any{"subject": subject, "predicate": predicate, "object": object}
	for i := 0; i < len(more); i += 2 {
		f[more[i].(string)] = more[i+1]
	}
	return f
}

func facts(list ...map[string]any) map[string]any {
	return map[string]any{"facts": append([]map[string]any{}, list...)}
}

// asserts asserts facts and returns their statements.
func asserts(t testing.TB, c *sdk.ClientSession, list ...map[string]any) (ids []string) {
	t.Helper()
	_, r := must(t, c, "knowledge_assert", facts(list...))
	for _, one := range r["results"].([]any) {
		ids = append(ids, one.(map[string]any)["statement"].(string))
	}
	return ids
}

// knowledgeArguments returns arguments that every tool about facts takes, and learns what
// they need.
func knowledgeArguments(t testing.TB, admin *sdk.ClientSession) map[string]map[string]any {
	asserts(t, admin, fact("A", "knows", "B"))
	entities := map[string]any{"entities": []any{map[string]any{"name": "E", "entityType": "thing", "observations": []any{}}}}
	must(t, admin, "create_entities", entities)
	relations := map[string]any{"relations": []any{map[string]any{"from": "E", "to": "E", "relationType": "is"}}}
	return map[string]map[string]any{
		"knowledge_assert": facts(fact("A", "knows", "B")), "knowledge_find": {}, "knowledge_traverse": {"start": []any{"A"}}, "knowledge_slice": {"start": []any{"A"}},
		"knowledge_path": {"from": "A", "to": "B"}, "knowledge_history": {"subject": "A", "predicate": "knows", "object": "B"},
		"knowledge_retract": {"subject": "A", "dry_run": true},
		"create_entities":   entities, "create_relations": relations, "delete_relations": relations,
		"add_observations": {"observations": []any{}}, "delete_observations": {"deletions": []any{}}, "delete_entities": {"entityNames": []any{}},
		"read_graph": {}, "search_nodes": {"query": "e"}, "open_nodes": {"names": []any{"E"}},
	}
}

// factLines shows facts that came back as "subject predicate object confidence source".
func factLines(list any) (out []string) {
	for _, one := range list.([]any) {
		f := one.(map[string]any)
		out = append(out, fmt.Sprint(f["subject"], " ", f["predicate"], " ", f["object"], " ", f["confidence"], " ", f["source"]))
	}
	return out
}

func sameLines(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestKnowledge goes the whole way of facts: asserted, found, walked, corrected, retracted,
// and still in the history.
func TestKnowledge(t *testing.T) {
	t.Parallel()
	k := testKernel(t)
	c := over(t, New(k, Options{Tools: every(t)}), identity(access.Admin))
	must(t, c, "admit_turns", chain(3))
	_, cut := must(t, c, "cut_slice", map[string]any{"anchor": "ext-3"})

	_, r := must(t, c, "knowledge_assert", facts(
		fact("Ada Lovelace", "wrote", "Note G", "confidence", 0.9, "source", "user", "turn", "ext-2", "slice", cut["slice_id"], "valid_from", "1993-01-01T00:00:00+01:00"),
		fact("Note G", "is about", "Bernoulli numbers"),
		fact("note-g", "IS ABOUT", "bernoulli  numbers", "source", "llm:m", "confidence", 0.25),
		fact("Note G", "is about", "Bernoulli numbers"),
	))
	if fmt.Sprint(r["asserted"], r["confirmed"], r["existing"]) != "2 1 1" {
		t.Errorf("asserted: %v", r)
	}
	results := r["results"].([]any)
	first, second := results[0].(map[string]any), results[1].(map[string]any)
	if first["seq"] != 6.0 || second["statement"] != results[2].(map[string]any)["statement"] || results[3].(map[string]any)["seq"] != nil {
		t.Errorf("results %v", results)
	}
	ada, note := first["statement"].(string), second["statement"].(string)

	find := func(in map[string]any) map[string]any {
		t.Helper()
		_, r := must(t, c, "knowledge_find", in)
		return r
	}
	whole := "ada-lovelace wrote note-g 0.9 user"
	about := "note-g is-about bernoulli-numbers 1 mcp"
	all := find(map[string]any{"evidence": true})
	sameLines(t, "all", factLines(all["facts"]), whole, about)
	one := all["facts"].([]any)[0].(map[string]any)
	if one["turn"] != turnID(2) || one["valid_from"] != "1992-12-31T23:00:00.000000Z" || one["valid_until"] != nil || one["statement"] != ada || one["since"] != 4.0 ||
		fmt.Sprint(one["written"]) != "map[object:Note G subject:Ada Lovelace]" {
		t.Errorf("fact %v", one)
	}
	if e := one["evidence"].([]any)[0].(map[string]any); e["slice"] != cut["slice_id"] || e["turn"] != turnID(2) || e["source"] != "user" || e["at"] == "" {
		t.Errorf("evidence %v", e)
	}
	if two := all["facts"].([]any)[1].(map[string]any); two["evidence_total"] != 2.0 {
		t.Errorf("evidence of %v", two)
	}
	for in, want := range map[string]string{
		`{"subject":"ADA lovelace"}`: whole, `{"predicate":"Wrote"}`: whole, `{"object":"Note G"}`: whole, `{"source":"user"}`: whole, `{"turn":"ext-2"}`: whole,
		`{"statement":"` + note + `"}`: about, `{"min_confidence":0.95}`: about, `{"min_confidence":0.000001,"subject":"ada lovelace"}`: whole, // sent as 1e-06
		`{"valid_at":"1993-01-01T00:00:00Z","entity":"ada-lovelace"}`: whole,
		`{"subject":"nobody"}`: "", `{"as_of":4}`: "", `{"as_of":6,"subject":"ada lovelace"}`: whole, `{"limit":1}`: whole, `{"after":"6.4.0.0"}`: about, `{"source":"mcp","entity":"ada lovelace"}`: "",
		`{"valid_at":"1980-01-01T00:00:00Z","subject":"ada lovelace"}`: "",
	} {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(in), &arguments); err != nil {
			t.Fatal(err)
		}
		got := find(arguments)
		sameLines(t, in, factLines(got["facts"]), slices.DeleteFunc([]string{want}, func(s string) bool { return s == "" })...)
	}
	if page := find(map[string]any{"limit": 1}); page["total"] != 2.0 || page["as_of"] != 6.0 {
		t.Errorf("page %v", page)
	}

	asserts(t, c, fact("Bernoulli numbers", "named after", "Jacob Bernoulli", "confidence", 0.5))
	learnAlias(t, k, "countess-of-lovelace", "ada-lovelace")
	_, walked := must(t, c, "knowledge_traverse", map[string]any{"start": []any{"Countess of Lovelace"}, "direction": "outgoing"})
	var steps []string
	for _, one := range walked["reached"].([]any) {
		r := one.(map[string]any)
		steps = append(steps, fmt.Sprint(r["entity"], " ", r["hops"], " ", r["min_confidence"], " ", r["from"], " ", len(r["path"].([]any))))
	}
	sameLines(t, "reached", steps, "note-g 1 0.9 ada-lovelace 1", "bernoulli-numbers 2 0.9 ada-lovelace 2", "jacob-bernoulli 3 0.5 ada-lovelace 3")
	if walked["cut"] != "" || walked["as_of"] != 8.0 || walked["looked"] == 0.0 {
		t.Errorf("traversal %v", walked)
	}
	bundle, signed := must(t, c, "knowledge_slice", map[string]any{"start": []any{"Countess of Lovelace"}})
	if signed["entities"] != 3.0 || signed["facts"] != 3.0 || signed["cut"] != "" || signed["policy_id"] != "facts@1" || signed["as_of"] != 8.0 {
		t.Errorf("slice %v", signed)
	}
	if _, v := must(t, c, "verify_bundle", map[string]any{"bundle": bundle}); v["admissible"] != true || v["slice_id"] != signed["slice_id"] {
		t.Errorf("verdict %v", v)
	}
	for _, in := range []map[string]any{{"slice_id": signed["slice_id"]}, {"bundle": bundle}} {
		if _, r := must(t, c, "replay_slice", in); r["outcome"] != "identical" {
			t.Errorf("replay %v", r)
		}
	}
	if _, r := must(t, c, "knowledge_traverse", map[string]any{"start": []any{"Note G"}, "max_results": 1, "predicates": []any{"wrote", "is about"}}); r["cut"] != "results" || len(r["reached"].([]any)) != 1 {
		t.Errorf("one result: %v", r)
	}
	if _, r := must(t, c, "knowledge_traverse", map[string]any{"start": []any{"nobody"}, "max_hops": 8, "min_confidence": 0.1, "as_of": 5}); len(r["reached"].([]any)) != 0 || r["as_of"] != 3.0 {
		t.Errorf("from nobody: %v", r)
	}
	_, paths := must(t, c, "knowledge_path", map[string]any{"from": "Jacob Bernoulli", "to": "Countess of Lovelace", "count": 3})
	if len(paths["reached"].([]any)) != 1 {
		t.Fatalf("paths %v", paths)
	}
	way := paths["reached"].([]any)[0].(map[string]any)
	sameLines(t, "path", factLines(way["path"]), "bernoulli-numbers named-after jacob-bernoulli 0.5 mcp", about, whole)
	if edge := way["path"].([]any)[2].(map[string]any); edge["direction"] != "incoming" || edge["turn"] != turnID(2) || edge["statement"] != ada {
		t.Errorf("edge %v", edge)
	}
	if _, r := must(t, c, "knowledge_path", map[string]any{"from": "Jacob Bernoulli", "to": "Ada Lovelace", "max_hops": 2}); len(r["reached"].([]any)) != 0 {
		t.Errorf("a way that is too long: %v", r)
	}

	asserts(t, c, fact("Countess of Lovelace", "lived in", "London"))
	_, paths = must(t, c, "knowledge_path", map[string]any{"from": "London", "to": "Note G"})
	sameLines(t, "under an alias", factLines(paths["reached"].([]any)[0].(map[string]any)["path"]), "ada-lovelace lived-in london 1 mcp", whole)

	better := asserts(t, c, fact("Note G", "is about", "an algorithm", "supersedes", []any{note}))[0]
	if _, err := call(t, c, "knowledge_assert", facts(fact("x", "y", "z"), fact("Note G", "is about", "a loom", "supersedes", []any{note}))); err == nil || !strings.Contains(err.Error(), "knowledge_find says") {
		t.Errorf("superseded twice: %v", err)
	}
	if got := find(map[string]any{"subject": "x"}); got["total"] != 0.0 {
		t.Errorf("a part was recorded: %v", got)
	}
	_, past := must(t, c, "knowledge_history", map[string]any{"statement": note})
	if past["believed"] != false || past["total"] != 2.0 || past["subject"] != "note-g" || past["acts"].([]any)[0].(map[string]any)["until"] != 10.0 {
		t.Errorf("history of what was superseded: %v", past)
	}
	_, dry := must(t, c, "knowledge_retract", map[string]any{"subject": "Note G", "dry_run": true})
	sameLines(t, "dry run", factLines(dry["acts"]), "note-g is-about an-algorithm 1 mcp")
	if _, again := must(t, c, "knowledge_retract", map[string]any{"subject": "Note G", "reason": "a slip"}); again["total"] != 1.0 || again["dry_run"] != false {
		t.Errorf("retracted %v", again)
	}
	if _, none := must(t, c, "knowledge_retract", map[string]any{"subject": "Note G"}); none["total"] != 0.0 {
		t.Errorf("retracted once more %v", none)
	}
	sameLines(t, "earlier", factLines(find(map[string]any{"subject": "Note G", "as_of": 10})["facts"]), "note-g is-about an-algorithm 1 mcp")
	asserts(t, c, fact("Note G", "is about", "an algorithm"))
	_, past = must(t, c, "knowledge_history", map[string]any{"subject": "NOTE G", "predicate": "is about", "object": "an algorithm"})
	kinds := ""
	for _, one := range past["acts"].([]any) {
		a := one.(map[string]any)
		kinds += fmt.Sprint(a["kind"], " ", a["reason"], " ", a["supersedes"], "; ")
	}
	if want := "assert <nil> [" + note + "]; retract a slip <nil>; assert <nil> <nil>; "; kinds != want || past["statement"] != better || past["believed"] != true {
		t.Errorf("history %s of %v, want %s", kinds, past, want)
	}
}

// TestKnowledgeRefused hands in what is wrong about facts.
func TestKnowledgeRefused(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{Tools: every(t)}), identity(access.Admin))
	must(t, c, "admit_turns", chain(2))
	asserts(t, c, fact("a", "b", "c"))
	id := strings.Repeat("0", 64)
	with := func(key string, value any) map[string]any { return facts(fact("x", "y", "z", key, value)) }
	many := make([]map[string]any, MaxFacts+1)
	for i := range many {
		many[i] = fact("x", "y", "z")
	}
	for _, test := range []struct {
		tool      string
		arguments any
		want      string
		schema    bool
	}{
		{"knowledge_assert", nil, `"facts" is missing`, true},
		{"knowledge_assert", facts(), "0 items, want 1 to 1000", true},
		{"knowledge_assert", facts(many...), "1001 items", true},
		{"knowledge_assert", map[string]any{"facts": []any{map[string]any{"subject": "x", "predicate": "y"}}}, `"object" is missing`, true},
		{"knowledge_assert", facts(fact("a", "b", "d"), fact("", "y", "z")), "facts[1].subject: ", true},
		{"knowledge_assert", facts(fact("x", "y", "???")), `"???"`, false},
		{"knowledge_assert", facts(fact("x", strings.Repeat("y", 2049), "z")), "at most 2048", true},
		{"knowledge_assert", with("confidence", 1.5), "confidence", true},
		{"knowledge_assert", with("confidence", 0.1234567), "facts[0].confidence", false},
		{"knowledge_assert", with("confidence", "high"), "confidence", true},
		{"knowledge_assert", with("source", ""), "source", true},
		{"knowledge_assert", with("source", "two words"), "source", true},
		{"knowledge_assert", with("turn", "nowhere"), "facts[0]: the evidence is not in this store: turn: ", false},
		{"knowledge_assert", with("turn", turnID(99)), "the evidence is not in this store", false},
		{"knowledge_assert", with("slice", "x"), "slice", true},
		{"knowledge_assert", with("slice", strings.Repeat("0", 16)), "the evidence is not in this store", false},
		{"knowledge_assert", with("valid_from", "yesterday"), "facts[0].valid_from", false},
		{"knowledge_assert", with("valid_from", "1843-01-01T00:00:00Z"), "outside the years 1970", false},
		{"knowledge_assert", facts(fact("x", "y", "z", "valid_from", "2026-01-02T00:00:00Z", "valid_until", "2026-01-01T00:00:00Z")), "want an end after the beginning", false},
		{"knowledge_assert", with("supersedes", []any{id}), "is not believed", false},
		{"knowledge_assert", with("supersedes", []any{"x"}), "facts[0].supersedes[0]", true},
		{"knowledge_assert", with("weight", 1), `unknown field "weight"`, true},
		{"knowledge_find", map[string]any{"subject": "???"}, `subject: nothing is left`, false},
		{"knowledge_find", map[string]any{"limit": 0}, "1 to 1000", true},
		{"knowledge_find", map[string]any{"limit": 1001}, "1000", true},
		{"knowledge_find", map[string]any{"as_of": 99}, "leave as_of out", false},
		{"knowledge_find", map[string]any{"turn": "nowhere"}, "turn: ", false},
		{"knowledge_find", map[string]any{"statement": "x"}, "statement", true},
		{"knowledge_find", map[string]any{"about": "x"}, "about", true},
		{"knowledge_traverse", map[string]any{}, `"start" is missing`, true},
		{"knowledge_traverse", map[string]any{"start": []any{}}, "0 items, want 1 to 64", true},
		{"knowledge_traverse", map[string]any{"start": []any{"a", "?"}}, "start[1]", false},
		{"knowledge_traverse", map[string]any{"start": []any{"a"}, "max_hops": 9}, "max_hops", true},
		{"knowledge_traverse", map[string]any{"start": []any{"a"}, "max_results": 0}, "1 to 1000", true},
		{"knowledge_traverse", map[string]any{"start": []any{"a"}, "direction": "up"}, "direction: want outgoing", true},
		{"knowledge_traverse", map[string]any{"start": []any{"a"}, "as_of": 99}, "leave as_of out", false},
		{"knowledge_slice", map[string]any{}, `"start" is missing`, true},
		{"knowledge_slice", map[string]any{"start": []any{"a"}, "max_hops": 2}, "max_hops", true},
		{"knowledge_slice", map[string]any{"start": []any{"a"}, "policy": "none@1"}, "list_policies names those", false},
		{"knowledge_slice", map[string]any{"start": []any{"a"}, "policy": "default@1"}, "list_policies shows their types", false},
		{"knowledge_slice", map[string]any{"start": []any{"a"}, "as_of": 99}, "leave as_of out", false},
		{"knowledge_path", map[string]any{"from": "a"}, `"to" is missing`, true},
		{"knowledge_path", map[string]any{"from": "a", "to": "A!"}, "to itself", false},
		{"knowledge_path", map[string]any{"from": "a", "to": "c", "count": 51}, "count", true},
		{"knowledge_history", map[string]any{}, "want statement, or subject", false},
		{"knowledge_history", map[string]any{"subject": "a", "predicate": "b"}, `"object" is missing`, false},
		{"knowledge_history", map[string]any{"statement": id, "subject": "a"}, "not both", false},
		{"knowledge_history", map[string]any{"statement": id}, "not found", false},
		{"knowledge_retract", map[string]any{}, "needs a filter", false},
		{"knowledge_retract", map[string]any{"min_confidence": 0.5}, "needs a filter", false},
		{"knowledge_retract", map[string]any{"valid_at": "2026-01-01T00:00:00Z"}, "needs a filter", false},
		{"knowledge_retract", map[string]any{"subject": "a", "reason": strings.Repeat("x", 1025)}, "reason", true},
		{"knowledge_retract", map[string]any{"subject": "a", "dry_run": "yes"}, "dry_run", true},
		{"knowledge_retract", map[string]any{"subject": "a", "as_of": 1}, "as_of", true},
	} {
		text, err := call(t, c, test.tool, test.arguments)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "internal") {
			t.Errorf("%s of %.80v: %v, %.80s; want an error with %q", test.tool, test.arguments, err, text, test.want)
		}
		refusedBySchema(t, test.tool, test.arguments, test.schema)
	}
	if _, got := must(t, c, "knowledge_find", nil); got["total"] != 1.0 {
		t.Errorf("something was recorded: %v", got)
	}
}

// TestKnowledgeTenants asserts the same in two tenants. Nothing of one is seen from the other.
func TestKnowledgeTenants(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t)})
	mine := over(t, s, access.Identity{Tenant: "mine", Role: access.Admin, Subject: "a"})
	yours := over(t, s, access.Identity{Tenant: "yours", Role: access.Admin, Subject: "a"})
	must(t, mine, "admit_turns", map[string]any{"turns": []any{said(1, "x")}})
	secret := asserts(t, mine, fact("secret", "is", "mine"), fact("A", "is", "B", "turn", "ext-1"))[0]
	must(t, mine, "create_entities", map[string]any{"entities": []any{entityOf("Secret", "thing", "mine")}})
	asserts(t, yours, fact("A", "is", "B"))

	for tool, in := range map[string]map[string]any{
		"knowledge_find": {}, "knowledge_traverse": {"start": []any{"secret", "a"}}, "knowledge_path": {"from": "secret", "to": "mine"},
		"knowledge_retract": {"subject": "secret"}, "read_graph": {}, "search_nodes": {"query": ""}, "open_nodes": {"names": []any{"Secret"}},
	} {
		if text, _ := must(t, yours, tool, in); strings.Contains(text, "secret") || strings.Contains(text, "Secret") {
			t.Errorf("%s across tenants: %s", tool, text)
		}
	}
	if _, err := call(t, yours, "knowledge_history", map[string]any{"statement": secret}); err == nil || !strings.Contains(err.Error(), "not found") || strings.Contains(err.Error(), "mine") {
		t.Errorf("history across tenants: %v", err)
	}
	if _, err := call(t, yours, "knowledge_assert", facts(fact("a", "b", "c", "turn", turnID(1)))); err == nil || strings.Contains(err.Error(), "mine") {
		t.Errorf("a turn across tenants: %v", err)
	}
	must(t, yours, "delete_entities", map[string]any{"entityNames": []any{"Secret"}})
	must(t, yours, "knowledge_retract", map[string]any{"entity": "A"})
	if _, all := must(t, mine, "knowledge_find", nil); all["total"] != 4.0 {
		t.Errorf("another tenant changed %v", all)
	}
}

// refusedBySchema holds what the schema of a tool says of arguments.
func refusedBySchema(t *testing.T, tool string, arguments any, want bool) {
	t.Helper()
	data, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if v == nil {
		v = map[string]any{}
	}
	if err := schemas(t)[tool].input.Validate(v); (err != nil) != want {
		t.Errorf("the schema of %s says %v of %.80v", tool, err, arguments)
	}
}

func learnAlias(t *testing.T, k *kernel.Kernel, alias, canonical string) {
	t.Helper()
	if _, err := k.Facts().Learn(t.Context(), dag.DefaultTenant, []knowledge.Act{{Kind: knowledge.Alias, Alias: alias, Canonical: canonical}}); err != nil {
		t.Fatal(err)
	}
}
