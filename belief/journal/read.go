package journal

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A Stretch is a time in which an element was believed.
type Stretch struct {
	Believed
	Until dag.Seq // history.Forever while it is
	By    string  // who ended it
	Why   string  // the reason that was given
}

// Stated returns the times up to a number in which elements of a space had a literal, by their beginning.
func (b Base) Stated(ctx context.Context, tenant dag.Tenant, s belief.Space, of belief.Literal, asOf dag.Seq) ([]Stretch, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexElements, Prefix: slotPrefix(s, of.Slot())}})
	if err != nil {
		return nil, err
	}
	seqs := entriesOf(lists[0])
	for i := range lists[0] {
		if t := &lists[0][i]; t.Until <= asOf {
			seqs = append(seqs, t.Until)
		}
	}
	slices.Sort(seqs)
	entries, err := b.entriesAt(ctx, tenant, slices.Compact(seqs))
	if err != nil {
		return nil, err
	}
	var list []Stretch
	for i := range lists[0] {
		t := &lists[0][i]
		held, err := believed(lists[0][i:i+1], map[dag.Seq]*Revision{}, entries)
		if err != nil {
			return nil, err
		}
		if len(held) == 0 || t.Since > asOf || held[0].Stated().Literal != of {
			continue
		}
		stretch := Stretch{Believed: held[0], Until: t.Until}
		if t.Until > asOf {
			stretch.Until = history.Forever
		} else if e, ok := entries[t.Until]; ok && IsKind(e.Kind) {
			r, err := readEntry(&e)
			if err != nil {
				return nil, err
			}
			stretch.By, stretch.Why = endedBy(r)
		}
		list = append(list, stretch)
	}
	slices.SortFunc(list, func(a, b Stretch) int { return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Until, b.Until)) })
	return list, nil
}

// endedBy returns who recorded something, and for which reason.
func endedBy(r record) (by, why string) {
	switch r := r.(type) {
	case *Revision:
		return r.By, r.Reason
	case *Tag:
		return r.By, r.Reason
	case *Deprecation:
		return r.By, r.Reason
	}
	return "", ""
}

// A Recorded is an entry of beliefs without what it says: what happened, to which item.
type Recorded struct {
	Seq      dag.Seq
	At       dag.Time
	Kind     history.Kind
	Space    belief.Space
	Item     belief.Item // "": a space, or a conflict
	Revision int         // that was made, or that a tag points to; of a link that which it is from
	Tag      string
	By       string
	Erased   bool
}

// Recorded returns up to limit entries of beliefs numbered above after, ascending.
func (b Base) Recorded(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]Recorded, error) {
	var list []Recorded
	for lacking := limit; lacking > 0; lacking = limit - len(list) {
		page, err := b.Entries(ctx, tenant, history.Page{After: after, Limit: lacking})
		if err != nil {
			return nil, err
		}
		for i := range page {
			if e := &page[i]; IsKind(e.Kind) {
				r, err := readEntry(e)
				if err != nil {
					return nil, err
				}
				list = append(list, recordedOf(e, r))
			}
		}
		if len(page) < lacking {
			break
		}
		after = page[len(page)-1].Seq
	}
	return list, nil
}

func recordedOf(e *history.Entry, r record) Recorded {
	w := Recorded{Seq: e.Seq, At: e.At, Kind: e.Kind}
	switch r := r.(type) {
	case *SpacePolicy:
		w.Space, w.By = r.Space, r.By
	case *Revision:
		w.Item, w.Revision, w.By, w.Erased = r.Item, r.Number, r.By, r.Erased
	case *Tag:
		w.Item, w.Revision, w.Tag, w.By = r.Item, r.Number, r.Name, r.By
	case *Deprecation:
		w.Item, w.By = r.Item, r.By
	case *Link:
		w.Item, w.Revision, w.By = r.From.Item, r.From.Revision, r.By
	case *Conflict:
		w.Space, w.By, w.Erased = r.Space, r.By, r.Erased
	case *Resolution:
		w.Space, w.By = r.Space, r.By
	case *Use:
		w.Item, w.Revision, w.By = r.Of.Item, r.Of.Revision, r.By
	}
	if w.Item != "" {
		w.Space = w.Item.Space()
	}
	return w
}
