// Package memories owns the commands remember, forget, memories, why, history, links, accept and refuse: what is remembered, in people's words.
package memories

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	list := []*cobra.Command{rememberCommand(a), memoriesCommand(a), forgetCommand(a), whyCommand(a), historyCommand(a), linksCommand(a), acceptCommand(a), refuseCommand(a)}
	for _, c := range list {
		if !cli.OnlyReads(c) {
			c.PersistentPostRun = func(c *cobra.Command, _ []string) { capture.KeepAfter(c.Context(), a) } // the next session must be told
		}
	}
	return list
}

const projectHelp = `The project is that of the current folder, with all of its worktrees and clones; --project names the folder of
another one, or general for what holds everywhere.`

func rememberCommand(a *cli.App) *cobra.Command {
	var rule, preference, decision, procedure bool
	c := cli.Op(a, api.Remember, cli.Command[api.NewMemory, api.Remembered]{
		Use:   "remember [TEXT]",
		Short: "Remember a text: a rule, a preference, a decision or a fact",
		Long: `Remembers a text, byte for byte, from the argument or from standard input. Agents are told rules at the start
of a session, and find the rest when they ask. What the text contradicts holds no longer and is shown:
"prefers spaces" ends "prefers tabs". If nothing gives way, the memory that is most alike is shown with the
command that replaces it. A text that is remembered already changes nothing.

--rule makes it a rule, which every context has, whole. A session is told rules of up to 4 KiB when it starts, and
how many more there are. A rule has up to 2 KiB, another text up to 8 KiB.

` + projectHelp,
		Example: `  graphkernel remember "Deploys happen on Tuesdays only." --rule
  graphkernel remember "prefers tabs" --preference
  graphkernel remember "Deploys happen on Wednesdays." --instead 4f1c0a2b
  graphkernel remember "The freeze begins on 12 December." --key freeze`,
		Args: []string{"text"}, Stdin: "text", Opens: cli.ToMake,
		Means: map[string]func(string) (string, error){"project": spaceOf},
		Ask: func(ctx context.Context, s *cli.Session, in api.NewMemory) (out api.Remembered, err error) {
			for kind, is := range map[string]bool{ruleKind: rule, "preference": preference, "decision": decision, "procedure": procedure} {
				if is {
					in.Kind = kind
				}
			}
			here := in.Project == "" && in.Instead == ""
			if here {
				if in.Project, err = cli.ProjectHere(ctx); err != nil {
					return out, err
				}
			}
			out, err = cli.Do(ctx, s, api.Remember, in)
			if err == nil && here && !in.DryRun {
				if failed := cli.KeepProjectHere(ctx); failed != nil { // it is remembered all the same
					a.IO.Note("graphkernel: this project will be another one if its folder is moved, or gets an origin: %v", failed)
				}
			}
			if err == nil && in.Kind == ruleKind && !in.DryRun {
				err = warnOfMany(ctx, a, s, in.Project)
			}
			return out, err
		},
		Print: func(w io.Writer, in *api.NewMemory, out *api.Remembered) { printRemembered(w, in, out) },
	})
	flags := c.Flags()
	flags.BoolVar(&rule, "rule", false, "it is a rule, which every context has: the kind hard_rule")
	flags.BoolVar(&preference, "preference", false, "it is a preference")
	flags.BoolVar(&decision, "decision", false, "it is a decision")
	flags.BoolVar(&procedure, "procedure", false, "it says how something is done")
	c.MarkFlagsMutuallyExclusive("rule", "preference", "decision", "procedure", "kind")
	completeKinds(c)
	return c
}

// ruleKind is the kind of rules.
const ruleKind = "hard_rule"

// mostListed is how many rules are counted for warnOfMany.
const mostListed = 200

// warnOfMany warns if a session that starts in a project is not told all of its rules.
func warnOfMany(ctx context.Context, a *cli.App, s *cli.Session, project belief.Space) error {
	list, err := cli.Do(ctx, s, api.ListMemories, api.MemoriesQuery{Kind: ruleKind, Around: project, Paging: api.Paging{Limit: mostListed}})
	if err != nil {
		return err
	}
	size := 0
	for i := range list.Memories {
		size += len(list.Memories[i].Text)
	}
	if most := 4 * contexts.BriefPolicy().Sections.Rules; size > most {
		a.IO.Note("graphkernel: the rules of this project have %d bytes, and a session that starts is told about %d; it learns how many more there are, and has to ask for them", size, most)
	}
	return nil
}

func completeKinds(c *cobra.Command) {
	var names []string
	for _, k := range kinds.Default().Kinds() {
		names = append(names, k.Name)
	}
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

func printRemembered(w io.Writer, in *api.NewMemory, out *api.Remembered) {
	switch {
	case out.Result == "unchanged":
		fmt.Fprintf(w, "unchanged: it is remembered already, as %s\n", short(out.ID))
		return
	case len(out.Against) > 0:
		fmt.Fprintf(w, "proposed as %s: it waits for a person, since it contradicts\n", out.ID)
		printLines(w, out.Against)
		return
	case in.DryRun:
		fmt.Fprintln(w, "would be remembered")
	case out.Result == "proposed":
		fmt.Fprintf(w, "proposed as %s, until a person accepts it\n", short(out.ID))
	default:
		fmt.Fprintf(w, "remembered as %s\n", short(out.ID))
	}
	if len(out.GaveWay) > 0 {
		fmt.Fprintln(w, would(in.DryRun, "this holds no longer:", "this would hold no longer:"))
		printLines(w, out.GaveWay)
	}
	if n := out.Nearest; n != nil {
		fmt.Fprintf(w, "nothing gave way; the most alike is\n")
		printLines(w, []api.Memory{*n})
		fmt.Fprintf(w, "to replace it: graphkernel remember … --instead %s\n", short(n.ID))
	}
}

func would(might bool, does, would string) string {
	if might {
		return would
	}
	return does
}

// shown is how many characters of an id are shown.
const shown = 8

// short returns the beginning of an id that stands for it.
func short(id string) string {
	if len(id) == 20 && strings.Trim(id, "0123456789abcdef") == "" { // drawn at random
		return id[:shown]
	}
	return id
}

func printLines(w io.Writer, list []api.Memory) {
	for i := range list {
		m := &list[i]
		fmt.Fprintf(w, "  %s\n", indented(m.Text, "  | "))
		fmt.Fprintf(w, "    %s, %s\n", short(m.ID), signed(m))
	}
}

// signed says of which kind a memory is, who said it and when.
func signed(m *api.Memory) string {
	text := kindOf(m.Kind)
	if m.Proposed {
		text = "proposed " + text
	}
	if m.By != "" {
		text += ", by " + render.OneLine(m.By, 60)
	}
	return text + ", " + m.Since.String()[:len("2006-01-02")]
}

func kindOf(kind string) string {
	if kind == ruleKind {
		return "rule"
	}
	return strings.ReplaceAll(kind, "_", " ")
}

// indented returns a text whose lines after the first begin with a margin. What a terminal would take for a command is shown as a sign.
func indented(text, margin string) string {
	return strings.ReplaceAll(render.Visible(text), "\n", "\n"+margin)
}

func memoriesCommand(a *cli.App) *cobra.Command {
	c := cli.Op(a, api.ListMemories, cli.Command[api.MemoriesQuery, api.Memories]{
		Use:   "memories [WORDS…]",
		Short: "List or search what is remembered",
		Long: `Lists what is remembered, the newest first; with words, what matches them, the best first, by words and by
meaning. A long word with one letter wrong is still that word. --proposed lists what agents proposed and nobody has
accepted, with what waits because it contradicts the word of a person.`,
		Example: `  graphkernel memories
  graphkernel memories when do we deploy
  graphkernel memories --project . --kind hard_rule
  graphkernel memories --proposed`,
		Args: []string{"words"}, Letters: map[string]string{"limit": "n"},
		Means: map[string]func(string) (string, error){"project": spaceOf},
		Print: func(w io.Writer, in *api.MemoriesQuery, out *api.Memories) { printMemories(w, in, out) },
	})
	completeKinds(c)
	return c
}

func printMemories(w io.Writer, in *api.MemoriesQuery, out *api.Memories) {
	if len(out.Memories) == 0 {
		switch {
		case in.Proposed:
			fmt.Fprintln(w, "no proposal waits")
		case in.Words != "" || in.Kind != "" || in.Project != "" || in.AsOf != 0:
			fmt.Fprintln(w, "nothing that is remembered matches")
		default:
			fmt.Fprintln(w, "nothing is remembered; begin with: graphkernel remember \"…\"")
		}
		return
	}
	here, _ := cli.ProjectHere(context.Background()) // without it, no project is called this one
	byProject := slices.ContainsFunc(out.Memories, func(m api.Memory) bool { return m.Project != out.Memories[0].Project })
	for i := range out.Memories {
		m := &out.Memories[i]
		fmt.Fprintf(w, "%s\n", indented(m.Text, "  | "))
		where := ""
		switch {
		case m.Project == here:
			where = would(byProject, "", ", this project")
		case m.Project != api.General:
			where = ", " + string(m.Project)
		}
		fmt.Fprintf(w, "    %s, %s%s\n", short(m.ID), signed(m), where)
		printEnds(w, m)
	}
	if out.Next != "" {
		fmt.Fprintf(w, "there are more; go on with --after %s\n", out.Next)
	}
}

func acceptCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := cli.Op(a, api.AcceptMemory, cli.Command[api.OldMemory, api.Remembered]{
		Use: "accept ID", Short: "Accept what an agent proposed to remember",
		Long: `Makes a proposal your word: from then on it holds as if you had said it, and what it contradicts holds no
longer. The command shows it and what it ends, and asks; with --yes it does not ask.
graphkernel memories --proposed lists the proposals.`,
		Example: "  graphkernel accept w812",
		Args:    []string{"id"}, Opens: cli.ToWrite,
		Ask: func(ctx context.Context, s *cli.Session, in api.OldMemory) (out api.Remembered, err error) {
			why, err := cli.Do(ctx, s, api.ExplainMemory, api.MemoryName{ID: in.ID})
			if err != nil {
				return out, err
			}
			m := &why.Memory
			if in.Revision = m.Revision; m.Proposed {
				printLines(a.IO.Stderr, []api.Memory{*m})
				printEnds(a.IO.Stderr, m)
			}
			if m.Proposed && !yes {
				if err := a.IO.Agree("Make it your word?", "nothing was accepted"); err != nil {
					return out, err
				}
			}
			return cli.Do(ctx, s, api.AcceptMemory, in)
		},
		Print: func(w io.Writer, _ *api.OldMemory, out *api.Remembered) {
			if out.Result == "unchanged" {
				fmt.Fprintf(w, "unchanged: %s is the word of a person already\n", short(out.ID))
				return
			}
			fmt.Fprintf(w, "accepted as %s\n", short(out.ID))
			if len(out.GaveWay) > 0 {
				fmt.Fprintln(w, "this holds no longer:")
				printLines(w, out.GaveWay)
			}
		},
	})
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// printEnds shows what a proposal would end.
func printEnds(w io.Writer, m *api.Memory) {
	for _, text := range m.Ends {
		fmt.Fprintf(w, "    it would end: %s\n", indented(text, "      | "))
	}
}

func refuseCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.Forget, cli.Command[api.OldMemory, api.Forgotten]{
		Use: "refuse ID", Short: "Refuse what an agent proposed to remember",
		Long:    "Ends a proposal. graphkernel memories --proposed lists the proposals.",
		Example: "  graphkernel refuse w812 --reason 'nobody said so'",
		Args:    []string{"id"}, Opens: cli.ToWrite,
		Ask: func(ctx context.Context, s *cli.Session, in api.OldMemory) (out api.Forgotten, err error) {
			try := in
			try.DryRun = true
			if out, err = cli.Do(ctx, s, api.Forget, try); err != nil {
				return out, err
			}
			if !out.Forgotten.Proposed {
				return out, cli.Usagef("%s is no proposal, but the word of a person; to end it: graphkernel forget %s", short(out.Forgotten.ID), short(out.Forgotten.ID))
			}
			return cli.Do(ctx, s, api.Forget, in)
		},
		Print: func(w io.Writer, _ *api.OldMemory, out *api.Forgotten) {
			fmt.Fprintf(w, "refused: %s\n", indented(out.Forgotten.Text, "  "))
		},
	})
}
