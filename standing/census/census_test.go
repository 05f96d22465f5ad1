package census_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/settings"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

const tenant = kerneltest.Tenant

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// The people and the doors of the tests.
var (
	local   = access.Identity{Tenant: tenant, Subject: access.Local, Role: access.Admin}
	agent   = access.Identity{Tenant: tenant, Subject: "00000000000000a1", Role: access.Agent}
	capture = access.Identity{Tenant: tenant, Subject: "00000000000000c1", Role: access.Agent, Admits: access.Scope{SpeaksFor: "human:*,human:lead=owner,human:reviewer=member"}}
	admin   = access.Identity{Tenant: tenant, Subject: "00000000000000d1", Role: access.Admin}
	model   = access.Identity{Tenant: tenant, Subject: "00000000000000c1", Role: access.Agent, Model: true, Admits: capture.Admits}
	stdio   = access.Identity{Tenant: tenant, Subject: access.Stdio, Role: access.Admin}
)

func draft(n int, conversation string, role dag.Role, author string) dag.Draft {
	return dag.Draft{
		ID: dag.ExternalTurnID("test", fmt.Sprint(conversation, "/", n)), Conversation: dag.ExternalConversationID("test", conversation), Role: role, Author: author,
		CreatedAt: dag.Time(n), Content: fmt.Sprintf("turn %d of %s", n, conversation),
	}
}

func reply(d dag.Draft, to dag.Draft) dag.Draft {
	d.Parents = []dag.Parent{{ID: to.ID, Kind: dag.Reply}}
	return d
}

// admitted admits drafts for a caller, one after the other.
func admitted(t testing.TB, k *kernel.Kernel, who access.Identity, drafts ...dag.Draft) {
	t.Helper()
	for i := range drafts {
		must[api.Receipt](t)(k.Turns().AdmitWith(access.As(t.Context(), who), tenant, who.Credential(), drafts[i:i+1]))
	}
}

// of returns the standing of a turn, as of a number; 0 is now.
func of(t testing.TB, k *kernel.Kernel, d *dag.Draft, asOf dag.Seq) api.TurnStanding {
	t.Helper()
	found := must[api.Standings](t)(k.Standings().List(t.Context(), tenant, api.StandingsQuery{Turn: &d.ID, StandingQuery: api.StandingQuery{AsOf: asOf}}))
	if len(found.Turns) != 1 || found.Turns[0].Turn != d.ID {
		t.Fatalf("turn %s: got %+v", d.ID, found)
	}
	return found.Turns[0]
}

// TestDoors brings turns by every door, and finds who may order what.
func TestDoors(t *testing.T) {
	kerneltest.EachStore(t, func(t *testing.T, k *kernel.Kernel) {
		type row struct {
			who    access.Identity
			role   dag.Role
			author string
			want   standing.Standing
			why    standing.Reason
		}
		rows := []row{
			{capture, dag.RoleUser, "human:lead", standing.Owner, standing.GrantedOwner},
			{capture, dag.RoleUser, "human:reviewer", standing.Member, standing.GrantedMember},
			{capture, dag.RoleUser, "human:visitor", standing.Guest, standing.NothingGranted},
			{capture, dag.RoleAssistant, "agent:claude", standing.Agent, standing.OwnWords},
			{capture, dag.RoleTool, "tool:bash", standing.Outside, standing.ToolsData},
			{capture, dag.RoleUser, "tool:browser", standing.Outside, standing.ToolsData},
			{agent, dag.RoleUser, "human:lead", standing.Guest, standing.NotSpokenFor},
			{agent, dag.RoleUser, "", standing.Guest, standing.NotSpokenFor},
			{admin, dag.RoleUser, "human:lead", standing.Guest, standing.NothingGranted},
			{admin, dag.RoleSystem, "system:operator", standing.System, standing.OperatorKey},
			{model, dag.RoleUser, "human:lead", standing.Guest, standing.ThroughTool},
			{stdio, dag.RoleUser, "human:lead", standing.Guest, standing.NotSpokenFor},
			{access.Identity{}, dag.RoleUser, "human:lead", standing.Owner, standing.FirstPerson},
			{local, dag.RoleUser, "human:lead", standing.Owner, standing.FirstPerson},
			{local, dag.RoleSystem, "system:operator", standing.System, standing.OperatorOwner},
		}
		for i, r := range rows {
			d := draft(i, fmt.Sprint("door ", i), r.role, r.author)
			admitted(t, k, r.who, d)
			got := of(t, k, &d, 0)
			if got.Standing != r.want.String() || got.Reason != r.why.String() || got.PolicyID != standing.DefaultID || got.Key != r.who.Credential() {
				t.Errorf("%d: %s of %q: got %+v, want %s: %s", i, r.role, r.author, got, r.want, r.why)
			}
			if r.want.Orders() {
				must[any](t)(k.Turns().Erase(t.Context(), tenant, d.ID, "asked for"))
				erased := of(t, k, &d, 0)
				if got.Author = ""; erased != got {
					t.Errorf("%d: after the erasure %+v, before %+v", i, erased, got)
				}
			}
		}
	})
}

// TestIncident imports the incident that ships: the visitor is a guest, the rule is the operator's, whoever is on call is the owner.
func TestIncident(t *testing.T) {
	k := kerneltest.Over(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), token.NewAuthority(kerneltest.Ring(t, "k1")))
	must[admission.ImportReport](t)(k.Turns().Import(t.Context(), tenant, filepath.Join("..", "..", "cmd", "graphkernel", "demo", "incident.jsonl"), ingest.Options{}))
	conversation := must[dag.ConversationID](t)(dag.ParseConversationID("1c1de000-0dc0-4a11-8ca1-0000000000a0"))
	want := map[string]string{"human:oncall": "owner", "human:visitor": "guest", "agent:lead": "agent", "tool:sql": "outside", "tool:metrics": "outside", "kernel:prompt": "system", "kernel:compaction": "outside"}
	n, after := 0, ""
	for {
		page := must[api.Standings](t)(k.Standings().List(t.Context(), tenant, api.StandingsQuery{Conversation: &conversation, Paging: api.Paging{Limit: 4, After: after}}))
		for i := range page.Turns {
			s := &page.Turns[i]
			if n++; s.Standing != want[s.Author] || s.Channel != "lines" {
				t.Errorf("turn %d of %s: %+v, want %s", s.Seq, s.Author, s, want[s.Author])
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	guests := must[api.Standings](t)(k.Standings().List(t.Context(), tenant, api.StandingsQuery{Conversation: &conversation, Only: "guest"}))
	if n != 17 || len(guests.Turns) != 1 || guests.Turns[0].Author != "human:visitor" {
		t.Errorf("%d turns, the guests' are %+v", n, guests.Turns)
	}
}

// rules registers a policy of these rules.
func rules(t testing.TB, k *kernel.Kernel, id policy.ID, list ...standing.Rule) policy.ID {
	t.Helper()
	if err := k.Policies().Register(t.Context(), tenant, must[policy.Registered](t)(policy.Bind(id, standing.NewPolicy(list...)))); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestSet puts policies in force: a setting lowers what is there, raises it only if it is retroactive, and changes nothing about the past.
func TestSet(t *testing.T) {
	kerneltest.EachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ctx := access.As(t.Context(), local)
		lead, reviewer := draft(1, "c", dag.RoleUser, "human:lead"), draft(2, "c", dag.RoleUser, "human:reviewer")
		said := draft(3, "c", dag.RoleAssistant, "agent:claude")
		admitted(t, k, access.Identity{}, lead, reviewer, said)
		is := func(when string, asOf dag.Seq, wantLead, wantReviewer string) {
			t.Helper()
			if a, b := of(t, k, &lead, asOf), of(t, k, &reviewer, asOf); a.Standing != wantLead || b.Standing != wantReviewer {
				t.Errorf("%s: lead is %s and reviewer %s, want %s and %s", when, a.Standing, b.Standing, wantLead, wantReviewer)
			}
		}
		is("at first", 0, "owner", "guest")
		swapped := rules(t, k, "swapped@1", standing.Rule{Author: "human:lead", Channel: "program", Standing: standing.Guest}, standing.Rule{Author: "human:reviewer", Channel: "program", Standing: standing.Owner})
		ask := func(id policy.ID, retroactive, dry bool) api.StandingChange {
			t.Helper()
			return must[api.StandingChange](t)(k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: id, Retroactive: retroactive, DryRun: dry}))
		}
		counts := func(c api.StandingChange) [4]int { return [4]int{c.Turns, c.Raised, c.Lowered, c.Held} }
		for _, retroactive := range []bool{false, true} {
			want := [4]int{3, 0, 1, 1}
			if retroactive {
				want = [4]int{3, 1, 1, 0}
			}
			if got := ask(swapped, retroactive, true); counts(got) != want || got.Set != nil || len(got.Moved) != 2 || got.Before != standing.DefaultID {
				t.Errorf("a dry run: %+v, want %v", got, want)
			}
		}
		is("after dry runs", 0, "owner", "guest")
		before := must[dag.Seq](t)(k.Turns().Head(ctx, tenant))
		set := ask(swapped, false, false)
		if counts(set) != [4]int{3, 0, 1, 1} || set.Set == nil || set.Set.By != access.Local || set.Set.Seq != before+1 {
			t.Errorf("set: %+v", set)
		}
		is("set", 0, "guest", "guest")
		is("as of before", before, "owner", "guest")
		later := draft(4, "c", dag.RoleUser, "human:reviewer")
		admitted(t, k, access.Identity{}, later)
		if got := of(t, k, &later, 0); got.Standing != "owner" || got.Rule != 2 || got.PolicyID != swapped {
			t.Errorf("a later turn of reviewer: %+v", got)
		}
		if got := ask(swapped, true, false); counts(got) != [4]int{4, 1, 0, 0} || got.Set == nil || !got.Set.Retroactive {
			t.Errorf("set for turns that are there: %+v", got)
		}
		is("set for turns that are there", 0, "guest", "owner")
		is("as of between", set.Set.Seq, "guest", "guest")
		now := must[api.Standing](t)(k.Standings().InForce(ctx, tenant, api.StandingQuery{}))
		past := must[api.Standing](t)(k.Standings().InForce(ctx, tenant, api.StandingQuery{AsOf: before}))
		if now.PolicyID != swapped || len(now.Settings) != 2 || past.PolicyID != standing.DefaultID || len(past.Settings) != 0 || past.AsOf != before {
			t.Errorf("in force: %+v, before %+v", now, past)
		}
	})
}

// TestMoved sets a policy that raises 25 turns and then lowers 30 others: the turns that are raised are named first, the newest of them, and both counts are exact.
func TestMoved(t *testing.T) {
	k := kerneltest.Over(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), token.NewAuthority(kerneltest.Ring(t, "k1")))
	var said []dag.Draft
	for n := range 56 {
		author := "human:lead"
		if n > 0 && n <= 25 {
			author = "human:reviewer"
		}
		said = append(said, draft(n, "c", dag.RoleUser, author))
	}
	admitted(t, k, access.Identity{}, append(said, draft(56, "c", dag.RoleAssistant, "agent:claude"))...)
	swapped := rules(t, k, "swapped@1", standing.Rule{Author: "human:lead", Channel: "program", Standing: standing.Guest}, standing.Rule{Author: "human:reviewer", Channel: "program", Standing: standing.Owner})
	for _, c := range []struct {
		retroactive, dry     bool
		raised, held, listed int
		first                dag.Draft
	}{{true, true, 25, 0, 40, said[6]}, {false, true, 0, 25, 40, said[6]}, {true, false, 25, 0, 40, said[6]}} {
		w := must[api.StandingChange](t)(k.Standings().Set(t.Context(), tenant, api.NewStanding{PolicyID: swapped, Retroactive: c.retroactive, DryRun: c.dry}))
		if w.Turns != 57 || w.Raised != c.raised || w.Lowered != 31 || w.Held != c.held || len(w.Moved) != c.listed || w.Moved[0].Turn != c.first.ID || w.Moved[c.listed-1].Turn != said[55].ID {
			t.Errorf("%+v: %+v", c, w)
		}
		for i, m := range w.Moved {
			if raised := i < 20; raised != (m.After == "owner") || m.Held != (raised && !c.retroactive) || m.Author == "" {
				t.Errorf("%+v: number %d is %+v", c, i, m)
			}
		}
	}
}

// TestSetFollows sets policies by people who saw different states: whoever names a setting that is not the newest changes nothing, and is told what is in force.
func TestSetFollows(t *testing.T) {
	kerneltest.EachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ctx := access.As(t.Context(), local)
		start, other := dag.Seq(0), dag.Seq(7)
		set := func(id policy.ID, seen *dag.Seq, dry bool) (api.StandingChange, error) {
			return k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: id, Seen: seen, DryRun: dry})
		}
		first := must[api.StandingChange](t)(set(standing.TeamID, &start, false))
		if first.Since != 0 || first.Before != standing.DefaultID || first.Set == nil {
			t.Fatalf("the first: %+v", first)
		}
		for _, dry := range []bool{false, true} {
			for _, seen := range []*dag.Seq{&start, &other} {
				if w, err := set(standing.ServiceID, seen, dry); !errors.Is(err, settings.ErrChanged) || !strings.Contains(err.Error(), "standing-team@1 is in force since setting 1") {
					t.Errorf("seen %d, dry %v: %+v, %v, want ErrChanged", *seen, dry, w, err)
				}
			}
		}
		would := must[api.StandingChange](t)(set(standing.ServiceID, nil, true))
		if would.Since != first.Set.Seq || would.Already {
			t.Errorf("a dry run: %+v", would)
		}
		second := must[api.StandingChange](t)(set(standing.ServiceID, &would.Since, false))
		if second.Set == nil || second.Since != first.Set.Seq {
			t.Errorf("the second: %+v", second)
		}
		if third := must[api.StandingChange](t)(set(standing.TeamID, nil, false)); third.Set == nil || third.Since != second.Set.Seq {
			t.Errorf("of one who has seen nothing: %+v", third)
		}
	})
}

// TestSetAgain sets the policy that is in force already, with and without an earlier setting: no entry is recorded, no change is announced, and the answer names the setting.
func TestSetAgain(t *testing.T) {
	k := kerneltest.Over(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), token.NewAuthority(kerneltest.Ring(t, "k1")))
	ctx := access.As(t.Context(), local)
	var since dag.Seq
	for _, id := range []policy.ID{standing.DefaultID, standing.TeamID} {
		for again := range 2 {
			changed := k.Turns().Changed(tenant)
			w := must[api.StandingChange](t)(k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: id}))
			told := false
			select {
			case <-changed:
				told = true
			default:
			}
			if first := id == standing.TeamID && again == 0; first {
				if since = w.Set.Seq; w.Already || !told {
					t.Errorf("%s: %+v, told %v", id, w, told)
				}
			} else if w.Set != nil || !w.Already || w.Since != since || w.Before != id || told {
				t.Errorf("%s again: %+v, told %v, want it in force already since %d", id, w, told, since)
			}
		}
	}
	if now := must[api.Standing](t)(k.Standings().InForce(ctx, tenant, api.StandingQuery{})); len(now.Settings) != 1 {
		t.Errorf("in force: %+v", now)
	}
}

// TestSetMeanwhile sets a policy while another person sets one, after the turns were compared: the answer is about the newer state.
func TestSetMeanwhile(t *testing.T) {
	var k *kernel.Kernel
	var meanwhile func()
	clock := func() time.Time {
		if fn := meanwhile; fn != nil {
			meanwhile = nil
			fn()
		}
		return kerneltest.Standing()
	}
	k = must[*kernel.Kernel](t)(kernel.Open(kernel.Config{Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: token.NewAuthority(kerneltest.Ring(t, "k1")), Rand: kerneltest.Noise(1), Clock: clock}))
	ctx, start := access.As(t.Context(), local), dag.Seq(0)
	for _, seen := range []*dag.Seq{&start, nil} {
		meanwhile = func() {
			must[api.StandingChange](t)(k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: standing.TeamID}))
		}
		w, err := k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: standing.ServiceID, Seen: seen})
		if seen != nil {
			if !errors.Is(err, settings.ErrChanged) {
				t.Errorf("who has seen the start: %+v, %v", w, err)
			}
			must[api.StandingChange](t)(k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: standing.DefaultID}))
		} else if err != nil || w.Before != standing.TeamID || w.Since != 3 || w.Set == nil || w.Set.Seq != 4 {
			t.Errorf("who has seen nothing: %+v, %v", w, err)
		}
	}
}

// A counting store counts the entries and the cells that are read.
type counting struct {
	store.Store
	entries, cells int
}

func (s *counting) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	entries, err := s.Store.Entries(ctx, tenant, p)
	s.entries += len(entries)
	return entries, err
}

func (s *counting) Cells(ctx context.Context, tenant dag.Tenant, prefix string) ([]history.Cell, error) {
	s.cells++
	return s.Store.Cells(ctx, tenant, prefix)
}

// TestOfRequest asks what requests of a key count for under policy after policy: each time the newest setting is read alone, and the operations are observed.
func TestOfRequest(t *testing.T) {
	s := &counting{Store: inmem.Open(&inmem.Disk{}, inmem.Options{})}
	observed := map[string]int{}
	k := must[*kernel.Kernel](t)(kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(kerneltest.Ring(t, "k1")), Rand: kerneltest.Noise(1), Clock: kerneltest.Standing, Observe: func(ctx context.Context, operation string) (context.Context, func(error)) {
		observed[operation]++
		return ctx, func(error) {}
	}}))
	admitted(t, k, capture, draft(1, "c", dag.RoleUser, "human:lead"))
	guest := rules(t, k, "guests@1", standing.Rule{Key: admin.Subject, Standing: standing.Guest})
	by, person := access.As(t.Context(), admin), access.As(t.Context(), local)
	for n, id := range []policy.ID{"", guest, standing.TeamID, guest, standing.TeamID, guest} {
		if id != "" {
			must[api.StandingChange](t)(k.Standings().Set(person, tenant, api.NewStanding{PolicyID: id}))
		}
		want := standing.Member
		if id == guest {
			want = standing.Guest
		}
		s.entries, s.cells = 0, 0
		if got := must[standing.Ruling](t)(k.Standings().OfRequest(by, tenant)); got.Standing != want || s.entries > 1 || s.cells > 0 {
			t.Errorf("%d: %+v, want %s; %d entries and %d lists of cells were read", n, got, want, s.entries, s.cells)
		}
	}
	must[api.Standing](t)(k.Standings().InForce(by, tenant, api.StandingQuery{}))
	if observed["standing_of_request"] != 6 || observed["get_standing"] != 1 || observed["set_standing"] != 5 {
		t.Errorf("observed: %v", observed)
	}
}

// TestGovern lets everybody try: only a person who may govern sets, registers and grants.
func TestGovern(t *testing.T) {
	k := kerneltest.Over(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), token.NewAuthority(kerneltest.Ring(t, "k1")))
	mine := must[policy.Registered](t)(policy.Bind("mine@1", standing.NewPolicy()))
	asModel := admin
	asModel.Model = true
	for _, who := range []access.Identity{agent, capture, model, stdio, asModel, {Tenant: tenant, Subject: agent.Subject, Role: access.Auditor}, {Tenant: tenant, Subject: agent.Subject, Role: access.Verifier}} {
		ctx := access.As(t.Context(), who)
		_, set := k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: standing.TeamID})
		_, dry := k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: standing.TeamID, DryRun: true})
		registered := k.Policies().Register(ctx, tenant, mine)
		_, granted := kernel.Ask(ctx, k, tenant, api.CreateKey, api.NewAPIKey{Role: "agent", SpeaksFor: "human:*=owner"})
		for what, err := range map[string]error{"set": set, "dry": dry, "registered": registered, "granted": granted} {
			if !errors.Is(err, access.ErrMayNot) {
				t.Errorf("%+v: %s: %v, want ErrMayNot", who, what, err)
			}
		}
	}
	if got := must[api.Standing](t)(k.Standings().InForce(t.Context(), tenant, api.StandingQuery{})); len(got.Settings) != 0 {
		t.Errorf("set: %+v", got)
	}
	ctx := access.As(t.Context(), admin)
	if err := k.Policies().Register(ctx, tenant, mine); err != nil {
		t.Error(err)
	}
	if made, err := kernel.Ask(ctx, k, tenant, api.CreateKey, api.NewAPIKey{Role: "agent", SpeaksFor: "human:reviewer=member, human:lead=owner"}); err != nil || made.SpeaksFor != "human:lead=owner,human:reviewer=member" {
		t.Errorf("%+v, %v", made, err)
	}
	for _, list := range []string{"human:*=king", "human:*=", "=owner", "human:a=b=owner", "human:*=guest"} {
		if _, err := kernel.Ask(ctx, k, tenant, api.CreateKey, api.NewAPIKey{Role: "agent", SpeaksFor: list}); err == nil {
			t.Errorf("a key speaks for %q", list)
		}
	}
}

// TestRefused asks for turns, conversations and policies that do not exist.
func TestRefused(t *testing.T) {
	k := kerneltest.Over(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), token.NewAuthority(kerneltest.Ring(t, "k1")))
	d := draft(1, "c", dag.RoleUser, "human:lead")
	admitted(t, k, access.Identity{}, d)
	none, other := dag.TurnID{1}, dag.ConversationID{1}
	list := func(in api.StandingsQuery) error {
		_, err := k.Standings().List(t.Context(), tenant, in)
		return err
	}
	var fault *api.Fault
	if err := list(api.StandingsQuery{}); !errors.As(err, &fault) {
		t.Errorf("neither turn nor conversation: %v", err)
	}
	if err := list(api.StandingsQuery{Turn: &d.ID, Conversation: &d.Conversation}); !errors.As(err, &fault) {
		t.Errorf("both: %v", err)
	}
	for what, err := range map[string]error{"turn": list(api.StandingsQuery{Turn: &none}), "conversation": list(api.StandingsQuery{Conversation: &other})} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", what, err)
		}
	}
	for _, id := range []policy.ID{"none@1", "default@1"} {
		if _, err := k.Standings().Set(t.Context(), tenant, api.NewStanding{PolicyID: id}); !errors.Is(err, policy.ErrUnknown) && !errors.Is(err, policy.ErrMismatch) {
			t.Errorf("%s is set: %v", id, err)
		}
	}
	if head := must[dag.Seq](t)(k.Turns().Head(t.Context(), tenant)); head != 1 {
		t.Errorf("the head is %d", head)
	}
}
