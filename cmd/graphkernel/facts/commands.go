// Package facts owns the commands of knowledge: learning facts, asking about them, and
// listing and ending what was learned.
package facts

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// factsCommands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{knowledgeCommand(a)}
}
