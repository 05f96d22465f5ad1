package journal

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Codec is the history codec of beliefs.
type Codec struct{}

// Kinds lists the kinds of entries.
func (Codec) Kinds() []history.Kind {
	return []history.Kind{KindConflict, KindDeprecation, KindLink, KindResolution, KindRevision, KindSpace, KindTag, KindUse}
}

// IsKind reports whether entries of a kind are entries of beliefs.
func IsKind(k history.Kind) bool { return slices.Contains(Codec{}.Kinds(), k) }

// Stream returns history.Known.
func (Codec) Stream() history.Stream { return history.Known }

// Erasable reports whether entries of a kind have a private half.
func (Codec) Erasable(k history.Kind) bool { return k == KindRevision || k == KindConflict }

// Rests returns the turns of each statement that rests on turns. Once all turns of one statement have lost their text, the private half
// is erased.
func (Codec) Rests(e *history.Entry) (of [][]dag.TurnID) {
	switch e.Kind {
	case KindRevision:
		if r, err := ReadRevision(e); err == nil {
			for i := range r.Statements {
				if turns := r.Statements[i].Turns; len(turns) > 0 {
					of = append(of, turns)
				}
			}
		}
	case KindConflict:
		if c, err := ReadConflict(e); err == nil && len(c.Turns) > 0 {
			of = append(of, c.Turns)
		}
	}
	return of
}

// Turns returns the turns that an entry rests on.
func (c Codec) Turns(e *history.Entry) (turns []dag.TurnID) {
	seen := map[dag.TurnID]bool{}
	for _, of := range c.Rests(e) {
		for _, t := range of {
			if !seen[t] {
				seen[t] = true
				turns = append(turns, t)
			}
		}
	}
	return turns
}

// A record is an entry that was read: *Revision, *Tag and so on.
type record any

func readEntry(e *history.Entry) (record, error) {
	switch e.Kind {
	case KindSpace:
		return ReadSpace(e)
	case KindRevision:
		return ReadRevision(e)
	case KindTag:
		return ReadTag(e)
	case KindDeprecation:
		return ReadDeprecation(e)
	case KindLink:
		return ReadLink(e)
	case KindConflict:
		return ReadConflict(e)
	case KindResolution:
		return ReadResolution(e)
	case KindUse:
		return ReadUse(e)
	}
	return nil, fmt.Errorf("%w: number %d is of the kind %s, which is not a kind of beliefs", dag.ErrForm, e.Seq, e.Kind)
}

// itemOf returns the item whose state a record changes, and the tag that it moves; "" if there is none.
func itemOf(r record) (item belief.Item, tag string) {
	switch r := r.(type) {
	case *Revision:
		return r.Item, Current
	case *Tag:
		return r.Item, r.Name
	case *Deprecation:
		return r.Item, ""
	}
	return "", ""
}

// ItemOf returns the item whose ItemHistory an entry of beliefs changes; "" if it changes none.
func ItemOf(e *history.Entry) (belief.Item, error) {
	switch e.Kind {
	case KindRevision, KindTag, KindDeprecation:
		public := *e
		public.Private = nil // the content is not needed
		r, err := readEntry(&public)
		if err != nil {
			return "", err
		}
		item, _ := itemOf(r)
		return item, nil
	}
	return "", nil
}

// check reads an entry strictly: it refuses an entry that differs from the one that the package would write.
func check(e *history.Entry) (record, error) {
	r, err := readEntry(e)
	if err != nil {
		return nil, err
	}
	var again history.Entry
	switch r := r.(type) {
	case *SpacePolicy:
		again = r.entry()
	case *Revision:
		if r.Erased {
			return r, nil
		}
		if err := r.Check(); err != nil {
			return nil, err
		}
		again = r.entry()
	case *Tag:
		again = r.entry()
	case *Deprecation:
		again = r.entry()
	case *Link:
		again = r.entry()
	case *Conflict:
		if r.Erased {
			return r, nil
		}
		again = r.entry()
	case *Resolution:
		again = r.entry()
	case *Use:
		again = r.entry()
	}
	if !again.SameAlone(e) {
		return nil, fmt.Errorf("%w: number %d: %w", dag.ErrForm, e.Seq, errNotItsForm)
	}
	return r, nil
}

// Adopt makes a change from the entries of another store.
func (Codec) Adopt(entries []history.Entry) (history.Change, error) {
	a := &adoption{entries: entries}
	for i := range entries {
		r, err := check(&entries[i])
		if err != nil {
			return nil, err
		}
		a.records = append(a.records, r)
	}
	return a, nil
}

type adoption struct {
	entries []history.Entry
	records []record
}

// Needs asks for the states of the items, and then for their current revisions and the revisions that tags point to.
func (a *adoption) Needs(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		for _, r := range a.records {
			if item, tag := itemOf(r); item != "" {
				n.Newest = append(n.Newest, keysOf(item, tagged(tag)...)...)
			}
		}
	case 1:
		mine := map[dag.Seq]bool{}
		for i := range a.entries {
			mine[a.entries[i].Seq] = true
		}
		want := func(seq dag.Seq) {
			if seq != 0 && !mine[seq] {
				mine[seq] = true
				n.Entries = append(n.Entries, seq)
			}
		}
		for _, r := range a.records {
			if item, _ := itemOf(r); item != "" {
				seq, _ := currentOf(k, item) // Plan reports a damaged term
				want(seq)
			}
			if t, ok := r.(*Tag); ok {
				want(t.Entry)
			}
		}
	}
	return n
}

func tagged(tag string) []string {
	if tag == "" {
		return nil
	}
	return []string{tag}
}

// Plan folds the entries.
func (a *adoption) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Entries: a.entries}
	f := newFolding(p)
	for i, r := range a.records {
		if item, tag := itemOf(r); item != "" {
			if err := f.know(k, item, tagsIn(a.records, item, tag)...); err != nil {
				return nil, err
			}
		}
		if err := f.fold(k, a.records[:i], r); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// tagsIn returns the tags of an item that records move, and the tag also.
func tagsIn(records []record, item belief.Item, also string) []string {
	tags := tagged(also)
	for _, r := range records {
		if t, ok := r.(*Tag); ok && t.Item == item {
			tags = append(tags, t.Name)
		}
	}
	return tags
}

// fold folds one record. If the record is a tag, before may contain the revision that it points to.
func (f *folding) fold(k *history.State, before []record, r record) error {
	switch r := r.(type) {
	case *SpacePolicy:
		f.begin(indexSpaces, []byte(r.Space), r.Seq, []byte(r.Policy))
	case *Revision:
		return f.revision(r)
	case *Tag:
		return f.moved(k, before, r)
	case *Deprecation:
		return f.deprecation(r)
	case *Link:
		f.begin(indexLinks, linkKey(r.From.String()), r.Seq, nil)
		f.begin(indexLinked, linkKey(r.To), r.Seq, nil)
	case *Resolution:
		space := r.Space.Key()
		f.end(indexConflicts, space[:], r.Conflict, r.Seq)
	case *Use:
		f.begin(indexUses, keyBytes(r.Of.Item.Key()), r.Seq, useValue(r))
	case *Conflict:
		f.request(r.Key, r.Seq)
		space := r.Space.Key()
		f.begin(indexConflicts, space[:], r.Seq, nil)
		for _, t := range r.Turns {
			f.begin(indexRests, t[:], r.Seq, nil)
		}
	}
	return nil
}

func linkKey(of string) []byte {
	key := belief.KeyOf("link", of)
	return key[:]
}

func (f *folding) moved(k *history.State, before []record, t *Tag) error {
	f.request(t.Key, t.Seq)
	if t.Entry == 0 {
		f.tag(t.Item, f.items[t.Item], t.Name, nil, t.Seq)
		return nil
	}
	var to *Revision
	for _, r := range before {
		if r, ok := r.(*Revision); ok && r.Seq == t.Entry {
			to = r
		}
	}
	if e, ok := k.Entries[t.Entry]; ok && to == nil && e.Kind == KindRevision {
		var err error
		if to, err = ReadRevision(&e); err != nil {
			return err
		}
	}
	if to == nil || to.Item != t.Item || to.Number != t.Number {
		return fmt.Errorf("%w: number %d points the tag %s of %s to revision %d, but that is not number %d", dag.ErrForm, t.Seq, t.Name, t.Item, t.Number, t.Entry)
	}
	f.tag(t.Item, f.items[t.Item], t.Name, to, t.Seq)
	return nil
}
