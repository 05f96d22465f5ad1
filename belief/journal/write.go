package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A writing turns a decision into entries.
type writing struct {
	*operation
	*folding
	k    *history.State
	head dag.Seq
	made int // number of salts made
}

func (f *folding) guards(r *Revision) bool {
	t := f.items[r.Item].tags[Published]
	if t == nil || t.Until != history.Forever {
		return false
	}
	p, err := readPlace(t)
	return err != nil || p.number == r.Number
}

func (w *writing) salt() dag.Salt {
	w.made++
	digest := sha256.Sum256(binary.BigEndian.AppendUint32(slices.Clone(w.Salt[:]), uint32(w.made)))
	return dag.Salt(digest[:len(dag.Salt{})])
}

// worded sets the wording of the outcome: for each literal the wording of the request, or else that of the newest revision in the base.
func (w *writing) worded(b *base) {
	w.outcome.Wording = w.Request.Wording
	if len(w.outcome.GaveWay)+len(w.outcome.Fell) == 0 {
		return
	}
	w.outcome.Wording = Worded(maps.Values(b.from)).With(w.Request.Wording)
}

// losses converts the losses of an operator to elements of revisions.
func (w *writing) losses(b *base, lost []belief.Loss) (list []Loss) {
	for i := range lost {
		l := Loss{Part: b.from[lost[i].Element.Rank.ID], Until: lost[i].Until}
		for _, e := range lost[i].Conflict {
			if part, ok := b.from[e.Rank.ID]; ok {
				l.Conflict = append(l.Conflict, *part.Stated())
			} else {
				l.Conflict = append(l.Conflict, Stated{Literal: e.Literal, Premises: e.Premises, Span: e.Span})
			}
		}
		list = append(list, l)
	}
	return list
}

// allowed refuses a request that would make a new item of a kind that the policy does not allow. An existing item keeps its kind.
func (w *writing) allowed() error {
	if w.Allow == nil || w.Operator == Contract {
		return nil
	}
	if w.Item == "" {
		return w.Allow(w.Kind)
	}
	if s := w.items[w.Item]; s != nil && s.newest > 0 {
		return nil
	}
	return w.Allow(w.Item.Kind())
}

// refuse reports a refusal in the outcome, and records a refused proposal.
func (w *writing) refuse(b *base, err *belief.ConflictError, own []Loss) (*history.Plan, error) {
	w.outcome.Result, w.outcome.Protects = Refused, errors.Is(err, belief.ErrProtected)
	w.outcome.GaveWay = append(w.losses(b, err.Lost), own...)
	w.outcome.Vouched = errors.Is(err, errVouched)
	w.worded(b)
	if w.Operator != Propose {
		return &history.Plan{}, nil
	}
	if waits := w.waits(); waits != 0 {
		w.outcome.Seq, w.outcome.Again = waits, true
		return &history.Plan{}, nil
	}
	if w.Dry {
		return &history.Plan{}, nil
	}
	if err := w.room(); err != nil {
		return nil, err
	}
	c := &Conflict{
		Wording: w.Request.Wording, Space: w.Space, Item: w.Item, Kind: w.Kind, By: w.By, Turns: w.Turns, Statements: w.Statements, Premises: w.Premises, Text: w.Revision.Text, Span: w.Span, Confidence: w.Revision.Confidence, Reason: w.Revision.Reason,
		Salt: w.salt(), Key: w.Key, Seq: w.head + 1, At: w.At,
	}
	for _, l := range w.outcome.GaveWay {
		a := belief.Address{Item: l.Revision.Item, Revision: l.Revision.Number}
		if !slices.Contains(c.With, a) {
			c.With = append(c.With, a)
		}
	}
	w.outcome.Seq = c.Seq
	return w.plan, w.add(c, c.entry())
}

// space makes the space of the request.
func (w *writing) space() error {
	w.head++
	s := &SpacePolicy{Space: w.Space, Policy: w.Policy, By: w.By, Seq: w.head, At: w.At}
	return w.put(w.k, s, s.entry())
}

// add adds an entry and folds it. If r is a tag, before contains the revision of this change that it points to.
func (w *writing) add(r record, e history.Entry, before ...record) error {
	w.head++
	w.plan.Entries = append(w.plan.Entries, e)
	if w.outcome.Seq == 0 {
		w.outcome.Seq = e.Seq
	}
	return w.fold(w.k, before, r)
}

// replace records the next current revision of an item; nil is none. It ends assertions, adds the entry that make returns for the next
// number, and projects the statements.
func (w *writing) replace(item belief.Item, next *Revision, make func(seq dag.Seq) (record, history.Entry)) (err error) {
	s, salt := w.items[item], w.salt()
	if next != nil {
		s.keep(next)
	}
	if w.head, err = w.retract(s.ending(next), salt, w.Revision.Reason, w.head, w.At); err != nil {
		return err
	}
	if err := w.add(make(w.head + 1)); err != nil {
		return err
	}
	w.head, err = w.assert(w.k, s, salt, w.head, w.At)
	return err
}

// revise records a revision that is believed from now on.
func (w *writing) revise(r *Revision) error {
	return w.replace(r.Item, r, func(seq dag.Seq) (record, history.Entry) {
		r.Seq = seq
		return r, r.entry()
	})
}

// take records the decision of the operator.
func (w *writing) take(b *base, d *belief.Decision, own []Loss) error {
	out := w.outcome
	out.Kept, out.GaveWay = len(d.Kept), w.losses(b, d.Lost)
	out.Fell = belief.Fallen(w.Constraints, b.all, d.After())
	out.GaveWay = append(out.GaveWay, own...)
	w.worded(b)
	for _, l := range out.GaveWay {
		out.Review = append(out.Review, w.dependents(l.Revision)...)
	}
	slices.Sort(out.Review)
	out.Review = slices.Compact(out.Review)
	if w.Operator == Contract && len(d.Lost) == 0 {
		return nil
	}
	out.Result = Changed
	item, err := w.target(b, out.GaveWay)
	if err != nil {
		return err
	}
	lost := map[belief.Item]map[int]dag.Time{}
	var order []belief.Item
	for _, l := range out.GaveWay {
		of := l.Revision.Item
		if lost[of] == nil {
			lost[of] = map[int]dag.Time{}
			order = append(order, of)
		}
		lost[of][l.At] = l.Until
	}
	slices.Sort(order)
	key := w.Key
	if item != "" { // first, so that the revision precedes those of the items that gave way
		if err := w.state(item, d.Input, lost[item], key); err != nil {
			return err
		}
		key = dag.Digest{}
	}
	for _, of := range order {
		if of == item {
			continue
		}
		if err := w.reduce(of, lost[of], key); err != nil {
			return err
		}
		key = dag.Digest{}
	}
	if item == "" {
		return nil
	}
	return w.attach()
}

// dependents returns the addresses of the revisions that link to a revision with depends_on.
func (w *writing) dependents(r *Revision) (list []string) {
	for _, t := range termsOf(w.k, indexLinked) {
		if e, ok := w.k.Entries[t.Since]; ok && e.Kind == KindLink {
			if l, err := ReadLink(&e); err == nil && l.To == r.Address().String() && l.Type == "depends_on" {
				list = append(list, l.From.String())
			}
		}
	}
	return list
}

// target returns the item whose revision the statements become; "" for a contraction.
func (w *writing) target(b *base, lost []Loss) (belief.Item, error) {
	if w.Operator == Contract {
		return "", nil
	}
	item := w.Item
	if item == "" {
		for _, p := range b.from { // an item that states the same literal
			if s := p.Stated(); w.shares(p.Revision.Item) && w.speaksFor(p.Revision, lost) && w.Premises == nil && s.Premises == nil && slices.Contains(w.Statements, s.Literal) && (item == "" || p.Revision.Item < item) {
				item = p.Revision.Item
			}
		}
		for i := 0; item == "" && i < len(lost); i++ {
			if of := lost[i].Revision.Item; w.shares(of) && w.speaksFor(lost[i].Revision, lost) {
				item = of
			}
		}
		if item == "" {
			digest := sha256.Sum256(append([]byte("item"), w.Salt[:]...))
			var err error
			if item, err = belief.NewItem(w.Space, hex.EncodeToString(digest[:10])+"."+w.Kind); err != nil {
				return "", err
			}
			w.items[item] = &itemState{tags: map[string]*history.Term{}}
		}
	}
	if s := w.items[item]; s.lapsed != nil && s.lapsed.Until == history.Forever {
		return "", fmt.Errorf("%w: %s", ErrDeprecated, item)
	}
	return item, nil
}

// remaining returns the statements of an item's current revision except those that gave way, and that revision.
func (w *writing) remaining(item belief.Item, lost map[int]dag.Time) (list []Stated, was *Revision) {
	s := w.items[item]
	if s.live() == 0 {
		return nil, s.current
	}
	for i, stated := range s.current.Statements {
		until, gone := lost[i]
		if gone && until == 0 {
			continue
		}
		if gone {
			stated.Span.Until = until
		}
		if stated.Rank.Event == 0 {
			stated.Rank.Event = s.current.Seq
		}
		list = append(list, stated)
	}
	return list, s.current
}

// state records the revision of an item that contains the statements of the request.
func (w *writing) state(item belief.Item, input []belief.Element, lost map[int]dag.Time, key dag.Digest) error {
	kept, was := w.remaining(item, lost)
	r := w.Revision
	r.Wording = w.Request.Wording
	r.Item, r.Number, r.Current, r.By, r.Key = item, w.items[item].newest+1, true, w.By, key
	r.Salt, r.At = w.salt(), w.At
	if was != nil {
		r.Supersedes, r.Wording = was.Number, was.Wording.without(w.Statements).With(r.Wording)
	}
	for _, e := range input {
		s := Stated{Literal: e.Literal, Premises: e.Premises, Span: e.Span, Turns: w.Turns, Rank: Rank{Class: e.Rank.Class, Criterion: e.Rank.Criterion}}
		kept = slices.DeleteFunc(kept, func(old Stated) bool { return s.continues(&old) })
		r.Statements = append(r.Statements, s)
	}
	if w.Rank.Class >= belief.Human && w.Limits.Binds != nil && w.Limits.Binds(item.Kind()) {
		kept = w.onlyVouched(was, kept)
	}
	r.Statements = append(r.Statements, kept...)
	if err := r.Check(); err != nil {
		return err
	}
	w.outcome.Item, w.outcome.Revision = item, r.Number
	return w.revise(&r)
}

// continues reports whether a statement says the same as an older one at times that overlap. If so, the statement takes over the older
// one's span, and its rank if that is at least as high.
func (s *Stated) continues(old *Stated) bool {
	if old.Literal != s.Literal || !slices.Equal(old.Premises, s.Premises) || !old.Span.Overlaps(s.Span) {
		return false
	}
	s.Span = belief.Span{From: min(old.Span.From, s.Span.From), Until: max(old.Span.Until, s.Span.Until)}
	if old.Rank.Class > s.Rank.Class || old.Rank.Class == s.Rank.Class && old.Rank.Criterion >= s.Rank.Criterion {
		s.Rank = old.Rank
	}
	return true
}

// reduce records a revision of an item without the statements that gave way. If none are left, it removes the tag current instead.
func (w *writing) reduce(item belief.Item, lost map[int]dag.Time, key dag.Digest) error {
	kept, was := w.remaining(item, lost)
	if w.outcome.Item == "" {
		w.outcome.Item = item
	}
	if len(kept) == 0 {
		return w.replace(item, nil, func(seq dag.Seq) (record, history.Entry) {
			t := &Tag{Item: item, Name: Current, By: w.By, Reason: w.Revision.Reason, Key: key, Seq: seq, At: w.At}
			return t, t.entry()
		})
	}
	r := *was
	r.Number, r.Supersedes, r.Current, r.Withheld, r.By, r.Key = w.items[item].newest+1, was.Number, true, true, w.By, key
	r.Statements, r.Reason, r.Salt, r.At = kept, w.Revision.Reason, w.salt(), w.At
	if w.outcome.Item == item {
		w.outcome.Revision = r.Number
	}
	return w.revise(&r)
}
