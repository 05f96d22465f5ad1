// Package storage owns the commands for the operator of a store: making, checking, copying, backing up and migrating it.
package storage

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{initCommand(a), fsckCommand(a), copyCommand(a), backupCommand(a), restoreCommand(a), migrateCommand(a)}
}
