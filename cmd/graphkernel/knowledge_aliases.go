package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

func (a *app) aliasesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "aliases",
		Short: "Say which names stand for one entity, and look for such names",
		Long: `An alias lets a name stand for another from now on. Facts keep the names that they were
asserted with; aliases count when they are read, and whoever asks as of an earlier number
sees the aliases of that moment. So an alias that was wrong can be removed without a trace
in the facts.

An alias stands for one canonical name, which is no alias itself.`,
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.listAliasesCommand(), a.addAliasCommand(), a.removeAliasCommand(), a.importAliasesCommand(), a.suggestAliasesCommand())
	return c
}

func (a *app) listAliasesCommand() *cobra.Command {
	var of string
	var asOf uint64
	c := &cobra.Command{
		Use:   "list",
		Short: "List the aliases",
		Long: `Lists the aliases with what they stand for, by name. The result, as JSON:

  {"aliases":[{"alias","canonical"}]}`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.listAliases(c.Context(), of, dag.Seq(asOf)) },
	}
	c.Flags().StringVar(&of, "of", "", "only the names of this entity")
	asOfFlag(c, &asOf)
	noFiles(c, "of")
	return c
}

type aliasJSON struct {
	Alias     string `json:"alias"`
	Canonical string `json:"canonical"`
}

func (a *app) listAliases(ctx context.Context, of string, asOf dag.Seq) error {
	only := ""
	if of != "" {
		var err error
		if only, err = normalize.Name(of); err != nil {
			return usagef("--of: %w", err)
		}
	}
	return a.withKernel(ctx, token.Keyring{}, func(s *session) error {
		if err := s.holdsTurns(ctx); err != nil {
			return err
		}
		t, err := s.Aliases(ctx, s.tenant, asOf)
		if err != nil {
			return err
		}
		lines := []aliasJSON{}
		if only != "" {
			canonical := t.Resolve(only)
			for _, name := range t.Members(only)[1:] {
				lines = append(lines, aliasJSON{name, canonical})
			}
		} else {
			for alias, canonical := range t.All() {
				lines = append(lines, aliasJSON{alias, canonical})
			}
		}
		return a.print(map[string]any{"aliases": lines}, func(w io.Writer) {
			if len(lines) > 0 {
				tab := newTable(w, "alias", "canonical")
				for _, l := range lines {
					tab.AppendRow(table.Row{clipped(l.Alias), clipped(l.Canonical)})
				}
				tab.Render()
			}
			fmt.Fprintf(w, "%d aliases\n", len(lines))
		})
	})
}

func (a *app) addAliasCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "add ALIAS CANONICAL",
		Short: "Let a name stand for another from now on",
		Long: `Records an alias. What cannot be is refused: a name that stands for another already, a
canonical name that is itself an alias, or an alias that is a canonical name. The result, as
JSON:

  {"result","seq","alias","canonical"}

result is aliased, or existing if nothing changed.`,
		Example: `  graphkernel knowledge aliases add "Countess of Lovelace" "Ada Lovelace"`,
		Args:    manyArgs("ALIAS CANONICAL"),
		RunE:    func(c *cobra.Command, args []string) error { return a.addAlias(c.Context(), args[0], args[1]) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

func (a *app) addAlias(ctx context.Context, alias, canonical string) error {
	change := normalize.Change{Alias: alias, Canonical: canonical}
	if _, _, err := (*normalize.Table)(nil).With(change); err != nil { // what no table takes
		return &usageError{err}
	}
	return a.withNewKernel(ctx, token.Keyring{}, func(s *session) error { return a.changeAlias(ctx, s, knowledge.Alias, change) })
}

// changeAlias records one change of the table.
func (a *app) changeAlias(ctx context.Context, s *session, kind knowledge.Kind, change normalize.Change) error {
	act, err := actOfAlias(kind, change)
	if err != nil {
		return &usageError{err}
	}
	outcomes, err := s.Learn(ctx, s.tenant, []knowledge.Act{act})
	if err != nil {
		return err
	}
	o := outcomes[0]
	result := map[string]any{"result": string(o.Result), "alias": act.Alias, "canonical": act.Canonical}
	if o.Seq != 0 {
		result["seq"] = uint64(o.Seq)
	}
	return a.print(result, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s for %s", o.Result, shown(act.Alias, ""), shown(act.Canonical, ""))
		if o.Seq == 0 {
			fmt.Fprintln(w, "; nothing changed")
			return
		}
		fmt.Fprintf(w, ", number %d\n", o.Seq)
	})
}

func actOfAlias(kind knowledge.Kind, change normalize.Change) (act knowledge.Act, err error) {
	act.Kind, act.Rule = kind, normalize.Newest
	if act.Alias, err = normalize.Name(change.Alias); err == nil {
		act.Canonical, err = normalize.Name(change.Canonical)
	}
	return act, err
}

func (a *app) removeAliasCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "remove ALIAS",
		Short: "Let a name stand for itself again",
		Long: `Removes an alias, from now on. The result, as JSON:

  {"result":"unaliased","seq","alias","canonical"}`,
		Args: oneArg("ALIAS"),
		RunE: func(c *cobra.Command, args []string) error { return a.removeAlias(c.Context(), args[0]) },

		ValidArgsFunction: a.completeAliases,
	}
}

func (a *app) removeAlias(ctx context.Context, alias string) error {
	name, err := normalize.Name(alias)
	if err != nil {
		return &usageError{err}
	}
	return a.withKernel(ctx, token.Keyring{}, func(s *session) error {
		t, err := s.Aliases(ctx, s.tenant, 0)
		if err != nil {
			return err
		}
		canonical := t.Resolve(name)
		if canonical == name {
			return fmt.Errorf("alias %q of tenant %s: %w; see: graphkernel knowledge aliases list", name, s.tenant, store.ErrNotFound)
		}
		return a.changeAlias(ctx, s, knowledge.Unalias, normalize.Change{Alias: name, Canonical: canonical, Remove: true})
	})
}

func (a *app) completeAliases(c *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
	const most = 1000
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_ = a.withKernel(c.Context(), token.Keyring{}, func(s *session) error { // what cannot be read completes nothing
		t, err := s.Aliases(c.Context(), s.tenant, 0)
		if err != nil {
			return err
		}
		for alias := range t.All() {
			if strings.HasPrefix(alias, begun) && len(names) < most {
				names = append(names, alias)
			}
		}
		return nil
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}
