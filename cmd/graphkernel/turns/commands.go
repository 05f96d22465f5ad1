// Package turns owns the commands of conversations: admitting and exporting turns, listing
// them, cutting slices of them and explaining why a turn is in one, the policies that
// decide it, and erasing text.
package turns

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// turnsCommands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{importCommand(a), exportCommand(a), showCommand(a), searchCommand(a), contextCommand(a), sliceCommand(a), slicesOf.command(a), contextsOf.command(a), explainCommand(a), eraseCommand(a), policyCommand(a), workingCommand(a)}
}
