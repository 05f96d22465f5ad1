// Package signing owns the commands of keys: keys that sign, API keys of the service, and the identity that signs for third parties.
package signing

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{keysCommand(a), apikeyCommand(a), identityCommand(a)}
}
