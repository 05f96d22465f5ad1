package knowledge

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/normalize"
)

// Versions returns the assertions that began the versions that are looked for, ascending and with
// Until and Opened, and how many there are in all. It reads the edges of the names that it is
// given, or one edge of every version of the tenant, in pages. So f.AsOf must be a number that the
// head has reached: as of a later one, acts that come meanwhile count in some pages and not in others.
func (b Base) Versions(ctx context.Context, tenant dag.Tenant, f Find) ([]Recorded, int, error) {
	var numbers []dag.Seq
	err := b.eachEdge(ctx, tenant, &f, func(e *Edge) {
		if f.Matches(&e.Version, e.Rule) {
			numbers = append(numbers, e.Since)
		}
	})
	if err != nil {
		return nil, 0, err
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	total := len(numbers)
	first, _ := slices.BinarySearch(numbers, f.After+1)
	numbers = numbers[first:]
	numbers = numbers[:min(len(numbers), max(f.Limit, 0))]
	list, err := b.ActsAt(ctx, tenant, numbers)
	if err != nil {
		return nil, 0, err
	}
	if len(list) != len(numbers) {
		return nil, 0, fmt.Errorf("of %d versions, from number %d on, the acts of %d are there; the store is damaged", len(numbers), numbers[0], len(list))
	}
	list = slices.DeleteFunc(list, func(r Recorded) bool { return r.Erased }) // since the edges were read
	return list, total, b.Complete(ctx, tenant, list)
}

// eachEdge calls fn with edges that count as of f.AsOf, of which those of the versions that are
// looked for are a part. Some come twice.
func (b Base) eachEdge(ctx context.Context, tenant dag.Tenant, f *Find, fn func(*Edge)) error {
	var prefixes []history.Range
	of := func(index history.Index, names, earlier []string) {
		for _, list := range [...][]string{names, earlier} {
			for _, name := range list {
				if len(name) <= normalize.MaxName {
					prefixes = append(prefixes, history.Range{Index: index, Prefix: edgesPrefix(name)})
				}
			}
		}
	}
	switch {
	case f.Statement != nil:
		return b.eachOfStatement(ctx, tenant, f, fn)
	case len(f.Subjects) > 0:
		of(indexOutgoing, f.Subjects, f.Earlier.Subjects)
	case len(f.Objects) > 0:
		of(indexIncoming, f.Objects, f.Earlier.Objects)
	case len(f.Either) > 0:
		of(indexOutgoing, f.Either, f.Earlier.Either)
		of(indexIncoming, f.Either, f.Earlier.Either)
	default:
		prefixes = []history.Range{{Index: indexOutgoing}}
	}
	for _, r := range prefixes {
		if err := b.eachTerm(ctx, tenant, r, f.AsOf, fn); err != nil {
			return err
		}
	}
	return nil
}

// eachTerm reads a range in pages, so that no more than one is in memory.
func (b Base) eachTerm(ctx context.Context, tenant dag.Tenant, r history.Range, asOf dag.Seq, fn func(*Edge)) error {
	const page = 4 << 10
	if asOf == 0 { // nothing counts as of it, and in a range it stands for all
		return nil
	}
	for r.AsOf, r.Limit, r.Entries = asOf, page, true; ; {
		lists, err := b.Terms(ctx, tenant, []history.Range{r})
		if err != nil {
			return err
		}
		list := lists[0]
		for i := range list {
			e, err := readEdge(&list[i])
			if err != nil {
				return err
			}
			fn(&e)
		}
		if len(list) < page {
			return nil
		}
		last := &list[len(list)-1]
		r.After = &history.Place{Key: last.Key, Since: last.Since}
	}
}

// eachOfStatement calls fn with the version of one statement that counts, if there is one.
func (b Base) eachOfStatement(ctx context.Context, tenant dag.Tenant, f *Find, fn func(*Edge)) error {
	if f.AsOf == 0 {
		return nil
	}
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexVersions, Prefix: f.Statement[:], AsOf: f.AsOf}})
	if err != nil {
		return err
	}
	for i := range lists[0] {
		t := &lists[0][i]
		acts, err := b.ActsAt(ctx, tenant, []dag.Seq{t.Since})
		if err != nil {
			return err
		}
		for k := range acts {
			acts[k].Until = t.Until
			if v, ok := acts[k].Version(); ok {
				fn(&Edge{Version: v, Rule: acts[k].Act.Fact.Rule})
			}
		}
	}
	return nil
}
