package dag_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// A conversation draws skeletons of one conversation, without keeping them: of
// every twenty turns all but the first have a parent, and two have two, which
// makes 1.05 edges a turn.
type conversation struct {
	rng     *rand.Rand
	turn    dag.Skeleton
	parents [2]dag.SkeletonParent
	last    [2]dag.TurnID
}

const edgesInTwenty = 21

func newConversation() *conversation {
	return &conversation{rng: rand.New(rand.NewPCG(1, 2))}
}

// next returns the next turn. It is good until the one after.
func (c *conversation) next() *dag.Skeleton {
	s := &c.turn
	*s = dag.Skeleton{Seq: s.Seq + 1, Conversation: conversationID(1), CreatedAt: dag.Time(s.Seq), Salience: dag.One, Role: dag.RoleUser, Phase: dag.Planning}
	binary.BigEndian.PutUint64(s.ID[:8], c.rng.Uint64())
	binary.BigEndian.PutUint64(s.ID[8:], c.rng.Uint64())
	binary.BigEndian.PutUint64(s.Leaf[:8], c.rng.Uint64())
	for i := range c.parents {
		c.parents[i] = dag.SkeletonParent{ID: c.last[i], Conversation: s.Conversation, Kind: dag.Reply, Leaf: s.Leaf}
	}
	switch s.Seq % 20 {
	case 1:
	case 10, 20:
		s.Parents = c.parents[:]
	default:
		s.Parents = c.parents[:1]
	}
	c.last[0], c.last[1] = s.ID, c.last[0]
	return s
}

// fill adds that many turns.
func fill(t testing.TB, g *dag.Graph, turns int) {
	t.Helper()
	c := newConversation()
	for range turns {
		if err := g.Add(c.next()); err != nil {
			t.Fatal(err)
		}
	}
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestGraphSize holds the graph to its promise, by what Size says and by what
// the heap says. A graph that grows turn by turn is measured where it holds the
// most memory for its turns, just after its arrays have grown.
func TestGraphSize(t *testing.T) {
	const turns, fewest = 100_000, 5_000
	largest := func() (at int) {
		g, c, worst := dag.NewGraph(), newConversation(), 0.0
		for n := 1; n <= turns; n++ {
			if err := g.Add(c.next()); err != nil {
				t.Fatal(err)
			}
			if each := float64(g.Size()) / float64(n); n >= fewest && each > worst {
				at, worst = n, each
			}
		}
		return at
	}
	for _, tc := range []struct {
		name  string
		turns int
		grow  bool
		most  float64
	}{
		{"loaded", turns, true, 152},
		{"grown", turns, false, 174},
		{"grown, at its largest", largest(), false, 174},
	} {
		before := heap()
		g := dag.NewGraph()
		if tc.grow {
			g.Grow(tc.turns, tc.turns*edgesInTwenty/20)
		}
		size := g.Size()
		fill(t, g, tc.turns)
		if tc.grow && g.Size() > size+64+1024 { // except for the conversation and the working memory
			t.Errorf("%s: the graph grew from %d to %d bytes after Grow", tc.name, size, g.Size())
		}
		held := float64(heap()-before) / float64(tc.turns)
		said := float64(g.Size()) / float64(tc.turns)
		runtime.KeepAlive(g)
		t.Logf("%s: %d turns, %.1f bytes a turn by Size, %.1f on the heap", tc.name, tc.turns, said, held)
		if said > tc.most || held > tc.most*1.05 {
			t.Errorf("%s: %.1f bytes a turn by Size and %.1f on the heap, at most %g", tc.name, said, held, tc.most)
		}
		if held < said*0.95 || held > said*1.05 {
			t.Errorf("%s: Size says %.1f bytes a turn, the heap %.1f", tc.name, said, held)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	const turns = 100_000
	c := newConversation()
	load := make([]dag.Skeleton, turns)
	edges := 0
	for i := range load {
		load[i] = *c.next()
		load[i].Parents = append([]dag.SkeletonParent(nil), load[i].Parents...)
		edges += len(load[i].Parents)
	}
	for _, bc := range []struct {
		name string
		grow bool
	}{{"loaded", true}, {"grown", false}} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g := dag.NewGraph()
				if bc.grow {
					g.Grow(turns, edges)
				}
				for i := range load {
					if err := g.Add(&load[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/turns, "ns/turn")
		})
	}
}

func BenchmarkFind(b *testing.B) {
	const turns = 100_000
	g, c := dag.NewGraph(), newConversation()
	g.Grow(turns, 2*turns)
	ids := make([]dag.TurnID, turns)
	for i := range ids {
		s := c.next()
		ids[i] = s.ID
		if err := g.Add(s); err != nil {
			b.Fatal(err)
		}
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(turns, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	v := g.At(turns)
	i := 0
	for b.Loop() {
		if _, ok := v.Find(ids[i]); !ok {
			b.Fatal("not found")
		}
		if i++; i == turns {
			i = 0
		}
	}
}
