package server_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
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

// TestAsked has bundles of each kind handed out to one key, and a text erased with another: records, answers and events say which.
func TestAsked(t *testing.T) {
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
	s.chain(admin, 3)
	s.expect(200, question{op: "learnFact", key: admin, body: map[string]any{"subject": "ada", "predicate": "wrote", "object": "notes"}})
	s.expect(200, question{op: "cutSlice", key: agent, body: map[string]any{"anchor": turnID(2)}})
	s.expect(200, question{op: "cutSlice", key: admin, body: map[string]any{"anchor": turnID(2)}}) // the same bundle, which is recorded once
	s.expect(200, question{op: "cutSlices", key: admin, body: map[string]any{"requests": []any{map[string]any{"anchor": turnID(3)}}}})
	s.expect(200, question{op: "cutFacts", key: agent, body: map[string]any{"start": []string{"ada"}}})
	s.expect(200, question{op: "assembleContext", key: agent, body: map[string]any{"task": "turn 2"}})
	var page api.Slices
	s.expect(200, question{op: "listSlices", key: admin}).decode(t, &page)
	var got []string
	for _, i := range page.Slices {
		got = append(got, i.By)
	}
	if want := []string{id(agent), id(admin), id(agent), id(agent)}; !slices.Equal(got, want) {
		t.Errorf("asked by %q, want %q", got, want)
	}
	var erased api.Event
	s.expect(200, question{op: "eraseTurn", key: admin, path: map[string]string{"id": turnID(1)}, body: api.ErasureRequest{Reason: "asked for"}}).decode(t, &erased)
	if erased.By != id(admin) {
		t.Errorf("erased by %q, want %q", erased.By, id(admin))
	}
	if _, err := s.kernel.Turns().Erase(t.Context(), tenantA, mustTurn(t, 2), "asked for"); err != nil {
		t.Fatal(err)
	}
	again := s.expect(200, question{op: "eraseTurn", key: admin, path: map[string]string{"id": turnID(2)}, body: api.ErasureRequest{Reason: "asked for"}})
	if bytes.Contains(again.body, []byte(`"by"`)) {
		t.Errorf("an erasure whose caller was not recorded names one: %s", again.body)
	}
}

// TestListByRole lists the turns of each role, of one key and of both, page by page.
func TestListByRole(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 9) // user is said by even ones, assistant by odd ones
	listed := func(query url.Values) (ids []string) {
		t.Helper()
		query.Set("limit", "2")
		for {
			var page api.StoredTurns
			s.expect(200, question{op: "listTurns", key: s.admin(), query: query}).decode(t, &page)
			for _, stored := range page.Turns {
				var turn api.Turn
				if err := json.Unmarshal(stored.Turn, &turn); err != nil {
					t.Fatal(err)
				}
				if want := query.Get("role"); want != "" && turn.Role != want {
					t.Errorf("the listing of role %s has a turn of %s", want, turn.Role)
				}
				ids = append(ids, turn.ID)
			}
			if page.Next == "" {
				return ids
			}
			query.Set("after", page.Next)
		}
	}
	admin, err := access.Parse(s.admin())
	if err != nil {
		t.Fatal(err)
	}
	even := []string{turnID(2), turnID(4), turnID(6), turnID(8)}
	odd := []string{turnID(1), turnID(3), turnID(5), turnID(7), turnID(9)}
	for _, c := range []struct {
		query url.Values
		want  []string
	}{
		{url.Values{"role": {"user"}}, even},
		{url.Values{"role": {"assistant"}}, odd},
		{url.Values{"role": {"tool"}}, nil},
		{url.Values{"role": {"user"}, "conversation": {conversationID(1)}}, even},
		{url.Values{"role": {"user"}, "conversation": {conversationID(9)}}, nil},
		{url.Values{"role": {"assistant"}, "key": {admin.ID}}, odd},
		{url.Values{"role": {"assistant"}, "key": {"jwt:nobody"}}, nil},
	} {
		if got := listed(c.query); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.query, got, c.want)
		}
	}
	for _, role := range []string{"", "nobody", "User", "user,tool"} {
		s.refused(400, "invalid_request", question{op: "listTurns", key: s.admin(), query: url.Values{"role": {role}}})
	}
}
