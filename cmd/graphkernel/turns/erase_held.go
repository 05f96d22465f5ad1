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

// checkHeld refuses arguments that cannot be combined with --list-held and --release.
func (f *eraseFlags) checkHeld(c *cobra.Command, args []string) error {
	for _, flag := range []string{"reason", "context", "conversation", "author", "search", "from", "to", "retention", "dry-run", "yes"} {
		if c.Flags().Changed(flag) {
			return cli.Usagef("--list-held and --release erase nothing, but --%s selects texts to erase; leave one of them out", flag)
		}
	}
	switch {
	case f.held && f.release:
		return cli.Usagef("--list-held and --release exclude each other; give only one")
	case f.held && len(args) > 0:
		return cli.Usagef("--list-held lists all turns that were held back, and takes no TURN")
	case f.release && len(args) == 0:
		return cli.Usagef("--release needs the turns that it frees: --release TURN...; --list-held lists them")
	}
	return nil
}

// listHeld lists the turns whose text was held back.
func listHeld(a *cli.App, c *cobra.Command) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		list := []api.HeldBack{}
		for after := ""; ; {
			page, err := cli.Do(c.Context(), s, api.ListHeldBack, api.HeldBackQuery{Paging: api.Paging{After: after, Limit: 1000}})
			if err != nil {
				return err
			}
			list = append(list, page.HeldBack...)
			if after = page.Next; after == "" {
				break
			}
		}
		return a.IO.Print(map[string]any{"held_back": list}, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "no text was held back")
			}
			for i := range list {
				h := &list[i]
				free := ""
				if h.Released {
					free = "  released"
				}
				fmt.Fprintf(w, "%8d  %s  %.16s  %-5s  erased as %s  %s%s\n", h.Seq, cli.ID.Paint(w, h.Turn.String()), h.At, h.Rule, h.Erased, render.Visible(cli.First(h.Place, h.By)), free)
			}
		})
	})
}

// release frees turns whose text was held back.
func release(a *cli.App, c *cobra.Command, names []string) error {
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		var in api.TurnIDs
		for _, name := range names {
			id, err := cli.Resolve(a, c, s, name)
			if err != nil {
				return err
			}
			in.IDs = append(in.IDs, dag.TurnID(id))
		}
		out, err := cli.Do(c.Context(), s, api.ReleaseTurns, in)
		if err != nil {
			return err
		}
		return a.IO.Print(out, func(w io.Writer) {
			fmt.Fprintf(w, "released %s; import them again, and their text is admitted\n", cli.Count(out.Released, "turn"))
		})
	})
}
