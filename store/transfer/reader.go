package transfer

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// A reader gives what has numbers one after the other.
type reader[T any] struct {
	after, last dag.Seq
	list        func(after dag.Seq) ([]T, error) // up to page of them
	seq         func(*T) dag.Seq
	read        []T
}

// events reads a store's events after a number, up to another.
func (c *copying) events(s store.Store, after, last dag.Seq) *reader[store.Event] {
	return &reader[store.Event]{
		after: after, last: last,
		list: func(after dag.Seq) ([]store.Event, error) { return s.Events(c.ctx, c.tenant, after, page) },
		seq:  func(e *store.Event) dag.Seq { return e.Seq },
	}
}

// entries reads a store's entries after one number, up to another.
func (c *copying) entries(s store.Store, after, last dag.Seq) *reader[history.Entry] {
	return &reader[history.Entry]{
		after: after, last: last,
		list: func(after dag.Seq) ([]history.Entry, error) {
			return s.Entries(c.ctx, c.tenant, history.Page{After: after, Limit: page})
		},
		seq: func(e *history.Entry) dag.Seq { return e.Seq },
	}
}

// peek returns the next one, nil if there is none up to the last number.
func (r *reader[T]) peek() (*T, error) {
	if len(r.read) == 0 && r.after < r.last {
		list, err := r.list(r.after)
		if err != nil {
			return nil, err
		}
		r.read = list
		if r.after = r.last; len(list) == page {
			r.after = r.seq(&list[page-1])
		}
	}
	if len(r.read) == 0 || r.seq(&r.read[0]) > r.last {
		return nil, nil
	}
	return &r.read[0], nil
}

func (r *reader[T]) skip() { r.read = r.read[1:] }
