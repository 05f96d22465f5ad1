package client

import (
	"fmt"
	"iter"
	"net/url"
	"strconv"
)

// A Page says which part of a listing to read. The zero value is the first page, of
// the service's usual length.
type Page struct {
	Cursor string // the Next of the page before
	Limit  int    // at most so many, up to 1000; 0: as the service likes
}

func (p Page) query() url.Values {
	q := url.Values{}
	if p.Cursor != "" {
		q.Set("cursor", p.Cursor)
	}
	if p.Limit != 0 {
		q.Set("limit", strconv.Itoa(p.Limit))
	}
	return q
}

// all goes through the pages of a listing. An error is the last thing it gives.
func all[T any](read func(Page) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		page := Page{Limit: 1000}
		for {
			items, next, err := read(page)
			if err == nil && next != "" && next == page.Cursor {
				err = fmt.Errorf("client: %w: page %.80q leads to itself", ErrAnswer, next)
			}
			if err != nil {
				yield(zero, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			page.Cursor = next
		}
	}
}
