package facts

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

func aliasesCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "aliases",
		Short: "Say which names stand for one entity, and look for such names",
		Long: `An alias lets a name stand for another from now on. Facts keep the names that they were
asserted with; aliases count when they are read, and a question as of an earlier number
sees the aliases of that moment. So an alias that was wrong can be removed without a trace
in the facts.

An alias stands for one canonical name, which is no alias itself.`,
		Args: cli.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(listAliasesCommand(a), addAliasCommand(a), removeAliasCommand(a), importAliasesCommand(a), suggestAliasesCommand(a))
	return c
}

func listAliasesCommand(a *cli.App) *cobra.Command {
	var of string
	var asOf uint64
	c := &cobra.Command{
		Use:   "list",
		Short: "List the aliases",
		Long: `Lists the aliases with what they stand for, by name. The result, as JSON:

  {"aliases":[{"alias","canonical"}]}`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return listAliases(a, c.Context(), of, dag.Seq(asOf)) },
	}
	c.Flags().StringVar(&of, "of", "", "only the names of this entity")
	asOfFlag(c, &asOf)
	cli.NoFiles(c, "of")
	return c
}

func listAliases(a *cli.App, ctx context.Context, of string, asOf dag.Seq) error {
	only := ""
	if of != "" {
		var err error
		if only, err = normalize.Name(of); err != nil {
			return cli.Usagef("--of: %w", err)
		}
	}
	return a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(ctx); err != nil {
			return err
		}
		t, err := s.Aliases(ctx, asOf)
		if err != nil {
			return err
		}
		lines := []api.Alias{}
		if only != "" {
			canonical := t.Resolve(only)
			for _, name := range t.Members(only)[1:] {
				lines = append(lines, api.Alias{Alias: name, Canonical: canonical})
			}
		} else {
			for alias, canonical := range t.All() {
				lines = append(lines, api.Alias{Alias: alias, Canonical: canonical})
			}
		}
		return a.IO.Print(map[string]any{"aliases": lines}, func(w io.Writer) {
			if len(lines) > 0 {
				tab := cli.NewTable(w, "alias", "canonical")
				for _, l := range lines {
					tab.AppendRow(table.Row{clipped(l.Alias), clipped(l.Canonical)})
				}
				tab.Render()
			}
			fmt.Fprintln(w, cli.Count(len(lines), "alias"))
		})
	})
}

func addAliasCommand(a *cli.App) *cobra.Command {
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
		RunE:    func(c *cobra.Command, args []string) error { return addAlias(a, c.Context(), args[0], args[1]) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

func addAlias(a *cli.App, ctx context.Context, alias, canonical string) error {
	change := normalize.Change{Alias: alias, Canonical: canonical}
	if _, _, err := (*normalize.Table)(nil).With(change); err != nil { // what no table takes
		return cli.Usage(err)
	}
	return a.Stores.WithNewKernel(ctx, token.Keyring{}, func(s *cli.Session) error { return changeAlias(a, ctx, s, knowledge.Alias, change) })
}

// changeAlias records one change of the table.
func changeAlias(a *cli.App, ctx context.Context, s *cli.Session, kind knowledge.Kind, change normalize.Change) error {
	act, err := actOfAlias(kind, change)
	if err != nil {
		return cli.Usage(err)
	}
	outcomes, err := s.Facts.Learn(ctx, []knowledge.Act{act})
	if err != nil {
		return err
	}
	o := outcomes[0]
	result := map[string]any{"result": string(o.Result), "alias": act.Alias, "canonical": act.Canonical}
	if o.Seq != 0 {
		result["seq"] = uint64(o.Seq)
	}
	return a.IO.Print(result, func(w io.Writer) {
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

func removeAliasCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "remove ALIAS",
		Short: "Let a name stand for itself again",
		Long: `Removes an alias, from now on. The result, as JSON:

  {"result":"unaliased","seq","alias","canonical"}`,
		Args: cli.OneArg("ALIAS"),
		RunE: func(c *cobra.Command, args []string) error { return removeAlias(a, c.Context(), args[0]) },

		ValidArgsFunction: completeAliases(a),
	}
}

func removeAlias(a *cli.App, ctx context.Context, alias string) error {
	name, err := normalize.Name(alias)
	if err != nil {
		return cli.Usage(err)
	}
	return a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		t, err := s.Aliases(ctx, 0)
		if err != nil {
			return err
		}
		canonical := t.Resolve(name)
		if canonical == name {
			return fmt.Errorf("alias %q of tenant %s: %w; see: graphkernel knowledge aliases list", name, s.Tenant, store.ErrNotFound)
		}
		return changeAlias(a, ctx, s, knowledge.Unalias, normalize.Change{Alias: name, Canonical: canonical, Remove: true})
	})
}

func completeAliases(a *cli.App) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
		const most = 1000
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		_ = a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error { // what cannot be read completes nothing
			t, err := s.Aliases(c.Context(), 0)
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
}
