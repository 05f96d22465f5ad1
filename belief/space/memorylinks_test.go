package space_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
)

// TestMemoryLinks walks random graphs of memories, and holds links, distances and ways against the distances of Floyd and Warshall.
func TestMemoryLinks(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	k, _ := remembering(t)
	b, ctx := k.Beliefs(), t.Context()
	ways, none := 0, 0
	for graph := range 6 {
		in := belief.Space(fmt.Sprintf("projects/g%d", graph))
		const n = 7
		var ids []string
		for i := range n {
			m := must(b.Remember(ctx, tenant, api.NewMemory{Text: fmt.Sprintf("memory %d of %d", i, graph), Project: in, Slot: fmt.Sprint("s", i)}))
			if ids = append(ids, m.ID); r.IntN(2) == 0 { // a second revision
				must(b.Remember(ctx, tenant, api.NewMemory{Text: fmt.Sprintf("memory %d of %d again", i, graph), Instead: m.ID, Slot: fmt.Sprint("s", i)}))
			}
		}
		item := map[string]int{}
		revisions := make([]int, n)
		address := make([]belief.Item, n)
		for i, id := range ids {
			m := must(b.List(ctx, tenant, api.MemoriesQuery{Project: in, Paging: api.Paging{Limit: 50}})).Memories
			at := slices.IndexFunc(m, func(m api.Memory) bool { return m.ID == id })
			revisions[i], item[id] = m[at].Revision, i
			address[i] = must(belief.ParseItem(fmt.Sprintf("kref://%s/%s.%s", in, id, m[at].Kind)))
		}
		type edge struct {
			from, to int
			kind     string
		}
		var edges []edge
		for range 9 {
			e := edge{r.IntN(n), r.IntN(n), []string{"depends_on", "referenced"}[r.IntN(2)]}
			made := must(b.Link(ctx, tenant, api.NewLink{
				From: belief.Address{Item: address[e.from], Revision: 1 + r.IntN(revisions[e.from])}.String(), Type: e.kind, To: belief.Address{Item: address[e.to], Revision: 1 + r.IntN(revisions[e.to])}.String(),
			}))
			if made.Outcome == journal.Changed {
				edges = append(edges, e)
			}
		}
		for _, kind := range []string{"", "depends_on"} {
			for _, direction := range []string{"", "from", "to"} {
				const far = 99
				var distance [n][n]int
				for i := range n {
					for j := range n {
						distance[i][j] = map[bool]int{true: 0, false: far}[i == j]
					}
				}
				for _, e := range edges {
					if kind != "" && e.kind != kind || e.from == e.to {
						continue
					}
					if direction != "to" {
						distance[e.from][e.to] = 1
					}
					if direction != "from" {
						distance[e.to][e.from] = 1
					}
				}
				for m := range n {
					for i := range n {
						for j := range n {
							distance[i][j] = min(distance[i][j], distance[i][m]+distance[m][j])
						}
					}
				}
				for i, id := range ids {
					for depth := 1; depth <= 4; depth++ {
						out := must(b.Links(ctx, tenant, api.LinksQuery{MemoryName: api.MemoryName{ID: id}, Type: kind, Direction: direction, Depth: depth}))
						reached := map[int]int{i: 0}
						for _, l := range out.Links {
							if j := item[l.Memory.ID]; l.Depth > depth || kind != "" && l.Type != kind {
								t.Fatalf("%+v", l)
							} else if _, was := reached[j]; !was {
								reached[j] = l.Depth
							}
						}
						count := 0 // each link once, if it touches what is nearer than depth
						for _, e := range edges {
							near := distance[i][e.from]
							switch direction {
							case "":
								near = min(near, distance[i][e.to])
							case "to":
								near = distance[i][e.to]
							}
							if (kind == "" || e.kind == kind) && near < depth {
								count++
							}
						}
						if len(out.Links) != count || out.Cut {
							t.Errorf("memory %d, %q, %q, %d deep: %d links, want %d", i, kind, direction, depth, len(out.Links), count)
						}
						for j := range n {
							got, ok := reached[j]
							if want := distance[i][j]; ok != (want <= depth) || ok && got != want {
								t.Errorf("memory %d is %d, %v from %d, want %d (%q, %q, %d deep)", j, got, ok, i, want, kind, direction, depth)
							}
						}
					}
					for j, until := range ids {
						if i == j {
							continue
						}
						out, err := b.Links(ctx, tenant, api.LinksQuery{MemoryName: api.MemoryName{ID: id}, Type: kind, Direction: direction, Until: until})
						if distance[i][j] >= far {
							if none++; !errors.Is(err, journal.ErrNoItem) {
								t.Errorf("there is no way from %d to %d: %+v, %v", i, j, out.Links, err)
							}
							continue
						}
						if ways++; err != nil || len(out.Links) != distance[i][j] || out.Links[len(out.Links)-1].Memory.ID != until {
							t.Fatalf("the way from %d to %d: %+v, %v, want %d links", i, j, out.Links, err, distance[i][j])
						}
						at := address[i]
						for step, l := range out.Links {
							near, far := l.From, l.To
							if l.Back {
								near, far = far, near
							}
							if a := must(belief.ParseAddress(near)); a.Item != at || l.Depth != step+1 {
								t.Fatalf("step %d of %+v begins at %s", step, out.Links, at)
							}
							at = must(belief.ParseAddress(far)).Item
						}
					}
				}
			}
		}
	}
	if ways < 100 || none < 100 {
		t.Errorf("%d ways, and %d pairs without", ways, none)
	}
}

// TestLinksOf lists links to turns, of proposals, of memories that have ended, and for callers who may not see the other end; and refuses what it cannot answer.
func TestLinksOf(t *testing.T) {
	k, agent := remembering(t)
	b, ctx := k.Beliefs(), t.Context()
	turns := chain(t, k, 1)
	mine := must(b.Remember(ctx, tenant, api.NewMemory{Text: "Doors are blue.", Project: "projects/p1"}))
	other := must(b.Remember(ctx, tenant, api.NewMemory{Text: "Windows are open at night.", Project: "projects/p2"}))
	told := must(b.Remember(ctx, tenant, api.NewMemory{Text: "prefers tabs", Project: "projects/p1"}))
	waits := must(b.Remember(agent, tenant, api.NewMemory{Text: "prefers spaces", Project: "projects/p1"}))
	at := func(project, id string) string { return fmt.Sprintf("kref://projects/%s/%s.fact?r=1", project, id) }
	for _, l := range []api.NewLink{
		{From: at("p1", mine.ID), Type: "created_from", To: "turn:" + turns[0].String()},
		{From: at("p1", mine.ID), Type: "depends_on", To: at("p2", other.ID)},
		{From: at("p1", told.ID), Type: "referenced", To: at("p1", mine.ID)},
	} {
		must(b.Link(ctx, tenant, l))
	}
	must(b.Forget(ctx, tenant, api.OldMemory{ID: other.ID}))
	of := func(id string) api.LinksQuery { return api.LinksQuery{MemoryName: api.MemoryName{ID: id}} }
	out := must(b.Links(ctx, tenant, of(mine.ID)))
	if l := out.Links; len(l) != 3 || l[0].Memory != nil || l[0].To != "turn:"+turns[0].String() || l[1].Memory.Text != "Windows are open at night." || !l[1].Ended || l[1].Back || !l[2].Back || l[2].Ended || l[2].Memory.ID != told.ID {
		t.Errorf("%+v", l)
	}
	scoped := access.As(ctx, access.Identity{Role: access.Admin, Subject: "k", Admits: access.Scope{Spaces: "projects/p1"}})
	if l := must(b.Links(scoped, tenant, of(mine.ID))).Links; len(l) != 2 {
		t.Errorf("a caller who may not see the other project is shown %+v", l)
	}
	if l := must(b.Links(ctx, tenant, of(waits.ID))); len(l.Links) != 0 || l.Of.ID != waits.ID {
		t.Errorf("%+v", l)
	}
	for id, until := range map[string]string{mine.ID: mine.ID, told.ID: waits.ID} {
		in := of(id)
		in.Until = until
		if out, err := b.Links(ctx, tenant, in); !errors.Is(err, belief.ErrForm) {
			t.Errorf("from %s to %s: %+v, %v", id, until, out, err)
		}
	}
	for _, in := range []api.LinksQuery{of("abcd1234"), {}, of("")} {
		if out, err := b.Links(ctx, tenant, in); err == nil {
			t.Errorf("%+v: %+v", in, out)
		}
	}
}

// TestManyLinks cuts a list, and finds no way that is not among the nearest links.
func TestManyLinks(t *testing.T) {
	k, _ := remembering(t)
	b, ctx := k.Beliefs(), t.Context()
	var ids []string
	for i := range 3 {
		ids = append(ids, must(b.Remember(ctx, tenant, api.NewMemory{Text: fmt.Sprintf("memory %d", i), Slot: fmt.Sprint("s", i), Project: project})).ID)
	}
	at := func(i int) string { return fmt.Sprintf("kref://%s/%s.fact?r=1", project, ids[i]) }
	for i := range 1001 {
		must(b.Link(ctx, tenant, api.NewLink{From: at(0), Type: fmt.Sprint("t", i), To: at(1)}))
	}
	must(b.Link(ctx, tenant, api.NewLink{From: at(1), Type: "last", To: at(2)}))
	if out := must(b.Links(ctx, tenant, api.LinksQuery{MemoryName: api.MemoryName{ID: ids[0]}, Depth: 2})); len(out.Links) != 1000 || !out.Cut {
		t.Errorf("%d links, cut: %v", len(out.Links), out.Cut)
	}
	if out, err := b.Links(ctx, tenant, api.LinksQuery{MemoryName: api.MemoryName{ID: ids[0]}, Until: ids[2]}); !errors.Is(err, journal.ErrTooWide) {
		t.Errorf("%+v, %v", out, err)
	}
	if out := must(b.Links(ctx, tenant, api.LinksQuery{MemoryName: api.MemoryName{ID: ids[0]}, Until: ids[1]})); len(out.Links) != 1 || out.Cut {
		t.Errorf("%+v", out)
	}
}
