package admission_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	standings "github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/token"
)

// importedLines imports turns of a conversation as lines: of users, and of assistants whose authors begin with "agent:". Numbers begin above n.
func importedLines(t *testing.T, k *kernel.Kernel, conversation string, n int, authors ...string) admission.ImportReport {
	t.Helper()
	var lines strings.Builder
	for _, author := range authors {
		n++
		role := "user"
		if strings.HasPrefix(author, "agent:") {
			role = "assistant"
		}
		fmt.Fprintf(&lines, `{"id":"%s","conversation":"%s","role":"%s","author":"%s","content":"turn %d","created_at":"2026-01-02T03:04:05Z","parents":[]}`+"\n",
			dag.ExternalTurnID(conversation, fmt.Sprint(n)), dag.ExternalConversationID("guests", conversation), role, author, n)
	}
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := must(k.Turns().Import(t.Context(), tenant, path, ingest.Options{}))
	if r.Admitted+r.Existing != len(authors) {
		t.Fatalf("imported: %+v", r)
	}
	return r
}

// TestGuests imports conversations part by part, and under policies: who is a guest follows from all of a conversation and from the policy in force.
func TestGuests(t *testing.T) {
	k := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k1")))
	person := access.As(t.Context(), access.Identity{Tenant: tenant, Subject: access.Local, Role: access.Admin})
	set := func(id policy.ID, rules ...standings.Rule) {
		t.Helper()
		if rules != nil {
			if err := k.Policies().Register(person, tenant, must(policy.Bind(id, standings.NewPolicy(rules...)))); err != nil {
				t.Fatal(err)
			}
		}
		must(k.Standings().Set(person, tenant, api.NewStanding{PolicyID: id}))
	}
	is := func(what string, r admission.ImportReport, want ...admission.Guest) {
		t.Helper()
		if !reflect.DeepEqual(r.Guests, want) || r.MoreGuests != 0 {
			t.Errorf("%s: got %+v and %d more, want %+v", what, r.Guests, r.MoreGuests, want)
		}
	}
	is("a record", importedLines(t, k, "whole", 0, "human:lead", "agent:a", "human:b", "human:c", "human:c", "human:d", "human:lead"),
		admission.Guest{Author: "human:c", Turns: 2}, admission.Guest{Author: "human:b", Turns: 1}, admission.Guest{Author: "human:d", Turns: 1})
	is("people", importedLines(t, k, "parts", 0, "human:lead", "human:b"))
	is("an agent", importedLines(t, k, "parts", 2, "agent:a"))
	is("what was there has a first person, and an agent", importedLines(t, k, "parts", 3, "human:b"), admission.Guest{Author: "human:b", Turns: 1})
	is("the first person again", importedLines(t, k, "parts", 4, "human:lead"))
	set("b@1", standings.Rule{Author: "human:b", Channel: standings.Import, Standing: standings.Member}, standings.Rule{Author: "human:c", Channel: "chat", Standing: standings.Member})
	is("a rule about b, and one about another channel", importedLines(t, k, "ruled", 0, "human:lead", "agent:a", "human:b", "human:c"), admission.Guest{Author: "human:c", Turns: 1})
	set(standings.ServiceID)
	is("a rule makes them guests", importedLines(t, k, "served", 0, "human:lead", "agent:a", "human:b"))
	set(standings.AloneID)

	var many []string
	for n := range admission.MaxGuests + 5 {
		many = append(many, fmt.Sprintf("human:g%04d", n))
	}
	r := importedLines(t, k, "many", 0, append(append([]string{"human:lead", "agent:a"}, many...), "human:g1004")...)
	if len(r.Guests) != admission.MaxGuests || r.MoreGuests != 5 || r.Guests[0] != (admission.Guest{Author: "human:g1004", Turns: 2}) || r.Guests[999] != (admission.Guest{Author: "human:g0998", Turns: 1}) {
		t.Errorf("%d guests and %d more, the first %+v and the last %+v", len(r.Guests), r.MoreGuests, r.Guests[0], r.Guests[len(r.Guests)-1])
	}
}
