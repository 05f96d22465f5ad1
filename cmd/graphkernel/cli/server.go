package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/token"
)

// atHome are the commands that ask no service, and why. Commands below them are meant too.
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
	"graphkernel keys":        "it changes the file of the keys that sign, which stays on the machine of the service",
	"graphkernel identity":    "it changes the file of the identity, which stays on the machine of the service",
	"graphkernel verify":      "it judges evidence with keys or a trust file of your own, and asks nobody",
	"graphkernel disclose":    "it works on a file and asks nobody",
	"graphkernel log verify":  "it judges files and asks nobody",
	"graphkernel fetch":       "it takes the service's URL as its argument",
	"graphkernel conformance": "it tries a program on files",
	"graphkernel demo":        "it shows everything in a temporary folder",
	"graphkernel version":     "it tells the version of this program",
	"graphkernel completion":  "it writes a script for a shell",
	"graphkernel help":        "it shows a text of this program",
	"graphkernel":             "it is no command by itself",
}

// AtHome says why a command asks no service, or "".
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

// checkServer refuses --server for a command that asks no service.
func (a *App) checkServer(c *cobra.Command) error {
	if a.ServerFlag == "" || strings.HasPrefix(c.Name(), "__complete") || !c.HasParent() {
		return nil
	}
	if why := AtHome(c.CommandPath()); why != "" {
		return Usagef("%s takes no --server: %s", c.CommandPath(), why)
	}
	return nil
}

// server returns the URL of the service that is to be asked, "" for a store of this machine. A store that
// --store names goes before GRAPHKERNEL_SERVER.
func (a *App) server() (string, error) {
	url := a.ServerFlag
	switch {
	case url != "" && a.StoreFlag != "":
		return "", Usagef("--server and --store name two places; give one of them")
	case url == "" && a.StoreFlag != "":
		return "", nil
	case url == "":
		url = a.Getenv("GRAPHKERNEL_SERVER")
	}
	if url != "" && (a.Dev || a.KeysFlag != "" || a.IdentityFlag != "") {
		return "", Usagef("--dev, --keys and --identity are of a kernel that runs here; the service at %s has its own", WithoutPassword(url))
	}
	return url, nil
}

// AsksService reports whether the flags and the environment name a service.
func (a *App) AsksService() bool {
	url, err := a.server()
	return err == nil && url != ""
}

// RingToSign returns the keys that a command signs with: those of a service stay there.
func (a *App) RingToSign() (token.Keyring, error) {
	if a.AsksService() {
		return token.Keyring{}, nil
	}
	return a.Keyring()
}

// NeedsIdentity refuses a kernel that is nobody. Of a service, the service says so.
func (a *App) NeedsIdentity() error {
	if a.AsksService() {
		return nil
	}
	_, err := a.Somebody()
	return err
}

// withService calls fn with a service.
func (a *App) withService(ctx context.Context, url string, fn func(*Session) error) error {
	key := a.Getenv("GRAPHKERNEL_KEY")
	if key == "" {
		return Usagef("a service asks for an API key; give it in GRAPHKERNEL_KEY (graphkernel apikey create makes one)")
	}
	c, err := client.New(url, key, client.Options{})
	if err != nil {
		return Usagef("--server: %w", err)
	}
	var named dag.Tenant
	if a.NamesTenant() {
		if named, err = a.Tenant(); err != nil {
			return err
		}
	}
	s, err := remoteSession(ctx, c, named)
	if err != nil {
		return err
	}
	return fn(s)
}
