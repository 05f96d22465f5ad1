package knowledge

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/normalize"
)

// Versions returns the assertions that began the selected versions, ascending and with Until and Opened, and how many versions are selected in all.
// It reads the edges of the given names, or one edge of every version of the tenant, in pages, and their assertions only if a condition needs these.
// f.AsOf must be a number that the head has reached: as of a later number, acts that arrive meanwhile would count in some pages and not in others.
func (b Base) Versions(ctx context.Context, tenant dag.Tenant, f Find) ([]Recorded, int, error) {
	var numbers []dag.Seq
	var err error
	if f.bare() {
		err = b.eachBare(ctx, tenant, &f, func(since dag.Seq) { numbers = append(numbers, since) })
	} else {
		err = b.eachEdge(ctx, tenant, &f, func(e *Edge) {
			if f.Matches(&e.Version) {
				numbers = append(numbers, e.Since)
			}
		})
	}
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
		return nil, 0, fmt.Errorf("%w: of the acts of %d versions, from number %d on, only %d are stored", history.ErrDamaged, len(numbers), numbers[0], len(list))
	}
	list = slices.DeleteFunc(list, func(r Recorded) bool { return r.Erased }) // erased after the edges were read
	return list, total, b.Complete(ctx, tenant, list)
}

// eachEdge calls fn with edges that count as of f.AsOf, including those of all selected versions. Some edges come twice.
func (b Base) eachEdge(ctx context.Context, tenant dag.Tenant, f *Find, fn func(*Edge)) error {
	var prefixes []history.Range
	of := func(index history.Index, names []string) {
		for _, name := range names {
			if len(name) <= normalize.MaxName {
				prefixes = append(prefixes, history.Range{Index: index, Prefix: edgesPrefix(name)})
			}
		}
	}
	switch {
	case f.Statement != nil:
		return b.eachOfStatement(ctx, tenant, f, fn)
	case len(f.Subjects) > 0:
		of(indexOutgoing, f.Subjects)
	case len(f.Objects) > 0:
		of(indexIncoming, f.Objects)
	case len(f.Either) > 0:
		of(indexOutgoing, f.Either)
		of(indexIncoming, f.Either)
	default:
		prefixes = []history.Range{{Index: indexOutgoing}}
	}
	for _, r := range prefixes {
		r.Entries = true
		err := b.eachTerm(ctx, tenant, r, f.AsOf, func(t *history.Term) error {
			if outlived(t) {
				return nil
			}
			e, err := readEdge(t)
			if err == nil {
				fn(&e)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachTerm calls fn with the terms of a range. It reads them in pages, so that at most one page is in memory.
func (b Base) eachTerm(ctx context.Context, tenant dag.Tenant, r history.Range, asOf dag.Seq, fn func(*history.Term) error) error {
	const page = 4 << 10
	if asOf == 0 { // no term counts as of 0, and in a Range 0 means all terms
		return nil
	}
	for r.AsOf, r.Limit = asOf, page; ; {
		lists, err := b.Terms(ctx, tenant, []history.Range{r})
		if err != nil {
			return err
		}
		list := lists[0]
		for i := range list {
			if err := fn(&list[i]); err != nil {
				return err
			}
		}
		if len(list) < page {
			return nil
		}
		last := &list[len(list)-1]
		r.After = &history.Place{Key: last.Key, Since: last.Since}
	}
}

// eachBare calls fn with the number of each version that counts and has at least the minimum confidence. It reads no assertions.
func (b Base) eachBare(ctx context.Context, tenant dag.Tenant, f *Find, fn func(dag.Seq)) error {
	return b.eachTerm(ctx, tenant, history.Range{Index: indexOutgoing}, f.AsOf, func(t *history.Term) error {
		_, confidence, err := readEdgeKey(t)
		if err == nil && confidence >= f.MinConfidence {
			fn(t.Since)
		}
		return err
	})
}

// Totals are the number of facts, and the number of names that are their subjects or objects.
type Totals struct{ Facts, Entities int }

// Totals counts facts and names as of a number. A name and its aliases count
// once. It reads no assertions, and takes a query for every 4096 ends of facts.
func (b Base) Totals(ctx context.Context, tenant dag.Tenant, aliases *normalize.Table, asOf dag.Seq) (n Totals, err error) {
	same := map[NameKey]NameKey{}
	for alias, canonical := range aliases.All() {
		same[KeyOf(alias)] = KeyOf(canonical)
	}
	names := map[NameKey]bool{}
	for _, index := range [...]history.Index{indexOutgoing, indexIncoming} {
		err := b.eachTerm(ctx, tenant, history.Range{Index: index}, asOf, func(t *history.Term) error {
			name, _, err := readEdgeKey(t)
			if canonical, ok := same[name]; ok {
				name = canonical
			}
			names[name] = true
			if index == indexOutgoing {
				n.Facts++
			}
			return err
		})
		if err != nil {
			return n, err
		}
	}
	n.Entities = len(names)
	return n, nil
}

// eachOfStatement calls fn with the version of one statement that counts as of f.AsOf, if there is one.
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
				fn(&Edge{Version: v})
			}
		}
	}
	return nil
}
