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
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/render"
)

// asOfFlag adds the flag --as-of to a command.
func asOfFlag(c *cobra.Command, asOf *uint64) {
	c.Flags().Uint64Var(asOf, "as-of", 0, "the facts as of this sequence number; 0 is the present")
	cli.NoFiles(c, "as-of")
}

// statement resolves the beginning of a statement's id.
var statement = map[string]cli.Resolver{"statement": func(c *cobra.Command, s *cli.Session, place, text string) (string, error) {
	return statementNamed(c.Context(), s, place, text)
}}

// isName refuses a text that cannot be a name.
func isName(what, text string) error {
	if _, err := normalize.Name(text); err != nil {
		return cli.Usagef("%s: %w", what, err)
	}
	return nil
}

// A listing asks for a page of facts, or for facts with a text in a name.
type listing struct {
	api.FactQuery
	Containing string `json:"containing,omitempty" doc:"Only facts with this text in a name, in any case. All facts are searched, and --after cannot be used with it."`
}

func knowledgeListCommand(a *cli.App) *cobra.Command {
	return cli.Asking(a, cli.Command[listing, api.Facts]{
		Use:   "list",
		Short: "List facts that are believed, with their evidence",
		Long: `Lists the facts that are believed now, or were believed at a sequence number, by the number since which they
count. Text output shows names as they were written (with the canonical name before an alias), and the
beginning of a statement's id, which graphkernel knowledge history takes. --containing finds facts by any part
of a name, in any case.

If there are more facts, pass "next" as --after to get the next page, which is as of the same number. For each
fact the newest evidence is shown, and all of it is counted.`,
		Example: `  graphkernel knowledge list --subject "Ada Lovelace" --min-confidence 0.8
  graphkernel knowledge list --turn 42fec86c
  graphkernel knowledge list --as-of 120 --valid-at 2026-03-14`,
		Resolve: statement, Opens: cli.ToWrite, Holds: true,
		Check: func(in *listing) error {
			if in.Containing != "" && in.After != "" {
				return cli.Usagef("--containing and --after exclude each other; give only one")
			}
			_, _, err := in.InView(0)
			return err
		},
		Ask: func(ctx context.Context, s *cli.Session, in listing) (api.Facts, error) {
			if in.Containing != "" {
				return factsContaining(ctx, s, in.FactQuery, in.Containing)
			}
			return cli.Do(ctx, s, api.ListFacts, in.FactQuery)
		},
		Print: func(w io.Writer, _ *listing, page *api.Facts) {
			printFacts(w, page.Facts)
			fmt.Fprintf(w, "%d of %s, as of %d\n", len(page.Facts), cli.Count(page.Total, "fact"), page.AsOf)
			if page.Next != "" {
				fmt.Fprintf(w, "the next page: --after %s\n", page.Next)
			}
		},
	})
}

// printFacts prints a table of facts, with names as they were written and the beginnings of the statements' ids.
func printFacts(w io.Writer, facts []api.Fact) {
	if len(facts) == 0 {
		return
	}
	timed := slices.ContainsFunc(facts, func(f api.Fact) bool { return holds(&f) != "" })
	header := table.Row{"since", "subject", "predicate", "object", "confidence", "source", "evidence", "statement"}
	if timed {
		header = append(header, "holds")
	}
	t := cli.NewTable(w, header...)
	for i := range facts {
		f := &facts[i]
		asserted, written := f.Asserted, f.Written
		row := table.Row{
			f.Since, named(f.Subject, firstOf(written.Subject, asserted.Subject)), named(f.Predicate, written.Predicate), named(f.Object, firstOf(written.Object, asserted.Object)),
			f.Confidence, f.Source, f.EvidenceTotal, f.Statement.String()[:shortStatement],
		}
		if timed {
			row = append(row, holds(f))
		}
		t.AppendRow(row)
	}
	t.Render()
}

// shortStatement is the number of digits of a statement's id in a table. knowledge history accepts them.
const shortStatement = 12

// named returns a name as it was written if that is a spelling of the name, and otherwise both.
func named(name, written string) string {
	if canonical, err := normalize.Name(written); err == nil && canonical == name {
		return clipped(written)
	}
	return shown(name, written)
}

// factsContaining reads every fact of a query, and returns the first ones with a text in one of their names, in canonical form or as written. Total counts
// all such facts.
func factsContaining(ctx context.Context, s *cli.Session, q api.FactQuery, text string) (found api.Facts, err error) {
	text = strings.ToLower(text)
	most := q.Limit
	found.Facts = []api.Fact{}
	for q.Limit = query.MaxFacts; ; {
		page, err := cli.Do(ctx, s, api.ListFacts, q)
		if err != nil {
			return found, err
		}
		found.AsOf = page.AsOf
		for i := range page.Facts {
			f := &page.Facts[i]
			asserted, written := f.Asserted, f.Written
			names := strings.Join([]string{f.Subject, f.Predicate, f.Object, asserted.Subject, asserted.Object, written.Subject, written.Predicate, written.Object}, "\n")
			if !strings.Contains(strings.ToLower(names), text) {
				continue
			}
			if found.Total++; len(found.Facts) < most {
				found.Facts = append(found.Facts, *f)
			}
		}
		if q.After = page.Next; q.After == "" {
			return found, nil
		}
	}
}

// firstOf returns the first text that is not empty.
func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// holds says when a fact holds, for a column.
func holds(f *api.Fact) string {
	if f.ValidFrom == 0 && f.ValidUntil == 0 {
		return ""
	}
	return cli.TimeOrNone(f.ValidFrom) + "–" + cli.TimeOrNone(f.ValidUntil)
}

func knowledgeRetractCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.RetractFacts, cli.Command[api.Retracting, api.Retracted]{
		Use:   "retract",
		Short: "Retract facts",
		Long: `Ends the belief in all facts that the filters match, all at once or none. They stay in the history, and a
question as of an earlier number still finds them. At least one filter other than --min-confidence and
--valid-at is required. --dry-run only shows what would be retracted.

"acts" are the assertions that gave the facts their confidence.`,
		Example: `  graphkernel knowledge retract --source llm:small --dry-run
  graphkernel knowledge retract --turn 42fec86c --reason "the user took it back"`,
		Resolve: statement, Opens: cli.ToWrite, Holds: true,
		Ask: func(ctx context.Context, s *cli.Session, in api.Retracting) (api.Retracted, error) {
			out, err := cli.Do(ctx, s, api.RetractFacts, in)
			if err == nil && out.DryRun != in.DryRun {
				err = fmt.Errorf("%w: dry_run is %t, but %t was requested", client.ErrAnswer, out.DryRun, in.DryRun)
			}
			return out, err
		},
		Print: func(w io.Writer, in *api.Retracting, out *api.Retracted) {
			for i := range out.Acts {
				act := &out.Acts[i]
				written := act.Written
				fmt.Fprintf(w, "  %s%s\n", arrow(shown(act.Subject, written.Subject), shown(act.Predicate, ""), shown(act.Object, written.Object)), render.OneLine(said(act), 300))
			}
			would := ""
			if in.DryRun {
				would = "would be "
			}
			fmt.Fprintf(w, "%s %sretracted\n", cli.Count(out.Total, "fact"), would)
		},
	})
}
