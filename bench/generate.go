package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/graphkernel/graphkernel/dag"
)

// A shape says what a generated graph is like.
type shape struct {
	seed   uint64
	length int // turns in a conversation

	// crossing is one in how many turns has a parent in an older conversation too; one
	// conversation in four then begins as the continuation of another. 0: none.
	crossing int

	// hub is the number of children of one turn, a tenth into the first conversation.
	// Half of them are answered. 0: there is none.
	hub int
}

// A generator makes the same turns for the same shape: conversations that are
// mostly chains, with side branches and merges, and content of about 400 bytes.
type generator struct {
	shape
	random       *rand.Rand
	conversation dag.ConversationID
	turns        []dag.TurnID // of the conversation at work
	number       int
	children     int          // of the hub
	older        []dag.TurnID // some turns of conversations before
}

func newGenerator(s shape) *generator {
	return &generator{shape: s, random: rand.New(rand.NewPCG(s.seed, 1))}
}

func (g *generator) id() (id [16]byte) {
	for i := range id {
		id[i] = byte(g.random.Uint32())
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

const contentBytes = 400

var words = [...]string{"deploy", "index", "the", "query", "fails", "because", "of", "a", "timeout", "in", "checkout", "retry", "plan", "result", "table", "agent", "reads", "file", "error", "fixed"}

func (g *generator) content() string {
	b := make([]byte, 0, contentBytes+16)
	for len(b) < contentBytes {
		b = append(append(b, words[g.random.IntN(len(words))]...), ' ')
	}
	return string(b[:contentBytes])
}

// next returns the next turn, parents before children.
func (g *generator) next() dag.Draft {
	if len(g.turns) == g.length || g.number == 0 {
		g.begin()
	}
	d := dag.Draft{
		ID: g.id(), Conversation: g.conversation,
		Role:  dag.Role(1 + g.random.IntN(4)),
		Phase: dag.Phases[g.random.IntN(len(dag.Phases))], Salience: dag.PPM(g.random.IntN(1_000_001)), HasSalience: true,
		CreatedAt: dag.Time(1_700_000_000_000_000 + int64(g.number)*1_000_000),
		Author:    fmt.Sprintf("agent:%d", g.random.IntN(8)),
		Content:   g.content(),
		Attrs:     map[string]string{},
	}
	salt := dag.Salt(g.id())
	d.Salt = &salt
	g.within(&d)
	if g.crossing > 0 {
		g.across(&d)
	}
	g.turns = append(g.turns, d.ID)
	g.number++
	return d
}

func (g *generator) begin() {
	if g.crossing > 0 {
		for range min(4, len(g.turns)) {
			g.older = append(g.older, g.turns[g.random.IntN(len(g.turns))])
		}
		g.older = g.older[max(0, len(g.older)-64):]
	}
	g.conversation, g.turns = g.id(), g.turns[:0]
}

// within returns a turn its parents in its own conversation.
func (g *generator) within(d *dag.Draft) {
	n := len(g.turns)
	if n == 0 {
		return
	}
	if hub := g.length / 10; g.hub > 0 && g.number > hub && g.number == n && g.children < g.hub {
		if g.number%3 == 0 { // an answer to the child before
			d.Parents = append(d.Parents, dag.Parent{ID: g.turns[n-1], Kind: dag.Reply})
			return
		}
		d.Parents = append(d.Parents, dag.Parent{ID: g.turns[hub], Kind: dag.Spawn})
		g.children++
		return
	}
	parent := g.turns[n-1]
	if g.random.IntN(5) == 0 { // a side branch
		parent = g.turns[max(0, n-1-g.random.IntN(12))]
	}
	d.Parents = append(d.Parents, dag.Parent{ID: parent, Kind: dag.Reply})
	if other := g.turns[max(0, n-1-g.random.IntN(12))]; other != parent && g.random.IntN(20) == 0 {
		d.Parents = append(d.Parents, dag.Parent{ID: other, Kind: dag.Merge})
	}
}

// across returns some turns a parent in an older conversation.
func (g *generator) across(d *dag.Draft) {
	if len(g.older) == 0 {
		return
	}
	first := len(g.turns) == 0
	if first && g.random.IntN(4) == 0 || !first && g.random.IntN(g.crossing) == 0 {
		d.Parents = append(d.Parents, dag.Parent{ID: g.older[g.random.IntN(len(g.older))], Kind: dag.Reference})
	}
}

// drafts returns the next n turns.
func (g *generator) drafts(n int) []dag.Draft {
	drafts := make([]dag.Draft, n)
	for i := range drafts {
		drafts[i] = g.next()
	}
	return drafts
}
