package history

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Codec is all that is known of some kinds outside the package that owns them. It is pure.
type Codec interface {
	// Kinds lists the kinds that it is of.
	Kinds() []Kind

	// Adopt makes a change of entries of its kinds that another store has: they keep their
	// numbers and times. It refuses what is not in its form; planning is refused if the
	// entries cannot follow on what is there, or would not have been recorded. A change looks
	// at terms of its own indexes alone.
	Adopt(entries []Entry) (Change, error)

	// Turns returns the turns that an entry rests on, which must have been admitted before it. It
	// returns none for an entry that is not in its form.
	Turns(e *Entry) []dag.TurnID
}

// Codecs are those of a program. Each kind is one of one of them.
type Codecs []Codec

// Of finds the codec of a kind.
func (c Codecs) Of(k Kind) (Codec, error) {
	for _, codec := range c {
		if slices.Contains(codec.Kinds(), k) {
			return codec, nil
		}
	}
	return nil, fmt.Errorf("%w: entries of kind %.80q are not known to this version", dag.ErrForm, k)
}

// Adopt makes one change of entries of any kinds, by ascending number.
func (c Codecs) Adopt(entries []Entry) (Change, error) {
	of := map[Codec][]Entry{}
	var order []Codec
	for i := range entries {
		codec, err := c.Of(entries[i].Kind)
		if err != nil {
			return nil, fmt.Errorf("number %d: %w", entries[i].Seq, err)
		}
		if of[codec] == nil {
			order = append(order, codec)
		}
		of[codec] = append(of[codec], entries[i])
	}
	var all changes
	for _, codec := range order {
		change, err := codec.Adopt(of[codec])
		if err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// changes is one change of several of different kinds.
type changes []Change

func (c changes) Needs(k *Known) (n Needs) {
	for _, one := range c {
		more := one.Needs(k)
		n.Newest, n.Ranges, n.Entries = append(n.Newest, more.Newest...), append(n.Ranges, more.Ranges...), append(n.Entries, more.Entries...)
	}
	return n
}

func (c changes) Plan(k *Known) (*Plan, error) {
	all := &Plan{}
	for _, one := range c {
		p, err := one.Plan(k)
		if err != nil {
			return nil, err
		}
		all.Entries, all.Begin, all.End = append(all.Entries, p.Entries...), append(all.Begin, p.Begin...), append(all.End, p.End...)
	}
	slices.SortFunc(all.Entries, func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return all, nil
}
