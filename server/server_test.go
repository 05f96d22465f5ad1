package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

func TestAdmit(t *testing.T) {
	s := start(t)
	batch := map[string]any{"turns": []any{turn(2, 1), turn(1)}}
	var r api.Receipt
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: batch}).decode(t, &r)
	if r != (api.Receipt{Admitted: 2, Edges: 1, Head: 2}) {
		t.Errorf("got %+v", r)
	}
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: batch}).decode(t, &r)
	if r != (api.Receipt{Existing: 2, Head: 2}) {
		t.Errorf("again: got %+v", r)
	}
	other := turn(1)
	other["content"] = "something else"
	p := s.refused(409, "conflict", question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(3, 2), other}}})
	if len(p.Stored) != 64 || len(p.Arriving) != 64 || p.Stored == p.Arriving || p.Turn.String() != turnID(1) || p.Place != "turns[1]" || strings.Contains(p.Detail, "append") {
		t.Errorf("the conflict names %q and %q of turn %q", p.Stored, p.Arriving, p.Turn)
	}
	s.expect(404, question{op: "getTurn", key: s.admin(), path: map[string]string{"id": turnID(3)}}) // nothing of the batch
	if p := s.refused(422, "unknown_parent", question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(9, 8)}}}); p.Turn.String() != turnID(8) || p.Place != "turns[0]" || strings.Contains(p.Detail, "append") {
		t.Errorf("the unknown parent is %q", p.Turn)
	}
	if p := s.refused(422, "cycle", question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(5, 6), turn(6, 5)}}}); p.Turn.String() != turnID(5) {
		t.Errorf("the cycle is at %q", p.Turn)
	}
	for place, change := range map[string]func(map[string]any){
		"turns[1].id":         func(m map[string]any) { m["id"] = turnID(7)[1:] },
		"turns[1].role":       func(m map[string]any) { m["role"] = "robot" },
		"turns[1].salience":   func(m map[string]any) { m["salience"] = 1.5 },
		"turns[1].parents[0]": func(m map[string]any) { m["parents"] = []any{7} },
		"turns[1]":            func(m map[string]any) { delete(m, "content") },
	} {
		bad := turn(7)
		change(bad)
		p := s.refused(400, "invalid_request", question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(3, 2), bad}}})
		if p.Place != place || place == "turns[1]" && !strings.Contains(p.Detail, `"content" is missing`) {
			t.Errorf("got place %q, want %q (%s)", p.Place, place, p.Detail)
		}
	}
	if p := s.refused(400, "invalid_request", question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{}, "more": 1}}); !strings.Contains(p.Detail, "more") {
		t.Errorf("%+v", p)
	}
}

func TestAdmitLines(t *testing.T) {
	s := start(t)
	lines := func(turns ...any) string {
		var b strings.Builder
		for _, turn := range turns {
			text, err := json.Marshal(turn)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
			b.WriteByte('\n')
		}
		return b.String()
	}
	const media = "application/x-ndjson"
	many := []any{turn(1)}
	for n := 2; n <= 2500; n++ {
		many = append(many, turn(n, n-1))
	}
	var r api.Receipt
	s.expect(200, question{op: "admitTurns", key: s.admin(), media: media, body: lines(many...)}).decode(t, &r)
	if r != (api.Receipt{Admitted: 2500, Edges: 2499, Head: 2500}) {
		t.Errorf("got %+v", r)
	}
	// What was acknowledged before a fault is said, and stays.
	faulty := append([]any{}, many...)
	for n := 2501; n <= 4600; n++ {
		faulty = append(faulty, turn(n, n-1))
	}
	bad := turn(4600, 4599)
	bad["role"] = "robot"
	faulty[4599] = bad
	p := s.refused(400, "invalid_request", question{op: "admitTurns", key: s.admin(), media: media, body: lines(faulty...)})
	if p.Place != "line 4600.role" || p.Admitted == nil || *p.Admitted != 1500 || *p.Existing != 2500 {
		t.Errorf("got %+v", p)
	}
	s.expect(200, question{op: "getTurn", key: s.admin(), path: map[string]string{"id": turnID(4000)}})
	s.expect(404, question{op: "getTurn", key: s.admin(), path: map[string]string{"id": turnID(4001)}})
	s.expect(200, question{op: "admitTurns", key: s.admin(), media: media, body: "\n" + lines(turn(1)) + "\n\n"}).decode(t, &r)
	if r.Existing != 1 {
		t.Errorf("got %+v", r)
	}
	for name, body := range map[string]string{"no line": "", "half a line": `{"id":`, "two values": `{} {}`} {
		a := s.ask(question{op: "admitTurns", key: s.admin(), media: media, body: body})
		if a.status != 400 {
			t.Errorf("%s: got %d %s", name, a.status, a.body)
		}
	}
	p = s.refused(422, "unknown_parent", question{op: "admitTurns", key: s.admin(), media: media, body: lines(turn(8000, 7999))})
	if p.Place == "" || p.Admitted == nil || *p.Admitted != 0 {
		t.Errorf("got %+v", p)
	}
}

func TestReading(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 7)
	var one api.StoredTurn
	s.expect(200, question{op: "getTurn", key: s.admin(), path: map[string]string{"id": turnID(3)}}).decode(t, &one)
	if one.Seq != 3 || one.Redacted || one.Leaf == (dag.Digest{}) {
		t.Errorf("got %+v", one)
	}
	// What is read can be admitted elsewhere, and is the same there.
	var r api.Receipt
	first := s.expect(200, question{op: "getTurn", key: s.admin(), path: map[string]string{"id": turnID(1)}})
	var stored api.StoredTurn
	first.decode(t, &stored)
	other := s.keys[tenantB][access.Admin]
	s.expect(200, question{op: "admitTurns", key: other, body: map[string]any{"turns": []any{stored.Turn}}}).decode(t, &r)
	var there api.StoredTurn
	s.expect(200, question{op: "getTurn", key: other, path: map[string]string{"id": turnID(1)}}).decode(t, &there)
	if there.Leaf != stored.Leaf || there.BodyDigest != stored.BodyDigest {
		t.Errorf("elsewhere the leaf is %s, here %s", there.Leaf, stored.Leaf)
	}

	var seen []uint64
	cursor := url.Values{"limit": {"3"}}
	for pages := 0; ; pages++ {
		var page api.ConversationTurns
		s.expect(200, question{op: "getConversation", key: s.admin(), path: map[string]string{"id": conversationID(1)}, query: cursor}).decode(t, &page)
		for _, turn := range page.Turns {
			seen = append(seen, uint64(turn.Seq))
		}
		if page.Next == "" {
			if pages != 2 {
				t.Errorf("%d pages", pages+1)
			}
			break
		}
		cursor.Set("after", page.Next)
	}
	if !slices.Equal(seen, []uint64{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("read %v", seen)
	}
	for n := 2; n <= 6; n++ {
		elsewhere := turn(10 + n)
		elsewhere["conversation"] = conversationID(n)
		s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{elsewhere}}})
	}
	var ids []string
	cursor = url.Values{"limit": {"4"}}
	for {
		var page api.Conversations
		s.expect(200, question{op: "listConversations", key: s.admin(), query: cursor}).decode(t, &page)
		for _, c := range page.Conversations {
			ids = append(ids, c.ID.String())
		}
		if page.Next == "" {
			break
		}
		cursor.Set("after", page.Next)
	}
	if len(ids) != 6 || !slices.IsSorted(ids) {
		t.Errorf("listed %v", ids)
	}
	s.refused(404, "not_found", question{op: "getConversation", key: s.admin(), path: map[string]string{"id": conversationID(99)}})
	for _, q := range []url.Values{{"limit": {"0"}}, {"limit": {"1001"}}, {"limit": {"+1"}}, {"limit": {"1", "2"}}, {"offset": {"1"}}, {"after": {"no cursor"}}, {"after": {"0"}}} {
		s.refused(400, "invalid_request", question{op: "listConversations", key: s.admin(), query: q})
	}
}

func TestSlice(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 9)
	a := s.expect(200, question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5)}})
	sum := sha256.Sum256(a.body)
	if want := `"` + hex.EncodeToString(sum[:]) + `"`; a.header.Get("ETag") != want {
		t.Errorf("ETag %s, want %s", a.header.Get("ETag"), want)
	}
	b, err := slice.ParseBundle(a.body)
	if err != nil {
		t.Fatalf("the answer is not canonical: %v", err)
	}
	if string(b.Provenance.SliceID) != a.header.Get("Slice-Id") || b.AsOf != 5 || b.Provenance.PolicyID != "default@3" || b.Seal.Tenant != tenantA {
		t.Errorf("got %+v", b.Provenance)
	}
	both := s.expect(200, question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5), Policy: "default@1"}})
	if b, err := slice.ParseBundle(both.body); err != nil || b.AsOf != 9 {
		t.Errorf("default@1: as of %d, %v", b.AsOf, err)
	}
	for name, first := range map[policy.ID]*answer{"default@1": both, "default@3": a} {
		again := s.expect(200, question{op: "cutSlice", key: s.keys[tenantA][access.Agent], body: api.SliceRequest{Anchor: turnID(5), Policy: name, Format: "bundle"}})
		if !bytes.Equal(again.body, first.body) {
			t.Errorf("%s: the same request gave other bytes", name)
		}
	}
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(10, 9)}}})
	old := s.expect(200, question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5), Policy: "default@1", AsOf: 9}})
	if !bytes.Equal(old.body, both.body) {
		t.Error("as of then, other bytes came")
	}
	if later := s.expect(200, question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5)}}); !bytes.Equal(later.body, a.body) {
		t.Error("of the past, other bytes came after a later turn")
	}
	// The cost of an anchor is bounded by the policy: a byte more than default@3 allows.
	long := turn(11, 10)
	long["content"] = strings.Repeat("x", 4*policy.DefaultV2().MaxCost+1)
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{long}}})
	if p := s.refused(422, "slice_too_large", question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(11)}}); !strings.Contains(p.Detail, "max_cost") {
		t.Errorf("got %s", p.Detail)
	}
	s.expect(200, question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(11), Policy: "default@1"}})
	// The beginning of an id is enough if no other begins so.
	s.refused(409, "ambiguous", question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: "0b5e"}})
	s.refused(404, "not_found", question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: "ffff"}})
	s.refused(404, "not_found", question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(99)}})
	s.refused(404, "unknown_policy", question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5), Policy: "none@1"}})
	s.refused(422, "beyond_head", question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5), AsOf: 12}})
	s.refused(404, "not_found", question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5), AsOf: 4}})
	s.refused(400, "invalid_request", question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5), Format: "pdf"}})
	s.refused(400, "invalid_request", question{op: "cutSlice", key: s.admin(), body: `{"anchor":"` + turnID(5) + `","as_of":1.0}`})
	s.refused(400, "invalid_request", question{op: "cutSlice", key: s.admin(), body: `{"anchor":"` + turnID(5) + `","as_of":-1}`})

	md := s.expect(200, question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5), AsOf: 5, Format: "markdown"}})
	if !strings.HasPrefix(string(md.body), "# Slice "+a.header.Get("Slice-Id")) || md.header.Get("ETag") == a.header.Get("ETag") {
		t.Errorf("got %s\n%s", md.header.Get("ETag"), md.body)
	}
	var m struct {
		Messages []struct{ Role, Content string } `json:"messages"`
	}
	s.expect(200, question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(5), AsOf: 9, Format: "messages"}}).decode(t, &m)
	if len(m.Messages) != 5 || m.Messages[0].Content != "turn 1" {
		t.Errorf("got %+v", m)
	}
}

func TestSliceBatch(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 30)
	requests := api.SliceRequests{}
	for n := range 100 {
		q := api.SliceRequest{Anchor: turnID(n%40 + 1)}
		switch n % 10 {
		case 7:
			q.Format = "markdown"
		case 8:
			q.Format = "messages"
		case 9:
			q.Policy = "none@1"
		}
		requests.Requests = append(requests.Requests, q)
	}
	var r api.BatchResults
	s.expect(200, question{op: "cutSlices", key: s.admin(), body: requests}).decode(t, &r)
	if len(r.Results) != 100 {
		t.Fatalf("%d results", len(r.Results))
	}
	codes := map[string]int{}
	for i, result := range r.Results {
		q := requests.Requests[i]
		alone := s.ask(question{op: "cutSlice", key: s.admin(), body: q})
		if alone.status != result.Status {
			t.Fatalf("%d: status %d, alone %d", i, result.Status, alone.status)
		}
		switch {
		case result.Problem != nil:
			codes[result.Problem.Code]++
			p := alone.problem(t)
			p.RequestID = result.Problem.RequestID
			if fmt.Sprint(p) != fmt.Sprint(*result.Problem) {
				t.Errorf("%d: got %+v, alone %+v", i, *result.Problem, p)
			}
		case q.Format == "markdown":
			codes["markdown"]++
			if result.Markdown != string(alone.body) {
				t.Errorf("%d: another text than alone", i)
			}
		case q.Format == "messages":
			codes["messages"]++
			if !strings.Contains(string(alone.body), string(result.Messages)) {
				t.Errorf("%d: other messages than alone", i)
			}
		default:
			codes["bundle"]++
			if !bytes.Equal(result.Bundle, alone.body) || string(result.SliceID) != alone.header.Get("Slice-Id") {
				t.Errorf("%d: other bytes than alone", i)
			}
		}
	}
	for _, want := range []string{"not_found", "unknown_policy", "markdown", "messages", "bundle"} {
		if codes[want] == 0 {
			t.Errorf("no result was %s: %v", want, codes)
		}
	}
	requests.Requests = append(requests.Requests, requests.Requests[0])
	s.refused(400, "invalid_request", question{op: "cutSlices", key: s.admin(), body: requests})
	s.refused(400, "invalid_request", question{op: "cutSlices", key: s.admin(), body: api.SliceRequests{Requests: []api.SliceRequest{}}})
}

func TestRecords(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 6)
	var ids []string
	var bundles [][]byte
	for n := 1; n <= 6; n++ {
		bundle, id := s.cut(s.admin(), n)
		ids, bundles = append(ids, id), append(bundles, bundle)
	}
	var listed []string
	cursor := url.Values{"limit": {"4"}}
	for {
		var page api.Slices
		s.expect(200, question{op: "listSlices", key: s.admin(), query: cursor}).decode(t, &page)
		for _, i := range page.Slices {
			listed = append(listed, string(i.SliceID))
		}
		if page.Next == "" {
			break
		}
		cursor.Set("after", page.Next)
	}
	if !slices.Equal(listed, ids) {
		t.Errorf("listed %v, want %v", listed, ids)
	}
	var record api.SliceRecord
	s.expect(200, question{op: "getSlice", key: s.admin(), path: map[string]string{"slice_id": ids[2]}}).decode(t, &record)
	sum := sha256.Sum256(bundles[2])
	if len(record.Issued) != 1 || record.Issued[0].Anchor.String() != turnID(3) || record.Issued[0].BundleSHA256.String() != hex.EncodeToString(sum[:]) {
		t.Errorf("got %+v", record)
	}
	path := map[string]string{"slice_id": ids[2]}
	replay := func(body any) api.Replay {
		t.Helper()
		var r api.Replay
		s.expect(200, question{op: "replaySlice", key: s.keys[tenantA][access.Auditor], path: path, body: body}).decode(t, &r)
		return r
	}
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(7, 6)}}})
	if r := replay(nil); r.Outcome != "identical" {
		t.Errorf("got %+v", r)
	}
	if r := replay(bundles[2]); r.Outcome != "identical" {
		t.Errorf("got %+v", r)
	}
	changed := bytes.Replace(bundles[2], []byte(`"turn 2"`), []byte(`"turn X"`), 1)
	if r := replay(changed); r.Outcome != "different" || r.Difference == nil || !strings.Contains(r.Difference.Path, "content") {
		t.Errorf("got %+v", r)
	}
	s.refused(400, "invalid_request", question{op: "replaySlice", key: s.admin(), path: path, body: bundles[3]})
	s.refused(422, "malformed_bundle", question{op: "replaySlice", key: s.admin(), path: path, body: "{}"})
	var event api.Event
	erase := question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(2)}, body: api.ErasureRequest{Reason: "asked for"}}
	s.expect(200, erase).decode(t, &event)
	if event.Kind != "erasure" || event.Turn.String() != turnID(2) || event.Reason != "asked for" || event.Seq != 8 {
		t.Errorf("got %+v", event)
	}
	var again api.Event
	erase.body, erase.query = nil, url.Values{"reason": {"another reason"}}
	s.expect(200, erase).decode(t, &again)
	if again != event {
		t.Errorf("erased again: got %+v, want the first event", again)
	}
	for _, r := range []api.Replay{replay(nil), replay(bundles[2])} {
		if r.Outcome != "erased" || len(r.Erased) != 1 || r.Erased[0].String() != turnID(2) {
			t.Errorf("got %+v", r)
		}
	}
	var stored api.StoredTurn
	s.expect(200, question{op: "getTurn", key: s.admin(), path: map[string]string{"id": turnID(2)}}).decode(t, &stored)
	if !stored.Redacted || strings.Contains(string(stored.Turn), "turn 2") {
		t.Errorf("got %+v", stored)
	}
	s.refused(404, "not_found", question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(99)}, body: api.ErasureRequest{Reason: "x"}})
	s.refused(400, "invalid_request", question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(2)}})
	s.refused(400, "invalid_request", question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(2)}, body: api.ErasureRequest{}})
	s.refused(400, "invalid_request", question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(2)}, query: url.Values{"reason": {"a"}}, body: api.ErasureRequest{Reason: "b"}})
	s.refused(400, "invalid_request", question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(2)}, body: api.ErasureRequest{Reason: strings.Repeat("é", 600)}})

	var e api.Explanation
	s.expect(200, question{op: "explainTurn", key: s.keys[tenantA][access.Auditor], path: path, body: map[string]string{"turn": turnID(1)}}).decode(t, &e)
	if !e.Selected || e.Outcome != "selected" || string(e.SliceID) != ids[2] || e.Explanation == "" || e.Admission == nil {
		t.Errorf("got %+v", e)
	}
	s.expect(200, question{op: "explainTurn", key: s.admin(), path: path, body: map[string]string{"turn": turnID(7)}}).decode(t, &e)
	if e.Selected || e.Outcome != "not_in_view" {
		t.Errorf("got %+v", e)
	}
	s.refused(404, "not_found", question{op: "explainTurn", key: s.admin(), path: path, body: map[string]string{"turn": turnID(99)}})
	for _, op := range []string{"getSlice", "replaySlice"} {
		s.refused(404, "not_found", question{op: op, key: s.admin(), path: map[string]string{"slice_id": "00000000000000ff"}})
		s.refused(400, "invalid_request", question{op: op, key: s.admin(), path: map[string]string{"slice_id": "nope"}})
	}
}

func policyIDs(list *api.Policies) (ids []string) {
	for i := range list.Policies {
		ids = append(ids, string(list.Policies[i].PolicyID))
	}
	return ids
}

func TestPolicies(t *testing.T) {
	s := start(t)
	var list api.Policies
	s.expect(200, question{op: "listPolicies", key: s.admin()}).decode(t, &list)
	if ids := policyIDs(&list); !slices.Equal(ids, []string{"beliefs@1", "beliefs@2", "brief@1", "context@1", "context@2", "default@1", "default@2", "default@3", "elephant-base@1", "elephant-coding@1", "elephant-managerial@1", "elephant-personal@1", "elephant-research@1", "elephant-worker@1", "facts@1", "find@1", "find@2", "promotion@1", "promotion@2", "recall-dense@1", "recall@1", "standing-alone@1", "standing-service@1", "standing-team@1"}) {
		t.Errorf("got %+v", list)
	}
	narrow := `{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":2,"max_radius":4,"phase_weights":{"synthesis":1,"planning":0.9,"consolidation":0.6,"debugging":0.5,"exploration":0.3},"salience_weight":0.3,"distance_decay":0.9,"include_siblings":true,"max_siblings":2}}`
	var added, shown api.RegisteredPolicy
	for range 2 {
		s.expect(200, question{op: "registerPolicy", key: s.admin(), body: narrow}).decode(t, &added)
	}
	s.expect(200, question{op: "getPolicy", key: s.keys[tenantA][access.Agent], path: map[string]string{"policy_id": "narrow@1"}}).decode(t, &shown)
	if shown.PolicyParamsHash != added.PolicyParamsHash || len(added.PolicyParamsHash) != 64 {
		t.Errorf("got %+v and %+v", added, shown)
	}
	s.refused(409, "policy_conflict", question{op: "registerPolicy", key: s.admin(), body: strings.Replace(narrow, `"max_nodes":2`, `"max_nodes":3`, 1)})
	for _, bad := range []string{
		strings.Replace(narrow, "0.9", "0.1234567", 1), strings.Replace(narrow, "0.9", "1.1", 1), strings.Replace(narrow, `"max_nodes":2`, `"max_nodes":0`, 1),
		strings.Replace(narrow, `"max_nodes":2`, `"max_nodes":"2"`, 1), strings.Replace(narrow, "narrow@1", "narrow", 1),
		strings.Replace(narrow, `"max_nodes":2`, `"max_nodes":2,"more":1`, 1), strings.Replace(narrow, "slice_policy_v1", "slice_policy_v9", 1),
	} {
		if a := s.ask(question{op: "registerPolicy", key: s.admin(), body: bad}); a.status != 400 && a.status != 422 {
			t.Errorf("%s: got %d", bad, a.status)
		}
	}
	s.refused(400, "invalid_request", question{op: "registerPolicy", key: s.admin(), body: `{"policy_id":"new@1","policy":{"type":"slice_policy_v9"}}`})
	// What is left out is default@1's.
	var terse api.RegisteredPolicy
	s.expect(200, question{op: "registerPolicy", key: s.admin(), body: `{"policy_id":"terse@1","policy":{"type":"slice_policy_v1"}}`}).decode(t, &terse)
	if hash := policy.DefaultV1().Hash().String(); terse.PolicyParamsHash != hash {
		t.Errorf("got %s, want %s", terse.PolicyParamsHash, hash)
	}
	s.refused(404, "unknown_policy", question{op: "getPolicy", key: s.admin(), path: map[string]string{"policy_id": "none@1"}})
	s.refused(400, "invalid_request", question{op: "getPolicy", key: s.admin(), path: map[string]string{"policy_id": "none"}})
	before := list.RegistryFingerprint
	s.expect(200, question{op: "listPolicies", key: s.admin()}).decode(t, &list)
	if len(list.Policies) != 26 || list.RegistryFingerprint == before {
		t.Errorf("%d policies, fingerprint %s", len(list.Policies), list.RegistryFingerprint)
	}
	s.chain(s.admin(), 5)
	a := s.expect(200, question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(3), Policy: "narrow@1"}})
	if b, err := slice.ParseBundle(a.body); err != nil || len(b.Turns) != 2 {
		t.Errorf("%v, %d turns", err, len(b.Turns))
	}
}

func TestOpenToEverybody(t *testing.T) {
	s := start(t)
	for _, op := range []string{"live", "ready", "startup", "openapi"} {
		s.expect(200, question{op: op})
	}
	page := s.expect(200, question{op: "docs"})
	for _, want := range []string{"/api/verify_token", "curl -sS", "problem-conflict", "schema-SliceRequest"} {
		if !strings.Contains(string(page.body), want) {
			t.Errorf("/docs lacks %s", want)
		}
	}
	if at := bytes.IndexByte(page.body, '`'); at >= 0 {
		t.Errorf("/docs has backquotes in place of code: %.80s", page.body[max(0, at):])
	}
	s.chain(s.admin(), 2)
	s.cut(s.admin(), 2)
	metrics := string(s.expect(200, question{op: "metrics"}).body)
	for _, want := range []string{
		`graphkernel_http_requests_total{operation="cutSlice",status="200"} 1`, "graphkernel_slices_total 1", "graphkernel_slice_turns_sum 2", "graphkernel_turns_admitted_total 2", "go_goroutines",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	for _, secret := range []string{string(tenantA), turnID(1)} {
		if strings.Contains(metrics, secret) {
			t.Errorf("/metrics names %s", secret)
		}
	}
	s.server.Stop()
	var h api.Health
	s.expect(http.StatusServiceUnavailable, question{op: "ready"}).decode(t, &h)
	if h.Status != "stopping" {
		t.Errorf("got %+v", h)
	}
	s.expect(200, question{op: "live"})
}

func TestUnrouted(t *testing.T) {
	s := start(t)
	for path, want := range map[string]string{"/": "no_such_route", "/api": "no_such_route", "/api/turns/": "no_such_route", "/api/nothing": "no_such_route", "/api/slice": "method_not_allowed"} {
		r, err := s.Client().Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var p api.Problem
		err = json.NewDecoder(r.Body).Decode(&p)
		_ = r.Body.Close()
		if err != nil || p.Code != want || r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: got %+v, %v", path, p, err)
		}
	}
}
