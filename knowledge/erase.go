package knowledge

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A NameKey represents a name in the keys of indexes: the first bytes of its SHA-256. It
// is a digest instead of the name because a database may keep copies of deleted keys.
type NameKey [16]byte

// KeyOf returns the key of a name.
func KeyOf(name string) NameKey {
	digest := sha256.Sum256([]byte(name))
	return NameKey(digest[:len(NameKey{})])
}

// An Erasure is the part of a turn's erasure that concerns facts. The assertions that were learned from the turn lose their
// private halves, and every term that they began is removed. Nothing else changes: what these assertions ended stays ended, so
// that a slice without them can be cut again as it was. If a statement is believed because of one of them, and assertions from
// elsewhere support it, the best of those is recorded once more, and the statement is believed again from the erasure on.
//
// It is a change that writes entries above State.Head.
type Erasure struct {
	Turn dag.TurnID
	At   dag.Time

	// Adopting says that another store erased the turn. The assertions that it recorded once more are adopted on their own.
	Adopting bool

	gone    []Recorded // the assertions that are erased
	damaged []dag.Seq  // the turn's entries that cannot be read: they lose their private halves as well, and keep their terms
	lost    []NameKey
}

// LostRound is the round of Needs from which on Lost is known.
const LostRound = 3

// Lost returns the names that are no longer the subject or object of any fact. It is valid from LostRound on.
func (c *Erasure) Lost() []NameKey { return c.lost }

// Needs asks for the assertions of the turn; then for other facts with their names, and for the newest
// versions of their statements; then for all assertions of the statements that are believed because of them.
func (c *Erasure) Needs(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		c.gone, c.damaged, c.lost = nil, nil, nil
		n.Ranges = []history.Range{{Index: indexEvidence, Prefix: c.Turn[:]}}
	case 1:
		for t := range termsIn(k, indexEvidence, c.Turn[:]) {
			n.Entries = append(n.Entries, t.Since)
		}
	case 2:
		c.gone, c.damaged = c.assertions(k)
		for _, name := range c.names() {
			for _, index := range [...]history.Index{indexOutgoing, indexIncoming} {
				n.Ranges = append(n.Ranges, history.Range{Index: index, Prefix: name[:], Limit: len(c.gone) + 1})
			}
		}
		for i := range c.gone {
			id := c.gone[i].Act.Fact.Chain()
			n.Newest = append(n.Newest, versionsKey(&id))
		}
	case LostRound:
		c.lost = slices.DeleteFunc(c.names(), func(name NameKey) bool { return c.found(k, name) })
		for id := range c.orphans(k) {
			n.Ranges = append(n.Ranges, history.Range{Index: indexVersions, Prefix: id[:]}, history.Range{Index: indexMentions, Prefix: id[:]})
		}
	case 4:
		for id, opened := range c.orphans(k) {
			for _, index := range [...]history.Index{indexVersions, indexMentions} {
				for t := range termsIn(k, index, id[:]) {
					if t.Since >= opened && !c.erases(t.Since) {
						n.Entries = append(n.Entries, t.Since)
					}
				}
			}
		}
	}
	return n
}

// termsIn returns an iterator over the terms in the state that are of an index and whose keys begin with a prefix.
func termsIn(k *history.State, index history.Index, prefix []byte) func(func(*history.Term) bool) {
	return func(yield func(*history.Term) bool) {
		for _, list := range k.Ranges {
			for i := range list {
				if t := &list[i]; t.Index == index && bytes.HasPrefix(t.Key, prefix) && !yield(t) {
					return
				}
			}
		}
	}
}

// assertions returns the turn's assertions that are not erased yet, and the numbers of its entries that cannot be read and have a private half still.
func (c *Erasure) assertions(k *history.State) (list []Recorded, damaged []dag.Seq) {
	for t := range termsIn(k, indexEvidence, c.Turn[:]) {
		e := k.Entries[t.Since]
		switch r, err := FromEntry(&e); {
		case err != nil && e.Private != nil:
			damaged = append(damaged, t.Since)
		case err == nil && !r.Erased && r.Act.Kind == Assert:
			list = append(list, r)
		}
	}
	return list, damaged
}

func (c *Erasure) erases(seq dag.Seq) bool {
	return slices.ContainsFunc(c.gone, func(r Recorded) bool { return r.Seq == seq })
}

// names returns the keys of the subjects and objects of the erased assertions, without duplicates.
func (c *Erasure) names() []NameKey {
	var keys []NameKey
	for i := range c.gone {
		f := &c.gone[i].Act.Fact
		keys = append(keys, KeyOf(f.Subject), KeyOf(f.Object))
	}
	slices.SortFunc(keys, func(a, b NameKey) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(keys)
}

// found reports whether a remaining fact has the name.
func (c *Erasure) found(k *history.State, name NameKey) bool {
	for _, index := range [...]history.Index{indexOutgoing, indexIncoming} {
		for t := range termsIn(k, index, name[:]) {
			if !c.erases(t.Since) {
				return true
			}
		}
	}
	return false
}

// orphans returns the statements that are believed because of an erased assertion, each with the number that began the belief.
func (c *Erasure) orphans(k *history.State) map[ID]dag.Seq {
	orphans := map[ID]dag.Seq{}
	if c.Adopting {
		return orphans
	}
	for i := range c.gone {
		id := c.gone[i].Act.Fact.Chain()
		if t, ok := k.Newest[versionsKey(&id)]; ok && t.Since == c.gone[i].Seq && t.Until == history.Forever {
			orphans[id] = c.gone[i].Did.Opened
		}
	}
	return orphans
}

// Plan removes the erased assertions, and records once more the assertions that again returns.
func (c *Erasure) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Erases: true, Forget: slices.Clone(c.damaged)}
	for i := range c.gone {
		r := &c.gone[i]
		p.Forget = append(p.Forget, r.Seq)
		id, content := r.Act.Fact.Chain(), r.Act.Content()
		r.Opened = r.Did.Opened
		for _, t := range termsOf(nil, r, &id, &content) {
			p.End = append(p.End, history.Ending{Index: t.Index, Key: t.Key, Since: t.Since})
		}
	}
	again := c.again(k)
	if len(again) == 0 {
		return p, nil
	}
	prepared, err := Prepare(again)
	if err != nil {
		return nil, err
	}
	write := &change{Prepared: prepared, at: c.At}
	planned, err := prepared.Plan(Known{Head: k.Head}, c.At)
	if err != nil {
		return nil, err
	}
	more := write.plan(planned)
	p.Entries, p.Begin = more.Entries, more.Begin
	return p, nil
}

// again returns the assertions to be recorded once more: for each orphan the
// assertion from elsewhere with the highest confidence, of several the first one.
func (c *Erasure) again(k *history.State) (acts []Act) {
	best := map[ID]Recorded{}
	orphans := c.orphans(k)
	for _, e := range k.Entries {
		r, err := FromEntry(&e)
		if err != nil || r.Erased || r.Act.Kind != Assert || c.erases(r.Seq) {
			continue
		}
		id := r.Act.Fact.Chain()
		opened, ok := orphans[id]
		if b, has := best[id]; ok && r.Seq >= opened && (!has || cmp.Or(cmp.Compare(b.Act.Fact.Confidence, r.Act.Fact.Confidence), cmp.Compare(r.Seq, b.Seq)) < 0) {
			best[id] = r
		}
	}
	for _, r := range best {
		acts = append(acts, Act{Kind: Assert, Salt: r.Act.Salt, Fact: r.Act.Fact})
	}
	slices.SortFunc(acts, func(a, b Act) int { x, y := a.Fact.Chain(), b.Fact.Chain(); return compareIDs(&x, &y) })
	return acts
}
