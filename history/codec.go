package history

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Codec reads and adopts the entries of its kinds on behalf of packages that do not own the kinds. It is pure.
type Codec interface {
	// Kinds returns the codec's kinds, and Stream the stream of their entries.
	Kinds() []Kind
	Stream() Stream

	// Adopt returns a change that adopts entries of the codec's kinds from another store: they keep their numbers
	// and times. It refuses entries that are not in their form. Planning fails if the entries cannot follow on
	// what is stored, or would not have been recorded. The change reads terms of the codec's own indexes only.
	Adopt(entries []Entry) (Change, error)

	// Turns returns the turns that an entry rests on, which must have been admitted before it. It returns none for an entry that is not in its form.
	Turns(e *Entry) []dag.TurnID
}

// A Viewer is a Codec of entries that were made from a view of the history.
type Viewer interface {
	// AsOf returns the number of the view that an entry was made from. Everything known up to that
	// number is needed to understand the entry. It is 0 for an entry that is not in its form.
	AsOf(e *Entry) dag.Seq
}

// A Private is a Codec of entries with a private half, which is erased together with the text of turns that the entry rests on.
type Private interface {
	// Erasable reports whether entries of a kind have a private half.
	Erasable(k Kind) bool
}

// A Resting is a Private of entries that rest on several turns.
type Resting interface {
	// Rests returns sets of turns. The private half is gone if and only if all turns of at least one set have lost their text.
	Rests(e *Entry) [][]dag.TurnID
}

// Rests returns the sets of turns that an entry rests on, see Resting. If the codec is not a Resting, each turn is a set of its own.
func Rests(c Codec, e *Entry) (sets [][]dag.TurnID) {
	if r, ok := c.(Resting); ok {
		return r.Rests(e)
	}
	for _, turn := range c.Turns(e) {
		sets = append(sets, []dag.TurnID{turn})
	}
	return sets
}

// Codecs are the codecs of a program. Each kind belongs to exactly one of them.
type Codecs []Codec

// Of returns the codec of a kind.
func (c Codecs) Of(k Kind) (Codec, error) {
	for _, codec := range c {
		if slices.Contains(codec.Kinds(), k) {
			return codec, nil
		}
	}
	return nil, fmt.Errorf("%w: this version does not know entries of kind %.80q", dag.ErrForm, k)
}

// AsOf returns the number of the view that an entry was made from, 0 if it was made from none.
func (c Codecs) AsOf(e *Entry) dag.Seq {
	codec, err := c.Of(e.Kind)
	if v, ok := codec.(Viewer); ok && err == nil {
		return v.AsOf(e)
	}
	return 0
}

// Erasable reports whether entries of a kind have a private half that is erased with a turn.
func (c Codecs) Erasable(k Kind) bool {
	codec, err := c.Of(k)
	p, ok := codec.(Private)
	return err == nil && ok && p.Erasable(k)
}

// Exactly returns a change that fails unless c plans exactly these entries of a
// stream, which another store has. The entries keep the parts that they have there.
func Exactly(c Change, of Stream, entries []Entry) Change { return exactly{c, of, entries} }

type exactly struct {
	Change
	of      Stream
	entries []Entry
}

func (e exactly) Plan(k *State) (*Plan, error) {
	p, err := e.Change.Plan(k)
	if err != nil {
		return nil, err
	}
	planned, others := p.Entries, p.Records
	if e.of == Record {
		planned, others = others, planned
	}
	same := func(a, b Entry) bool { return a.SameAlone(&b) }
	if len(others) > 0 || !slices.EqualFunc(planned, e.entries, same) {
		return nil, fmt.Errorf("%w: the entries do not follow from the stored history", dag.ErrForm)
	}
	for i := range planned { // the codec may have made the entries anew, without parts
		planned[i].Part, planned[i].Parts = e.entries[i].Part, e.entries[i].Parts
	}
	p.adopted = true
	return p, nil
}

// Once returns a change of entries of the record that another store has. The change plans nothing if all of
// them are stored already: a store that does not know whether a commit succeeded plans the change again.
func Once(c Change, entries []Entry) Change { return once{c, entries} }

type once struct {
	Change
	entries []Entry
}

func (o once) Needs(k *State) Needs {
	n := o.Change.Needs(k)
	if k.Round == 0 {
		for i := range o.entries {
			n.Records = append(n.Records, o.entries[i].Seq)
		}
	}
	return n
}

func (o once) Plan(k *State) (*Plan, error) {
	for i := range o.entries {
		if e, ok := k.Records[o.entries[i].Seq]; !ok || !e.SameButErased(&o.entries[i]) {
			return o.Change.Plan(k)
		}
	}
	return &Plan{}, nil
}

// Adopt returns one change that adopts entries of any kinds of a stream. The entries are in ascending order.
func (c Codecs) Adopt(stream Stream, entries []Entry) (Change, error) {
	of := map[Codec][]Entry{}
	var order []Codec
	for i := range entries {
		codec, err := c.Of(entries[i].Kind)
		if err != nil {
			return nil, fmt.Errorf("number %d: %w", entries[i].Seq, err)
		}
		if codec.Stream() != stream {
			return nil, fmt.Errorf("%w: number %d is of kind %s, which belongs to the other stream", dag.ErrForm, entries[i].Seq, entries[i].Kind)
		}
		if of[codec] == nil {
			order = append(order, codec)
		}
		of[codec] = append(of[codec], entries[i])
	}
	var all []Change
	for _, codec := range order {
		change, err := codec.Adopt(of[codec])
		if err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	return Join(all...), nil
}
