package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
)

// TestRefusedRequests lists requests that do not fit their description. Each is refused with a code and the place of the
// fault, and the detail names the value or the rule. A place that ends in * may be more exact.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.chain(s.admin(), 3)
	s.expect(200, question{op: "setSpace", key: s.admin(), body: api.NewSpace{Space: "acme/s"}})
	id := turnID(1)
	turnWith := func(key string, value any) map[string]any {
		with := turn(9)
		if with[key] = value; value == nil {
			delete(with, key)
		}
		return map[string]any{"turns": []any{with}}
	}
	path := func(name, value string) map[string]string { return map[string]string{name: value} }
	long := func(n int) string { return strings.Repeat("x", n) }
	statements := `"statements":[{"subject":"a","predicate":"b","object":"c"}]`
	for _, c := range []struct {
		op, place, words string // the detail has each of the words, with | between them
		path             map[string]string
		query            url.Values
		media            string
		body             any
	}{
		// Query parameters.
		{op: "listTurns", query: values("limit", "0"), place: "query parameter limit", words: "limit|\"0\"|1"},
		{op: "listTurns", query: values("limit", "1001"), place: "query parameter limit", words: "limit|\"1001\"|1000"},
		{op: "listTurns", query: values("limit", "+1"), place: "query parameter limit", words: "limit|\"+1\"|integer"},
		{op: "listTurns", query: values("limit", "01"), place: "query parameter limit", words: "limit|\"01\"|integer"},
		{op: "listTurns", query: values("limit", "1e2"), place: "query parameter limit", words: "limit|\"1e2\"|integer"},
		{op: "listTurns", query: values("limit", ""), place: "query parameter limit", words: "limit|\"\"|integer"},
		{op: "listTurns", query: url.Values{"limit": {"1", "2"}}, place: "query parameter limit", words: "limit is given twice"},
		{op: "listTurns", query: values("limits", "1"), place: "query parameter", words: "\"limits\" is not known to this operation, which takes conversation, key, role, after, limit"},
		{op: "listTurns", query: values("after", "g"), place: "query parameter after", words: "\"g\"|^[0-9a-f-]{1,36}$"},
		{op: "listTurns", query: values("role", "human"), place: "query parameter role", words: "\"human\"|assistant"},
		{op: "listTurns", query: values("role", ""), place: "query parameter role", words: "\"\"|assistant"},
		{op: "listTurns", query: values("key", ""), place: "query parameter key", words: "\"\"|1"},
		{op: "listTurns", query: values("conversation", "x"), place: "query parameter conversation", words: "\"x\""},
		{op: "listConversations", query: values("newest", "yes"), place: "query parameter newest", words: "\"yes\""},
		{op: "listConversations", query: values("newest", ""), place: "query parameter newest", words: "\"\""},
		{op: "resolveTurn", place: "query parameter name", words: "query parameter name is missing"},
		{op: "resolveTurn", query: values("name", ""), place: "query parameter name", words: "\"\"|1"},
		{op: "resolveTurn", query: values("name", long(1025)), place: "query parameter name", words: "1024"},
		{op: "listSlices", query: values("kind", "turns"), place: "query parameter kind", words: "\"turns\"|slice|belief"},
		{op: "listSlices", query: values("begins", "0b5e0000-"), place: "query parameter begins", words: "{1,16}"},
		{op: "listFacts", query: values("subject", ""), place: "query parameter subject", words: "\"\""},
		{op: "listFacts", query: values("subject", long(2049)), place: "query parameter subject", words: "2048"},
		{op: "listFacts", query: values("min_confidence", "1.5"), place: "query parameter min_confidence", words: "1.5"},
		{op: "listFacts", query: values("min_confidence", ".5"), place: "query parameter min_confidence", words: "\".5\""},
		{op: "listFacts", query: values("min_confidence", "01"), place: "query parameter min_confidence", words: "\"01\""},
		{op: "listFacts", query: values("source", "a b"), place: "query parameter source", words: "\"a b\""},
		{op: "listFacts", query: values("valid_at", long(65)), place: "query parameter valid_at", words: "valid_at"},
		{op: "listFacts", query: values("as_of", "9007199254740992"), place: "query parameter as_of", words: "\"9007199254740992\"|9"},
		{op: "findPaths", query: values("from", "a", "to", "b", "predicates", ""), place: "query parameter predicates", words: "\"\""},
		{op: "findPaths", query: values("from", "a", "to", "b", "predicates", long(8193)), place: "query parameter predicates", words: "predicates"},
		{op: "findPaths", query: values("from", "a", "to", "b", "direction", "up"), place: "query parameter direction", words: "\"up\"|outgoing"},
		{op: "findPaths", query: values("from", "a", "to", "b", "count", "51"), place: "query parameter count", words: "\"51\"|50"},
		{op: "drawKnowledge", query: values("entity", "a", "format", "png"), place: "query parameter format", words: "\"png\"|mermaid"},
		{op: "getProof", query: values("index", "281474976710657"), place: "query parameter index", words: "\"281474976710657\"|at most"},
		{op: "getProof", query: values("index", "-1"), place: "query parameter index", words: "\"-1\""},
		{op: "getConsistency", query: values("from", "1"), place: "query parameter to", words: "query parameter to is missing"},
		{op: "convertBundle", query: values("to", "xml"), body: "{}", place: "query parameter to", words: "\"xml\"|prov"},
		// Path parameters.
		{op: "getTurn", path: path("id", "x"), place: "path parameter id", words: "\"x\""},
		{op: "getSlice", path: path("slice_id", "xyz"), place: "path parameter slice_id", words: "\"xyz\"|16"},
		{op: "getPolicy", path: path("policy_id", "Default@1"), place: "path parameter policy_id", words: "\"Default@1\""},
		{op: "revokeKey", path: path("id", "ABCDEF0123456789"), place: "path parameter id", words: "\"ABCDEF0123456789\"|^[0-9a-f]{16}$"},
		{op: "getWorking", path: path("session", "a b"), place: "path parameter session", words: "\"a b\"|{1,128}"},
		{op: "getTile", path: path("tile", "0/1"), place: "path parameter tile", words: "\"0/1\""},
		{op: "getEntries", path: path("entries", "1"), place: "path parameter entries", words: "\"1\""},
		{op: "getPublicCheckpoint", path: path("tenant", "A"), place: "path parameter tenant", words: "\"A\""},
		{op: "factHistory", path: path("statement", "x"), place: "path parameter statement", words: "\"x\""},
		// Bodies.
		{op: "lookUpTurns", body: `[]`, place: "", words: "object"},
		{op: "lookUpTurns", body: `null`, place: "", words: "null"},
		{op: "lookUpTurns", body: `{}`, place: "ids", words: "ids"},
		{op: "lookUpTurns", body: `{"ids":null}`, place: "ids", words: "ids"},
		{op: "lookUpTurns", body: `{"ids":[]}`, place: "ids", words: "ids|1"},
		{op: "lookUpTurns", body: `{"ids":["` + id + `",7]}`, place: "ids[1]", words: "ids[1]|string"},
		{op: "lookUpTurns", body: `{"ids":["` + id + `","x"]}`, place: "ids[1]", words: "ids[1]"},
		{op: "lookUpTurns", body: `{"ids":["` + id + `"],"extra":1}`, place: "", words: "extra"},
		{op: "lookUpTurns", body: `{"ids":["` + id + `"` + strings.Repeat(`,"`+id+`"`, 1000) + `]}`, place: "ids", words: "ids|1000"},
		{op: "cutSlice", body: `{}`, place: "anchor", words: "anchor"},
		{op: "cutSlice", body: `{"anchor":""}`, place: "anchor", words: "anchor|1"},
		{op: "cutSlice", body: `{"anchor":7}`, place: "anchor", words: "anchor|string"},
		{op: "cutSlice", body: `{"anchor":"` + long(1025) + `"}`, place: "anchor", words: "anchor|1024"},
		{op: "cutSlice", body: `{"anchor":"` + id + `","as_of":-1}`, place: "as_of", words: "as_of|0"},
		{op: "cutSlice", body: `{"anchor":"` + id + `","as_of":1.0}`, place: "as_of", words: "as_of|1.0|integer"},
		{op: "cutSlice", body: `{"anchor":"` + id + `","as_of":9007199254740992}`, place: "as_of", words: "as_of|9"},
		{op: "cutSlice", body: `{"anchor":"` + id + `","format":"html"}`, place: "format", words: "format|markdown"},
		{op: "cutSlice", body: `{"anchor":"` + id + `","policy":"Default"}`, place: "policy", words: "policy"},
		{op: "cutSlice", body: `{"anchor":"` + id + `","extra":true}`, place: "", words: "unknown field \"extra\"; the fields are anchor, policy, as_of, format"},
		{op: "cutSlices", body: `{"requests":[]}`, place: "requests", words: "requests|1"},
		{op: "cutSlices", body: `{"requests":[{"anchor":"` + id + `"},{}]}`, place: "requests[1].anchor", words: "requests[1]|anchor"},
		{op: "cutSlices", body: `{"requests":[{"anchor":"` + id + `","x":1}]}`, place: "requests[0]", words: "requests[0]|unknown field \"x\"; the fields are anchor, "},
		{op: "verifyToken", body: `[]`, place: "", words: "object"},
		{op: "learnFact", body: `{"subject":"a","predicate":"b"}`, place: "object", words: "object"},
		{op: "learnFact", body: `{"subject":"a","predicate":"b","object":"c","confidence":1.5}`, place: "confidence", words: "confidence"},
		{op: "learnFact", body: `{"subject":"a","predicate":"b","object":"c","source":""}`, place: "source", words: "source"},
		{op: "learnFact", body: `{"subject":"a","predicate":"b","object":"c","slice":"abc"}`, place: "slice", words: "slice"},
		{op: "learnFact", body: `{"subject":"a","predicate":"b","object":"c","object_text":"` + long(65537) + `"}`, place: "object_text", words: "object_text|65536"},
		{op: "learnFact", body: `{"subject":"a","predicate":"b","object":"c","supersedes":["A"]}`, place: "supersedes[0]", words: "supersedes[0]"},
		{op: "learnFacts", body: `{"facts":[{"subject":"a","predicate":"b","object":"c","x":1}]}`, place: "facts[0]", words: "facts[0]|x"},
		{op: "learnFacts", body: `{"retractions":[{"statement":"a"}]}`, place: "retractions[0].statement", words: "retractions[0].statement"},
		{op: "learnFacts", media: "application/x-ndjson", body: `{"subject":"a","predicate":"b","object":"c","x":1}`, place: "line 1", words: "line 1|x"},
		{op: "learnFacts", media: "application/x-ndjson", body: "{\"subject\":\"a\",\"predicate\":\"b\",\"object\":\"c\"}\n{\"statement\":7}", place: "line 2.statement", words: "line 2.statement|string"},
		{op: "learnFacts", media: "application/x-ndjson", body: `7`, place: "line 1", words: "line 1|object"},
		{op: "addAliases", body: `{"aliases":[{"alias":"a"}]}`, place: "aliases[0].canonical", words: "aliases[0]|canonical"},
		{op: "traverseKnowledge", body: `{"start":7}`, place: "start", words: "start|string|array"},
		{op: "traverseKnowledge", body: `{"start":["a",7]}`, place: "start*", words: "start[1]|string"},
		{op: "traverseKnowledge", body: `{"start":""}`, place: "start", words: "start"},
		{op: "traverseKnowledge", body: `{"start":"a","max_hops":9}`, place: "max_hops", words: "max_hops|8"},
		{op: "traverseKnowledge", body: `{"start":"a","direction":"up"}`, place: "direction", words: "direction|outgoing"},
		{op: "assembleContext", body: `{"task":"a","except":["` + strings.ToUpper(conversationID(1)) + `"]}`, place: "except[0]", words: "except[0]"},
		{op: "assembleContext", body: `{"task":"a","budget":0}`, place: "budget", words: "budget|1"},
		{op: "assembleContext", body: `{"task":"a","non_empty":"yes"}`, place: "non_empty", words: "non_empty|boolean"},
		{op: "assembleContext", body: `{"task":"a","spaces":["Acme"]}`, place: "spaces[0]", words: "spaces[0]"},
		{op: "assembleContext", body: `{"task":"a","recipient":{}}`, place: "recipient.agent", words: "recipient|agent"},
		{op: "reportNotGiven", path: path("context_id", "0123456789abcdef"), body: `{"bundle_sha256":"` + strings.Repeat("AB", 32) + `","reason":"x"}`, place: "bundle_sha256", words: "bundle_sha256"},
		{op: "createKey", body: `{"role":"root"}`, place: "role", words: "role|auditor"},
		{op: "createKey", body: `{"role":"agent","note":"` + long(201) + `"}`, place: "note", words: "note|200"},
		{op: "explainTurn", path: path("slice_id", "0123456789abcdef"), body: `{"turn":"` + id + `","slice_id":"0123456789abcdef"}`, place: "", words: "slice_id"},
		{op: "eraseTurn", path: path("id", id), body: `{"reason":""}`, place: "reason", words: "reason|1"},
		{op: "eraseTurn", path: path("id", id), body: `{"reason":"` + long(1025) + `"}`, place: "reason", words: "reason|1024"},
		{op: "eraseTurn", path: path("id", id), body: `{}`, place: "reason", words: "reason"},
		{op: "eraseTurn", path: path("id", id), body: `{"reason":"x","id":"` + id + `"}`, place: "", words: "id"},
		{op: "eraseTurn", path: path("id", id), body: `{"body":{"reason":"x"}}`, place: "", words: "body"},
		{op: "eraseTurn", path: path("id", id), query: values("reason", ""), place: "query parameter reason", words: "\"\"|1"},
		{op: "eraseTurn", path: path("id", id), query: values("reason", "x"), body: `{"reason":"x"}`, place: "query parameter reason", words: "want one"},
		{op: "setSpace", body: `{"space":"Acme"}`, place: "space", words: "space"},
		{op: "reviseBeliefs", body: `{"space":"acme/s",` + statements + `,"kind":"A B"}`, place: "kind", words: "kind"},
		{op: "reviseBeliefs", body: `{"space":"acme/s",` + statements + `,"title":"` + long(4097) + `"}`, place: "title", words: "title|4096"},
		{op: "reviseBeliefs", body: `{"space":"acme/s",` + statements + `,"source":"gossip"}`, place: "source", words: "source"},
		{op: "reviseBeliefs", body: `{"space":"acme/s",` + statements + `,"tags":["A B"]}`, place: "tags[0]", words: "tags[0]"},
		{op: "reviseBeliefs", body: `{"space":"acme/s",` + statements + `,"artifacts":[{"name":"A","location":"file:x","media_type":"text/plain","size":1,"sha256":"` + strings.Repeat("ab", 32) + `"}]}`, place: "artifacts[0].name", words: "artifacts[0].name"},
		{op: "reviseBeliefs", body: `{"space":"acme/s",` + statements + `,"links":[{"type":"x","to":"` + long(1025) + `"}]}`, place: "links[0].to", words: "links[0].to|1024"},
		{op: "importPersona", body: `{"space":"acme/s","envelope":[],"signers":["x"]}`, place: "envelope", words: "envelope|object"},
		{op: "importPersona", body: `{"space":"acme/s","envelope":{"payload":"","payloadType":""},"signers":["x"]}`, place: "envelope.signatures", words: "envelope|signatures"},
		{op: "importPersona", body: `{"space":"acme/s","envelope":{"payload":"","payloadType":"","signatures":[]},"signers":["` + long(1025) + `"]}`, place: "signers[0]", words: "signers[0]|1024"},
		{op: "putWorking", path: path("session", "s"), body: `{"messages":[{"role":"human","author":"a","content":"c"}]}`, place: "messages[0].role", words: "messages[0].role|assistant"},
		{op: "putWorking", path: path("session", "s"), body: `{"session":"s","messages":[{"role":"user","author":"a","content":"c"}]}`, place: "", words: "session"},
		{op: "registerPolicy", body: `{"policy_id":"A","policy":{"type":"slice_policy_v1"}}`, place: "policy_id", words: "policy_id"},
		{op: "registerPolicy", body: `{"policy_id":"a@1","policy":{"type":"slice_policy_v1","max_nodes":0}}`, place: "policy", words: "max_nodes|1"},
		{op: "registerPolicy", body: `{"policy_id":"a@1","policy":{"type":"slice_policy_v1","x":0}}`, place: "policy", words: "x"},
		{op: "registerPolicy", body: `{"policy_id":"a@1","policy":{"type":"slice_policy_v1","phase_weights":{"synthesis":2}}}`, place: "policy.phase_weights.synthesis", words: "synthesis"},
		{op: "registerPolicy", body: `{"policy_id":"a@1","policy":{"type":"deny_rules_v1","rules":[{"tool":"a"}]}}`, place: "policy.rules[0]*", words: "rules[0]|reason"},
		{op: "registerPolicy", body: `{"policy_id":"a@1","policy":{"type":"none_v1"}}`, place: "policy.type", words: "none_v1"},
		{op: "registerPolicy", body: `{"policy_id":"a@1","policy":{}}`, place: "policy*", words: "type"},
		{op: "registerPolicy", body: `{"policy_id":"a@1","policy":7}`, place: "policy", words: "policy"},
		{op: "registerPolicy", body: `{"policy_id":"a@1"}`, place: "policy", words: "policy"},
		{op: "registerPolicy", body: `{"policy_id":"a@1","policy":{"type":"slice_policy_v1"},"x":1}`, place: "", words: "x"},
		// Turns.
		{op: "admitTurns", body: `[]`, place: "", words: "object"},
		{op: "admitTurns", body: `{}`, place: "turns", words: "turns"},
		{op: "admitTurns", body: `{"turns":{}}`, place: "turns", words: "turns|array"},
		{op: "admitTurns", body: `{"turns":[]}`, place: "turns", words: "turns|1"},
		{op: "admitTurns", body: `{"turns":[7]}`, place: "turns[0]", words: "turns[0]|object"},
		{op: "admitTurns", body: turnWith("id", nil), place: "turns[0].id", words: "turns[0]|id"},
		{op: "admitTurns", body: turnWith("id", "x"), place: "turns[0].id", words: "turns[0].id"},
		{op: "admitTurns", body: turnWith("role", "human"), place: "turns[0].role", words: "turns[0].role"},
		{op: "admitTurns", body: turnWith("phase", "x"), place: "turns[0].phase", words: "turns[0].phase"},
		{op: "admitTurns", body: turnWith("salience", 2), place: "turns[0].salience", words: "turns[0].salience"},
		{op: "admitTurns", body: turnWith("author", long(129)), place: "turns[0]", words: "turns[0]|author"},
		{op: "admitTurns", body: turnWith("created_at", "x"), place: "turns[0]*", words: "turns[0]|created_at"},
		{op: "admitTurns", body: turnWith("content", 7), place: "turns[0].content", words: "turns[0].content|string"},
		{op: "admitTurns", body: turnWith("content", nil), place: "turns[0]", words: "turns[0]|content"},
		{op: "admitTurns", body: turnWith("salt", "x"), place: "turns[0].salt", words: "turns[0].salt"},
		{op: "admitTurns", body: turnWith("attrs", map[string]any{"k": 7}), place: "turns[0].attrs.k", words: "turns[0].attrs|k|string"},
		{op: "admitTurns", body: turnWith("redacted", false), place: "turns[0]*", words: "turns[0]|redacted|true"},
		{op: "admitTurns", body: turnWith("parents", []any{map[string]any{"id": id, "kind": "x"}}), place: "turns[0].parents[0].kind", words: "turns[0].parents[0]|kind|reply"},
		{op: "admitTurns", body: turnWith("parents", []any{map[string]any{"kind": "reply"}}), place: "turns[0].parents[0].id", words: "turns[0].parents[0]|id"},
		{op: "admitTurns", body: turnWith("extra", 1), place: "turns[0]", words: "turns[0]|unknown field \"extra\"; the fields are |, content, "},
		{op: "admitTurns", body: map[string]any{"turns": []any{turn(9)}, "x": 1}, place: "", words: "unknown field \"x\"; the fields are turns"},
		{op: "admitTurns", media: "application/x-ndjson", body: `7`, place: "line 1", words: "line 1|object"},
		{op: "admitTurns", media: "application/x-ndjson", body: `{"id":"x"}`, place: "line 1*", words: "line 1|id"},
		{op: "admitTurns", media: "application/x-ndjson", body: `{"id":"` + turnID(9) + `","x":1}`, place: "line 1*", words: "line 1"},
		// Media types and absent bodies.
		{op: "cutSlice", body: "", media: "text/plain", place: "Content-Type", words: "\"text/plain\"|application/json"},
		{op: "cutSlice", body: `{}`, media: "text/plain", place: "Content-Type", words: "\"text/plain\"|application/json"},
		{op: "cutSlice", body: `{}`, media: "application/json; charset=latin1", place: "Content-Type", words: "charset=latin1|UTF-8"},
		{op: "learnFacts", body: `{}`, media: "text/csv", place: "Content-Type", words: "\"text/csv\"|application/json or application/x-ndjson"},
	} {
		q := question{op: c.op, key: s.admin(), path: c.path, query: c.query, media: c.media, body: c.body}
		status, code := 400, "invalid_request"
		if c.place == "Content-Type" {
			status, code = 415, "unsupported_media_type"
		}
		text, _ := c.body.(string)
		asked := fmt.Sprintf("%s %v ?%s %.80s", c.op, c.path, c.query.Encode(), text)
		p := s.refused(status, code, q)
		if begins, open := strings.CutSuffix(c.place, "*"); p.Place != c.place && !(open && strings.HasPrefix(p.Place, begins)) {
			t.Errorf("%s: got the place %q, want %q", asked, p.Place, c.place)
		}
		for _, word := range strings.Split(c.words, "|") {
			if !strings.Contains(p.Detail, word) {
				t.Errorf("%s: got %q, want %s in it", asked, p.Detail, word)
			}
		}
	}
}

// TestArtifactRead revises with an artifact, whose size has 64 bits.
func TestArtifactRead(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.expect(200, question{op: "setSpace", key: s.admin(), body: api.NewSpace{Space: "acme/s"}})
	made := api.Artifact{Name: "contract.pdf", Location: "file:contract.pdf", MediaType: "application/pdf", Size: 1 << 40}
	made.SHA256[0] = 1
	s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: api.BeliefRequest{
		Space: "acme/s", Item: "kref://acme/s/terms.fact", Statements: []api.BeliefStatement{{Subject: "a", Predicate: "b", Object: "c"}}, Artifacts: []api.Artifact{made},
	}})
	var w api.ResolvedKref
	s.expect(200, question{op: "resolveKref", key: s.admin(), query: values("ref", "kref://acme/s/terms.fact")}).decode(t, &w)
	if len(w.Revision.Artifacts) != 1 || w.Revision.Artifacts[0] != made {
		t.Errorf("got %+v, want %+v", w, made)
	}
}
