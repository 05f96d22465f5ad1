package journal

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// The indexes of beliefs. They contain digests, numbers and permanent names, and no text that can be erased.
const (
	indexSpaces    history.Index = 30 + iota // key: a space; value: its policy
	indexItems                               // key: a space's key and the name of an item in it
	indexRevisions                           // key: an item; value: the number of the revision
	indexTags                                // key: an item and the name of a tag; value: see place
	indexElements                            // key: see elementKey; value: the number of the revision's entry
	indexLapsed                              // key: a deprecated item
	indexLinks                               // key: the address of the revision that the link is from
	indexLinked                              // key: the target of the link
	indexConflicts                           // key: a space
	indexRests                               // key: a turn that a revision or a conflict rests on
	indexRequests                            // key: the key of a request; the term began with the first entry of its answer
	indexUses                                // key: an item; value: the number of the revision that was used
)

// A place identifies a revision by the number of its entry and its own number.
type place struct {
	entry  dag.Seq
	number int
}

func (p place) bytes() []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(p.entry)), uint32(p.number))
}

func readPlace(t *history.Term) (place, error) {
	if len(t.Value) != 12 {
		return place{}, fmt.Errorf("%w: a term of index %d that number %d began", history.ErrDamaged, t.Index, t.Since)
	}
	return place{dag.Seq(binary.BigEndian.Uint64(t.Value)), int(binary.BigEndian.Uint32(t.Value[8:]))}, nil
}

func slotPrefix(space belief.Space, slot belief.Slot) []byte {
	a, b := space.Key(), slot.Key()
	return append(a[:], b[:]...)
}

// elementKey returns the key of an element: 16 bytes each of the space, the slot and the item, and two of the place in the revision. So the
// elements of a space are adjacent, and within it those of a slot.
func elementKey(space belief.Space, slot belief.Slot, item belief.Item, at int) []byte {
	key := item.Key()
	return binary.BigEndian.AppendUint16(append(slotPrefix(space, slot), key[:]...), uint16(at))
}

func tagKey(item belief.Item, tag string) []byte {
	key := item.Key()
	return append(key[:], tag...)
}

func keyBytes(k belief.Key) []byte { return k[:] }

// An itemState is the state of an item before the next entry.
type itemState struct {
	newest  int       // the number of its newest revision
	current *Revision // the revision that the tag current points to; nil: none
	tags    map[string]*history.Term
	lapsed  *history.Term // its last deprecation, which may have ended
}

// live returns the number since which the elements of the current revision are believed; 0: they are not.
func (s *itemState) live() dag.Seq {
	t := s.tags[Current]
	if s.current == nil || s.current.Erased || t == nil || t.Until != history.Forever {
		return 0
	}
	if s.lapsed == nil {
		return t.Since
	}
	if s.lapsed.Until == history.Forever {
		return 0
	}
	return max(t.Since, s.lapsed.Until)
}

// A folding adds to a plan the terms that follow from entries, one entry after another.
type folding struct {
	items map[belief.Item]*itemState
	plan  *history.Plan
	began map[string]int // index in plan.Begin

	revisions map[dag.Seq]*Revision // revisions read from the entries of the state
}

func newFolding(p *history.Plan) *folding {
	return &folding{items: map[belief.Item]*itemState{}, plan: p, began: map[string]int{}, revisions: map[dag.Seq]*Revision{}}
}

func termName(i history.Index, key []byte, since dag.Seq) string {
	return string(binary.BigEndian.AppendUint64(append([]byte{byte(i)}, key...), uint64(since)))
}

func (f *folding) begin(i history.Index, key []byte, since dag.Seq, value []byte) *history.Term {
	f.began[termName(i, key, since)] = len(f.plan.Begin)
	t := history.Term{Index: i, Key: key, Since: since, Until: history.Forever, Value: value}
	f.plan.Begin = append(f.plan.Begin, t)
	return &t
}

func (f *folding) end(i history.Index, key []byte, since, until dag.Seq) {
	if n, ok := f.began[termName(i, key, since)]; ok {
		f.plan.Begin[n].Until = until
		return
	}
	f.plan.End = append(f.plan.End, history.Ending{Index: i, Key: key, Since: since, Until: until})
}

// elements calls fn with the key of each term of a revision's elements.
func (r *Revision) elements(fn func(key []byte)) {
	space := r.Item.Space()
	for i := range r.Statements {
		s := &r.Statements[i]
		slots := []belief.Slot{s.Slot()}
		for _, p := range s.Premises {
			if !slices.Contains(slots, p.Slot()) {
				slots = append(slots, p.Slot())
			}
		}
		for _, slot := range slots {
			fn(elementKey(space, slot, r.Item, i))
		}
	}
}

// believe begins the elements of an item's current revision, if it is believed.
func (f *folding) believe(s *itemState) {
	if since := s.live(); since != 0 {
		value := binary.BigEndian.AppendUint64(nil, uint64(s.current.Seq))
		s.current.elements(func(key []byte) { f.begin(indexElements, key, since, value) })
	}
}

// disbelieve ends the elements of an item's current revision, if it is believed.
func (f *folding) disbelieve(s *itemState, at dag.Seq) {
	if since := s.live(); since != 0 {
		s.current.elements(func(key []byte) { f.end(indexElements, key, since, at) })
	}
}

// tag moves a tag to a revision; nil removes the tag.
func (f *folding) tag(item belief.Item, s *itemState, name string, to *Revision, at dag.Seq) {
	if name == Current {
		f.disbelieve(s, at)
	}
	if t := s.tags[name]; t != nil && t.Until == history.Forever {
		f.end(indexTags, t.Key, t.Since, at)
		ended := *t
		ended.Until = at
		s.tags[name] = &ended
	}
	if to != nil {
		s.tags[name] = f.begin(indexTags, tagKey(item, name), at, place{to.Seq, to.Number}.bytes())
	}
	if name == Current {
		s.current = to
		f.believe(s)
	}
}

// revision folds a new revision.
func (f *folding) revision(r *Revision) error {
	s := f.items[r.Item]
	if r.Number != s.newest+1 {
		return fmt.Errorf("%w: revision %d of %s comes after revision %d, want the next number", dag.ErrForm, r.Number, r.Item, s.newest)
	}
	if s.newest = r.Number; r.Number == 1 {
		space := r.Item.Space().Key()
		f.begin(indexItems, append(space[:], r.Item.Name()...), r.Seq, nil)
	}
	f.begin(indexRevisions, keyBytes(r.Item.Key()), r.Seq, place{r.Seq, r.Number}.bytes())
	f.request(r.Key, r.Seq)
	seen := map[dag.TurnID]bool{}
	for i := range r.Statements {
		for _, turn := range r.Statements[i].Turns {
			if !seen[turn] {
				seen[turn] = true
				f.begin(indexRests, turn[:], r.Seq, nil)
			}
		}
	}
	if r.Current {
		f.tag(r.Item, s, Current, r, r.Seq)
	}
	return nil
}

func (f *folding) request(key dag.Digest, at dag.Seq) {
	if key != (dag.Digest{}) {
		f.begin(indexRequests, key[:], at, nil)
	}
}

// deprecation folds a deprecation, or its end.
func (f *folding) deprecation(d *Deprecation) error {
	s := f.items[d.Item]
	was := s.lapsed != nil && s.lapsed.Until == history.Forever
	if s.newest == 0 || was == d.Deprecated {
		return fmt.Errorf("%w: number %d changes nothing: %s has %d revisions, deprecated: %t", dag.ErrForm, d.Seq, d.Item, s.newest, was)
	}
	if d.Deprecated {
		f.disbelieve(s, d.Seq)
		s.lapsed = f.begin(indexLapsed, keyBytes(d.Item.Key()), d.Seq, nil)
		return nil
	}
	f.end(indexLapsed, s.lapsed.Key, s.lapsed.Since, d.Seq)
	ended := *s.lapsed
	ended.Until = d.Seq
	s.lapsed = &ended
	f.believe(s)
	return nil
}

// newestKey returns the key of the term of an item's newest revision.
func newestKey(item belief.Item) history.Key {
	return history.Key{Index: indexRevisions, Key: string(keyBytes(item.Key()))}
}

// keysOf returns the keys of the newest terms that folding entries of an item needs.
func keysOf(item belief.Item, tags ...string) []history.Key {
	key := string(keyBytes(item.Key()))
	list := []history.Key{newestKey(item), {Index: indexLapsed, Key: key}, {Index: indexTags, Key: string(tagKey(item, Current))}}
	for _, t := range tags {
		if t != Current {
			list = append(list, history.Key{Index: indexTags, Key: string(tagKey(item, t))})
		}
	}
	return list
}

// currentOf returns the number of the entry of an item's current revision, according to the terms; 0: none.
func currentOf(k *history.State, item belief.Item) (dag.Seq, error) {
	t, ok := k.Newest[history.Key{Index: indexTags, Key: string(tagKey(item, Current))}]
	if !ok || t.Until != history.Forever {
		return 0, nil
	}
	p, err := readPlace(&t)
	return p.entry, err
}

// know adds the state of an item. The terms of keysOf and the entry of currentOf must have been asked for.
func (f *folding) know(k *history.State, item belief.Item, tags ...string) error {
	if f.items[item] != nil {
		return nil
	}
	s := &itemState{tags: map[string]*history.Term{}}
	for _, key := range keysOf(item, tags...) {
		t, ok := k.Newest[key]
		if !ok {
			continue
		}
		switch key.Index {
		case indexRevisions:
			p, err := readPlace(&t)
			if err != nil {
				return err
			}
			s.newest = p.number
		case indexLapsed:
			s.lapsed = &t
		case indexTags:
			s.tags[key.Key[len(belief.Key{}):]] = &t
		}
	}
	seq, err := currentOf(k, item)
	if err != nil {
		return err
	}
	if seq != 0 {
		e, ok := k.Entries[seq]
		if !ok {
			return fmt.Errorf("%w: number %d, the current revision of %s, is missing", history.ErrDamaged, seq, item)
		}
		if s.current, err = readOnce(f.revisions, &e); err != nil {
			return err
		}
	}
	f.items[item] = s
	return nil
}
