package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/graphkernel/graphkernel/dag"
)

// A generator makes the same turns for the same seed: conversations that are
// mostly chains, with side branches, merges and a hub now and then, and content
// of about 400 bytes.
type generator struct {
	random       *rand.Rand
	conversation dag.ConversationID
	turns        []dag.TurnID // of the conversation at work
	number       int
	length       int // turns in a conversation
}

func newGenerator(seed uint64, length int) *generator {
	return &generator{random: rand.New(rand.NewPCG(seed, 1)), length: length}
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

// next gives the next turn, parents before children.
func (g *generator) next() dag.Draft {
	if len(g.turns) == g.length || g.number == 0 {
		g.conversation, g.turns = g.id(), g.turns[:0]
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
	if n := len(g.turns); n > 0 {
		parent := g.turns[n-1]
		if g.random.IntN(5) == 0 { // a side branch
			parent = g.turns[max(0, n-1-g.random.IntN(12))]
		}
		d.Parents = append(d.Parents, dag.Parent{ID: parent, Kind: dag.Reply})
		if other := g.turns[max(0, n-1-g.random.IntN(12))]; other != parent && g.random.IntN(20) == 0 {
			d.Parents = append(d.Parents, dag.Parent{ID: other, Kind: dag.Merge})
		}
	}
	g.turns = append(g.turns, d.ID)
	g.number++
	return d
}
