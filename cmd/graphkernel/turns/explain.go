package turns

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

func explainCommand(a *cli.App) *cobra.Command {
	var flags cutFlags
	c := &cobra.Command{
		Use:   "explain ANCHOR TURN",
		Short: "Say why a turn is in an anchor's slice, or why it is not",
		Long:  "Cuts the slice again, signs nothing, and says what became of the turn: its score, its\ndistance, by which way it was reached, and what beat it.\n\n" + cli.AnchorHelp,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("%s takes an ANCHOR and a TURN, got %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return explain(a, c, args[0], args[1], flags) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, c)
	return c
}

func explain(a *cli.App, c *cobra.Command, anchor, turn string, flags cutFlags) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		request, err := flags.cutting(a, c, s, anchor)
		if err != nil {
			return err
		}
		id, err := cli.Resolve(c, s, turn)
		if err != nil {
			return err
		}
		e, err := cli.Do(c.Context(), s, view.ExplainCut, api.ExplainCutting{Cutting: request, Turn: id.String()})
		if err != nil {
			return err
		}
		return a.IO.Print(e, func(w io.Writer) { fmt.Fprintf(w, "turn %s: %s\n", id, e.Explanation) })
	})
}
