package client

import (
	"fmt"
	"iter"

	"github.com/graphkernel/graphkernel/api"
)

// all returns the items of all pages of a listing. If there is an error, it comes last.
func all[T any](read func(api.Paging) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		page := api.Paging{Limit: 1000}
		for {
			items, next, err := read(page)
			if err == nil && next != "" && next == page.After {
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
			page.After = next
		}
	}
}
