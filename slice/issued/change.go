package issued

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// issuing is records on their way into the history.
type issuing struct {
	list     []Record
	recorded []Record // by the last plan: the record of each of list
}

// Needs asks for what is known of the bundles, and then for the records of those that have one.
func (c *issuing) Needs(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		n.Size, n.Ranges = true, []history.Range{lastNumber}
		n.Newest = make([]history.Key, len(c.list))
		for i := range c.list {
			n.Newest[i] = c.list[i].key()
		}
	case 1:
		for _, t := range k.Newest {
			n.Records = append(n.Records, t.Since)
		}
	}
	return n
}

// Plan adds the records of bundles that have none.
func (c *issuing) Plan(k *history.State) (*history.Plan, error) {
	number, err := numberBefore(k)
	if err != nil {
		return nil, err
	}
	p := &history.Plan{}
	c.recorded = make([]Record, len(c.list))
	added := make(map[history.Key]int, len(c.list))
	for i := range c.list {
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
		*r = c.list[i]
		number++
		r.Number, r.Leaf = number, uint64(k.Size)+uint64(len(p.Records))
		p.Records, p.Begin = append(p.Records, r.entry(k.Tenant)), r.terms(p.Begin)
	}
	return p, nil
}

// numberBefore is the number of the newest record.
func numberBefore(k *history.State) (uint64, error) {
	if last := k.Ranges[0]; len(last) > 0 {
		return readNumber(&last[0])
	}
	return 0, nil
}

// stored reads the record of an entry that was asked for.
func stored(k *history.State, seq dag.Seq) (Record, error) {
	e, ok := k.Records[seq]
	if !ok {
		return Record{}, fmt.Errorf("%w: number %d of the record is not there", ErrDamaged, seq)
	}
	return readOf(k.Tenant, &e)
}

// An adoption is entries of another store on their way into the history.
type adoption struct {
	entries []history.Entry
	records []Record
	of      []dag.Tenant
}

// Needs asks whether the bundles are there, and for the number before the first one and its own.
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

// Plan adds the entries, whose numbers must follow on what is there.
func (a *adoption) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Records: a.entries}
	added := make(map[history.Key]bool, len(a.records))
	for i := range a.records {
		r := &a.records[i]
		refuse := func(format string, args ...any) error {
			return fmt.Errorf("%w: number %d of the record: %s", dag.ErrForm, a.entries[i].Seq, fmt.Sprintf(format, args...))
		}
		if a.of[i] != k.Tenant {
			return nil, refuse("it is of tenant %.80q", a.of[i])
		}
		if _, there := k.Newest[r.key()]; there || added[r.key()] {
			return nil, refuse("the bundle %s is recorded already", r.Bundle)
		}
		added[r.key()] = true
		if i > 0 && r.Number != a.records[i-1].Number+1 || i == 0 && !next(k, r.Number) {
			return nil, refuse("it is issued slice %d, which does not follow on those before", r.Number)
		}
		p.Begin = r.terms(p.Begin)
	}
	return p, nil
}

// next reports whether a number follows on those that are there.
func next(k *history.State, n uint64) bool {
	_, taken := k.Newest[numbered(n)]
	_, before := k.Newest[numbered(n-1)]
	return !taken && (before || n == 1)
}
