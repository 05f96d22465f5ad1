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
		Short: "Manage the names that stand for one entity, and look for more of them",
		Long: `An alias lets a name stand for another from now on. Facts keep the names that they were asserted with. Aliases
are applied when facts are read, and a question as of an earlier number uses the aliases of that number. So a
wrong alias can be removed without a trace in the facts.

An alias stands for one canonical name, and a canonical name is not itself an alias.`,
		Args: cli.KnownCommand,
		RunE: cli.ShowHelp,
	}
	c.AddCommand(listAliasesCommand(a), addAliasCommand(a), removeAliasCommand(a), importAliasesCommand(a), suggestAliasesCommand(a))
	return c
}

// An aliasesAsked asks for the alias table, or for the names of an entity.
type aliasesAsked struct {
	Of string `json:"of,omitempty" is:"Name" doc:"Only the names of this entity."`
	api.View
}

// aliasesTold is the answer to an aliasesAsked.
type aliasesTold struct {
	Aliases []api.Alias `json:"aliases"`
}

func listAliasesCommand(a *cli.App) *cobra.Command {
	return cli.Asking(a, cli.Command[aliasesAsked, aliasesTold]{
		Use: "list", Short: "List the aliases", Long: "Lists the aliases with the names that they stand for, by name.",
		Opens: cli.ToWrite, Holds: true,
		Ask: func(ctx context.Context, s *cli.Session, in aliasesAsked) (out aliasesTold, err error) {
			t, err := s.Aliases(ctx, in.AsOf)
			if err != nil {
				return out, err
			}
			out.Aliases = []api.Alias{}
			only, _ := normalize.Name(in.Of) // the name was checked before
			for alias, canonical := range t.All() {
				if in.Of == "" || canonical == t.Resolve(only) {
					out.Aliases = append(out.Aliases, api.Alias{Alias: alias, Canonical: canonical})
				}
			}
			return out, nil
		},
		Print: func(w io.Writer, _ *aliasesAsked, out *aliasesTold) {
			if len(out.Aliases) > 0 {
				tab := cli.NewTable(w, "alias", "canonical")
				for _, l := range out.Aliases {
					tab.AppendRow(table.Row{clipped(l.Alias), clipped(l.Canonical)})
				}
				tab.Render()
			}
			fmt.Fprintln(w, cli.Count(len(out.Aliases), "alias"))
		},
	})
}

// An aliasTold is the outcome of changing an alias.
type aliasTold struct {
	Alias     string           `json:"alias"`
	Canonical string           `json:"canonical"`
	Result    knowledge.Result `json:"result"`
	Seq       dag.Seq          `json:"seq,omitempty"`
}

func printAlias[In any](w io.Writer, _ *In, out *aliasTold) {
	fmt.Fprintf(w, "%s: %s for %s", out.Result, shown(out.Alias, ""), shown(out.Canonical, ""))
	if out.Seq == 0 {
		fmt.Fprintln(w, "; nothing changed")
		return
	}
	fmt.Fprintf(w, ", number %d\n", out.Seq)
}

func addAliasCommand(a *cli.App) *cobra.Command {
	change := func(in *api.Alias) normalize.Change {
		return normalize.Change{Alias: in.Alias, Canonical: in.Canonical}
	}
	return cli.Asking(a, cli.Command[api.Alias, aliasTold]{
		Use:   "add ALIAS CANONICAL",
		Short: "Let a name stand for another from now on",
		Long: `Records an alias. It is refused if the name already stands for another, if the canonical name is itself an
alias, or if the alias is a canonical name.

"result" is aliased, or existing if nothing changed.`,
		Example: `  graphkernel knowledge aliases add "Countess of Lovelace" "Ada Lovelace"`,
		Args:    []string{"alias", "canonical"}, Opens: cli.ToMake,
		Check: func(in *api.Alias) error {
			_, _, err := (*normalize.Table)(nil).With(change(in)) // refuses aliases that no table accepts
			return err
		},
		Ask: func(ctx context.Context, s *cli.Session, in api.Alias) (aliasTold, error) {
			return changeAlias(ctx, s, knowledge.Alias, change(&in))
		},
		Print: printAlias[api.Alias],
	})
}

// changeAlias records one change of the alias table.
func changeAlias(ctx context.Context, s *cli.Session, kind knowledge.Kind, change normalize.Change) (out aliasTold, err error) {
	act, err := actOfAlias(kind, change)
	if err != nil {
		return out, cli.Usage(err)
	}
	outcomes, err := s.Facts.Learn(ctx, []knowledge.Act{act})
	if err != nil {
		return out, err
	}
	return aliasTold{act.Alias, act.Canonical, outcomes[0].Result, outcomes[0].Seq}, nil
}

func actOfAlias(kind knowledge.Kind, change normalize.Change) (act knowledge.Act, err error) {
	act.Kind, act.Rule = kind, normalize.Newest
	if act.Alias, err = normalize.Name(change.Alias); err == nil {
		act.Canonical, err = normalize.Name(change.Canonical)
	}
	return act, err
}

func removeAliasCommand(a *cli.App) *cobra.Command {
	return cli.Asking(a, cli.Command[api.AliasNamed, aliasTold]{
		Use: "remove ALIAS", Short: "Let a name stand for itself again", Long: "Removes an alias, from now on.",
		Args: []string{"alias"}, Opens: cli.ToWrite, Completes: completeAliases(a),
		Ask: func(ctx context.Context, s *cli.Session, in api.AliasNamed) (out aliasTold, err error) {
			name, _ := normalize.Name(in.Alias) // the name was checked before
			t, err := s.Aliases(ctx, 0)
			if err != nil {
				return out, err
			}
			canonical := t.Resolve(name)
			if canonical == name {
				return out, fmt.Errorf("alias %q of tenant %s: %w; see: graphkernel knowledge aliases list", name, s.Tenant, store.ErrNotFound)
			}
			return changeAlias(ctx, s, knowledge.Unalias, normalize.Change{Alias: name, Canonical: canonical, Remove: true})
		},
		Print: printAlias[api.AliasNamed],
	})
}

func completeAliases(a *cli.App) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
		const most = 1000
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		_ = a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error { // on an error there are no completions
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
