package server_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/knowledge"
)

// spacedService is a service with two spaces of beliefs, and the keys of two agents: one for the first space alone. Of the second space it holds words and
// names that stand nowhere else, which are returned.
func spacedService(t *testing.T) (s *service, free, limited string, hidden []string) {
	s = start(t)
	s.chain(s.admin(), 10)
	mine := api.BeliefRequest{Space: "acme/mine", Item: "kref://acme/mine/open.fact", Turns: []dag.TurnID{mustTurn(t, 1)}, Statements: []api.BeliefStatement{{Subject: "ada", Predicate: "knows", Object: "babbage"}}}
	theirs := api.BeliefRequest{Space: "acme/theirs", Item: "kref://acme/theirs/secret.fact", Turns: []dag.TurnID{mustTurn(t, 2)}, Reason: "whispered", Title: "murmured",
		Statements: []api.BeliefStatement{{Subject: "ada", Predicate: "knows", Object: "gemstone"}, {Subject: "babbage", Predicate: "knows", Object: "gemstone"}}}
	more := theirs
	more.Item, more.Statements = "kref://acme/theirs/undrawn.fact", []api.BeliefStatement{{Subject: "babbage", Predicate: "knows", Object: "treasure"}}
	for _, r := range []api.BeliefRequest{mine, theirs, more} {
		s.expect(200, question{op: "setSpace", key: s.admin(), body: api.NewSpace{Space: r.Space}})
		s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: r})
	}
	s.expect(200, question{op: "linkKref", key: s.admin(), body: api.NewLink{From: string(more.Item + "?r=1"), Type: "depends_on", To: string(mine.Item + "?r=1")}})
	key := func(spaces string) string {
		var made api.MadeAPIKey
		s.expect(200, question{op: "createKey", key: s.admin(), body: api.NewAPIKey{Role: "agent", Spaces: spaces}}).decode(t, &made)
		return made.Key
	}
	return s, key(""), key("acme/mine*"), []string{"gemstone", "whispered", "murmured", "undrawn", "treasure"}
}

// TestSpacesHidden asks everything that an agent may ask, with the key of one who may see every space and of one who may not, and looks in the answers for what
// only the other space has.
func TestSpacesHidden(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine: nothing for the race detector")
	}
	t.Parallel()
	s, free, limited, hidden := spacedService(t)
	var facts api.Facts
	s.expect(200, question{op: "listFacts", key: free}).decode(t, &facts)
	var statements []string
	for _, f := range facts.Facts {
		of := knowledge.Fact{Statement: knowledge.Statement{Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, Until: knowledge.Forever}, Source: f.Source}
		if of.Statement.ID().String() != f.Statement.String() {
			t.Fatalf("the statement %s is %+v", f.Statement, of)
		}
		statements = append(statements, f.Statement.String(), of.Chain().String())
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 4)), known: map[string][]string{
		"AnyUUID": {turnID(1), turnID(2)}, "UUID": {turnID(1), turnID(2)}, "TurnName": {turnID(1), "kref://acme/theirs/secret.fact"},
		"Name": {"ada", "babbage", "knows"}, "BeliefSpace": {"acme/mine", "acme/theirs", "acme/theirs"}, "ItemAddress": {"kref://acme/mine/open.fact", "kref://acme/theirs/secret.fact"},
		"ItemKind": {"fact"}, "Kref": {"kref://acme/mine/open.fact", "kref://acme/theirs/secret.fact", "kref://acme/theirs/secret.fact?r=1"},
		"Digest": statements, "AnyDigest": statements, "LinkTarget": {"kref://acme/theirs/secret.fact?r=1", "turn:" + turnID(1)}, "BeliefSource": {"manual"}, "PolicyID": {"context@1", "recall@1", "facts@1"},
	}}
	tells := func(body []byte) bool {
		return slices.ContainsFunc(hidden, func(word string) bool { return bytes.Contains(body, []byte(word)) })
	}
	told := map[string]bool{}
	all := slices.DeleteFunc(s.drawn(), func(d described) bool { // what no agent may ask
		return s.ask(question{op: d.op.OperationID, key: free, path: map[string]string{"tenant": string(tenantA)}}).status == http.StatusForbidden
	})
	for n := range 6_000 {
		d := all[n%len(all)]
		q := g.request(s, d.op, d.item)
		switch good := g.IntN(2) == 0; {
		case good && q.op == "assembleContext":
			q.body = api.ContextRequest{Task: "whom does ada know, and babbage"}
		case good && q.op == "listFacts": // few of the filters that are drawn let a fact through
			q.query = nil
		case good && q.op == "findPaths":
			q.query = url.Values{"from": {"ada"}, "to": {"babbage"}, "count": {"5"}}
		case good && q.op == "factHistory":
			q.path["statement"] = oneOf(g, statements...)
		}
		if q.key = limited; tells(s.ask(q).body) {
			t.Fatalf("request %d of seed %d: %+v\n%s\ntells the key of another space\n%s", n, seed, q, q.body, s.ask(q).body)
		}
		if q.key = free; tells(s.ask(q).body) {
			told[q.op] = true
		}
	}
	for _, op := range []string{"getBeliefBase", "beliefImpact", "resolveKref", "listItems", "listFacts", "traverseKnowledge", "findPaths", "assembleContext", "knowledgeChanges", "factHistory", "cutFacts", "drawKnowledge"} {
		if !told[op] {
			t.Errorf("%s told the other key nothing of the second space, so it was hardly asked; these did: %q", op, slices.Sorted(maps.Keys(told)))
		}
	}
}

// TestSpacesOfKeys names the other space in each way that there is.
func TestSpacesOfKeys(t *testing.T) {
	t.Parallel()
	s, free, limited, _ := spacedService(t)
	other := "kref://acme/theirs/secret.fact"
	statement := api.BeliefStatement{Subject: "ada", Predicate: "knows", Object: "gemstone"}
	at := func(values ...string) map[string][]string {
		m := map[string][]string{}
		for i := 0; i < len(values); i += 2 {
			m[values[i]] = values[i+1 : i+2]
		}
		return m
	}
	for _, q := range []question{
		{op: "getBeliefBase", query: at("space", "acme/theirs")},
		{op: "explainBelief", query: at("space", "acme/theirs", "subject", "ada", "predicate", "knows", "object", "gemstone")},
		{op: "diffBeliefs", query: at("space", "acme/theirs", "from", "1")},
		{op: "listItems", query: at("space", "acme/theirs")},
		{op: "beliefConflicts", query: at("space", "acme/theirs")},
		{op: "beliefRules", query: at("space", "acme/theirs")},
		{op: "beliefImpact", query: at("ref", other)},
		{op: "resolveKref", query: at("ref", other)},
		{op: "resolveTurn", query: at("name", other)},
		{op: "proposeBeliefs", body: api.BeliefRequest{Space: "acme/theirs", Statements: []api.BeliefStatement{statement}}},
		{op: "proveBelief", body: api.BeliefProofRequest{Space: "acme/theirs", BeliefStatement: statement}},
		{op: "tagKref", body: api.NewTag{Ref: belief.Item(other), Tag: "mine", Revision: 1}},
		{op: "linkKref", body: api.NewLink{From: other + "?r=1", Type: "referenced", To: "turn:" + turnID(1)}},
		{op: "linkKref", body: api.NewLink{From: "kref://acme/mine/open.fact?r=1", Type: "referenced", To: other + "?r=1"}},
		{op: "useBelief", body: api.BeliefUse{Ref: other, Success: true}},
		{op: "assembleContext", body: api.ContextRequest{Task: "ada", Spaces: []belief.Space{"acme/mine", "acme/theirs"}}},
		{op: "searchTurns", body: api.Search{Query: "turn", Space: "acme/theirs"}},
		{op: "cutFacts", body: api.FactSliceRequest{Start: []string{"ada"}}},
		{op: "knowledgeChanges"},
	} {
		q.key = limited
		if p := s.refused(403, "forbidden", q); !strings.Contains(p.Detail, "acme/mine*") {
			t.Errorf("%s: %q does not say which spaces the key is for", q.op, p.Detail)
		}
		q.key = free
		s.expect(200, q)
	}
	var spaces api.Spaces
	if s.expect(200, question{op: "listSpaces", key: limited}).decode(t, &spaces); len(spaces.Spaces) != 1 || spaces.Spaces[0].Space != "acme/mine" {
		t.Errorf("the key of one space sees %+v", spaces)
	}
	var found api.Found
	if s.expect(200, question{op: "searchTurns", key: limited, body: api.Search{Query: "turn", Space: "acme/mine"}}).decode(t, &found); len(found.Hits) != 1 || found.Hits[0].Turn.String() != turnID(1) {
		t.Errorf("turns that the space rests on: %+v", found.Hits)
	}
	s.expect(200, question{op: "cutFacts", key: limited, body: api.FactSliceRequest{Start: []string{"somebody else"}}})

	for role, want := range map[access.Role]int{access.Agent: 200, access.Admin: 400, access.Auditor: 400, access.Verifier: 400} {
		s.expect(want, question{op: "createKey", key: s.admin(), body: api.NewAPIKey{Role: string(role), Spaces: "acme/*"}})
	}
	s.refused(403, "forbidden", question{op: "createKey", key: limited, body: api.NewAPIKey{Role: "agent"}})
}

// TestSpacesOfDependents asks what depends on a belief, of which some is in a space that the key is not for, and some is reached over that alone.
func TestSpacesOfDependents(t *testing.T) {
	t.Parallel()
	s, free, limited, _ := spacedService(t)
	half := dag.PPM(500_000)
	guess := api.BeliefRequest{Space: "acme/mine", Item: "kref://acme/mine/guess.fact", Confidence: &half, Statements: []api.BeliefStatement{{Subject: "pump", Predicate: "is", Object: "on"}}}
	s.expect(200, question{op: "proposeBeliefs", key: free, body: guess})
	for item, to := range map[string]string{"kref://acme/mine/near.fact": string(guess.Item), "kref://acme/theirs/between.fact": string(guess.Item)} {
		space := strings.TrimSuffix(strings.TrimPrefix(item, "kref://"), item[strings.LastIndex(item, "/"):])
		s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: api.BeliefRequest{Space: belief.Space(space), Item: belief.Item(item), Statements: []api.BeliefStatement{{Subject: "tank", Predicate: "is", Object: "full"}}, Links: []api.BeliefLink{{Type: "depends_on", To: to + "?r=1"}}}})
	}
	far := api.BeliefRequest{Space: "acme/mine", Item: "kref://acme/mine/far.fact", Statements: []api.BeliefStatement{{Subject: "valve", Predicate: "is", Object: "open"}}, Links: []api.BeliefLink{{Type: "depends_on", To: "kref://acme/theirs/between.fact?r=1"}}}
	s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: far})

	impact := func(key string) (refs []string) {
		var got api.Impact
		s.expect(200, question{op: "beliefImpact", key: key, query: map[string][]string{"ref": {string(guess.Item)}}}).decode(t, &got)
		for _, l := range got.Links {
			refs = append(refs, l.Ref)
		}
		slices.Sort(refs)
		return refs
	}
	const near, between = "kref://acme/mine/near.fact?r=1", "kref://acme/theirs/between.fact?r=1"
	if got := impact(free); !slices.Equal(got, []string{string(far.Item + "?r=1"), near, between}) {
		t.Errorf("the key of all spaces sees %q", got)
	}
	if got := impact(limited); !slices.Equal(got, []string{near}) {
		t.Errorf("the key of one space sees %q", got)
	}
	denial := guess
	denial.Item, denial.Confidence, denial.Statements = "", nil, []api.BeliefStatement{{Subject: "pump", Predicate: "is", Object: "on", Not: true}}
	review := func(key string, dry bool) []string {
		var got api.BeliefOutcome
		denial.DryRun = dry
		if s.expect(200, question{op: "proposeBeliefs", key: key, body: denial}).decode(t, &got); got.Outcome != "changed" || len(got.GaveWay) != 1 {
			t.Fatalf("%+v", got)
		}
		return got.Review
	}
	if got := review(free, true); !slices.Equal(got, []string{near, between}) {
		t.Errorf("the key of all spaces is to review %q", got)
	}
	if got := review(limited, false); !slices.Equal(got, []string{near}) {
		t.Errorf("the key of one space is to review %q", got)
	}
}
