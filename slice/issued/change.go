package issued

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
)

// An issuing is a change that records bundles.
type issuing struct {
	list     []Handing
	recorded []Record       // by the last plan: the record of each Handing in list
	erased   [][]dag.TurnID // by the last plan: for each Handing, the erased turns that prevent its recording
}

// Needs asks for the terms of the bundles and for erasures, and in the next round for the records of bundles that have
// one.
func (c *issuing) Needs(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		n.Size, n.Ranges = true, []history.Range{lastNumber}
		if since, some := c.since(); some {
			n.Ranges = append(n.Ranges, erasures.Later(since))
		}
		n.Newest = make([]history.Key, len(c.list))
		for i := range c.list {
			n.Newest[i] = c.list[i].key()
		}
		for i := range c.list {
			for _, turn := range c.list[i].Words {
				n.Newest = append(n.Newest, erasures.OfTurn(turn))
			}
		}
	case 1:
		for i := range c.list {
			t, there := k.Newest[c.list[i].key()]
			if !there {
				continue
			}
			n.Records = append(n.Records, t.Since)
		}
	}
	return n
}

// since returns the smallest number after which an erasure matters, and whether any erasure does.
func (c *issuing) since() (least dag.Seq, some bool) {
	for i := range c.list {
		if h := &c.list[i]; len(h.Turns) > 0 && (!some || h.As < least) {
			least, some = h.As, true
		}
	}
	return least, some
}

// erasedTurns returns the numbers of the erasures that matter, by turn.
func (c *issuing) erasedTurns(k *history.State) (map[dag.TurnID]dag.Seq, error) {
	if _, some := c.since(); !some || len(k.Ranges[1]) == 0 {
		return nil, nil
	}
	found := make(map[dag.TurnID]dag.Seq, len(k.Ranges[1]))
	for i := range k.Ranges[1] {
		t := &k.Ranges[1][i]
		turn, err := erasures.TurnOf(t)
		if err != nil {
			return nil, err
		}
		found[turn] = t.Since
	}
	return found, nil
}

// goneOf returns the turns that prevent a bundle's recording: those erased since it was made, and any erased turns
// whose words its question contains.
func (h *Handing) goneOf(k *history.State, erased map[dag.TurnID]dag.Seq) (gone []dag.TurnID) {
	for _, turn := range h.Words {
		if _, ok := k.Newest[erasures.OfTurn(turn)]; ok {
			gone = append(gone, turn)
		}
	}
	if len(erased) == 0 {
		return gone
	}
	for _, turn := range h.Turns {
		if erased[turn] > h.As {
			gone = append(gone, turn)
		}
	}
	return gone
}

// Plan adds records for the bundles that have none and whose turns all still exist.
func (c *issuing) Plan(k *history.State) (*history.Plan, error) {
	number, err := numberBefore(k)
	if err != nil {
		return nil, err
	}
	erased, err := c.erasedTurns(k)
	if err != nil {
		return nil, err
	}
	p := &history.Plan{}
	c.recorded, c.erased = make([]Record, len(c.list)), make([][]dag.TurnID, len(c.list))
	added := make(map[history.Key]int, len(c.list))
	for i := range c.list {
		if c.erased[i] = c.list[i].goneOf(k, erased); len(c.erased[i]) > 0 {
			continue
		}
		key := c.list[i].key()
		if at, twice := added[key]; twice {
			c.recorded[i] = c.recorded[at]
			continue
		}
		added[key] = i
		if t, there := k.Newest[key]; there {
			if c.recorded[i], err = stored(k, t.Since); err != nil {
				return nil, err
			}
			continue
		}
		r := &c.recorded[i]
		*r = c.list[i].Record
		number++
		r.Number, r.Leaf = number, uint64(k.Size)+uint64(len(p.Records))
		p.Records, p.Begin = append(p.Records, r.entry(k.Tenant)), r.terms(p.Begin)
	}
	return p, nil
}

// numberBefore returns the number of the newest record, 0 if there is none.
func numberBefore(k *history.State) (uint64, error) {
	if last := k.Ranges[0]; len(last) > 0 {
		return readNumber(&last[0])
	}
	return 0, nil
}

// stored returns a record that Needs has asked for.
func stored(k *history.State, seq dag.Seq) (Record, error) {
	e, ok := k.Records[seq]
	if !ok {
		return Record{}, fmt.Errorf("%w: number %d of the record is missing", ErrDamaged, seq)
	}
	return readOf(k.Tenant, &e)
}

// An adoption is a change that adds entries from another store.
type adoption struct {
	entries []history.Entry
	records []Record
	of      []dag.Tenant
}

// Needs asks whether the bundles are already recorded, and for the terms of the first record's number and of the number
// before it.
func (a *adoption) Needs(k *history.State) (n history.Needs) {
	if k.Round > 0 || len(a.records) == 0 {
		return n
	}
	n.Size = true
	n.Newest = append(n.Newest, numbered(a.records[0].Number), numbered(a.records[0].Number-1))
	for i := range a.records {
		n.Newest = append(n.Newest, a.records[i].key())
	}
	return n
}

func numbered(n uint64) history.Key {
	return history.Key{Index: indexNumber, Key: string(numberKey(n))}
}

// Plan adds the entries. Their numbers must continue the numbers in the store.
func (a *adoption) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Records: a.entries}
	added := make(map[history.Key]bool, len(a.records))
	for i := range a.records {
		r := &a.records[i]
		refuse := func(format string, args ...any) error {
			return fmt.Errorf("%w: number %d of the record: %s", dag.ErrForm, a.entries[i].Seq, fmt.Sprintf(format, args...))
		}
		if a.of[i] != k.Tenant {
			return nil, refuse("it belongs to tenant %.80q", a.of[i])
		}
		if _, there := k.Newest[r.key()]; there || added[r.key()] {
			return nil, refuse("the bundle %s is recorded already", r.Bundle)
		}
		added[r.key()] = true
		if i > 0 && r.Number != a.records[i-1].Number+1 || i == 0 && !next(k, r.Number) {
			return nil, refuse("it is issued slice %d, which does not follow the issued slice before it", r.Number)
		}
		p.Begin = r.terms(p.Begin)
	}
	return p, nil
}

// next reports whether n is the next number after those in the store.
func next(k *history.State, n uint64) bool {
	_, taken := k.Newest[numbered(n)]
	_, before := k.Newest[numbered(n-1)]
	return !taken && (before || n == 1)
}
