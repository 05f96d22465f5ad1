package turns

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

func noteCommand(a *cli.App) *cobra.Command {
	var text string
	c := &cobra.Command{
		Use:   "note TURN [--add TEXT]",
		Short: "List the notes of a turn, or add one",
		Long:  "Lists what was noted of a turn, the oldest first, or adds a note. Notes are no part of slices,\nand are erased with the turn's text.\n\n" + cli.AnchorHelp,
		Args:  cli.OneArg("TURN"),
		RunE:  func(c *cobra.Command, args []string) error { return note(a, c, args[0], text) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&text, "add", "", "the text of a new note, of at most 4096 bytes")
	cli.NoFiles(c, "add")
	return c
}

func note(a *cli.App, c *cobra.Command, turn, text string) error {
	ctx := c.Context()
	if c.Flags().Changed("add") {
		return a.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
			id, err := cli.Resolve(c, s, turn)
			if err != nil {
				return err
			}
			n, err := cli.Do(ctx, s, view.AddNote, api.NewNote{Turn: id.String(), Text: text})
			if err != nil {
				return err
			}
			return a.Print(n, func(w io.Writer) { fmt.Fprintf(w, "note %d of turn %s\n", n.Seq, n.Turn) })
		})
	}
	return a.WithReadKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		id, err := cli.Resolve(c, s, turn)
		if err != nil {
			return err
		}
		all := api.Notes{Notes: []api.Note{}}
		for in := (api.NotesOf{Turn: id.String()}); ; {
			page, err := cli.Do(ctx, s, view.ListNotes, in)
			if err != nil {
				return err
			}
			all.Notes = append(all.Notes, page.Notes...)
			if in.After = page.Next; in.After == "" {
				break
			}
		}
		return a.Print(all, func(w io.Writer) {
			for i := range all.Notes {
				n := &all.Notes[i]
				fmt.Fprintf(w, "%6d  %s  %s\n", n.Seq, n.At, render.OneLine(n.Text, 300))
			}
		})
	})
}
