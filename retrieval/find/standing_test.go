package find_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// The callers who bring turns. The zero identity is a program on the store itself.
var bringers = []access.Identity{
	{}, {},
	{Tenant: tenant, Subject: access.Local, Role: access.Admin},
	{Tenant: tenant, Subject: "00000000000000a1", Role: access.Agent},
	{Tenant: tenant, Subject: "00000000000000c1", Role: access.Agent, Admits: access.Scope{SpeaksFor: "human:*,human:lead=owner,human:reviewer=member"}},
	{Tenant: tenant, Subject: "00000000000000d1", Role: access.Admin},
}

// said admits a turn for a caller.
func said(t testing.TB, k *kernel.Kernel, who access.Identity, n int, conversation string, role dag.Role, author string) dag.TurnID {
	t.Helper()
	d := dag.Draft{
		ID: dag.ExternalTurnID("standing", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("standing", conversation), Role: role, Author: author,
		CreatedAt: dag.Time(n), Content: fmt.Sprintf("word %d", n),
	}
	if _, err := k.Turns().AdmitWith(access.As(t.Context(), who), tenant, who.Credential(), []dag.Draft{d}); err != nil {
		t.Fatal(err)
	}
	return d.ID
}

// put puts a standing policy in force.
func put(t testing.TB, k *kernel.Kernel, id policy.ID, retroactive bool) {
	t.Helper()
	local := access.Identity{Tenant: tenant, Subject: access.Local, Role: access.Admin}
	must(k.Standings().Set(access.As(t.Context(), local), tenant, api.NewStanding{PolicyID: id, Retroactive: retroactive}))
}

// words searches for the word that every turn has.
func words(t testing.TB, k *kernel.Kernel, limit int, asOf dag.Seq, of dag.Standing) find.Found {
	t.Helper()
	return must(k.Turns().Search(t.Context(), tenant, find.Request{Standing: of, Query: retrieval.Query{Text: "word", Limit: limit, AsOf: asOf}}))
}

// TestStandings admits turns by every door into conversations that others continue, and puts policies in force in between. Each hit has the standing that the
// list of standings has, as of every number, and a search for one standing finds what is left of a search for all of them.
func TestStandings(t *testing.T) {
	kerneltest.EachStore(t, func(t *testing.T, k *kernel.Kernel) {
		for i, rules := range [][]standing.Rule{
			{{Author: "human:reviewer", Channel: "program", Standing: standing.Member}, {Role: dag.RoleAssistant, Standing: standing.Outside}},
			{{Author: "human:lead", Channel: "program", Standing: standing.Guest}, {Key: "00000000000000a1", Standing: standing.Member}},
		} {
			if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind(policy.ID(fmt.Sprintf("random%d@1", i)), standing.NewPolicy(rules...)))); err != nil {
				t.Fatal(err)
			}
		}
		policies := []policy.ID{standing.DefaultID, standing.TeamID, standing.ServiceID, "random0@1", "random1@1"}
		rng := rand.New(rand.NewPCG(1, 5))
		roles := []dag.Role{dag.RoleUser, dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem}
		authors := map[dag.Role][]string{
			dag.RoleUser: {"human:lead", "human:reviewer", "human:visitor"}, dag.RoleAssistant: {"agent:claude"}, dag.RoleTool: {"tool:bash"}, dag.RoleSystem: {"system:operator"},
		}
		seen, moved, filtered := map[dag.Standing]int{}, 0, 0
		was := map[dag.TurnID]map[dag.Standing]bool{}
		for n := range 48 {
			role := roles[rng.IntN(len(roles))]
			said(t, k, bringers[rng.IntN(len(bringers))], n, fmt.Sprint("c", rng.IntN(1+n/6)), role, authors[role][rng.IntN(len(authors[role]))])
			if rng.IntN(9) == 0 {
				put(t, k, policies[rng.IntN(len(policies))], rng.IntN(2) == 0)
			}
			if n%4 != 3 {
				continue
			}
			head := must(k.Turns().Head(t.Context(), tenant))
			for _, asOf := range []dag.Seq{0, 1 + dag.Seq(rng.Uint64N(uint64(head)))} {
				all := words(t, k, 1000, asOf, 0)
				for _, h := range all.Hits {
					want := must(k.Standings().List(t.Context(), tenant, api.StandingsQuery{Turn: &h.Turn.ID, StandingQuery: api.StandingQuery{AsOf: all.AsOf}})).Turns[0]
					if h.Standing.String() != want.Standing {
						t.Fatalf("turn %d as of %d: a hit of standing %s, want %+v", h.Turn.Seq, all.AsOf, h.Standing, want)
					}
					seen[h.Standing]++
					if was[h.Turn.ID] == nil {
						was[h.Turn.ID] = map[dag.Standing]bool{}
					}
					if was[h.Turn.ID][h.Standing] = true; len(was[h.Turn.ID]) > 1 {
						moved++
					}
				}
				for _, of := range dag.Standings {
					limit := 1 + rng.IntN(6)
					want := slices.DeleteFunc(slices.Clone(all.Hits), func(h find.FoundTurn) bool { return h.Standing != of })
					left := len(want)
					want = want[:min(left, limit)]
					if got := words(t, k, limit, asOf, of); got.AsOf != all.AsOf || !slices.Equal(idsOf(got.Hits), idsOf(want)) || slices.ContainsFunc(got.Hits, func(h find.FoundTurn) bool { return h.Standing != of }) {
						t.Fatalf("%d of standing %s as of %d: %v, want %v of %d", limit, of, all.AsOf, idsOf(got.Hits), idsOf(want), left)
					}
					if len(want) > 0 && len(want) < len(all.Hits) {
						filtered++
					}
				}
			}
		}
		within := 0
		for n := range 48 {
			bundle := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: dag.ExternalTurnID("standing", fmt.Sprint(n))})).Bundle
			b := must(k.Slices().Boundary(tenant, bundle))
			all := must(k.Turns().Search(t.Context(), tenant, find.Request{Within: b, Query: retrieval.Query{Text: "word", Limit: 10}}))
			for _, h := range all.Hits {
				want := must(k.Standings().List(t.Context(), tenant, api.StandingsQuery{Turn: &h.Turn.ID, StandingQuery: api.StandingQuery{AsOf: all.AsOf}})).Turns[0]
				if h.Standing.String() != want.Standing {
					t.Errorf("turn %d within a slice as of %d: a hit of standing %s, want %+v", h.Turn.Seq, all.AsOf, h.Standing, want)
				}
				few := must(k.Turns().Search(t.Context(), tenant, find.Request{Within: b, Standing: h.Standing, Query: retrieval.Query{Text: "word", Limit: 10}}))
				if want := slices.DeleteFunc(slices.Clone(all.Hits), func(o find.FoundTurn) bool { return o.Standing != h.Standing }); !slices.Equal(idsOf(few.Hits), idsOf(want)) {
					t.Errorf("of standing %s within a slice: %v, want %v", h.Standing, idsOf(few.Hits), idsOf(want))
				}
				within++
			}
		}
		if within < 20 || len(seen) != len(dag.Standings) || moved < 10 || filtered < 20 {
			t.Errorf("hits of standings %v, %d of a turn whose standing moved, %d filtered searches", seen, moved, filtered)
		}
	})
}

func idsOf(hits []find.FoundTurn) (ids []string) {
	for i := range hits {
		ids = append(ids, fmt.Sprint(hits[i].Turn.Seq, "=", hits[i].Score))
	}
	return ids
}

// TestStandingsOverTime searches for a visitor's words before and after policies that lower and raise them: an answer as of then stays, and only a retroactive
// setting raises.
func TestStandingsOverTime(t *testing.T) {
	kerneltest.EachStore(t, func(t *testing.T, k *kernel.Kernel) {
		said(t, k, access.Identity{}, 1, "c", dag.RoleUser, "human:lead")
		said(t, k, access.Identity{}, 2, "c", dag.RoleUser, "human:visitor")
		is := func(when string, asOf dag.Seq, want dag.Standing) {
			t.Helper()
			found := words(t, k, 10, asOf, want)
			if !slices.ContainsFunc(found.Hits, func(h find.FoundTurn) bool { return h.Turn.Seq == 2 && h.Standing == want }) {
				t.Errorf("%s: the visitor's turn is not among the hits of standing %s: %+v", when, want, found.Hits)
			}
		}
		is("among people", 0, dag.StandingMember)
		said(t, k, bringers[3], 4, "c", dag.RoleAssistant, "agent:claude")
		is("with an agent that a key brought", 0, dag.StandingMember)
		said(t, k, access.Identity{}, 3, "c", dag.RoleAssistant, "agent:claude")
		is("with an agent", 0, dag.StandingGuest)
		is("as of before the agent", 2, dag.StandingMember)
		raised := standing.NewPolicy(standing.Rule{Author: "human:visitor", Channel: "program", Standing: standing.Owner})
		if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("raised@1", raised))); err != nil {
			t.Fatal(err)
		}
		put(t, k, "raised@1", false)
		before := must(k.Turns().Head(t.Context(), tenant))
		is("under a policy that raises none that is there", 0, dag.StandingGuest)
		put(t, k, "raised@1", true)
		is("under a retroactive policy", 0, dag.StandingOwner)
		is("as of before it", before, dag.StandingGuest)
		is("as of before the agent, later", 2, dag.StandingMember)
	})
}

// A torn store has lost the skeletons of a conversation.
type torn struct {
	store.Store
	conversation dag.ConversationID
}

func (s *torn) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	if slices.ContainsFunc(parts, func(p store.Part) bool { return p.Conversation == s.conversation }) {
		return store.Segment{}, fmt.Errorf("%w: a run is cut short", store.ErrDamaged)
	}
	return s.Store.Segment(ctx, tenant, parts)
}

// TestStandingsDamaged damages the skeletons of one conversation: its hits are left out and counted, and the others stay.
func TestStandingsDamaged(t *testing.T) {
	s := &torn{open(t, "memory"), dag.ExternalConversationID("standing", "lost")}
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	for n, conversation := range []string{"one", "lost", "lost", "two"} {
		said(t, k, access.Identity{}, n, conversation, dag.RoleUser, "human:lead")
	}
	for _, of := range []dag.Standing{0, dag.StandingOwner} {
		found := words(t, k, 10, 0, of)
		if len(found.Hits) != 2 || found.Damaged != 2 || found.Hits[0].Standing != dag.StandingOwner || found.Hits[1].Standing != dag.StandingOwner {
			t.Errorf("of standing %q: %+v", of, found)
		}
	}
}

// TestBadStanding asks for a standing that there is not.
func TestBadStanding(t *testing.T) {
	k := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k1")))
	_, err := kernel.Ask(t.Context(), k, tenant, api.SearchTurns, api.Search{Query: "word", Standing: "boss"})
	if !errors.Is(err, dag.ErrForm) || !strings.Contains(err.Error(), `standing "boss"`) {
		t.Errorf("got %v", err)
	}
}
