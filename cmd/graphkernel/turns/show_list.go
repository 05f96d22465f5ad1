package turns

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/token"
)

// A listFlags says which conversations are listed.
type listFlags struct {
	limit int
	since string
}

// listedByDefault is the number of conversations that are listed for people by default.
const listedByDefault = 20

func (f *listFlags) register(c *cobra.Command) {
	c.Flags().IntVarP(&f.limit, "limit", "n", 0, fmt.Sprintf("the most conversations to list (default: %d; all with --output json)", listedByDefault))
	c.Flags().StringVar(&f.since, "since", "", "only conversations in which something was said at this date or time, or later; 7d is seven days ago")
	cli.NoFiles(c, "limit", "since")
}

// read returns the time from which on items are listed, and the most items; 0 for all.
func (f *listFlags) read(a *cli.App, c *cobra.Command) (since dag.Time, most int, err error) {
	if since, err = cli.ReadWhen(cmp.Or(f.since, dag.Time(0).String()), a.Clock()); err != nil {
		return since, 0, cli.Usagef("--since: %w", err)
	}
	most = f.limit
	switch {
	case most < 0 || most == 0 && c.Flags().Changed("limit"):
		return since, 0, cli.Usagef("--limit is %d, want 1 or more", f.limit)
	case most == 0 && a.IO.Output != "json":
		most = listedByDefault
	}
	return since, most, nil
}

// listConversations lists conversations, those with the latest turn first.
func listConversations(a *cli.App, c *cobra.Command, f *listFlags) error {
	since, most, err := f.read(a, c)
	if err != nil {
		return err
	}
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		lines, err := s.Conversations(c.Context())
		if err != nil {
			return err
		}
		head, err := s.Head(c.Context())
		if err != nil {
			return err
		}
		all := len(lines)
		lines = slices.DeleteFunc(lines, func(l api.Conversation) bool { return l.LastAt.String() < since.String() }) // times have one spelling, which sorts as they do
		cli.ByLast(lines)
		fit := len(lines)
		if most > 0 {
			lines = lines[:min(most, fit)]
		}
		if a.IO.Output == "json" {
			return a.IO.PrintJSON(map[string]any{"conversations": lines, "head": uint64(head)})
		}
		names := make([]string, len(lines))
		for i := range lines {
			if names[i], err = cli.Called(c.Context(), s, &lines[i]); err != nil {
				return err
			}
		}
		return a.IO.Print(nil, func(w io.Writer) {
			t := cli.NewTable(w, "conversation", "turns", "last", "title or first prompt")
			for i, l := range lines {
				t.AppendRow(table.Row{cli.ID.Paint(w, l.ID.String()), l.Turns, l.LastAt.String()[:16], names[i]})
			}
			t.Render()
			fmt.Fprintf(w, "%s, head %d\n", cli.Count(all, "conversation"), head)
			if fit > len(lines) {
				fmt.Fprintf(w, "%d more; --limit %d lists all of them\n", fit-len(lines), fit)
			}
		})
	})
}
