package journal

import (
	"context"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A Recorded is an entry of beliefs without its content.
type Recorded struct {
	Seq      dag.Seq
	At       dag.Time
	Kind     history.Kind
	Space    belief.Space
	Item     belief.Item // "": the entry is about a space or a conflict
	Revision int         // the revision that was made or used, that a tag points to, or that a link is from
	Tag      string
	By       string
	Erased   bool
}

// Recorded returns up to limit entries of beliefs numbered above after, ascending.
func (b Items) Recorded(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]Recorded, error) {
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
