// Package turns owns the commands of conversations: admitting, exporting and listing turns, cutting slices of them and explaining why a turn is in a slice,
// the policies that decide this, and erasing text.
package turns

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{importCommand(a), exportCommand(a), showCommand(a), searchCommand(a), contextCommand(a), sliceCommand(a), slicesOf.command(a), contextsOf.command(a), explainCommand(a), eraseCommand(a), policyCommand(a), workingCommand(a), standingCommand(a)}
}
