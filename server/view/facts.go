package view

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
)

// BadParameter says which parameter of a question is wrong, and why.
func BadParameter(name, format string, args ...any) error {
	return api.Faultf(api.CodeInvalid, "query parameter "+name, format, args...)
}

func badAfter(text string) error {
	return BadParameter("after", "after is %q, which is no next of this list", text)
}

// PageAfter reads where a page begins, if that is a number; "" is the beginning.
func PageAfter(after string) (uint64, error) {
	if after == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(after, 10, 64)
	if err != nil || n > canon.MaxInt {
		return 0, badAfter(after)
	}
	return n, nil
}

// PageOf returns how many items of a list are asked for.
func PageOf(limit int) int { return cmp.Or(limit, 100) }

// PageInView reads where a page of a view begins, NUMBER-ASOF: every page is of the view that the
// first one was of.
func PageInView(text string, asOf dag.Seq) (after, of dag.Seq, err error) {
	if text == "" {
		return 0, asOf, nil
	}
	first, second, _ := strings.Cut(text, "-")
	n, err1 := strconv.ParseUint(first, 10, 64)
	m, err2 := strconv.ParseUint(second, 10, 64)
	if err1 != nil || err2 != nil || n > canon.MaxInt || m > canon.MaxInt || m == 0 {
		return 0, 0, badAfter(text)
	}
	if asOf != 0 && asOf != dag.Seq(m) {
		return 0, 0, BadParameter("as_of", "as_of is %d, and after is of a listing as of %d", asOf, m)
	}
	return dag.Seq(n), dag.Seq(m), nil
}

// pageInView is PageInView for a number as a caller gives it, which may be inside of a change. It returns the number of the view.
func pageInView(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, text string, given dag.Seq) (after, asOf dag.Seq, err error) {
	if given != 0 || text == "" {
		if given, err = k.Turns().AsOf(ctx, tenant, given); err != nil {
			return 0, 0, err
		}
	}
	return PageInView(text, given)
}

// NextInView writes what PageInView reads.
func NextInView(after, asOf dag.Seq) string {
	return strconv.FormatUint(uint64(after), 10) + "-" + strconv.FormatUint(uint64(asOf), 10)
}

// listFacts lists a page of what is believed.
func listFacts(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.FactQuery) (w api.Facts, err error) {
	q, err := FactQuery(ctx, k, tenant, &in.FactFilter)
	if err != nil {
		return w, err
	}
	if q.After, q.AsOf, err = pageInView(ctx, k, tenant, in.After, in.AsOf); err != nil {
		return w, err
	}
	q.Limit = in.Limit
	page, err := k.Facts().List(ctx, tenant, q)
	if err != nil {
		return w, err
	}
	w = api.Facts{Facts: make([]api.Fact, len(page.Facts)), Total: page.Total, AsOf: page.AsOf}
	for i := range page.Facts {
		w.Facts[i] = Fact(&page.Facts[i])
	}
	if page.Next != 0 {
		w.Next = NextInView(page.Next, page.AsOf)
	}
	return w, nil
}

// retractFacts ends the belief in facts, or says which those are.
func retractFacts(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.Retracting) (w api.Retracted, err error) {
	if len(in.Reason) > knowledge.MaxReason || !utf8.ValidString(in.Reason) {
		return w, BadParameter("reason", "a reason of %d bytes, want UTF-8 of at most %d", len(in.Reason), knowledge.MaxReason)
	}
	q, err := FactQuery(ctx, k, tenant, &in.FactFilter)
	if err != nil {
		return w, err
	}
	list, err := k.Facts().Retract(ctx, tenant, q, in.Reason, in.DryRun)
	return api.Retracted{DryRun: in.DryRun, Total: len(list), Acts: Acts(list)}, err
}

// changesAfter is Changes for a page as it is asked for.
func changesAfter(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.Paging) (api.KnowledgeChanges, error) {
	after, err := PageAfter(in.After)
	if err != nil {
		return api.KnowledgeChanges{}, err
	}
	return Changes(ctx, k, tenant, after, PageOf(in.Limit))
}

// Changes lists up to limit acts with a number above after.
func Changes(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, after uint64, limit int) (w api.KnowledgeChanges, err error) {
	list, err := k.Facts().Acts(ctx, tenant, dag.Seq(after), limit+1)
	if err != nil {
		return w, err
	}
	if len(list) > limit {
		list = list[:limit]
		w.Next = strconv.FormatUint(uint64(list[limit-1].Seq), 10)
	}
	w.Acts = Acts(list)
	return w, nil
}

// traverse finds what can be reached.
func traverse(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.TraverseRequest) (api.Traversal, error) {
	boundary, err := within(k, tenant, in.Within)
	if err != nil {
		return api.Traversal{}, err
	}
	found, err := k.Facts().Traverse(ctx, tenant, kernel.Traversal{
		Start: in.Start, Predicates: in.Predicates, Direction: in.Direction, MaxHops: in.MaxHops, MaxResults: in.MaxResults,
		MinConfidence: in.MinConfidence, AsOf: in.AsOf, ValidAt: in.ValidAt, Within: boundary,
	})
	if err != nil {
		return api.Traversal{}, err
	}
	return Traversal(found), nil
}

// paths finds ways from one entity to another.
func paths(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.PathQuery) (api.Traversal, error) {
	found, err := k.Facts().Paths(ctx, tenant, in)
	if err != nil {
		return api.Traversal{}, err
	}
	return Traversal(found), nil
}
