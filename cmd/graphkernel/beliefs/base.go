package beliefs

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

func baseCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.GetBeliefBase, cli.Command[api.BaseQuery, api.BeliefBase]{
		Use:   "base SPACE",
		Short: "List the beliefs of a space",
		Long: `Lists the statements that are believed in a space now, or were believed at a sequence number, by subject,
predicate and object: statements of items, and statements that follow by rules.

"item" is the item that states it or, if "derived" is true, the item whose rule it follows by. "since" is
the number from which on the revision is believed.`,
		Example: `  graphkernel belief base acme/support --subject customer-7
  graphkernel belief base acme/support --as-of 120 --valid-at 2026-03-14`,
		Args: inSpace, Completes: a.Stores.CompleteSpaces(),
		Hint:  func(in *api.BaseQuery) string { return spaceHint(string(in.Space), uint64(in.AsOf)) },
		Print: func(w io.Writer, _ *api.BaseQuery, out *api.BeliefBase) { printBase(w, out) },
	})
}

var inSpace = []string{"space"}

func printBase(w io.Writer, b *api.BeliefBase) {
	if len(b.Statements) > 0 {
		printHeld(w, b.Statements)
	}
	fmt.Fprintf(w, "%s, as of %d, under %s\n", cli.Count(len(b.Statements), "statement"), b.AsOf, oneLine(string(b.Policy), widestName))
}

func printHeld(w io.Writer, list []api.HeldStatement) {
	timed := slices.ContainsFunc(list, func(h api.HeldStatement) bool { return holds(h.ValidFrom, h.ValidUntil) != "" })
	header := table.Row{"since", "whose", "statement", "item", "revision"}
	if timed {
		header = append(header, "holds")
	}
	t := cli.NewTable(w, header...)
	for i := range list {
		h := &list[i]
		since, what := any(h.Since), said(h.WrittenStatement)
		if h.Derived {
			since, what = "", what+", by rule"
		}
		row := table.Row{since, h.Standing, what, oneLine(string(h.Item), len(h.Item)), h.Revision}
		if timed {
			row = append(row, holds(h.ValidFrom, h.ValidUntil))
		}
		t.AppendRow(row)
	}
	t.Render()
	cutHint(w, slices.ContainsFunc(list, func(h api.HeldStatement) bool { return isCut(h.WrittenStatement) }))
}

func whyCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.ExplainBelief, cli.Command[api.WhyQuery, api.Why]{
		Use:   "why SPACE SUBJECT PREDICATE OBJECT",
		Short: "Explain why a statement is believed, or why it no longer is",
		Long: `Shows a minimal set of statements and rules from which the statement follows, who wrote them, and the turns that they
rest on. It also shows when the statement was believed before, until when, who ended that, and which premise
fell. A statement that was never believed is distinguished from one that was erased.

"state" is believed, ended, erased or never. If it is erased, no remaining revision ever made the statement
believed. The revisions that "erased" lists may have done so: nothing says what they stated. "ending" is
given_up, contradicted, deprecated, moved or policy. "lost" lists what ended: the items that stated it, or
the part of its premises that fell. "class" is how entrenched a revision is, which follows from who wrote it; from the least
to the most entrenched: inferred, tool, verified, human, published or hard_rule.`,
		Example: `  graphkernel belief why acme/support customer-7 prefers e-mail
  graphkernel belief why acme/support customer-7 uses linux --not`,
		Args: []string{"space", "subject", "predicate", "object"}, Completes: a.Stores.CompleteSpaces(),
		Hint:  func(in *api.WhyQuery) string { return spaceHint(string(in.Space), uint64(in.AsOf)) },
		Print: func(w io.Writer, _ *api.WhyQuery, out *api.Why) { printWhy(w, out) },
	})
}

func printWhy(w io.Writer, y *api.Why) {
	switch y.State {
	case "believed":
		fmt.Fprintf(w, "the statement is believed as of %d\n", y.AsOf)
	case "ended":
		fmt.Fprintf(w, "the statement is not believed as of %d\n", y.AsOf)
	case "erased":
		fmt.Fprintf(w, "the statement is not believed as of %d, and no remaining revision ever stated it\n", y.AsOf)
		fmt.Fprintln(w, "  these revisions may have stated it, but their words were erased:")
	default:
		fmt.Fprintf(w, "the statement is not believed as of %d and never was: no revision stated it, and it followed from no others\n", y.AsOf)
	}
	for i := range y.Erased {
		e := &y.Erased[i]
		fmt.Fprintf(w, "    %s, number %d, erased by number %d with turn %s\n", address(string(e.Item), e.Revision), e.Seq, e.Erasure, oneLine(e.Turn.String(), widestName))
	}
	for i := range y.Support {
		printSupport(w, &y.Support[i], "  ")
	}
	for i := range y.Ended {
		e := &y.Ended[i]
		fmt.Fprintf(w, "  it %s from number %d until %d, when %s\n", would(e.Derived, "was stated", "followed from others"), e.Since, e.Until, endedHow(e))
		fmt.Fprintf(w, "    %s%s%s\n", e.At, by(e.By), reason(e.Reason))
		for n := range e.Lost {
			l := &e.Lost[n]
			if e.Derived {
				fmt.Fprintf(w, "    %s%s\n", whole(l.Statement, "    "), because(l.Premises))
			}
			fmt.Fprintf(w, "    %s\n", address(string(l.Item), l.Revision))
		}
	}
}

func printSupport(w io.Writer, s *api.Support, indent string) {
	fmt.Fprintf(w, "%s%s%s\n", indent, whole(s.Statement, indent), because(s.Premises))
	fmt.Fprintf(w, "%s  %s, %s, since %d%s\n", indent, address(string(s.Item), s.Revision), oneLine(s.Class, widestName), s.Since, by(s.By))
	for _, turn := range s.Turns {
		fmt.Fprintf(w, "%s  turn %s\n", indent, oneLine(turn.String(), widestName))
	}
}

// endedHow says what ended a period in which a statement was believed.
func endedHow(e *api.EndedBelief) string {
	what := "it"
	if e.Derived {
		what = "a premise"
		if len(e.Lost) > 0 && len(e.Lost[0].Premises) > 0 {
			what = "the rule"
		}
	}
	switch e.Ending {
	case "contradicted":
		if e.Instead != nil {
			return what + " gave way to: " + said(*e.Instead)
		}
		return what + " gave way to statements that contradict it"
	case "deprecated":
		return strings.Replace("the item of "+what+" was deprecated", "the item of it", "its item", 1)
	case "moved":
		return "current was moved to another revision of the item"
	case "policy":
		return "the space came under another policy"
	}
	return what + " was given up"
}

func diffCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.DiffBeliefs, cli.Command[api.BaseDiffQuery, api.BaseDiff]{
		Use:   "diff SPACE FROM [TO]",
		Short: "Compare the beliefs as of two numbers",
		Long: `Lists the statements that were added and those that were removed between two sequence numbers; without TO,
up to the present. Statements have the same form as in graphkernel belief base.`,
		Example: `  graphkernel belief diff acme/support 120
  graphkernel belief diff acme/support 120 140`,
		Args: []string{"space", "from", "to"}, Completes: a.Stores.CompleteSpaces(),
		Check: func(in *api.BaseDiffQuery) error {
			if in.From == 0 {
				return cli.Usagef("FROM is 0, want a sequence number from 1 on")
			}
			return nil
		},
		Hint:  func(in *api.BaseDiffQuery) string { return spaceHint(string(in.Space), uint64(in.To)) },
		Print: func(w io.Writer, _ *api.BaseDiffQuery, out *api.BaseDiff) { printDiff(w, out) },
	})
}

func printDiff(w io.Writer, d *api.BaseDiff) {
	cut := false
	for _, side := range []struct {
		sign string
		of   []api.HeldStatement
	}{{"-", d.Removed}, {"+", d.Added}} {
		for i := range side.of {
			h := &side.of[i]
			line := side.sign + " " + said(h.WrittenStatement)
			cut = cut || isCut(h.WrittenStatement)
			if when := holds(h.ValidFrom, h.ValidUntil); when != "" {
				line += ", holds " + when
			}
			if h.Derived {
				line += ", by rule"
			}
			fmt.Fprintf(w, "%s, %s\n", line, address(string(h.Item), h.Revision))
		}
	}
	cutHint(w, cut)
	fmt.Fprintf(w, "added %d and removed %d statements between numbers %d and %d\n", len(d.Added), len(d.Removed), d.From, d.To)
}
