package signing

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/token"
)

// roleHelp describes what each role may do.
const roleHelp = `  verifier   verifies tokens and bundles, and checks that the log only grows
  agent      admits turns, asks for slices, sees the policies, verifies, fetches
  auditor    sees turns, slices and policies, verifies, replays and explains; changes nothing
  admin      everything, including registering policies and erasing`

func apikeyCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "apikey",
		Short: "Make, list and revoke the API keys of a service's callers",
		Long: `An API key belongs to one tenant, which --tenant names, and has one role:

` + roleHelp + `

The store holds a hash of each key and never the key itself. API keys do not
sign; for the keys that sign, see graphkernel keys.`,
		Args: cli.KnownCommand,
		RunE: cli.ShowHelp,
	}
	var made api.NewAPIKey
	create := &cobra.Command{
		Use:   "create --role ROLE [--admit-roles LIST] [--admit-authors LIST] [--speaks-for LIST] [--spaces LIST] [--note TEXT]",
		Short: "Make an API key and print it; it is not shown again",
		Long: `Makes a key for the tenant that --tenant names and prints it alone on standard output. It is not shown again:
if you lose it, make another and revoke this one. The roles:

` + roleHelp + `

A key of the role agent admits turns of the roles user, assistant and tool, of any author; a key of the role
admin admits turns of every role. --admit-roles and --admit-authors change this: both are lists separated by
commas, and in an author's pattern * stands for any text.

--speaks-for lists patterns of the authors for whom a key speaks, which a key of the role admin does anyway: turns that it brings in
their names are their words. A turn that it brings in the name of any other person is admitted and marked: it
counts as data, and nobody takes it for that person's word. A key that captures people's own sessions for them
needs --speaks-for human:user.

PATTERN=owner and PATTERN=member say in addition what the author counts for, see graphkernel standing; without
it a person whose turns a key brings is a guest, for a key of the role admin, too.
Keep a key with =owner where the agent cannot read it: it is for the hook or the program that brings what the person
typed.

--spaces limits a key of the role agent to some spaces of beliefs, by patterns of their paths: it does not see
beliefs of other spaces, neither as beliefs nor as facts, nor in a context. It sees the turns of the whole
tenant. docs/security.md describes what else it sees.

The store is made if there is none. The result, as JSON:

  {"key","id","tenant","role","admits_roles","admits_authors","speaks_for","spaces"}`,
		Example: `  graphkernel apikey create --tenant acme --role agent --note 'the build farm'
  graphkernel apikey create --role agent --admit-roles assistant,tool --admit-authors 'agent:*,tool:*'
  graphkernel apikey create --role agent --speaks-for human:user=owner --note 'captures sessions'
  graphkernel apikey create --role agent --spaces 'acme/support,acme/ops/*'
  graphkernel apikey create --role auditor > auditor.key`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return createAPIKey(a, c, made) },
	}
	create.Flags().StringVar(&made.Role, "role", "", "what its holder may do: "+roleNames()+" (required)")
	create.Flags().StringVar(&made.Note, "note", "", fmt.Sprintf("what the key is for, at most %d bytes", access.MaxNote))
	create.Flags().StringVar(&made.Roles, "admit-roles", "", "the roles of the turns that it may admit: user, assistant, tool, system (default: those of its role)")
	create.Flags().StringVar(&made.Authors, "admit-authors", "", "patterns of the authors whose turns it may admit (default: any)")
	create.Flags().StringVar(&made.SpeaksFor, "speaks-for", "", "patterns of the authors for whom it speaks (default: nobody)")
	create.Flags().StringVar(&made.Spaces, "spaces", "", "patterns of the spaces of beliefs that it sees (default: all)")
	_ = create.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(strings.Split(roleNames(), ", "), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	cli.NoFiles(create, "note", "admit-roles", "admit-authors", "speaks-for", "spaces")
	list := &cobra.Command{
		Use:   "list",
		Short: "List the tenant's API keys, including revoked ones, the oldest first",
		Args:  cli.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return listAPIKeys(a, c) },
	}
	revoke := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke an API key for good",
		Long: `Revokes the key with this id for good; graphkernel apikey list shows the ids. A server that runs on the same
store accepts the key for at most one more second. Revoking again changes nothing.`,
		Example: `  graphkernel apikey revoke 3f0c9a1be4d27f58
  graphkernel apikey revoke 3f0c9a1be4d27f58 --tenant acme`,
		Args:              cli.OneArg("ID"),
		ValidArgsFunction: completeAPIKeys(a),
		RunE:              func(c *cobra.Command, args []string) error { return revokeAPIKey(a, c, args[0]) },
	}
	c.AddCommand(create, list, revoke)
	return c
}

func roleNames() string {
	names := make([]string, len(access.Roles))
	for i, r := range access.Roles {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

func createAPIKey(a *cli.App, c *cobra.Command, in api.NewAPIKey) error {
	if in.Role == "" {
		return cli.Usagef("apikey create needs --role, one of %s", roleNames())
	}
	r, err := access.ParseRole(in.Role)
	if err != nil {
		return cli.Usagef("--role: %w", err)
	}
	if err := access.CheckNote(in.Note); err != nil {
		return cli.Usagef("--note: %w", err)
	}
	admits, err := access.ParseScope(access.Scope{Roles: in.Roles, Authors: in.Authors, SpeaksFor: in.SpeaksFor, Spaces: in.Spaces})
	if err == nil {
		err = admits.CheckFor(r)
	}
	if err != nil {
		return cli.Usagef("--admit-roles, --admit-authors, --speaks-for, --spaces: %w", err)
	}
	return a.Stores.WithNewKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		made, err := cli.Do(c.Context(), s, api.CreateKey, in)
		if err != nil {
			return err
		}
		if a.IO.Output == "json" {
			return a.IO.PrintJSON(made)
		}
		a.IO.Note("API key %s of tenant %s, role %s. It is shown this once.", made.ID, made.Tenant, made.Role)
		if r == access.Agent && in.SpeaksFor == "" && in.Roles == "" && in.Authors == "" {
			a.IO.Note("It speaks for nobody: a turn that it admits in a person's name is untrusted data. To make a key that admits a person's own words: graphkernel apikey create --role agent --speaks-for human:user")
		}
		fmt.Fprintln(a.IO.Stdout, made.Key)
		return nil
	})
}

func listAPIKeys(a *cli.App, c *cobra.Command) error {
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		keys, err := cli.Do(c.Context(), s, api.ListKeys, api.None{})
		if err != nil {
			return err
		}
		if len(keys.Keys) == 0 {
			a.IO.Note("tenant %s has no API key; graphkernel apikey create --tenant %[1]s --role ROLE makes one", s.Tenant)
		}
		return a.IO.Print(keys, func(w io.Writer) {
			t := cli.NewTable(w, "id", "role", "admits roles", "authors", "speaks for", "spaces", "created", "revoked", "note")
			for _, l := range keys.Keys {
				t.AppendRow(table.Row{l.ID, l.Role, l.Roles, render.OneLine(l.Authors, 60), render.OneLine(l.SpeaksFor, 60), render.OneLine(l.Spaces, 60), l.CreatedAt.String(), cli.TimeOrNone(l.RevokedAt), render.OneLine(l.Note, 80)})
			}
			t.Render()
		})
	})
}

func revokeAPIKey(a *cli.App, c *cobra.Command, id string) error {
	if err := access.CheckID(id); err != nil {
		return cli.Usagef("%w; see: graphkernel apikey list", err)
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		key, err := cli.Do(c.Context(), s, api.RevokeKey, api.APIKeyByID{ID: id})
		if cli.Is(err, api.CodeNotFound) {
			return fmt.Errorf("%w; see: graphkernel apikey list --tenant %s", err, s.Tenant)
		} else if err != nil {
			return err
		}
		return a.IO.Print(key, func(w io.Writer) {
			if key.Already {
				fmt.Fprintf(w, "API key %s of tenant %s was revoked already, at %s\n", key.ID, key.Tenant, key.RevokedAt)
				return
			}
			fmt.Fprintf(w, "API key %s of tenant %s is revoked\n", key.ID, key.Tenant)
		})
	})
}

// completeAPIKeys completes the ids of valid keys, each with its note.
func completeAPIKeys(a *cli.App) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		_ = a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error { // on an error there are no completions
			keys, err := cli.Do(c.Context(), s, api.ListKeys, api.None{})
			for _, k := range keys.Keys {
				if k.RevokedAt == 0 {
					ids = append(ids, cobra.CompletionWithDesc(k.ID, render.OneLine(k.Role+" "+k.Note, 60)))
				}
			}
			return err
		})
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
