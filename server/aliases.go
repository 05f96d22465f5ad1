package server

import (
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/server/view"
)

func (c *call) listAliases() error {
	p := paramReader{c: c}
	asOf := p.seq("as_of")
	if p.err != nil {
		return p.err
	}
	after, asOf, err := c.viewCursor(asOf)
	if err != nil {
		return err
	}
	k := c.server.config.Kernel
	if asOf == 0 {
		if asOf, err = k.Head(c.ctx, c.tenant()); err != nil {
			return err
		}
	}
	table, err := k.Aliases(c.ctx, c.tenant(), asOf)
	if err != nil {
		return err
	}
	w := api.Aliases{Aliases: []api.Alias{}, Total: table.Len(), AsOf: uint64(asOf)}
	limit := c.page()
	n := dag.Seq(0)
	for alias, canonical := range table.All() {
		if n++; n <= after {
			continue
		}
		if len(w.Aliases) == limit {
			w.Next = cursorOf(n-1, asOf)
			break
		}
		w.Aliases = append(w.Aliases, api.Alias{Alias: alias, Canonical: canonical})
	}
	return c.json(http.StatusOK, w)
}

// addAliases adds aliases one by one as they were given, or what can be used of a list.
func (c *call) addAliases() error {
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
		at := canon.Open(c.value)
		for _, item := range at.Field("aliases").Items() {
			acts = append(acts, knowledge.Act{
				Kind: knowledge.Alias, Alias: canon.Parsed(item.Field("alias"), normalize.Name), Canonical: canon.Parsed(item.Field("canonical"), normalize.Name), Rule: normalize.Newest,
			})
			item.Close()
		}
		at.Close()
		if err := at.Err(); err != nil {
			return err
		}
	}
	if len(acts) > knowledge.MaxActs {
		return &problem{code: codeTooLarge, place: "aliases", detail: fmt.Sprintf("%d aliases, at most %d at once", len(acts), knowledge.MaxActs)}
	}
	outcomes, err := c.learn(acts, place)
	if err != nil {
		return err
	}
	w := api.AliasesAdded{List: view.AliasList(list)}
	for i := range outcomes {
		if outcomes[i].Result == knowledge.Aliased {
			w.Added++
		} else {
			w.Existing++
		}
	}
	return c.json(http.StatusOK, w)
}

// removeAlias ends that a name stands for another. Where it stands for none, nothing changes.
func (c *call) removeAlias() error {
	name, err := normalize.Name(c.params["alias"])
	if err != nil {
		return at("path parameter alias", err)
	}
	table, err := c.server.config.Kernel.Aliases(c.ctx, c.tenant(), 0)
	if err != nil {
		return err
	}
	act := knowledge.Act{Kind: knowledge.Unalias, Alias: name, Canonical: table.Resolve(name), Rule: normalize.Newest}
	outcomes, err := c.learn([]knowledge.Act{act}, func(int) string { return "path parameter alias" })
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, view.Outcome(&outcomes[0]))
}
