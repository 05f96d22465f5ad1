package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// atHome maps the commands that never ask a service to the reason. Their subcommands are included.
var atHome = map[string]string{
	"graphkernel serve":       "it is the service",
	"graphkernel mcp":         "it is a service of its own; agents find one that runs at URL/mcp",
	"graphkernel config":      "it reads the settings of a service that runs here",
	"graphkernel init":        "it makes a store on this machine",
	"graphkernel fsck":        "it reads every byte of a store, past the service",
	"graphkernel copy":        "it reads and writes stores themselves",
	"graphkernel backup":      "it reads a store itself, to which a service shows no more than the caller may see",
	"graphkernel restore":     "it writes a store itself",
	"graphkernel migrate":     "it changes the tables of a database",
	"graphkernel keys":        "it works on the file of the keys that sign, which stays on the machine of the service",
	"graphkernel identity":    "it works on the file of the identity, which stays on the machine of the service",
	"graphkernel verify":      "it judges evidence with keys or a trust file of your own, and asks nobody",
	"graphkernel disclose":    "it works on a file and asks nobody",
	"graphkernel log verify":  "it judges files and asks nobody",
	"graphkernel fetch":       "it takes the service's URL as its argument",
	"graphkernel conformance": "it tries a program on files",
	"graphkernel demo":        "it shows everything in a temporary folder",
	"graphkernel man":         "it writes pages of this program",
	"graphkernel version":     "it tells the version of this program",
	"graphkernel completion":  "it writes a script for a shell",
	"graphkernel help":        "it shows a text of this program",
	"graphkernel":             "it is no command by itself",
}

// AtHome returns the reason why a command never asks a service, or "".
func AtHome(path string) string {
	for at := path; ; {
		if why, ok := atHome[at]; ok && (at != "graphkernel" || at == path) {
			return why
		}
		above := strings.LastIndexByte(at, ' ')
		if above < 0 {
			return ""
		}
		at = at[:above]
	}
}

// checkServer refuses --server for a command that never asks a service.
func (s *Settings) checkServer(c *cobra.Command) error {
	if s.ServerFlag == "" || strings.HasPrefix(c.Name(), "__complete") || !c.HasParent() {
		return nil
	}
	if why := AtHome(c.CommandPath()); why != "" {
		return Usagef("%s takes no --server: %s", c.CommandPath(), why)
	}
	return nil
}
