package knowledge

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A change is the history.Change that records prepared acts.
type change struct {
	*Prepared
	adopted  []history.Entry // if not nil, the entries of the acts in another store
	at       dag.Time
	outcomes []Outcome // of the last plan
}

// Needs asks in two rounds. The first round asks for the newest version of each statement, and for the acts
// about aliases. For believed statements, the second round asks for the data that shows whether an assertion
// is recorded already, and for the names of versions that end. New assertions need only the first round.
func (c *change) Needs(k *history.State) history.Needs {
	switch k.Round {
	case 0:
		return c.firstRound()
	case 1:
		return c.secondRound(k)
	}
	return history.Needs{}
}

func (c *change) firstRound() (n history.Needs) {
	n.Newest = make([]history.Key, len(c.touched))
	for i := range c.touched {
		n.Newest[i] = versionsKey(&c.touched[i])
	}
	if c.aliases {
		n.Ranges = []history.Range{{Index: indexAliases}}
	}
	for i := range c.history {
		if c.history[i].Erased {
			n.Entries = append(n.Entries, c.history[i].Did.Ended...)
		}
	}
	return n
}

// recalled returns the numbers of versions that adopted acts name and the store does not have. In a valid history erased acts began them.
func (c *change) recalled(k *history.State) (seqs []dag.Seq) {
	mine := make(map[dag.Seq]bool, len(c.history))
	for i := range c.history {
		mine[c.history[i].Seq] = true
	}
	name := func(id ID, since dag.Seq) {
		if t, ok := k.Newest[versionsKey(&id)]; since != 0 && !mine[since] && (!ok || t.Since != since) {
			seqs = append(seqs, since)
		}
	}
	for i := range c.history {
		r := &c.history[i]
		switch a := &r.Act; {
		case r.Erased:
		case a.Kind == Retract && len(r.Did.Ended) == 1:
			name(a.Statement, r.Did.Ended[0])
		case a.Kind == Assert:
			name(c.ids[i], r.Did.Under)
			for n, old := range a.Supersedes[:min(len(a.Supersedes), len(r.Did.Ended))] {
				name(old, r.Did.Ended[n])
			}
		}
	}
	return seqs
}

func (c *change) secondRound(k *history.State) (n history.Needs) {
	for _, list := range k.Ranges {
		for i := range list {
			if list[i].Index == indexAliases {
				n.Entries = append(n.Entries, list[i].Since)
			}
		}
	}
	if c.history != nil {
		n.Entries = append(n.Entries, c.recalled(k)...)
	}
	if len(k.Newest) == 0 {
		return n
	}
	whole := map[ID]bool{} // statements whose versions in this belief are asked for
	ends := func(id ID) {
		if t, ok := k.Newest[versionsKey(&id)]; ok && t.Until == history.Forever {
			n.Entries = append(n.Entries, t.Since)
		}
	}
	for i := range c.acts {
		id := c.ids[i]
		switch c.acts[i].Kind {
		case Retract:
			ends(id)
		case Assert:
			for _, old := range c.acts[i].Supersedes {
				ends(old)
			}
			t, ok := k.Newest[versionsKey(&id)]
			if !ok || t.Until != history.Forever {
				continue
			}
			b, content, err := readVersion(&t)
			if err != nil || content == c.contents[i] {
				continue // planning reports the error, or the assertion repeats the newest one
			}
			n.Newest = append(n.Newest, history.Key{Index: indexMentions, Key: string(mentionKey(&id, &c.contents[i]))})
			if b.Opened < b.Since && !whole[id] {
				whole[id] = true
				n.Ranges = append(n.Ranges, history.Range{Index: indexVersions, Prefix: id[:], After: &history.Place{Key: id[:], Since: b.Opened - 1}})
			}
		}
	}
	return n
}

func versionsKey(id *ID) history.Key { return history.Key{Index: indexVersions, Key: string(id[:])} }

// Plan decides as [Prepared.Plan] does.
func (c *change) Plan(k *history.State) (*history.Plan, error) {
	known, err := c.known(k)
	if err != nil {
		return nil, err
	}
	planned, err := c.Prepared.Plan(known, c.at)
	if err != nil {
		return nil, err
	}
	c.outcomes = planned.Outcomes
	p := c.plan(planned)
	if p.End, err = c.endings(known, planned.Ended); err != nil {
		return nil, err
	}
	return p, nil
}

// plan returns a plan with the entries of the planned acts and the terms that they begin.
func (c *change) plan(planned *Planned) *history.Plan {
	p := &history.Plan{Entries: make([]history.Entry, len(planned.Recorded)), Begin: make([]history.Term, 0, 4*len(planned.Recorded))}
	private := make([]byte, 0, 160*len(planned.Recorded)) // the private halves of all entries
	for i := range planned.Recorded {
		r, which := &planned.Recorded[i], planned.Which[i]
		e := &p.Entries[i]
		*e = history.Entry{Seq: r.Seq, Kind: history.Kind(types[r.Act.Kind]), At: r.At, Public: c.publics[which], Detail: r.Did.append(nil)}
		if r.Erased = c.history != nil && c.history[which].Erased; r.Erased {
			*e = c.adopted[which]
		} else {
			began := len(private)
			private = r.Act.appendPrivate(private) // if append reallocates, earlier halves stay in the old array
			e.Private = private[began:len(private):len(private)]
		}
		p.Begin = termsOf(p.Begin, r, &c.ids[which], &c.contents[which])
	}
	return p
}

// known collects the data that planning needs from the terms and entries that were read.
func (c *change) known(k *history.State) (Known, error) {
	known := Known{
		Head: k.Head, Believed: make(map[ID]Belief, len(k.Newest)), Recorded: make(map[dag.Digest]dag.Seq, len(k.Newest)),
		Erased: map[dag.Seq]bool{}, Versions: map[dag.Seq]*Fact{},
	}
	for seq, e := range k.Entries {
		if !IsKind(e.Kind) {
			continue
		}
		switch r, err := FromEntry(&e); {
		case err != nil:
			return known, err
		case r.Erased:
			known.Erased[seq] = true
		case r.Act.Kind == Assert:
			known.Versions[seq] = &r.Act.Fact
		}
	}
	version := func(t *history.Term) error {
		b, content, err := readVersion(t)
		if err != nil {
			return err
		}
		known.Recorded[content] = max(known.Recorded[content], t.Since)
		if t.Until == history.Forever {
			known.Believed[ID([]byte(t.Key))] = b
		}
		return nil
	}
	for key, t := range k.Newest {
		switch key.Index {
		case indexMentions:
			content := dag.Digest([]byte(key.Key[len(ID{}):]))
			known.Recorded[content] = max(known.Recorded[content], t.Since)
		case indexVersions:
			if err := version(&t); err != nil {
				return known, err
			}
		}
	}
	var aliases []Recorded
	for _, list := range k.Ranges {
		for i := range list {
			t := &list[i]
			switch t.Index {
			case indexVersions:
				if err := version(t); err != nil {
					return known, err
				}
				continue
			case indexAliases:
			default:
				continue
			}
			e, ok := k.Entries[t.Since]
			if !ok {
				return known, fmt.Errorf("%w: number %d, which is about an alias, is missing", history.ErrDamaged, t.Since)
			}
			r, err := FromEntry(&e)
			if err != nil {
				return known, fmt.Errorf("%w: %w", history.ErrDamaged, err)
			}
			aliases = append(aliases, r)
		}
	}
	var err error
	known.Aliases, err = AliasesOf(nil, aliases, dag.MaxSeq)
	return known, err
}

// endings returns the endings of the terms of the stored versions that a plan ends.
func (c *change) endings(known Known, ended []Ending) ([]history.Ending, error) {
	if len(ended) == 0 {
		return nil, nil
	}
	asserted := map[ID]*Fact{}
	for i := range c.acts {
		if c.acts[i].Kind == Assert {
			asserted[c.ids[i]] = &c.acts[i].Fact
		}
	}
	list := make([]history.Ending, 0, 3*len(ended))
	for i := range ended {
		e := &ended[i]
		f := known.Versions[e.Since]
		if s := asserted[e.Statement]; f == nil && s != nil {
			f = &Fact{Statement: s.Statement, Source: s.Source, Confidence: known.Believed[e.Statement].Confidence}
		}
		if f == nil {
			return nil, fmt.Errorf("%w: number %d, which began a version of statement %s, is missing", history.ErrDamaged, e.Since, e.Statement)
		}
		list = endings(list, e.Since, e.Until, f)
	}
	return list, nil
}
