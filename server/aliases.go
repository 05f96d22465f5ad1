package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// addAliases adds the aliases of a request, or the usable entries of a list.
func addAliases(c *call) error {
	var acts []knowledge.Act
	var list *normalize.List
	place := func(i int) string { return fmt.Sprintf("aliases[%d]", i) }
	if c.media == typeCSV {
		var err error
		if list, err = normalize.ReadAliases(c.body, normalize.CSV); err != nil {
			return at("body", err)
		}
		for _, change := range list.Changes {
			acts = append(acts, knowledge.Act{Kind: knowledge.Alias, Alias: change.Alias, Canonical: change.Canonical, Rule: normalize.Newest})
		}
		place = func(i int) string { return "alias " + acts[i].Alias }
	} else {
		in, err := readIn[api.NewAliases](c)
		if err != nil {
			return err
		}
		for _, a := range in.Aliases {
			alias, _ := normalize.Name(a.Alias) // the reader accepted them
			canonical, _ := normalize.Name(a.Canonical)
			acts = append(acts, knowledge.Act{Kind: knowledge.Alias, Alias: alias, Canonical: canonical, Rule: normalize.Newest})
		}
	}
	if len(acts) > knowledge.MaxActs {
		return &problem{code: api.CodeTooLarge, place: "aliases", detail: fmt.Sprintf("%d aliases, at most %d at once", len(acts), knowledge.MaxActs)}
	}
	outcomes, err := learn(c, acts, place)
	if err != nil {
		return err
	}
	w := api.AliasesAdded{List: aliasList(list)}
	if list == nil {
		w.Outcomes = outcomes
	}
	for i := range outcomes {
		if outcomes[i].Result == knowledge.Aliased {
			w.Added++
		} else {
			w.Existing++
		}
	}
	return c.json(http.StatusOK, w)
}

// removeAlias removes an alias. If the name is not an alias, nothing changes.
func removeAlias(c *call, in api.AliasNamed) (w api.KnowledgeOutcome, err error) {
	name, _ := normalize.Name(in.Alias) // the reader accepted it
	table, err := c.server.config.Kernel.Facts().Aliases(c.ctx, c.tenant(), 0)
	if err != nil {
		return w, err
	}
	act := knowledge.Act{Kind: knowledge.Unalias, Alias: name, Canonical: table.Resolve(name), Rule: normalize.Newest}
	outcomes, err := learn(c, []knowledge.Act{act}, func(int) string { return "path parameter alias" })
	if err != nil {
		return w, err
	}
	return outcomes[0], nil
}

// mostExamples is the maximum number of unused entries of an alias list that are shown.
const mostExamples = 20

// aliasList returns the counts of an alias list, with examples of its entries that were not used; nil if l is nil.
func aliasList(l *normalize.List) *api.AliasList {
	if l == nil {
		return nil
	}
	w := &api.AliasList{Entries: l.Entries, Same: l.Same, Repeated: l.Repeated, Chained: len(l.Chained), Skipped: len(l.Skipped), Examples: []api.AliasSkip{}}
	add := func(place, why string) {
		if len(w.Examples) < mostExamples {
			w.Examples = append(w.Examples, api.AliasSkip{Place: place, Why: why})
		}
	}
	for _, s := range l.Skipped {
		add(s.Place, s.Err.Error())
	}
	for _, a := range l.Ambiguous {
		w.Ambiguous += len(a.Claims)
		add("alias "+a.Name, "it is said to stand for "+strings.Join(a.Claims[:min(len(a.Claims), 8)], " and for "))
	}
	for _, c := range l.Chained {
		add("alias "+c.Alias, "it, or "+c.Canonical+", the name it stands for, is both an alias and a canonical name")
	}
	return w
}
