package transfer

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// A reader returns entries one after the other.
type reader struct {
	after, last dag.Seq
	list        func(after dag.Seq) ([]history.Entry, error) // up to page of them
	read        []history.Entry
}

// entries returns a reader of a store's entries after one number, up to another.
func (c *copying) entries(s store.Store, after, last dag.Seq) *reader {
	return &reader{
		after: after, last: last,
		list: func(after dag.Seq) ([]history.Entry, error) {
			return s.Entries(c.ctx, c.tenant, history.Page{After: after, Limit: page})
		},
	}
}

// peek returns the next entry, or nil if there is none up to the last number.
func (r *reader) peek() (*history.Entry, error) {
	if len(r.read) == 0 && r.after < r.last {
		list, err := r.list(r.after)
		if err != nil {
			return nil, err
		}
		r.read = list
		if r.after = r.last; len(list) == page {
			r.after = list[page-1].Seq
		}
	}
	if len(r.read) == 0 || r.read[0].Seq > r.last {
		return nil, nil
	}
	return &r.read[0], nil
}

func (r *reader) skip() { r.read = r.read[1:] }
