package view

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
)

// factHistory lists what was said of a statement.
func factHistory(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.HistoryOf) (w api.FactHistory, err error) {
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	list, err := k.Facts().History(ctx, tenant, in.Statement)
	if err != nil {
		return w, err
	}
	for len(list) > 0 && list[0].Seq <= dag.Seq(after) {
		list = list[1:]
	}
	w.Statement = in.Statement
	if limit := in.Size(); len(list) > limit {
		list = list[:limit]
		w.Next = api.Next(uint64(list[limit-1].Seq))
	}
	w.Acts = Acts(list)
	return w, nil
}

func listAliases(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.AliasesOf) (w api.Aliases, err error) {
	after, asOf, err := pageInView(ctx, k, tenant, &in.Paging, in.AsOf)
	if err != nil {
		return w, err
	}
	table, err := k.Facts().Aliases(ctx, tenant, asOf)
	if err != nil {
		return w, err
	}
	w = api.Aliases{Aliases: []api.Alias{}, Total: table.Len(), AsOf: asOf}
	limit := in.Size()
	n := dag.Seq(0)
	for alias, canonical := range table.All() {
		if n++; n <= after {
			continue
		}
		if len(w.Aliases) == limit {
			w.Next = api.NextInView(n-1, asOf)
			break
		}
		w.Aliases = append(w.Aliases, api.Alias{Alias: alias, Canonical: canonical})
	}
	return w, nil
}

// mostCounts bounds the names of a count.
const mostCounts = 100

// statsPage is how many acts are read at once for counts.
const statsPage = 1000

func knowledgeStats(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.KnowledgeCount) (w api.KnowledgeStats, err error) {
	asOf, err := k.Turns().AsOf(ctx, tenant, in.AsOf)
	if err != nil {
		return w, err
	}
	aliases, err := k.Facts().Aliases(ctx, tenant, asOf)
	if err != nil {
		return w, err
	}
	w = api.KnowledgeStats{Aliases: aliases.Len(), AsOf: asOf}
	if in.Brief {
		n, err := k.Facts().Totals(ctx, tenant, asOf)
		w.Facts, w.Entities, w.Predicates, w.Sources = n.Facts, n.Entities, []api.NameCount{}, []api.NameCount{}
		return w, err
	}
	entities, predicates, sources := map[string]bool{}, map[string]int{}, map[string]int{}
	for after := dag.Seq(0); after < asOf; {
		list, err := k.Facts().Acts(ctx, tenant, after, statsPage)
		if err != nil {
			return w, err
		}
		for i := range list {
			if v, ok := list[i].Version(); ok && v.Seen(asOf) {
				w.Facts++
				entities[aliases.Resolve(v.Subject)], entities[aliases.Resolve(v.Object)] = true, true
				predicates[v.Predicate]++
				sources[v.Source]++
			}
		}
		if len(list) < statsPage {
			break
		}
		after = list[len(list)-1].Seq
	}
	w.Entities = len(entities)
	w.Predicates, w.PredicatesTotal = counts(predicates), len(predicates)
	w.Sources, w.SourcesTotal = counts(sources), len(sources)
	return w, nil
}

// counts returns the names with the most facts, the most first.
func counts(of map[string]int) []api.NameCount {
	list := make([]api.NameCount, 0, len(of))
	for name, n := range of {
		list = append(list, api.NameCount{Name: name, Facts: n})
	}
	slices.SortFunc(list, func(a, b api.NameCount) int {
		return cmp.Or(cmp.Compare(b.Facts, a.Facts), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), mostCounts)]
}
