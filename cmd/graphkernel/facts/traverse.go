package facts

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

// A walkFlags says which facts are followed.
type walkFlags struct {
	predicates []string
	direction  string
	hops       int
	least      string
	validAt    string
	asOf       uint64
}

func (f *walkFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.predicates, "predicate", nil, "follow facts with this predicate alone; may come several times")
	flags.StringVar(&f.direction, "direction", string(knowledge.Both), "outgoing (from subjects to objects), incoming or both")
	flags.IntVar(&f.hops, "hops", 3, fmt.Sprintf("how far to go, 1 to %d", knowledge.MaxHops))
	flags.StringVar(&f.least, "min-confidence", "0", "follow facts at least this sure, from 0 to 1")
	flags.StringVar(&f.validAt, "valid-at", "", "follow facts that hold at this date or time; whenever they hold if absent")
	asOfFlag(c, &f.asOf)
	cli.NoFiles(c, "predicate", "hops", "min-confidence", "valid-at")
	_ = c.RegisterFlagCompletionFunc("direction", cobra.FixedCompletions(directions, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

var directions = []string{string(knowledge.Both), string(knowledge.Outgoing), string(knowledge.Incoming)}

// traversal returns what is asked, except for the entities.
func (f *walkFlags) traversal() (t api.TraverseRequest, err error) {
	t = api.TraverseRequest{Predicates: f.predicates, Direction: knowledge.Direction(f.direction), MaxHops: f.hops, AsOf: dag.Seq(f.asOf)}
	if f.hops < 1 || f.hops > knowledge.MaxHops {
		return t, cli.Usagef("--hops is %d, want 1 to %d", f.hops, knowledge.MaxHops)
	}
	if !slices.Contains(directions, f.direction) {
		return t, cli.Usagef("--direction is %q, want outgoing, incoming or both", f.direction)
	}
	for _, name := range f.predicates {
		if err := isName("--predicate", name); err != nil {
			return t, err
		}
	}
	if t.MinConfidence, err = confidenceOf("min-confidence", f.least); err != nil {
		return t, err
	}
	if f.validAt != "" {
		at, err := timeOf("valid-at", f.validAt)
		if err != nil {
			return t, err
		}
		t.ValidAt = &at
	}
	return t, nil
}

const walkJSON = `  {"reached":[{"entity","hops","min_confidence","from",
    "path":[{"statement","subject","predicate","object","asserted":{…},"written":{…},"direction",
      "confidence","source","turn","since","valid_from","valid_until"}]}],"cut","looked","as_of"}

An outgoing step leads from its subject to its object. asserted holds the names that the statement has
itself, where aliases give others, and written how its names were spelled.`

func knowledgeTraverseCommand(a *cli.App) *cobra.Command {
	var f walkFlags
	var results int
	var within string
	c := &cobra.Command{
		Use:   "traverse ENTITY…",
		Short: "Tell which entities can be reached from others, each with its best path",
		Long: `Follows facts from one or more entities and lists what can be reached, each entity once and
by its best path: the fewest hops, of these the surest. A path is as sure as the least sure
of its facts.

` + namesHelp + ` The result, as JSON:

` + walkJSON + ` cut is results if more can be reached than --results
lets through, work if the search was ended because it had looked at too many facts, and empty
if this is all.

--within holds it within a bundle that the kernel handed out: it goes along facts that are in the
bundle or were learned from its turns, as of its number.`,
		Example: `  graphkernel knowledge traverse "Ada Lovelace" --hops 2
  graphkernel knowledge traverse src/redact.go --predicate edited-file --direction incoming`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes one ENTITY or more, got none", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return traverse(a, c, args, &f, results, within) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.register(c)
	c.Flags().IntVar(&results, "results", 100, fmt.Sprintf("how many entities at most, 1 to %d", knowledge.MaxResults))
	cli.NoFiles(c, "results")
	cli.WithinFlag(c, &within)
	return c
}

func traverse(a *cli.App, c *cobra.Command, names []string, f *walkFlags, results int, within string) error {
	t, err := f.traversal()
	if err != nil {
		return err
	}
	if results < 1 || results > knowledge.MaxResults {
		return cli.Usagef("--results is %d, want 1 to %d", results, knowledge.MaxResults)
	}
	for _, name := range names {
		if err := isName("ENTITY", name); err != nil {
			return err
		}
	}
	t.Start, t.MaxResults = names, results
	bundle, keys, err := a.Within(c.Context(), within)
	if err != nil {
		return err
	}
	t.Within = bundle
	return a.Stores.WithKernel(c.Context(), keys, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		answer, err := cli.Do(c.Context(), s, view.TraverseKnowledge, t)
		if err != nil {
			return err
		}
		if len(answer.Reached) == 0 {
			if _, err := noteUnknown(a, c.Context(), s, answer.AsOf, names...); err != nil {
				return err
			}
		}
		return a.IO.Print(answer, func(w io.Writer) {
			if len(answer.Reached) > 0 {
				tab := cli.NewTable(w, "entity", "hops", "confidence", "path")
				for i := range answer.Reached {
					r := &answer.Reached[i]
					tab.AppendRow(table.Row{shown(r.Entity, ""), r.Hops, sure(r.MinConfidence), drawn(r)})
				}
				tab.Render()
			}
			fmt.Fprintf(w, "%s, as of %d\n", cli.Count(len(answer.Reached), "entity"), answer.AsOf)
			printCut(w, answer.Cut, "--results")
		})
	})
}

// noteUnknown tells of entities that no fact is about: a mistyped name must not look like
// one without relations.
func noteUnknown(a *cli.App, ctx context.Context, s *cli.Session, asOf uint64, names ...string) (unknown int, err error) {
	if asOf == 0 {
		a.IO.Warn("nothing is known of anything: no fact was ever learned here")
		return len(names), nil
	}
	for _, name := range names {
		page, err := cli.Do(ctx, s, view.ListFacts, api.FactQuery{FactFilter: api.FactFilter{Entity: name}, View: api.View{AsOf: dag.Seq(asOf)}, Paging: api.Paging{Limit: 1}})
		if err != nil {
			return 0, err
		}
		if page.Total == 0 {
			unknown++
			a.IO.Warn("nothing is known of %.80q, as of %d; see: graphkernel knowledge list --containing TEXT", name, asOf)
		}
	}
	return unknown, nil
}

func printCut(w io.Writer, cut, flag string) {
	switch knowledge.Cut(cut) {
	case knowledge.CutResults:
		fmt.Fprintf(w, "there are more than %s lets through\n", flag)
	case knowledge.CutWork:
		fmt.Fprintf(w, "there may be more: the search ended at %d facts; go fewer --hops, or follow a --predicate\n", knowledge.MaxWork)
	}
}

func knowledgePathCommand(a *cli.App) *cobra.Command {
	var f walkFlags
	var count int
	c := &cobra.Command{
		Use:   "path FROM TO",
		Short: "Tell how one entity is connected with another",
		Long: `Gives the best ways from one entity to another in which no entity comes twice: the fewest
hops, of these the surest. A path is as sure as the least sure of its facts.

` + namesHelp + ` The result, as JSON:

` + walkJSON + ` cut is results if there are more paths than --count
lets through, work if the search was ended because it had looked at too many facts, and empty
if this is all.`,
		Example: `  graphkernel knowledge path "Ada Lovelace" "Bernoulli numbers" -k 3`,
		Args:    manyArgs("FROM TO"),
		RunE:    func(c *cobra.Command, args []string) error { return paths(a, c, args[0], args[1], &f, count) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.register(c)
	c.Flags().IntVarP(&count, "count", "k", 1, fmt.Sprintf("how many paths at most, 1 to %d", knowledge.MaxPaths))
	cli.NoFiles(c, "count")
	return c
}

func paths(a *cli.App, c *cobra.Command, from, to string, f *walkFlags, count int) error {
	t, err := f.traversal()
	if err != nil {
		return err
	}
	if count < 1 || count > knowledge.MaxPaths {
		return cli.Usagef("--count is %d, want 1 to %d", count, knowledge.MaxPaths)
	}
	if err := isName("FROM", from); err != nil {
		return err
	}
	if err := isName("TO", to); err != nil {
		return err
	}
	q := api.PathQuery{
		From: from, To: to, Count: count, Predicates: t.Predicates, Direction: t.Direction, MaxHops: t.MaxHops,
		MinConfidence: t.MinConfidence, AsOf: t.AsOf, ValidAt: t.ValidAt,
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) (err error) {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		answer, err := cli.Do(c.Context(), s, view.FindPaths, q)
		if err != nil {
			return err
		}
		unknown := 0
		if len(answer.Reached) == 0 {
			if unknown, err = noteUnknown(a, c.Context(), s, answer.AsOf, from, to); err != nil {
				return err
			}
		}
		defer func() {
			if err == nil && unknown > 0 { // a mistyped name is no answer
				err = cli.Finish(api.ExitInternal)
			}
		}()
		return a.IO.Print(answer, func(w io.Writer) {
			for i := range answer.Reached {
				r := &answer.Reached[i]
				fmt.Fprintf(w, "%d. %s (%s, confidence %s)\n", i+1, drawn(r), cli.Count(r.Hops, "hop"), r.MinConfidence)
			}
			if len(answer.Reached) == 0 {
				fmt.Fprintf(w, "no path within %d hops, as of %d\n", f.hops, answer.AsOf)
			}
			printCut(w, answer.Cut, "--count")
		})
	})
}

// drawn draws a path with names as they were written. Where a fact names an entity by an alias,
// that follows the canonical name.
func drawn(r *api.Reached) string {
	var b strings.Builder
	name, before := r.From, [2]string{}
	for i := range r.Path {
		e := &r.Path[i]
		asserted, written := spelled(e.Asserted), spelled(e.Written)
		subject, object := firstOf(asserted.Subject, e.Subject), firstOf(asserted.Object, e.Object)
		near, far, other := [2]string{subject, firstOf(written.Subject, subject)}, [2]string{object, firstOf(written.Object, object)}, e.Object
		predicate := clipped(firstOf(written.Predicate, e.Predicate))
		arrow := " —" + predicate + "→ "
		if e.Direction == string(knowledge.Incoming) {
			near, far, other = far, near, e.Subject
			arrow = " ←" + predicate + "— "
		}
		b.WriteString(entityNamed(name, before, near))
		b.WriteString(arrow)
		name, before = other, far
	}
	b.WriteString(entityNamed(name, before))
	return b.String()
}

// entityNamed returns an entity's name as one of the facts beside it writes it, and after it the
// aliases by which facts name it. Each is given as it was asserted and as it was written.
func entityNamed(name string, named ...[2]string) string {
	text := ""
	var others []string
	for _, n := range named {
		switch asserted, written := n[0], n[1]; {
		case asserted == name && text == "":
			text = clipped(written)
		case asserted != "" && asserted != name && !slices.Contains(others, clipped(written)):
			others = append(others, clipped(written))
		}
	}
	if text == "" {
		text = clipped(name)
	}
	for _, other := range others {
		text += " (" + other + ")"
	}
	return text
}
