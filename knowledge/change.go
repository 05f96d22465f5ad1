package knowledge

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A change is prepared acts on their way into a history.
type change struct {
	*Prepared
	at       dag.Time
	outcomes []Outcome // of the last plan
}

// Needs asks in two rounds: first for the newest version of each statement, and for the acts
// about aliases; then, of the statements that are believed, for what tells whether an assertion
// is there already, and for what names versions have that end. New assertions need the first
// round alone.
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
	return n
}

func (c *change) secondRound(k *history.State) (n history.Needs) {
	for _, list := range k.Ranges {
		for i := range list {
			if list[i].Index == indexAliases {
				n.Entries = append(n.Entries, list[i].Since)
			}
		}
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
			b, leaf, err := readVersion(&t)
			if err != nil || leaf == c.leaves[i] {
				continue // planning says so, or it is the same again
			}
			n.Newest = append(n.Newest, history.Key{Index: indexMentions, Key: string(mentionKey(&id, &c.leaves[i]))})
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
	p := &history.Plan{Entries: make([]history.Entry, len(planned.Recorded)), Begin: make([]history.Term, 0, 3*len(planned.Recorded))}
	for i := range planned.Recorded {
		r, which := &planned.Recorded[i], planned.Which[i]
		p.Entries[i] = history.Entry{Seq: r.Seq, Kind: history.Kind(types[r.Act.Kind]), At: r.At, Public: c.texts[which]}
		p.Begin = termsOf(p.Begin, r, &c.ids[which])
	}
	if p.End, err = c.endings(k, known.Believed, planned.Ended); err != nil {
		return nil, err
	}
	return p, nil
}

// known reads what planning asks for out of terms and entries.
func (c *change) known(k *history.State) (Known, error) {
	known := Known{Head: k.Head, Believed: make(map[ID]Belief, len(k.Newest)), Recorded: make(map[dag.Digest]dag.Seq, len(k.Newest))}
	version := func(t *history.Term) error {
		b, leaf, err := readVersion(t)
		if err != nil {
			return err
		}
		known.Recorded[leaf] = max(known.Recorded[leaf], t.Since)
		if t.Until == history.Forever {
			known.Believed[ID([]byte(t.Key))] = b
		}
		return nil
	}
	for key, t := range k.Newest {
		switch key.Index {
		case indexMentions:
			leaf := dag.Digest([]byte(key.Key[len(ID{}):]))
			known.Recorded[leaf] = max(known.Recorded[leaf], t.Since)
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
				return known, fmt.Errorf("number %d is about an alias, and is not there; the store is damaged", t.Since)
			}
			r, err := FromEntry(&e)
			if err != nil {
				return known, err
			}
			aliases = append(aliases, r)
		}
	}
	var err error
	known.Aliases, err = AliasesOf(nil, aliases, dag.MaxSeq)
	return known, err
}

// endings returns the terms of stored versions that the plan ends.
func (c *change) endings(k *history.State, believed map[ID]Belief, ended []Ending) ([]history.Ending, error) {
	if len(ended) == 0 {
		return nil, nil
	}
	asserted := map[ID]*Statement{}
	for i := range c.acts {
		if c.acts[i].Kind == Assert {
			asserted[c.ids[i]] = &c.acts[i].Fact.Statement
		}
	}
	list := make([]history.Ending, 0, 3*len(ended))
	for i := range ended {
		e := &ended[i]
		s := asserted[e.Statement]
		if s == nil {
			entry, ok := k.Entries[e.Since]
			if !ok {
				return nil, fmt.Errorf("number %d began a version of statement %s, and is not there; the store is damaged", e.Since, e.Statement)
			}
			r, err := FromEntry(&entry)
			if err != nil {
				return nil, err
			}
			s = &r.Act.Fact.Statement
		}
		list = endings(list, e, believed[e.Statement].Confidence, s.Subject, s.Object)
	}
	return list, nil
}
