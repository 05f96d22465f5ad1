package turns

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/token"
)

func eraseCommand(a *cli.App) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:   "erase TURN --reason TEXT",
		Short: "Delete a turn's text for good; slices that hold it still verify and replay",
		Long: `Deletes the text, the author, the attributes and the salt of a turn, beyond recovery
from the store, and records when and why. Its place in the graph stays: slices cut
before still verify, and a replay says that the text was erased. Facts that were learned
from the turn are erased with it. This cannot be undone. Bundles that were handed out before still hold the text. (PostgreSQL forgets
the bytes themselves only with time: docs/scaling.md.) Other turns stay as they are: if a
model was asked for facts about the turn, the prompt and the response that keep its text are
named, to be erased as well.

` + cli.AnchorHelp,
		Args: cli.OneArg("TURN"),
		RunE: func(c *cobra.Command, args []string) error { return erase(a, c, args[0], why) },

		ValidArgsFunction: a.Stores.CompleteTurns(false),
	}
	c.Flags().StringVar(&why, "reason", "", "why, for the record (required)")
	cli.NoFiles(c, "reason")
	return c
}

func erase(a *cli.App, c *cobra.Command, turn, why string) error {
	if why == "" {
		return cli.Usagef("erase needs --reason TEXT, which goes on record; what is erased does not come back")
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		id, err := cli.Resolve(c, s, turn)
		if err != nil {
			return err
		}
		before, err := s.Head(c.Context())
		if err != nil {
			return err
		}
		e, err := s.EraseTurn(c.Context(), id, why)
		if cli.Is(err, api.CodeInvalid) {
			return cli.Usagef("--reason: %w", err)
		} else if err != nil {
			return err
		}
		shown, err := s.ShownIn(c.Context(), id)
		if err != nil {
			return fmt.Errorf("the turn is erased; what models were shown of it cannot be looked for: %w", err)
		}
		already := dag.Seq(e.Seq) <= before
		result := map[string]any{"turn": id.String(), "seq": e.Seq, "reason": e.Reason, "at": e.At, "already": already, "shown_in": cli.Texts(shown)}
		return a.IO.Print(result, func(w io.Writer) {
			switch {
			case e.Seq == 0:
				fmt.Fprintf(w, "turn %s came without text; there is nothing to erase\n", id)
			case already:
				fmt.Fprintf(w, "turn %s was erased already: event %d, %s, %s\n", id, e.Seq, e.At, render.OneLine(e.Reason, 200))
			default:
				fmt.Fprintf(w, "turn %s is erased: event %d\n", id, e.Seq)
			}
			for _, other := range shown {
				fmt.Fprintf(w, "  turn %s keeps what a model was shown of it, or what the model made of that; erase it too\n", other)
			}
		})
	})
}
