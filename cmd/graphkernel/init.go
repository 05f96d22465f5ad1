package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Make an empty store",
		Long: `Makes the store that --store names, where there is none, and says so. One that is there
stays as it is. Other commands that make a store are import, serve, mcp, restore, copy,
policy add, apikey create and the knowledge commands that write; each says that it made
it. None makes a folder, except for the store that is used without --store.`,
		Example: `  graphkernel init
  graphkernel --store sqlite:/var/lib/graphkernel/graphkernel.db init`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			s, err := a.openStore(c.Context(), toMake)
			if err != nil {
				return err
			}
			defer closeStore(s, &err)
			name := withoutPassword(a.storeName())
			return a.print(map[string]string{"store": name}, func(w io.Writer) { fmt.Fprintln(w, name) })
		},
	}
}
