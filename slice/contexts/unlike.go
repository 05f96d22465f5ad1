package contexts

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// A Touched lists the turns of conversations in which a text was erased since a context was made. Their scores depend
// on their neighbours, and on how much of the conversation persons said.
type Touched struct {
	Turns  map[string]bool // by id, of the candidates of both contexts
	Anchor bool            // the anchor's conversation is one of them
}

// Unlike compares b with again, a context that was assembled again with b's statistics. It returns the first difference
// that no erasure explains, or "" if there is none. An erasure removes the turn and the facts and beliefs that rest on
// it or were reached through it, so that other results of the search or of the task's words move up. It changes the
// features of turns of its own conversation only.
func (b *Bundle) Unlike(again *Bundle, touched *Touched) string {
	for i := range b.Candidates {
		c := &b.Candidates[i]
		d := again.candidate(c.Kind, c.ID)
		switch {
		case c.Kind != KindTurn && d == nil || c.Kind == KindTurn && touched.Turns[c.ID]:
		case d == nil:
			return fmt.Sprintf("%s %s is not a candidate when the context is assembled again", c.Kind, c.ID)
		case !c.explains(d, touched):
			return fmt.Sprintf("%s %s has other features when the context is assembled again", c.Kind, c.ID)
		}
	}
	for i := range again.Candidates {
		c := &again.Candidates[i]
		movedUp := c.From[FromSearch] || c.From[FromLines]
		for s, is := range c.From {
			movedUp = movedUp && (!is || Source(s) == FromSearch || Source(s) == FromLines)
		}
		if c.Kind == KindBelief && c.Mandatory() && b.candidate(c.Kind, c.ID) == nil {
			return fmt.Sprintf("%s %s is a candidate only when the context is assembled again", c.Kind, c.ID)
		}
		if c.Kind == KindTurn && !movedUp && !touched.Turns[c.ID] && b.candidate(c.Kind, c.ID) == nil {
			return fmt.Sprintf("%s %s is a candidate only when the context is assembled again", c.Kind, c.ID)
		}
	}
	first, second := b.alike(&again.Choice), again.alike(&b.Choice)
	for pair, share := range first {
		if second[pair] != share {
			return fmt.Sprintf("turns %s and %s have other words in common when the context is assembled again", pair[0], pair[1])
		}
	}
	if len(first) != len(second) {
		return "other pairs of turns share words when the context is assembled again"
	}
	return ""
}

// explains reports whether erasures elsewhere can explain the differences between a candidate and d.
func (c *Candidate) explains(d *Candidate, touched *Touched) bool {
	x, y := *c, *d
	if x.Looked && y.Looked && (x.Standing != y.Standing || x.Rule != y.Rule) {
		return false
	}
	for _, z := range [...]*Candidate{&x, &y} { // another choice looks at others
		z.Looked, z.Block, z.Standing, z.Rule, z.Setting = false, 0, 0, 0, 0
		z.Excerpt, z.From[FromLines], z.From[FromRemembered], z.Features[FeatureLine] = nil, false, false, 0 // other sessions may be the last ones
	}
	for _, s := range [...]Source{FromSearch, FromBeliefs, FromFacts} { // the candidate may have moved up
		if !x.From[s] {
			y.From[s] = false
		}
	}
	if c.Kind == KindBelief && !y.From[FromFacts] { // the path to it may be gone
		x.From[FromFacts] = false
	}
	if touched.Anchor {
		x.Features[FeatureSlice], y.Features[FeatureSlice] = 0, 0
	}
	if c.Kind != KindTurn { // a path may be gone, or the name from which it was reached first
		x.Features[FeatureTask], y.Features[FeatureTask] = 0, 0
	}
	return x == y
}

// alike returns the overlaps of the candidates that the other context has too, by their ids.
func (ch *Choice) alike(other *Choice) map[[2]string]dag.PPM {
	pairs := map[[2]string]dag.PPM{}
	for _, o := range ch.Overlaps {
		c, d := &ch.Candidates[o.First], &ch.Candidates[o.Second]
		if other.candidate(c.Kind, c.ID) != nil && other.candidate(d.Kind, d.ID) != nil {
			pairs[[2]string{c.ID, d.ID}] = o.Share
		}
	}
	return pairs
}
