package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// An Instance is a kernel on a store of its own, which is deleted at the end.
type Instance struct {
	kernel *kernel.Kernel
	store  store.Store
	folder string
}

// newInstance opens an empty kernel. Its clock stands still and its salts come from a seed, so that nothing differs from one run to the
// next.
func newInstance(ctx context.Context) (*Instance, error) {
	folder, err := os.MkdirTemp("", "graphkernel-eval-")
	if err != nil {
		return nil, err
	}
	in := &Instance{folder: folder}
	if in.store, err = sqlite.Create(ctx, filepath.Join(folder, "eval.db"), sqlite.Options{}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	clock := func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	in.kernel, err = kernel.Open(kernel.Config{Store: in.store, Authority: token.NewAuthority(token.Keyring{}), Clock: clock, Rand: rand.NewChaCha8([32]byte{})})
	if err != nil {
		return nil, errors.Join(err, in.close())
	}
	return in, nil
}

func (in *Instance) close() error { return errors.Join(in.store.Close(), os.RemoveAll(in.folder)) }

// A Turn is a turn of a corpus.
type Turn struct {
	dag.Draft
	Seq dag.Seq
}

// piece returns the turn as a prompt has it.
func (t *Turn) piece() *contexts.Piece {
	of := map[dag.Role]dag.Standing{dag.RoleUser: dag.StandingOwner, dag.RoleAssistant: dag.StandingAgent}[t.Role]
	if of == 0 {
		of = dag.StandingOutside
	}
	turn := &contexts.ChosenTurn{Turn: dag.Turn{ID: t.ID, Conversation: t.Conversation, Role: t.Role, CreatedAt: t.CreatedAt}, Body: dag.Body{Author: t.Author, Content: t.Content}}
	return &contexts.Piece{Candidate: &contexts.Candidate{Kind: contexts.KindTurn, ID: t.ID.String(), Standing: of}, Turn: turn}
}

// A Corpus is all that one tenant of a kernel has.
type Corpus struct {
	Turns []Turn // ascending by number

	kernel *kernel.Kernel
	tenant dag.Tenant
	places map[dag.TurnID]int        // in Turns
	index  *index                    // for plainBM25; nil: not made yet
	facts  *Facts                    // nil: it has none
	alike  map[dag.TurnID]dag.TurnID // the first of the turns that are alike, by the others; nil: not known yet
}

// corpus admits turns as a tenant's, in their order.
func (in *Instance) corpus(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) (*Corpus, error) {
	if _, err := in.kernel.Turns().AdmitInOrder(ctx, tenant, "", drafts); err != nil {
		return nil, fmt.Errorf("%s: %w", tenant, err)
	}
	return in.read(ctx, tenant)
}

// imported imports a file as a tenant's turns.
func (in *Instance) imported(ctx context.Context, tenant dag.Tenant, path string) (*Corpus, error) {
	if _, err := in.kernel.Turns().Import(ctx, tenant, path, ingest.Options{}); err != nil {
		return nil, err
	}
	return in.read(ctx, tenant)
}

// read returns the corpus of what a tenant has.
func (in *Instance) read(ctx context.Context, tenant dag.Tenant) (*Corpus, error) {
	c := &Corpus{kernel: in.kernel, tenant: tenant, places: map[dag.TurnID]int{}}
	after := dag.ConversationID{}
	for {
		const page = 1_000
		list, err := in.kernel.Turns().Conversations(ctx, tenant, after, page)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			err := in.kernel.Turns().Each(ctx, tenant, one.ID, func(seq dag.Seq, d *dag.Draft) error {
				c.Turns = append(c.Turns, Turn{*d, seq})
				return nil
			})
			if err != nil {
				return nil, err
			}
			after = one.ID
		}
		if len(list) < page {
			break
		}
	}
	slices.SortFunc(c.Turns, func(a, b Turn) int { return cmp.Compare(a.Seq, b.Seq) })
	for i := range c.Turns {
		c.places[c.Turns[i].ID] = i
	}
	return c, nil
}

// turn returns a turn by its id, which must be of the corpus.
func (c *Corpus) turn(id dag.TurnID) *Turn {
	at, ok := c.places[id]
	if !ok {
		panic(fmt.Sprintf("eval: turn %s is not of %s", id, c.tenant))
	}
	return &c.Turns[at]
}

// until returns the turns up to a number.
func (c *Corpus) until(asOf dag.Seq) []Turn {
	n, _ := slices.BinarySearchFunc(c.Turns, asOf+1, func(t Turn, seq dag.Seq) int { return cmp.Compare(t.Seq, seq) })
	return c.Turns[:n]
}

// last returns a question that is asked after the last turn.
func (c *Corpus) last(text string) Question {
	t := &c.Turns[len(c.Turns)-1]
	return Question{Text: text, Anchor: t.ID, AsOf: t.Seq}
}

// firsts returns a set in which the first of alike turns stands for each of them: turns of an agent in one conversation by the same author with the same text, such as
// a call that was made twice. A prompt with one of them says what all say.
func (c *Corpus) firsts(set map[dag.TurnID]bool) map[dag.TurnID]bool {
	if c.alike == nil {
		type said struct {
			conversation dag.ConversationID
			author, text string
		}
		c.alike = map[dag.TurnID]dag.TurnID{}
		first := map[said]dag.TurnID{}
		for i := range c.Turns {
			t := &c.Turns[i]
			if t.Role != dag.RoleAssistant {
				continue
			}
			key := said{t.Conversation, t.Author, t.Content}
			if id, ok := first[key]; ok {
				c.alike[t.ID] = id
			} else {
				first[key] = t.ID
			}
		}
	}
	of := make(map[dag.TurnID]bool, len(set))
	for id := range set {
		if first, ok := c.alike[id]; ok {
			id = first
		}
		of[id] = true
	}
	return of
}

// layout returns the layout of a prompt without turns, in markdown. Its note is that of contexts of the past, since each question names its number.
func layout() *contexts.Layout {
	return contexts.NewLayout(&contexts.Request{Format: contexts.Markdown, RulesAsOf: 1, Past: true}, &contexts.Policy{})
}

// cost returns the tokens of a prompt of turns, headings and markup included.
func (c *Corpus) cost(ids []dag.TurnID) int {
	l := layout()
	tokens := l.Frame()
	for _, id := range ids {
		p := c.turn(id).piece()
		tokens += l.Block(p)
		l.Add(p)
	}
	return tokens
}
