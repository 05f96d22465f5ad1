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
)

const walkHelp = "An outgoing step leads from its subject to its object. \"asserted\" has the names of the statement itself\nif aliases replace them, and \"written\" the spelling of its names. "

func knowledgeTraverseCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.TraverseKnowledge, cli.Command[api.TraverseRequest, api.Traversal]{
		Use:   "traverse ENTITY…",
		Short: "List reachable entities with the best path to each",
		Long: `Follows facts from one or more entities and lists the entities that can be reached, each once and with its best
path: the one with the fewest hops, and among these the surest. A path is as sure as its least sure fact.

` + namesHelp + `

` + walkHelp + `"cut" is "results" if there are
more entities than --results allows, "work" if the search stopped after too many facts, and empty if these are
all.

--within restricts the search to a bundle that the kernel handed out: it follows only facts that are in the
bundle or were learned from its turns, as of its number.`,
		Example: `  graphkernel knowledge traverse "Ada Lovelace" --hops 2
  graphkernel knowledge traverse src/redact.go --predicate edited-file --direction incoming`,
		Args: []string{"start"}, Opens: cli.ToWrite, Holds: true,
		Ask: func(ctx context.Context, s *cli.Session, in api.TraverseRequest) (api.Traversal, error) {
			out, err := cli.Do(ctx, s, api.TraverseKnowledge, in)
			if err == nil && len(out.Reached) == 0 {
				_, err = noteUnknown(a, ctx, s, uint64(out.AsOf), in.Start...)
			}
			return out, err
		},
		Print: func(w io.Writer, _ *api.TraverseRequest, out *api.Traversal) {
			if len(out.Reached) > 0 {
				tab := cli.NewTable(w, "entity", "hops", "confidence", "path")
				for i := range out.Reached {
					r := &out.Reached[i]
					tab.AppendRow(table.Row{shown(r.Entity, ""), r.Hops, r.MinConfidence, drawn(r)})
				}
				tab.Render()
			}
			fmt.Fprintf(w, "%s, as of %d\n", cli.Count(len(out.Reached), "entity"), out.AsOf)
			printCut(w, out.Cut, "--results")
		},
	})
}

// noteUnknown notes entities that no fact is about: a mistyped name must not look like an entity without relations.
func noteUnknown(a *cli.App, ctx context.Context, s *cli.Session, asOf uint64, names ...string) (unknown int, err error) {
	if asOf == 0 {
		a.IO.Warn("no entity is known: no fact was ever learned here")
		return len(names), nil
	}
	for _, name := range names {
		page, err := cli.Do(ctx, s, api.ListFacts, api.FactQuery{FactFilter: api.FactFilter{Entity: name}, View: api.View{AsOf: dag.Seq(asOf)}, Paging: api.Paging{Limit: 1}})
		if err != nil {
			return 0, err
		}
		if page.Total == 0 {
			unknown++
			a.IO.Warn("nothing is known about %.80q, as of %d; see: graphkernel knowledge list --containing TEXT", name, asOf)
		}
	}
	return unknown, nil
}

func printCut(w io.Writer, cut, flag string) {
	switch knowledge.Cut(cut) {
	case knowledge.CutResults:
		fmt.Fprintf(w, "there are more results than %s allows\n", flag)
	case knowledge.CutWork:
		fmt.Fprintf(w, "there may be more: the search ended at %d facts; use fewer --hops, or name a --predicate\n", knowledge.MaxWork)
	}
}

func knowledgePathCommand(a *cli.App) *cobra.Command {
	unknown := 0
	return cli.Op(a, api.FindPaths, cli.Command[api.PathQuery, api.Traversal]{
		Use:   "path FROM TO",
		Short: "Show how one entity is connected with another",
		Long: `Returns the best paths from one entity to another that visit no entity twice: those with the fewest hops first,
and among these the surest. A path is as sure as its least sure fact.

` + namesHelp + `

` + walkHelp + `"cut" is "results" if there are
more paths than --count allows, "work" if the search stopped after too many facts, and empty if these are all.`,
		Example: `  graphkernel knowledge path "Ada Lovelace" "Bernoulli numbers" -k 3`,
		Args:    []string{"from", "to"}, Letters: map[string]string{"count": "k"}, Opens: cli.ToWrite, Holds: true,
		Ask: func(ctx context.Context, s *cli.Session, in api.PathQuery) (api.Traversal, error) {
			out, err := cli.Do(ctx, s, api.FindPaths, in)
			if err == nil && len(out.Reached) == 0 {
				unknown, err = noteUnknown(a, ctx, s, uint64(out.AsOf), in.From, in.To)
			}
			return out, err
		},
		Print: func(w io.Writer, in *api.PathQuery, out *api.Traversal) {
			for i := range out.Reached {
				r := &out.Reached[i]
				fmt.Fprintf(w, "%d. %s (%s, confidence %s)\n", i+1, drawn(r), cli.Count(r.Hops, "hop"), r.MinConfidence)
			}
			if len(out.Reached) == 0 {
				fmt.Fprintf(w, "no path within %d hops, as of %d\n", in.MaxHops, out.AsOf)
			}
			printCut(w, out.Cut, "--count")
		},
		Exit: func(*api.Traversal) int {
			if unknown > 0 { // a mistyped name is no answer
				return api.ExitInternal
			}
			return api.ExitOK
		},
	})
}

// drawn draws a path with names as they were written. If a fact names an entity by an alias, the alias follows the canonical name.
func drawn(r *api.Reached) string {
	var b strings.Builder
	name, before := r.From, [2]string{}
	for i := range r.Path {
		e := &r.Path[i]
		asserted, written := e.Asserted, e.Written
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

// entityNamed returns an entity's name with the spelling of one of the adjacent facts, followed by the aliases by which facts name it. Each is given as it
// was asserted and as it was written.
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
