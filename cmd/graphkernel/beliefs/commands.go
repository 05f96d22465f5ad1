// Package beliefs owns the command belief: what is held to be true in a space, why, since when, and what gave way.
package beliefs

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
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
		PersistentPostRun: func(c *cobra.Command, _ []string) { // a rule is told to the session that begins next
			if c.Name() != "belief" && !cli.OnlyReads(c) {
				capture.KeepAfter(c.Context(), a)
			}
		},
	}
	c.AddCommand(spaceCommand(a), itemsCommand(a), conflictsCommand(a))
	c.AddCommand(operatorCommands(a)...)
	c.AddCommand(baseCommand(a), whyCommand(a), proveCommand(a), diffCommand(a))
	c.AddCommand(showCommand(a), impactCommand(a), tagCommand(a), deprecateCommand(a), restoreCommand(a), linkCommand(a))
	c.AddCommand(promoteCommand(a), cascadeCommand(a), resolveCommand(a), rulesCommand(a), usedCommand(a))
	c.AddCommand(decayCommand(a), abstractCommand(a), archiveCommand(a), unarchiveCommand(a), personaCommand(a))
	return c
}

// refusedExit is the exit code of what was refused for a conflict.
var refusedExit = api.Kinds[api.CodeBelief].Exit
