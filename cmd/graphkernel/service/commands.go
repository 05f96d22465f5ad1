// Package service owns the commands that serve the kernel, over HTTP and to a model over MCP, with their settings.
package service

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{serveCommand(a), mcpCommand(a), configCommand(a)}
}
