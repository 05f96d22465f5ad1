// Package facts owns the commands of knowledge: learning facts, searching, listing and retracting them.
package facts

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{knowledgeCommand(a)}
}
