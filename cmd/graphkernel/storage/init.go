package storage

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

func initCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Make an empty store",
		Long: `Makes the store that --store names if there is none, and says so. An existing store stays as it is. Other
commands that make a store are import, serve, mcp, restore, copy, policy add, apikey create and the knowledge
commands that write; each says that it made it. None makes a folder, except for the default store.`,
		Example: `  graphkernel init
  graphkernel --store sqlite:/var/lib/graphkernel/graphkernel.db init`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			s, err := a.Stores.OpenStore(c.Context(), cli.ToMake)
			if err != nil {
				return err
			}
			defer cli.CloseStore(s, &err)
			name := cli.WithoutPassword(a.Settings.StoreName())
			return a.IO.Print(map[string]string{"store": name}, func(w io.Writer) { fmt.Fprintln(w, name) })
		},
	}
}
