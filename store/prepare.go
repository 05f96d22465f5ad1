package store

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/slice"
)

// MaxBody bounds the canonical form of a body: the longest content with every
// byte escaped, and room for author and attributes.
const MaxBody = 6*dag.MaxContent + 1<<20

// Prepared is the part of Append that does not depend on stored data: the checked batches, with repeated turns of a batch joined, and
// the computed leaves. A back end prepares before it takes its write lock, so that hashing, half the work of an import, blocks nobody.
//
// It refers to the batches, which must not change meanwhile.
type Prepared struct {
	batches [][]candidate
	ids     []dag.TurnID // of all batches, without duplicates, in order of arrival
	beyond  []dag.TurnID // parents that are in no batch, without duplicates
	unless  []*history.Range
}

// A candidate is a turn of one batch, after its repetitions have been joined.
type candidate struct {
	*Arrival
	leaf  dag.Digest
	edges []dag.Digest // leaves, in the order of Arrival.Parents
}

// Prepare checks batches and computes their leaves. Its cost is two SHA-256 of
// about 400 bytes for each turn with one parent.
func Prepare(batches []Batch) (*Prepared, error) {
	p := &Prepared{batches: make([][]candidate, len(batches))}
	size := 0
	for _, b := range batches {
		size += len(b)
	}
	seen := make(map[dag.TurnID]bool, size)
	p.ids = make([]dag.TurnID, 0, size)
	for i, b := range batches {
		joined, err := join(b)
		if err != nil {
			return nil, err
		}
		for j := range joined {
			if id := joined[j].Turn.ID; !seen[id] {
				seen[id] = true
				p.ids = append(p.ids, id)
			}
			if u := joined[j].Unless; u != nil && !slices.Contains(p.unless, u) {
				p.unless = append(p.unless, u)
			}
			joined[j].hash()
		}
		p.batches[i] = joined
	}
	if err := history.CheckRanges(p.Unless()); err != nil {
		return nil, err
	}
	for _, b := range p.batches {
		for i := range b {
			for _, parent := range b[i].Parents {
				if !seen[parent.ID] {
					seen[parent.ID] = true
					p.beyond = append(p.beyond, parent.ID)
				}
			}
		}
	}
	return p, nil
}

// Arriving returns the ids of all turns of the batches, each once.
func (p *Prepared) Arriving() []dag.TurnID { return p.ids }

// Beyond returns the ids of the parents that are in none of the batches, each once.
func (p *Prepared) Beyond() []dag.TurnID { return p.beyond }

// Unless returns the ranges of Arrival.Unless, each once. Plan must know their terms.
func (p *Prepared) Unless() []history.Range {
	ranges := make([]history.Range, len(p.unless))
	for i, r := range p.unless {
		ranges[i] = *r
	}
	return ranges
}

func (c *candidate) hash() {
	c.leaf = slice.TurnLeaf(&c.Turn)
	if len(c.Parents) == 0 {
		return
	}
	c.edges = make([]dag.Digest, len(c.Parents))
	for i, p := range c.Parents {
		c.edges[i] = slice.EdgeLeaf(dag.Edge{Parent: p.ID, Child: c.Turn.ID, Kind: p.Kind})
	}
}

// join checks the arrivals of a batch and returns one candidate for each turn, in the order of the turns' first arrivals.
func join(b Batch) ([]candidate, error) {
	at := make(map[dag.TurnID]int, len(b))
	joined := make([]candidate, 0, len(b))
	var again map[dag.TurnID][]*Arrival
	for i := range b {
		a := &b[i]
		if err := a.check(); err != nil {
			return nil, fmt.Errorf("%s%w", place(a.Place), err)
		}
		first, repeated := at[a.Turn.ID]
		if !repeated {
			at[a.Turn.ID] = len(joined)
			joined = append(joined, candidate{Arrival: a})
			continue
		}
		if again == nil {
			again = map[dag.TurnID][]*Arrival{}
		}
		if len(again[a.Turn.ID]) == 0 {
			again[a.Turn.ID] = []*Arrival{joined[first].Arrival}
		}
		again[a.Turn.ID] = append(again[a.Turn.ID], a)
	}
	for i := range joined {
		same := again[joined[i].Turn.ID]
		if same == nil {
			continue
		}
		kept, err := one(same)
		if err != nil {
			return nil, err
		}
		joined[i].Arrival = kept
	}
	return joined, nil
}

// one chooses among the arrivals of one turn in one batch, which have no order: a body that came with its salt takes precedence over
// a withheld body, and that over a body whose salt was drawn here. The others must be the same turn, by the rule for a stored turn.
func one(same []*Arrival) (*Arrival, error) {
	same = slices.Clone(same)
	slices.SortStableFunc(same, func(a, b *Arrival) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), bytes.Compare(a.Turn.BodyDigest[:], b.Turn.BodyDigest[:]))
	})
	kept := same[0]
	for _, other := range same[1:] {
		if err := conflict(kept.known(), other); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

func (a *Arrival) rank() int {
	switch {
	case a.Body != nil && !a.SaltDrawn:
		return 0
	case a.Body == nil:
		return 1
	}
	return 2
}

// check refuses an arrival that breaks the contract of Append.
func (a *Arrival) check() error {
	t := &a.Turn
	if err := t.Check(); err != nil {
		return err
	}
	switch {
	case t.ID == dag.TurnID{} || t.Conversation == dag.ConversationID{}:
		return fmt.Errorf("%w: turn %s of conversation %s: the nil UUID names nothing", dag.ErrForm, t.ID, t.Conversation)
	case a.Body == nil && (a.Salt != dag.Salt{} || a.SaltDrawn || a.External != ""):
		return fmt.Errorf("%w: turn %s is withheld but has a salt or an external id", dag.ErrForm, t.ID)
	case a.Body != nil && len(a.Body) == 0:
		return fmt.Errorf("%w: turn %s has an empty body", dag.ErrForm, t.ID)
	case len(a.Body) > MaxBody:
		return fmt.Errorf("%w: the body of turn %s has %d bytes, at most %d", dag.ErrForm, t.ID, len(a.Body), MaxBody)
	case len(a.Parents) > dag.MaxParents:
		return fmt.Errorf("%w: turn %s has %d parents, at most %d", dag.ErrForm, t.ID, len(a.Parents), dag.MaxParents)
	}
	if err := a.Marks.Check(); err != nil {
		return fmt.Errorf("turn %s: %w", t.ID, err)
	}
	if a.Key != "" {
		if err := access.CheckCredential(a.Key); err != nil {
			return fmt.Errorf("turn %s: the key that admits it: %w", t.ID, err)
		}
	}
	for i, p := range a.Parents {
		if p.Kind.String() == "" {
			return fmt.Errorf("%w: turn %s has an edge without a kind from %s", dag.ErrForm, t.ID, p.ID)
		}
		if len(a.Parents) <= fewParents && hasParent(a.Parents[:i], p.ID) {
			return repeatedParent(t.ID, p.ID)
		}
	}
	if len(a.Parents) <= fewParents {
		return nil
	}
	seen := make(map[dag.TurnID]bool, len(a.Parents))
	for _, p := range a.Parents {
		if seen[p.ID] {
			return repeatedParent(t.ID, p.ID)
		}
		seen[p.ID] = true
	}
	return nil
}

// fewParents bounds the parents that are compared pair by pair, without a map.
const fewParents = 8

func hasParent(parents []dag.Parent, id dag.TurnID) bool {
	return slices.ContainsFunc(parents, func(p dag.Parent) bool { return p.ID == id })
}

func repeatedParent(child, parent dag.TurnID) error {
	return fmt.Errorf("%w: turn %s names the parent %s twice; at most one edge joins two turns", dag.ErrForm, child, parent)
}
