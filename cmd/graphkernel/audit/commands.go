// Package audit owns the commands of receivers and auditors: verifying and replaying
// evidence, attesting, converting and disclosing it, and reading and watching a ledger.
package audit

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{verifyCommand(a), replayCommand(a), attestCommand(a), convertCommand(a), discloseCommand(a), logCommand(a), fetchCommand(a), conformanceCommand(a), atlasCommand(a)}
}
