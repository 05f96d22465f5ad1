package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/token"
)

func logListCommand(a *cli.App) *cobra.Command {
	var limit uint64
	c := &cobra.Command{
		Use:   "list",
		Short: "List the leaves of the ledger, the newest first",
		Long: `Lists what was issued, registered, announced and erased, as it is in the ledger: the index of each leaf and
its canonical JSON, which is cut at the width of a terminal. graphkernel log prove proves a leaf by its index.

  {"size","leaves":[{"index","leaf":{…}}]}`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return listLeaves(a, c, limit) },
	}
	c.Flags().Uint64VarP(&limit, "limit", "n", 20, "the most leaves to list")
	cli.NoFiles(c, "limit")
	return c
}

// A leafJSON is a leaf with its index.
type leafJSON struct {
	Index uint64          `json:"index"`
	Leaf  json.RawMessage `json:"leaf"`
}

func listLeaves(a *cli.App, c *cobra.Command, limit uint64) error {
	if limit == 0 {
		return cli.Usagef("--limit is 0, want 1 or more")
	}
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		size, err := s.Ledger.Size(c.Context())
		if err != nil {
			return err
		}
		from := size - min(limit, size)
		leaves, err := s.Ledger.Leaves(c.Context(), size, from, size)
		if err != nil {
			return err
		}
		list := make([]leafJSON, len(leaves))
		for i := range leaves {
			list[i] = leafJSON{from + uint64(i), leaves[i]}
		}
		slices.Reverse(list)
		return a.IO.Print(map[string]any{"size": size, "leaves": list}, func(w io.Writer) {
			for _, l := range list {
				text := render.Visible(string(l.Leaf))
				if width := cli.Width(w, 0); width > 0 {
					text = render.OneLine(text, max(20, width-10))
				}
				fmt.Fprintf(w, "%8d  %s\n", l.Index, text)
			}
			fmt.Fprintf(w, "%d of %s\n", len(list), cli.Count(size, "leaf"))
		})
	})
}
