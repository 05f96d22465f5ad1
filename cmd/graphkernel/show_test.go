package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/turns"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestShowKey lists the turns that a key brought, of one conversation and of all, beside a tree
// that says of each turn what brought it; and those of a role, alone and with a key.
func TestShowKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Create(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const amount = 40
	brought := map[string][]string{}           // ids by key
	within := map[string]map[string][]string{} // and by conversation
	said := map[string]map[string][]string{}   // ids by role and key; by "" for any key
	for n := range amount {
		a := storetest.Arrival(n, n%2, "a turn")
		if _, err := s.Append(t.Context(), "default", []store.Batch{{a}}); err != nil {
			t.Fatal(err)
		}
		id, of := a.Turn.ID.String(), a.Turn.Conversation.String()
		brought[a.Key] = append(brought[a.Key], id)
		if within[of] == nil {
			within[of] = map[string][]string{}
		}
		within[of][a.Key] = append(within[of][a.Key], id)
		role := a.Turn.Role.String()
		if said[role] == nil {
			said[role] = map[string][]string{}
		}
		said[role][""] = append(said[role][""], id)
		if a.Key != "" {
			said[role][a.Key] = append(said[role][a.Key], id)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		a := testApp()
		var out, said bytes.Buffer
		a.IO.Stdout, a.IO.Stderr = &out, &said
		env := map[string]string{"HOME": t.TempDir()}
		a.Settings.Getenv = func(name string) string { return env[name] }
		if code := a.Run(context.Background(), append([]string{"--store", "sqlite:" + path}, args...)); code != want {
			t.Errorf("%q: exit code %d, want %d: %s", args, code, want, said.String())
		}
		return out.String()
	}
	type list struct {
		Turns []turns.ShownTurn `json:"turns"`
	}
	shown := func(args ...string) list {
		t.Helper()
		var l list
		if err := json.Unmarshal([]byte(run(0, append([]string{"--output", "json", "show"}, args...)...)), &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	expect := func(l list, key string, want []string) {
		t.Helper()
		var got []string
		for _, turn := range l.Turns {
			got = append(got, turn.ID)
			if turn.Key != key || !slices.Contains(within[turn.Conversation][key], turn.ID) {
				t.Errorf("turn %s of %s was brought by %q, want %q", turn.ID, turn.Conversation, turn.Key, key)
			}
		}
		if !slices.Equal(got, want) || l.Turns == nil {
			t.Errorf("%s brought %v, want %v", key, got, want)
		}
	}
	for of, keys := range within {
		all := shown(of)
		if len(all.Turns) != amount/2 {
			t.Errorf("conversation %s has %d turns", of, len(all.Turns))
		}
		for _, turn := range all.Turns {
			if !slices.Contains(keys[turn.Key], turn.ID) {
				t.Errorf("turn %s is said to be brought by %q", turn.ID, turn.Key)
			}
		}
		for key, want := range keys {
			if key != "" {
				expect(shown(of, "--key", key), key, want)
			}
		}
	}
	for key, want := range brought {
		if key == "" {
			if len(want) == 0 {
				t.Error("every turn was brought by a key")
			}
			continue
		}
		expect(shown("--key", key), key, want)
		if text := run(0, "show", "--key", key); !strings.Contains(text, want[0]) || !strings.Contains(text, "turns brought by "+key) {
			t.Errorf("the listing is\n%s", text)
		}
	}
	expect(shown("--key", "0123456789abcdef"), "0123456789abcdef", nil)
	for role, keys := range said {
		for key, want := range keys {
			args, says := []string{"--role", role}, " turns of role "+role
			if key != "" {
				args, says = append(args, "--key", key), says+" brought by "+key
			}
			var got []string
			for _, turn := range shown(args...).Turns {
				got = append(got, turn.ID)
				if turn.Role != role || turn.Conversation == "" {
					t.Errorf("turn %s of %q is listed as of role %s", turn.ID, turn.Conversation, turn.Role)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: got %v, want %v", args, got, want)
			}
			if text := run(0, append([]string{"show"}, args...)...); !strings.HasSuffix(text, says+"\n") {
				t.Errorf("the listing is\n%s", text)
			}
		}
	}
	if len(said) < 2 {
		t.Errorf("this test shows nothing: %v", said)
	}
	for _, args := range [][]string{{"--key", ""}, {"--key", "nobody"}, {"--key", "0123456789abcdef", "--slice", "a"}, {"--key", "jwt:a", "--as-of", "3"},
		{"--role", ""}, {"--role", "nobody"}, {"--role", "user", "--slice", "a"}} {
		run(api.ExitUsage, append([]string{"show"}, args...)...)
	}
}
