package server_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// TestCutFacts cuts slices of facts, and has them judged and replayed.
func TestCutFacts(t *testing.T) {
	s := start(t)
	s.lovelace(s.admin())
	agent, verifier, auditor := s.keys[tenantA][access.Agent], s.keys[tenantA][access.Verifier], s.keys[tenantA][access.Auditor]
	cut := func(body string) ([]byte, *facts.Bundle) {
		t.Helper()
		a := s.expect(200, question{op: "cutFacts", key: agent, body: body})
		b, err := facts.Parse(a.body)
		if err != nil {
			t.Fatal(err)
		}
		if tag := fmt.Sprintf(`"%x"`, sha256.Sum256(a.body)); a.header.Get("ETag") != tag || a.header.Get("Slice-Id") != string(b.Provenance.SliceID) {
			t.Errorf("headers %v", a.header)
		}
		return a.body, b
	}
	data, b := cut(`{"start":"Countess of Lovelace"}`)
	if len(b.Reached) != 4 || len(b.Aliases) != 1 || b.Provenance.PolicyID != "facts@1" || b.Seal.Tenant != tenantA {
		t.Errorf("got %s", data)
	}
	if again, _ := cut(`{"start":["countess-of-lovelace"],"policy":"facts@1","as_of":5}`); !bytes.Equal(again, data) {
		t.Errorf("got %s", again)
	}
	if _, then := cut(`{"start":["Countess of Lovelace","note g"],"as_of":4,"valid_at":"2000-01-01T00:00:00Z"}`); len(then.Reached) != 3 || then.AsOf != 4 || then.Question.ValidAt == nil || len(then.Aliases) != 0 {
		t.Errorf("got %+v", then)
	}
	s.expect(200, question{op: "registerPolicy", key: s.admin(), body: `{"policy_id":"near@1","policy":{"type":"fact_policy_v1","predicates":["Wrote"],"direction":"outgoing","max_hops":1,"max_results":1,"min_confidence":0.6}}`})
	if _, near := cut(`{"start":"ada lovelace","policy":"near@1"}`); len(near.Reached) != 1 || near.Policy.Predicates != "wrote" || near.Policy.MinConfidence != 600_000 {
		t.Errorf("got %+v", near)
	}

	judge := func(body []byte) (v api.BundleVerdict) {
		s.expect(200, question{op: "verifyBundle", key: verifier, body: body}).decode(t, &v)
		return v
	}
	if v := judge(data); !v.Admissible || v.Outcome != "verified" || v.SliceID != string(b.Provenance.SliceID) || len(v.Checks) != 12 {
		t.Errorf("got %+v", v)
	}
	if v := judge(bytes.Replace(data, []byte(`,"incoming":true`), nil, 1)); v.Admissible || v.Outcome == "verified" {
		t.Errorf("got %+v", v)
	}
	if v := judge(bytes.Replace(data, []byte(`note-g`), []byte(`note-h`), -1)); v.Admissible || v.Outcome == "verified" {
		t.Errorf("got %+v", v)
	}
	p := &b.Provenance
	claim := api.TokenClaim{
		SliceID: string(p.SliceID), AnchorTurnID: p.Anchor.String(), PolicyID: string(p.PolicyID), PolicyParamsHash: p.PolicyParamsHash.String(),
		GraphSnapshotHash: p.GraphSnapshotHash.String(), SchemaVersion: p.SchemaVersion, Token: b.Seal.Token, KeyID: b.Seal.KeyID,
	}
	var token api.TokenVerdict
	s.expect(200, question{op: "verifyToken", key: verifier, body: claim}).decode(t, &token)
	if !token.Admissible {
		t.Errorf("the token alone: %+v", token)
	}
	claim.SchemaVersion = "gkp/1" // the token of facts is not one of turns
	s.expect(200, question{op: "verifyToken", key: verifier, body: claim}).decode(t, &token)
	if token.Admissible {
		t.Errorf("the token as one of turns: %+v", token)
	}

	s.learn(s.admin(), triple("Ada Lovelace", "studied", "mathematics"))
	path := map[string]string{"slice_id": string(p.SliceID)}
	for _, body := range []any{nil, data} {
		var r api.Replay
		s.expect(200, question{op: "replaySlice", key: auditor, path: path, body: body}).decode(t, &r)
		if r.Outcome != "identical" || r.AsOf != 5 {
			t.Errorf("got %+v", r)
		}
	}
	s.refused(404, "not_found", question{op: "replaySlice", key: s.keys[tenantB][access.Auditor], path: path})

	for body, place := range map[string]string{
		`{}`:                                   "start",
		`{"start":[]}`:                         "start",
		`{"start":"?!"}`:                       "start",
		`{"start":["a","???"]}`:                "start[1]",
		`{"start":"a","max_hops":2}`:           "max_hops",
		`{"start":"a","policy":"near"}`:        "policy",
		`{"start":"a","policy":"default@1"}`:   "",
		`{"start":"a","valid_at":"yesterday"}`: "valid_at",
		`{"start":"a","as_of":-1}`:             "as_of",
	} {
		if p := s.refused(400, "invalid_request", question{op: "cutFacts", key: agent, body: body}); p.Place != place && !strings.Contains(p.Detail, place) {
			t.Errorf("%s: place %q (%s)", body, p.Place, p.Detail)
		}
	}
	s.refused(404, "unknown_policy", question{op: "cutFacts", key: agent, body: `{"start":"a","policy":"none@1"}`})
	s.refused(422, "beyond_head", question{op: "cutFacts", key: agent, body: `{"start":"a","as_of":99}`})
	s.refused(404, "not_found", question{op: "cutFacts", key: s.keys[tenantB][access.Agent], body: `{"start":"a"}`})
}
