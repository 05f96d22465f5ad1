package server_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/slice"
)

// TestIDsInAnyCase names turns, conversations, slices and statements in capitals, wherever a request
// names one. Answers have them in lower case.
func TestIDsInAnyCase(t *testing.T) {
	s := start(t)
	upper := strings.ToUpper
	loud := func(n int, parents ...int) map[string]any {
		w := turn(n, parents...)
		w["id"], w["conversation"] = upper(turnID(n)), upper(conversationID(1))
		for _, p := range w["parents"].([]map[string]string) {
			p["id"] = upper(p["id"])
		}
		return w
	}
	var receipt api.Receipt
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{loud(10), loud(11, 10)}}}).decode(t, &receipt)
	lines := append(append(mustJSON(t, turn(11, 10)), '\n'), mustJSON(t, loud(12, 11))...)
	var second api.Receipt
	s.expect(200, question{op: "admitTurns", key: s.admin(), media: "application/x-ndjson", body: lines}).decode(t, &second)
	if receipt.Admitted != 2 || second.Admitted != 1 || second.Existing != 1 {
		t.Errorf("two spellings are two turns: %+v, %+v", receipt, second)
	}
	var twice, again api.Receipt
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(10), turn(10)}}}).decode(t, &again)
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(10), loud(10)}}}).decode(t, &twice)
	if twice != again {
		t.Errorf("one id in two spellings: %+v, and in one: %+v", twice, again)
	}

	_, cut := s.cut(s.admin(), 11)
	statement := s.learn(s.admin(), api.NewFact{Subject: "ada", Predicate: "wrote", Object: "note g", Turn: upper(turnID(11))}).Statement
	s.learn(s.admin(), api.NewFact{Subject: "ada", Predicate: "knew", Object: "babbage", Slice: slice.SliceID(upper(cut)), Supersedes: nil})
	path := func(name, id string) map[string]string { return map[string]string{name: upper(id)} }
	for _, q := range []question{
		{op: "getTurn", path: path("id", turnID(11))},
		{op: "getConversation", path: path("id", conversationID(1))},
		{op: "listTurns", query: url.Values{"conversation": {upper(conversationID(1))}}},
		{op: "lookUpTurns", body: map[string]any{"ids": []string{upper(turnID(11)), turnID(12)}}},
		{op: "resolveTurn", query: url.Values{"name": {upper(turnID(11))}}},
		{op: "cutSlice", body: map[string]string{"anchor": upper(turnID(11))}},
		{op: "explainCut", body: map[string]string{"anchor": upper(turnID(11)), "turn": upper(turnID(10))}},
		{op: "getSlice", path: path("slice_id", cut)},
		{op: "replaySlice", path: path("slice_id", cut)},
		{op: "explainTurn", path: path("slice_id", cut), body: map[string]string{"turn": upper(turnID(11))}},
		{op: "factHistory", path: path("statement", statement.String())},
		{op: "listFacts", query: url.Values{"turn": {upper(turnID(11))}}},
		{op: "listFacts", query: url.Values{"statement": {upper(statement.String())}}},
		{op: "eraseTurn", path: path("id", turnID(12)), body: api.ErasureRequest{Reason: "x"}},
	} {
		q.key = s.admin()
		body := s.expect(200, q).body
		if strings.Contains(string(body), "0B5E0000") || strings.Contains(string(body), upper(cut)) || strings.Contains(string(body), upper(statement.String())) {
			t.Errorf("%s: %s", q.op, body)
		}
	}
}
