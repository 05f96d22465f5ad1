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
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

// asOfFlag returns a command --as-of.
func asOfFlag(c *cobra.Command, asOf *uint64) {
	c.Flags().Uint64Var(asOf, "as-of", 0, "what was believed at this sequence number; 0 is the present")
	cli.NoFiles(c, "as-of")
}

// A factFlags says which facts are meant.
type factFlags struct {
	subject, predicate, object, entity      string
	source, turn, statement, least, validAt string
}

func (f *factFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.subject, "subject", "", "facts of this subject")
	flags.StringVar(&f.predicate, "predicate", "", "facts with this predicate")
	flags.StringVar(&f.object, "object", "", "facts with this object")
	flags.StringVar(&f.entity, "entity", "", "facts with this subject or object")
	flags.StringVar(&f.source, "source", "", "facts that this source gave their confidence")
	flags.StringVar(&f.turn, "turn", "", "facts that this turn is the evidence of")
	flags.StringVar(&f.statement, "statement", "", "the statement with this id")
	flags.StringVar(&f.least, "min-confidence", "0", "facts at least this sure, from 0 to 1")
	flags.StringVar(&f.validAt, "valid-at", "", "facts that hold at this date or time; whenever they hold if absent")
	cli.NoFiles(c, "subject", "predicate", "object", "entity", "source", "turn", "statement", "min-confidence", "valid-at")
}

func (f *factFlags) filter(a *cli.App, c *cobra.Command, s *cli.Session) (api.FactFilter, error) {
	q := api.FactFilter{Subject: f.subject, Predicate: f.predicate, Object: f.object, Entity: f.entity, Source: f.source}
	for _, name := range [...]string{"subject", "predicate", "object", "entity", "source", "turn", "statement", "valid-at"} {
		if given := c.Flags().Lookup(name); given.Changed && given.Value.String() == "" { // it would not limit anything
			return q, cli.Usagef("--%s is empty; leave it out, or name one", name)
		}
	}
	for _, name := range [...]string{"subject", "predicate", "object", "entity"} {
		if given := c.Flags().Lookup(name); given.Changed {
			if err := isName("--"+name, given.Value.String()); err != nil {
				return q, err
			}
		}
	}
	var err error
	if q.MinConfidence, err = confidenceOf("min-confidence", f.least); err != nil {
		return q, err
	}
	if f.validAt != "" {
		at, err := timeOf("valid-at", f.validAt)
		if err != nil {
			return q, err
		}
		q.ValidAt = &at
	}
	if f.statement != "" {
		id, err := statementNamed(c.Context(), s, "--statement", f.statement)
		if err != nil {
			return q, err
		}
		q.Statement = &id
	}
	if f.turn != "" {
		id, err := cli.Resolve(a, c, s, f.turn)
		if err != nil {
			return q, err
		}
		q.Turn = id.String()
	}
	return q, nil
}

// isName refuses what can be the name of nothing.
func isName(what, text string) error {
	if _, err := normalize.Name(text); err != nil {
		return cli.Usagef("%s: %w", what, err)
	}
	return nil
}

func knowledgeListCommand(a *cli.App) *cobra.Command {
	var f factFlags
	var asOf uint64
	var after, containing string
	var limit int
	c := &cobra.Command{
		Use:   "list",
		Short: "List facts that are believed, with their evidence",
		Long: `Lists the facts that are believed, or that were at a sequence number, by the number since
which they count. People see names as they were written, and under an alias the
canonical one before them, and the beginning of a statement's id, which knowledge history takes. --containing finds facts by any part of
a name, in any case. The result, as JSON:

  {"facts":[{"statement","subject","predicate","object","asserted":{…},"written":{…},
    "confidence","source","turn","since","valid_from","valid_until",
    "evidence":[{"seq","at","source","confidence","turn","slice","written":{…}}],"evidence_total"}],
   "total","as_of","next"}

Where there are more, next is the --after of the next page, which is as of the same number. Of the
evidence of a fact the newest are shown, and counted all.`,
		Example: `  graphkernel knowledge list --subject "Ada Lovelace" --min-confidence 0.8
  graphkernel knowledge list --turn 42fec86c
  graphkernel knowledge list --as-of 120 --valid-at 2026-03-14`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return listFacts(a, c, &f, asOf, after, containing, limit) },
	}
	f.register(c)
	asOfFlag(c, &asOf)
	c.Flags().StringVar(&after, "after", "", "the next page: what next was of the page before")
	c.Flags().StringVar(&containing, "containing", "", "only facts with this text in a name, in any case; all facts are looked at, and --after goes without it")
	c.Flags().IntVar(&limit, "limit", 100, fmt.Sprintf("how many at most, up to %d", kernel.MaxFacts))
	cli.NoFiles(c, "after", "limit", "containing")
	return c
}

func listFacts(a *cli.App, c *cobra.Command, f *factFlags, asOf uint64, after, containing string, limit int) error {
	if limit < 1 || limit > kernel.MaxFacts {
		return cli.Usagef("--limit is %d, want 1 to %d", limit, kernel.MaxFacts)
	}
	if _, _, err := view.PageInView(after, 0); err != nil {
		return cli.Usagef("--after, --as-of: %w", err)
	}
	if c.Flags().Changed("containing") && (strings.TrimSpace(containing) == "" || after != "") {
		return cli.Usagef("--containing needs a text, and goes without --after")
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		filter, err := f.filter(a, c, s)
		if err != nil {
			return err
		}
		q := api.FactQuery{FactFilter: filter, View: api.View{AsOf: dag.Seq(asOf)}, Paging: api.Paging{After: after, Limit: limit}}
		read := func(q api.FactQuery) (api.Facts, error) { return cli.Do(c.Context(), s, view.ListFacts, q) }
		if containing != "" {
			read = func(q api.FactQuery) (api.Facts, error) { return factsContaining(c.Context(), s, q, containing) }
		}
		page, err := read(q)
		if err != nil {
			return err
		}
		return a.IO.Print(page, func(w io.Writer) {
			printFacts(w, page.Facts)
			fmt.Fprintf(w, "%d of %s, as of %d\n", len(page.Facts), cli.Count(page.Total, "fact"), page.AsOf)
			if page.Next != "" {
				fmt.Fprintf(w, "the next page: --after %s\n", page.Next)
			}
		})
	})
}

// printFacts prints a table, with names as they were written and the beginnings of the statements' ids.
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
		asserted, written := spelled(f.Asserted), spelled(f.Written)
		row := table.Row{
			f.Since, named(f.Subject, firstOf(written.Subject, asserted.Subject)), named(f.Predicate, written.Predicate), named(f.Object, firstOf(written.Object, asserted.Object)),
			sure(f.Confidence), f.Source, f.EvidenceTotal, f.Statement[:shortStatement],
		}
		if timed {
			row = append(row, holds(f))
		}
		t.AppendRow(row)
	}
	t.Render()
}

// shortStatement is how many digits of a statement's id a table has. knowledge history takes them.
const shortStatement = 12

// named returns a name as it was written, if that is a spelling of it, and else both.
func named(name, written string) string {
	if canonical, err := normalize.Name(written); err == nil && canonical == name {
		return clipped(written)
	}
	return shown(name, written)
}

// factsContaining reads every fact that a query asks for, and returns the first ones with a text in one of their names, as they
// are or as they were written. Total counts all of them.
func factsContaining(ctx context.Context, s *cli.Session, q api.FactQuery, text string) (found api.Facts, err error) {
	text = strings.ToLower(text)
	most := q.Limit
	found.Facts = []api.Fact{}
	for q.Limit = kernel.MaxFacts; ; {
		page, err := cli.Do(ctx, s, view.ListFacts, q)
		if err != nil {
			return found, err
		}
		found.AsOf = page.AsOf
		for i := range page.Facts {
			f := &page.Facts[i]
			asserted, written := spelled(f.Asserted), spelled(f.Written)
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

// holds tells for when a fact holds, in a column.
func holds(f *api.Fact) string {
	if f.ValidFrom+f.ValidUntil == "" {
		return ""
	}
	return f.ValidFrom + "–" + f.ValidUntil
}

func knowledgeRetractCommand(a *cli.App) *cobra.Command {
	var f factFlags
	var why string
	var dry bool
	c := &cobra.Command{
		Use:   "retract",
		Short: "End the belief in facts",
		Long: `Ends the belief in all facts that the filters match, all at once or none. They stay in the
history, and a question as of an earlier number still finds them. At least one filter beside
--min-confidence and --valid-at is needed; --dry-run only shows what would be retracted. The
result, as JSON:

  {"dry_run","total","acts":[{"seq","at","kind","statement","subject","predicate","object",…}]}

acts are the assertions that gave the facts their confidence.`,
		Example: `  graphkernel knowledge retract --source llm:small --dry-run
  graphkernel knowledge retract --turn 42fec86c --reason "the user took it back"`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return retractFacts(a, c, &f, why, dry) },
	}
	f.register(c)
	c.Flags().StringVar(&why, "reason", "", "why, for the record")
	c.Flags().BoolVar(&dry, "dry-run", false, "change nothing; show what would be retracted")
	cli.NoFiles(c, "reason")
	return c
}

func retractFacts(a *cli.App, c *cobra.Command, f *factFlags, why string, dry bool) error {
	check := knowledge.Act{Kind: knowledge.Retract, Statement: knowledge.ID{1}, Reason: why}
	if err := check.Check(); err != nil {
		return cli.Usagef("--reason: %w", err)
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		filter, err := f.filter(a, c, s)
		if err != nil {
			return err
		}
		ended, err := cli.Do(c.Context(), s, view.RetractFacts, api.Retracting{FactFilter: filter, Reason: why, DryRun: dry})
		if err == nil && ended.DryRun != dry {
			err = fmt.Errorf("%w: dry_run is %t, and %t was asked for", client.ErrAnswer, ended.DryRun, dry)
		}
		if err != nil {
			return err
		}
		return a.IO.Print(ended, func(w io.Writer) {
			for i := range ended.Acts {
				act := &ended.Acts[i]
				written := spelled(act.Written)
				fmt.Fprintf(w, "  %s%s\n", arrow(shown(act.Subject, written.Subject), shown(act.Predicate, ""), shown(act.Object, written.Object)), render.OneLine(said(act), 300))
			}
			if dry {
				fmt.Fprintf(w, "%s would be retracted\n", cli.Count(ended.Total, "fact"))
				return
			}
			fmt.Fprintf(w, "%s retracted\n", cli.Count(ended.Total, "fact"))
		})
	})
}
