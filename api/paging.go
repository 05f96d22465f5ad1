package api

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A Paging selects a page of a list.
type Paging struct {
	After string `json:"after,omitempty" is:"After" doc:"The value of next in the previous answer."`
	Limit int    `json:"limit,omitempty" is:"1..1000" default:"100" flag:": the most items per page" doc:"The most items to return. An answer may have fewer and still have a next." tool:"At most this many; default 100."`
}

// Size returns the number of items asked for.
func (p *Paging) Size() int { return cmp.Or(p.Limit, 100) }

// Number returns the number after which the page begins, for lists that are paged by a number; 0 is the beginning.
func (p *Paging) Number() (uint64, error) {
	if p.After == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(p.After, 10, 64)
	if err != nil || n > canon.MaxInt {
		return 0, BadAfter(p.After)
	}
	return n, nil
}

// InView reads a cursor that NextInView wrote. It returns the number after which the page begins, and the view of the first page,
// which is the view of every page. If asOf is not 0, it must be that view.
func (p *Paging) InView(asOf dag.Seq) (after, of dag.Seq, err error) {
	if p.After == "" {
		return 0, asOf, nil
	}
	first, second, _ := strings.Cut(p.After, "-")
	n, err1 := strconv.ParseUint(first, 10, 64)
	m, err2 := strconv.ParseUint(second, 10, 64)
	if err1 != nil || err2 != nil || n > canon.MaxInt || m > canon.MaxInt || m == 0 {
		return 0, 0, BadAfter(p.After)
	}
	if asOf != 0 && asOf != dag.Seq(m) {
		return 0, 0, Faultf(CodeInvalid, "query parameter as_of", "as_of is %d, but after continues a listing as of %d", asOf, m)
	}
	return dag.Seq(n), dag.Seq(m), nil
}

// BadAfter is the fault of a cursor that is not one of the list.
func BadAfter(text string) *Fault {
	return Faultf(CodeInvalid, "query parameter after", "after is %q, want the next of a page of this list", text)
}

// Next returns the cursor of the page after a number.
func Next(after uint64) string { return strconv.FormatUint(after, 10) }

// NextInView returns the cursor of the page after a number, in the view as of asOf.
func NextInView(after, asOf dag.Seq) string { return Next(uint64(after)) + "-" + Next(uint64(asOf)) }

// Page cuts a list that was read with one item more than the page has room for. next is the cursor of the next page, or "" if the
// list ends here.
func Page[T any](list []T, room int, number func(*T) uint64) (page []T, next string) {
	if len(list) <= room {
		return list, ""
	}
	return list[:room], Next(number(&list[room-1]))
}
