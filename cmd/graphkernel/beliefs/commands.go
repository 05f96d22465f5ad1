// Package beliefs owns the command belief: what is believed in a space, why, since when, and what gave way.
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
	spaceHelp = `A space is PROJECT/NAME. Both consist of lower-case letters and digits, with the characters . _ - in between.`

	namesHelp = `A name is written as for graphkernel knowledge add: "Ada Lovelace" and ada-lovelace are one
entity. Three names are a statement: SUBJECT PREDICATE OBJECT.`

	refHelp = `An item is named by its address, kref://PROJECT/SPACE/NAME.KIND, which graphkernel belief base and
graphkernel belief items list.`

	addressHelp = refHelp + ` After it, ?r=3 names a revision, and
?t=published the revision that a tag points to; &seq=812 or &at=2026-03-01T00:00:00.000000Z shows the item
as of then; &a=NAME names an artifact. Quote an address with ? or & in a shell. Without ?r and ?t, the tag
current is used, which points to the revision that is believed.`
)

func beliefCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "belief",
		Short: "Show what is believed and why, and change it without contradictions",
		Long: `Beliefs are statements that are held to be true in a space, with the reason for each. Within a space, no
beliefs contradict each other: a revision makes contradicting beliefs give way, and the answer names them
and what they gave way to. Nothing is overwritten; --as-of shows what was believed at a number.

Without a command, lists the spaces, with the number of statements that are believed in each, and of
proposals that were not taken and wait for a decision. This reads every space. The result, as JSON:

  {"spaces":[{"space","policy","believed","conflicts"}]}

` + namesHelp,
		Example: `  graphkernel belief space acme/support
  graphkernel belief revise acme/support customer-7 prefers e-mail --reason "said so on the phone"
  graphkernel belief base acme/support
  graphkernel belief why acme/support customer-7 prefers e-mail`,
		Args: cli.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return listSpaces(a, c) },
		PersistentPostRun: func(c *cobra.Command, _ []string) { // the next session must be told new rules
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

// refusedExit is the exit code of a request that was refused because of a conflict.
var refusedExit = api.Kinds[api.CodeBelief].Exit
