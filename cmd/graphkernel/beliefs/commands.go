// Package beliefs owns the command belief: what is held to be true in a space, why, since when, and what gave way.
package beliefs

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command { return []*cobra.Command{beliefCommand(a)} }

const (
	spaceHelp = `A space is PROJECT/NAME, of lower-case letters, digits, and the characters . _ - in between.`

	namesHelp = `A name is written as for graphkernel knowledge add: "Ada Lovelace" and ada-lovelace are one
entity. Three names are a statement: SUBJECT PREDICATE OBJECT.`

	refHelp = `An item is named by its address, kref://PROJECT/SPACE/NAME.KIND, as graphkernel belief base and
graphkernel belief items list it.`

	addressHelp = refHelp + ` After it, ?r=3 names a revision and ?t=published what
a tag points to; &seq=812 or &at=2026-03-01T00:00:00.000000Z how it was then; &a=NAME an artifact of it. Quote an address with
? or & in a shell. Without ?r and ?t, the tag current is meant, which is what is believed.`
)

func beliefCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "belief",
		Short: "Say what is believed and why, and change it without contradictions",
		Long: `Beliefs are statements that are held to be true in a space, with the reason for each. Nothing in a
space contradicts what is believed beside it: a revision makes what contradicts it give way, and the
answer names what gave way, and to what. Nothing is overwritten; --as-of asks what was believed then.

Without a command, lists the spaces, with how many statements are believed in each and how many
proposals were not taken and wait for somebody to decide. Every space is read for it. The result,
as JSON:

  {"spaces":[{"space","policy","believed","conflicts"}]}

` + namesHelp,
		Example: `  graphkernel belief space acme/support
  graphkernel belief revise acme/support customer-7 prefers e-mail --reason "said so on the phone"
  graphkernel belief base acme/support
  graphkernel belief why acme/support customer-7 prefers e-mail`,
		Args: cli.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return listSpaces(a, c) },
	}
	c.AddCommand(spaceCommand(a), itemsCommand(a), conflictsCommand(a))
	c.AddCommand(operatorCommands(a)...)
	c.AddCommand(baseCommand(a), whyCommand(a), proveCommand(a), diffCommand(a))
	c.AddCommand(showCommand(a), impactCommand(a), tagCommand(a), deprecateCommand(a), restoreCommand(a), linkCommand(a))
	c.AddCommand(promoteCommand(a), cascadeCommand(a), resolveCommand(a), rulesCommand(a), usedCommand(a))
	c.AddCommand(decayCommand(a), abstractCommand(a), archiveCommand(a), unarchiveCommand(a), personaCommand(a))
	return c
}

// ask asks for an operation that only reads, and prints its answer. hint says what to do if something is not there.
func ask[In, Out any](a *cli.App, c *cobra.Command, op view.Operation[In, Out], in In, hint string, text func(io.Writer, *Out)) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		out, err := cli.Do(c.Context(), s, op, in)
		if err != nil {
			return hinted(err, hint)
		}
		return a.IO.Print(out, func(w io.Writer) { text(w, &out) })
	})
}

// refusedExit is the exit code of what was refused for a conflict.
var refusedExit = api.Kinds[api.CodeBelief].Exit
