package server_test

import (
	"bytes"
	"net/url"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
)

// TestBrought admits turns with two keys, as JSON and as lines: who may read is shown which
// key brought each, and may ask for those of one.
func TestBrought(t *testing.T) {
	s := start(t)
	agent, admin := s.keys[tenantA][access.Agent], s.admin()
	id := func(key string) string {
		t.Helper()
		presented, err := access.Parse(key)
		if err != nil {
			t.Fatal(err)
		}
		return presented.ID
	}
	lines := append(append(mustJSON(t, turn(2, 1)), '\n'), mustJSON(t, turn(3, 2))...)
	s.expect(200, question{op: "admitTurns", key: agent, body: map[string]any{"turns": []any{turn(1)}}})
	s.expect(200, question{op: "admitTurns", key: admin, body: string(lines), media: "application/x-ndjson"})
	s.expect(200, question{op: "admitTurns", key: admin, body: map[string]any{"turns": []any{turn(1), turn(4, 3)}}}) // the first is there

	want := map[string][]string{id(agent): {turnID(1)}, id(admin): {turnID(2), turnID(3), turnID(4)}}
	for key, turns := range want {
		for _, turn := range turns {
			var stored api.StoredTurn
			s.expect(200, question{op: "getTurn", key: admin, path: map[string]string{"id": turn}}).decode(t, &stored)
			if stored.Key != key || bytes.Contains(stored.Turn, []byte(key)) {
				t.Errorf("turn %s was brought by %q, want %q: %s", turn, stored.Key, key, stored.Turn)
			}
		}
		var page api.ConversationTurns
		listing := question{op: "getConversation", key: admin, path: map[string]string{"id": conversationID(1)}, query: url.Values{"key": {key}}}
		s.expect(200, listing).decode(t, &page)
		if len(page.Turns) != len(turns) || page.Next != "" {
			t.Errorf("of key %s there are %+v, want %v", key, page, turns)
		}
		for _, turn := range page.Turns {
			if turn.Key != key {
				t.Errorf("the listing of key %s has a turn that %q brought", key, turn.Key)
			}
		}
		listing.key = agent
		s.refused(403, "forbidden", listing)
		listing.key, listing.path = admin, map[string]string{"id": conversationID(9)}
		s.refused(404, "not_found", listing)
	}
	for key, status := range map[string]int{"0123456789abcdef": 200, "jwt:nobody": 200, "nobody": 400, "": 400, "jwt:": 400} {
		a := s.ask(question{op: "getConversation", key: admin, path: map[string]string{"id": conversationID(1)}, query: url.Values{"key": {key}}})
		if a.status != status {
			t.Errorf("of key %q: %d, want %d\n%s", key, a.status, status, a.body)
		}
	}
}
