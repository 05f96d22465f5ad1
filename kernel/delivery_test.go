package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

const agentOne, agentTwo = "00000000000000a1", "00000000000000a2"

// workedIn admits a session that was held in a folder, after a turn of another session or nil, and returns its turns in order.
func workedIn(t *testing.T, k *kernel.Kernel, after *dag.TurnID, folder, name string, texts ...string) (ids []dag.TurnID) {
	t.Helper()
	var drafts []dag.Draft
	for i, text := range texts {
		d := dag.Draft{
			ID: dag.ExternalTurnID("delivery", fmt.Sprint(name, i)), Conversation: dag.ExternalConversationID("delivery", name), Role: []dag.Role{dag.RoleUser, dag.RoleAssistant}[i%2],
			Author: []string{"human:user", "agent:helper"}[i%2], Content: text, CreatedAt: dag.Time(1_780_000_000_000_000 + int64(i)*60_000_000), Attrs: map[string]string{"cwd": folder},
		}
		if i == 0 && after != nil {
			d.Parents = []dag.Parent{{ID: *after, Kind: dag.Reply}}
		}
		if i > 0 {
			d.Parents = []dag.Parent{{ID: ids[i-1], Kind: dag.Reply}}
			if i%2 == 1 { // the agent went elsewhere within its session
				d.Attrs["cwd"] = folder + "/src"
			}
		}
		drafts, ids = append(drafts, d), append(ids, d.ID)
	}
	must(k.Turns().Admit(t.Context(), tenant, drafts))
	return ids
}

// TestFolder holds that a context of a folder has no turn of a session that was held in another, and no fact that was learned there, that it replays, and that a search within a folder finds none either.
func TestFolder(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			k := over(t, open(t, name), token.NewAuthority(ring(t, "k1")))
			bank := workedIn(t, k, nil, "/home/u/bank", "bank", "The login form of the bank rejects passwords of the merger team.", "I will look at the login form of the bank.")
			shop := workedIn(t, k, &bank[1], "/home/u/shop", "shop", "The login form rejects valid passwords.", "I will look at the login form.")
			for i, turn := range []dag.TurnID{bank[0], shop[0], {}} {
				f := must(knowledge.NewFact("login form", "has", []string{"bank secret", "shop bug", "no source"}[i], "user"))
				f.Turn = turn
				must(k.Facts().Learn(ctx, tenant, []knowledge.Act{{Kind: knowledge.Assert, Fact: f}}))
			}
			ask := func(r api.ContextRequest) (*assemble.Issued, string) {
				r.AsOf = must(k.Turns().Head(ctx, tenant))
				c := must(k.Contexts().Assemble(ctx, tenant, r))
				for what, r := range map[string]*kernel.Replay{"bundle": must(k.Slices().Replay(ctx, tenant, c.Bundle)), "record": must(k.Slices().ReplayIssued(ctx, tenant, c.Context.Provenance.SliceID))} {
					if r.Outcome != kernel.Identical {
						t.Errorf("replay by %s: %s, %s", what, r.Outcome, r.Reason)
					}
				}
				return c, string(c.Prompt)
			}
			const task = "why does the login form reject passwords"
			if _, all := ask(api.ContextRequest{Task: task}); !strings.Contains(all, "merger team") || !strings.Contains(all, "bank secret") {
				t.Fatalf("this test shows nothing:\n%s", all)
			}
			for _, anchor := range []string{"", shop[1].String()} {
				c, prompt := ask(api.ContextRequest{Task: task, Anchor: anchor, Folders: []string{"/home/u/shop"}})
				if strings.Contains(prompt, "bank") || !strings.Contains(prompt, "valid passwords") || !strings.Contains(prompt, "shop bug") || !strings.Contains(prompt, "no source") {
					t.Errorf("anchor %s:\n%s", anchor, prompt)
				}
				for _, x := range c.Context.Candidates {
					if x.Kind == contexts.KindTurn && (x.ID == bank[0].String() || x.ID == bank[1].String()) {
						t.Errorf("turn %s of another folder is a candidate", x.ID)
					}
				}
			}
			found := must(k.Turns().Search(ctx, tenant, find.Request{Query: retrieval.Query{Text: task, Limit: 10, Attributes: map[string]string{"cwd": "/home/u/shop"}}}))
			for _, h := range found.Hits {
				if h.Turn.Conversation != dag.ExternalConversationID("delivery", "shop") {
					t.Errorf("a search within a folder finds turn %s of another", h.Turn.ID)
				}
			}
			if len(found.Hits) < 2 {
				t.Errorf("%d hits within a folder", len(found.Hits))
			}
			if _, prompt := ask(api.ContextRequest{Task: task, Except: []dag.ConversationID{dag.ExternalConversationID("delivery", "shop")}}); strings.Contains(prompt, "valid passwords") || strings.Contains(prompt, "shop bug") || !strings.Contains(prompt, "merger team") {
				t.Errorf("all but one conversation:\n%s", prompt)
			}
			if _, prompt := ask(api.ContextRequest{Task: task, Folders: []string{"/home/u"}}); strings.Contains(prompt, "passwords.") {
				t.Errorf("a folder above:\n%s", prompt)
			}
			must(k.Turns().Erase(ctx, tenant, shop[0], "asked for"))
			for _, r := range must(k.Slices().After(ctx, tenant, 0, 99)) {
				if replay := must(k.Slices().ReplayIssued(ctx, tenant, r.Provenance.SliceID)); replay.Outcome != kernel.Erased && replay.Outcome != kernel.Identical {
					t.Errorf("after an erasure: %s, %s", replay.Outcome, replay.Reason)
				}
			}
		})
	}
}

// TestNotGiven records contexts of which some did not reach their session: each delivery is a record, those that failed show no turn, and only the caller who
// asked, or an admin, may say so.
func TestNotGiven(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			k := over(t, open(t, name), token.NewAuthority(ring(t, "k1")))
			ids := talk(t, k, "one")
			as := func(subject string, role access.Role) context.Context {
				return access.As(t.Context(), access.Identity{Tenant: tenant, Subject: subject, Role: role})
			}
			one, two := as(agentOne, access.Agent), as(agentTwo, access.Agent)
			ask := func(to issued.Recipient) *assemble.Issued {
				r := api.ContextRequest{Task: "why did migration 042 delete the orders table", Anchor: ids[5].String()}
				if to != (issued.Recipient{}) {
					r.Recipient = &to
				}
				return must(k.Contexts().Assemble(one, tenant, r))
			}
			to := issued.Recipient{Agent: "claude-code", Session: "5e55", Event: "SessionStart"}
			first, second, plain := ask(to), ask(to), ask(issued.Recipient{})
			if first.Record.Bundle == second.Record.Bundle || first.Record.Number == second.Record.Number || first.Record.Delivery.Recipient != to || ask(issued.Recipient{}).Record.Number != plain.Record.Number {
				t.Errorf("records %+v, %+v", first.Record, second.Record)
			}
			showing := func() (numbers []uint64) {
				for _, r := range must(k.Contexts().Showing(one, tenant, ids[2])) {
					numbers = append(numbers, r.Number)
				}
				return numbers
			}
			if got := showing(); !slices.Equal(got, []uint64{1, 2, 3}) {
				t.Errorf("contexts that showed the turn: %v", got)
			}
			report := func(ctx context.Context, i *assemble.Issued) (issued.Undelivered, error) {
				return k.Contexts().NotGiven(ctx, tenant, i.Context.Provenance.SliceID, i.Record.Bundle, "the pipe was closed")
			}
			if _, err := report(two, first); !errors.Is(err, access.ErrMayNot) {
				t.Errorf("another agent: %v", err)
			}
			if _, err := report(one, plain); !errors.Is(err, kernel.ErrKind) {
				t.Errorf("a context for no session: %v", err)
			}
			if _, err := k.Contexts().NotGiven(one, tenant, first.Context.Provenance.SliceID, plain.Record.Bundle, "x"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("another bundle: %v", err)
			}
			if _, err := k.Contexts().NotGiven(one, tenant, first.Context.Provenance.SliceID, first.Record.Bundle, ""); !errors.Is(err, dag.ErrForm) {
				t.Errorf("no reason: %v", err)
			}
			said := must(report(one, first))
			if again := must(report(as(agentTwo, access.Admin), first)); again != said || said.Seq == 0 || said.By != agentOne {
				t.Errorf("said %+v, again %+v", said, again)
			}
			if got := showing(); !slices.Equal(got, []uint64{2, 3}) {
				t.Errorf("contexts that showed the turn, without the one that was not given: %v", got)
			}
			for _, r := range must(k.Slices().After(one, tenant, 0, 9)) {
				if (r.NotGiven == said.Seq) != (r.Number == 1) {
					t.Errorf("record %d: not given %d", r.Number, r.NotGiven)
				}
			}
			if r := must(k.Slices().Replay(one, tenant, first.Bundle)); r.Outcome != kernel.Identical {
				t.Errorf("replay: %s, %s", r.Outcome, r.Reason)
			}
		})
	}
}

// A hastyStore has the caller stop waiting when something is written.
type hastyStore struct {
	store.Store
	leave context.CancelFunc
}

func (s *hastyStore) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	if s.leave != nil {
		s.leave()
	}
	return s.Store.Write(ctx, tenant, c)
}

// TestNobodyWaits assembles contexts for a session, and the caller stops waiting while the record is written: it says that the context was not given.
func TestNobodyWaits(t *testing.T) {
	s := &hastyStore{Store: open(t, "memory")}
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	ids := talk(t, k, "one")
	must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[0]})) // the key is announced
	for n := range 5 {
		ctx, cancel := context.WithCancel(access.As(t.Context(), access.Identity{Subject: access.Local, Role: access.Admin}))
		s.leave = cancel
		_, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{
			Task: fmt.Sprint("orders table ", n), Recipient: &api.Recipient{Agent: "a", Session: "s", Event: "e"},
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that nobody waits", err)
		}
		cancel()
	}
	list := must(k.Slices().After(t.Context(), tenant, 1, 99))
	if len(list) != 5 {
		t.Fatalf("%d records", len(list))
	}
	for _, r := range list {
		if r.NotGiven == 0 {
			t.Errorf("record %d counts as given", r.Number)
		}
	}
}
