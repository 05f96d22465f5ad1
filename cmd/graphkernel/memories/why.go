package memories

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/render"
)

// isID matches what is an id rather than words: the beginning of a random one, the number of a proposal, or an address.
var isID = regexp.MustCompile(`^(w[0-9]+|[0-9a-f]{4,20}|kref://\S+)$`)

const idOrWords = `An id is shown by graphkernel memories; its first characters are enough. Words take the memory that matches them best.`

func whyCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.ExplainMemory, cli.Command[api.MemoryName, api.MemoryReasons]{
		Use: "why WORDS…", Short: "Show why something is remembered, or what became of it",
		Long: `Shows who said it and when, the turns that it rests on, what it replaced, and how it ended if it holds no
longer. ` + idOrWords,
		Example: "  graphkernel why deploys\n  graphkernel why 4f1c0a2b",
		Args:    []string{"words"},
		Means:   map[string]func(string) (string, error){"project": spaceOf},
		Ask:     asking(api.ExplainMemory),
		Print:   func(w io.Writer, _ *api.MemoryName, out *api.MemoryReasons) { printWhy(w, out) },
	})
}

func printWhy(w io.Writer, out *api.MemoryReasons) {
	m := &out.Memory
	fmt.Fprintf(w, "%s\n    %s, %s\n", indented(m.Text, "  | "), short(m.ID), signed(m))
	printEnds(w, m)
	switch {
	case out.Ended != nil:
		printEnd(w, out.Ended)
	case m.Proposed:
		fmt.Fprintf(w, "it is the word of an agent; make it yours with: graphkernel accept %s\n", short(m.ID))
	}
	if out.Reason != "" {
		fmt.Fprintf(w, "because: %s\n", indented(out.Reason, "  "))
	}
	for i := range out.Turns {
		t := &out.Turns[i]
		said := "it rests on"
		if t.Whole {
			said = "said in"
		}
		fmt.Fprintf(w, "%s turn %s, %s, %s\n", said, t.Turn.String()[:shown], render.OneLine(t.Author, 60), day(t.At))
		if t.Text != "" {
			fmt.Fprintf(w, "  %s\n", indented(t.Text, "  "))
		}
	}
	if len(out.Replaced) > 0 {
		fmt.Fprintln(w, "before, it said")
	}
	for i := range out.Replaced {
		printState(w, &out.Replaced[i])
	}
	if len(out.Against) > 0 {
		fmt.Fprintln(w, "against it wait")
		printLines(w, out.Against)
	}
}

func day(at dag.Time) string { return at.String()[:len("2006-01-02")] }

func printEnd(w io.Writer, e *api.MemoryEnd) {
	text := "it holds no longer: " + e.How
	if e.At != 0 {
		text += " on " + day(e.At)
	}
	if e.By != "" {
		text += " by " + render.OneLine(e.By, 60)
	}
	fmt.Fprintln(w, text)
	if e.Instead != "" {
		fmt.Fprintf(w, "instead: %s\n", indented(e.Instead, "  "))
	}
	if e.Reason != "" {
		fmt.Fprintf(w, "because: %s\n", indented(e.Reason, "  "))
	}
}

func printState(w io.Writer, s *api.MemoryState) {
	text := "(erased with the turns that it rested on)"
	if !s.Erased {
		text = indented(s.Text, "  ")
	}
	fmt.Fprintf(w, "  %s\n    %s", text, day(s.At))
	if s.By != "" {
		fmt.Fprintf(w, ", by %s", render.OneLine(s.By, 60))
	}
	if s.Proposed {
		fmt.Fprint(w, ", proposed")
	}
	if s.Reason != "" {
		fmt.Fprintf(w, ": %s", indented(s.Reason, "    "))
	}
	fmt.Fprintln(w)
}

func historyCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.MemoryHistory, cli.Command[api.MemoryName, api.MemoryStates]{
		Use: "history WORDS…", Short: "Show what a memory said, from the first text to the last",
		Long:    "Shows each text of a memory with who said it and when. " + idOrWords,
		Example: "  graphkernel history deploys",
		Args:    []string{"words"},
		Means:   map[string]func(string) (string, error){"project": spaceOf},
		Ask:     asking(api.MemoryHistory),
		Print: func(w io.Writer, _ *api.MemoryName, out *api.MemoryStates) {
			fmt.Fprintf(w, "%s, %s\n", short(out.ID), kindOf(out.Kind))
			for i := range out.States {
				printState(w, &out.States[i])
			}
			if out.Ended != nil {
				printEnd(w, out.Ended)
			}
		},
	})
}

func forgetCommand(a *cli.App) *cobra.Command {
	var f forgetting
	c := &cobra.Command{
		Use: "forget WORDS…", Short: "Forget something that is remembered",
		Long: `Ends a memory: no context and no list has it from then on. The command shows it, says what stays, and asks; with
--yes it does not ask. The history keeps what it said, and so do bundles that were handed out before. ` + idOrWords + `
Words that several memories match are refused, with their ids.

The result, as JSON:

  {"forgotten":{"id","text","kind","by","since","project","proposed"},"result","seq"}`,
		Example: "  graphkernel forget prefers tabs\n  graphkernel forget 4f1c0a2b --yes",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes an id or WORDS, got none", c.CommandPath())
			}
			return nil
		},
		RunE:              func(c *cobra.Command, args []string) error { return f.run(a, c, strings.Join(args, " ")) },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	c.Flags().StringVar(&f.reason, "reason", "", "the reason, for the record")
	c.Flags().StringVar(&f.project, "project", "", "only this project: its folder, or general (default: this project and general)")
	cli.NoFiles(c, "reason")
	return c
}

func linksCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.MemoryLinks, cli.Command[api.LinksQuery, api.LinkedMemories]{
		Use: "links WORDS…", Short: "Show what a memory is linked with, or how two are connected",
		Long: `Shows the links from and to a memory, with what they lead to. --depth follows them further, and --until shows the
shortest way to another memory. A link is from a revision: one that the memory got when it said something else
stays. graphkernel belief link makes links. ` + idOrWords,
		Example: `  graphkernel links deploys
  graphkernel links 4f1c0a2b --depth 3 --type depends_on --direction to
  graphkernel links 4f1c0a2b --until 9b27d1c0`,
		Args:  []string{"words"},
		Means: map[string]func(string) (string, error){"project": spaceOf},
		Ask: func(ctx context.Context, s *cli.Session, in api.LinksQuery) (api.LinkedMemories, error) {
			return naming(in.MemoryName, func(name api.MemoryName) (api.LinkedMemories, error) {
				in.MemoryName = name
				return cli.Do(ctx, s, api.MemoryLinks, in)
			})
		},
		Print: func(w io.Writer, _ *api.LinksQuery, out *api.LinkedMemories) { printLinks(w, out) },
	})
}

func printLinks(w io.Writer, out *api.LinkedMemories) {
	fmt.Fprintf(w, "%s\n    %s, %s\n", indented(out.Of.Text, "  | "), short(out.Of.ID), signed(&out.Of))
	if len(out.Links) == 0 {
		fmt.Fprintln(w, "no links; graphkernel belief link makes one")
	}
	for i := range out.Links {
		l := &out.Links[i]
		margin := strings.Repeat("  ", l.Depth)
		arrow := "→ " + l.Type + " →"
		if l.Back {
			arrow = "← " + l.Type + " ←"
		}
		m := l.Memory
		if m == nil {
			fmt.Fprintf(w, "%s%s %s\n", margin, arrow, render.OneLine(l.To, 100))
			continue
		}
		fmt.Fprintf(w, "%s%s %s\n%s    %s, %s%s\n", margin, arrow, indented(m.Text, margin+"  | "), margin, short(m.ID), signed(m), would(!l.Ended, ", holds no longer", ""))
	}
	if out.Cut {
		fmt.Fprintf(w, "there are more than %d links\n", len(out.Links))
	}
}
